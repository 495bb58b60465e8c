"""Recording and alert rules."""

import re
from dataclasses import dataclass, field

from . import promql

SEVERITIES = {"critical", "warning", "info"}


@dataclass
class Rule:
    file: str
    kind: str
    name: str
    expr: str = ""
    texts: dict = field(default_factory=dict)

    def where(self):
        return f"{self.file}: {self.name}"


def read(path):
    """The rules of a file. Reads the YAML that stands there, and not any YAML: one key a line, blocks after `|`."""
    found, block = [], None
    for line in path.read_text().splitlines():
        bare = line.strip()
        indent = len(line) - len(line.lstrip())
        if block is not None:
            if bare and indent <= block:
                block = None
            else:
                found[-1].expr += bare + "\n"
                continue
        if bare.startswith("#"):
            continue
        if started := re.match(r"- (alert|record): (\S+)$", bare):
            found.append(Rule(path.name, *started.groups()))
        elif bare == "expr: |":
            block = indent
        elif bare.startswith("expr: "):
            found[-1].expr = bare.removeprefix("expr: ")
        elif labels := re.match(r"labels: \{(.*)\}$", bare):
            found[-1].texts |= dict(re.findall(r"(\w+): ([^,\s]+)", labels[1]))
        elif text := re.match(r"(summary|description|runbook_url): (.*)$", bare):
            found[-1].texts[text[1]] = text[2].strip('"')
    return found


def kebab(name):
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()


def recorded(rules):
    """Series that rules record. By custom, a name begins with the labels that are left."""
    names = [rule.name for rule in rules if rule.kind == "record"]
    return {name: frozenset(name.split(":")[0].split("_")) for name in names}


def check(rules, known, root):
    series = known.series | recorded(rules)
    problems = []
    for rule in rules:
        if not rule.expr.strip():
            problems.append(f"{rule.where()}: it has no expression")
        problems += promql.check(rule.where(), rule.expr, series, known, root)
        if rule.kind != "alert":
            continue
        for text in ("summary", "description", "runbook_url", "severity"):
            if not rule.texts.get(text):
                problems.append(f"{rule.where()}: it has no {text}")
        if rule.texts.get("severity") not in SEVERITIES:
            problems.append(f"{rule.where()}: severity is one of {sorted(SEVERITIES)}")
        if not rule.texts.get("runbook_url", "").endswith(f"/runbooks/{kebab(rule.name)}.html"):
            problems.append(f"{rule.where()}: runbook_url does not end with runbooks/{kebab(rule.name)}.html")
    return problems


def check_tests(rules, files):
    """Each alert is expected by some test. That it is also quiet is in the tests in which all is well."""
    texts = "".join(file.read_text() for file in files)
    tried = set(re.findall(r"alertname=\"(\w+)\"", texts)) | set(re.findall(r"alertname: (\w+)", texts))
    alerts = {rule.name for rule in rules if rule.kind == "alert"}
    problems = [f"no test expects {name}" for name in sorted(alerts - tried)]
    return problems + [f"a test expects {name}, which is no alert" for name in sorted(tried - alerts)]
