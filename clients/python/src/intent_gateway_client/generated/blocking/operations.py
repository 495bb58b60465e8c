# Made by clients/generate. Not edited by hand.

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import closing
from typing import Any, Literal, cast

from intent_gateway_client.generated.blocking.transport import Transport
from intent_gateway_client.generated import models
from intent_gateway_client.request import Request, segment


class OrchestratorOperations:
    """What an orchestrator may call."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    def call_tool(self, intent: str, tool: str, body: models.ToolRequest, *, user: str | None = None, timeout: float | None = None) -> models.ToolAnswer:
        """Calls a tool of an intent that is not a search: books, follows, cancels."""
        return cast('models.ToolAnswer', self.transport.send(Request("POST", f"/api/v1/intents/{segment(intent)}/tools/{segment(tool)}", user=user, json=body), timeout))

    def classify(self, body: models.ClassifyRequest, *, timeout: float | None = None) -> models.Classified:
        """Finds the intent of an utterance."""
        return cast('models.Classified', self.transport.send(Request("POST", "/api/v1/classify", json=body, repeatable=True), timeout))

    def erase_user(self, *, user: str, timeout: float | None = None) -> models.UserErased | models.ApprovalBody:
        """Erases a user: links are ended, receipts and what was found in them emptied, orders kept without the person."""
        return cast('models.UserErased | models.ApprovalBody', self.transport.send(Request("DELETE", "/api/v1/user-data", user=user), timeout))

    def export_user(self, *, user: str, after: str | None = None, timeout: float | None = None) -> models.UserData:
        """Shows a page of what the gateway keeps of a user: accounts linked at partners, orders, and searches with what was shown."""
        return cast('models.UserData', self.transport.send(Request("GET", "/api/v1/user-data", user=user, query={"after": after}, repeatable=True), timeout))

    def follow_tool(self, intent: str, tool: str, body: models.ToolRequest, *, user: str | None = None, last_event_id: str | None = None, timeout: float | None = None) -> Generator[models.FollowEvent, None]:
        """Follows an order: the answers of a track tool, as they change, and what the partner tells of its work meanwhile."""
        events = self.transport.events(Request("POST", f"/api/v1/intents/{segment(intent)}/tools/{segment(tool)}/stream", user=user, json=body, last_event_id=last_event_id), True, timeout)
        with closing(events):
            for event in events:
                yield cast('models.FollowEvent', event)

    def list_intents(self, *, timeout: float | None = None) -> models.IntentList:
        """Lists the live intents."""
        return cast('models.IntentList', self.transport.send(Request("GET", "/api/v1/intents", repeatable=True), timeout))

    def list_links(self, *, user: str, timeout: float | None = None) -> models.LinkList:
        """Lists the accounts that a user has linked at partners."""
        return cast('models.LinkList', self.transport.send(Request("GET", "/api/v1/links", user=user, repeatable=True), timeout))

    def list_orders(self, *, user: str | None = None, before: str | None = None, limit: int | None = None, intent: str | None = None, state: str | None = None, open: bool | None = None, in_doubt: bool | None = None, timeout: float | None = None) -> models.OrderList:
        """Lists what a user has ordered, newest first; without `x-user-id`, what was ordered for nobody by name."""
        return cast('models.OrderList', self.transport.send(Request("GET", "/api/v1/orders", user=user, query={"before": before, "limit": limit, "intent": intent, "state": state, "open": open, "in_doubt": in_doubt}, repeatable=True), timeout))

    def iterate_orders(self, *, user: str | None = None, before: str | None = None, limit: int | None = None, intent: str | None = None, state: str | None = None, open: bool | None = None, in_doubt: bool | None = None, timeout: float | None = None) -> Generator[models.OrderSummary, None]:
        """Lists what a user has ordered, newest first; without `x-user-id`, what was ordered for nobody by name. One after the other, over all pages."""
        while True:
            page = self.list_orders(user=user, before=before, limit=limit, intent=intent, state=state, open=open, in_doubt=in_doubt, timeout=timeout)
            for item in page["orders"]:
                yield item
            if page["next"] is None:
                return
            before = page["next"]

    def offer_link(self, body: models.LinkRequest, *, user: str, timeout: float | None = None) -> models.LinkOffered:
        """Gives out an address where a user links an account at a partner."""
        return cast('models.LinkOffered', self.transport.send(Request("POST", "/api/v1/links", user=user, json=body), timeout))

    def order_events(self, *, after: str | None = None, limit: int | None = None, timeout: float | None = None) -> models.OrderChanges:
        """Tells which orders of the orchestrator's users have changed since a cursor, each once, as it is now; without one, all."""
        return cast('models.OrderChanges', self.transport.send(Request("GET", "/api/v1/orders/events", query={"after": after, "limit": limit}, repeatable=True), timeout))

    def stream_order_events(self, *, after: str | None = None, limit: int | None = None, last_event_id: str | None = None, timeout: float | None = None) -> Generator[models.OrderEvent, None]:
        """Tells which orders of the orchestrator's users have changed since a cursor, each once, as it is now; without one, all. As events."""
        events = self.transport.events(Request("GET", "/api/v1/orders/events", query={"after": after, "limit": limit}, repeatable=True, last_event_id=last_event_id), True, timeout)
        with closing(events):
            for event in events:
                yield cast('models.OrderEvent', event)

    def remove_link(self, partner: str, *, user: str, timeout: float | None = None) -> models.LinkRemoved:
        """Ends a link: the gateway forgets the tokens, and has them revoked where they came from."""
        return cast('models.LinkRemoved', self.transport.send(Request("DELETE", f"/api/v1/links/{segment(partner)}", user=user), timeout))

    def search(self, intent: str, body: Mapping[str, Any], *, user: str | None = None, timeout: float | None = None) -> models.SearchAnswer:
        """Searches: checks the request, asks the partners, ranks what they offer."""
        return cast('models.SearchAnswer', self.transport.send(Request("POST", f"/api/v1/intents/{segment(intent)}/search", user=user, json=body, repeatable=True), timeout))

    def stream_search(self, intent: str, body: Mapping[str, Any], *, user: str | None = None, timeout: float | None = None) -> Generator[models.SearchEvent, None]:
        """Searches: checks the request, asks the partners, ranks what they offer. As events."""
        events = self.transport.events(Request("POST", f"/api/v1/intents/{segment(intent)}/search", user=user, json=body, repeatable=True), False, timeout)
        with closing(events):
            for event in events:
                yield cast('models.SearchEvent', event)

    def show_intent(self, intent: str, *, timeout: float | None = None) -> models.IntentDetail:
        """Shows everything that the live contract of an intent declares."""
        return cast('models.IntentDetail', self.transport.send(Request("GET", f"/api/v1/intents/{segment(intent)}", repeatable=True), timeout))

    def show_order(self, order_id: str, *, user: str | None = None, timeout: float | None = None) -> models.OrderDetail:
        """Shows an order whole: what was ordered, how far it is, what happened to it, and what may be done with it now."""
        return cast('models.OrderDetail', self.transport.send(Request("GET", f"/api/v1/orders/{segment(order_id)}", user=user, repeatable=True), timeout))


