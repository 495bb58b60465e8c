#!/usr/bin/env python3
"""Checks that what is deployed speaks of things that exist.

    python3 deploy/check.py            # everything that needs no other program, and promtool where it is installed
    python3 deploy/check.py --strict   # a missing promtool is a failure

Names and labels of metrics are read from host/domain/src/telemetry. Needs Python 3.11 or later, and nothing else.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from checks import blocks, books, dashboards, metrics, rules, runbooks  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent


def promtool(arguments):
    """Runs promtool; what it said where it refused, else nothing."""
    done = subprocess.run(["promtool", *arguments], capture_output=True, text=True, check=False)
    return [] if done.returncode == 0 else [(done.stdout + done.stderr).strip()]


def parses(queries):
    """What promtool says of queries, as rules of a file that is not kept."""
    lines = ["groups:", "  - name: queries", "    rules:"]
    for number, query in enumerate(queries):
        lines += [f"      - record: query:number{number}", "        expr: |"]
        lines += [f"          {line}" for line in query.splitlines()]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write("\n".join(lines) + "\n")
        file.flush()
        return promtool(["check", "rules", file.name])


def main():
    # The variable is that of `cargo xtask test`.
    strict = "--strict" in sys.argv[1:] or os.environ.get("INTENT_GATEWAY_TEST_PROMTOOL") == "required"
    known = metrics.read(ROOT)
    rule_files = sorted((ROOT / "deploy/prometheus/rules").glob("*.yaml"))
    test_files = sorted((ROOT / "deploy/prometheus/tests").glob("*.yaml"))
    all_rules = [rule for file in rule_files for rule in rules.read(file)]
    boards = dashboards.read(ROOT)

    checks = [
        ("docs/observability.md has the metrics of the code", metrics.compare_with_page(known, ROOT)),
        ("rules name what exists", rules.check(all_rules, known, ROOT)),
        ("every alert is tried", rules.check_tests(all_rules, test_files)),
        ("every alert has a runbook, and every runbook an alert", runbooks.check(all_rules, known.series | rules.recorded(all_rules), ROOT)),
        ("dashboards name what exists", dashboards.check(boards, all_rules, known, ROOT)),
        ("dashboards are as dashboards.py makes them", dashboards.check_made(ROOT)),
        ("every page is in the book, and links lead somewhere", books.check(ROOT)),
        ("code of the pages is what it says it is", blocks.check(ROOT)),
    ]
    if shutil.which("promtool"):
        names = [str(file) for file in rule_files]
        checks += [
            ("promtool check rules", promtool(["check", "rules", *names])),
            ("promtool parses the queries of the dashboards", parses(dashboards.queries(boards))),
            ("promtool test rules", promtool(["test", "rules", *[str(file) for file in test_files]])),
        ]
    elif strict:
        checks.append(("promtool is installed", ["it is not: apt-get install prometheus"]))
    else:
        print("skipped: promtool is not installed (apt-get install prometheus)")

    failed = 0
    for title, problems in checks:
        print(f"{'FAILED' if problems else 'ok':6} {title}")
        for problem in problems:
            print(f"       {problem}")
        failed += bool(problems)
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
