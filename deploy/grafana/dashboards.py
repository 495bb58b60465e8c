#!/usr/bin/env python3
"""Makes the dashboards beside it.

    python3 deploy/grafana/dashboards.py            # writes them
    python3 deploy/grafana/dashboards.py --check    # fails where a file is not as it would be written

A board is a list of rows, a row a list of panels. What is bad has a dashed line or a word beside its colour.
"""

import json
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
SOURCE = {"type": "prometheus", "uid": "${source}"}
WIDTH = 24

# What the variables of a board choose among.
JOB = ("job", "Installation", "label_values(intent_gateway_build_info, job)", False)
GATEWAY = ("gateway", "Gateway", 'label_values(intent_gateway_build_info{job="$job"}, instance)', True)
INTENT = ("intent", "Intent", 'label_values(intent_gateway_searches_total{job="$job"}, intent)', True)
PARTNER = ("partner", "Partner", 'label_values(intent_gateway_partner_call_seconds_count{job="$job"}, partner)', True)

HERE = 'job="$job", instance=~"$gateway"'
OF_INTENT = f'{HERE}, intent=~"$intent"'
OF_PARTNER = f'{HERE}, partner=~"$partner"'
SEARCH = 'route="/api/v1/intents/{intent}/search"'
REPORT = 'route="/api/v1/cpc/mcp_provider/{partner_id}"'

YES_NO = {"1": "yes", "0": "NO"}
GREEN_AT_ONE = [("red", None), ("green", 1)]
RED_ABOVE_ZERO = [("green", None), ("red", 1)]


def rate(series, labels, window="$__rate_interval"):
    return f"rate({series}{{{labels}}}[{window}])"


def by(labels, expression):
    return f"sum by ({labels}) ({expression})"


def quantile(share, labels, series, chosen):
    grouped = f"le, {labels}" if labels else "le"
    return f"histogram_quantile({share}, {by(grouped, rate(series + '_bucket', chosen))})"


def steps(thresholds):
    return [{"color": colour, "value": value} for colour, value in thresholds]


def options(value):
    return {"type": "value", "options": {key: {"text": text, "index": n} for n, (key, text) in enumerate(value.items())}}


def targets(queries, table=False):
    made = []
    for number, (legend, query) in enumerate(queries):
        target = {"refId": chr(ord("A") + number), "datasource": SOURCE, "expr": query, "legendFormat": legend}
        made.append(target | ({"instant": True, "format": "table"} if table else {"range": True}))
    return made


def lines(title, unit, description, *queries, width=12, stacked=False, dashed=None, bound=None):
    """Values over time. `dashed` is a pattern of the series that are bad, `bound` a line that should not be crossed."""
    custom = {"lineWidth": 2, "fillOpacity": 20 if stacked else 0, "showPoints": "never"}
    custom["stacking"] = {"mode": "normal" if stacked else "none", "group": "A"}
    defaults = {"unit": unit, "min": 0, "custom": custom}
    if bound is not None:
        custom["thresholdsStyle"] = {"mode": "dashed"}
        defaults["thresholds"] = {"mode": "absolute", "steps": steps([("transparent", None), ("red", bound)])}
    overrides = []
    if dashed:
        style = {"id": "custom.lineStyle", "value": {"fill": "dash", "dash": [10, 10]}}
        overrides = [{"matcher": {"id": "byRegexp", "options": dashed}, "properties": [style]}]
    return {
        "type": "timeseries",
        "title": title,
        "description": description,
        "size": (width, 8),
        "datasource": SOURCE,
        "fieldConfig": {"defaults": defaults, "overrides": overrides},
        "options": {
            "legend": {"displayMode": "table", "placement": "bottom", "calcs": ["mean", "max"]},
            "tooltip": {"mode": "multi", "sort": "desc"},
        },
        "targets": targets(queries),
    }


def number(title, unit, description, query, width=4, thresholds=None, words=None, legend=""):
    """One value, or one for each series, as it is now."""
    defaults = {"unit": unit, "mappings": [options(words)] if words else []}
    defaults["thresholds"] = {"mode": "absolute", "steps": steps(thresholds or [("text", None)])}
    return {
        "type": "stat",
        "title": title,
        "description": description,
        "size": (width, 4),
        "datasource": SOURCE,
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "options": {
            "colorMode": "value",
            "graphMode": "none",
            "textMode": "value_and_name" if legend else "value",
            "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
        },
        "targets": targets([(legend, query)]),
    }


