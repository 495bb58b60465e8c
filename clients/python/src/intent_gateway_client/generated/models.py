# Made by clients/generate. Not edited by hand.

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from typing_extensions import NotRequired, TypedDict

AccountName: TypeAlias = Literal['partner_receivable', 'commission_revenue']
"""
An account, of the entry's partner.
"""


class AccountSummary(TypedDict):
    """
    An account in a list.
    """

    account_id: str
    """
    The account.
    """
    business_name: str
    """
    Display name given at sign-up.
    """
    created_at: str
    """
    When it was opened.
    """
    email: str
    """
    Its address.
    """
    has_profile: bool
    """
    Whether it has given its profile.
    """
    partner_id: str
    """
    The same.
    """


class ActorBody(TypedDict):
    """
    Who acted.
    """

    role: str
    """
    `partner`, `admin`, or `gateway` for what it does of itself.
    """
    subject: str
    """
    The account, or the name of the token's bearer.
    """


class AnsweredCall(TypedDict):
    """
    A call that the partner has answered.
    """

    at_ms: int
    """
    When the answer came, milliseconds since the epoch.
    """
    tool: str
    """
    The tool.
    """


ApprovalStatus: TypeAlias = Literal['waiting', 'refused']
"""
Where a request stands. One that was approved is answered as the operation is.
"""


class AuditEntryBody(TypedDict):
    """
    Who did what to whom, and when.
    """

    action: str
    """
    What.
    """
    actor: ActorBody
    """
    Who.
    """
    at: str
    """
    When.
    """
    detail: dict[str, Any]
    """
    What is worth knowing besides.
    """
    hash: str
    """
    Over this entry and the hash of the one before: HMAC-SHA-256, or SHA-256 where it has no key.
    """
    key: str | None
    """
    Which key the hash is under; null for an entry from before there were keys.
    """
    seq: int
    """
    Its place, from 1, without gaps.
    """
    subject: str
    """
    To whom: an account or another identifier.
    """


class AuditPage(TypedDict):
    """
    A part of the audit log, oldest first.
    """

    entries: list[AuditEntryBody]
    """
    This page's.
    """
    next: int | None
    """
    What to ask the next page with, as `after`; null when this was the last.
    """


class Axes(TypedDict):
    """
    One number for each TTBS axis, each 0 to 1.
    """

    budget: float
    """
    Value for money.
    """
    safety: float
    """
    Trust and verification.
    """
    taste: float
    """
    Quality and curation.
    """
    time: float
    """
    Speed of fulfilment.
    """


Axis: TypeAlias = Literal['time', 'taste', 'budget', 'safety']
"""
A TTBS axis.
"""


AxisName: TypeAlias = Literal['time', 'taste', 'budget', 'safety']
"""
What a signal is about.
"""


Backoff: TypeAlias = Literal['fixed', 'exponential']
"""
How the waits between two tries grow.
"""


class BalanceBody(TypedDict):
    """
    The accounts of one partner, or of all.
    """

    commission_revenue_inr: float
    """
    What was earned; a credit, so below zero.
    """
    partner: str
    """
    The partner.
    """
    partner_receivable_inr: float
    """
    What the partner owes.
    """


class Band(TypedDict):
    """
    What a user's band does to the weight of its axis.
    """

    axis: Axis
    """
    The axis.
    """
    factor: float
    """
    Factor on the axis weight, before normalisation.
    """
    value: str
    """
    The band's value.
    """


BaselineNameBaselineName = TypedDict(
    'BaselineNameBaselineName',
    {
        'is': Literal['shown']
    },
)


class Bounds(TypedDict, closed=True):
    """
    Highest rates of what a candidate may do, 0 to 1. Null: not bounded.
    """

    deadline_misses: NotRequired[float | None]
    """
    Calls that run past their deadline where the live version does not.
    """
    dropped: NotRequired[float | None]
    """
    Rankings out of which it takes an option that the live version shows.
    """
    empty: NotRequired[float | None]
    """
    Answers without an option where the live version has one.
    """
    faults: NotRequired[float | None]
    """
    Calls that fail where the live version does not, deadlines apart. Unless set, none may: that is never chance.
    """
    first_changed: NotRequired[float | None]
    """
    Rankings in which another option is first.
    """
    outside_budget: NotRequired[float | None]
    """
    Rankings with a difference that the candidate's own difference budget does not announce. Without a budget nothing counts.
    """
    refused: NotRequired[float | None]
    """
    Requests that it refuses where the live version does not.
    """
    reordered: NotRequired[float | None]
    """
    Rankings in which it orders differently what both show.
    """
    slow: NotRequired[float | None]
    """
    Rankings that take more than `slow_ms` of processor time: 0.01 bounds the 99th percentile.
    """
    slow_ms: NotRequired[int]


Breach: TypeAlias = Literal['present', 'unless_false', 'unless_empty']
"""
When a forbidden field is a breach.
"""


BreakerStateName: TypeAlias = Literal['closed', 'open', 'half_open']
"""
Where a breaker stands.
"""


class CallTimes(TypedDict):
    """
    How long calls took, microseconds of processor time.
    """

    calls: int
    max_us: float
    p50_us: float
    """
    Median.
    """
    p99_us: float
    """
    99th percentile.
    """
    too_slow: int
    """
    Calls that took longer than a call may that serves somebody.
    """


class CardSlot(TypedDict):
    """
    How one field of a card is filled, in words.
    """

    name: str
    """
    Key in the card.
    """
    source: str
    """
    Where its value comes from.
    """


class ChecklistBody(TypedDict):
    """
    One item of a review's checklist.
    """

    code: str
    """
    Stable code.
    """
    detail: str
    """
    What was seen.
    """
    state: str
    """
    `passed`, `failed`, `by_hand` for a person to look into, or `confirmed` by one.
    """
    text: str
    """
    What must hold.
    """


class Claim(TypedDict):
    """
    A contract's claim.
    """

    evidence: list[str]
    """
    The words that decided.
    """
    intent: str
    """
    The intent.
    """
    score: float
    """
    0 to 1.
    """
    version: str
    """
    Version of the contract that claims.
    """


class ClassifyRequest(TypedDict):
    """
    An utterance to classify.
    """

    locale: NotRequired[str | None]
    """
    Language tag (BCP 47) of the utterance.
    """
    utterance: str
    """
    What the user said, in plain text.
    """


class CodeCount(TypedDict):
    """
    How often something was told under a code.
    """

    code: str
    count: int


class CodeSent(TypedDict):
    """
    A code is on its way, if anybody waits for one.
    """

    email: str
    """
    The address as it was understood.
    """
    expires_at: str
    """
    When the code is over.
    """


class ComparedVersion(TypedDict):
    """
    A version in a comparison.
    """

    digest: str
    """
    SHA-256 of its component, 64 hexadecimal characters.
    """
    version: str


class ComparisonProgress(TypedDict):
    """
    How far a comparison is.
    """

    different: int
    """
    Those of them in which something differs.
    """
    reached_ms: int | None
    """
    When the receipt was ranked that was compared last, milliseconds since the epoch: they are gone through from the latest
    back. Null before the first.
    """
    receipts: int
    """
    Receipts that are compared.
    """
    since_ms: int
    """
    Back to when they are gone through.
    """


class ComparisonProgressEvent(TypedDict):
    """
    The event `progress`; its data is application/json.
    """

    data: ComparisonProgress
    event: Literal['progress']


class Completion(TypedDict):
    """
    What a completion report may say.
    """

    amount_max_inr: int
    """
    Most that any amount of a report may be, whole INR.
    """
    charged_statuses: list[str]
    """
    Statuses on which commission is charged.
    """
    schema: dict[str, Any]
    """
    JSON Schema (2020-12) of the report.
    """
    statuses: list[str]
    """
    Allowed statuses.
    """


class CompletionReport(TypedDict):
    """
    A completion report: what every intent's has. Each contract adds members of its own.
    """

    amount_inr: float
    """
    Net supplier revenue in INR, with at most two decimals; the base of the commission.
    """
    closed_at: str
    """
    When the order closed, with an offset.
    """
    external_id: str
    """
    The partner's identifier of the order, booking or policy.
    """
    gst_inr: float
    """
    Tax.
    """
    intent: str
    """
    The intent that the order was made under.
    """
    pass_through_inr: float
    """
    Fees of others that the partner does not keep.
    """
    request_id: str
    """
    The request that the order came from.
    """
    status: str
    """
    One of the statuses that the intent's contract lists.
    """
    tips_inr: float
    """
    Tips collected for staff.
    """


class ConfirmationRequest(TypedDict):
    """
    A person says that a requirement holds.
    """

    code: str
    """
    The requirement's code.
    """
    note: str
    """
    What was looked at.
    """


class ConnectionCounts(TypedDict):
    """
    How many connections there are.
    """

    states: dict[str, int]
    """
    By state, those of none included.
    """


ConnectionStatus: TypeAlias = Literal['sandbox', 'probe_failed', 'live', 'suspended']
"""
Where a connection stands.
"""


Consequence: TypeAlias = Literal['refused', 'dropped', 'strike', 'finding', 'note']
"""
What breaking a rule leads to.
"""


class ContractAnswer(TypedDict):
    """
    The options of one partner.
    """

    declared: Axes
    """
    The signals that the partner declares.
    """
    numbers: NotRequired[list[int]]
    """
    The number of each option; absent where the options of all answers are numbered through from 0.
    """
    options: list[str]
    """
    The options.
    """


class ContractCallContractCall(TypedDict):
    """
    Judges an utterance.
    """

    function: Literal['classify']
    locale: str
    """
    BCP 47 tag.
    """
    utterance: str
    """
    In the user's words.
    """


ContractFunction: TypeAlias = Literal['classify', 'check-request', 'evaluate', 'check-response', 'check-completion']
"""
The functions of a contract that a request can lead to.
"""


class ContractInputContractInput(TypedDict):
    """
    Judges an utterance.
    """

    function: Literal['classify']
    locale: str
    """
    BCP 47 tag.
    """
    utterance: str
    """
    In the user's words.
    """


class ContractInputContractInput2(TypedDict):
    """
    A call with its arguments, as it is kept, and written to a file.
    """

    now_ms: int
    """
    The time that the contract is told, milliseconds since the Unix epoch; 0 where it is told none.
    """
    request_id: str
    """
    Identifier of the request; empty where the function is told none.
    """


class ContractInputContractInput3(
    ContractInputContractInput,
    ContractInputContractInput2,
):
    """
    A call with its arguments, as it is kept, and written to a file.
    """


class ContractVersion(TypedDict):
    """
    The contract version that served a call.
    """

    digest: str
    """
    SHA-256 of the component, 64 hexadecimal characters.
    """
    version: str
    """
    Semantic version.
    """


class CorrectionRequest(TypedDict):
    """
    Books what is right. At least one of `amount_inr` and `status` is to be another than the entry's.
    """

    amount_inr: NotRequired[float | None]
    """
    The right amount, at most two decimals.
    """
    reason: str
    """
    Why, for the partner's statement and the audit log.
    """
    status: NotRequired[str | None]
    """
    The right status, one that the intent's contract lists.
    """


class Coverage(TypedDict):
    """
    Each value of a vocabulary must be asked for by a sample search that finds an option.
    """

    pointer: str
    """
    JSON Pointer into the arguments of the search.
    """
    vocabulary: str
    """
    Name of a vocabulary.
    """


class DataLifetime(TypedDict):
    """
    How long other data of a partner may be kept.
    """

    data: str
    """
    What.
    """
    seconds: int
    """
    How long, seconds.
    """


Decision: TypeAlias = Literal['intent', 'elsewhere', 'none']
"""
The outcome of a classification.
"""


class DecisionBody(TypedDict):
    """
    How a review was decided.
    """

    at: str
    """
    When.
    """
    by: ActorBody
    """
    By whom.
    """
    notes: str
    """
    What the partner was told.
    """


class DifferenceBudget(TypedDict, closed=True):
    """
    What a version may change. Everything that is not named stays as it is.
    """

    cards: NotRequired[bool]
    """
    Whether cards, findings and the wording of reasons may change.
    """
    drops: NotRequired[list[str]]
    """
    Codes of rules by which options may be taken out that were shown.
    """
    keeps: NotRequired[list[str]]
    """
    Codes of rules by which options were taken out that may be shown now.
    """
    order: NotRequired[bool]
    """
    Whether the order of the options may change that stay.
    """
    refuses: NotRequired[list[str]]
    """
    Codes with which requests may be refused that were taken.
    """
    requests: NotRequired[bool]
    """
    Whether the arguments that are sent to partners may change.
    """
    scores: NotRequired[list[str]]
    """
    Scores that may change of options that stay: `total`, `time`, `taste`, `budget`, `safety`, `completeness`.
    """


Distribution = TypedDict(
    'Distribution',
    {
        'bars': list[int],
        'count': int,
        'from': float,
        'max': float,
        'mean': float,
        'min': float,
        'to': float,
    },
)


class DocumentBody(TypedDict):
    """
    What is known of a document. What stands in it is for the platform team alone.
    """

    digest: str
    """
    SHA-256 of its bytes, 64 hexadecimal characters.
    """
    file_name: str
    """
    Its file's name, cleaned.
    """
    id: str
    """
    Names the document.
    """
    kind: str
    """
    What it is.
    """
    media_type: str
    """
    Its form.
    """
    size_bytes: int
    """
    Its size.
    """
    uploaded_at: str
    """
    When it was uploaded, or last replaced.
    """
    uploaded_by: ActorBody
    """
    By whom.
    """


class DocumentList(TypedDict):
    """
    The documents of an account, oldest first.
    """

    documents: list[DocumentBody]


class DriftBody(TypedDict):
    """
    A difference between the tools as they were accepted and as they are.
    """

    kind: str
    """
    What changed.
    """
    tool: str
    """
    The tool.
    """


class Elsewhere(TypedDict):
    """
    An intent that a contract pointed to instead of itself.
    """

    intent: str
    """
    The intent.
    """
    live: bool
    """
    Whether this gateway serves it.
    """
    reason: str
    """
    Why.
    """
    score: float
    """
    0 to 1.
    """


EndpointKind: TypeAlias = Literal['mcp', 'rest', 'graphql']
"""
The kinds of endpoints.
"""


class EndpointRequest(TypedDict):
    """
    Registers where the partner is called.
    """

    base_url: NotRequired[str | None]
    """
    Of a REST API: what the paths of its operations are appended to; HTTPS.
    """
    kind: NotRequired[EndpointKind | None]
    openapi_url: NotRequired[str | None]
    """
    Of a REST API: where its OpenAPI document is; HTTPS.
    """
    url: NotRequired[str | None]
    """
    Of an MCP server or a GraphQL API; HTTPS.
    """


class ErrorRetry(TypedDict):
    """
    How a code may be retried.
    """

    backoff: Backoff
    """
    Growth of the wait.
    """
    times: int
    """
    How often.
    """
    wait_ms: int
    """
    First wait, milliseconds.
    """


class EventBodyEventBodyData(TypedDict):
    """
    The platform team has decided a review.
    """

    about: str
    """
    `manifest`, `drift`, `inflation`, `sign_in` or `renewal`.
    """
    decision: str
    """
    `approved` or `rejected`.
    """
    notes: str
    """
    What the team says to it; may be empty.
    """
    review_id: str


class EventBodyEventBody(TypedDict):
    """
    The platform team has decided a review.
    """

    data: EventBodyEventBodyData
    """
    The platform team has decided a review.
    """
    type: Literal['review.decided']


class EventBodyEventBody1Data(TypedDict):
    """
    The connection is in another state.
    """

    intents: list[str]
    """
    The intents that are routed now.
    """
    reason: str | None
    """
    Why, where a person gave a reason.
    """
    state: str
    """
    `sandbox`, `probe_failed`, `live` or `suspended`.
    """


class EventBodyEventBody1(TypedDict):
    """
    The connection is in another state.
    """

    data: EventBodyEventBody1Data
    """
    The connection is in another state.
    """
    type: Literal['connection.changed']


class EventBodyEventBody6Data(TypedDict):
    """
    The connection was suspended; nothing is routed to it.
    """

    reason: str


class EventBodyEventBody6(TypedDict):
    """
    The connection was suspended; nothing is routed to it.
    """

    data: EventBodyEventBody6Data
    """
    The connection was suspended; nothing is routed to it.
    """
    type: Literal['connection.suspended']


class EventBodyEventBody7Data(TypedDict):
    """
    Requests of these intents are not routed any more: the time after a failed test is over.
    """

    intents: list[str]


class EventBodyEventBody7(TypedDict):
    """
    Requests of these intents are not routed any more: the time after a failed test is over.
    """

    data: EventBodyEventBody7Data
    """
    Requests of these intents are not routed any more: the time after a failed test is over.
    """
    type: Literal['routing.ended']


class EventBodyEventBody9Data(TypedDict):
    """
    Where users sign in is looked at by the platform team.
    """

    issuer: str
    review_id: str


class EventBodyEventBody9(TypedDict):
    """
    Where users sign in is looked at by the platform team.
    """

    data: EventBodyEventBody9Data
    """
    Where users sign in is looked at by the platform team.
    """
    type: Literal['sign_in.questioned']


class EventBodyEventBody11Data(TypedDict):
    """
    The statement of a month is ready.
    """

    month: str
    """
    By Indian Standard Time, as `2026-05`.
    """


class EventBodyEventBody11(TypedDict):
    """
    The statement of a month is ready.
    """

    data: EventBodyEventBody11Data
    """
    The statement of a month is ready.
    """
    type: Literal['statement.ready']


class EventBodyEventBody12Data(TypedDict):
    """
    A secret that was replaced ends.
    """

    expires_at: str
    key: str
    """
    `client_secret`, `webhook_signing_key` or `webhook_event_secret`.
    """


class EventBodyEventBody12(TypedDict):
    """
    A secret that was replaced ends.
    """

    data: EventBodyEventBody12Data
    """
    A secret that was replaced ends.
    """
    type: Literal['key.expiring']


class EventBodyEventBody13Data(TypedDict):
    """
    A secret or an address of the account was changed; the mail about it says how to undo it.
    """

    what: str
    """
    `client_secret`, `webhook`, `endpoint` or `webhook_event_secret`.
    """


class EventBodyEventBody13(TypedDict):
    """
    A secret or an address of the account was changed; the mail about it says how to undo it.
    """

    data: EventBodyEventBody13Data
    """
    A secret or an address of the account was changed; the mail about it says how to undo it.
    """
    type: Literal['account.changed']


class EventBodyEventBody16Data(TypedDict):
    """
    Something that was announced will not change.
    """

    notice_id: str
    reason: str
    title: str


class EventBodyEventBody16(TypedDict):
    """
    Something that was announced will not change.
    """

    data: EventBodyEventBody16Data
    """
    Something that was announced will not change.
    """
    type: Literal['notice.withdrawn']


class EventBodyEventBody17(TypedDict):
    """
    The partner has asked for an event to try its webhook.
    """

    data: dict[str, Any]
    """
    The partner has asked for an event to try its webhook.
    """
    type: Literal['webhook.test']


class EventConfirmation(TypedDict):
    """
    A confirmation that ends.
    """

    code: str
    """
    Of the requirement.
    """
    intent: str
    routed_until: str | None
    """
    Until when requests are routed, once it has ended.
    """
    valid_until: str


class EventDataEventDataData(TypedDict):
    """
    The platform team has decided a review.
    """

    about: str
    """
    `manifest`, `drift`, `inflation`, `sign_in` or `renewal`.
    """
    decision: str
    """
    `approved` or `rejected`.
    """
    notes: str
    """
    What the team says to it; may be empty.
    """
    review_id: str


class EventDataEventData(TypedDict):
    """
    The platform team has decided a review.
    """

    data: EventDataEventDataData
    """
    The platform team has decided a review.
    """
    type: Literal['review.decided']


class EventDataEventData1Data(TypedDict):
    """
    The connection is in another state.
    """

    intents: list[str]
    """
    The intents that are routed now.
    """
    reason: str | None
    """
    Why, where a person gave a reason.
    """
    state: str
    """
    `sandbox`, `probe_failed`, `live` or `suspended`.
    """


class EventDataEventData1(TypedDict):
    """
    The connection is in another state.
    """

    data: EventDataEventData1Data
    """
    The connection is in another state.
    """
    type: Literal['connection.changed']


class EventDataEventData6Data(TypedDict):
    """
    The connection was suspended; nothing is routed to it.
    """

    reason: str


class EventDataEventData6(TypedDict):
    """
    The connection was suspended; nothing is routed to it.
    """

    data: EventDataEventData6Data
    """
    The connection was suspended; nothing is routed to it.
    """
    type: Literal['connection.suspended']


class EventDataEventData7Data(TypedDict):
    """
    Requests of these intents are not routed any more: the time after a failed test is over.
    """

    intents: list[str]


class EventDataEventData7(TypedDict):
    """
    Requests of these intents are not routed any more: the time after a failed test is over.
    """

    data: EventDataEventData7Data
    """
    Requests of these intents are not routed any more: the time after a failed test is over.
    """
    type: Literal['routing.ended']


class EventDataEventData8Data(TypedDict):
    """
    What a person has confirmed of the connection ends soon, or has ended.
    """

    confirmations: list[EventConfirmation]


