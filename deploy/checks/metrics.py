"""Which metrics there are, read from the code that defines them, and whether the page about them says the same."""

import re
from dataclasses import dataclass

FOLDER = "host/domain/src/telemetry"
TELEMETRY = [f"{FOLDER}/{file}.rs" for file in ["series", "http", "watch"]]
PAGE = "docs/observability.md"
# Of every process, named on the page and set by the library.
PROCESS = "process_"
# Prometheus adds these to each series.
TARGET_LABELS = {"job", "instance"}


@dataclass(frozen=True)
class Metric:
    name: str
    kind: str
    labels: frozenset

    def series(self):
        """The series that it gives, each with its labels."""
        if self.kind != "histogram":
            return {self.name: self.labels}
        return {
            f"{self.name}_bucket": self.labels | {"le"},
            f"{self.name}_sum": self.labels,
            f"{self.name}_count": self.labels,
        }


@dataclass(frozen=True)
class Known:
    """All series by name with their labels, and the ends of the buckets."""

    metrics: tuple
    series: dict
    buckets: frozenset


def read(root):
    text = "".join((root / file).read_text() for file in TELEMETRY)
    names = dict(re.findall(r'const (\w+): &str = "(intent_gateway_\w+)";', text))
    entries = re.findall(
        r"Metric \{\s*name: (\w+),\s*kind: Kind::(\w+),\s*labels: &\[(.*?)\],", text, re.DOTALL
    )
    found = tuple(
        Metric(names[name], kind.lower(), frozenset(re.findall(r'"(\w+)"', labels))) for name, kind, labels in entries
    )
    (count,) = re.findall(r"METRICS: \[Metric; (\d+)\]", text)
    if len(found) != int(count):
        raise SystemExit(f"{len(found)} of {count} metrics were read from {TELEMETRY[0]}: this script reads it no more")
    series = {name: labels | TARGET_LABELS for metric in found for name, labels in metric.series().items()}
    page = (root / PAGE).read_text()
    series |= {name: frozenset(TARGET_LABELS) for name in re.findall(rf"`({PROCESS}\w+)`", page)}
    series["up"] = frozenset(TARGET_LABELS)
    (buckets,) = re.findall(r"BUCKETS_SECONDS: .*?=\s*\[(.*?)\];", text, re.DOTALL)
    ends = frozenset(f"{float(end):g}" for end in buckets.split(",")) | {"+Inf"}
    return Known(found, series, ends)


def compare_with_page(known, root):
    rows = re.findall(r"^\| `(intent_gateway_\w+)` \| (\w+) \|([^|]*)\|", (root / PAGE).read_text(), re.MULTILINE)
    page = {name: (kind, frozenset(re.findall(r"`(\w+)`", labels))) for name, kind, labels in rows}
    code = {metric.name: (metric.kind, metric.labels) for metric in known.metrics}
    problems = [f"{name} is not on the page" for name in sorted(code.keys() - page.keys())]
    problems += [f"{name} is on the page and not in the code" for name in sorted(page.keys() - code.keys())]
    for name in sorted(code.keys() & page.keys()):
        if code[name] != page[name]:
            problems.append(f"{name}: the code has {code[name]}, the page {page[name]}")
    return problems