def table(title, unit, description, query, width=12):
    """What is there now, a row for each series."""
    return {
        "type": "table",
        "title": title,
        "description": description,
        "size": (width, 8),
        "datasource": SOURCE,
        "fieldConfig": {"defaults": {"unit": unit}, "overrides": []},
        "options": {"showHeader": True, "sortBy": [{"displayName": "Value", "desc": True}]},
        "transformations": [{"id": "organize", "options": {"excludeByName": {"Time": True}}}],
        "targets": targets([("", query)], table=True),
    }


def alerts(width=12):
    return {
        "type": "alertlist",
        "title": "Alerts that fire",
        "description": "Of this installation, by the rules of deploy/prometheus.",
        "size": (width, 8),
        "datasource": SOURCE,
        "options": {
            "alertInstanceLabelFilter": '{job="$job"}',
            "datasource": "${source}",
            "stateFilter": {"firing": True, "pending": False},
            "viewMode": "list",
        },
    }


OVERVIEW = {
    "Objectives": [
        number("Searches that are not bad, 3 days", "percentunit",
               "Answered with less than 5xx and not refused as OVERLOADED. The objective is 99.9 %.",
               '1 - job:intent_gateway_searches_bad:ratio_rate3d{job="$job"}', thresholds=[("red", None), ("green", 0.999)]),
        number("Searches within 2.5 s, 3 days", "percentunit", "Until the answer begins. The objective is 95 %.",
               '1 - job:intent_gateway_searches_slow:ratio_rate3d{job="$job"}', thresholds=[("red", None), ("green", 0.95)]),
        number("Reports that are not 5xx, 3 days", "percentunit", "Completion reports. The objective is 99.9 %.",
               '1 - job:intent_gateway_reports_bad:ratio_rate3d{job="$job"}', thresholds=[("red", None), ("green", 0.999)]),
        number("Reports within 0.25 s, 3 days", "percentunit", "Completion reports. The objective is 99 %.",
               '1 - job:intent_gateway_reports_slow:ratio_rate3d{job="$job"}', thresholds=[("red", None), ("green", 0.99)]),
        number("Gateways", "none", "That Prometheus can scrape.", 'sum(up{job="$job"})'),
        number("Live intents", "none", "At the gateway that has the fewest.", 'min(intent_gateway_live_intents{job="$job"})',
               thresholds=[("red", None), ("green", 1)]),
        lines("Burn rate of bad searches", "none",
              "How many times faster than allowed the budget of 0.1 % is used up. 1 uses up all of it in 30 days.",
              ("1 hour", 'job:intent_gateway_searches_bad:ratio_rate1h{job="$job"} / 0.001'),
              ("6 hours", 'job:intent_gateway_searches_bad:ratio_rate6h{job="$job"} / 0.001'),
              ("3 days", 'job:intent_gateway_searches_bad:ratio_rate3d{job="$job"} / 0.001'), bound=1),
        lines("Burn rate of slow searches", "none", "The same for the budget of 5 % of searches later than 2.5 s.",
              ("1 hour", 'job:intent_gateway_searches_slow:ratio_rate1h{job="$job"} / 0.05'),
              ("6 hours", 'job:intent_gateway_searches_slow:ratio_rate6h{job="$job"} / 0.05'),
              ("3 days", 'job:intent_gateway_searches_slow:ratio_rate3d{job="$job"} / 0.05'), bound=1),
    ],
    "Now": [
        alerts(),
        table("What /ready shows", "none", "Troubles by gateway and code; empty where all is well.",
              by("instance, code", f"intent_gateway_ready_troubles{{{HERE}}}") + " > 0"),
    ],
    "Traffic": [
        lines("Requests by route", "reqps", "The ten busiest routes.",
              ("{{route}}", f'topk(10, {by("route", rate("intent_gateway_http_request_seconds_count", HERE))})')),
        lines("Answers by status", "reqps", "Requests that are refused before any work are not among them: see the next panel.",
              ("{{status}}", by("status", rate("intent_gateway_http_request_seconds_count", HERE))), dashed="5xx"),
        lines("Refused before any work", "reqps",
              "As OVERLOADED, by lane: traffic, or reserved for health checks and the platform team.",
              ("{{instance}} {{lane}}", by("instance, lane", rate("intent_gateway_requests_shed_total", HERE))), dashed=".*"),
        lines("Requests under way", "none", "At each gateway.",
              ("{{instance}}", f"intent_gateway_http_requests_in_flight{{{HERE}}}")),
    ],
}