class EventDataEventData8(TypedDict):
    """
    What a person has confirmed of the connection ends soon, or has ended.
    """

    data: EventDataEventData8Data
    """
    What a person has confirmed of the connection ends soon, or has ended.
    """
    type: Literal['confirmation.ending']


class EventDataEventData9Data(TypedDict):
    """
    Where users sign in is looked at by the platform team.
    """

    issuer: str
    review_id: str


class EventDataEventData9(TypedDict):
    """
    Where users sign in is looked at by the platform team.
    """

    data: EventDataEventData9Data
    """
    Where users sign in is looked at by the platform team.
    """
    type: Literal['sign_in.questioned']


class EventDataEventData11Data(TypedDict):
    """
    The statement of a month is ready.
    """

    month: str
    """
    By Indian Standard Time, as `2026-05`.
    """


class EventDataEventData11(TypedDict):
    """
    The statement of a month is ready.
    """

    data: EventDataEventData11Data
    """
    The statement of a month is ready.
    """
    type: Literal['statement.ready']


class EventDataEventData12Data(TypedDict):
    """
    A secret that was replaced ends.
    """

    expires_at: str
    key: str
    """
    `client_secret`, `webhook_signing_key` or `webhook_event_secret`.
    """


class EventDataEventData12(TypedDict):
    """
    A secret that was replaced ends.
    """

    data: EventDataEventData12Data
    """
    A secret that was replaced ends.
    """
    type: Literal['key.expiring']


class EventDataEventData13Data(TypedDict):
    """
    A secret or an address of the account was changed; the mail about it says how to undo it.
    """

    what: str
    """
    `client_secret`, `webhook`, `endpoint` or `webhook_event_secret`.
    """


class EventDataEventData13(TypedDict):
    """
    A secret or an address of the account was changed; the mail about it says how to undo it.
    """

    data: EventDataEventData13Data
    """
    A secret or an address of the account was changed; the mail about it says how to undo it.
    """
    type: Literal['account.changed']


class EventDataEventData16Data(TypedDict):
    """
    Something that was announced will not change.
    """

    notice_id: str
    reason: str
    title: str


class EventDataEventData16(TypedDict):
    """
    Something that was announced will not change.
    """

    data: EventDataEventData16Data
    """
    Something that was announced will not change.
    """
    type: Literal['notice.withdrawn']


class EventDataEventData17(TypedDict):
    """
    The partner has asked for an event to try its webhook.
    """

    data: dict[str, Any]
    """
    The partner has asked for an event to try its webhook.
    """
    type: Literal['webhook.test']


class EventFailure(TypedDict):
    """
    What failed.
    """

    code: str
    message: str


class EventOrder(TypedDict):
    """
    An order that waits for its report.
    """

    due_at: str | None
    """
    Since when a report is waited for.
    """
    external_id: str | None
    """
    The partner's name of it, where it gave one.
    """
    intent: str
    order_id: str


EventState: TypeAlias = Literal['waiting', 'delivered', 'failed', 'unsent']
"""
How far an event is.
"""


class EventStrike(TypedDict):
    """
    A strike.
    """

    code: str
    """
    The rule.
    """
    external_id: str | None
    """
    The partner's name of the order, where it is about one.
    """
    incidents: int
    """
    Which incident of its rule it is; three suspend.
    """
    intent: str
    message: str
    option_id: str | None
    pointer: str
    """
    The member that breaks the rule, as a JSON pointer.
    """
    request_id: str


class EventTool(TypedDict):
    """
    A tool that is not as it was accepted.
    """

    change: str
    """
    `added`, `removed`, `schema_changed`, `description_changed` or `terms_changed`.
    """
    intent: str
    tool: str


class ExampleRow(TypedDict):
    """
    An option of a receipt, before and after.
    """

    codes_after: list[str]
    """
    Codes by which it is taken out.
    """
    codes_before: list[str]
    """
    Codes by which it was taken out.
    """
    option: str
    """
    The option's own identifier, where one is known.
    """
    partner: str
    place_after: int | None
    place_before: int | None
    """
    Place in the ranking, from 1; null where it is taken out.
    """
    total_after: float | None
    total_before: float | None


class ExpectedReport(TypedDict):
    """
    What a completion report of an order is expected to say. Its `external_id` is any of the order's `identifiers`, its
    `request_id` the order's `search_request_id`.
    """

    charged_statuses: list[str]
    """
    Those on which commission is charged.
    """
    quoted_inr: float | None
    """
    What the user was told to pay in all, INR; null where nothing says it.
    """
    statuses: list[str]
    """
    The statuses that the intent knows; empty where no contract is left that says them.
    """


class ExportCounted(TypedDict):
    """
    How far an export is before its first receipt.
    """

    receipts: int
    """
    Receipts that were looked through.
    """


class ExportCountedEvent(TypedDict):
    """
    The event `counted`; its data is application/json.
    """

    data: ExportCounted
    event: Literal['counted']


class ExportSummary(TypedDict):
    """
    What came of an export.
    """

    changed: int
    """
    Those of them whose options come in another order, or are taken out otherwise, than they were shown: for what was replaced
    had a part in it.
    """
    left_out: list[CodeCount]
    """
    Receipts that were left out, by code: `CONTRACT_GONE`, or what the version that has ranked says to the request now.
    """
    receipts: int
    """
    Receipts that were exported.
    """


class ExportSummaryEvent(TypedDict):
    """
    The event `summary`; its data is application/json.
    """

    data: ExportSummary
    event: Literal['summary']


class FailedRetestBody(TypedDict):
    """
    A repeated test that did not pass.
    """

    at: str
    """
    When it was recorded.
    """
    routed_until: str
    """
    From then on the intent is not routed, until a test passes.
    """


class FailedStep(TypedDict):
    """
    Why a probe failed.
    """

    code: str
    """
    Stable code.
    """
    message: str
    """
    What went wrong.
    """
    step: str
    """
    Which step.
    """


class FaultBody(TypedDict):
    """
    What is wrong with the ledger.
    """

    code: str
    """
    Stable code.
    """
    entry: int
    """
    The entry at which it shows.
    """
    message: str
    """
    One sentence for a person.
    """


FindingSource: TypeAlias = Literal['search', 'call', 'report', 'team']
"""
Where something was found.
"""


class FlagBody(TypedDict):
    """
    Something that a reviewer must look at although no rule is broken.
    """

    code: str
    """
    What kind of thing.
    """
    intent: str
    """
    The intent concerned.
    """
    message: str
    """
    One sentence for a person.
    """


class FollowProgress(TypedDict):
    """
    What the partner told of its work.
    """

    params: dict[str, Any]
    """
    Those of its `notifications/progress`, without the token.
    """


class Data1(FollowProgress):
    missed: NotRequired[int]
    """
    How many events before it were not sent, because the reader was too slow; absent where none.
    """


class FollowProgressEvent(TypedDict):
    """
    The event `progress`; its data is application/json.
    """

    data: Data1
    event: Literal['progress']
    id: NotRequired[str]
    """
    What to go on behind, as `Last-Event-ID`.
    """


class ForbiddenField(TypedDict):
    """
    A field that may appear in no answer.
    """

    breach: Breach
    """
    When it breaks the rule.
    """
    name: str
    """
    The key.
    """
    reason: str
    """
    Why.
    """


class GatewayBody(TypedDict):
    """
    A gateway that shares the store and has a lease that goes on.
    """

    duties: list[str]
    """
    The work that it does for all of them, by name.
    """
    id: str
    """
    The same over its restarts.
    """
    left_ms: int
    """
    Until its lease ends unless it is renewed, milliseconds.
    """
    name: str
    """
    What people know it by: `fleet.name`, or its host and address.
    """
    renewed_at: str
    """
    When it last renewed its lease, by the store's clock (ISO 8601).
    """
    started_at: str
    """
    When it started, by the store's clock (ISO 8601).
    """
    version: str
    """
    Version of the program.
    """


class GatewayList(TypedDict):
    """
    The gateways that live.
    """

    gateways: list[GatewayBody]
    """
    By the time at which they started.
    """


class Health(TypedDict):
    """
    The process is alive.
    """

    status: str
    """
    Always `ok`.
    """
    version: str
    """
    Version of the gateway.
    """
    warnings: list[str]
    """
    What the operator should look at, by code. `UNTRUSTED_PROXY`: requests came through a proxy, and `server.trusted_proxies` is
    0, so that all clients share the limit on requests without a token. `RECEIPTS_NOT_KEPT`, `FINDINGS_NOT_KEPT`: the disk of the
    store is nearly full, so that receipts of rankings, and findings of searches and calls, are not kept.
    """


class HeldConfirmationBody(TypedDict):
    """
    A person's word that a go-live requirement is met.
    """

    at: str
    """
    When it was given.
    """
    by: ActorBody | None
    routed_until: str | None
    """
    Once the partner was warned that it has ended: from then on the intent is not routed, until it is confirmed anew.
    """
    valid_until: str | None
    """
    When it ends; null where it holds for good.
    """


class IncidentBody(TypedDict):
    """
    One incident.
    """

    at: str
    """
    When it was found.
    """
    id: str
    """
    The request in whose answer it was found, or the order that it concerns.
    """


class IssuedToken(TypedDict):
    """
    A bearer token.
    """

    expires_at: str
    """
    When it is over.
    """
    token: str
    """
    For `Authorization`.
    """
    token_type: str
    """
    Always `Bearer`.
    """


class ItemBody(TypedDict):
    """
    A requirement with what happened to it.
    """

    code: str
    """
    Stable code.
    """
    detail: str
    """
    What was seen, or the note of whoever confirmed it.
    """
    state: str
    """
    `passed`, `failed`, `by_hand` for people to look into, or `confirmed` by them.
    """
    text: str
    """
    What must hold.
    """


class JudgeBody(TypedDict):
    """
    Which version of the contract judged a report.
    """

    stand_in: bool
    """
    It is not known to be the version that routed the order; this one was live at the time.
    """
    version: str
    """
    The version.
    """


Judged: TypeAlias = Literal['request', 'option', 'answer', 'report']
"""
The document that a rule judges.
"""


KindName: TypeAlias = Literal['charge', 'memorandum', 'reversal']
"""
What an entry is for.
"""


class LatencyTargets(TypedDict):
    """
    Latency targets in milliseconds.
    """

    p50_ms: int
    """
    Median.
    """
    p95_ms: int
    """
    95th percentile.
    """
    p99_ms: int | None
    """
    99th percentile.
    """


class LegBody(TypedDict):
    """
    One side of an entry.
    """

    account: AccountName
    """
    The account.
    """
    amount_inr: float
    """
    A debit above zero, a credit below.
    """


class LicenceBody(TypedDict):
    """
    A licence or certificate.
    """

    kind: str
    """
    Which kind.
    """
    number: str
    """
    Its number.
    """
    valid_until: NotRequired[str | None]
    """
    Its last day, `2027-03-31`.
    """


class LineBody(TypedDict):
    """
    One entry as the partner reads it.
    """

    amount_inr: float
    """
    The reported amount.
    """
    closed_at: str
    """
    When the order closed.
    """
    commission_inr: float
    """
    The commission, below zero where it is taken back.
    """
    external_id: str
    """
    The partner's identifier of the order.
    """
    intent: str
    """
    The intent of the order.
    """
    kind: KindName
    """
    What the entry is for.
    """
    number: int
    """
    Number of the entry.
    """
    posted_at: str
    """
    When it was booked.
    """
    rate_basis_points: int
    """
    The rate in force, basis points (1/100 of a per cent).
    """
    reason: str | None
    """
    Why it was taken back.
    """
    request_id: str
    """
    The request that the order came from.
    """
    reverses: int | None
    """
    Number of the entry that it takes back.
    """
    status: str
    """
    The reported status.
    """


class LinkBody(TypedDict):
    """
    An account that the user has linked.
    """

    expires_at: str | None
    """
    When the present token is over; null where the partner has not told.
    """
    partner: str
    """
    Where.
    """
    renewable: bool
    """
    Whether another token follows then without the user.
    """
    scope: str | None
    """
    The scopes that were granted, set off by spaces; null where the partner has not told.
    """
    since: str
    """
    When the user linked it.
    """


class LinkList(TypedDict):
    """
    A user's links.
    """

    links: list[LinkBody]
    """
    In order of their partners, at most 200.
    """


class LinkOffered(TypedDict):
    """
    Where the user links an account.
    """

    expires_at: str
    """
    Good until then.
    """
    link_code: str
    """
    What the page there shows as well. Tell it to the user beforehand: whoever sees another code, or was told none, was
    sent somebody else's link.
    """
    link_url: str
    """
    For the browser of this user and nobody else.
    """


class LinkRemoved(TypedDict):
    """
    What happened to a link.
    """

    partner: str
    """
    Where it was.
    """
    revocation: str
    """
    Whether the partner's authorization server has ended the tokens: `done`; `unsupported`, it takes no revocations; or
    `failed`. In the last two cases they end by themselves; here they are forgotten in any case.
    """


class LinkRequest(TypedDict):
    """
    Where an account is to be linked.
    """

    intent: NotRequired[str | None]
    """
    An intent that the partner must list.
    """
    partner: str
    """
    The partner.
    """


class LinksBody(TypedDict):
    """
    With what the entries of a chain could be checked.
    """

    anchors: int
    """
    Anchors that the entries were compared with.
    """
    unchecked: int
    """
    Entries whose links could not be checked, for their key is not at hand.
    """
    under_key: int
    """
    Entries whose links are under a key that is at hand.
    """
    without_key: int
    """
    Entries from before there were keys: their links are plain digests.
    """


class ListingEntry(TypedDict):
    """
    One intent that a partner lists.
    """

    availability: str
    """
    Hours of operation in the partner's own words; empty is always.
    """
    intent: str
    """
    The intent.
    """
    service_area: list[str]
    """
    City names, postal codes, or `IN_ALL`.
    """
    ttbs_signals: Axes
    """
    The signals that it declares of itself.
    """


class Liveness(TypedDict):
    """
    The process turns.
    """

    status: str
    """
    Always `live`.
    """


ManifestStatus: TypeAlias = Literal['draft', 'pending_review', 'approved', 'rejected']
"""
Where a manifest stands.
"""


MeasureName: TypeAlias = Literal['completion_rate', 'mean_late_minutes']
"""
What a signal is held against.
"""


Milestone: TypeAlias = Literal['confirmed', 'verified', 'paid', 'taken_in']
"""
What the user has, or owes, in a state of an order.
"""


class Minimum(TypedDict):
    """
    How many different things the options of all sample searches together must hold.
    """

    count: int
    """
    At least this many.
    """
    counted: str
    """
    What is counted, in the plural.
    """
    pointer: str
    """
    JSON Pointer into an option; empty where the options themselves are counted.
    """


class MonthsBody(TypedDict):
    """
    The months of which a partner has statements with lines.
    """

    months: list[str]
    """
    `YYYY-MM`, latest first.
    """
    partner: str
    """
    The partner.
    """


class NamedVersion(TypedDict):
    """
    A version, by its number and its content.
    """

    digest: str
    """
    SHA-256 of the component, 64 hexadecimal characters.
    """
    version: str


class NextStepBody(TypedDict):
    """
    One thing to do.
    """

    code: str
    """
    Stable code.
    """
    intent: str | None
    """
    The intent that it concerns; null where it concerns all of them, or a paper.
    """
    paper: str | None
    """
    The paper that it concerns: `profile`, `credentials`, `webhook`, `manifest`, `endpoint`, a document's kind, or an
    item of the checklist; null where it concerns an intent or the account as a whole.
    """
    text: str
    """
    One sentence or two for a person: what to do, and with which route or command.
    """
    who: str
    """
    `partner` or `platform`.
    """


NoticeKind: TypeAlias = Literal['manifest_schema', 'contract', 'api', 'webhooks', 'other']
"""
What a notice is about.
"""


class NoticeRequest(TypedDict):
    """
    A change that partners are told of.
    """

    intents: NotRequired[list[str] | None]
    """
    Whom it concerns: partners that offer one of these intents, or have asked to; everybody where there are none. A notice about
    contracts names their intents.
    """
    kind: NoticeKind
    """
    What changes.
    """
    takes_effect_at: str
    """
    When it takes effect, RFC 3339: 30 days ahead or more, 90 for the kinds `api` and `webhooks`, at once for `other`.
    """
    text: str
    """
    What changes, and what partners have to do.
    """
    title: str
    """
    One line.
    """
    version: NotRequired[str | None]
    """
    The version that what changes has then. Of a manifest schema it is required, and greater than the one in force.
    """


NoticeStage: TypeAlias = Literal['published', 'reminder', 'withdrawn']
"""
What partners are told of a notice.
"""


NoticeState: TypeAlias = Literal['upcoming', 'in_effect', 'withdrawn']
"""
Where a notice stands.
"""


class NoticeTelling(TypedDict):
    """
    How far partners have been told one thing of a notice.
    """

    due_at: str
    """
    From when on.
    """
    ended_at: str | None
    """
    When the last one was, or telling was called off; null while it is due or still to come.
    """
    partners: int
    """
    How many partners were told so far.
    """
    stage: NoticeStage


class NoticeWithdrawal(TypedDict):
    """
    That a notice does not hold any more.
    """

    at: str
    reason: str


class OfficerBody(TypedDict):
    """
    Who answers complaints.
    """

    email: str
    """
    E-mail address.
    """
    name: str
    """
    Name.
    """
    phone: str
    """
    Telephone number.
    """


Opening: TypeAlias = Literal['never', 'always', 'first']
"""
Whether a call opens an order.
"""


class OrderBrief(TypedDict):
    """
    The order that a call has opened or gone on with.
    """

    id: str
    """
    Its identifier.
    """
    state: str
    """
    `pending`, or a state that the intent's contract declares (`order.states`).
    """


class OrderChange(TypedDict):
    """
    An order that has changed, as it is now. Whose it is of the orchestrator's users, the request identifiers tell.
    """

    changed_at: str
    """
    When the last thing happened to it.
    """
    in_doubt: bool
    """
    Whether nobody knows if the partner has it, at the time of telling.
    """
    intent: str
    """
    Its intent.
    """
    is_open: bool
    """
    Whether a tool or a report can still change it.
    """
    order: str
    """
    Its identifier.
    """
    request_id: str
    """
    Request identifier of the call that opened it.
    """
    search_request_id: str
    """
    That of the search that showed the option.
    """
    state: str
    """
    `pending`, `failed`, a state that the intent's contract declares, or the status of the report that closed it.
    """


class OrderChangeEvent(TypedDict):
    """
    The event `order`; its data is application/json.
    """

    data: OrderChange
    event: Literal['order']
    id: NotRequired[str]
    """
    What to go on behind, as `Last-Event-ID`.
    """


class OrderChanges(TypedDict):
    """
    A page of changes.
    """

    events: list[OrderChange]
    """
    In the order of their latest changes; each order once.
    """
    more: bool
    """
    Whether there may be more at once.
    """
    next: str
    """
    What to ask on with, as `after`; good for this orchestrator, at every gateway of the store.
    """


class OrderDeadline(TypedDict):
    """
    Until when a call is made.
    """

    code: str
    """
    A code of the intent's error table.
    """
    kept: str
    """
    Name of the kept value: a datetime, or a date that must not be over in India.
    """
    text: str
    """
    Why.
    """


OrderHappening: TypeAlias = Literal['called', 'answered', 'failed', 'unknown', 'reported']
"""
What happened to an order.
"""


class OrderHistoryEvent(TypedDict):
    """
    One event of an order's history.
    """

    at: str
    """
    When.
    """
    code: NotRequired[str]
    """
    Why a call failed.
    """
    request_id: NotRequired[str]
    """
    Request identifier of the call.
    """
    state: NotRequired[str]
    """
    The state in which an answer left it, or the status of a report.
    """
    tool: NotRequired[str]
    """
    The tool, where one was called.
    """
    what: OrderHappening
    """
    What.
    """


OrderOutcome = TypedDict(
    'OrderOutcome',
    {
        'from': list[str],
        'pointer': str | None,
        'state': str,
        'values': list[str],
    },
)


class OrderRefusal(TypedDict):
    """
    What a call is refused with that comes out of its turn.
    """

    code: str
    """
    A code of the intent's error table.
    """
    states: list[str]
    """
    In these states; `none` where there is no order.
    """
    text: str
    """
    Why, and what to do.
    """


class OrderReport(TypedDict):
    """
    The report that closed an order.
    """

    at: str
    """
    When it was booked.
    """
    external_id: str
    """
    The partner's identifier in it.
    """
    status: str
    """
    The reported status.
    """


OrderSource: TypeAlias = Literal['option', 'arguments', 'answer']
"""
Where a value stands that an order keeps.
"""


class OrderState(TypedDict):
    """
    A state of an order that a tool leads to.
    """

    closed: bool
    """
    No tool leads on from here, and nobody waits for a report.
    """
    meaning: str
    """
    What it means, for people.
    """
    milestones: list[Milestone]
    """
    What the user has, or owes.
    """
    name: str
    """
    snake_case.
    """


