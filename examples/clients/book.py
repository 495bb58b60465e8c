"""Routes an utterance, searches, and books the best option: `python3 book.py "my car's AC blows warm air"`.

INTENT_GATEWAY_URL and INTENT_GATEWAY_TOKEN say where and as whom.
"""

import os
import sys

from intent_gateway_client import Gateway, Refused, models

USER = "user-17"


def book(gateway: Gateway, utterance: str) -> None:
    intent = gateway.orchestrator.classify({"utterance": utterance})["intent"]
    if intent is None:
        sys.exit("nobody serves that")
    print(intent)

    details = {
        "vehicle": {"type": "car", "year_of_manufacture": 2019, "ac_system_type": "automatic"},
        "ac_issue": {"category": "not_cooling", "user_description": utterance, "last_serviced_months_ago": 14},
    }
    request = {
        "intent": intent,
        **details,
        "user_location": {"lat": 12.9716, "lng": 77.5946, "max_radius_km": 25, "city": "Bengaluru"},
        "service_preferences": {"doorstep_acceptable": True},
        "ttbs_user_band": {"budget": "good"},
    }
    options = gateway.orchestrator.search(intent, request, user=USER)["options"]
    if not options:
        sys.exit("nobody has anything to offer")
    print(f"{len(options)} options; best: {options[0]['card']['header']}")

    arguments = {**details, "contact_phone": "+919876543210"}
    booking: models.ToolRequest = {"reference": options[0]["reference"], "arguments": arguments}
    order = gateway.orchestrator.call_once(intent, "create_ac_service_booking", booking, user=USER)["order"]
    if order:
        print(f"{order['id']} is {order['state']}")


def main() -> None:
    [utterance] = sys.argv[1:]
    with Gateway(os.environ["INTENT_GATEWAY_URL"], token=os.environ["INTENT_GATEWAY_TOKEN"]) as gateway:
        try:
            book(gateway, utterance)
        except Refused as error:
            problems = [f"\n  {one['pointer']}: {one['message']}" for one in error.violations]
            sys.exit(f"refused: {error.code}, request {error.request_id}{''.join(problems)}")


if __name__ == "__main__":
    main()