class PartnerOperations:
    """What a partner may call, of its own account."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    def add_document(self, account_id: str, body: bytes, media_type: Literal['application/pdf', 'image/jpeg', 'image/png'], *, kind: str, name: str | None = None, timeout: float | None = None) -> models.DocumentBody:
        """Uploads a document. The same file once more makes no second one."""
        return cast('models.DocumentBody', self.transport.send(Request("POST", f"/api/v1/business/tier1/accounts/{segment(account_id)}/documents", query={"kind": kind, "name": name}, content=body, media_type=media_type), timeout))

    def enable_webhook(self, account_id: str, *, timeout: float | None = None) -> models.WebhookBody:
        """Has events sent again after that was stopped, because the webhook had taken none for five days or said that it is gone. What
was not sent meanwhile is sent by a replay of each."""
        return cast('models.WebhookBody', self.transport.send(Request("POST", f"/api/v1/business/tier1/credentials/{segment(account_id)}/webhook/enable"), timeout))

    def end_sessions(self, account_id: str, *, timeout: float | None = None) -> None:
        """Ends all sessions of the account: no token that was issued before is accepted any more, this one included."""
        self.transport.send(Request("POST", f"/api/v1/business/tier1/accounts/{segment(account_id)}/sessions/end"), timeout)

    def issue_credentials(self, account_id: str, *, timeout: float | None = None) -> models.CredentialsBody:
        """Issues the account's credentials. The secret is in this answer and in no other."""
        return cast('models.CredentialsBody', self.transport.send(Request("POST", f"/api/v1/business/tier1/credentials/{segment(account_id)}"), timeout))

    def issue_token(self, body: models.TokenRequest, *, timeout: float | None = None) -> models.IssuedToken:
        """Takes sandbox credentials, and gives a token of their account."""
        return cast('models.IssuedToken', self.transport.send(Request("POST", "/api/v1/business/token", json=body), timeout))

    def list_own_documents(self, account_id: str, *, timeout: float | None = None) -> models.DocumentList:
        """Lists the documents of an account."""
        return cast('models.DocumentList', self.transport.send(Request("GET", f"/api/v1/business/tier1/accounts/{segment(account_id)}/documents", repeatable=True), timeout))

    def list_own_events(self, account_id: str, *, before: str | None = None, limit: int | None = None, timeout: float | None = None) -> models.EventsBody:
        """Lists what the partner was told, the latest first, each with every try to deliver it to the webhook. Events are kept for 30
days."""
        return cast('models.EventsBody', self.transport.send(Request("GET", f"/api/v1/business/tier1/accounts/{segment(account_id)}/events", query={"before": before, "limit": limit}, repeatable=True), timeout))

    def iterate_own_events(self, account_id: str, *, before: str | None = None, limit: int | None = None, timeout: float | None = None) -> Generator[models.EventBody, None]:
        """Lists what the partner was told, the latest first, each with every try to deliver it to the webhook. Events are kept for 30
days. One after the other, over all pages."""
        while True:
            page = self.list_own_events(account_id, before=before, limit=limit, timeout=timeout)
            for item in page["events"]:
                yield item
            if page["next"] is None:
                return
            before = page["next"]

    def list_own_findings(self, account_id: str, *, before: int | None = None, limit: int | None = None, severity: str | None = None, source: str | None = None, intent: str | None = None, code: str | None = None, timeout: float | None = None) -> models.PartnerFindings:
        """Lists what was found in the partner's answers and completion reports: what was dropped and why, with an excerpt of
what was sent; strikes; reports that were refused or are questioned."""
        return cast('models.PartnerFindings', self.transport.send(Request("GET", f"/api/v1/business/tier1/accounts/{segment(account_id)}/findings", query={"before": before, "limit": limit, "severity": severity, "source": source, "intent": intent, "code": code}, repeatable=True), timeout))

    def iterate_own_findings(self, account_id: str, *, before: int | None = None, limit: int | None = None, severity: str | None = None, source: str | None = None, intent: str | None = None, code: str | None = None, timeout: float | None = None) -> Generator[models.Finding, None]:
        """Lists what was found in the partner's answers and completion reports: what was dropped and why, with an excerpt of
what was sent; strikes; reports that were refused or are questioned. One after the other, over all pages."""
        while True:
            page = self.list_own_findings(account_id, before=before, limit=limit, severity=severity, source=source, intent=intent, code=code, timeout=timeout)
            for item in page["findings"]:
                yield item
            if page["next"] is None:
                return
            before = page["next"]

    def list_own_notices(self, account_id: str, *, timeout: float | None = None) -> models.PartnerNotices:
        """Lists the notices that concern the partner, the one that takes effect last first: those about everybody, and those about an
intent that it offers or has asked to offer."""
        return cast('models.PartnerNotices', self.transport.send(Request("GET", f"/api/v1/business/tier1/accounts/{segment(account_id)}/notices", repeatable=True), timeout))

    def list_own_orders(self, account_id: str, *, before: str | None = None, limit: int | None = None, intent: str | None = None, state: str | None = None, open: bool | None = None, in_doubt: bool | None = None, timeout: float | None = None) -> models.OrderList:
        """Lists what was ordered at the partner, newest first."""
        return cast('models.OrderList', self.transport.send(Request("GET", f"/api/v1/business/tier1/accounts/{segment(account_id)}/orders", query={"before": before, "limit": limit, "intent": intent, "state": state, "open": open, "in_doubt": in_doubt}, repeatable=True), timeout))

    def iterate_own_orders(self, account_id: str, *, before: str | None = None, limit: int | None = None, intent: str | None = None, state: str | None = None, open: bool | None = None, in_doubt: bool | None = None, timeout: float | None = None) -> Generator[models.OrderSummary, None]:
        """Lists what was ordered at the partner, newest first. One after the other, over all pages."""
        while True:
            page = self.list_own_orders(account_id, before=before, limit=limit, intent=intent, state=state, open=open, in_doubt=in_doubt, timeout=timeout)
            for item in page["orders"]:
                yield item
            if page["next"] is None:
                return
            before = page["next"]

    def list_own_overdue(self, account_id: str, *, timeout: float | None = None) -> models.PartnerOverdue:
        """Lists the partner's orders that wait for its completion report."""
        return cast('models.PartnerOverdue', self.transport.send(Request("GET", f"/api/v1/business/tier1/accounts/{segment(account_id)}/overdue-orders", repeatable=True), timeout))

    def list_own_statements(self, account_id: str, *, timeout: float | None = None) -> models.MonthsBody:
        """Lists the months of which there are statements with lines."""
        return cast('models.MonthsBody', self.transport.send(Request("GET", f"/api/v1/business/tier1/accounts/{segment(account_id)}/statements", repeatable=True), timeout))

    def list_own_test_reports(self, account_id: str, *, timeout: float | None = None) -> models.TestReportsBody:
        """Lists the completion reports that were taken as tests, because the account was never live. They cost nothing, and are
forgotten after 30 days."""
        return cast('models.TestReportsBody', self.transport.send(Request("GET", f"/api/v1/business/tier1/accounts/{segment(account_id)}/test-reports", repeatable=True), timeout))

    def register_endpoint(self, account_id: str, body: models.EndpointRequest, *, timeout: float | None = None) -> models.ConnectionBody:
        """Registers where the partner is called."""
        return cast('models.ConnectionBody', self.transport.send(Request("PUT", f"/api/v1/business/tier1/connection/{segment(account_id)}", json=body), timeout))

    def remove_document(self, account_id: str, document: str, *, timeout: float | None = None) -> models.ApprovalBody:
        """Removes a document, as long as no decision hangs on it."""
        return cast('models.ApprovalBody', self.transport.send(Request("DELETE", f"/api/v1/business/tier1/accounts/{segment(account_id)}/documents/{segment(document)}"), timeout))

    def replace_document(self, account_id: str, document: str, body: bytes, media_type: Literal['application/pdf', 'image/jpeg', 'image/png'], *, kind: str, name: str | None = None, timeout: float | None = None) -> models.DocumentBody:
        """Puts another file in a document's place, as long as no decision hangs on it."""
        return cast('models.DocumentBody', self.transport.send(Request("PUT", f"/api/v1/business/tier1/accounts/{segment(account_id)}/documents/{segment(document)}", query={"kind": kind, "name": name}, content=body, media_type=media_type), timeout))

    def replay_own_event(self, account_id: str, event: str, *, timeout: float | None = None) -> models.EventBody:
        """Has an event sent again, whatever became of it: at once, and with retries over a day."""
        return cast('models.EventBody', self.transport.send(Request("POST", f"/api/v1/business/tier1/accounts/{segment(account_id)}/events/{segment(event)}/replay"), timeout))

    def rotate_credentials(self, account_id: str, body: models.RotateRequest | None = None, *, timeout: float | None = None) -> models.CredentialsBody:
        """Replaces the secret. The one before works for 24 hours more, or not at all with `at_once`."""
        return cast('models.CredentialsBody', self.transport.send(Request("POST", f"/api/v1/business/tier1/credentials/{segment(account_id)}/rotate", json=body), timeout))

    def rotate_event_secret(self, account_id: str, body: models.RotateRequest | None = None, *, timeout: float | None = None) -> models.WebhookBody:
        """Replaces the secret that events are signed with, or makes the first one. The one before signs as well for 24 hours more, or not
at all with `at_once`, which takes a token that comes of a sign-in by a mailed code within the last 15 minutes. The owner is told
by mail."""
        return cast('models.WebhookBody', self.transport.send(Request("POST", f"/api/v1/business/tier1/credentials/{segment(account_id)}/webhook/event-secret/rotate", json=body), timeout))

    def rotate_webhook_key(self, account_id: str, body: models.RotateRequest | None = None, *, timeout: float | None = None) -> models.WebhookBody:
        """Replaces the webhook's signing key. The one before works for 24 hours more, or not at all with `at_once`."""
        return cast('models.WebhookBody', self.transport.send(Request("POST", f"/api/v1/business/tier1/credentials/{segment(account_id)}/webhook/rotate", json=body), timeout))

    def set_profile(self, account_id: str, body: models.ProfileBody, *, timeout: float | None = None) -> models.OverviewBody:
        """Keeps what the compliance review looks at: legal entity, tax number, licences, privacy policy."""
        return cast('models.OverviewBody', self.transport.send(Request("PUT", f"/api/v1/business/tier1/accounts/{segment(account_id)}/profile", json=body), timeout))

    def set_webhook(self, account_id: str, body: models.WebhookRequest, *, timeout: float | None = None) -> models.WebhookBody:
        """Saves the webhook's address. A new address brings a new signing key, which is in this answer and in no other."""
        return cast('models.WebhookBody', self.transport.send(Request("PUT", f"/api/v1/business/tier1/credentials/{segment(account_id)}/webhook", json=body), timeout))

    def show_account(self, account_id: str, *, timeout: float | None = None) -> models.OverviewBody:
        """Shows where an account stands, and what is next."""
        return cast('models.OverviewBody', self.transport.send(Request("GET", f"/api/v1/business/tier1/accounts/{segment(account_id)}", repeatable=True), timeout))

    def show_credentials(self, account_id: str, *, timeout: float | None = None) -> models.CredentialsBody:
        """Shows the credentials, without a secret."""
        return cast('models.CredentialsBody', self.transport.send(Request("GET", f"/api/v1/business/tier1/credentials/{segment(account_id)}", repeatable=True), timeout))

    def show_manifest(self, account_id: str, *, timeout: float | None = None) -> models.ManifestsBody:
        """Shows the latest manifest and the one in force."""
        return cast('models.ManifestsBody', self.transport.send(Request("GET", f"/api/v1/business/tier1/manifest/{segment(account_id)}", repeatable=True), timeout))

    def show_own_connection(self, account_id: str, *, timeout: float | None = None) -> models.ConnectionBody:
        """Shows the connection, with what the last probe and the tests saw."""
        return cast('models.ConnectionBody', self.transport.send(Request("GET", f"/api/v1/business/tier1/connection/{segment(account_id)}", repeatable=True), timeout))

    def show_own_event(self, account_id: str, event: str, *, timeout: float | None = None) -> models.EventBody:
        """Shows one event, with every try to deliver it."""
        return cast('models.EventBody', self.transport.send(Request("GET", f"/api/v1/business/tier1/accounts/{segment(account_id)}/events/{segment(event)}", repeatable=True), timeout))

    def show_own_order(self, account_id: str, order: str, *, timeout: float | None = None) -> models.PartnerOrder:
        """Shows an order by its identifier, by any that the partner has given it, or by the request identifier of its search or its
booking; the newest, where several are known by it."""
        return cast('models.PartnerOrder', self.transport.send(Request("GET", f"/api/v1/business/tier1/accounts/{segment(account_id)}/orders/{segment(order)}", repeatable=True), timeout))

    def show_own_statement(self, account_id: str, month: str, *, timeout: float | None = None) -> models.StatementBody:
        """Draws up the statement of one month, as JSON, as CSV, or as a page to print."""
        return cast('models.StatementBody', self.transport.send(Request("GET", f"/api/v1/business/tier1/accounts/{segment(account_id)}/statements/{segment(month)}", repeatable=True), timeout))

    def show_own_traffic(self, account_id: str, *, timeout: float | None = None) -> models.PartnerTraffic:
        """Shows how the partner's tools did in the last hour, every ten seconds: calls, failures and times, beside the targets."""
        return cast('models.PartnerTraffic', self.transport.send(Request("GET", f"/api/v1/business/tier1/accounts/{segment(account_id)}/traffic", repeatable=True), timeout))

    def show_webhook(self, account_id: str, *, timeout: float | None = None) -> models.WebhookBody:
        """Shows the webhook, keys redacted, and how events are sent there."""
        return cast('models.WebhookBody', self.transport.send(Request("GET", f"/api/v1/business/tier1/credentials/{segment(account_id)}/webhook", repeatable=True), timeout))

    def sign_in(self, body: models.SignInRequest, *, timeout: float | None = None) -> models.CodeSent:
        """Sends a code to an account's address, to enter it with."""
        return cast('models.CodeSent', self.transport.send(Request("POST", "/api/v1/business/sign-in", json=body), timeout))

    def sign_up(self, body: models.SignUpRequest, *, timeout: float | None = None) -> models.CodeSent:
        """Sends a code to a corporate address, to open an account with."""
        return cast('models.CodeSent', self.transport.send(Request("POST", "/api/v1/business/sign-up", json=body), timeout))

    def submit_manifest(self, account_id: str, body: Mapping[str, Any], *, timeout: float | None = None) -> models.SubmittedBody:
        """Submits a manifest; the one before is replaced."""
        return cast('models.SubmittedBody', self.transport.send(Request("POST", f"/api/v1/business/tier1/manifest/{segment(account_id)}", json=body), timeout))

    def summarize_own_findings(self, account_id: str, *, timeout: float | None = None) -> models.FindingsSummary:
        """Counts the partner's findings of the last 30 days by rule and day, and shows its strikes and how long its tools take
beside their targets."""
        return cast('models.FindingsSummary', self.transport.send(Request("GET", f"/api/v1/business/tier1/accounts/{segment(account_id)}/findings/summary", repeatable=True), timeout))

    def test_call(self, account_id: str, body: models.TestCallRequest, *, timeout: float | None = None) -> models.TestCallAnswer:
        """Tries a wish: finds its intent and answers with a stub, and a sample of the intent's own. No partner is called."""
        return cast('models.TestCallAnswer', self.transport.send(Request("POST", f"/api/v1/business/tier1/credentials/{segment(account_id)}/test-call", json=body), timeout))

    def test_webhook(self, account_id: str, *, timeout: float | None = None) -> models.EventBody:
        """Sends an event `webhook.test`, to try the webhook; at most ten in an hour."""
        return cast('models.EventBody', self.transport.send(Request("POST", f"/api/v1/business/tier1/credentials/{segment(account_id)}/webhook/test"), timeout))

    def try_mapping(self, account_id: str, body: models.TrialBody, *, timeout: float | None = None) -> models.TrialResult:
        """Tries a mapping on an answer of the API that is pasted: what would be sent, what becomes of the answer, and what the
intent's contract says of each option."""
        return cast('models.TrialResult', self.transport.send(Request("POST", f"/api/v1/business/tier1/manifest/{segment(account_id)}/try", json=body), timeout))

    def undo_change(self, body: models.UndoRequest, *, timeout: float | None = None) -> models.UndoneBody:
        """Undoes a change of the account's secrets or addresses, with the code of the mail that told its owner of it."""
        return cast('models.UndoneBody', self.transport.send(Request("POST", "/api/v1/business/undo", json=body), timeout))

    def verify_code(self, body: models.VerifyRequest, *, timeout: float | None = None) -> models.SignedIn:
        """Takes the code of a sign-up or a sign-in, and gives a token of the account."""
        return cast('models.SignedIn', self.transport.send(Request("POST", "/api/v1/business/sign-up/verify", json=body), timeout))

    def write_phone_manifest(self, account_id: str, body: Mapping[str, Any], *, timeout: float | None = None) -> models.PhoneManifestBody:
        """Writes the manifest of a business that has no server and is reached by phone, out of a short form."""
        return cast('models.PhoneManifestBody', self.transport.send(Request("POST", f"/api/v1/business/tier2/manifest/{segment(account_id)}", json=body), timeout))


