"""Writes the operations and the codes of the TypeScript client."""

from __future__ import annotations

from typing import Any

from document import Operation, Pages, Parameter, reference

HEAD = "// Made by clients/generate. Not edited by hand.\n"
SIMPLE = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
CLASSES = {
    "orchestrator": "What an orchestrator may call.",
    "partner": "What a partner may call, of its own account.",
    "platform": "What the platform team may call.",
}


def camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def type_of(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return f"Models.{reference(schema)}"
    if "oneOf" in schema:
        return " | ".join(type_of(one) for one in schema["oneOf"])
    kinds = schema.get("type", "object")
    if isinstance(kinds, list):
        return " | ".join(SIMPLE[kind] for kind in kinds)
    if "enum" in schema:
        return " | ".join(f'"{value}"' for value in schema["enum"])
    if kinds == "array":
        return f"readonly {type_of(schema['items'])}[]"
    return SIMPLE.get(kinds, "Record<string, unknown>")


def members(operation: Operation) -> str:
    """The type of what is given by name; nothing where there is none."""
    named = [f"{one.name}{'' if one.required else '?'}: {type_of(one.schema)}" for one in operation.query]
    if operation.user is not None:
        named.insert(0, f"user{'' if operation.user else '?'}: string")
    return f"{{ {'; '.join(named)} }}" if named else ""


def parameters(operation: Operation) -> list[tuple[str, str]]:
    """The parameters of a method, each with its declaration."""
    found = [(camel(one.name), f"{camel(one.name)}: string") for one in operation.path_parameters]
    optional = not operation.body_required
    body = ""
    if operation.body is not None:
        body = type_of(operation.body)
    elif operation.bytes_of:
        body = "Uint8Array"
    if body:
        found.append(("body", f"body: {body} | undefined" if optional else f"body: {body}"))
    if len(operation.bytes_of) > 1:
        found.append(("mediaType", "mediaType: " + " | ".join(f'"{one}"' for one in operation.bytes_of)))
    named = members(operation)
    if named:
        required = operation.user or any(one.required for one in operation.query)
        found.append(("args", f"args: {named}" + ("" if required else " = {}")))
    return found


def request(operation: Operation) -> str:
    path = operation.path
    for one in operation.path_parameters:
        path = path.replace(f"{{{one.name}}}", f"${{segment({camel(one.name)})}}")
    fields = [f'method: "{operation.method}"', f"path: `{path}`"]
    if operation.query or operation.user is not None:
        fields.append("args")
    if operation.body is not None:
        fields.append("json: body")
    elif operation.bytes_of:
        fields.append("bytes: body")
        fields.append("mediaType" if len(operation.bytes_of) > 1 else f'mediaType: "{operation.bytes_of[0]}"')
    if operation.repeatable:
        fields.append("repeatable: true")
    return f"{{ {', '.join(fields)} }}"


def answer_of(operation: Operation) -> str:
    if operation.answers_bytes:
        return "Uint8Array"
    kinds = dict.fromkeys("unknown" if "$ref" not in one else type_of(one) for one in operation.answers)
    return " | ".join(kinds) or "void"


def plain(operation: Operation) -> list[str]:
    declared = ", ".join(text for _, text in [*parameters(operation), ("call", "call: Call = {}")])
    send = "bytes" if operation.answers_bytes else "send"
    return [
        f"  /** {operation.summary} */",
        f"  {camel(operation.name)}({declared}): Promise<{answer_of(operation)}> {{",
        f"    return this.transport.{send}({request(operation)}, call);",
        "  }",
    ]


def stream(operation: Operation) -> list[str]:
    name = f"stream_{operation.name}" if operation.answers else operation.name
    declared = ", ".join(text for _, text in [*parameters(operation), ("call", "call: StreamCall = {}")])
    resumes = "true" if operation.resumable else "false"
    return [
        f"  /** {operation.summary} As events. */" if operation.answers else f"  /** {operation.summary} */",
        f"  {camel(name)}({declared}): AsyncGenerator<Models.{operation.event}, void, undefined> {{",
        f"    return this.transport.events({request(operation)}, {resumes}, call);",
        "  }",
    ]


def pages(operation: Operation, paged: Pages) -> list[str]:
    name = camel(operation.name.replace("list_", "iterate_", 1))
    given = [*parameters(operation), ("call", "call: Call = {}")]
    values = ", ".join("turn" if name == "args" else name for name, _ in given)
    return [
        f"  /** {operation.summary} One after the other, over all pages. */",
        f"  async *{name}({', '.join(text for _, text in given)}): AsyncGenerator<{type_of(paged.item)}, void, undefined> {{",
        "    for (let turn = args; ; ) {",
        f"      const page = await this.{camel(operation.name)}({values});",
        f"      yield* page.{paged.items};",
        "      if (page.next == null) return;",
        f"      turn = {{ ...turn, {paged.cursor}: page.next }};",
        "    }",
        "  }",
    ]


def operations(found: list[Operation]) -> str:
    lines = [
        HEAD,
        'import { segment, type Call, type StreamCall, type Transport } from "../transport.js";',
        'import type * as Models from "./models.js";',
    ]
    for audience, what in CLASSES.items():
        lines += ["", f"/** {what} */", f"export class {audience.capitalize()}Operations {{"]
        lines += ["  constructor(readonly transport: Transport) {}"]
        for operation in (one for one in found if one.audience == audience):
            if operation.answers or operation.answers_bytes or not operation.event:
                lines += ["", *plain(operation)]
            if operation.event:
                lines += ["", *stream(operation)]
            if operation.pages:
                lines += ["", *pages(operation, operation.pages)]
        lines += ["}"]
    return "\n".join(lines) + "\n"


def codes(found: list[str]) -> str:
    listed = "\n".join(f'  "{code}",' for code in found)
    return (
        f"{HEAD}\n/** The codes of the gateway's own. A contract's refusals carry codes of its intent's error table. */\n"
        f"export const ERROR_CODES = [\n{listed}\n] as const;\n\nexport type ErrorCode = (typeof ERROR_CODES)[number];\n"
    )
