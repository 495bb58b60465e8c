"""Reads server-sent events (WHATWG HTML, 9.2)."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

# The longest event that is read, characters.
EVENT_MAX = 16 * 1024 * 1024

# A carriage return at the end may be half of a line break.
_BREAK = re.compile(r"\r\n|\n|\r(?!\Z)")


@dataclass(frozen=True)
class RawEvent:
    """One event as it came."""

    event: str
    data: str
    id: str | None


class EventReader:
    """Puts events together out of a body as it comes."""

    def __init__(self) -> None:
        # How long to wait before coming back, seconds, as the stream says.
        self.retry: float | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._rest = ""
        self._name = ""
        self._id: str | None = None
        self._data: list[str] = []
        self._length = 0

    def feed(self, chunk: bytes) -> Iterator[RawEvent]:
        """The events that a piece of the body brings to their end."""
        *lines, self._rest = _BREAK.split(self._rest + self._decoder.decode(chunk))
        for line in lines:
            self._length += len(line)
            event = self._line(line)
            if event:
                yield event
        if self._length + len(self._rest) > EVENT_MAX:
            raise ValueError(f"an event has more than {EVENT_MAX} characters")

    def _line(self, line: str) -> RawEvent | None:
        if not line:
            return self._finish()
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            self._name = value
        elif field == "id":
            self._id = value
        elif field == "data":
            self._data.append(value)
        elif field == "retry" and value.isdecimal():
            self.retry = int(value) / 1000
        # All else, a comment among them, only shows that the stream is alive.
        return None

    def _finish(self) -> RawEvent | None:
        event = RawEvent(self._name, "\n".join(self._data), self._id) if self._data else None
        self._name, self._id, self._data, self._length = "", None, [], 0
        return event
