"""What schemathesis cannot know of the API: a request that a contract accepts, and what a component looks like.

Cases come one after the other, so what is done to them depends on their number, and a seed gives the same run.
"""

import atexit
import collections
import copy
import itertools
import json
import os
from pathlib import Path

import schemathesis

ROOT = Path(__file__).resolve().parents[2]
# A request of each intent that its contract accepts, from the contract's own samples.
REQUESTS = {
    request["intent"]: request
    for path in sorted(ROOT.glob("plugins/*/samples/request.json"))
    for request in [json.loads(path.read_text("utf-8"))]
}
COMPONENT = (ROOT / "target/contracts/auto-book-ac-service.wasm").read_bytes()
# A prime, so that each upload of a part of the component breaks off elsewhere.
COMPONENT_STEP_BYTES = 7919

schemathesis.serializer.alias("application/wasm", "application/octet-stream")

# Where a registered server is. One that was invented would be looked up in the world, and waited for.
PARTNER_URL = os.environ["API_FUZZ_PARTNER"]
MANIFEST = {
    "businessName": "CoolCar",
    "submitForReview": True,
    "intents": [
        {
            "intent": "auto.book_ac_service",
            "domain": "auto",
            "pricing": {"min": 499, "max": 6999, "currency": "INR"},
            "service_area": ["Bengaluru", "560001"],
            "ttbs_signals": {"time": 0.6, "taste": 0.5, "budget": 0.7, "safety": 0.8},
            "availability": "24x7",
        }
    ],
}
TRIAL = {
    "intent": "auto.book_ac_service",
    "tool": "search_ac_service_slots",
    "mapping": {
        "kind": "rest",
        "tools": {
            "search_ac_service_slots": {
                "operation_id": "find",
                "method": "GET",
                "path": "/slots",
                "response": {"slots": {"$res": "/items"}},
            }
        },
    },
    "arguments": REQUESTS["auto.book_ac_service"],
    "answer": {"items": [{"slot_id": "S-1"}]},
}
# Taking a live intent out of service would leave nothing to fuzz.
UNUSED_INTENT = "auto.nobody_needs_this"
NUMBERS = itertools.count()
# How often each operation was called with success: what never was has not been fuzzed in earnest.
SUCCESSES = collections.Counter()


@schemathesis.hook
def before_call(context, case, kwargs):
    """Makes cases of some operations reach further than invention would, and keeps them from harm."""
    number = next(NUMBERS)
    match case.method, case.operation.path:
        case "POST", "/api/v1/intents/{intent}/search":
            request = REQUESTS.get(case.path_parameters.get("intent"))
            if request is not None and isinstance(case.body, dict) and number % 4:
                case.body = closer(request, case.body, number)
        case "POST", "/api/v1/business/tier1/manifest/{account_id}":
            if isinstance(case.body, dict) and number % 4:
                case.body = closer(MANIFEST, case.body, number)
        case "POST", "/api/v1/business/tier1/manifest/{account_id}/try":
            if isinstance(case.body, dict) and number % 4:
                case.body = closer(TRIAL, case.body, number)
        case "PUT", "/api/v1/business/tier1/connection/{account_id}":
            if isinstance(case.body, dict):
                case.body = {member: at_home(value) for member, value in case.body.items()}
        case "PUT", "/api/v1/business/tier1/accounts/{account_id}/profile":
            if isinstance(case.body, dict) and "privacy_policy_url" in case.body:
                case.body = {**case.body, "privacy_policy_url": at_home(case.body["privacy_policy_url"])}
        case "POST", "/api/v1/mcp-admin/{id}/test":
            if isinstance(case.body, dict) and number % 4:
                intent = sorted(REQUESTS)[0]
                case.body = closer({"intent": intent, "requests": [REQUESTS[intent]]}, case.body, number)
        case "POST", "/api/v1/admin/contracts":
            if number % 4 == 0:
                # The head of a component is right, and somewhere it breaks off.
                case.body = COMPONENT[: number * COMPONENT_STEP_BYTES % len(COMPONENT)]
        case "DELETE", "/api/v1/admin/intents/{intent}":
            if case.path_parameters.get("intent") in REQUESTS:
                case.path_parameters = {"intent": UNUSED_INTENT}


@schemathesis.hook
def after_call(context, case, response):
    """Counts."""
    if 200 <= response.status_code < 300:
        SUCCESSES[f"{case.method} {case.operation.path}"] += 1


@atexit.register
def tell():
    """Leaves the counts to whoever started this."""
    Path(os.environ["API_FUZZ_SUCCESSES"]).write_text(json.dumps(SUCCESSES, indent=1), "utf-8")


def closer(right, made, number):
    """What is right, or right but for one member."""
    right = copy.deepcopy(right)
    for name in sorted(made)[:1] if number % 2 else []:
        right[name] = made[name]
    return right


def at_home(value):
    """An address that leads nowhere but to the partner; anything else as it is."""
    return PARTNER_URL if isinstance(value, str) and "://" in value else value