SEARCHES = {
    "Searches": [
        lines("Searches by outcome", "reqps", "Those of connection tests included.",
              ("{{outcome}}", by("outcome", rate("intent_gateway_searches_total", OF_INTENT))), stacked=True),
        lines("Searches by intent", "reqps", "All outcomes.",
              ("{{intent}}", by("intent", rate("intent_gateway_searches_total", OF_INTENT)))),
        lines("Share without offers", "percentunit", "Of the searches that were answered, those that found nothing.",
              ("{{intent}}", by("intent", rate("intent_gateway_searches_total", f'{OF_INTENT}, outcome="empty"')) + " / "
               + by("intent", rate("intent_gateway_searches_total", f'{OF_INTENT}, outcome=~"ok|empty"')))),
        lines("Time until a search's answer begins", "s",
              "Of all intents, for the route does not tell them apart. A stream's answer begins at once.",
              *[(f"p{share}", quantile(f"0.{share}", "", "intent_gateway_http_request_seconds", f"{HERE}, {SEARCH}"))
                for share in (50, 95, 99)], bound=2.5),
    ],
    "Stages": [
        lines("p95 by stage", "s", "Calls to partners with their retries and waits; the other stages are the gateway's own.",
              ("{{stage}}", quantile("0.95", "stage", "intent_gateway_stage_seconds", OF_INTENT))),
        lines("p99 of evaluate by intent", "s", "How long a contract takes to rank.",
              ("{{intent}} {{version}}",
               quantile("0.99", "intent, version", "intent_gateway_stage_seconds", f'{OF_INTENT}, stage="evaluate"'))),
        lines("Time spent by stage", "s", "Seconds of each stage for each second that passes: where the work is.",
              ("{{stage}}", by("stage", rate("intent_gateway_stage_seconds_sum", OF_INTENT))), stacked=True),
        lines("p95 of check by intent", "s", "How long a contract takes to check a request.",
              ("{{intent}}", quantile("0.95", "intent", "intent_gateway_stage_seconds", f'{OF_INTENT}, stage="check"'))),
    ],
    "Calls by reference": [
        lines("Calls by tool", "reqps", "Bookings, details, cancellations and the like.",
              ("{{tool}}", by("tool", rate("intent_gateway_tool_calls_total", OF_INTENT)))),
        lines("Calls by outcome", "reqps", "`refused` before the partner was asked; `failed` at the partner or in the contract.",
              ("{{outcome}}", by("outcome", rate("intent_gateway_tool_calls_total", OF_INTENT))), dashed="failed"),
    ],
}

FAILED = "timeout|unreachable|address_refused|redirect|http_status|unauthorized|too_large|protocol|payload|forbidden_field"

PARTNERS = {
    "Calls on the wire": [
        lines("Calls", "reqps", "Each retry is a call of its own; an answer that is served again is none.",
              ("{{partner}}", by("partner", rate("intent_gateway_partner_call_seconds_count", OF_PARTNER)))),
        lines("Share that failed", "percentunit", "By outcomes that are the server's doing.",
              ("{{partner}}", by("partner", rate("intent_gateway_partner_call_seconds_count", f'{OF_PARTNER}, outcome=~"{FAILED}"'))
               + " / " + by("partner", rate("intent_gateway_partner_call_seconds_count", OF_PARTNER))), bound=0.2),
        lines("p95 by partner", "s", "Of calls that went well and of those that did not, connecting included.",
              ("{{partner}}", quantile("0.95", "partner", "intent_gateway_partner_call_seconds", OF_PARTNER))),
        lines("Outcomes", "reqps", "What became of the calls, other than ok.",
              ("{{partner}} {{outcome}}",
               by("partner, outcome", rate("intent_gateway_partner_call_seconds_count", f'{OF_PARTNER}, outcome!="ok"')))),
    ],
    "Tools": [
        lines("p95 by tool", "s", "To hold against the contract's targets: `intent-gateway partner health`.",
              ("{{partner}} {{tool}}", quantile("0.95", "partner, tool", "intent_gateway_partner_call_seconds", OF_PARTNER))),
        lines("Scanning", "s", "p99 of taking a partner's payload apart: large answers take long.",
              ("{{partner}}",
               quantile("0.99", "partner", "intent_gateway_stage_seconds", f'{OF_PARTNER}, stage="scan"'))),
    ],
    "Health": [
        lines("Changes", "none",
              "Within the interval, by partner. Which partners are out now no metric tells: `intent-gateway partner health` does.",
              ("{{partner}} {{change}}",
               by("partner, change", f"increase(intent_gateway_partner_health_changes_total{{{OF_PARTNER}}}[$__rate_interval])")),
              dashed=".*(opened|ejected|struck_out)"),
        table("Changes in the time shown", "none", "How often each happened.",
              by("partner, change", f"increase(intent_gateway_partner_health_changes_total{{{OF_PARTNER}}}[$__range])") + " > 0"),
    ],
}

