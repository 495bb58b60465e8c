"""What schemathesis cannot know of the API: a request that a contract accepts, and what a component looks like.

Cases come one after the other, so what is done to them depends on their number, and a seed gives the same run.
"""

import copy
import itertools
import json
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

# Taking a live intent out of service would leave nothing to fuzz.
UNUSED_INTENT = "auto.nobody_needs_this"
NUMBERS = itertools.count()


@schemathesis.hook
def before_call(context, case, kwargs):
    """Makes cases of some operations reach further than invention would, and keeps one from ending it all."""
    operation = (case.method, case.operation.path)
    number = next(NUMBERS)
    if operation == ("POST", "/api/v1/intents/{intent}/search"):
        request = REQUESTS.get(case.path_parameters.get("intent"))
        if request is not None and isinstance(case.body, dict) and number % 4:
            case.body = closer(request, case.body, number)
    elif operation == ("POST", "/api/v1/admin/contracts") and number % 4 == 0:
        # The head of a component is right, and somewhere it breaks off.
        case.body = COMPONENT[: number * COMPONENT_STEP_BYTES % len(COMPONENT)]
    elif operation == ("DELETE", "/api/v1/admin/intents/{intent}") and case.path_parameters.get("intent") in REQUESTS:
        case.path_parameters = {"intent": UNUSED_INTENT}


def closer(request, made, number):
    """A request that is right, or right but for one member."""
    request = copy.deepcopy(request)
    for name in sorted(made)[:1] if number % 2 else []:
        request[name] = made[name]
    return request
