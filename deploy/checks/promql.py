"""As much of PromQL as it takes to see which series, labels and values a query names. promtool parses it in earnest."""

import json
import re
from functools import lru_cache

WORDS = {"and", "or", "unless", "bool", "offset", "by", "without", "on", "ignoring", "group_left", "group_right"}
GROUPING = r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^()]*)\)"
SELECTOR = r"([a-zA-Z_:][a-zA-Z0-9_:]*)\s*\{((?:[^{}\"]|\"(?:[^\"\\]|\\.)*\")*)\}"
MATCHER = r"(\w+)\s*(=~|!~|!=|=)\s*\"((?:[^\"\\]|\\.)*)\""


def names(query):
    """Which series are named, which labels are matched with which values, and by which labels is grouped."""
    groups = {label for part in re.findall(GROUPING, query) for label in re.findall(r"\w+", part)}
    bare = re.sub(GROUPING, " ", query)
    matched = []
    for series, inside in re.findall(SELECTOR, bare):
        for label, operator, value in re.findall(MATCHER, inside):
            values = value.split("|") if "~" in operator else [value]
            matched.append((series, label, values))
    bare = re.sub(SELECTOR, r"\1 ", bare)
    bare = re.sub(r"\[[^\]]*\]", " ", bare)
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', " ", bare)
    bare = re.sub(r"\boffset\s+-?\w+", " ", bare)
    found = set()
    for match in re.finditer(r"(?<![\w.:$])([a-zA-Z_:][a-zA-Z0-9_:]*)(\s*\()?", bare):
        name, call = match.groups()
        if not call and name not in WORDS and not re.fullmatch(r"(?i)inf|nan", name):
            found.add(name)
    return found, matched, groups


@lru_cache(maxsize=1)
def literals(root):
    """Every text in the code of the host: labels have their values from there."""
    found = set()
    for file in (root / "host").rglob("*.rs"):
        found.update(re.findall(r'"([^"\\\n]{1,60})"', file.read_text()))
    # `health.opened` of the audit log is `opened` in a label.
    found.update(text.rpartition(".")[2] for text in list(found))
    return found


@lru_cache(maxsize=1)
def routes(root):
    return frozenset(json.loads((root / "docs/openapi.json").read_text())["paths"])


def check(where, query, series, known, root):
    """What is wrong with the names in a query. `series` has all that may be named, recorded ones included."""
    problems = []
    named, matched, groups = names(query)
    for name in sorted(named):
        if name not in series:
            problems.append(f"{where}: there is no series {name}")
    have = set().union(*(series.get(name, frozenset()) for name in named)) if named else set()
    for label in sorted(groups - have):
        problems.append(f"{where}: none of its series has the label {label}")
    for name, label, values in matched:
        labels = series.get(name)
        if labels is not None and label not in labels:
            problems.append(f"{where}: {name} has no label {label}")
        for value in values:
            # A variable of a dashboard, or anything at all.
            if "$" in value or value in {"", ".+", ".*"} or label in {"job", "instance"}:
                continue
            if label == "le":
                fits = value in known.buckets
            elif label == "route":
                fits = value in routes(root)
            elif label == "status":
                fits = re.fullmatch(r"[1-5]xx", value)
            else:
                fits = value in literals(root)
            if not fits:
                problems.append(f"{where}: {label} of {name} is never {value!r}")
    return problems
