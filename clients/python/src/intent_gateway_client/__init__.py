"""Client of intent-gateway, the blocking way; `intent_gateway_client.aio` has the same for asyncio and trio."""

from intent_gateway_client.errors import GatewayError, NotAnswered, NotUnderstood, Refused
from intent_gateway_client.generated import models
from intent_gateway_client.generated.blocking import Gateway, Orchestrator, Partner, Platform, Token, client_credentials
from intent_gateway_client.generated.codes import Code
from intent_gateway_client.request import Patience
from intent_gateway_client.signing import sign_report

__all__ = [
    "Code",
    "Gateway",
    "GatewayError",
    "NotAnswered",
    "NotUnderstood",
    "Orchestrator",
    "Partner",
    "Patience",
    "Platform",
    "Refused",
    "Token",
    "client_credentials",
    "models",
    "sign_report",
]
