"""Writes the operations and the codes of the Python client."""

from __future__ import annotations

import re
from typing import Any

from document import Operation, Pages, reference

HEAD = "# Made by clients/generate. Not edited by hand.\n"
SIMPLE = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
CLASSES = {
    "orchestrator": "What an orchestrator may call.",
    "partner": "What a partner may call, of its own account.",
    "platform": "What the platform team may call.",
}
# From the asynchronous client to the one that blocks: what is otherwise in each.
BLOCKING = [
    (r"\basync (def|for|with)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\b__a(enter|exit)__", r"__\1__"),
    (r"\bAsync(Generator|Client)\b", r"\1"),
    (r"\bAwaitable\[(\w+)\]", r"\1"),
    (r", Awaitable\b", ""),
    (r"\banyio\.sleep\b", "time.sleep"),
    (r"\bimport anyio\b", "import time"),
    (r"\ba(iter_bytes|read|close|closing)\b", r"\1"),
    (r"\bintent_gateway_client\.(generated\.)?aio\b", "intent_gateway_client.generated.blocking"),
    (r"\basynchronous\b", "blocking"),
]


def type_of(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return f"models.{reference(schema)}"
    if "oneOf" in schema:
        return " | ".join(type_of(one) for one in schema["oneOf"])
    kinds = schema.get("type", "object")
    if isinstance(kinds, list):
        return " | ".join(SIMPLE[kind] for kind in kinds)
    if "enum" in schema:
        return f"Literal[{', '.join(repr(value) for value in schema['enum'])}]"
    if kinds == "array":
        return f"Sequence[{type_of(schema['items'])}]"
    return SIMPLE.get(kinds, "Mapping[str, Any]")


def parameters(operation: Operation, streams: bool = False) -> list[str]:
    """The parameters of a method: the path and the body in their order, all else by name."""
    found = ["self", *(f"{one.name}: str" for one in operation.path_parameters)]
    body = ""
    if operation.body is not None:
        body = type_of(operation.body)
    elif operation.bytes_of:
        body = "bytes"
    if body and operation.body_required:
        found.append(f"body: {body}")
    elif body:
        found.append(f"body: {body if body.endswith('None') else f'{body} | None'} = None")
    if len(operation.bytes_of) > 1:
        found.append(f"media_type: Literal[{', '.join(repr(one) for one in operation.bytes_of)}]")
    found.append("*")
    if operation.user is not None:
        found.append("user: str" if operation.user else "user: str | None = None")
    for one in sorted(operation.query, key=lambda one: not one.required):
        found.append(f"{one.name}: {type_of(one.schema)}" + ("" if one.required else " | None = None"))
    if streams and operation.resumable:
        found.append("last_event_id: str | None = None")
    found.append("timeout: float | None = None")
    return found


def request(operation: Operation, streams: bool = False) -> str:
    path = re.sub(r"{(\w+)}", r"{segment(\1)}", operation.path)
    fields = [f'"{operation.method}"', f'f"{path}"' if operation.path_parameters else f'"{path}"']
    if operation.user is not None:
        fields.append("user=user")
    if operation.query:
        fields.append("query={" + ", ".join(f'"{one.name}": {one.name}' for one in operation.query) + "}")
    if operation.body is not None:
        fields.append("json=body")
    elif operation.bytes_of:
        fields.append("content=body")
        fields.append("media_type=media_type" if len(operation.bytes_of) > 1 else f'media_type="{operation.bytes_of[0]}"')
    if operation.repeatable:
        fields.append("repeatable=True")
    if streams and operation.resumable:
        fields.append("last_event_id=last_event_id")
    return f"Request({', '.join(fields)})"


def answer_of(operation: Operation) -> str:
    if operation.answers_bytes:
        return "bytes"
    kinds = dict.fromkeys("Any" if "$ref" not in one else type_of(one) for one in operation.answers)
    return " | ".join(kinds) or "None"


def plain(operation: Operation) -> list[str]:
    answer = answer_of(operation)
    send = "fetch" if operation.answers_bytes else "send"
    call = f"await self.transport.{send}({request(operation)}, timeout)"
    lines = [
        f"    async def {operation.name}({', '.join(parameters(operation))}) -> {answer}:",
        f'        """{operation.summary}"""',
    ]
    if answer in ("None", "bytes", "Any"):
        return [*lines, f"        {call}" if answer == "None" else f"        return {call}"]
    return [*lines, f"        return cast({answer!r}, {call})"]


def stream(operation: Operation) -> list[str]:
    name = f"stream_{operation.name}" if operation.answers else operation.name
    event = f"models.{operation.event}"
    return [
        f"    async def {name}({', '.join(parameters(operation, streams=True))}) -> AsyncGenerator[{event}, None]:",
        f'        """{operation.summary}{" As events." if operation.answers else ""}"""',
        f"        events = self.transport.events({request(operation, streams=True)}, {operation.resumable}, timeout)",
        "        async with aclosing(events):",
        "            async for event in events:",
        f"                yield cast({event!r}, event)",
    ]


def pages(operation: Operation, paged: Pages) -> list[str]:
    name = operation.name.replace("list_", "iterate_", 1)
    given = [text.split(":")[0] for text in parameters(operation) if text not in ("self", "*")]
    positional = [one.name for one in operation.path_parameters]
    values = ", ".join([*positional, *(f"{one}={one}" for one in given if one not in positional)])
    return [
        f"    async def {name}({', '.join(parameters(operation))}) -> AsyncGenerator[{type_of(paged.item)}, None]:",
        f'        """{operation.summary} One after the other, over all pages."""',
        "        while True:",
        f"            page = await self.{operation.name}({values})",
        f'            for item in page["{paged.items}"]:',
        "                yield item",
        f'            if page["next"] is None:',
        "                return",
        f'            {paged.cursor} = page["next"]',
    ]


def operations(found: list[Operation]) -> str:
    lines = [
        HEAD,
        "from __future__ import annotations",
        "",
        "from collections.abc import AsyncGenerator, Mapping",
        "from contextlib import aclosing",
        "from typing import Any, Literal, cast",
        "",
        "from intent_gateway_client.aio.transport import Transport",
        "from intent_gateway_client.generated import models",
        "from intent_gateway_client.request import Request, segment",
    ]
    for audience, what in CLASSES.items():
        lines += ["", "", f"class {audience.capitalize()}Operations:", f'    """{what}"""', ""]
        lines += ["    def __init__(self, transport: Transport) -> None:", "        self.transport = transport"]
        for operation in (one for one in found if one.audience == audience):
            if operation.answers or operation.answers_bytes or not operation.event:
                lines += ["", *plain(operation)]
            if operation.event:
                lines += ["", *stream(operation)]
            if operation.pages:
                lines += ["", *pages(operation, operation.pages)]
    return "\n".join(lines) + "\n"


def blocking(source: str) -> str:
    """The blocking form of a file of the asynchronous client."""
    for pattern, plain in BLOCKING:
        source = re.sub(pattern, plain, source)
    return source


def codes(found: list[str]) -> str:
    listed = "\n".join(f'    {code} = "{code}"' for code in found)
    return (
        f"{HEAD}\nfrom enum import Enum\n\n\nclass Code(str, Enum):\n"
        f'    """The codes of the gateway\'s own. A contract\'s refusals carry codes of its intent\'s error table."""\n\n{listed}\n'
    )
