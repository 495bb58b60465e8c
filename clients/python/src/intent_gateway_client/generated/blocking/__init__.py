# Made by clients/generate. Not edited by hand.
"""The blocking client."""

from intent_gateway_client.generated.blocking.gateway import Gateway, Orchestrator, Partner, Platform, client_credentials
from intent_gateway_client.generated.blocking.transport import Token

__all__ = ["Gateway", "Orchestrator", "Partner", "Platform", "Token", "client_credentials"]
