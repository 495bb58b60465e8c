"""The business (catalogue.json) and the tools that it lists (tools.json). Holds no state."""

from __future__ import annotations

import json
from datetime import timedelta, timezone
from pathlib import Path
from typing import Any

import jsonschema

from broker.refusal import INVALID_REQUEST, Refusal

# The largest catalogue file that is read, in bytes.
MAX_CATALOGUE_BYTES = 1024 * 1024

ROOT = Path(__file__).resolve().parents[1]
CATALOGUE_FILE = ROOT / "catalogue.json"
TOOLS = json.loads((ROOT / "tools.json").read_text("utf-8"))


class CatalogueError(Exception):
    """A catalogue that cannot be served."""


class Catalogue:
    """A whole catalogue. Its parts are named as in the file."""

    def __init__(self, raw: dict[str, Any]) -> None:
        try:
            self.business: dict[str, Any] = raw["business"]
            self.platform: dict[str, Any] = raw["platform"]
            self.desk: dict[str, Any] = raw["desk"]
            self.test_values: dict[str, Any] = raw["test_values"]
            self.rules: dict[str, Any] = raw["rules"]
            self.list_prices_inr: dict[str, int] = raw["list_prices_inr"]
            self.tariff: dict[str, Any] = raw["tariff"]
            self.cities: dict[str, str] = raw["cities"]
            self.addons: dict[str, Any] = raw["addons"]
            self.insurers: list[dict[str, Any]] = raw["insurers"]
            self.zone = timezone(timedelta(minutes=self.business["utc_offset_minutes"]))
            unknown = {code for insurer in self.insurers for code in insurer["addons"]} - set(
                self.addons
            )
        except (KeyError, TypeError, ValueError) as error:
            raise CatalogueError(f"the catalogue is not well-formed: {error!r}") from error
        if unknown:
            raise CatalogueError(f"insurers sell unknown addons: {', '.join(sorted(unknown))}")

    @classmethod
    def load(cls, path: Path = CATALOGUE_FILE) -> Catalogue:
        """Reads a catalogue file."""
        try:
            if path.stat().st_size > MAX_CATALOGUE_BYTES:
                raise CatalogueError(f"{path} is larger than {MAX_CATALOGUE_BYTES} bytes")
            return cls(json.loads(path.read_text("utf-8")))
        except (OSError, ValueError) as error:
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
        raise Refusal(INVALID_REQUEST, "this partner has no such tool", "name")
    error = next(iter(validator.iter_errors(arguments)), None)
    if error is None:
        return
    path = [str(part) for part in error.absolute_path]
    if error.validator == "required":
        # The path ends at the object around the missing key; the first missing one is named.
        path.append(next(key for key in error.validator_value if key not in error.instance))
    # The message is made here: the library's own repeats the whole value that was sent.
    raise Refusal(INVALID_REQUEST, f"breaks the rule '{error.validator}'", ".".join(path))