class OrderSummary(TypedDict):
    """
    One order in a list.
    """

    changed_at: str
    """
    When the last thing happened to it.
    """
    id: str
    """
    Its identifier.
    """
    identifiers: list[str]
    """
    Everything that the partner has called it by.
    """
    in_doubt: bool
    """
    Whether nobody knows if the partner has it: the call that opened it has no answer, and can have none any more.
    """
    intent: str
    """
    Its intent.
    """
    is_open: bool
    """
    Whether a tool or a report can still change it.
    """
    opened_at: str
    """
    When it was opened.
    """
    partner: str
    """
    The partner that it was placed with.
    """
    request_id: str
    """
    Request identifier of the call that opened it.
    """
    search_request_id: str
    """
    That of the search that showed the option.
    """
    state: str
    """
    `pending`, `failed`, a state that the intent's contract declares, or the status of the report that closed it.
    """


class OrderView(TypedDict):
    """
    An order, as a contract sees it.
    """

    answered: list[AnsweredCall]
    """
    Calls of steps whose answers passed, each once, in their order.
    """
    kept: str
    """
    The kept values by their names, a JSON object.
    """
    opened_at: int
    """
    Milliseconds since the epoch.
    """
    state: str
    """
    `pending`, `failed`, a declared state, or the status of a report.
    """


OriginKind: TypeAlias = Literal['folder', 'upload', 'registry', 'kept']
"""
Kinds of origin.
"""


class Outside(TypedDict):
    """
    A difference that was not announced.
    """

    count: int
    """
    In how many receipts.
    """
    receipts: list[str]
    """
    The receipts, at most 100.
    """
    what: str
    """
    What differs, for example `drops ABOVE_RANGE` or `order`.
    """


class OverdueAtPartner(TypedDict):
    """
    What is overdue at one partner.
    """

    at_stake_inr: float
    """
    The commission on all of them, at most.
    """
    of_month: int
    """
    Before that, and within the last 30 days.
    """
    of_week: int
    """
    Orders whose report was due within the last 7 days.
    """
    older: int
    """
    Earlier than that.
    """
    oldest_due_at: str
    """
    When the oldest was due.
    """
    partner: str
    """
    The partner.
    """


class OverdueOrder(TypedDict):
    """
    An order that waits for its report.
    """

    amount_inr: float | None
    """
    What the user pays in all; null where that is not known.
    """
    at_stake_inr: float | None
    """
    The commission on that, at most what is due; null where that is not known.
    """
    due_at: str
    """
    When the report was due.
    """
    found_at: str | None
    """
    When it became a finding; null before that.
    """
    identifiers: list[str]
    """
    Everything that the partner has called it by: `external_id` of the report is one of these.
    """
    intent: str
    """
    The intent.
    """
    order: str
    """
    The gateway's identifier.
    """
    partner: str
    """
    The partner.
    """
    reminded_at: str
    """
    When it was noted, and the partner reminded.
    """
    request_id: str
    """
    Request identifier of the call that opened it.
    """
    search_request_id: str
    """
    Request identifier of the search.
    """
    state: str
    """
    A state that the contract declares.
    """


class OverdueSummary(TypedDict):
    """
    What is overdue, partner by partner.
    """

    partners: list[OverdueAtPartner]
    """
    The one with most at stake at the head.
    """


Participation: TypeAlias = Literal['answered', 'failed', 'left_out']
"""
How a partner took part in a search.
"""


class PartnerChecklistItem(TypedDict):
    """
    One item of the checklist, for the partner.
    """

    code: str
    """
    Stable code.
    """
    documents: list[str]
    """
    The kinds of documents that help to show it; any one of them does.
    """
    state: str
    """
    `passed`, `failed`, `by_hand` while a person of the platform team looks into it, or `confirmed` by one.
    """
    text: str
    """
    What must hold.
    """
    uploaded: bool
    """
    Whether one of them was uploaded.
    """
    wanted: str | None
    """
    What the partner is to do, or may do; null where nothing is left.
    """


class PartnerEntry(TypedDict):
    """
    One partner, as the gateway routes to it.
    """

    id: str
    """
    Its identifier.
    """
    listings: list[ListingEntry]
    """
    What it lists.
    """
    name: str
    """
    Its display name.
    """
    url: str
    """
    Where it is called: the address of its MCP server or GraphQL API, the base address of its REST API.
    """


class PartnerList(TypedDict):
    """
    The partners that the gateway knows.
    """

    partners: list[PartnerEntry]
    """
    Sorted by identifier.
    """


class PartnerNotice(TypedDict):
    """
    A notice, as partners see it.
    """

    intents: list[str]
    """
    The intents that it is about; empty where it is about all.
    """
    kind: NoticeKind
    notice_id: str
    published_at: str
    state: NoticeState
    takes_effect_at: str
    text: str
    """
    What changes, and what is to be done.
    """
    title: str
    version: str | None
    """
    The version that what changes has then.
    """
    withdrawn: NoticeWithdrawal | None


class PartnerNotices(TypedDict):
    """
    The notices that concern a partner, the one that takes effect last first.
    """

    notices: list[PartnerNotice]


class PartnerOverdue(TypedDict):
    """
    Overdue orders of one partner.
    """

    orders: list[OverdueOrder]
    """
    The one opened last at the head, at most 1,000.
    """
    partner: str
    """
    The partner.
    """


class PartnerShare(TypedDict):
    """
    A partner's share of the first three options of all receipts, 0 to 1.
    """

    partner: str
    places_after: int
    """
    First three places that it has.
    """
    places_before: int
    """
    First three places that it had.
    """
    share_after: float
    share_before: float


class PastOrder(TypedDict):
    """
    An order of the user's that a completion report has closed, as a search is told of it.
    """

    attributes: dict[str, Any]
    """
    The values that the contract names in `history` of its orders' way, by their names; those that the order keeps.
    """
    closed_at_ms: int
    """
    When the report was booked, milliseconds since the epoch.
    """
    status: str
    """
    The status of its report.
    """


class PathLimit(TypedDict):
    """
    Something that a path of onboarding cannot do.
    """

    code: str
    """
    Stable code.
    """
    text: str
    """
    One sentence or two for a person.
    """


class PlatformError(TypedDict):
    """
    One row of an intent's error table.
    """

    code: str
    """
    The code.
    """
    http_status: int
    """
    HTTP status; 200 marks an advisory.
    """
    meaning: str
    """
    What it means.
    """
    retry: ErrorRetry | None


class PostedEventPostedEventData(TypedDict):
    """
    The platform team has decided a review.
    """

    about: str
    """
    `manifest`, `drift`, `inflation`, `sign_in` or `renewal`.
    """
    decision: str
    """
    `approved` or `rejected`.
    """
    notes: str
    """
    What the team says to it; may be empty.
    """
    review_id: str


class PostedEventPostedEvent(TypedDict):
    """
    The platform team has decided a review.
    """

    data: PostedEventPostedEventData
    """
    The platform team has decided a review.
    """
    type: Literal['review.decided']


class PostedEventPostedEvent1Data(TypedDict):
    """
    The connection is in another state.
    """

    intents: list[str]
    """
    The intents that are routed now.
    """
    reason: str | None
    """
    Why, where a person gave a reason.
    """
    state: str
    """
    `sandbox`, `probe_failed`, `live` or `suspended`.
    """


class PostedEventPostedEvent1(TypedDict):
    """
    The connection is in another state.
    """

    data: PostedEventPostedEvent1Data
    """
    The connection is in another state.
    """
    type: Literal['connection.changed']


class PostedEventPostedEvent2Data(TypedDict):
    """
    A probe of the server failed.
    """

    failures: list[EventFailure]


class PostedEventPostedEvent2(TypedDict):
    """
    A probe of the server failed.
    """

    data: PostedEventPostedEvent2Data
    """
    A probe of the server failed.
    """
    type: Literal['probe.failed']


class PostedEventPostedEvent3Data(TypedDict):
    """
    A test of an intent did not pass.
    """

    failures: list[EventFailure]
    intent: str
    routed_until: str | None
    """
    Until when requests of it are routed all the same, where they are now.
    """


class PostedEventPostedEvent3(TypedDict):
    """
    A test of an intent did not pass.
    """

    data: PostedEventPostedEvent3Data
    """
    A test of an intent did not pass.
    """
    type: Literal['test.failed']


class PostedEventPostedEvent4Data(TypedDict):
    """
    The tools of some intents have changed since they were accepted; these intents are out of service until the review is decided.
    """

    changes: list[EventTool]
    review_id: str


class PostedEventPostedEvent4(TypedDict):
    """
    The tools of some intents have changed since they were accepted; these intents are out of service until the review is decided.
    """

    data: PostedEventPostedEvent4Data
    """
    The tools of some intents have changed since they were accepted; these intents are out of service until the review is decided.
    """
    type: Literal['tools.drifted']


class PostedEventPostedEvent5Data(TypedDict):
    """
    Something that was sent breaks a rule that counts towards suspension.
    """

    more: int
    """
    How many more there are that are not told one by one.
    """
    strikes: list[EventStrike]


class PostedEventPostedEvent5(TypedDict):
    """
    Something that was sent breaks a rule that counts towards suspension.
    """

    data: PostedEventPostedEvent5Data
    """
    Something that was sent breaks a rule that counts towards suspension.
    """
    type: Literal['strike.recorded']


class PostedEventPostedEvent6Data(TypedDict):
    """
    The connection was suspended; nothing is routed to it.
    """

    reason: str


class PostedEventPostedEvent6(TypedDict):
    """
    The connection was suspended; nothing is routed to it.
    """

    data: PostedEventPostedEvent6Data
    """
    The connection was suspended; nothing is routed to it.
    """
    type: Literal['connection.suspended']


class PostedEventPostedEvent7Data(TypedDict):
    """
    Requests of these intents are not routed any more: the time after a failed test is over.
    """

    intents: list[str]


class PostedEventPostedEvent7(TypedDict):
    """
    Requests of these intents are not routed any more: the time after a failed test is over.
    """

    data: PostedEventPostedEvent7Data
    """
    Requests of these intents are not routed any more: the time after a failed test is over.
    """
    type: Literal['routing.ended']


class PostedEventPostedEvent8Data(TypedDict):
    """
    What a person has confirmed of the connection ends soon, or has ended.
    """

    confirmations: list[EventConfirmation]


class PostedEventPostedEvent8(TypedDict):
    """
    What a person has confirmed of the connection ends soon, or has ended.
    """

    data: PostedEventPostedEvent8Data
    """
    What a person has confirmed of the connection ends soon, or has ended.
    """
    type: Literal['confirmation.ending']


class PostedEventPostedEvent9Data(TypedDict):
    """
    Where users sign in is looked at by the platform team.
    """

    issuer: str
    review_id: str


class PostedEventPostedEvent9(TypedDict):
    """
    Where users sign in is looked at by the platform team.
    """

    data: PostedEventPostedEvent9Data
    """
    Where users sign in is looked at by the platform team.
    """
    type: Literal['sign_in.questioned']


class PostedEventPostedEvent10Data(TypedDict):
    """
    The time of these orders is over, and no completion report has closed them.
    """

    orders: list[EventOrder]


class PostedEventPostedEvent10(TypedDict):
    """
    The time of these orders is over, and no completion report has closed them.
    """

    data: PostedEventPostedEvent10Data
    """
    The time of these orders is over, and no completion report has closed them.
    """
    type: Literal['order.overdue']


class PostedEventPostedEvent11Data(TypedDict):
    """
    The statement of a month is ready.
    """

    month: str
    """
    By Indian Standard Time, as `2026-05`.
    """


class PostedEventPostedEvent11(TypedDict):
    """
    The statement of a month is ready.
    """

    data: PostedEventPostedEvent11Data
    """
    The statement of a month is ready.
    """
    type: Literal['statement.ready']


class PostedEventPostedEvent12Data(TypedDict):
    """
    A secret that was replaced ends.
    """

    expires_at: str
    key: str
    """
    `client_secret`, `webhook_signing_key` or `webhook_event_secret`.
    """


class PostedEventPostedEvent12(TypedDict):
    """
    A secret that was replaced ends.
    """

    data: PostedEventPostedEvent12Data
    """
    A secret that was replaced ends.
    """
    type: Literal['key.expiring']


class PostedEventPostedEvent13Data(TypedDict):
    """
    A secret or an address of the account was changed; the mail about it says how to undo it.
    """

    what: str
    """
    `client_secret`, `webhook`, `endpoint` or `webhook_event_secret`.
    """


class PostedEventPostedEvent13(TypedDict):
    """
    A secret or an address of the account was changed; the mail about it says how to undo it.
    """

    data: PostedEventPostedEvent13Data
    """
    A secret or an address of the account was changed; the mail about it says how to undo it.
    """
    type: Literal['account.changed']


class PostedEventPostedEvent16Data(TypedDict):
    """
    Something that was announced will not change.
    """

    notice_id: str
    reason: str
    title: str


class PostedEventPostedEvent16(TypedDict):
    """
    Something that was announced will not change.
    """

    data: PostedEventPostedEvent16Data
    """
    Something that was announced will not change.
    """
    type: Literal['notice.withdrawn']


class PostedEventPostedEvent17(TypedDict):
    """
    The partner has asked for an event to try its webhook.
    """

    data: dict[str, Any]
    """
    The partner has asked for an event to try its webhook.
    """
    type: Literal['webhook.test']


class PostedEventPostedEvent18(TypedDict):
    """
    An event as it is posted: the body of the request to the webhook.
    """

    timestamp: str
    """
    When it happened.
    """


class PostedEventPostedEvent19(PostedEventPostedEvent, PostedEventPostedEvent18):
    """
    An event as it is posted: the body of the request to the webhook.
    """


class PostedEventPostedEvent20(PostedEventPostedEvent1, PostedEventPostedEvent18):
    """
    An event as it is posted: the body of the request to the webhook.
    """


class PostedEventPostedEvent21(PostedEventPostedEvent2, PostedEventPostedEvent18):
    """
    An event as it is posted: the body of the request to the webhook.
    """


class PostedEventPostedEvent22(PostedEventPostedEvent3, PostedEventPostedEvent18):
    """
    An event as it is posted: the body of the request to the webhook.
    """


class PostedEventPostedEvent23(PostedEventPostedEvent4, PostedEventPostedEvent18):
    """
    An event as it is posted: the body of the request to the webhook.
    """


class PostedEventPostedEvent24(PostedEventPostedEvent5, PostedEventPostedEvent18):
    """
    An event as it is posted: the body of the request to the webhook.
    """


class PostedEventPostedEvent25(PostedEventPostedEvent6, PostedEventPostedEvent18):
    """
    An event as it is posted: the body of the request to the webhook.
    """


class PostedEventPostedEvent26(PostedEventPostedEvent7, PostedEventPostedEvent18):
    """
    An event as it is posted: the body of the request to the webhook.
    """


class PostedEventPostedEvent27(PostedEventPostedEvent8, PostedEventPostedEvent18):
    """
    An event as it is posted: the body of the request to the webhook.
    """


class PostedEventPostedEvent28(PostedEventPostedEvent9, PostedEventPostedEvent18):
    """
    An event as it is posted: the body of the request to the webhook.
    """


class PostedEventPostedEvent29(PostedEventPostedEvent10, PostedEventPostedEvent18):
    """
    An event as it is posted: the body of the request to the webhook.
    """


class PostedEventPostedEvent30(PostedEventPostedEvent11, PostedEventPostedEvent18):
    """
    An event as it is posted: the body of the request to the webhook.
    """


class PostedEventPostedEvent31(PostedEventPostedEvent12, PostedEventPostedEvent18):
    """
    An event as it is posted: the body of the request to the webhook.
    """


class PostedEventPostedEvent32(PostedEventPostedEvent13, PostedEventPostedEvent18):
    """
    An event as it is posted: the body of the request to the webhook.
    """


class PostedEventPostedEvent35(PostedEventPostedEvent16, PostedEventPostedEvent18):
    """
    An event as it is posted: the body of the request to the webhook.
    """


class PostedEventPostedEvent36(PostedEventPostedEvent17, PostedEventPostedEvent18):
    """
    An event as it is posted: the body of the request to the webhook.
    """


class PrivacyBody(TypedDict):
    """
    The last look at a privacy policy.
    """

    checked_at: str
    """
    When.
    """
    detail: str
    """
    What was there, or what went wrong.
    """
    live: bool
    """
    Whether a page was there.
    """
    url: str
    """
    The address that was fetched.
    """


class ProfileBody(TypedDict):
    """
    What the compliance review looks at.
    """

    grievance_officer: NotRequired[OfficerBody | None]
    gstin: str
    """
    Tax registration number.
    """
    legal_entity_type: str
    """
    Legal form: `private_limited`, `llp`, `partnership`, `proprietorship` or `individual`.
    """
    legal_name: str
    """
    Name in the register.
    """
    licences: NotRequired[list[LicenceBody]]
    """
    Licences and certificates.
    """
    privacy_policy_url: str
    """
    Where the privacy policy is published; HTTPS.
    """


class RankingCandidate(TypedDict):
    """
    One option.
    """

    json: dict[str, Any]
    """
    The option as the partner wrote it.
    """
    number: int
    """
    Its number in this ranking.
    """


class RankingDrop(TypedDict):
    """
    Why an option was taken out.
    """

    codes: list[str]
    """
    Codes of the rules that it breaks.
    """
    number: int
    """
    Its number.
    """
    strike: bool
    """
    Whether it counts towards the partner's suspension.
    """


RankingPart: TypeAlias = Literal['request', 'ranked', 'dropped', 'remainder']
"""
Parts of an outcome.
"""


class RankingPayload(TypedDict):
    """
    What one partner answered, as far as the contract saw it.
    """

    candidates: list[RankingCandidate]
    """
    Its options.
    """
    declared: Axes
    """
    The signals that it declared of itself.
    """
    partner: str
    """
    Who answered. The contract was not told.
    """


class RankingReceipts(TypedDict):
    """
    Receipts of one request.
    """

    receipts: list[str]
    """
    Their identifiers, newest first.
    """
    request_id: str
    """
    The request.
    """


class RankingScore(TypedDict):
    """
    Where an option came out.
    """

    axes: Axes
    """
    Scores by axis.
    """
    completeness: float
    """
    Share of the information that the intent asks for, 0 to 1.
    """
    id: str
    """
    Its own identifier.
    """
    number: int
    """
    Its number.
    """
    total: float
    """
    What the order follows, 0 to 1.
    """


class RankingSummary(TypedDict):
    """
    A ranking in short: nothing of what the user asked for, and nothing of what partners offered.
    """

    at: str
    """
    When the request came (ISO 8601).
    """
    contract: ContractVersion
    """
    The contract version that ranked.
    """
    dropped: int
    """
    Options that the contract took out.
    """
    first: str | None
    """
    Whose option was first; null where none was shown.
    """
    partners: list[str]
    """
    The partners whose answers were ranked, in the order in which the contract saw them.
    """
    receipt: str
    """
    Its receipt.
    """
    request_id: str
    """
    The request.
    """
    shown: int
    """
    Options that were shown.
    """
    strikes: int
    """
    Of these, those that count towards a partner's suspension.
    """


class ReadyTrouble(TypedDict):
    """
    Something that is not as it should be.
    """

    code: str
    """
    Its kind: `STORE_UNAVAILABLE`, `JOURNAL_LOSING`, `TASK_FAILING`, `TASK_LATE`, `TASK_STOPPED` or `INTENT_MISSING`.
    """
    message: str
    """
    The same in words.
    """
    subject: NotRequired[str | None]
    """
    What it concerns: a task, an intent.
    """


class ReasonRequest(TypedDict):
    """
    Says why.
    """

    reason: str
    """
    Recorded; of a suspension, told to the partner.
    """


ReleasePolicy: TypeAlias = Literal['auto', 'manual']
"""
What a new version does that is found in a folder.
"""


class ReportAcknowledgement(TypedDict):
    """
    The answer to a completion report that is in the ledger, or kept as a test.
    """

    commission_inr: float
    """
    The commission charged, in INR.
    """
    external_id: str
    """
    The partner's identifier of the order.
    """
    receipt_id: str
    """
    The receipt of the booking.
    """
    status: str
    """
    The reported status.
    """
    test: NotRequired[bool]
    """
    The report is a test, because its sender was never live: it is not in the ledger, and costs nothing.
    """


class RequestTestRequestTest(TypedDict):
    """
    The value is this one.
    """

    equals: Any
    """
    The value is this one.
    """


class RequestTestRequestTest1(TypedDict):
    """
    The value is an array that holds this one.
    """

    includes: Any
    """
    The value is an array that holds this one.
    """


class RequestTestRequestTest2(TypedDict):
    """
    The value is a number above this.
    """

    above: float
    """
    The value is a number above this.
    """


RequestTest: TypeAlias = RequestTestRequestTest | RequestTestRequestTest1 | RequestTestRequestTest2
"""
What makes a request one of a kind.
"""


class RequirementCheckRequirementCheck1(TypedDict):
    """
    Every value was asked for and found.
    """

    covers: Coverage
    """
    Every value was asked for and found.
    """


class RequirementCheckRequirementCheck3(TypedDict):
    """
    The 95th percentile of this tool's latency lies within its target.
    """

    within_latency: str
    """
    The 95th percentile of this tool's latency lies within its target.
    """


class RetryPolicy(TypedDict):
    """
    How often a failed call may be tried again; zero means never.
    """

    on_rate_limited: int
    """
    After a 429 or RATE_LIMITED.
    """
    on_server_error: int
    """
    After a 5xx or INTERNAL_ERROR.
    """


ReviewState: TypeAlias = Literal['open', 'approved', 'rejected', 'superseded']
"""
Where a review stands.
"""