CONTRACTS = {
    "Contracts": [
        number("Live intents", "none", "At each gateway. They should be the same.",
               f"intent_gateway_live_intents{{{HERE}}}", width=8, legend="{{instance}}"),
        number("Missing intents", "none", "That should be live at a gateway and are not.",
               f'intent_gateway_ready_troubles{{{HERE}, code="INTENT_MISSING"}}', width=8, thresholds=RED_ABOVE_ZERO,
               legend="{{instance}}"),
        number("Release", "none", "Of the gateways.", by("version", f"intent_gateway_build_info{{{HERE}}}"), width=8,
               legend="{{version}}"),
        lines("Faults", "none", "Calls that failed within the interval, by version and code. OVERLOADED is not the contract's doing.",
              ("{{intent}} {{version}} {{code}}",
               by("intent, version, code", f"increase(intent_gateway_contract_faults_total{{{OF_INTENT}}}[$__rate_interval])"))),
        lines("Rankings by version", "reqps", "Which versions serve; in a rollout two of an intent do.",
              ("{{intent}} {{version}}",
               by("intent, version", rate("intent_gateway_stage_seconds_count", f'{OF_INTENT}, stage="evaluate"')))),
    ],
    "Rollouts": [
        lines("Comparisons under a candidate", "none", "Within the interval. Left out: there was too much to do.",
              ("{{intent}} {{outcome}}",
               by("intent, outcome", f"increase(intent_gateway_rollout_comparisons_total{{{OF_INTENT}}}[$__rate_interval])")),
              dashed=".*left_out"),
        lines("From a change until it serves", "s", "p95 of the time until a version served at each gateway since that was decided.",
              ("{{instance}}", quantile("0.95", "instance", "intent_gateway_contract_flip_seconds", HERE))),
        lines("Making a version ready", "s", "p95 by outcome: fetching, compiling, trying its examples.",
              ("{{outcome}}", quantile("0.95", "outcome", "intent_gateway_contract_staging_seconds", HERE)), dashed="failed"),
        lines("Versions made ready", "none", "Within the interval.",
              ("{{instance}} {{outcome}}",
               by("instance, outcome", f"increase(intent_gateway_contract_staging_seconds_count{{{HERE}}}[$__rate_interval])")),
              dashed=".*failed"),
    ],
}

REPORTS = {
    "Completion reports": [
        lines("Reports by outcome", "reqps", "`repeat`: the same report came again. `signature`: no valid key, or out of the window.",
              ("{{outcome}}", by("outcome", rate("intent_gateway_completions_total", HERE))),
              dashed="conflict|signature|refused|unknown_intent|failed"),
        lines("Booked by intent", "reqps", "Now or before.",
              ("{{intent}}", by("intent", rate("intent_gateway_completions_total", f'{HERE}, outcome=~"booked|repeat"')))),
        lines("Time of an answer", "s", "A report is answered when its entry is on the disk.",
              *[(f"p{share}", quantile(f"0.{share}", "", "intent_gateway_http_request_seconds", f"{HERE}, {REPORT}"))
                for share in (50, 95, 99)], bound=0.25),
        lines("Reports that wait", "none", "In the queues of look-ups and bookings; each holds 4,096.",
              ("{{instance}} {{queue}}", f'intent_gateway_queue_length{{{HERE}, queue=~"look-ups|bookings"}}')),
    ],
    "Ledger and orders": [
        number("Ledger's chain is sound", "none", "At the last check of each gateway.",
               f'min by (instance) (intent_gateway_chain_sound{{{HERE}, chain="ledger"}})', width=6, thresholds=GREEN_AT_ONE,
               words=YES_NO, legend="{{instance}}"),
        number("Audit log's chain is sound", "none", "At the last check of each gateway.",
               f'min by (instance) (intent_gateway_chain_sound{{{HERE}, chain="audit"}})', width=6, thresholds=GREEN_AT_ONE,
               words=YES_NO, legend="{{instance}}"),
        number("Last entry", "none", "Number of the entry that was booked last by a process that runs.",
               f"max(intent_gateway_ledger_last_entry{{{HERE}}})", width=6),
        number("Commission on overdue orders", "currencyINR", "At most. Of the gateway that has the duty.",
               'max(intent_gateway_orders_overdue_commission_paise{job="$job"} and on (instance) '
               'intent_gateway_duty_held{job="$job", duty="unreported-orders"} == 1) / 100', width=6),
        lines("Overdue orders, and orders in doubt", "none",
              "As the gateway with the duty saw them at its hourly look. In doubt: nobody knows whether the partner has them.",
              *[(legend, f'max({series}{{job="$job"}} and on (instance) '
                 'intent_gateway_duty_held{job="$job", duty="unreported-orders"} == 1)')
                for legend, series in (("overdue", "intent_gateway_orders_overdue"), ("in doubt", "intent_gateway_orders_in_doubt"))],
              dashed="in doubt"),
        lines("Entries booked", "none", "Within the interval: how much the ledger grows.",
              ("booked", f'sum(increase(intent_gateway_completions_total{{{HERE}, outcome="booked"}}[$__rate_interval]))')),
    ],
}

