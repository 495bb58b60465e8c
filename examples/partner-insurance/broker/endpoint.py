"""The broker's tools as an MCP server: how an answer and a refusal are wrapped."""

from __future__ import annotations

import json
import logging
from typing import Any

import anyio
import mcp_types as types
from partner.endpoint import VERSION, PartnerServer, answer_call

from broker.catalogue import descriptors
from broker.desk import Desk
from broker.refusal import Refusal

logger = logging.getLogger("broker")


def mcp_server(desk: Desk, delay_s: float) -> PartnerServer:
    """The five tools of the broker; each call is answered after `delay_s` seconds."""
    tools = [types.Tool.model_validate(tool) for tool in descriptors(desk.catalogue.platform)]

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def call_tool(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        await anyio.sleep(delay_s)
        # Arguments hold a registration number and parts of documents: none of it is logged.
        try:
            payload = answer_call(desk, params)
        except Refusal as refused:
            logger.info("%s refused: %s", params.name, refused.code)
            return types.CallToolResult(
                content=[types.TextContent(type="text", text=refused.message)],
                structured_content={**refused.data(), "message": refused.message},
                is_error=True,
            )
        logger.info("%s answered", params.name)
        text = json.dumps(payload, ensure_ascii=False)
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

    return PartnerServer(
        desk.catalogue.business["name"],
        version=VERSION,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