class Revocation(TypedDict):
    """
    A component or a key that is revoked.
    """

    at_ms: int
    """
    When, milliseconds since the epoch.
    """
    by: ActorBody
    """
    Who has revoked it.
    """
    component: str | None
    key: str | None
    reason: str


class RevocationList(TypedDict):
    """
    Everything that is revoked.
    """

    revocations: list[Revocation]
    """
    In the order in which it was.
    """


class RevocationOrder(TypedDict):
    """
    What is to be revoked: a component or a key.
    """

    component: NotRequired[str | None]
    """
    SHA-256 of a component, 64 hexadecimal characters.
    """
    key: NotRequired[str | None]
    """
    Name of a key, 16 hexadecimal characters, as `plugin verify` shows it.
    """
    reason: str
    """
    Why.
    """


class RevokedVersion(TypedDict):
    """
    A version that came under a revocation.
    """

    digest: str
    """
    SHA-256 of its component, 64 hexadecimal characters.
    """
    intent: str
    version: str
    was_live: bool
    """
    Whether it was live; the last version that is still trusted serves in its place, if there is one.
    """


class RolledOutVersion(NamedVersion):
    """
    A version that is on its way to everybody step by step.
    """

    is_paused: bool
    share_percent: float
    """
    Percentage of the users whom it serves.
    """
    stage: int
    """
    Its stage, from 0, of so many.
    """
    stages: int


RolloutAct: TypeAlias = Literal['pause', 'resume', 'abort', 'advance', 'finish']
"""
What is done with a rollout.
"""


RolloutEnd: TypeAlias = Literal['live', 'taken_back', 'aborted', 'overtaken']
"""
How a rollout ended.
"""


RolloutGuardVerdict: TypeAlias = Literal['holds', 'unknown', 'broken']
"""
What can be said of a bound.
"""


RolloutMeasure: TypeAlias = Literal['faults', 'deadline_misses', 'slow', 'refused', 'empty', 'first_changed', 'dropped', 'reordered', 'outside_budget']
"""
What is counted of a candidate.
"""


class RolloutMissing(TypedDict):
    """
    What a stage lacks.
    """

    decisions: int
    """
    Decisions that are still to be seen.
    """
    ms: int
    """
    Time that is still to pass, milliseconds.
    """


class RolloutOrder(TypedDict):
    """
    An act, with its reason.
    """

    act: RolloutAct
    why: str
    """
    Why, for the audit log.
    """


class RolloutPause(TypedDict):
    """
    Who has paused a rollout.
    """

    at_ms: int
    """
    When, milliseconds since the epoch.
    """
    by: ActorBody
    why: str


class RolloutStageCount(TypedDict):
    """
    What was seen in one stage.
    """

    compared: int
    """
    Rankings that were compared.
    """
    fell_back: int
    """
    Searches in which it failed, and that the live version has answered in its place.
    """
    left_out: int
    """
    Rankings that would have been compared, but there was too much to do.
    """
    served: int
    """
    Searches that the candidate has answered.
    """


class RolloutVersion(TypedDict):
    """
    A version in a rollout.
    """

    digest: str
    """
    SHA-256 of its component, 64 hexadecimal characters.
    """
    version: str


class RotateRequest(TypedDict):
    """
    Replaces a secret or a key.
    """

    at_once: NotRequired[bool | None]
    """
    Ends the one before at once instead of after 24 hours: for one that has leaked.
    """


class Rule(TypedDict):
    """
    A rule between members of a document, or between documents.
    """

    code: str
    """
    Code of the violation that a breach gives.
    """
    consequence: Consequence
    """
    What a breach leads to.
    """
    judged: Judged
    """
    What it judges.
    """
    text: str
    """
    What must hold, for partners.
    """


class RuleChange(TypedDict):
    """
    Options that a rule takes out, or does not take out any more.
    """

    code: str
    """
    Code of the rule; empty for options that are gone without a reason.
    """
    newly_dropped: int
    """
    Options that were shown, and are taken out by it.
    """
    newly_kept: int
    """
    Options that were taken out by it, and are shown.
    """
    other_reasons: int
    """
    Options that both take out, and by it in one of them alone.
    """


class SampleErrorBody(TypedDict):
    """
    Why a sample has no usable answer. It is for the partner and the platform team alone.
    """

    code: str
    """
    Code of the failure.
    """
    message: str
    """
    What went wrong, as the gateway understands it.
    """
    sent: str | None
    """
    What the partner wrote in place of an answer, as it wrote it and of bounded length; null where it wrote nothing.
    """


class SampleSearch(TypedDict):
    """
    A search out of the examples of an intent's live contract.
    """

    options: list[dict[str, Any]]
    """
    Options that pass; at most two.
    """
    request: dict[str, Any]
    """
    A request that the contract accepts.
    """
    tool: str
    """
    The tool that a partner is called with.
    """


class ScoreShift(TypedDict):
    """
    By how much a score is higher under the candidate.
    """

    score: str
    """
    `total`, an axis, or `completeness`.
    """
    shift: Distribution
    """
    Options of receipts in which it has changed for at least one.
    """


class SearchOption(TypedDict):
    """
    One ranked option.
    """

    axes: Axes
    """
    Scores by axis.
    """
    bookable: bool
    """
    Whether the partner keeps the option, as it was quoted, until `bookable_until`. Where not, a booking may be tried
    until then, and the partner may answer that the option is gone.
    """
    bookable_until: str
    """
    Until when it can be booked; a time that has passed where it no longer can.
    """
    card: dict[str, Any]
    """
    The card for the widget.
    """
    completeness: float
    """
    How much of what an option may say it says, 0 to 1.
    """
    option: dict[str, Any]
    """
    The option as the partner wrote it.
    """
    partner: str
    """
    Identifier of the partner that offers it.
    """
    reference: str
    """
    Signed; what to book by.
    """
    total: float
    """
    What the order follows, 0 to 1.
    """


class SearchShape(TypedDict):
    """
    How a search payload is taken apart.
    """

    empty_code: str | None
    """
    Code for a valid request that matches nothing.
    """
    gone_code: str | None
    """
    Code for a chosen option that cannot be had any more.
    """
    id_key: str
    """
    Where an option's own identifier is: the name of a member, or a JSON Pointer where it lies deeper.
    """
    max_options: int
    """
    Options of one partner beyond this number are dropped.
    """
    options_key: str
    """
    Key of the array of options.
    """
    price_pointer: str | None
    """
    Where an option's price in INR is, as a JSON Pointer; null where the intent names none.
    """
    tool: str
    """
    Name of the search tool.
    """


class ServerBody(TypedDict):
    """
    Who a server says it is.
    """

    name: str
    """
    Should name the company.
    """
    version: str
    """
    Its version.
    """


class ServingStatus(TypedDict):
    """
    The version that serves at a gateway.
    """

    digest: str
    """
    SHA-256 of the component, 64 hexadecimal characters.
    """
    since_ms: int
    """
    Since when, milliseconds since the epoch.
    """
    took_ms: int
    """
    From the change of what is wanted until it served, milliseconds, by the clocks of both gateways.
    """
    version: NotRequired[str]
    """
    Its number; absent where the catalogue has it no more.
    """


class SettingOrigin(TypedDict):
    """
    Where a setting was given.
    """

    kind: str
    """
    `default`, `file`, `environment` or `flag`.
    """
    place: str | None
    """
    The file with line and column, or the variable; null for the others.
    """


Severity: TypeAlias = Literal['note', 'drop', 'strike']
"""
How grave a finding is.
"""


class SignInRequest(TypedDict):
    """
    Asks for a code to enter an account with.
    """

    email: str
    """
    The account's address.
    """


class SignInServerBody(TypedDict):
    """
    An authorization server.
    """

    issuer: str
    """
    Its issuer.
    """
    origins: list[str]
    """
    Where it and its endpoints are.
    """
    resource: str | None
    """
    For which resource it gives tokens.
    """


class SignUpRequest(TypedDict):
    """
    Asks for a code to open an account with.
    """

    business_name: str
    """
    Display name of the business.
    """
    email: str
    """
    A corporate address; the code is sent to it.
    """


class Signal(TypedDict):
    """
    One ranking signal.
    """

    axis: Axis
    """
    The axis it belongs to.
    """
    name: str
    """
    Its name.
    """
    weight: float
    """
    Share within the axis.
    """


class SignedIn(IssuedToken):
    """
    A code was right.
    """

    account_id: str
    """
    The account, in the paths of its routes.
    """
    created: bool
    """
    Whether the account was opened just now.
    """
    partner_id: str
    """
    The same: the partner's identifier in manifests and on the completion address. Never changed.
    """


class Stage(TypedDict, closed=True):
    """
    One stage.
    """

    compare_percent: NotRequired[float]
    """
    Percentage of all rankings that are compared.
    """
    decisions: int
    """
    Decisions that must have been seen in it: rankings of the candidate for somebody; where it serves nobody, comparisons.
    """
    minutes: NotRequired[int]
    """
    How long it takes at least, minutes, pauses not counted.
    """
    share_percent: float
    """
    Percentage of the users whom the candidate serves, below 100; 0 where it serves nobody. No less than in the stage before.
    """


class StageFailure(TypedDict):
    """
    Why a gateway could not make a version ready.
    """

    code: str
    """
    Stable code, as of a failure to load.
    """
    message: str
    """
    Down to the innermost cause.
    """


class StageTraffic(TypedDict):
    """
    How long a stage took.
    """

    p99_ms: list[float | None]
    """
    The 99th percentile, milliseconds; null where the stage was not come to.
    """
    stage: str
    """
    The stage.
    """


class StagedStatus(TypedDict):
    """
    What came of making a version ready.
    """

    at_ms: int
    """
    When, milliseconds since the epoch.
    """
    digest: str
    """
    SHA-256 of the component, 64 hexadecimal characters.
    """
    failure: NotRequired[StageFailure]
    """
    Why it is not ready; absent where it is.
    """
    took_ms: int
    """
    How long it took, milliseconds.
    """
    version: NotRequired[str]
    """
    Its number; absent where the catalogue has it no more.
    """


class StepBody(TypedDict):
    """
    One step of a probe.
    """

    elapsed_ms: int
    """
    How long it took.
    """
    passed: bool
    """
    Whether it passed.
    """
    step: str
    """
    Which.
    """


class StoppedBody(TypedDict):
    """
    That events are not sent any more.
    """

    at: str
    reason: str
    """
    One sentence.
    """


class StreamEnd(TypedDict):
    """
    What the last event of a stream says.
    """

    reason: str
    """
    Why nothing follows: `complete`, `failed`, `unavailable`, `time_limit`, `shutdown`, `overloaded` or `interrupted`.
    """
    resume: bool
    """
    Whether it is worth asking again.
    """


class StrikeRequest(TypedDict):
    """
    A strike that the platform team has seen to itself.
    """

    code: str
    """
    Code of the rule that was broken.
    """
    external_id: str
    """
    The order concerned, as the partner names it: one incident, however often it is told.
    """
    intent: str
    """
    The intent that the rule belongs to.
    """
    reason: str
    """
    What was seen.
    """


class StrikeTaken(TypedDict):
    """
    A strike that was recorded.
    """

    code: str
    """
    Code of the rule.
    """
    external_id: str
    """
    The order.
    """
    partner: str
    """
    Whom it is held against.
    """


class StrikesBody(TypedDict):
    """
    How often a partner has broken one rule.
    """

    code: str
    """
    Code of the rule.
    """
    incidents: list[IncidentBody]
    """
    The incidents, oldest first.
    """
    suspends_at: int
    """
    So many suspend.
    """
    within_days: int
    """
    Within so many days.
    """


class StubEta(TypedDict):
    """
    A made-up time.
    """

    pickup_minutes: int
    """
    Until the pick-up.
    """


class StubFare(TypedDict):
    """
    A made-up price.
    """

    total_inr: int
    """
    In INR.
    """


class StubOption(TypedDict):
    """
    An option that nobody offers.
    """

    eta: StubEta
    """
    Its time.
    """
    fare: StubFare
    """
    Its price.
    """
    id: str
    """
    Its identifier.
    """
    vehicle_kind: str
    """
    A kind of vehicle.
    """


class StubResponse(TypedDict):
    """
    Options that nobody offers.
    """

    options: list[StubOption]
    """
    Two of them, or none when no intent claims the wish.
    """


class SuspensionBody(TypedDict):
    """
    A suspension.
    """

    at: str
    """
    When.
    """
    by: ActorBody
    """
    By whom.
    """
    reason: str
    """
    Told to the partner.
    """


class TargetsBody(TypedDict):
    """
    Targets of a tool, milliseconds.
    """

    p50_ms: int
    """
    Median.
    """
    p95_ms: int
    """
    95th percentile.
    """
    p99_ms: int | None
    """
    99th percentile; null where the intent names none.
    """


class TestCallAnswer(TypedDict):
    """
    What a test call comes to. The options are a stub.
    """

    intent: str
    """
    That intent; empty when there is none.
    """
    note: str
    """
    One or two sentences for a person.
    """
    ok: bool
    """
    Whether the live contracts decide on an intent of theirs.
    """
    sample: SampleSearch | None
    stub_response: StubResponse
    """
    Made up, in the form of a ride, whatever the intent.
    """


class TestCallRequest(TypedDict):
    """
    Tries a wish.
    """

    user_intent: str
    """
    In words, or an intent's identifier.
    """


class TestReportBody(TypedDict):
    """
    A completion report that was taken as a test.
    """

    amount_inr: float
    """
    The reported amount.
    """
    closed_at: str
    """
    When the order closed.
    """
    external_id: str
    """
    The partner's identifier of the order.
    """
    intent: str
    """
    The intent of the order.
    """
    receipt_id: str
    """
    Its receipt.
    """
    request_id: str
    """
    The request that the order is said to come from.
    """
    status: str
    """
    The reported status.
    """
    taken_at: str
    """
    When it was taken.
    """
    would_be_charged: bool
    """
    Whether commission would be due on it.
    """


class TestReportsBody(TypedDict):
    """
    The completion reports that were taken as tests, because their sender was never live. None of them is in the ledger.
    """

    kept_days: int
    """
    How long each is kept, days.
    """
    partner: str
    """
    The partner.
    """
    reports: list[TestReportBody]
    """
    Newest first, at most 200.
    """


class TestRequest(TypedDict):
    """
    Tests a connection against an intent's go-live requirements.
    """

    confirmed: NotRequired[list[ConfirmationRequest] | None]
    """
    Requirements that a person has looked into. Each confirmation holds from now on, for as long as the intent says.
    """
    intent: str
    """
    The intent.
    """
    requests: NotRequired[list[dict[str, Any]] | None]
    """
    Sample requests; each is run as a search against this partner alone. Without any, only the confirmations are
    taken into the last report: of what waits for people, and anew of what was confirmed before.
    """


class TokenRequest(TypedDict):
    """
    Brings credentials for a token.
    """

    client_id: str
    """
    `platform_sandbox_` and 24 hexadecimal digits.
    """
    client_secret: str
    """
    As it was shown when it was issued.
    """


class ToolRequest(TypedDict, closed=True):
    """
    What is to be called.
    """

    arguments: dict[str, Any]
    """
    The tool's arguments; their JSON Schema is the tool's `request_schema`. The identifier that the reference is about
    may be left out.
    """
    reference: str
    """
    The `reference` of an option of a search, or of an earlier call's answer.
    """


ToolRole: TypeAlias = Literal['search', 'get_detail', 'create', 'modify', 'cancel', 'track', 'rate', 'utility']
"""
What a tool does.
"""


ToolStanding: TypeAlias = Literal['as_accepted', 'changed', 'new', 'gone', 'not_seen']
"""
How a tool stands against what was accepted of it.
"""


class ToolTraffic(TypedDict):
    """
    How one tool did: a column for each figure, a row for each sample, the oldest first.
    """

    at: list[str]
    """
    The ends of the spans that the samples are of.
    """
    calls: list[int]
    """
    Calls; retries are calls of their own.
    """
    failed: list[int]
    """
    Those of them that failed.
    """
    intent: str
    """
    The intent.
    """
    p50_ms: list[float | None]
    """
    Their median, milliseconds; null without a call.
    """
    p95_ms: list[float | None]
    """
    Their 95th percentile, likewise.
    """
    p99_ms: list[float | None]
    """
    Their 99th percentile, likewise.
    """
    targets: TargetsBody | None
    tool: str
    """
    The tool.
    """


class TotalsBody(TypedDict):
    """
    The totals of a statement.
    """

    charged_amount_inr: float
    """
    Sum of the amounts on which commission is due, after reversals.
    """
    charges: int
    """
    Charges, those taken back included.
    """
    commission_inr: float
    """
    The commission due, after reversals.
    """
    memoranda: int
    """
    Reports without commission, those taken back included.
    """
    reversals: int
    """
    Entries taken back.
    """


class TrialBalanceBody(TypedDict):
    """
    The balances of all accounts.
    """

    balanced: bool
    """
    Whether the accounts of each partner sum to nothing.
    """
    commission_revenue_inr: float
    """
    Sum of all that was earned, below zero.
    """
    partner_receivable_inr: float
    """
    Sum of what all partners owe.
    """
    partners: list[BalanceBody]
    """
    By partner.
    """


class TrialBody(TypedDict, closed=True):
    """
    What is to be tried. Nobody is called, and nothing is recorded.
    """

    answer: Any
    """
    The API's answer: its body as JSON of any kind, or as a text in just the words that it came in.
    """
    arguments: dict[str, Any]
    """
    Arguments of the tool.
    """
    intent: str
    """
    The intent.
    """
    mapping: dict[str, Any]
    """
    How the API answers its tools, as in the manifest's entry.
    """
    status: NotRequired[int | None]
    """
    HTTP status of the answer; 200 where it is left out.
    """
    tool: str
    """
    The tool to try.
    """


class TrialFailure(TypedDict):
    """
    Why a call would fail.
    """

    code: str
    """
    What callers would be told.
    """
    message: str
    """
    What is wrong.
    """


class TriedRequestBody(TypedDict):
    """
    A request as it would be sent.
    """

    body: Any
    """
    The body; null where there is none.
    """
    headers: dict[str, Any]
    """
    Further headers.
    """
    method: str
    target: str
    """
    Path and query, which are appended to the base address; empty for a GraphQL API, which has one address.
    """


class TryBody(TypedDict):
    """
    One try to deliver an event.
    """

    answer: str
    """
    The beginning of the answer's body, as text.
    """
    at: str
    """
    When it began.
    """
    error: str | None
    """
    Why it did not count as delivered.
    """
    status: int | None
    """
    The status of the answer; null where none came.
    """
    took_ms: int
    url: str


class UndoRequest(TypedDict):
    """
    Undoes a change that the owner of an account was told of by mail.
    """

    account_id: str
    """
    As the mail names it.
    """
    code: str
    """
    As the mail names it; good once.
    """


class UndoneBody(TypedDict):
    """
    What was undone.
    """

    account_id: str
    """
    The account. All its sessions have ended.
    """
    undone: str
    """
    `client_secret`, `webhook` or `endpoint`.
    """
    url: str | None
    """
    The address that is called again, where the endpoint had moved.
    """


class UnreportedBody(TypedDict):
    """
    An order whose report has not come.
    """

    at_stake_inr: float | None
    """
    The commission on what the user pays, at most what is due; null where that is not known.
    """
    due_at: str
    """
    When the report was due.
    """
    external_id: str | None
    """
    The partner's; null where its answers gave none.
    """
    intent: str
    """
    The intent of the order.
    """
    order: str
    """
    The gateway's identifier of the order.
    """


class UnsignedReportsBody(TypedDict):
    """
    Completion reports that nobody with a partner's key has signed, since the start of the gateway that answers. Nothing of them is kept.
    """

    code: str
    """
    What each was answered with.
    """
    count: int
    last_at: str
    """
    When the last one came.
    """


class UserErased(TypedDict):
    """
    What was erased of a user, by this request alone.
    """

    faults: int
    """
    Faults of contracts that have lost their input and message.
    """
    findings: int
    """
    Findings that have lost their excerpt and message.
    """
    links: int
    """
    Links that were ended, and those that a browser had begun.
    """
    orders: int
    """
    Orders that stay without the person.
    """
    receipts: int
    """
    Receipts of rankings, of which each stays as erased.
    """


class UserOption(TypedDict):
    """
    An option that the user was shown.
    """

    option: dict[str, Any]
    """
    As the partner wrote it.
    """
    partner: str
    """
    Who offered it.
    """


class UserOrder(TypedDict):
    """
    An order of the user's.
    """

    history: list[dict[str, Any]]
    """
    What happened, with its time in milliseconds since the epoch.
    """
    identifiers: list[str]
    """
    Everything that the partner has called it by.
    """
    intent: str
    """
    The intent.
    """
    is_open: bool
    """
    Whether a tool or a report can still change it.
    """
    kept: dict[str, Any]
    """
    What the contract keeps of arguments and answers, by name.
    """
    opened_at: str
    """
    When it was opened.
    """
    option: dict[str, Any] | None
    """
    The option that was ordered, as the search returned it; null where it is not kept any more.
    """
    option_id: str
    """
    The option's own identifier.
    """
    order: str
    """
    The gateway's identifier.
    """
    partner: str
    """
    The partner.
    """
    receipt: str | None
    """
    Receipt of the ranking that showed the option; null where none is kept.
    """
    report: dict[str, Any] | None
    """
    The report that closed it; null before that.
    """
    request_id: str
    """
    Request identifier of the call that opened it.
    """
    search_request_id: str
    """
    Request identifier of the search.
    """
    state: str
    """
    `pending`, `failed`, a state that the contract declares, or the status of a report.
    """


