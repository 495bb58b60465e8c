"""The business behind the server, read from a catalogue file, and the tools that it lists.

The format is described in examples/catalogues/README.md. A catalogue holds no state: what is sold
lives in `desk`.
"""

from __future__ import annotations

import json
from datetime import time, timedelta, timezone
from pathlib import Path
from typing import Any

import jsonschema

from partner import refusal
from partner.refusal import Refusal

# The largest catalogue file that is read, in bytes.
MAX_CATALOGUE_BYTES = 1024 * 1024

CATALOGUES = Path(__file__).resolve().parents[2] / "catalogues"
TOOLS = json.loads((CATALOGUES / "contract" / "tools.json").read_text("utf-8"))


class CatalogueError(Exception):
    """A catalogue that cannot be served."""


class Catalogue:
    """A whole catalogue, with the few values that are needed in another form."""

    def __init__(self, raw: dict[str, Any]) -> None:
        try:
            self.business: dict[str, Any] = raw["business"]
            self.platform: dict[str, Any] = raw["platform"]
            self.vehicles: dict[str, Any] = raw["vehicles"]
            self.services: dict[str, Any] = raw["services"]
            self.slots: list[dict[str, Any]] = raw["slots"]
            self.providers = {provider["provider_id"]: provider for provider in raw["providers"]}
            self.zone = timezone(timedelta(minutes=self.business["utc_offset_minutes"]))
            self.opens = time.fromisoformat(self.business["opens"])
            self.closes = time.fromisoformat(self.business["closes"])
        except (KeyError, TypeError, ValueError) as error:
            raise CatalogueError(f"the catalogue is not well-formed: {error!r}") from error
        if self.opens >= self.closes:
            raise CatalogueError("the opening time must be before the closing time")
        for slot in self.slots:
            if slot["provider"] not in self.providers or slot["service"] not in self.services:
                raise CatalogueError(f"slot {slot['ref']} names an unknown provider or service")

    @classmethod
    def load(cls, name_or_path: str) -> Catalogue:
        """Reads one of examples/catalogues by its bare name, or else a file by path."""
        path = CATALOGUES / f"{name_or_path}.json"
        if "/" in name_or_path or not path.is_file():
            path = Path(name_or_path)
        try:
            if path.stat().st_size > MAX_CATALOGUE_BYTES:
                raise CatalogueError(f"{path} is larger than {MAX_CATALOGUE_BYTES} bytes")
            return cls(json.loads(path.read_text("utf-8")))
        except (OSError, json.JSONDecodeError) as error:
            raise CatalogueError(f"{path} cannot be read: {error}") from error


def descriptors(platform: dict[str, Any]) -> list[dict[str, Any]]:
    """What `tools/list` answers: the intent's tools with this business's terms (spec 1)."""
    shared = {key: TOOLS[key] for key in ("intent", "domain", "intent_version", "widget_type")}
    return [
        {
            "name": tool["name"],
            "description": tool["description"],
            "inputSchema": tool["inputSchema"],
            "_meta": {"platform": {**platform, **shared, "tool_role": tool["tool_role"]}},
        }
        for tool in TOOLS["tools"]
    ]


_VALIDATORS = {
    tool["name"]: jsonschema.Draft202012Validator(tool["inputSchema"]) for tool in TOOLS["tools"]
}


def check_arguments(tool: str, arguments: dict[str, Any]) -> None:
    """Refuses an unknown tool, and arguments that break the tool's input schema."""
    validator = _VALIDATORS.get(tool)
    if validator is None:
        raise Refusal(refusal.INVALID_REQUEST, "this partner has no such tool", "name")
    error = next(iter(validator.iter_errors(arguments)), None)
    if error is None:
        return
    path = [str(part) for part in error.absolute_path]
    if error.validator == "required":
        # The path ends at the object around the missing key; the first missing one is named.
        path.append(next(key for key in error.validator_value if key not in error.instance))
    # The message is made here: the library's own repeats the whole value that was sent.
    raise Refusal(refusal.INVALID_REQUEST, f"breaks the rule '{error.validator}'", ".".join(path))