class PlatformOperations:
    """What the platform team may call."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    def accept_drift(self, id: str, body: models.ReasonRequest, *, timeout: float | None = None) -> models.ConnectionBody:
        """Takes a live partner's changed tools as they are: approves the review of its drift that is open."""
        return cast('models.ConnectionBody', self.transport.send(Request("POST", f"/api/v1/mcp-admin/{segment(id)}/accept-drift", json=body), timeout))

    def act_on_rollout(self, intent: str, body: models.RolloutOrder, *, timeout: float | None = None) -> models.Rollouts:
        """Pauses a rollout, resumes or aborts it, or goes on without waiting for what a stage lacks."""
        return cast('models.Rollouts', self.transport.send(Request("POST", f"/api/v1/admin/intents/{segment(intent)}/rollout", json=body), timeout))

    def activate_contract(self, digest: str, *, at_once: bool | None = None, timeout: float | None = None) -> models.ActivationOutcome | models.ApprovalBody:
        """Makes a loaded version live: a release, or a rollback."""
        return cast('models.ActivationOutcome | models.ApprovalBody', self.transport.send(Request("POST", f"/api/v1/admin/contracts/{segment(digest)}/activate", query={"at_once": at_once}), timeout))

    def add_revocation(self, body: models.RevocationOrder, *, timeout: float | None = None) -> models.RevocationDone:
        """Revokes a key or a component, for good."""
        return cast('models.RevocationDone', self.transport.send(Request("POST", "/api/v1/admin/contracts/revocations", json=body), timeout))

    def approve_request(self, approval: str, *, timeout: float | None = None) -> Any:
        """Approves what waits: it is carried out in the name of whoever asked, and answered as if that request had come now."""
        return self.transport.send(Request("POST", f"/api/v1/admin/approvals/{segment(approval)}/approve"), timeout)

    def compare_versions(self, body: bytes | None = None, *, digest: str | None = None, against: str | None = None, since_ms: int | None = None, limit: int | None = None, timeout: float | None = None) -> Generator[models.ComparisonEvent, None]:
        """Compares a version of a contract with what was ranked before, without serving anybody by it."""
        events = self.transport.events(Request("POST", "/api/v1/admin/contracts/compare", query={"digest": digest, "against": against, "since_ms": since_ms, "limit": limit}, content=body, media_type="application/wasm"), False, timeout)
        with closing(events):
            for event in events:
                yield cast('models.ComparisonEvent', event)

    def correct_ledger_entry(self, number: str, body: models.CorrectionRequest, *, timeout: float | None = None) -> models.CorrectedBody | models.ApprovalBody:
        """Takes an entry back and books what is right in its place, both or neither."""
        return cast('models.CorrectedBody | models.ApprovalBody', self.transport.send(Request("POST", f"/api/v1/admin/ledger/entries/{segment(number)}/correction", json=body), timeout))

    def count_connections(self, *, timeout: float | None = None) -> models.ConnectionCounts:
        """Counts the connections by state."""
        return cast('models.ConnectionCounts', self.transport.send(Request("GET", "/api/v1/admin/connections/summary", repeatable=True), timeout))

    def decide_review(self, review: str, body: models.DecisionRequest, *, timeout: float | None = None) -> models.ReviewBody | models.ApprovalBody:
        """Decides a review. An approval needs every item of the checklist passed or confirmed; the privacy policy is fetched for it
once more."""
        return cast('models.ReviewBody | models.ApprovalBody', self.transport.send(Request("POST", f"/api/v1/admin/reviews/{segment(review)}/decision", json=body), timeout))

    def export_receipts(self, *, intent: str, since_ms: int | None = None, limit: int | None = None, timeout: float | None = None) -> Generator[models.ExportEvent, None]:
        """Exports receipts of an intent without the people whose rankings they are, for authors who compare versions elsewhere."""
        events = self.transport.events(Request("POST", "/api/v1/admin/receipts/export", query={"intent": intent, "since_ms": since_ms, "limit": limit}), False, timeout)
        with closing(events):
            for event in events:
                yield cast('models.ExportEvent', event)

    def health(self, *, timeout: float | None = None) -> models.Health:
        """Says that the process serves."""
        return cast('models.Health', self.transport.send(Request("GET", "/health", repeatable=True), timeout))

    def lift_suspension(self, id: str, body: models.ReasonRequest, *, timeout: float | None = None) -> models.ConnectionBody:
        """Lifts a suspension: back to the sandbox, through probe, test and approval again."""
        return cast('models.ConnectionBody', self.transport.send(Request("POST", f"/api/v1/mcp-admin/{segment(id)}/lift", json=body), timeout))

    def list_accounts(self, *, after: str | None = None, limit: int | None = None, timeout: float | None = None) -> models.AccountList:
        """Lists the accounts, in order of their identifiers."""
        return cast('models.AccountList', self.transport.send(Request("GET", "/api/v1/admin/accounts", query={"after": after, "limit": limit}, repeatable=True), timeout))

    def iterate_accounts(self, *, after: str | None = None, limit: int | None = None, timeout: float | None = None) -> Generator[models.AccountSummary, None]:
        """Lists the accounts, in order of their identifiers. One after the other, over all pages."""
        while True:
            page = self.list_accounts(after=after, limit=limit, timeout=timeout)
            for item in page["accounts"]:
                yield item
            if page["next"] is None:
                return
            after = page["next"]

    def list_all_orders(self, *, known_as: str | None = None, partner: str | None = None, before: str | None = None, limit: int | None = None, intent: str | None = None, state: str | None = None, open: bool | None = None, in_doubt: bool | None = None, timeout: float | None = None) -> models.OrderList:
        """Lists orders, newest first; all of them, those at a partner, or those that are known by something."""
        return cast('models.OrderList', self.transport.send(Request("GET", "/api/v1/admin/orders", query={"known_as": known_as, "partner": partner, "before": before, "limit": limit, "intent": intent, "state": state, "open": open, "in_doubt": in_doubt}, repeatable=True), timeout))

    def iterate_all_orders(self, *, known_as: str | None = None, partner: str | None = None, before: str | None = None, limit: int | None = None, intent: str | None = None, state: str | None = None, open: bool | None = None, in_doubt: bool | None = None, timeout: float | None = None) -> Generator[models.OrderSummary, None]:
        """Lists orders, newest first; all of them, those at a partner, or those that are known by something. One after the other, over all pages."""
        while True:
            page = self.list_all_orders(known_as=known_as, partner=partner, before=before, limit=limit, intent=intent, state=state, open=open, in_doubt=in_doubt, timeout=timeout)
            for item in page["orders"]:
                yield item
            if page["next"] is None:
                return
            before = page["next"]

    def list_approvals(self, *, timeout: float | None = None) -> models.ApprovalList:
        """Lists what waits for a second person, oldest first. Nothing begins to wait unless `auth.second_person` is set."""
        return cast('models.ApprovalList', self.transport.send(Request("GET", "/api/v1/admin/approvals", repeatable=True), timeout))

    def list_audit_entries(self, *, after: int | None = None, limit: int | None = None, subject: str | None = None, timeout: float | None = None) -> models.AuditPage:
        """Reads the audit log, oldest first."""
        return cast('models.AuditPage', self.transport.send(Request("GET", "/api/v1/admin/audit", query={"after": after, "limit": limit, "subject": subject}, repeatable=True), timeout))

    def iterate_audit_entries(self, *, after: int | None = None, limit: int | None = None, subject: str | None = None, timeout: float | None = None) -> Generator[models.AuditEntryBody, None]:
        """Reads the audit log, oldest first. One after the other, over all pages."""
        while True:
            page = self.list_audit_entries(after=after, limit=limit, subject=subject, timeout=timeout)
            for item in page["entries"]:
                yield item
            if page["next"] is None:
                return
            after = page["next"]

    def list_connections(self, *, status: models.ConnectionStatus | None = None, after: str | None = None, limit: int | None = None, timeout: float | None = None) -> models.ConnectionList:
        """Lists the connections, in order of their accounts."""
        return cast('models.ConnectionList', self.transport.send(Request("GET", "/api/v1/admin/connections", query={"status": status, "after": after, "limit": limit}, repeatable=True), timeout))

    def iterate_connections(self, *, status: models.ConnectionStatus | None = None, after: str | None = None, limit: int | None = None, timeout: float | None = None) -> Generator[models.ConnectionBody, None]:
        """Lists the connections, in order of their accounts. One after the other, over all pages."""
        while True:
            page = self.list_connections(status=status, after=after, limit=limit, timeout=timeout)
            for item in page["connections"]:
                yield item
            if page["next"] is None:
                return
            after = page["next"]

    def list_contracts(self, *, timeout: float | None = None) -> models.LoadedVersions:
        """Lists every contract version that is ready at this gateway, live or not, and those that it could not make ready."""
        return cast('models.LoadedVersions', self.transport.send(Request("GET", "/api/v1/admin/contracts", repeatable=True), timeout))

    def list_delivered(self, *, partner: str | None = None, timeout: float | None = None) -> models.DeliveredList:
        """Shows what was delivered in the last 90 days, out of completion reports, beside the signals that are declared."""
        return cast('models.DeliveredList', self.transport.send(Request("GET", "/api/v1/admin/delivered", query={"partner": partner}, repeatable=True), timeout))

    def list_failures(self, *, timeout: float | None = None) -> models.LoadFailures:
        """Lists the latest failures to load or to go on serving."""
        return cast('models.LoadFailures', self.transport.send(Request("GET", "/api/v1/admin/contracts/failures", repeatable=True), timeout))

    def list_faults(self, intent: str, *, before: int | None = None, limit: int | None = None, timeout: float | None = None) -> models.ContractFaults:
        """Lists the faults of an intent's contracts, newest first: of each intent the latest 100 are kept, for at most 30 days."""
        return cast('models.ContractFaults', self.transport.send(Request("GET", f"/api/v1/admin/intents/{segment(intent)}/faults", query={"before": before, "limit": limit}, repeatable=True), timeout))

    def iterate_faults(self, intent: str, *, before: int | None = None, limit: int | None = None, timeout: float | None = None) -> Generator[models.ContractFault, None]:
        """Lists the faults of an intent's contracts, newest first: of each intent the latest 100 are kept, for at most 30 days. One after the other, over all pages."""
        while True:
            page = self.list_faults(intent, before=before, limit=limit, timeout=timeout)
            for item in page["faults"]:
                yield item
            if page["next"] is None:
                return
            before = page["next"]

    def list_findings(self, partner: str, *, before: int | None = None, limit: int | None = None, severity: str | None = None, source: str | None = None, intent: str | None = None, code: str | None = None, timeout: float | None = None) -> models.PartnerFindings:
        """Lists what was found in a partner's answers and completion reports."""
        return cast('models.PartnerFindings', self.transport.send(Request("GET", f"/api/v1/admin/partners/{segment(partner)}/findings", query={"before": before, "limit": limit, "severity": severity, "source": source, "intent": intent, "code": code}, repeatable=True), timeout))

    def iterate_findings(self, partner: str, *, before: int | None = None, limit: int | None = None, severity: str | None = None, source: str | None = None, intent: str | None = None, code: str | None = None, timeout: float | None = None) -> Generator[models.Finding, None]:
        """Lists what was found in a partner's answers and completion reports. One after the other, over all pages."""
        while True:
            page = self.list_findings(partner, before=before, limit=limit, severity=severity, source=source, intent=intent, code=code, timeout=timeout)
            for item in page["findings"]:
                yield item
            if page["next"] is None:
                return
            before = page["next"]

    def list_gateways(self, *, timeout: float | None = None) -> models.GatewayList:
        """Lists the gateways that share the store and live, and who does the work that one does for all."""
        return cast('models.GatewayList', self.transport.send(Request("GET", "/api/v1/admin/gateways", repeatable=True), timeout))

    def list_health(self, *, after: str | None = None, limit: int | None = None, timeout: float | None = None) -> models.HealthList:
        """Shows how partners fare in service."""
        return cast('models.HealthList', self.transport.send(Request("GET", "/api/v1/admin/health", query={"after": after, "limit": limit}, repeatable=True), timeout))

    def iterate_health(self, *, after: str | None = None, limit: int | None = None, timeout: float | None = None) -> Generator[models.HealthBody, None]:
        """Shows how partners fare in service. One after the other, over all pages."""
        while True:
            page = self.list_health(after=after, limit=limit, timeout=timeout)
            for item in page["partners"]:
                yield item
            if page["next"] is None:
                return
            after = page["next"]

    def list_ledger_entries(self, *, after: int | None = None, limit: int | None = None, timeout: float | None = None) -> models.EntryPage:
        """Reads the ledger, in its order."""
        return cast('models.EntryPage', self.transport.send(Request("GET", "/api/v1/admin/ledger/entries", query={"after": after, "limit": limit}, repeatable=True), timeout))

    def iterate_ledger_entries(self, *, after: int | None = None, limit: int | None = None, timeout: float | None = None) -> Generator[models.EntryBody, None]:
        """Reads the ledger, in its order. One after the other, over all pages."""
        while True:
            page = self.list_ledger_entries(after=after, limit=limit, timeout=timeout)
            for item in page["entries"]:
                yield item
            if page["next"] is None:
                return
            after = page["next"]

    def list_notices(self, *, after: str | None = None, limit: int | None = None, timeout: float | None = None) -> models.NoticeList:
        """Lists the notices, in the order in which they take effect."""
        return cast('models.NoticeList', self.transport.send(Request("GET", "/api/v1/admin/notices", query={"after": after, "limit": limit}, repeatable=True), timeout))

    def iterate_notices(self, *, after: str | None = None, limit: int | None = None, timeout: float | None = None) -> Generator[models.NoticeBody, None]:
        """Lists the notices, in the order in which they take effect. One after the other, over all pages."""
        while True:
            page = self.list_notices(after=after, limit=limit, timeout=timeout)
            for item in page["notices"]:
                yield item
            if page["next"] is None:
                return
            after = page["next"]

    def list_overdue(self, *, after: str | None = None, limit: int | None = None, timeout: float | None = None) -> models.OverdueList:
        """Lists overdue orders, the one opened first at the head."""
        return cast('models.OverdueList', self.transport.send(Request("GET", "/api/v1/admin/overdue-orders", query={"after": after, "limit": limit}, repeatable=True), timeout))

    def iterate_overdue(self, *, after: str | None = None, limit: int | None = None, timeout: float | None = None) -> Generator[models.OverdueOrder, None]:
        """Lists overdue orders, the one opened first at the head. One after the other, over all pages."""
        while True:
            page = self.list_overdue(after=after, limit=limit, timeout=timeout)
            for item in page["orders"]:
                yield item
            if page["next"] is None:
                return
            after = page["next"]

    def list_partners(self, *, timeout: float | None = None) -> models.PartnerList:
        """Lists the partners."""
        return cast('models.PartnerList', self.transport.send(Request("GET", "/api/v1/admin/partners", repeatable=True), timeout))

    def list_rankings(self, intent: str, *, before: int | None = None, partner: str | None = None, since_ms: int | None = None, until_ms: int | None = None, timeout: float | None = None) -> models.RankingList:
        """Lists the rankings of an intent, those that were kept last first."""
        return cast('models.RankingList', self.transport.send(Request("GET", f"/api/v1/admin/intents/{segment(intent)}/rankings", query={"before": before, "partner": partner, "since_ms": since_ms, "until_ms": until_ms}, repeatable=True), timeout))

    def iterate_rankings(self, intent: str, *, before: int | None = None, partner: str | None = None, since_ms: int | None = None, until_ms: int | None = None, timeout: float | None = None) -> Generator[models.RankingSummary, None]:
        """Lists the rankings of an intent, those that were kept last first. One after the other, over all pages."""
        while True:
            page = self.list_rankings(intent, before=before, partner=partner, since_ms=since_ms, until_ms=until_ms, timeout=timeout)
            for item in page["rankings"]:
                yield item
            if page["next"] is None:
                return
            before = page["next"]

    def list_receipts(self, *, request_id: str, timeout: float | None = None) -> models.RankingReceipts:
        """Lists the receipts of a request, newest first, at most 100."""
        return cast('models.RankingReceipts', self.transport.send(Request("GET", "/api/v1/admin/receipts", query={"request_id": request_id}, repeatable=True), timeout))

    def list_reviews(self, *, status: models.ReviewState | None = None, after: str | None = None, limit: int | None = None, timeout: float | None = None) -> models.ReviewList:
        """Lists the reviews, in the order in which they were opened."""
        return cast('models.ReviewList', self.transport.send(Request("GET", "/api/v1/admin/reviews", query={"status": status, "after": after, "limit": limit}, repeatable=True), timeout))

    def iterate_reviews(self, *, status: models.ReviewState | None = None, after: str | None = None, limit: int | None = None, timeout: float | None = None) -> Generator[models.ReviewSummary, None]:
        """Lists the reviews, in the order in which they were opened. One after the other, over all pages."""
        while True:
            page = self.list_reviews(status=status, after=after, limit=limit, timeout=timeout)
            for item in page["reviews"]:
                yield item
            if page["next"] is None:
                return
            after = page["next"]

    def list_revocations(self, *, timeout: float | None = None) -> models.RevocationList:
        """Lists what is revoked, in the order in which it was."""
        return cast('models.RevocationList', self.transport.send(Request("GET", "/api/v1/admin/contracts/revocations", repeatable=True), timeout))

    def list_settings(self, *, timeout: float | None = None) -> models.SettingList:
        """Lists the settings in force at the gateway that answers, each with where it was given. Gateways of one store may differ."""
        return cast('models.SettingList', self.transport.send(Request("GET", "/api/v1/admin/settings", repeatable=True), timeout))

    def list_statements(self, partner: str, *, timeout: float | None = None) -> models.MonthsBody:
        """Lists the months of which a partner has statements with lines."""
        return cast('models.MonthsBody', self.transport.send(Request("GET", f"/api/v1/admin/partners/{segment(partner)}/statements", repeatable=True), timeout))

    def live(self, *, timeout: float | None = None) -> models.Liveness:
        """Says that the process turns, and nothing else: whoever asks restarts it where no answer comes."""
        return cast('models.Liveness', self.transport.send(Request("GET", "/live", repeatable=True), timeout))

    def load_contract(self, body: bytes, *, activate: bool | None = None, allow_removed_values: bool | None = None, timeout: float | None = None) -> models.LoadOutcome:
        """Loads a contract."""
        return cast('models.LoadOutcome', self.transport.send(Request("POST", "/api/v1/admin/contracts", query={"activate": activate, "allow_removed_values": allow_removed_values}, content=body, media_type="application/wasm"), timeout))

    def probe_connection(self, id: str, *, timeout: float | None = None) -> models.ProbeAnswer:
        """Probes a partner: `initialize`, then `tools/list`, and no call."""
        return cast('models.ProbeAnswer', self.transport.send(Request("POST", f"/api/v1/mcp-admin/{segment(id)}/probe"), timeout))

    def promote_contract(self, digest: str, body: models.PromotionOrder, *, timeout: float | None = None) -> models.Rollout | models.ApprovalBody:
        """Rolls a loaded version out, stage by stage."""
        return cast('models.Rollout | models.ApprovalBody', self.transport.send(Request("POST", f"/api/v1/admin/contracts/{segment(digest)}/promote", json=body), timeout))

    def publish_notice(self, body: models.NoticeRequest, *, timeout: float | None = None) -> models.NoticeBody | models.ApprovalBody:
        """Publishes a notice: partners whom it concerns see it, and are told by mail and at their webhooks; again a week before it takes
effect."""
        return cast('models.NoticeBody | models.ApprovalBody', self.transport.send(Request("POST", "/api/v1/admin/notices", json=body), timeout))

    def read_document(self, id: str, document: str, *, timeout: float | None = None) -> bytes:
        """Hands a document over as a file. That it was read, and by whom, is in the audit log first."""
        return self.transport.fetch(Request("GET", f"/api/v1/admin/accounts/{segment(id)}/documents/{segment(document)}", repeatable=True), timeout)

    def ready(self, *, timeout: float | None = None) -> models.Readiness:
        """Says whether the process should get traffic, and what is not as it should be."""
        return cast('models.Readiness', self.transport.send(Request("GET", "/ready", repeatable=True), timeout))

    def record_strike(self, partner: str, body: models.StrikeRequest, *, timeout: float | None = None) -> models.StrikeTaken:
        """Records a strike that no answer and no report shows, such as a warranty re-service that was declined."""
        return cast('models.StrikeTaken', self.transport.send(Request("POST", f"/api/v1/admin/partners/{segment(partner)}/strikes", json=body), timeout))

    def refuse_request(self, approval: str, *, timeout: float | None = None) -> models.ApprovalBody:
        """Refuses what waits. Whoever asked for it may take it back so."""
        return cast('models.ApprovalBody', self.transport.send(Request("POST", f"/api/v1/admin/approvals/{segment(approval)}/refuse"), timeout))

    def replay_receipt(self, receipt: str, *, revoked_because: str | None = None, under: str | None = None, timeout: float | None = None) -> models.RankingReplay:
        """Ranks anew what a receipt holds, by the very component that ranked it, and compares the outcomes. Nobody is asked
and nothing is kept."""
        return cast('models.RankingReplay', self.transport.send(Request("POST", f"/api/v1/admin/receipts/{segment(receipt)}/replay", query={"revoked_because": revoked_because, "under": under}), timeout))

    def reverse_ledger_entry(self, number: str, body: models.ReasonRequest, *, timeout: float | None = None) -> models.EntryBody | models.ApprovalBody:
        """Takes an entry back, and books nothing in its place."""
        return cast('models.EntryBody | models.ApprovalBody', self.transport.send(Request("POST", f"/api/v1/admin/ledger/entries/{segment(number)}/reversal", json=body), timeout))

    def set_policy(self, intent: str, body: models.PolicyOrder, *, timeout: float | None = None) -> None:
        """Says what new versions of an intent do that are found in a gateway's contract folder: go live, or wait for somebody."""
        self.transport.send(Request("PUT", f"/api/v1/admin/intents/{segment(intent)}/policy", json=body), timeout)

    def show_approval(self, approval: str, *, timeout: float | None = None) -> models.ApprovalDetail:
        """Shows a request that waits with all that it says, to whoever has the scope that it names."""
        return cast('models.ApprovalDetail', self.transport.send(Request("GET", f"/api/v1/admin/approvals/{segment(approval)}", repeatable=True), timeout))

    def show_connection(self, id: str, *, timeout: float | None = None) -> models.ConnectionBody:
        """Shows a partner's connection."""
        return cast('models.ConnectionBody', self.transport.send(Request("GET", f"/api/v1/mcp-admin/{segment(id)}", repeatable=True), timeout))

    def show_document(self, *, timeout: float | None = None) -> Any:
        """This document."""
        return self.transport.send(Request("GET", "/openapi.json", repeatable=True), timeout)

    def show_fault(self, intent: str, number: str, *, timeout: float | None = None) -> models.ContractFaultFile:
        """Shows a fault with the call that led to it. That it was read, and by whom, is in the audit log first."""
        return cast('models.ContractFaultFile', self.transport.send(Request("GET", f"/api/v1/admin/intents/{segment(intent)}/faults/{segment(number)}", repeatable=True), timeout))

    def show_health(self, partner: str, *, timeout: float | None = None) -> models.HealthBody:
        """Shows how one partner fares in service."""
        return cast('models.HealthBody', self.transport.send(Request("GET", f"/api/v1/admin/partners/{segment(partner)}/health", repeatable=True), timeout))

    def show_ledger_entry(self, number: str, *, timeout: float | None = None) -> models.EntryDetail:
        """Shows an entry, and whether it was taken back."""
        return cast('models.EntryDetail', self.transport.send(Request("GET", f"/api/v1/admin/ledger/entries/{segment(number)}", repeatable=True), timeout))

    def show_metrics(self, *, timeout: float | None = None) -> bytes:
        """Shows all metrics, in Prometheus' text format."""
        return self.transport.fetch(Request("GET", "/api/v1/admin/metrics", repeatable=True), timeout)

    def show_notice(self, notice: str, *, timeout: float | None = None) -> models.NoticeBody:
        """Shows a notice, and how far partners have been told."""
        return cast('models.NoticeBody', self.transport.send(Request("GET", f"/api/v1/admin/notices/{segment(notice)}", repeatable=True), timeout))

    def show_order_record(self, order_id: str, *, timeout: float | None = None) -> models.OrderRecord:
        """Shows an order whole: what was ordered, how far it is and what happened to it, its receipts, and the findings about it."""
        return cast('models.OrderRecord', self.transport.send(Request("GET", f"/api/v1/admin/orders/{segment(order_id)}", repeatable=True), timeout))

    def show_partner_traffic(self, partner: str, *, timeout: float | None = None) -> models.PartnerTraffic:
        """Shows how the tools of a partner did in the last hour, every ten seconds: calls, failures and times, beside the targets."""
        return cast('models.PartnerTraffic', self.transport.send(Request("GET", f"/api/v1/admin/partners/{segment(partner)}/traffic", repeatable=True), timeout))

    def show_receipt(self, receipt: str, *, timeout: float | None = None) -> models.ShownReceipt:
        """Shows a receipt whole: the request's arguments, every partner's options, and their outcomes."""
        return cast('models.ShownReceipt', self.transport.send(Request("GET", f"/api/v1/admin/receipts/{segment(receipt)}", repeatable=True), timeout))

    def show_review(self, review: str, *, wait_ms: int | None = None, timeout: float | None = None) -> models.ReviewBody:
        """Shows a review with its checklist. While it is open, the privacy policy is fetched anew."""
        return cast('models.ReviewBody', self.transport.send(Request("GET", f"/api/v1/admin/reviews/{segment(review)}", query={"wait_ms": wait_ms}, repeatable=True), timeout))

    def show_rollout(self, intent: str, *, course: bool | None = None, timeout: float | None = None) -> models.Rollouts:
        """Shows the rollout of an intent that is under way, with what was seen of it, and how the last one ended."""
        return cast('models.Rollouts', self.transport.send(Request("GET", f"/api/v1/admin/intents/{segment(intent)}/rollout", query={"course": course}, repeatable=True), timeout))

    def show_statement(self, partner: str, month: str, *, timeout: float | None = None) -> models.StatementBody:
        """Draws up a partner's statement of one month, as JSON, as CSV, or as a page to print."""
        return cast('models.StatementBody', self.transport.send(Request("GET", f"/api/v1/admin/partners/{segment(partner)}/statements/{segment(month)}", repeatable=True), timeout))

    def show_statuses(self, *, intent: str | None = None, timeout: float | None = None) -> models.IntentStatuses:
        """Shows what is to serve each intent, and what each gateway that shares the store has ready and serves."""
        return cast('models.IntentStatuses', self.transport.send(Request("GET", "/api/v1/admin/contracts/status", query={"intent": intent}, repeatable=True), timeout))

    def show_traffic(self, *, intent: str | None = None, timeout: float | None = None) -> models.TrafficBody:
        """Shows what went on at intents in the last hour, every ten seconds: searches by outcome and, of one intent, how long each stage took."""
        return cast('models.TrafficBody', self.transport.send(Request("GET", "/api/v1/admin/traffic", query={"intent": intent}, repeatable=True), timeout))

    def show_trial_balance(self, *, timeout: float | None = None) -> models.TrialBalanceBody:
        """Shows the balances of all accounts, as of one moment."""
        return cast('models.TrialBalanceBody', self.transport.send(Request("GET", "/api/v1/admin/ledger/trial-balance", repeatable=True), timeout))

    def summarize_findings(self, partner: str, *, timeout: float | None = None) -> models.FindingsSummary:
        """Counts a partner's findings of the last 30 days by rule and day, and shows its strikes and how long its tools take
beside their targets."""
        return cast('models.FindingsSummary', self.transport.send(Request("GET", f"/api/v1/admin/partners/{segment(partner)}/findings/summary", repeatable=True), timeout))

    def summarize_overdue(self, *, timeout: float | None = None) -> models.OverdueSummary:
        """Shows what is overdue partner by partner: how many orders, for how long, and the commission at stake."""
        return cast('models.OverdueSummary', self.transport.send(Request("GET", "/api/v1/admin/overdue-orders/summary", repeatable=True), timeout))

    def suspend_connection(self, id: str, body: models.ReasonRequest, *, timeout: float | None = None) -> models.ConnectionBody:
        """Takes a live connection out; the partner is told the reason by e-mail."""
        return cast('models.ConnectionBody', self.transport.send(Request("POST", f"/api/v1/mcp-admin/{segment(id)}/suspend", json=body), timeout))

    def switch_on_connection(self, id: str, *, timeout: float | None = None) -> models.SwitchedOn:
        """Switches a connection on: from then on, users' requests are routed to it."""
        return cast('models.SwitchedOn', self.transport.send(Request("POST", f"/api/v1/mcp-admin/{segment(id)}/switch-on"), timeout))

    def test_connection(self, id: str, body: models.TestRequest, *, timeout: float | None = None) -> models.TestReport:
        """Runs an intent's go-live requirements against a partner and records the report."""
        return cast('models.TestReport', self.transport.send(Request("POST", f"/api/v1/mcp-admin/{segment(id)}/test", json=body), timeout))

    def unload_intent(self, intent: str, *, timeout: float | None = None) -> models.ApprovalBody:
        """Takes an intent out of service. Its versions stay loaded and can be activated again."""
        return cast('models.ApprovalBody', self.transport.send(Request("DELETE", f"/api/v1/admin/intents/{segment(intent)}"), timeout))

    def verify_audit(self, *, timeout: float | None = None) -> models.AuditVerified:
        """Follows the audit log from its first entry to its last, and compares it with its anchors."""
        return cast('models.AuditVerified', self.transport.send(Request("GET", "/api/v1/admin/audit/verify", repeatable=True), timeout))

    def verify_ledger(self, *, expect_head: str | None = None, timeout: float | None = None) -> models.VerifiedBody:
        """Verifies the ledger: every invariant, from the stored entries, and whether they are what was anchored."""
        return cast('models.VerifiedBody', self.transport.send(Request("GET", "/api/v1/admin/ledger/verify", query={"expect_head": expect_head}, repeatable=True), timeout))

    def withdraw_coming(self, intent: str, *, timeout: float | None = None) -> None:
        """No longer wants the version that an intent waits for. What serves goes on."""
        self.transport.send(Request("DELETE", f"/api/v1/admin/intents/{segment(intent)}/coming"), timeout)

    def withdraw_notice(self, notice: str, body: models.WithdrawNoticeRequest, *, timeout: float | None = None) -> models.NoticeBody:
        """Withdraws a notice that has not taken effect. Whoever was told of it is told so."""
        return cast('models.NoticeBody', self.transport.send(Request("POST", f"/api/v1/admin/notices/{segment(notice)}/withdraw", json=body), timeout))
