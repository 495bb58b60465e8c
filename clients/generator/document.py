"""What a client needs of the OpenAPI document: its operations, by who calls them."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

JSON = "application/json"
EVENTS = "text/event-stream"
USER = "x-user-id"
LAST_EVENT = "last-event-id"

# The tag of an operation, and the class that has it. The pages on which users link accounts are for browsers.
AUDIENCES = {
    "orchestrator": "orchestrator",
    "business": "partner",
    "reports": "partner",
    "admin": "platform",
    "operations": "platform",
}
# Signed, not called with a token: each client has it by hand.
BY_HAND = {"take_report"}
# A GET is repeated where its answer was lost; of the others, those that change nothing.
HARMLESS = {"classify", "search"}


@dataclasses.dataclass(frozen=True)
class Parameter:
    name: str
    schema: dict[str, Any]
    required: bool
    description: str


@dataclasses.dataclass(frozen=True)
class Pages:
    """A list that comes in pages: `next` of one is `cursor` of the following."""

    cursor: str
    items: str
    item: dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Operation:
    name: str
    audience: str
    method: str
    path: str
    summary: str
    path_parameters: list[Parameter]
    query: list[Parameter]
    # None where it is about no user, else whether it must be.
    user: bool | None
    # The schema of a JSON body.
    body: dict[str, Any] | None
    # The media types of a body that is no JSON.
    bytes_of: list[str]
    body_required: bool
    # The schemas of JSON answers; none where there is nothing to read.
    answers: list[dict[str, Any]]
    # Whether the answer is no JSON, but bytes.
    answers_bytes: bool
    # The schema of one event, where the answer may be a stream of them.
    event: str | None
    resumable: bool
    pages: Pages | None

    @property
    def repeatable(self) -> bool:
        return self.method == "GET" or self.name in HARMLESS


class Document:
    """The document, read."""

    def __init__(self, path: Path) -> None:
        self.raw: dict[str, Any] = json.loads(path.read_text())
        self.schemas: dict[str, Any] = self.raw["components"]["schemas"]

    def types_only(self) -> dict[str, Any]:
        """The document without its paths, for generators of types."""
        components = {"schemas": self.schemas}
        return {"openapi": self.raw["openapi"], "info": self.raw["info"], "paths": {}, "components": components}

    def operations(self) -> list[Operation]:
        found = []
        for path, item in self.raw["paths"].items():
            for method, operation in item.items():
                [tag] = operation["tags"]
                if tag in AUDIENCES and operation["operationId"] not in BY_HAND:
                    found.append(self._operation(path, method.upper(), operation, AUDIENCES[tag]))
        return sorted(found, key=lambda operation: operation.name)

    def _operation(self, path: str, method: str, raw: dict[str, Any], audience: str) -> Operation:
        parameters = {"path": [], "query": [], "header": []}
        for one in raw.get("parameters", []):
            description = one.get("description", "")
            parameter = Parameter(one["name"], one["schema"], one["required"], description)
            parameters[one["in"]].append(parameter)
        headers = {parameter.name: parameter for parameter in parameters["header"]}
        unknown = set(headers) - {USER, LAST_EVENT}
        if unknown:
            raise ValueError(f"{method} {path}: no client knows the headers {unknown}")
        content = raw.get("requestBody", {}).get("content", {})
        body = content[JSON]["schema"] if JSON in content else None
        answers, media_types = [], set()
        for status, response in raw["responses"].items():
            if status.startswith("2"):
                kinds = response.get("content", {})
                media_types |= set(kinds)
                answers += [kind["schema"] for media_type, kind in kinds.items() if media_type == JSON]
        event = raw.get("x-event")
        query = parameters["query"]
        if JSON in media_types:
            # Another form of the same answer, for other programs than this.
            query = [parameter for parameter in query if parameter.name != "format"]
        return Operation(
            name=raw["operationId"],
            audience=audience,
            method=method,
            path=path,
            summary=raw["summary"],
            path_parameters=parameters["path"],
            query=query,
            user=headers[USER].required if USER in headers else None,
            body=body,
            bytes_of=[] if body else sorted(content),
            body_required=raw.get("requestBody", {}).get("required", False),
            answers=answers,
            answers_bytes=bool(media_types - {EVENTS}) and not answers,
            event=event,
            resumable=bool(event) and self._is_resumable(event),
            pages=self._pages(raw["operationId"], query, answers),
        )

    def _is_resumable(self, event: str) -> bool:
        kinds = [self.resolve(kind) for kind in self.schemas[event]["oneOf"]]
        return any("id" in kind["properties"] for kind in kinds)

    def _pages(self, name: str, query: list[Parameter], answers: list[dict[str, Any]]) -> Pages | None:
        if not name.startswith("list_") or len(answers) != 1:
            return None
        cursors = [parameter.name for parameter in query if parameter.name in ("after", "before")]
        properties = self.resolve(answers[0]).get("properties", {})
        if not cursors or "next" not in properties:
            return None
        lists = {name: one for name, one in properties.items() if one.get("type") == "array"}
        [(items, schema)] = lists.items()
        return Pages(cursors[0], items, schema["items"])

    def codes_of_refusals(self) -> set[str]:
        """The codes that operations name, but for those of pages."""
        found: set[str] = set()
        for item in self.raw["paths"].values():
            for operation in item.values():
                if operation["tags"] == ["linking"]:
                    continue
                for status, response in operation["responses"].items():
                    if status[0] in "45":
                        found |= _names(response.get("description", ""))
        return found

    def resolve(self, schema: dict[str, Any]) -> dict[str, Any]:
        return self.schemas[reference(schema)] if "$ref" in schema else schema


def reference(schema: dict[str, Any]) -> str:
    """The name of the component that a schema refers to."""
    return schema["$ref"].rsplit("/", 1)[1]


def codes(docs: Path) -> list[str]:
    """The codes that a refusal may carry, from the pages that list them with their statuses.

    A test of the gateway holds these pages against its code.
    """
    found: set[str] = set()
    for page in ("errors.md", "completion-reports.md"):
        for section in (docs / page).read_text().split("\n## "):
            title = section.splitlines()[0]
            # Those stand on pages for people.
            if title in ("On pages", "On the way to a linked account"):
                continue
            rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines() if line.startswith("|")]
            if title == "A component that is not taken":
                found |= {code for row in rows for code in _names(row[0])}
            elif title == "Partners in a search":
                # A call of a tool is refused with the code of a partner that failed.
                found |= {code for row in rows if row[1] == "failed" for code in _names(row[0])}
                # And with those that a partner may give itself.
                found |= _names(re.search(r"one of the\s+platform's \(([^)]*)\)", section)[1])
            elif rows and rows[0][:2] == ["code", "status"]:
                found |= {code for row in rows if row[1].isdigit() for code in _names(row[0])}
    return sorted(found)


def _names(cell: str) -> set[str]:
    words = cell.split("`")[1::2]
    return {word for word in words if word.replace("_", "").isalnum() and word.upper() == word}