STORE = {
    "Store": [
        number("Store is up", "none", "It could be read and written at the last look.", f"intent_gateway_store_available{{{HERE}}}",
               width=8, thresholds=GREEN_AT_ONE, words=YES_NO, legend="{{instance}}"),
        number("Since the last good check", "s", "Of everything in the store, at any gateway.",
               'time() - max(intent_gateway_store_check_last_good_timestamp_seconds{job="$job"})', width=8,
               thresholds=[("green", None), ("red", 172800)]),
        number("Problems in the store", "none", "At the last check of each gateway.", f"intent_gateway_store_check_problems{{{HERE}}}",
               width=8, thresholds=RED_ABOVE_ZERO, legend="{{instance}}"),
        lines("What waits for the store", "none", "Findings and receipts (journal), reports, and bookings of before an outage.",
              ("{{instance}} {{queue}}", f"intent_gateway_queue_length{{{HERE}}}")),
        lines("Findings and receipts that are gone", "none", "Within the interval: lost, or not kept because the disk is nearly full.",
              ("{{instance}} lost", by("instance", f"increase(intent_gateway_journal_lost_total{{{HERE}}}[$__rate_interval])")),
              ("{{instance}} {{what}} not kept",
               by("instance, what", f"increase(intent_gateway_journal_not_kept_total{{{HERE}}}[$__rate_interval])")),
              dashed=".*lost"),
        lines("Room of the store", "bytes", "Receipts, and the database without them.",
              ("{{part}}", f"max by (part) (intent_gateway_store_bytes{{{HERE}}})"), stacked=True),
        lines("Free room", "bytes", "Where the state folder is, and where the SQLite file is.",
              ("{{instance}} {{place}}", f"intent_gateway_disk_free_bytes{{{HERE}}}")),
        lines("Receipts thinned", "none", "Within the interval; see evidence.thin_receipts_to_one_in.",
              ("{{instance}}", by("instance", f"increase(intent_gateway_receipts_thinned_total{{{HERE}}}[$__rate_interval])"))),
        lines("Users' calls counted alone", "none", "Within the interval: the store did not count them in time.",
              ("{{instance}}", by("instance", f"increase(intent_gateway_unshared_calls_total{{{HERE}}}[$__rate_interval])")),
              dashed=".*"),
    ],
    "Work in the background": [
        table("Work that is not in order", "none", "By gateway and task; empty where all is well.",
              f"intent_gateway_task_in_order{{{HERE}}} == 0"),
        table("Duties", "none", "Which gateway does what one does for all.", f"intent_gateway_duty_held{{{HERE}}} == 1"),
        lines("Gateways that live", "none", "By the leases, as each gateway last heard.",
              ("{{instance}}", f"intent_gateway_gateways_live{{{HERE}}}")),
        lines("Panics", "none", "Within the interval. Anything above zero is a defect.",
              ("{{instance}} {{task}}", by("instance, task", f"increase(intent_gateway_task_panics_total{{{HERE}}}[$__rate_interval])")),
              dashed=".*"),
    ],
    "Process and clock": [
        lines("Processors", "none", "Seconds of a processor for each second.",
              ("{{instance}}", rate("process_cpu_seconds_total", HERE))),
        lines("Memory", "bytes", "Resident. Compiled contracts that nobody calls are given back.",
              ("{{instance}}", f"process_resident_memory_bytes{{{HERE}}}")),
        lines("Open files", "none", "Connections, and the code of contracts that are ready.",
              ("{{instance}} open", f"process_open_fds{{{HERE}}}"), ("{{instance}} at most", f"process_max_fds{{{HERE}}}"),
              dashed=".*at most"),
        lines("Waiting until a request is begun", "s", "p99 of those that had to wait.",
              ("{{instance}}", quantile("0.99", "instance", "intent_gateway_admission_wait_seconds", HERE))),
        lines("Clocks", "s", "By how much another clock differs from the machine's; its sign is left out.",
              ("{{instance}} {{clock}}", f"abs(intent_gateway_clock_offset_seconds{{{HERE}}})"), bound=30),
        lines("Times that the clock was set", "none", "Within the interval.",
              ("{{instance}}", by("instance", f"increase(intent_gateway_clock_jumps_total{{{HERE}}}[$__rate_interval])")), dashed=".*"),
    ],
}