class UserRanking(TypedDict):
    """
    A search of the user's, as its receipt has it.
    """

    arguments: dict[str, Any]
    """
    What was asked for.
    """
    at: str
    """
    When the request came.
    """
    intent: str
    """
    The intent.
    """
    options: list[UserOption]
    """
    The options that were shown, best first.
    """
    receipt: str
    """
    The receipt.
    """
    request_id: str
    """
    The request.
    """


class Validity(TypedDict):
    """
    When a secret is accepted.
    """

    issued_at: str
    """
    When it was issued.
    """
    key_id: str | None
    """
    Names a signing key; null for a client secret.
    """
    works_until: str | None
    """
    From then on it is refused; null for the current one.
    """


class ValuePartner(TypedDict):
    """
    A partner whose options name a value.
    """

    partner: str
    """
    The partner.
    """
    rankings: int
    """
    In how many rankings.
    """


VerdictName: TypeAlias = Literal['approve', 'reject']
"""
Which way a review is decided.
"""


class VerifiedBody(TypedDict):
    """
    Whether the ledger is sound, by its stored entries and what was anchored of them.
    """

    balanced: bool
    """
    Whether the accounts of each partner sum to nothing.
    """
    entries: int
    """
    Entries looked at.
    """
    faults: list[FaultBody]
    """
    What is wrong, at most 1000 faults.
    """
    faults_unlisted: int
    """
    How many more there are.
    """
    head: str
    """
    Number and hash of the last, with a colon between. Kept elsewhere, it shows later whether the end was cut off.
    """
    links: LinksBody
    """
    What the entries could be checked with.
    """
    missing_head: str | None
    """
    The head that was expected and that no entry is; null where none was expected, or it is there.
    """
    sound: bool
    """
    Whether everything was checked, and holds.
    """


class VerifyRequest(TypedDict):
    """
    Brings the code.
    """

    code: str
    """
    Six digits.
    """
    email: str
    """
    The address that the code was sent to.
    """


VersionAct: TypeAlias = Literal['loaded', 'asked_for', 'went_live', 'withdrawn', 'left_service', 'signed', 'rollout_begun', 'stage_begun', 'rollout_paused', 'rollout_resumed', 'taken_back']
"""
What happens to versions.
"""


class Violation(TypedDict):
    """
    One breach of one rule at one place.
    """

    code: str
    """
    Stable code in UPPER_SNAKE_CASE.
    """
    message: str
    """
    One sentence for a person.
    """
    pointer: str
    """
    JSON Pointer (RFC 6901) into the document that was judged; the empty text is the whole of it.
    """


class Vocabulary(TypedDict):
    """
    A controlled vocabulary.
    """

    name: str
    """
    Its name.
    """
    values: list[str]
    """
    Its values.
    """


class VocabularyValue(TypedDict):
    """
    A value of a vocabulary.
    """

    value: str
    """
    The value.
    """
    vocabulary: str
    """
    Name of the vocabulary.
    """


class WaitedFor(TypedDict):
    """
    A gateway that a version waits for.
    """

    failure: NotRequired[StageFailure]
    """
    Why it cannot make the version ready; absent where it is still at it.
    """
    gateway: str
    """
    Identifier of the gateway.
    """


class WebhookRequest(TypedDict):
    """
    Saves the webhook's address.
    """

    webhook_url: str
    """
    Where the partner receives; HTTPS.
    """


Whence: TypeAlias = Literal['folder', 'upload', 'registry', 'activation', 'roll_back', 'unloading', 'withdrawal', 'taken_over', 'revocation', 'rollout']
"""
By which way it happened.
"""


class Widget(TypedDict):
    """
    The widget that shows the options.
    """

    preferred: str | None
    """
    The planned widget.
    """
    slots: list[CardSlot]
    """
    How a card is filled.
    """
    widget_type: str
    """
    Widget type to render today.
    """


class WidgetChoice(TypedDict):
    """
    The widget that shows the options.
    """

    preferred: str | None
    """
    The planned widget, to be used as soon as it exists.
    """
    widget_type: str
    """
    Widget type to render today.
    """


class Window(TypedDict):
    """
    A span of time into which options must fall to be counted together.
    """

    hours: int
    """
    Length of the span.
    """
    pointer: str
    """
    JSON Pointer into an option to its instant.
    """


class WindowBody(TypedDict):
    """
    The calls of a tool within five minutes; percentiles are up to a quarter above the true ones, never below.
    """

    calls: int
    """
    How many.
    """
    p50_ms: int
    """
    Median, milliseconds.
    """
    p95_ms: int
    """
    95th percentile, milliseconds.
    """
    p99_ms: int
    """
    99th percentile, milliseconds.
    """
    slow: int
    """
    Of these, over twice the target of the 95th percentile.
    """


class WithdrawNoticeRequest(TypedDict):
    """
    Why a notice is withdrawn.
    """

    reason: str
    """
    Told to whoever was told of the notice.
    """


class AccountList(TypedDict):
    """
    Accounts in order of their identifiers.
    """

    accounts: list[AccountSummary]
    """
    This page's.
    """
    next: str | None
    """
    What to ask the next page with, as `after`; null when this was the last.
    """


class ApprovalBody(TypedDict):
    """
    A request that is carried out once a second person approves it.
    """

    asked_at: str
    by: ActorBody
    """
    Who asked; somebody else has to approve.
    """
    expires_at: str
    """
    Forgotten from then on.
    """
    id: str
    method: str
    path: str
    scope: str
    """
    The scope that deciding takes.
    """
    status: ApprovalStatus
    what: str
    """
    What approving does.
    """


class ApprovalDetail(TypedDict):
    """
    A request that waits, with all that it says.
    """

    approval: ApprovalBody
    body: str
    """
    Its body, as it was sent; empty where it has none.
    """
    query: str | None
    """
    The query of its address.
    """
    user: str | None
    """
    The user whom it names in `x-user-id`.
    """


class ApprovalList(TypedDict):
    """
    All that waits, oldest first.
    """

    approvals: list[ApprovalBody]


class AuditVerified(TypedDict):
    """
    Whether the audit log is as it was written.
    """

    entries: int
    """
    Entries that hold, from the first on.
    """
    head: str
    """
    Hash of the last of them. Kept elsewhere, it shows whether the end was cut off.
    """
    links: LinksBody
    """
    What the entries that hold could be checked with.
    """
    ok: bool
    """
    Whether every entry was checked, follows from the one before, and is the one that was anchored.
    """
    problem: str | None
    """
    What is wrong, where something is.
    """


BaselineName1 = TypedDict(
    'BaselineName1',
    {
        'digest': str,
        'version': str,
        'is': Literal['version'],
    },
)


BaselineName: TypeAlias = BaselineNameBaselineName | BaselineName1
"""
What a candidate is compared with.
"""


class BreakerBody(TypedDict):
    """
    The breaker before a partner's server.
    """

    calls: int
    """
    Calls within the last minute.
    """
    consecutive: int
    """
    Failures in a row.
    """
    failed: int
    """
    Failures within the last minute.
    """
    state: BreakerStateName
    """
    Where it stands.
    """
    until: str | None
    """
    Until when nothing passes; null unless it is open.
    """


class BudgetReport(TypedDict):
    """
    What was found outside a budget.
    """

    budget: DifferenceBudget
    """
    What was announced.
    """
    holds: bool
    """
    Whether nothing else differs.
    """
    outside: list[Outside]
    """
    What else differs, the most frequent first.
    """


class Classified(TypedDict):
    """
    What an utterance turned out to be.
    """

    also: list[str]
    """
    Intents that the utterance asks for besides the one decided on: its pairs first, then claims of their own.
    """
    candidates: list[Claim]
    """
    All contracts that claim the utterance, the one decided on first.
    """
    decision: Decision
    """
    Its outcome.
    """
    elsewhere: list[Elsewhere]
    """
    Intents named by contracts that classify the utterance out, best first.
    """
    failed: list[str]
    """
    Contracts that failed to give an opinion, by intent.
    """
    intent: str | None
    """
    The intent decided on.
    """


class ComingVersion(NamedVersion):
    """
    A version that is to serve once every gateway has it ready.
    """

    by: ActorBody
    """
    Who wants it.
    """
    since_ms: int
    """
    Since when, milliseconds since the epoch.
    """


class ComparedToolBody(TypedDict):
    """
    A tool as it was accepted, beside the same as the last probe found it.
    """

    accepted: str | None
    """
    SHA-256 of the descriptor that was accepted; null where none was.
    """
    changes: list[str]
    """
    What is another, where it has changed: `SCHEMA_CHANGED`, `DESCRIPTION_CHANGED`, `TERMS_CHANGED`.
    """
    found: str | None
    """
    SHA-256 of the one that was found; null where none was.
    """
    intent: str
    """
    The intent that it serves.
    """
    standing: ToolStanding
    """
    How it stands.
    """
    tool: str
    """
    Its name.
    """


class ContractCallContractCall1(TypedDict):
    """
    Ranks the options of all answers.
    """

    function: Literal['evaluate']
    history: NotRequired[list[PastOrder]]
    """
    The user's past orders.
    """
    payloads: list[ContractAnswer]
    """
    The answers.
    """
    request: str
    """
    The request.
    """


class ContractFault(TypedDict):
    """
    A call in which a contract failed, and those like it that followed within a minute.
    """

    at_ms: int
    """
    When it happened, milliseconds since the epoch.
    """
    code: str
    """
    Stable code, for example `CONTRACT_TRAP`.
    """
    digest: str
    """
    SHA-256 of the component, 64 hexadecimal characters.
    """
    fault: str
    """
    What went wrong, in the gateway's words.
    """
    function: ContractFunction
    """
    The function that was called.
    """
    has_input: bool
    """
    Whether the input is kept: one of more than 1 MiB is not.
    """
    input_bytes: int
    """
    Bytes of the call's input, as JSON.
    """
    intent: str
    """
    The intent.
    """
    last_at_ms: int
    """
    When it last happened within the minute, milliseconds since the epoch.
    """
    message: str | None
    """
    What the contract said before it trapped, at most 2,000 characters; control characters are spelt out. Null where it
    said nothing.
    """
    number: int
    """
    Its number: greater than that of any fault before it.
    """
    others: int
    """
    How many faults of yet other kinds happened within the minute and are not kept, for ten kinds are.
    """
    place: str | None
    """
    Where in the contract's source, as it named the place; null where it named none.
    """
    request_id: str | None
    """
    The request that it served; null for an utterance.
    """
    times: int
    """
    How often it happened within the minute: the same component, function, code and place. Repetitions are added a few
    seconds later.
    """
    version: str
    """
    Version of the contract.
    """


class ContractFaults(TypedDict):
    """
    The faults of one intent's contracts.
    """

    faults: list[ContractFault]
    """
    Newest first.
    """
    intent: str
    """
    The intent.
    """
    next: int | None
    """
    What to ask the next page with, as `before`; null when this was the last.
    """


class ContractInputContractInput1(TypedDict):
    """
    Ranks the options of all answers.
    """

    function: Literal['evaluate']
    history: NotRequired[list[PastOrder]]
    """
    The user's past orders.
    """
    payloads: list[ContractAnswer]
    """
    The answers.
    """
    request: str
    """
    The request.
    """


class ContractInputContractInput5(
    ContractInputContractInput1,
    ContractInputContractInput2,
):
    """
    A call with its arguments, as it is kept, and written to a file.
    """


class ContractSubject(TypedDict):
    """
    [`About`] that is kept, or read from a file.
    """

    order: NotRequired[OrderView | None]
    quoted: NotRequired[str | None]
    """
    The option concerned, JSON text.
    """


class CourseFigure(TypedDict):
    """
    How one bounded figure went, counted since the rollout began.
    """

    bound: float
    """
    The highest rate that is allowed.
    """
    hits: list[int]
    """
    How often it had happened.
    """
    measure: RolloutMeasure
    of: list[int]
    """
    How often it might have.
    """


class CredentialsBody(TypedDict):
    """
    Sandbox credentials. Secrets are shown once, when they are issued; `(redacted)` stands for them afterwards.
    """

    client_id: str
    """
    `platform_sandbox_` and 24 hexadecimal digits.
    """
    client_secret: str
    """
    Shown once.
    """
    client_secrets: list[Validity]
    """
    The secrets that are accepted, the current one first.
    """
    customer_id: str
    """
    `cust_` and 12 hexadecimal digits.
    """
    webhook_signing_key: str | None
    """
    Issued when the webhook's address is saved.
    """
    webhook_signing_keys: list[Validity]
    """
    The signing keys that are accepted, the current one first.
    """
    webhook_url: str | None
    """
    Filled in by the partner.
    """


class DecisionRequest(TypedDict):
    """
    Decides a review.
    """

    confirmed: NotRequired[list[str] | None]
    """
    Codes of the checklist's items that a person has looked into and confirms.
    """
    decision: VerdictName
    """
    `approve` or `reject`.
    """
    notes: NotRequired[str | None]
    """
    Told to the partner; a rejection says what to fix.
    """


class Depth(TypedDict):
    """
    What a catalogue must hold.
    """

    minimums: list[Minimum]
    """
    All of these at once.
    """
    within: Window | None


class Dropped(TypedDict):
    """
    One option that was taken out.
    """

    option_id: str | None
    """
    Its own identifier, where one could be read.
    """
    partner: str
    """
    Identifier of the partner that offered it.
    """
    position: int
    """
    Its position in the partner's answer, from 0.
    """
    strike: bool
    """
    Whether it counts towards the partner's suspension.
    """
    violations: list[Violation]
    """
    Every reason; pointers are into the option.
    """


class EndEvent(TypedDict):
    """
    The event `end`; its data is application/json.
    """

    data: StreamEnd
    event: Literal['end']


class EntryBody(TypedDict):
    """
    An entry of the ledger.
    """

    amount_inr: float
    """
    The reported amount.
    """
    closed_at: str
    """
    When the order closed.
    """
    external_id: str
    """
    The partner's identifier of the order.
    """
    hash: str
    """
    Over this entry and the hash of the one before: HMAC-SHA-256, or SHA-256 where it has no key.
    """
    intent: str
    """
    The intent of the order.
    """
    judged_by: JudgeBody
    """
    Who judged the report.
    """
    key: str | None
    """
    Which key the hash is under; null for an entry from before there were keys.
    """
    kind: KindName
    """
    What the entry is for.
    """
    late_minutes: int | None
    """
    By how many minutes the service began late, below zero where early; null where the report does not tell.
    """
    legs: list[LegBody]
    """
    Debits and credits, in sum zero.
    """
    month: str
    """
    The month whose statement lists it, by Indian Standard Time.
    """
    number: int
    """
    Its place, from 1, without gaps.
    """
    partner: str
    """
    Who reported, and whose accounts are concerned.
    """
    posted_at: str
    """
    When it was booked.
    """
    rate_basis_points: int
    """
    The rate in force, basis points (1/100 of a per cent).
    """
    reason: str | None
    """
    Why it was taken back.
    """
    receipt_id: str
    """
    Identifier of the receipt for the report.
    """
    report: str
    """
    SHA-256 of the report's content.
    """
    request_id: str
    """
    The request that the order came from.
    """
    reverses: int | None
    """
    Number of the entry that it takes back.
    """
    status: str
    """
    The reported status.
    """


class EntryDetail(TypedDict):
    """
    An entry, and what has become of it.
    """

    entry: EntryBody
    """
    The entry.
    """
    taken_back_by: int | None
    """
    Number of the entry that took it back; null while it stands.
    """


class EntryPage(TypedDict):
    """
    A part of the ledger, in its order.
    """

    entries: list[EntryBody]
    """
    This page's.
    """
    next: int | None
    """
    What to ask the next page with, as `after`; null when this was the last.
    """


class ErrorDetail(TypedDict):
    """
    What was refused and why.
    """

    code: str
    """
    Stable code in UPPER_SNAKE_CASE.
    """
    link_code: NotRequired[str | None]
    """
    With `link_url`: the code that the page there shows, for the assistant to tell its user beforehand.
    """
    link_url: NotRequired[str | None]
    """
    With `SIGN_IN_REQUIRED` and `INVALID_AUTH` of a partner: where the user links the account there, for the user's
    browser; absent otherwise.
    """
    message: str
    """
    One or two sentences for a person.
    """
    request_id: str
    """
    Identifier of the HTTP request, also in the header `x-request-id`.
    """
    violations: NotRequired[list[Violation]]
    """
    Every breach found, in document order; absent when there is none to name.
    """


class EventBodyEventBody2Data(TypedDict):
    """
    A probe of the server failed.
    """

    failures: list[EventFailure]


class EventBodyEventBody2(TypedDict):
    """
    A probe of the server failed.
    """

    data: EventBodyEventBody2Data
    """
    A probe of the server failed.
    """
    type: Literal['probe.failed']


class EventBodyEventBody3Data(TypedDict):
    """
    A test of an intent did not pass.
    """

    failures: list[EventFailure]
    intent: str
    routed_until: str | None
    """
    Until when requests of it are routed all the same, where they are now.
    """


class EventBodyEventBody3(TypedDict):
    """
    A test of an intent did not pass.
    """

    data: EventBodyEventBody3Data
    """
    A test of an intent did not pass.
    """
    type: Literal['test.failed']


class EventBodyEventBody4Data(TypedDict):
    """
    The tools of some intents have changed since they were accepted; these intents are out of service until the review is decided.
    """

    changes: list[EventTool]
    review_id: str


class EventBodyEventBody4(TypedDict):
    """
    The tools of some intents have changed since they were accepted; these intents are out of service until the review is decided.
    """

    data: EventBodyEventBody4Data
    """
    The tools of some intents have changed since they were accepted; these intents are out of service until the review is decided.
    """
    type: Literal['tools.drifted']


class EventBodyEventBody5Data(TypedDict):
    """
    Something that was sent breaks a rule that counts towards suspension.
    """

    more: int
    """
    How many more there are that are not told one by one.
    """
    strikes: list[EventStrike]


class EventBodyEventBody5(TypedDict):
    """
    Something that was sent breaks a rule that counts towards suspension.
    """

    data: EventBodyEventBody5Data
    """
    Something that was sent breaks a rule that counts towards suspension.
    """
    type: Literal['strike.recorded']


class EventBodyEventBody8Data(TypedDict):
    """
    What a person has confirmed of the connection ends soon, or has ended.
    """

    confirmations: list[EventConfirmation]


class EventBodyEventBody8(TypedDict):
    """
    What a person has confirmed of the connection ends soon, or has ended.
    """

    data: EventBodyEventBody8Data
    """
    What a person has confirmed of the connection ends soon, or has ended.
    """
    type: Literal['confirmation.ending']


class EventBodyEventBody10Data(TypedDict):
    """
    The time of these orders is over, and no completion report has closed them.
    """

    orders: list[EventOrder]


class EventBodyEventBody10(TypedDict):
    """
    The time of these orders is over, and no completion report has closed them.
    """

    data: EventBodyEventBody10Data
    """
    The time of these orders is over, and no completion report has closed them.
    """
    type: Literal['order.overdue']


class EventBodyEventBody18(TypedDict):
    """
    An event, with every try to deliver it.
    """

    event_id: str
    """
    The `webhook-id` of every try.
    """
    next_try_at: str | None
    """
    When it is tried next, where it waits.
    """
    state: EventState
    timestamp: str
    """
    When it happened.
    """
    tries: list[TryBody]
    """
    The latest tries, the last one last; at most 20.
    """


class EventBodyEventBody19(EventBodyEventBody, EventBodyEventBody18):
    """
    An event, with every try to deliver it.
    """


class EventBodyEventBody20(EventBodyEventBody1, EventBodyEventBody18):
    """
    An event, with every try to deliver it.
    """


class EventBodyEventBody21(EventBodyEventBody2, EventBodyEventBody18):
    """
    An event, with every try to deliver it.
    """


class EventBodyEventBody22(EventBodyEventBody3, EventBodyEventBody18):
    """
    An event, with every try to deliver it.
    """


class EventBodyEventBody23(EventBodyEventBody4, EventBodyEventBody18):
    """
    An event, with every try to deliver it.
    """


class EventBodyEventBody24(EventBodyEventBody5, EventBodyEventBody18):
    """
    An event, with every try to deliver it.
    """


class EventBodyEventBody25(EventBodyEventBody6, EventBodyEventBody18):
    """
    An event, with every try to deliver it.
    """


class EventBodyEventBody26(EventBodyEventBody7, EventBodyEventBody18):
    """
    An event, with every try to deliver it.
    """


class EventBodyEventBody27(EventBodyEventBody8, EventBodyEventBody18):
    """
    An event, with every try to deliver it.
    """


class EventBodyEventBody28(EventBodyEventBody9, EventBodyEventBody18):
    """
    An event, with every try to deliver it.
    """


class EventBodyEventBody29(EventBodyEventBody10, EventBodyEventBody18):
    """
    An event, with every try to deliver it.
    """


class EventBodyEventBody30(EventBodyEventBody11, EventBodyEventBody18):
    """
    An event, with every try to deliver it.
    """


