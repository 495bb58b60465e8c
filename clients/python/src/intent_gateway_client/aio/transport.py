"""Sends requests, the asynchronous way."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import anyio
import httpx

from intent_gateway_client.errors import GatewayError, NotAnswered
from intent_gateway_client.events import EventReader, RawEvent
from intent_gateway_client.request import FIRST_WAIT, Patience, Request, refusal

# A token, or what gives one for each request.
Token = str | Callable[[], Awaitable[str]]


class Transport:
    """One request and its answer: the token, the time that it may take, and what is sent again."""

    def __init__(self, url: str, token: Token | None, timeout: float, silence_max: float, patience: Patience) -> None:
        self.client = httpx.AsyncClient(base_url=url, follow_redirects=False)
        self.token = token
        self.timeout = timeout
        self.silence_max = silence_max
        self.patience = patience

    async def aclose(self) -> None:
        await self.client.aclose()

    async def send(self, request: Request, timeout: float | None) -> Any:
        """Sends a request and reads the JSON of its answer; nothing where there is none."""
        response = await self._tries(request, timeout, "application/json")
        body = await response.aread()
        return json.loads(body) if body else None

    async def fetch(self, request: Request, timeout: float | None) -> bytes:
        """Sends a request and reads its answer as it is."""
        response = await self._tries(request, timeout, "*/*")
        return await response.aread()

    async def events(
        self, request: Request, resumable: bool, timeout: float | None
    ) -> AsyncGenerator[dict[str, Any], None]:
        """The events of a stream.

        Where they have an `id`, a stream that was cut, or that ends and says that it is worth asking anew, is gone on with behind
        the last one; otherwise a cut is an error.
        """
        request = replace(request, repeatable=True)
        reader = EventReader()
        cuts = 0
        while True:
            why = "the stream was cut"
            try:
                async with aclosing(self._read(request, reader, timeout)) as told:
                    async for raw in told:
                        if raw.id is not None:
                            request = replace(request, last_event_id=raw.id)
                        event = {"event": raw.event, "data": json.loads(raw.data)}
                        if raw.id is not None:
                            event["id"] = raw.id
                        if raw.event != "end":
                            cuts = 0
                            yield event
                        elif resumable and event["data"]["resume"] and cuts < self.patience.retries:
                            why = f"the stream has ended: {event['data']['reason']}"
                            # It went well for as long as one may last.
                            if event["data"]["reason"] == "time_limit":
                                cuts = 0
                            break
                        else:
                            yield event
                            return
                raise NotAnswered(why)
            except NotAnswered as error:
                if not resumable or cuts >= self.patience.retries:
                    raise
                cuts += 1
                wait = FIRST_WAIT if reader.retry is None else reader.retry
                self.patience.tell(error, wait)
            await anyio.sleep(wait)
            reader = EventReader()

    async def _read(
        self, request: Request, reader: EventReader, timeout: float | None
    ) -> AsyncGenerator[RawEvent, None]:
        response = await self._tries(request, timeout, "text/event-stream")
        try:
            async for chunk in response.aiter_bytes():
                for event in reader.feed(chunk):
                    yield event
        except httpx.TransportError as error:
            raise NotAnswered("the stream was cut") from error
        finally:
            # Whoever stops reading takes the request along.
            await response.aclose()

    async def _tries(self, request: Request, timeout: float | None, accept: str) -> httpx.Response:
        """Tries until there is an answer, or none is to be expected."""
        tries = 0
        while True:
            try:
                return await self._once(request, timeout, accept)
            except GatewayError as error:
                wait = self.patience.wait(error, request, tries)
                if wait is None:
                    raise
                self.patience.tell(error, wait)
            await anyio.sleep(wait)
            tries += 1

    async def _once(self, request: Request, timeout: float | None, accept: str) -> httpx.Response:
        streams = accept == "text/event-stream"
        seconds = self.timeout if timeout is None else timeout
        token = self.token if self.token is None or isinstance(self.token, str) else await self.token()
        built = self.client.build_request(
            request.method,
            request.path,
            params=request.parameters(),
            headers=request.headers(accept, token),
            content=request.body(),
            # A stream may be silent for longer than an answer may take.
            timeout=httpx.Timeout(seconds, read=self.silence_max if streams else seconds),
        )
        try:
            response = await self.client.send(built, stream=True)
            if not response.is_success:
                await response.aread()
                raise refusal(response)
            if not streams:
                await response.aread()
        except httpx.TransportError as error:
            raise NotAnswered(f"no answer: {error}") from error
        return response
