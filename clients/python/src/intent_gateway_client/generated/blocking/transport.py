# Made by clients/generate. Not edited by hand.
"""Sends requests, the blocking way."""

from __future__ import annotations

import json
from collections.abc import Generator, Callable
from contextlib import closing
from dataclasses import replace
from typing import Any

import time
import httpx

from intent_gateway_client.errors import GatewayError, NotAnswered
from intent_gateway_client.events import EventReader, RawEvent
from intent_gateway_client.request import FIRST_WAIT, Patience, Request, refusal

# A token, or what gives one for each request.
Token = str | Callable[[], str]


class Transport:
    """One request and its answer: the token, the time that it may take, and what is sent again."""

    def __init__(self, url: str, token: Token | None, timeout: float, silence_max: float, patience: Patience) -> None:
        self.client = httpx.Client(base_url=url, follow_redirects=False)
        self.token = token
        self.timeout = timeout
        self.silence_max = silence_max
        self.patience = patience

    def close(self) -> None:
        self.client.close()

    def send(self, request: Request, timeout: float | None) -> Any:
        """Sends a request and reads the JSON of its answer; nothing where there is none."""
        response = self._tries(request, timeout, "application/json")
        body = response.read()
        return json.loads(body) if body else None

    def fetch(self, request: Request, timeout: float | None) -> bytes:
        """Sends a request and reads its answer as it is."""
        response = self._tries(request, timeout, "*/*")
        return response.read()

    def events(
        self, request: Request, resumable: bool, timeout: float | None
    ) -> Generator[dict[str, Any], None]:
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
                with closing(self._read(request, reader, timeout)) as told:
                    for raw in told:
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
            time.sleep(wait)
            reader = EventReader()

    def _read(
        self, request: Request, reader: EventReader, timeout: float | None
    ) -> Generator[RawEvent, None]:
        response = self._tries(request, timeout, "text/event-stream")
        try:
            for chunk in response.iter_bytes():
                for event in reader.feed(chunk):
                    yield event
        except httpx.TransportError as error:
            raise NotAnswered("the stream was cut") from error
        finally:
            # Whoever stops reading takes the request along.
            response.close()

    def _tries(self, request: Request, timeout: float | None, accept: str) -> httpx.Response:
        """Tries until there is an answer, or none is to be expected."""
        tries = 0
        while True:
            try:
                return self._once(request, timeout, accept)
            except GatewayError as error:
                wait = self.patience.wait(error, request, tries)
                if wait is None:
                    raise
                self.patience.tell(error, wait)
            time.sleep(wait)
            tries += 1

    def _once(self, request: Request, timeout: float | None, accept: str) -> httpx.Response:
        streams = accept == "text/event-stream"
        seconds = self.timeout if timeout is None else timeout
        token = self.token if self.token is None or isinstance(self.token, str) else self.token()
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
            response = self.client.send(built, stream=True)
            if not response.is_success:
                response.read()
                raise refusal(response)
            if not streams:
                response.read()
        except httpx.TransportError as error:
            raise NotAnswered(f"no answer: {error}") from error
        return response