class EventBodyEventBody31(EventBodyEventBody12, EventBodyEventBody18):
    """
    An event, with every try to deliver it.
    """


class EventBodyEventBody32(EventBodyEventBody13, EventBodyEventBody18):
    """
    An event, with every try to deliver it.
    """


class EventBodyEventBody35(EventBodyEventBody16, EventBodyEventBody18):
    """
    An event, with every try to deliver it.
    """


class EventBodyEventBody36(EventBodyEventBody17, EventBodyEventBody18):
    """
    An event, with every try to deliver it.
    """


class EventDataEventData2Data(TypedDict):
    """
    A probe of the server failed.
    """

    failures: list[EventFailure]


class EventDataEventData2(TypedDict):
    """
    A probe of the server failed.
    """

    data: EventDataEventData2Data
    """
    A probe of the server failed.
    """
    type: Literal['probe.failed']


class EventDataEventData3Data(TypedDict):
    """
    A test of an intent did not pass.
    """

    failures: list[EventFailure]
    intent: str
    routed_until: str | None
    """
    Until when requests of it are routed all the same, where they are now.
    """


class EventDataEventData3(TypedDict):
    """
    A test of an intent did not pass.
    """

    data: EventDataEventData3Data
    """
    A test of an intent did not pass.
    """
    type: Literal['test.failed']


class EventDataEventData4Data(TypedDict):
    """
    The tools of some intents have changed since they were accepted; these intents are out of service until the review is decided.
    """

    changes: list[EventTool]
    review_id: str


class EventDataEventData4(TypedDict):
    """
    The tools of some intents have changed since they were accepted; these intents are out of service until the review is decided.
    """

    data: EventDataEventData4Data
    """
    The tools of some intents have changed since they were accepted; these intents are out of service until the review is decided.
    """
    type: Literal['tools.drifted']


class EventDataEventData5Data(TypedDict):
    """
    Something that was sent breaks a rule that counts towards suspension.
    """

    more: int
    """
    How many more there are that are not told one by one.
    """
    strikes: list[EventStrike]


class EventDataEventData5(TypedDict):
    """
    Something that was sent breaks a rule that counts towards suspension.
    """

    data: EventDataEventData5Data
    """
    Something that was sent breaks a rule that counts towards suspension.
    """
    type: Literal['strike.recorded']


class EventDataEventData10Data(TypedDict):
    """
    The time of these orders is over, and no completion report has closed them.
    """

    orders: list[EventOrder]


class EventDataEventData10(TypedDict):
    """
    The time of these orders is over, and no completion report has closed them.
    """

    data: EventDataEventData10Data
    """
    The time of these orders is over, and no completion report has closed them.
    """
    type: Literal['order.overdue']


class EventNotice(TypedDict):
    """
    A change that is told ahead.
    """

    intents: list[str]
    """
    The intents that it is about; empty where it is about all.
    """
    kind: NoticeKind
    notice_id: str
    takes_effect_at: str
    text: str
    """
    What changes, and what is to be done.
    """
    title: str
    version: str | None
    """
    The version that what it is about has then.
    """


class EventSendingBody(TypedDict):
    """
    How events are sent to a webhook.
    """

    secrets: list[Validity]
    """
    The secrets that events are signed with, the current one first.
    """
    stopped: StoppedBody | None


class Example(TypedDict):
    """
    A receipt, side by side.
    """

    at_ms: int
    """
    When it was ranked, milliseconds since the epoch.
    """
    options: list[ExampleRow]
    """
    Its options, the first ones of either ranking.
    """
    rank_biased_overlap: float
    receipt: str
    """
    The receipt.
    """


class Finding(TypedDict):
    """
    One thing found in a partner's answer or completion report.
    """

    at_ms: int
    """
    When, milliseconds since the epoch.
    """
    excerpt: str | None
    """
    What the partner sent at the pointer, as it wrote it, at most 200 characters; null where nothing is there.
    """
    external_id: str | None
    """
    The partner's identifier of the order, where the finding concerns one.
    """
    intent: str
    """
    The intent concerned.
    """
    number: int
    """
    Its number: greater than that of any finding before it.
    """
    option: int | None
    """
    Place of the option in the answer, from 0, where the finding concerns an option of a search.
    """
    option_id: str | None
    """
    The option's identifier, where the finding concerns one and it can be read.
    """
    partner: str
    """
    Against whom.
    """
    request_id: str
    """
    The request in whose answer it was found, or that the reported order came from.
    """
    severity: Severity
    """
    How grave.
    """
    source: FindingSource | None
    violation: Violation
    """
    What; the pointer is into the option, the report, or the answer where neither is concerned.
    """


class GatewayStatus(TypedDict):
    """
    What a gateway says that it has of an intent.
    """

    id: str
    """
    Identifier of the gateway.
    """
    name: str
    """
    Its name, for people.
    """
    serving: NotRequired[ServingStatus]
    """
    What serves there; absent where nothing does, or it has said nothing yet.
    """
    staged: NotRequired[StagedStatus]
    """
    The version that it was asked to make ready last; absent where it was asked for none.
    """


class InflatedBody(TypedDict):
    """
    A declared signal that claims more than was delivered.
    """

    at_most: float | None
    """
    The most that this bears out; null where all four signals are at the top together.
    """
    axis: AxisName
    """
    Which.
    """
    declared: float
    """
    As declared, 0 to 1.
    """
    delivered: float
    """
    What that came to: a share of orders, or minutes.
    """
    measure: MeasureName
    """
    What it was held against.
    """
    reports: int
    """
    Reports that it is the result of.
    """


class InflationBody(TypedDict):
    """
    What a review of declared signals is about, as it was when the review was opened.
    """

    declared: Axes
    """
    The signals that were in force.
    """
    inflated: list[InflatedBody]
    """
    Those that claim more than was delivered.
    """
    intent: str
    """
    Of which intent.
    """


class IntentStatus(TypedDict):
    """
    What is wanted of an intent, and what each gateway that lives says that it has.
    """

    coming: NotRequired[ComingVersion]
    """
    The version that is to serve once every gateway has it ready; absent where there is none.
    """
    gateways: list[GatewayStatus]
    """
    Sorted by identifier.
    """
    intent: str
    live: NotRequired[NamedVersion]
    """
    The version that is to serve now; absent where the intent is out of service.
    """
    policy: ReleasePolicy
    """
    What a new version does that is found in a folder.
    """
    rollout: NotRequired[RolledOutVersion]
    """
    The version that is on its way to everybody step by step; absent where there is none.
    """


class IntentStatuses(TypedDict):
    """
    What is wanted of the intents, and what each gateway has.
    """

    intents: list[IntentStatus]
    """
    Sorted by intent.
    """


class IntentSummary(TypedDict):
    """
    One live intent.
    """

    agent: str
    """
    Primary agent.
    """
    aliases: list[str]
    """
    Other names of the intent: a request or a manifest that uses one means it. Answers and records name the intent.
    """
    digest: str
    """
    SHA-256 of its component.
    """
    domain: str
    """
    Namespace of the intent.
    """
    intent: str
    """
    `<domain>.<name>`.
    """
    max_options: int
    """
    Most options that one partner may offer.
    """
    pairs: list[str]
    """
    Intents that are proposed together with this one.
    """
    request_schema: dict[str, Any] | None
    """
    JSON Schema (2020-12) of a search's body; null when the contract names no such tool.
    """
    summary: str
    """
    One or two sentences: what the user gets.
    """
    title: str
    """
    A few words.
    """
    version: str
    """
    Semantic version of the live contract.
    """
    weights: Axes
    """
    Domain weights; they sum to 1.
    """
    widget: WidgetChoice
    """
    What to show the cards with.
    """


class IntentTraffic(TypedDict):
    """
    What went on at one intent: a column for each figure, a row for each sample, the oldest first.
    """

    at: list[str]
    """
    The ends of the spans that the samples are of.
    """
    empty: list[int]
    """
    Searches that found nothing.
    """
    failed: list[int]
    """
    Searches in which every partner, or the contract, failed.
    """
    intent: str
    """
    The intent.
    """
    ok: list[int]
    """
    Searches that found something.
    """
    overloaded: list[int]
    """
    Searches for which there was no place.
    """
    refused: list[int]
    """
    Searches whose request was refused.
    """
    stages: list[StageTraffic]
    """
    How long each stage took; empty unless one intent is asked for.
    """


class KeptValue(TypedDict):
    """
    A value that an order keeps, for later calls and for its report.
    """

    identifies: bool
    """
    The partner knows the order by it; later arguments of this name must be it.
    """
    name: str
    """
    snake_case.
    """
    pointer: str
    """
    JSON Pointer there.
    """
    source: OrderSource
    """
    In which document.
    """


class NextTool(TypedDict):
    """
    A tool that may be called now.
    """

    idempotency_key: str | None
    """
    The argument that identifies a repeated call; null where there is none.
    """
    purpose: str
    """
    One sentence.
    """
    request_schema: dict[str, Any]
    """
    JSON Schema (2020-12) of the arguments. Identifiers of the order may be left out: they are filled in.
    """
    role: ToolRole
    """
    What it does.
    """
    tool: str
    """
    Its name.
    """
    until: str | None
    """
    It may be called until this time; null where it has no deadline.
    """


class NoticeBody(PartnerNotice):
    """
    A notice, as the platform team sees it.
    """

    published_by: ActorBody
    told: list[NoticeTelling]
    """
    How far partners have been told.
    """
    withdrawn_by: ActorBody | None


class NoticeList(TypedDict):
    """
    A page of notices, in the order in which they take effect.
    """

    next: str | None
    """
    `after` of the next page; null on the last one.
    """
    notices: list[NoticeBody]


class Occasion(TypedDict):
    """
    A kind of request that partners must be able to serve.
    """

    pointer: str
    """
    JSON Pointer into the arguments of the search.
    """
    test: RequestTest
    """
    The test on the value there.
    """
    text: str
    """
    A few words that name it.
    """


class OrderBody(OrderSummary):
    """
    What everybody who may see an order whole is shown of it.
    """

    history: list[OrderHistoryEvent]
    """
    The first events and the latest.
    """
    kept: dict[str, Any]
    """
    What the contract keeps of option, arguments and answers, by name; for a partner, what it has said itself.
    """
    meaning: str | None
    """
    What the state means, for people; null where no contract is left that knows it.
    """
    milestones: list[Milestone]
    """
    What the user has, or owes, in this state.
    """
    partner_name: str | None
    """
    The partner's display name; null where its server is not known any more.
    """
    report: OrderReport | None


class OrderList(TypedDict):
    """
    A page of orders.
    """

    next: str | None
    """
    What to ask the next page with, as `before`; null when this was the last. A page with filters may be short, or empty,
    and not the last.
    """
    orders: list[OrderSummary]
    """
    Newest first.
    """


class OrderNext(TypedDict):
    """
    What may be done with an order now.
    """

    reference: str
    """
    Signed, and good for the user who has ordered: what the tools are called with.
    """
    tools: list[NextTool]
    """
    The tools that have their turn, in the order of the contract.
    """


class OrderRecord(OrderBody):
    """
    A whole order, for the platform team.
    """

    contract: str
    """
    The contract by which it is judged to its end.
    """
    contract_version: str | None
    """
    That contract's version; null where it is not loaded any more.
    """
    findings: list[Finding]
    """
    What was found in the option, in answers to calls of the order, and in reports of it; newest first, at most 100.
    """
    ledger_receipt: str | None
    """
    Receipt of the ledger's entry; null where no report has closed it.
    """
    option: dict[str, Any] | None
    """
    The option as it was shown; null where it was not known any more when it was ordered.
    """
    option_id: str
    """
    The option's own identifier.
    """
    quoted_inr: float | None
    """
    What the user was told to pay in all, INR; null where nothing says it.
    """
    ranking_receipt: str | None
    """
    Receipt of the ranking that showed the option; null where none was kept.
    """


class OrderStep(TypedDict):
    """
    What one tool does to an order.
    """

    deadlines: list[OrderDeadline]
    """
    Until when it may be called.
    """
    keeps: list[KeptValue]
    """
    What is kept once the answer passed.
    """
    opening: Opening
    """
    Whether it opens an order.
    """
    outcomes: list[OrderOutcome]
    """
    Where an answer leads to: the first one that fits.
    """
    refusals: list[OrderRefusal]
    """
    What it is refused with in others; `INVALID_REQUEST` where none fits.
    """
    states: list[str]
    """
    The states in which it may be called.
    """
    tool: str
    """
    Name of the tool.
    """


class OrderWay(TypedDict):
    """
    How orders of an intent go.
    """

    amount: str | None
    """
    Name of the kept value that says what the user pays in all, INR; null where the option's price says it.
    """
    due_after: str | None
    """
    Name of the kept value after which a report is due.
    """
    history: list[str]
    """
    Names of kept values that a search is told of the user's past orders: attributes, and nothing that identifies an order.
    """
    states: list[OrderState]
    """
    The states that tools lead to.
    """
    steps: list[OrderStep]
    """
    What each tool does.
    """


class Origin(TypedDict):
    """
    Where a component came from.
    """

    kind: OriginKind
    """
    Of which kind.
    """
    name: NotRequired[str]
    """
    Path of the file, or subject of the token that uploaded; absent for `kept`.
    """


class OutBody(WindowBody):
    """
    Why a partner is out of the pool.
    """

    good_calls: int
    """
    Trials within the target, in a row.
    """
    next_trial: str
    """
    When the next search is let through on trial.
    """
    over_for_ms: int
    """
    For how long it had been over twice that, milliseconds.
    """
    since: str
    """
    Since when.
    """
    target_p95_ms: int
    """
    Its target, milliseconds.
    """
    tool: str
    """
    The slow tool.
    """


class OverdueList(TypedDict):
    """
    Overdue orders of all partners.
    """

    next: str | None
    """
    Where the next page begins; null after the last.
    """
    orders: list[OverdueOrder]
    """
    The one opened first at the head.
    """


class PartnerFindings(TypedDict):
    """
    The findings against one partner.
    """

    findings: list[Finding]
    """
    Newest first.
    """
    next: int | None
    """
    What to ask the next page with, as `before`; null when this was the last.
    """
    partner: str
    """
    The partner.
    """


class PartnerOrder(OrderBody):
    """
    A whole order, for its partner: nothing of the person, and nothing that only the user's side has said.
    """

    expected: ExpectedReport
    """
    What a report of it is expected to say.
    """
    ledger_receipt: str | None
    """
    The acknowledgement of the report that closed it; null where none has.
    """


class PartnerReport(TypedDict):
    """
    What one partner did in a search.
    """

    code: str | None
    """
    Why it failed or was left out.
    """
    elapsed_ms: int | None
    """
    How long its call took, milliseconds; null when it was not called.
    """
    link_code: str | None
    """
    The code that the page there shows, for the assistant to tell its user beforehand.
    """
    link_url: str | None
    """
    Where the user signs in, where the partner asks for that: an address for the user's browser.
    """
    message: str | None
    """
    The same in words.
    """
    name: str
    """
    Its display name.
    """
    notes: list[Violation]
    """
    What is wrong with its answer as a whole without sinking it.
    """
    options: int
    """
    Options in its answer, before any was dropped.
    """
    partner: str
    """
    Its identifier.
    """
    status: Participation
    """
    How it took part.
    """


class PartnerTraffic(TypedDict):
    """
    How the tools of one partner did. It is of the gateway that answers, since its start and for an hour at most.
    """

    every_ms: int
    """
    Milliseconds between two samples.
    """
    partner: str
    """
    Who.
    """
    tools: list[ToolTraffic]
    """
    Those that were called in the last hour.
    """


class PhoneManifestBody(TypedDict):
    """
    A manifest that was written for a business that is reached by phone. It is not submitted.
    """

    flags: list[FlagBody]
    """
    What a reviewer would have to look at.
    """
    limits: list[PathLimit]
    """
    What a business without a server goes without.
    """
    manifest: dict[str, Any]
    """
    The authoring form, to be kept in a file.
    """
    submission: dict[str, Any]
    """
    The body with which it is submitted, as a draft.
    """
    tier: str
    """
    Always `tier2`.
    """
    warnings: list[Violation]
    """
    What the checks at submit warn of; pointers into `submission`.
    """


class PolicyOrder(TypedDict):
    """
    The policy of an intent.
    """

    policy: ReleasePolicy


class PostedEventPostedEvent14(TypedDict):
    """
    Something will change.
    """

    data: EventNotice
    """
    Something will change.
    """
    type: Literal['notice.published']


class PostedEventPostedEvent15(TypedDict):
    """
    Something will change within a week.
    """

    data: EventNotice
    """
    Something will change within a week.
    """
    type: Literal['notice.reminder']


class PostedEventPostedEvent33(PostedEventPostedEvent14, PostedEventPostedEvent18):
    """
    An event as it is posted: the body of the request to the webhook.
    """


class PostedEventPostedEvent34(PostedEventPostedEvent15, PostedEventPostedEvent18):
    """
    An event as it is posted: the body of the request to the webhook.
    """


PostedEvent: TypeAlias = PostedEventPostedEvent19 | PostedEventPostedEvent20 | PostedEventPostedEvent21 | PostedEventPostedEvent22 | PostedEventPostedEvent23 | PostedEventPostedEvent24 | PostedEventPostedEvent25 | PostedEventPostedEvent26 | PostedEventPostedEvent27 | PostedEventPostedEvent28 | PostedEventPostedEvent29 | PostedEventPostedEvent30 | PostedEventPostedEvent31 | PostedEventPostedEvent32 | PostedEventPostedEvent33 | PostedEventPostedEvent34 | PostedEventPostedEvent35 | PostedEventPostedEvent36
"""
An event as it is posted: the body of the request to the webhook.
"""


class ProbeBody(TypedDict):
    """
    What a probe saw, and what was made of it.
    """

    by: ActorBody
    """
    By whom it was asked for.
    """
    capabilities: dict[str, Any] | None
    """
    What it says it can do, as it was sent.
    """
    elapsed_ms: int
    """
    How long it took.
    """
    endpoint: dict[str, Any]
    """
    What was probed.
    """
    failed_step: FailedStep | None
    failures: list[Violation]
    """
    Why not, each in words.
    """
    lifecycle: str | None
    """
    How the MCP session was opened: `initialize` or `discover`.
    """
    notes: list[str]
    """
    What fails nothing and a reviewer should know.
    """
    passed: bool
    """
    Whether every step succeeded and every listed intent has its tools.
    """
    protocol_version: str | None
    """
    The MCP revision that was agreed on.
    """
    server: ServerBody | None
    session: str | None
    """
    Whether the MCP server keeps a session: `stateful` or `stateless`.
    """
    started_at: str
    """
    When it began.
    """
    steps: list[StepBody]
    """
    What was done, in order.
    """
    tool_report: dict[str, Any] | None
    """
    What happened to them: accepted, skipped, ignored, missing; null when the probe did not get as far.
    """
    tools: list[Any]
    """
    The tool descriptors as they were sent.
    """


class Ranking(TypedDict):
    """
    How options are ranked.
    """

    bands: list[Band]
    """
    The user bands.
    """
    completeness_share: float
    """
    Share of completeness in the total.
    """
    declared_share: float
    """
    Share of declared signals in each axis.
    """
    signals: list[Signal]
    """
    The signals of each axis.
    """
    weights: Axes
    """
    Domain weights; they sum to 1.
    """


RankingDifference = TypedDict(
    'RankingDifference',
    {
        'code': NotRequired[str],
        'expected': NotRequired[dict[str, Any] | None],
        'found': NotRequired[dict[str, Any] | None],
        'in': RankingPart,
        'place': NotRequired[int],
    },
)


class RankingList(TypedDict):
    """
    Rankings of one intent.
    """

    intent: str
    """
    The intent.
    """
    next: int | None
    """
    What to ask the next page with, as `before`; null when this was the last.
    """
    rankings: list[RankingSummary]
    """
    The one that was kept last first. A page may be empty and not the last one.
    """


class RankingReceipt(TypedDict):
    """
    One ranking, whole. It holds what the user asked for.
    """

    arguments: dict[str, Any]
    """
    The arguments that were sent to partners, and that options were judged by.
    """
    at_ms: int
    """
    When the request came, milliseconds since the epoch.
    """
    bookable_until_ms: NotRequired[int | None]
    """
    Until when the last of its options can be booked, milliseconds since the epoch. Receipts from before this was noted do not
    say.
    """
    contract: str
    """
    SHA-256 of its component, 64 hexadecimal characters.
    """
    dropped: list[RankingDrop]
    """
    The options that the contract took out.
    """
    history: NotRequired[list[PastOrder]]
    """
    The user's past orders that the contract was told of, the one that was opened last first. Empty in receipts from
    before any was told.
    """
    id: str
    """
    Its identifier.
    """
    intent: str
    """
    The intent.
    """
    outcome: str
    """
    SHA-256 of the outcome, cards and findings included.
    """
    payloads: list[RankingPayload]
    """
    What each partner answered, in the order in which the contract saw it.
    """
    ranked: list[RankingScore]
    """
    The options that were shown, best first.
    """
    request_id: str
    """
    The request; also what breaks ties.
    """
    version: str
    """
    Version of the contract.
    """


class RankingUnder(TypedDict):
    """
    What a version makes of a receipt.
    """

    contract: ContractVersion
    """
    The version.
    """
    dropped: list[RankingDrop]
    """
    The options that it takes out.
    """
    ranked: list[RankingScore]
    """
    The options that it shows, best first; none where it refuses to rank.
    """
    ranking: Ranking
    """
    How it ranks: its weights and bands.
    """


