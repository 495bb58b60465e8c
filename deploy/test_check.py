"""The checks find what they are for: run with python3 -m unittest discover --start-directory deploy."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from checks import books, dashboards, metrics, promql, rules, runbooks  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
KNOWN = metrics.read(ROOT)

RULES = """\
groups:
  - name: some
    rules:
      - record: job:intent_gateway_some:rate5m
        expr: sum by (job) (rate(intent_gateway_searches_total[5m]))
      - alert: GatewaySomething
        expr: |
          job:intent_gateway_some:rate5m > 1
          and on (job) intent_gateway_store_available == 0
        for: 5m
        labels: { severity: critical }
        annotations:
          summary: "Something ({{ $labels.job }})"
          description: "Something is wrong."
          runbook_url: https://docs.gateway.example/runbooks/gateway-something.html
"""


def problems(query):
    return promql.check("here", query, KNOWN.series, KNOWN, ROOT)


def read_rules(text):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "some.yaml"
        file.write_text(text)
        return rules.read(file)


class Queries(unittest.TestCase):
    def test_what_exists_passes(self):
        for query in [
            'sum by (intent) (rate(intent_gateway_searches_total{outcome=~"ok|empty"}[5m] offset 1h)) / 2 > bool 0.5',
            'histogram_quantile(0.99, sum by (le, partner) (rate(intent_gateway_stage_seconds_bucket{stage="call"}[5m])))',
            'intent_gateway_http_request_seconds_bucket{route="/api/v1/intents/{intent}/search", status="5xx", le="2.5"}',
            "process_open_fds / process_max_fds and on (job, instance) intent_gateway_build_info",
            'intent_gateway_partner_health_changes_total{change="struck_out", job="any"} unless up == Inf',
        ]:
            self.assertEqual(problems(query), [], query)

    def test_what_does_not_exist_is_named(self):
        for query, what in [
            ("rate(intent_gateway_search_total[5m])", "no series intent_gateway_search_total"),
            ("intent_gateway_stage_seconds", "no series intent_gateway_stage_seconds"),
            ("intent_gateway_searches_total_bucket", "no series"),
            ('intent_gateway_searches_total{partner="x"}', "no label partner"),
            ("sum by (tool) (intent_gateway_searches_total)", "the label tool"),
            ('intent_gateway_searches_total{outcome=~"ok|fine enough"}', "never 'fine enough'"),
            ('intent_gateway_admission_wait_seconds_bucket{le="3"}', "never '3'"),
            ('intent_gateway_http_request_seconds_count{route="/api/v1/search"}', "never '/api/v1/search'"),
            ('intent_gateway_http_request_seconds_count{status="500"}', "never '500'"),
            ("up unless on (job) intent_gateway_nothing", "no series intent_gateway_nothing"),
        ]:
            self.assertTrue(any(what in problem for problem in problems(query)), f"{query}: {problems(query)}")


class Rules(unittest.TestCase):
    def test_rules_are_read_and_pass(self):
        found = read_rules(RULES)
        self.assertEqual([(rule.kind, rule.name) for rule in found], [("record", "job:intent_gateway_some:rate5m"), ("alert", "GatewaySomething")])
        self.assertEqual(rules.check(found, KNOWN, ROOT), [])

    def test_what_is_missing_is_named(self):
        for before, after, what in [
            ("intent_gateway_store_available", "intent_gateway_store_there", "no series"),
            ("severity: critical", "severity: high", "severity is one of"),
            ("          description: \"Something is wrong.\"\n", "", "no description"),
            ("gateway-something.html", "something.html", "runbook_url does not end"),
            ("job:intent_gateway_some:rate5m > 1", "job:intent_gateway_other:rate5m > 1", "no series"),
        ]:
            found = rules.check(read_rules(RULES.replace(before, after)), KNOWN, ROOT)
            self.assertTrue(any(what in problem for problem in found), f"{after}: {found}")

    def test_an_alert_wants_a_test_and_a_runbook(self):
        found = read_rules(RULES)
        self.assertEqual(rules.check_tests(found, []), ["no test expects GatewaySomething"])
        with tempfile.TemporaryDirectory() as folder:
            pages = Path(folder) / "docs/runbooks"
            pages.mkdir(parents=True)
            self.assertIn("GatewaySomething has no page", runbooks.check(found, KNOWN.series, Path(folder))[0])
            (pages / "gateway-else.md").write_text("# GatewayElse\n")
            self.assertTrue(any("gateway-else.md is for no alert" in one for one in runbooks.check(found, KNOWN.series, Path(folder))))


class Dashboards(unittest.TestCase):
    RECORDED = [rule for file in (ROOT / "deploy/prometheus/rules").glob("*.yaml") for rule in rules.read(file)]

    def problems(self, change):
        boards = dashboards.read(ROOT)
        change(boards["searches.json"]["panels"][1])
        return dashboards.check(boards, self.RECORDED, KNOWN, ROOT)

    def test_what_exists_passes(self):
        self.assertEqual(self.problems(lambda panel: None), [])

    def test_what_is_wrong_is_named(self):
        def query(text):
            return lambda panel: panel["targets"][0].update(expr=text)

        for change, what in [
            (query("rate(intent_gateway_search_total[5m])"), "no series intent_gateway_search_total"),
            (query('intent_gateway_searches_total{intent=~"$intents"}'), "no variable $intents"),
            (lambda panel: panel.update(description=""), "no description"),
            (lambda panel: panel["fieldConfig"]["defaults"].pop("unit"), "no unit"),
        ]:
            found = self.problems(change)
            self.assertTrue(any(what in problem for problem in found), f"{what}: {found}")


class Books(unittest.TestCase):
    def test_pages_and_links_that_are_missing_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            docs = Path(folder) / "docs"
            docs.mkdir()
            (docs / "SUMMARY.md").write_text("# Summary\n\n- [One](one.md)\n")
            (docs / "one.md").write_text("# One\n\n## What it is, at all\n\n[a](#what-it-is-at-all) [b](#nowhere) [c](gone.md)\n\n`[d](e)`\n")
            (docs / "two.md").write_text("# Two\n")
            self.assertEqual(
                books.check(Path(folder)),
                ["docs/SUMMARY.md does not list two.md", "docs/one.md: #nowhere leads to no heading", "docs/one.md: gone.md leads nowhere"],
            )


if __name__ == "__main__":
    unittest.main()