BOARDS = {
    "overview": ("Overview and objectives", [JOB, GATEWAY], OVERVIEW),
    "searches": ("Searches by intent and stage", [JOB, GATEWAY, INTENT], SEARCHES),
    "partners": ("Partners", [JOB, GATEWAY, PARTNER], PARTNERS),
    "contracts": ("Contracts and rollouts", [JOB, GATEWAY, INTENT], CONTRACTS),
    "reports": ("Reports and ledger", [JOB, GATEWAY], REPORTS),
    "store": ("Store and machine", [JOB, GATEWAY], STORE),
}


def variable(name, label, query, several):
    all_of_them = {"text": ["All"], "value": ["$__all"]}
    return {
        "type": "query",
        "name": name,
        "label": label,
        "datasource": SOURCE,
        "definition": query,
        "query": {"query": query, "refId": name},
        "refresh": 2,
        "sort": 1,
        "multi": several,
        "includeAll": several,
        "current": all_of_them if several else {},
    }


def place(rows):
    """The panels with identifiers and places, row below row."""
    placed, y = [], 0
    for title, panels in rows.items():
        placed.append({"type": "row", "title": title, "id": len(placed) + 1, "collapsed": False, "panels": [],
                       "gridPos": {"x": 0, "y": y, "w": WIDTH, "h": 1}})
        y += 1
        x, height = 0, 0
        for panel in panels:
            width, high = panel["size"]
            if x + width > WIDTH:
                x, y, height = 0, y + height, 0
            rest = {key: value for key, value in panel.items() if key != "size"}
            placed.append(rest | {"id": len(placed) + 1, "gridPos": {"x": x, "y": y, "w": width, "h": high}})
            x, height = x + width, max(height, high)
        y += height
    return placed


def board(name):
    title, variables, rows = BOARDS[name]
    source = {"type": "datasource", "name": "source", "label": "Prometheus", "query": "prometheus", "current": {}}
    link = {"type": "dashboards", "title": "intent-gateway", "tags": ["intent-gateway"], "asDropdown": True, "keepTime": True,
            "includeVars": True}
    return {
        "uid": f"intent-gateway-{name}",
        "title": f"intent-gateway: {title}",
        "tags": ["intent-gateway"],
        "schemaVersion": 39,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "timezone": "browser",
        "links": [link],
        "annotations": {"list": [{
            "name": "Starts of gateways",
            "datasource": SOURCE,
            "enable": True,
            "iconColor": "blue",
            "expr": 'changes(process_start_time_seconds{job="$job"}[2m]) > 0',
            "titleFormat": "{{instance}} started",
        }]},
        "templating": {"list": [source, *[variable(*given) for given in variables]]},
        "panels": place(rows),
    }


def main():
    wrong = []
    for name in BOARDS:
        file = FOLDER / f"{name}.json"
        text = json.dumps(board(name), indent=1, ensure_ascii=False) + "\n"
        if "--check" not in sys.argv[1:]:
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            wrong.append(file.name)
    wrong += [file.name for file in FOLDER.glob("*.json") if file.stem not in BOARDS]
    if wrong:
        sys.exit(f"not as dashboards.py makes them: {', '.join(sorted(wrong))}")


if __name__ == "__main__":
    main()