class Readiness(TypedDict):
    """
    The process takes traffic.
    """

    live_intents: int
    """
    Intents that are live.
    """
    status: str
    """
    `ready`; `degraded` where something is not as it should be, and requests are taken all the same.
    """
    troubles: NotRequired[list[ReadyTrouble]]
    """
    What is not as it should be; absent where all is.
    """


class RemovedValue(TypedDict):
    """
    A value that goes, and who uses it.
    """

    manifests: list[str]
    """
    The partners whose approved manifest names it, at most 50.
    """
    more: int
    """
    How many partners are not named here.
    """
    partners: list[ValuePartner]
    """
    The partners whose options name it, at most 50, those with the most rankings first.
    """
    requests: int
    """
    How many rankings' requests name it.
    """
    value: str
    """
    What goes.
    """
    vocabulary: str
    """
    Name of the vocabulary.
    """


class RemovedValues(TypedDict):
    """
    The values of vocabularies that a version takes out, and who uses them.

    A value counts as used where a text is that value, for a vocabulary does not say where its values stand.
    """

    manifests_read: int
    """
    How many approved manifests list the intent; all of them were read.
    """
    rankings_read: int
    """
    How many rankings of the intent were read: the latest, at most 200.
    """
    rankings_since_ms: NotRequired[int]
    """
    When the oldest of them was made, milliseconds since the epoch; absent where there was none.
    """
    values: list[RemovedValue]
    """
    Sorted by vocabulary and value.
    """


class RequirementCheckRequirementCheck(TypedDict):
    """
    By counting what the sample searches found.
    """

    at_least: Depth
    """
    By counting what the sample searches found.
    """


class ResumableEndEvent(TypedDict):
    """
    The event `end`; its data is application/json.
    """

    data: StreamEnd
    event: Literal['end']
    id: NotRequired[str]
    """
    What to go on behind, as `Last-Event-ID`.
    """


class RevocationDone(TypedDict):
    """
    The outcome of a revocation.
    """

    revocation: Revocation
    versions: list[RevokedVersion]
    """
    The versions of the catalogue that run nowhere by it.
    """


class RolloutCourse(TypedDict):
    """
    How the figures of a rollout went: a column for each figure, a row for each sample, the oldest first; at most 240, of its whole time
    as far as the gateway that answers has seen it.
    """

    at_ms: list[int]
    """
    When each sample was taken, milliseconds since the epoch.
    """
    begun_at_ms: int
    """
    When it began, milliseconds since the epoch.
    """
    candidate: str
    """
    SHA-256 of the candidate's component, 64 hexadecimal characters.
    """
    figures: list[CourseFigure]
    """
    Those that are bounded.
    """
    share_percent: list[float]
    """
    Percentage of the users whom the candidate served then.
    """
    stage: list[int]
    """
    The stage of then, from 0.
    """


class RolloutGuard(TypedDict):
    """
    A bound, and what is known of the rate that it bounds.
    """

    at_least: float
    """
    The rate behind it is at least this and at most that, but for the policy's chance of a false alarm.
    """
    at_most: float
    bound: float
    """
    The highest rate that is allowed.
    """
    hits: int
    """
    How often it happened.
    """
    measure: RolloutMeasure
    of: int
    """
    How often it might have.
    """
    receipts: list[str]
    """
    Receipts that show it, the first ones.
    """
    verdict: RolloutGuardVerdict


class RolloutPolicy(TypedDict, closed=True):
    """
    How a version is rolled out.
    """

    bounds: NotRequired[Bounds]
    """
    What holds in every stage.
    """
    false_alarm: NotRequired[float]
    """
    The chance that a version that keeps within its bounds is taken back all the same, over all bounds, stages and looks together.
    """
    stages: list[Stage]
    """
    In their order, 1 to 10. After the last one the version is live.
    """


class RuleCountBody(TypedDict):
    """
    How often one rule was broken on one day.
    """

    code: str
    """
    Code of the rule.
    """
    count: int
    """
    How often.
    """
    day: str
    """
    The day, by Indian Standard Time.
    """
    intent: str
    """
    The intent concerned.
    """
    severity: Severity
    """
    How grave.
    """


class SampleFindingBody(TypedDict):
    """
    One thing found in the answer to a sample.
    """

    excerpt: str | None
    """
    What the partner sent at the pointer, as it wrote it and of bounded length; null where nothing is there.
    """
    option: int | None
    """
    Place of the option in the answer, from 0; null where the answer as a whole is concerned.
    """
    option_id: str | None
    """
    The option's identifier, where it can be read.
    """
    severity: Severity
    """
    `note`: it stayed; `drop`: it was taken out; `strike`: it was taken out, and counts towards suspension with live
    traffic.
    """
    violation: Violation
    """
    Which rule, where and why; the pointer is into the option, or the payload where none is concerned.
    """


class SearchAnswer(TypedDict):
    """
    The answer to a search.
    """

    code: str | None
    """
    Why there is no option: `NO_PARTNER_ANSWERED`, or the intent's own code. Null when there are options, and where the intent has no
    code for that.
    """
    contract: ContractVersion
    """
    The contract version that checked the request, ranked the options and mapped the cards.
    """
    dropped: list[Dropped]
    """
    Options that were taken out, with every reason.
    """
    intent: str
    """
    The intent.
    """
    left_out_more: NotRequired[int]
    """
    How many more partners list the intent and were left out; absent when `partners` names all.
    """
    not_kept: NotRequired[list[str]]
    """
    What of the search is not expected to be kept, because the gateway's store is down: `receipt`, so that the ranking can be
    neither replayed nor compared with what was booked. Options can be booked all the same. Absent when all is kept.
    """
    notes: list[Violation]
    """
    Advice on the request that refuses nothing.
    """
    options: list[SearchOption]
    """
    Best first.
    """
    partners: list[PartnerReport]
    """
    What each partner did, sorted by identifier. Of those left out, the first 32.
    """
    receipt: str | None
    """
    Identifier of the ranking's receipt, to name to the platform team when a ranking is in doubt; null where no
    partner gave anything to rank.
    """
    request_id: str
    """
    The `request_id` of the body, or the one given to the request where the body has none.
    """
    widget: WidgetChoice
    """
    What to show the cards with.
    """


class SearchSnapshot(SearchAnswer):
    """
    A whole answer, over those who have answered so far.
    """

    awaited: list[str]
    """
    Identifiers of the partners that have not answered yet.
    """
    complete: bool
    """
    Whether nothing is missing: no other snapshot follows.
    """


class SettingBody(TypedDict):
    """
    A setting in force.
    """

    key: str
    """
    Its name in the section; of an entry of a list, the number from 0 and the name.
    """
    origin: SettingOrigin
    """
    Where it was given.
    """
    secret: bool
    """
    Whether it is a secret.
    """
    section: str
    """
    Its section; empty for what stands outside every section.
    """
    value: Any
    """
    Its value. Of a secret `set` or `not set`; of an address, without the name, the password and the query in it.
    """


class SettingList(TypedDict):
    """
    The settings of one gateway.
    """

    settings: list[SettingBody]
    """
    By section and key; at most 5,000.
    """


class ShownReceipt(RankingReceipt):
    """
    A receipt as it is shown.
    """

    signed_by: list[str]
    """
    Names of the trusted keys that have signed the component that ranked, as far as this gateway knows.
    """


class SignInBody(TypedDict):
    """
    Where a partner's users sign in, or are to sign in.
    """

    before: SignInServerBody | None
    named: SignInServerBody
    """
    What the partner's server names.
    """
    shared_with: list[str]
    """
    Partners that have issuer, resource or a host in common with it; at most 20.
    """


class SnapshotEvent(TypedDict):
    """
    The event `snapshot`; its data is application/json.
    """

    data: SearchSnapshot
    event: Literal['snapshot']


class StatementBody(TypedDict):
    """
    What a partner owes for the orders of one month.
    """

    business_name: str | None
    """
    Its business name; null where it has no account.
    """
    lines: list[LineBody]
    """
    One line for each entry, in the order of the ledger.
    """
    month: str
    """
    The month in which the orders closed, by Indian Standard Time.
    """
    partner: str
    """
    The partner.
    """
    rule: str
    """
    How commission is reckoned.
    """
    totals: TotalsBody
    """
    Totals of the lines.
    """
    unreported: NotRequired[list[UnreportedBody]]
    """
    Orders whose reports were due in the month and have not come; they are in no total.
    """


class SubjectBody(TypedDict):
    """
    What a review is about.
    """

    inflation: InflationBody | None
    intents: list[str] | None
    """
    Of a drift: the intents that are out of service meanwhile. Of a renewal: the intent.
    """
    kind: str
    """
    `manifest`; `drift` of a live partner's tools; `inflation` of its declared signals; `sign_in`, of where its
    users sign in; or `renewal` of what people have confirmed of a live intent.
    """
    number: int | None
    """
    Of a manifest: which submission.
    """
    sign_in: SignInBody | None


class SubmissionBody(TypedDict):
    """
    A submission that passed the checks at submit.
    """

    flags: list[FlagBody]
    """
    What the reviewer must look at.
    """
    manifest: dict[str, Any]
    """
    What was submitted.
    """
    notes: str | None
    """
    Notes of the decision.
    """
    number: int
    """
    Counts the account's submissions, from 1.
    """
    status: ManifestStatus
    """
    Where it stands.
    """
    submitted_at: str
    """
    When it was submitted.
    """
    submitted_by: ActorBody
    """
    By whom.
    """
    warnings: list[Violation]
    """
    What is wrong with the fields that are reviewed; it refuses nothing by itself.
    """


class SubmittedBody(SubmissionBody):
    """
    The outcome of a submission.
    """

    review: str | None
    """
    The review that waits for the platform team, where one does.
    """


class Tool(TypedDict):
    """
    One tool that a partner must implement.
    """

    cache_seconds: int | None
    """
    How long an answer may be served again, seconds; null means never.
    """
    idempotency_key: str | None
    """
    The argument that identifies a repeated call.
    """
    latency: LatencyTargets
    """
    Latency targets.
    """
    name: str
    """
    snake_case verb_noun.
    """
    orders_tool: str | None
    """
    The tool by which is seen, after a failed call of this one, whether an order was made all the same.
    """
    purpose: str
    """
    One sentence for partners.
    """
    rate_per_minute: int | None
    """
    Calls per minute that a partner must bear, of all users together; null where the intent states none.
    """
    request_schema: dict[str, Any]
    """
    JSON Schema (2020-12) of the arguments.
    """
    response_schema: dict[str, Any]
    """
    JSON Schema (2020-12) of one option for the search tool, of the payload for others.
    """
    retry: RetryPolicy
    """
    Retries.
    """
    role: ToolRole
    """
    What it does.
    """


class ToolAnswer(TypedDict):
    """
    An answer that passed.
    """

    advisory: str | None
    """
    An advisory code of the intent's error table that is not a failure, for example `CANCELLATION_FEE_DUE`.
    """
    contract: ContractVersion
    """
    The contract version that judged.
    """
    elapsed_ms: int
    """
    How long the partner took, milliseconds.
    """
    intent: str
    """
    The intent.
    """
    notes: list[Violation]
    """
    Advice on the arguments that refuses nothing.
    """
    order: OrderBrief | None
    partner: str
    """
    Who answered.
    """
    payload: dict[str, Any]
    """
    The answer as the partner wrote it.
    """
    reference: str | None
    """
    Signed; what later calls about it go by. Null where the answer carries no identifier.
    """
    request_id: str
    """
    The `request_id` of the arguments, or the one given to the request.
    """
    tool: str
    """
    The tool that answered: the one that was called, or, where its answer was lost and the order was found among the
    partner's, the one that lists these.
    """


class ToolHealthBody(WindowBody):
    """
    How long a tool takes, against its targets.
    """

    over_since: str | None
    """
    Since when its 95th percentile has been over twice the target; null while it is not.
    """
    targets: TargetsBody
    """
    Its targets, by the contract that it was last called under.
    """
    tool: str
    """
    The tool.
    """


class TrafficBody(TypedDict):
    """
    What went on at intents. It is of the gateway that answers, since its start and for an hour at most.
    """

    every_ms: int
    """
    Milliseconds between two samples.
    """
    intents: list[IntentTraffic]
    """
    Those that something was asked of in the last hour.
    """


class TriedOption(TypedDict):
    """
    What would become of an option.
    """

    option_id: str | None
    """
    Its own identifier, where one can be read.
    """
    position: int | None
    """
    Its position in the payload, from 0, or, where the mapping could make nothing of it, in the API's own array; null for
    an option that would be shown.
    """
    shown: bool
    """
    Whether it would be shown.
    """
    strike: bool
    """
    Whether it would count towards the partner's suspension.
    """
    violations: list[Violation]
    """
    Why it would be dropped, or what would be noted about it; pointers are into the option.
    """


class UserData(TypedDict):
    """
    A page of what is kept of a user.
    """

    links: list[LinkBody]
    """
    Accounts that the user has linked; on the first page alone.
    """
    next: str | None
    """
    Where the next page begins; null after the last. A page may be empty though others follow.
    """
    orders: list[UserOrder]
    """
    From the newest on, before all receipts.
    """
    receipts: list[UserRanking]
    """
    From the newest on.
    """


class VersionEvent(TypedDict):
    """
    One event in the life of a version.
    """

    act: VersionAct
    """
    What happened.
    """
    at_ms: int
    """
    When, milliseconds since the epoch.
    """
    by: ActorBody
    """
    Who asked for it; the gateway for what nobody asked for.
    """
    whence: Whence
    """
    By which way.
    """
    why: NotRequired[str]
    """
    Why, where a reason was given or a rule has decided; absent otherwise.
    """


class WebhookBody(TypedDict):
    """
    A webhook. Its key is shown once, when it is issued; `(redacted)` stands for it afterwards.
    """

    events: EventSendingBody
    """
    How events are sent there.
    """
    webhook_event_secret: str | None
    """
    What the gateway signs the events with that it posts there. Shown once, when it is made; null where there is none.
    """
    webhook_signing_key: str
    """
    Signs completion reports. Shown once: saving the address that is saved already brings no new key.
    """
    webhook_signing_keys: list[Validity]
    """
    The signing keys that are accepted, the current one first.
    """
    webhook_url: str
    """
    Where the partner receives.
    """


class ComparisonReport(TypedDict):
    """
    What a candidate would have made of what was ranked before.
    """

    baseline: BaselineName
    """
    What it is compared with.
    """
    baseline_times: CallTimes | None
    budget: BudgetReport | None
    candidate: ComparedVersion
    """
    The version that is not live yet.
    """
    candidate_times: CallTimes
    """
    How long the candidate takes to rank a receipt.
    """
    different: int
    """
    Receipts in which something differs.
    """
    failed: list[CodeCount]
    """
    Receipts on which it fails, by code.
    """
    first_at_ms: int | None
    """
    When the earliest of the receipts was ranked, milliseconds since the epoch; null where there is none.
    """
    first_changed: int
    """
    Receipts that both rank: in how many of them another option is first.
    """
    intent: str
    """
    The intent.
    """
    kendall_tau_b: Distribution
    """
    Kendall's tau-b of the options that both keep, -1 to 1, where they have an order.
    """
    last_at_ms: int | None
    """
    When the latest was.
    """
    newly_empty: int
    """
    In how many of them the candidate leaves no option where there was one.
    """
    not_comparable: list[CodeCount]
    """
    Receipts that the baseline itself does not rank any more. They are in none of the other figures.
    """
    only_wording: int
    """
    In how many of them nothing differs but cards, findings or the wording of reasons.
    """
    options: int
    """
    Their options.
    """
    overlap_of_three: Distribution
    """
    Overlap of the first three options, 0 to 1.
    """
    partners: list[PartnerShare]
    """
    Each partner's share of the first three options, the greatest change first.
    """
    rank_biased_overlap: Distribution
    """
    Rank-biased overlap (p = 0.9), 0 to 1.
    """
    receipts: int
    """
    Receipts that were compared.
    """
    refused: list[CodeCount]
    """
    Receipts that it refuses to rank, by code.
    """
    reordered: int
    """
    In how many of them what both keep is in another order.
    """
    requests_changed: int
    """
    Requests for which it sends other arguments to partners. Their options were ranked as they came all the same.
    """
    requests_refused: list[CodeCount]
    """
    Requests that the candidate refuses or fails on before anybody is asked, by code.
    """
    rules: list[RuleChange]
    """
    Which options are taken out, or kept, otherwise, by the rule that does it.
    """
    same: int
    """
    Receipts in which nothing differs.
    """
    scores: list[ScoreShift]
    """
    By how much scores are higher under the candidate, of the options that both keep.
    """
    worst: list[Example]
    """
    The receipts that differ most, side by side.
    """


class ComparisonReportEvent(TypedDict):
    """
    The event `report`; its data is application/json.
    """

    data: ComparisonReport
    event: Literal['report']


class ContractCall1(ContractSubject):
    """
    Judges the arguments of a tool.
    """

    arguments: str
    """
    Its arguments.
    """
    tool: str
    function: Literal['check-request']


class ContractCall2(ContractSubject):
    """
    Judges the answer of a tool that is not a search.
    """

    arguments: str
    """
    The arguments that were sent.
    """
    payload: str
    """
    The answer.
    """
    tool: str
    function: Literal['check-response']


class ContractCall3(ContractSubject):
    """
    Judges a completion report.
    """

    report: str
    """
    The report.
    """
    function: Literal['check-completion']


ContractCall: TypeAlias = ContractCallContractCall | ContractCall1 | ContractCallContractCall1 | ContractCall2 | ContractCall3
"""
A function with its arguments. All documents are JSON text.
"""


class ContractInput1(ContractSubject):
    """
    Judges the arguments of a tool.
    """

    arguments: str
    """
    Its arguments.
    """
    tool: str
    function: Literal['check-request']


class ContractInput2(ContractSubject):
    """
    Judges the answer of a tool that is not a search.
    """

    arguments: str
    """
    The arguments that were sent.
    """
    payload: str
    """
    The answer.
    """
    tool: str
    function: Literal['check-response']


class ContractInput3(ContractSubject):
    """
    Judges a completion report.
    """

    report: str
    """
    The report.
    """
    function: Literal['check-completion']


class ContractInputContractInput4(ContractInput1, ContractInputContractInput2):
    """
    A call with its arguments, as it is kept, and written to a file.
    """


class ContractInputContractInput6(ContractInput2, ContractInputContractInput2):
    """
    A call with its arguments, as it is kept, and written to a file.
    """


class ContractInputContractInput7(ContractInput3, ContractInputContractInput2):
    """
    A call with its arguments, as it is kept, and written to a file.
    """


ContractInput: TypeAlias = ContractInputContractInput3 | ContractInputContractInput4 | ContractInputContractInput5 | ContractInputContractInput6 | ContractInputContractInput7
"""
A call with its arguments, as it is kept, and written to a file.
"""


class CorrectedBody(TypedDict):
    """
    A correction that is in the ledger.
    """

    replacement: EntryBody
    """
    Books what is right.
    """
    reversal: EntryBody
    """
    Takes the wrong entry back.
    """


class DeliveredBody(TypedDict):
    """
    What a partner delivers of an intent, beside what it declares.
    """

    cancellations: dict[str, int]
    """
    Cancelled orders, by status.
    """
    completed: int | None
    """
    Reports of a charged status; null while no contract of the intent is live.
    """
    completion_rate: float | None
    """
    Share of the reported orders that were completed, 0 to 1; null while no contract of the intent is live.
    """
    declared: Axes | None
    inflated: list[InflatedBody]
    """
    Those that claim more than was delivered.
    """
    intent: str
    """
    Of which intent.
    """
    mean_late_minutes: float | None
    """
    By how many minutes it began late on average, below zero where early; null where no report tells.
    """
    partner: str
    """
    Who.
    """
    reports: int
    """
    Reports of any status.
    """
    review: str | None
    """
    The last review of that.
    """
    statuses: dict[str, int]
    """
    Reports of each status.
    """
    timed: int
    """
    Reports that tell how late the service began.
    """


class DeliveredList(TypedDict):
    """
    What was delivered, by partner and intent.
    """

    delivered: list[DeliveredBody]
    """
    One for each partner and intent of which there is a report, in the order of their identifiers.
    """
    since: str
    """
    Reports that were booked from then on are counted.
    """


class EndedRollout(TypedDict):
    """
    A rollout that has ended.
    """

    begun_at_ms: int
    broken: list[RolloutGuard]
    """
    The bounds that were broken.
    """
    by: ActorBody
    """
    Who has ended it: the gateway where a rule did.
    """
    candidate: RolloutVersion
    end: RolloutEnd
    ended_at_ms: int
    stage: int
    """
    The stage in which it ended, from 0.
    """
    why: str
    """
    Why.
    """


class ErrorBody(TypedDict):
    """
    The body of every refusal.
    """

    error: ErrorDetail
    """
    What was refused and why.
    """


class EventBodyEventBody14(TypedDict):
    """
    Something will change.
    """

    data: EventNotice
    """
    Something will change.
    """
    type: Literal['notice.published']


class EventBodyEventBody15(TypedDict):
    """
    Something will change within a week.
    """

    data: EventNotice
    """
    Something will change within a week.
    """
    type: Literal['notice.reminder']


