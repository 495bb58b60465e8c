"""The asynchronous client."""

from intent_gateway_client.aio.gateway import Gateway, Orchestrator, Partner, Platform, client_credentials
from intent_gateway_client.aio.transport import Token

__all__ = ["Gateway", "Orchestrator", "Partner", "Platform", "Token", "client_credentials"]
