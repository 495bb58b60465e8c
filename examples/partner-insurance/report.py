"""Prints the body of the completion report for an issued policy, unsigned.

    python report.py --quote quote.json --policy policy.json --request-id req_1

`quote.json` holds the quote as the search answered it, `policy.json` the answer of issue_policy.
The request is that of the search, not of the call that issued: by it the platform finds the quote.
How a body is signed and posted is shown in examples/signing.
"""

from __future__ import annotations

import argparse
import json
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from broker.catalogue import TOOLS, Catalogue, CatalogueError

PAISE = 100


class ReportError(Exception):
    """A report that cannot be made of what was given."""


def completion_report(
    catalogue: Catalogue,
    quote: dict[str, Any],
    policy: dict[str, Any],
    request_id: str,
    closed_at: datetime,
) -> dict[str, Any]:
    """The report's body (spec 2, Events).

    `amount_inr` is the broker's commission, without tax and never the premium. The premium is
    passed on to the insurer: what the customer paid, a bundle's years at once.
    """
    insurer = quote["insurer"]
    if (insurer["insurer_id"], insurer["product_uin"], quote["policy_type"]) != (
        policy["insurer_id"],
        policy["product_uin"],
        policy["policy_type"],
    ):
        raise ReportError("the policy is not of that quote")
    if closed_at.tzinfo is None:
        raise ReportError("closed_at carries its offset")
    commission_paise = _commission_paise(catalogue, quote["premium_breakdown"])
    gst_paise = (commission_paise * catalogue.rules["gst_percent"] + 50) // 100
    return {
        "intent": TOOLS["intent"],
        "external_id": policy["policy_id"],
        "request_id": request_id,
        "amount_inr": commission_paise / PAISE,
        "gst_inr": gst_paise / PAISE,
        "tips_inr": 0,
        "pass_through_inr": policy["total_paid_inr"],
        "closed_at": closed_at.astimezone(catalogue.zone).isoformat(timespec="seconds"),
        "status": "completed",
        "insurer_id": policy["insurer_id"],
        "product_uin": policy["product_uin"],
        "policy_type": policy["policy_type"],
        "long_term_tp_years": quote["long_term_tp_years"],
        "addons_count": len(quote["addons_included"]),
    }


def _commission_paise(catalogue: Catalogue, premium: dict[str, int]) -> int:
    """The broker's share of the premium without tax, in whole paise, rounded half up."""
    shares = catalogue.desk["commission_permille"]
    own_damage_inr = (
        premium["own_damage_premium_inr"]
        + premium["addons_premium_inr"]
        - premium["ncb_discount_inr"]
        - premium["other_discount_inr"]
    )
    third_party_inr = premium["third_party_premium_inr"] + premium["long_term_tp_premium_inr"]
    permille = own_damage_inr * shares["own_damage"] + third_party_inr * shares["third_party"]
    return (permille * PAISE + 500) // 1000


def main() -> int:
    """Reads the two files and prints the body."""
    parser = argparse.ArgumentParser(description="Prints a completion report's body.")
    parser.add_argument("--quote", type=Path, required=True, help="the quote, as JSON")
    parser.add_argument("--policy", type=Path, required=True, help="the issued policy, as JSON")
    parser.add_argument("--request-id", required=True, help="request_id of the search")
    parser.add_argument(
        "--closed-at",
        type=datetime.fromisoformat,
        default=datetime.now(timezone.utc),
        help="when it closed, with offset (default: now)",
    )
    options = parser.parse_args()
    try:
        quote = json.loads(options.quote.read_text("utf-8"))
        policy = json.loads(options.policy.read_text("utf-8"))
        report = completion_report(
            Catalogue.load(), quote, policy, options.request_id, options.closed_at
        )
    except KeyError as error:
        print(f"error: there is no member {error}", file=sys.stderr)
        return 1
    except (OSError, ValueError, CatalogueError, ReportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(json.dumps(report, ensure_ascii=False, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