class EventBodyEventBody33(EventBodyEventBody14, EventBodyEventBody18):
    """
    An event, with every try to deliver it.
    """


class EventBodyEventBody34(EventBodyEventBody15, EventBodyEventBody18):
    """
    An event, with every try to deliver it.
    """


EventBody: TypeAlias = EventBodyEventBody19 | EventBodyEventBody20 | EventBodyEventBody21 | EventBodyEventBody22 | EventBodyEventBody23 | EventBodyEventBody24 | EventBodyEventBody25 | EventBodyEventBody26 | EventBodyEventBody27 | EventBodyEventBody28 | EventBodyEventBody29 | EventBodyEventBody30 | EventBodyEventBody31 | EventBodyEventBody32 | EventBodyEventBody33 | EventBodyEventBody34 | EventBodyEventBody35 | EventBodyEventBody36
"""
An event, with every try to deliver it.
"""


class EventDataEventData14(TypedDict):
    """
    Something will change.
    """

    data: EventNotice
    """
    Something will change.
    """
    type: Literal['notice.published']


class EventDataEventData15(TypedDict):
    """
    Something will change within a week.
    """

    data: EventNotice
    """
    Something will change within a week.
    """
    type: Literal['notice.reminder']


EventData: TypeAlias = EventDataEventData | EventDataEventData1 | EventDataEventData2 | EventDataEventData3 | EventDataEventData4 | EventDataEventData5 | EventDataEventData6 | EventDataEventData7 | EventDataEventData8 | EventDataEventData9 | EventDataEventData10 | EventDataEventData11 | EventDataEventData12 | EventDataEventData13 | EventDataEventData14 | EventDataEventData15 | EventDataEventData16 | EventDataEventData17
"""
What an event tells: its type, and the members of its `data`. Times are RFC 3339 in UTC.
"""


class EventsBody(TypedDict):
    """
    A page of events, the latest first.
    """

    events: list[EventBody]
    next: str | None
    """
    `before` of the next page; null on the last one.
    """


class ExportReceiptEvent(TypedDict):
    """
    The event `receipt`; its data is application/json.
    """

    data: RankingReceipt
    event: Literal['receipt']


class FailedEvent(TypedDict):
    """
    The event `error`; its data is application/json.
    """

    data: ErrorBody
    event: Literal['error']


class Data(ErrorBody):
    missed: NotRequired[int]
    """
    How many events before it were not sent, because the reader was too slow; absent where none.
    """


class FollowFailedEvent(TypedDict):
    """
    The event `error`; its data is application/json.
    """

    data: Data
    event: Literal['error']
    id: NotRequired[str]
    """
    What to go on behind, as `Last-Event-ID`.
    """


class Data2(ToolAnswer):
    missed: NotRequired[int]
    """
    How many events before it were not sent, because the reader was too slow; absent where none.
    """


class FollowUpdateEvent(TypedDict):
    """
    The event `update`; its data is application/json.
    """

    data: Data2
    event: Literal['update']
    id: NotRequired[str]
    """
    What to go on behind, as `Last-Event-ID`.
    """


class Handling(TypedDict):
    """
    What must be handled, and how.
    """

    occasions: list[Occasion]
    """
    Each must be asked for by a sample search that finds an option.
    """
    unbroken: list[str]
    """
    Codes of rules that no option of any sample search may break.
    """


class IntentHealthBody(TypedDict):
    """
    A partner in the pool of an intent, or out of it.
    """

    in_pool: bool
    """
    Whether searches call it.
    """
    intent: str
    """
    The intent.
    """
    out: OutBody | None
    tools: list[ToolHealthBody]
    """
    The tools that were called.
    """


class IntentLatency(TypedDict):
    """
    How long the tools of one intent took.
    """

    intent: str
    """
    The intent.
    """
    tools: list[ToolHealthBody]
    """
    Its tools that were called.
    """


class IntentList(TypedDict):
    """
    The live intents.
    """

    intents: list[IntentSummary]
    """
    Sorted by intent.
    """


class LoadFailure(TypedDict):
    """
    A component that did not become what was asked of it.
    """

    at_ms: int
    """
    When, milliseconds since the epoch.
    """
    code: str
    """
    Stable code.
    """
    digest: str | None
    """
    Digest of the component, where it could be read.
    """
    intent: str | None
    """
    The intent, where the component got as far as telling.
    """
    message: str
    """
    What went wrong, down to the innermost cause.
    """
    origin: Origin
    """
    Where it came from.
    """
    removed: NotRequired[list[VocabularyValue]]
    """
    With `VOCABULARY_VALUES_REMOVED`: which values it would take out.
    """
    version: str | None
    """
    Its version, likewise.
    """


class LoadFailures(TypedDict):
    """
    The latest failures to load.
    """

    failures: list[LoadFailure]
    """
    Newest first.
    """


class LoadedVersion(TypedDict):
    """
    A version that has been loaded, live or not.
    """

    calls: int
    """
    Calls served since the process started.
    """
    component_bytes: int
    """
    Size of the component in bytes.
    """
    digest: str
    """
    SHA-256 of the component, 64 hexadecimal characters.
    """
    faults: int
    """
    Calls that failed for the contract's own fault.
    """
    history: list[VersionEvent]
    """
    What has happened to it, oldest first: its loading, and the latest 49 events since. The audit log has them all.
    """
    intent: str
    """
    The intent.
    """
    live: bool
    """
    Whether it serves.
    """
    loaded_at_ms: int
    """
    When it was loaded, milliseconds since the epoch.
    """
    loaded_by: ActorBody
    """
    Who loaded it; the gateway for a file of the watched folder.
    """
    origin: Origin
    """
    Where it came from.
    """
    signed_by: NotRequired[list[str]]
    """
    Names of the trusted keys that have signed it; absent where nobody has.
    """
    version: str
    """
    Its version.
    """


class ManifestsBody(TypedDict):
    """
    The manifests of an account.
    """

    approved: SubmissionBody | None
    latest: SubmissionBody
    """
    The latest submission.
    """
    review: str | None
    """
    The review of the latest, where it was sent for one.
    """


class MissingVersion(TypedDict):
    """
    A version that a gateway could not make ready: its component is damaged or gone, or this gateway cannot run it.
    """

    code: str
    """
    Stable code, as of a failure to load.
    """
    digest: str
    """
    SHA-256 of its component, 64 hexadecimal characters.
    """
    intent: str
    """
    The intent.
    """
    message: str
    """
    Why it is missing, down to the innermost cause.
    """
    origin: Origin
    """
    Where it came from when it was loaded.
    """
    ought_to_serve: bool
    """
    Whether it ought to serve: nobody has put another one in its place since.
    """
    serving: NotRequired[str]
    """
    The version that serves the intent meanwhile; absent where the intent is not served at all.
    """


class OrderDetail(OrderBody):
    """
    A whole order, for the orchestrator through which it was placed.
    """

    next: OrderNext | None
    option: dict[str, Any] | None
    """
    The option as it was shown; null where it was not known any more when it was ordered.
    """
    quoted_inr: float | None
    """
    What the user was told to pay in all, INR; null where nothing says it.
    """
    ranking_receipt: str | None
    """
    Receipt of the ranking that showed the option; null where none was kept.
    """


OrderEvent: TypeAlias = OrderChangeEvent | ResumableEndEvent
"""
One event of the stream of `/api/v1/orders/events`.
"""


class PromotionOrder(TypedDict):
    """
    What is asked of a rollout that begins.
    """

    policy: NotRequired[RolloutPolicy | None]
    why: str
    """
    Why, for the audit log.
    """


class RankingReplay(TypedDict):
    """
    The outcome of a replay.
    """

    contract: ContractVersion
    """
    The contract version that ranked, then and now.
    """
    difference: RankingDifference | None
    expected: str
    """
    Digest of the outcome, as the receipt holds it.
    """
    found: str | None
    """
    Digest of the outcome now; null where the contract refused to rank.
    """
    intent: str
    """
    Its intent.
    """
    receipt: str
    """
    The receipt.
    """
    same: bool
    """
    Whether the outcome is the same: order, scores to the bit, cards, drops and findings.
    """
    under: NotRequired[RankingUnder | None]


class RequirementCheckRequirementCheck2(TypedDict):
    """
    Every occasion was asked for and found, without certain breaches.
    """

    handles: Handling
    """
    Every occasion was asked for and found, without certain breaches.
    """


RequirementCheck: TypeAlias = RequirementCheckRequirementCheck | RequirementCheckRequirementCheck1 | RequirementCheckRequirementCheck2 | RequirementCheckRequirementCheck3 | Literal['by_hand']
"""
How a requirement is checked. What can be seen in an answer is seen in those to sample requests.
"""


class ReviewSummary(TypedDict):
    """
    An entry for the platform team.
    """

    account_id: str
    """
    Whom it concerns.
    """
    decision: DecisionBody | None
    due_at: str
    """
    Decided by then.
    """
    id: str
    """
    Names the review.
    """
    opened_at: str
    """
    When it was opened.
    """
    status: ReviewState
    """
    Where it stands.
    """
    subject: SubjectBody
    """
    What it is about.
    """


class Rollout(TypedDict):
    """
    A rollout that is under way.
    """

    baseline: RolloutVersion
    """
    The live version, which the candidate is compared with.
    """
    begun_at_ms: int
    """
    When it began, milliseconds since the epoch.
    """
    by: ActorBody
    """
    Who has begun it, and why.
    """
    candidate: RolloutVersion
    guards: list[RolloutGuard]
    """
    The bounds that are set, with what is known of each. One that is broken takes the candidate back.
    """
    missing: RolloutMissing
    """
    What the stage still lacks.
    """
    paused: RolloutPause | None
    policy: RolloutPolicy
    seen: list[RolloutStageCount]
    """
    What was seen in each stage so far, on all gateways.
    """
    stage: int
    """
    Its place among the stages of the policy, from 0.
    """
    stage_at_ms: int
    """
    When its stage began.
    """
    waits_for: list[WaitedFor]
    """
    Gateways that do not have the candidate ready: they serve the live version, and no further stage begins before they have it.
    """
    why: str


class Rollouts(TypedDict):
    """
    Rollouts of an intent.
    """

    course: NotRequired[RolloutCourse]
    """
    How the figures of the latest one went; absent unless asked for, and where the gateway that answers has seen none of it.
    """
    intent: str
    last: EndedRollout | None
    rollout: Rollout | None


class SampleBody(TypedDict):
    """
    The outcome of one sample request.
    """

    dropped: int
    """
    Options that were dropped.
    """
    elapsed_ms: int
    """
    How long the partner's call took.
    """
    error: SampleErrorBody | None
    failure: str | None
    """
    Code of the failure, where the partner gave no usable answer.
    """
    found: NotRequired[list[SampleFindingBody]]
    """
    What was found in the answer, the gravest first: which rule dropped which option, and by what.
    """
    found_more: NotRequired[int]
    """
    How much more was found that is not listed.
    """
    options: int
    """
    Options that passed.
    """
    request_id: str
    """
    The identifier under which it was sent.
    """


SearchEvent: TypeAlias = SnapshotEvent | FailedEvent | EndEvent
"""
One event of the stream of `/api/v1/intents/{intent}/search`.
"""


class TestReport(TypedDict):
    """
    A check of an intent's go-live requirements.
    """

    at: str
    """
    When the check began.
    """
    contract_digest: str
    """
    Digest of its component.
    """
    contract_version: str
    """
    Version of the contract that asked and judged.
    """
    intent: str
    """
    The intent.
    """
    items: list[ItemBody]
    """
    The requirements, each with what happened to it.
    """
    passed: bool
    """
    Whether everything holds.
    """
    samples: list[SampleBody]
    """
    The samples, in their order.
    """


class TrialResult(TypedDict):
    """
    What would come of a call.
    """

    failure: TrialFailure | None
    mismatches: list[Violation]
    """
    Where the mapping misses the intent's contract; pointers are into the mapping.
    """
    notes: list[Violation]
    """
    What would be noted about the answer as a whole; it costs nothing.
    """
    options: list[TriedOption]
    """
    Of a search: what would become of each option, those that would be shown first.
    """
    passed: bool
    """
    Whether the answer would pass: of a search, whether any option would.
    """
    payload: Any
    """
    The tool's payload that the mapping makes of the answer.
    """
    refused: list[Violation]
    """
    Of other tools: why the contract refuses the answer; pointers are into the payload.
    """
    request: TriedRequestBody | None


class ActivationOutcome(LoadedVersion):
    """
    The outcome of an activation.
    """

    waits_for: NotRequired[list[WaitedFor]]
    """
    The gateways that it waits for before it goes live; absent where it is live.
    """


ComparisonEvent: TypeAlias = ComparisonProgressEvent | ComparisonReportEvent | FailedEvent | EndEvent
"""
One event of the stream of `/api/v1/admin/contracts/compare`.
"""


class ConnectionBody(TypedDict):
    """
    A connection to a partner's server.
    """

    account_id: str
    """
    The account.
    """
    confirmations: dict[str, dict[str, HeldConfirmationBody]]
    """
    What people have confirmed, by intent and code of the requirement.
    """
    endpoint: dict[str, Any]
    """
    Where it is.
    """
    failed_retests: dict[str, FailedRetestBody]
    """
    Intents that were live and whose last test did not pass, with the time until which they are routed all the same.
    """
    next_probe_at: str | None
    """
    When it is probed again, while it is live.
    """
    probe: ProbeBody | None
    quarantine: dict[str, list[DriftBody]]
    """
    Intents that are out of service because their tools have changed, with what changed.
    """
    since: str
    """
    Since when.
    """
    state: ConnectionStatus
    """
    Where it stands.
    """
    suspension: SuspensionBody | None
    tests: dict[str, TestReport]
    """
    The team's tests since the endpoint was registered, by intent.
    """
    tools: NotRequired[list[ComparedToolBody]]
    """
    Its tools, each as it was accepted beside what the last probe found, sorted by intent and name; at most 1,000.
    """


class ConnectionList(TypedDict):
    """
    Connections in order of their accounts.
    """

    connections: list[ConnectionBody]
    """
    This page's.
    """
    next: str | None
    """
    What to ask the next page with, as `after`; null when this was the last.
    """


class ContractFaultFile(ContractFault):
    """
    A fault with the call that led to it: what `plugin replay` reads.
    """

    input: ContractInput | None


ExportEvent: TypeAlias = ExportCountedEvent | ExportReceiptEvent | ExportSummaryEvent | FailedEvent | EndEvent
"""
One event of the stream of `/api/v1/admin/receipts/export`.
"""


class FindingsSummary(TypedDict):
    """
    How one partner has fared: which rules it broke and when, what is held against it, and how long it takes.
    """

    counts: list[RuleCountBody]
    """
    How often each rule was broken on each day, the latest day first; of the latest 100,000 findings.
    """
    latency: list[IntentLatency]
    """
    How long its tools took within the last five minutes, beside their targets, by intent; calls are those of the
    gateway that answers.
    """
    partner: str
    """
    The partner.
    """
    since: str
    """
    Findings are counted from then on.
    """
    strikes: list[StrikesBody]
    """
    The strikes that have not expired, by code.
    """
    unsigned_reports: NotRequired[UnsignedReportsBody]
    """
    Completion reports that came under its name and that no key of its has signed, whoever sent them; absent where none came.
    """


FollowEvent: TypeAlias = FollowUpdateEvent | FollowProgressEvent | FollowFailedEvent | ResumableEndEvent
"""
One event of the stream of `/api/v1/intents/{intent}/tools/{tool}/stream`.
"""


class HealthBody(TypedDict):
    """
    One partner's health. Calls are those of the gateway that answers, since it started; strikes are those of all gateways.
    """

    breaker: BreakerBody
    """
    Stands before every call of it.
    """
    intents: list[IntentHealthBody]
    """
    The intents that it was called for.
    """
    partner: str
    """
    Who.
    """
    routed: bool
    """
    Whether requests are routed to it at all.
    """
    strikes: list[StrikesBody]
    """
    The strikes that have not expired, by code.
    """


class HealthList(TypedDict):
    """
    A page of partners' health.
    """

    next: str | None
    """
    What to ask the next page with, as `after`; null on the last.
    """
    partners: list[HealthBody]
    """
    In the order of their identifiers: those that requests are routed to, and those that strikes are held against.
    """


class LoadOutcome(LoadedVersion):
    """
    The outcome of a load.
    """

    known: bool
    """
    Whether this very component was loaded before. It is as it was then: loading it again makes nothing live.
    """
    note: NotRequired[str]
    """
    What is left to do where the version is known and not live; absent otherwise.
    """
    removed_values: NotRequired[RemovedValues]
    """
    The values of vocabularies that it takes out, and who uses them; absent where it takes out none.
    """
    waits_for: NotRequired[list[WaitedFor]]
    """
    The gateways that it waits for before it goes live; absent where it waits for none.
    """


class LoadedVersions(TypedDict):
    """
    The loaded contract versions.
    """

    contracts: list[LoadedVersion]
    """
    Sorted by intent and version.
    """
    missing: NotRequired[list[MissingVersion]]
    """
    Those of the catalogue that this gateway could not make ready, sorted by intent; absent where there is none.
    """


class OverviewBody(TypedDict):
    """
    An account with all that belongs to it, and what is next.
    """

    account_id: str
    """
    The account.
    """
    business_name: str
    """
    Display name given at sign-up.
    """
    checklist: list[PartnerChecklistItem]
    """
    The checklist of the latest manifest: what the platform team looks at, and what is wanted for it.
    """
    connection: ConnectionBody | None
    created_at: str
    """
    When it was opened.
    """
    credentials: CredentialsBody | None
    email: str
    """
    Its address.
    """
    manifest: ManifestsBody | None
    next: list[NextStepBody]
    """
    What is left to do until requests are routed, in order.
    """
    partner_id: str
    """
    The same.
    """
    profile: ProfileBody | None


class ProbeAnswer(TypedDict):
    """
    What a probe came to.
    """

    connection: ConnectionBody
    """
    The connection as it stands now, the probe in full included.
    """
    failure: Violation | None
    ok: bool
    """
    Whether it passed.
    """


class Requirement(TypedDict):
    """
    One thing that must hold before a partner's traffic may go live.
    """

    check: RequirementCheck
    """
    How it is checked.
    """
    code: str
    """
    Stable code in UPPER_SNAKE_CASE.
    """
    text: str
    """
    What must hold, for partners.
    """
    valid_days: int | None
    """
    Days for which a person's confirmation holds; null where it holds for good, and where the gateway checks.
    """


class ReviewBody(ReviewSummary):
    """
    A review with all that is needed to decide it.
    """

    account: AccountSummary
    """
    The business.
    """
    checklist: list[ChecklistBody]
    """
    As it stands now, or as it stood at the decision.
    """
    documents: list[DocumentBody]
    """
    What the business has uploaded; read one by one.
    """
    privacy_policy: PrivacyBody | None
    profile: ProfileBody | None
    submission: SubmissionBody | None


class ReviewList(TypedDict):
    """
    Reviews in the order in which they were opened.
    """

    next: str | None
    """
    What to ask the next page with, as `after`; null when this was the last.
    """
    reviews: list[ReviewSummary]
    """
    This page's.
    """


class SwitchedOn(TypedDict):
    """
    A connection that was switched on.
    """

    connection: ConnectionBody
    """
    As it stands now.
    """
    routed: list[str]
    """
    Intents that requests are routed to.
    """


class Descriptor(TypedDict):
    """
    Everything that a contract declares.
    """

    agent: str
    """
    Primary agent.
    """
    aliases: list[str]
    """
    Other names of the intent. Where it is named by one, it is meant.
    """
    completion: Completion
    """
    What a completion report may say.
    """
    cues: list[str]
    """
    Words one of which occurs in every utterance that may concern the contract.
    """
    data_lifetimes: list[DataLifetime]
    """
    How long other data of a partner may be kept.
    """
    domain: str
    """
    Namespace of the intent.
    """
    elsewhere: list[str]
    """
    Intents to which the contract sends what it classifies out.
    """
    errors: list[PlatformError]
    """
    Error table.
    """
    forbidden_fields: list[ForbiddenField]
    """
    Fields that may appear in no answer, beyond the platform's own list.
    """
    go_live: list[Requirement]
    """
    What must hold before a partner's traffic may go live.
    """
    intent: str
    """
    `<domain>.<name>`.
    """
    order: OrderWay | None
    pairs: list[str]
    """
    Intents proposed together with this one.
    """
    ranking: Ranking
    """
    How options are ranked.
    """
    rules: list[Rule]
    """
    Rules beyond what the schemas say.
    """
    search: SearchShape
    """
    How a search payload is taken apart.
    """
    summary: str
    """
    One or two sentences.
    """
    title: str
    """
    A few words.
    """
    tools: list[Tool]
    """
    The tools that a partner must implement.
    """
    version: str
    """
    Semantic version of the contract.
    """
    vocabularies: list[Vocabulary]
    """
    Controlled vocabularies.
    """
    widget: Widget
    """
    Widget and what fills its cards.
    """


class IntentDetail(Descriptor):
    """
    One intent in full.
    """

    digest: str
    """
    SHA-256 of the live component.
    """
    sample_request: dict[str, Any] | None
    """
    A search's body that the contract gives as an example; null where it gives none. Times in it may be over.
    """
