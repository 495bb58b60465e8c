"""Dashboards for Grafana: what their panels ask, and that each says what it shows and in which unit."""

import json
import re
import subprocess
import sys

from . import promql
from .rules import recorded

FOLDER = "deploy/grafana"


def read(root):
    return {file.name: json.loads(file.read_text()) for file in sorted((root / FOLDER).glob("*.json"))}


def panels(board):
    for panel in board["panels"]:
        yield panel
        yield from panel.get("panels", [])


def plain(query):
    """A query with values in place of Grafana's variables."""
    query = re.sub(r"\$__(rate_interval|interval|range)", "5m", query)
    return re.sub(r"\$\{?(\w+)(:\w+)?\}?", r"\1", query)


def asked(board):
    """Every query of a board, with where it stands."""
    for panel in panels(board):
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"]
    for annotation in board.get("annotations", {}).get("list", []):
        if annotation.get("expr"):
            yield annotation["name"], annotation["expr"]
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            # label_values(series{...}, label)
            selector, label = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["definition"]).groups()
            yield f"${variable['name']}", f"count by ({label}) ({selector})"


def queries(boards):
    return [plain(query) for board in boards.values() for _, query in asked(board)]


def check(boards, rules, known, root):
    series = known.series | recorded(rules)
    problems = [] if boards else [f"{FOLDER} has no dashboards"]
    uids = [board["uid"] for board in boards.values()]
    if len(set(uids)) != len(uids):
        problems.append(f"two dashboards have the same uid: {uids}")
    for file, board in boards.items():
        variables = {variable["name"] for variable in board["templating"]["list"]} | {"__rate_interval", "__range", "__interval"}
        for title, query in asked(board):
            where = f"{file}: {title}"
            problems += promql.check(where, query.replace("$__rate_interval", "5m").replace("$__range", "1h"), series, known, root)
            for name in re.findall(r"\$\{?(\w+)", query):
                if name not in variables:
                    problems.append(f"{where}: there is no variable ${name}")
        ids = [panel["id"] for panel in panels(board)]
        if len(set(ids)) != len(ids):
            problems.append(f"{file}: two panels have the same id")
        for panel in panels(board):
            if panel["type"] in ("row", "text"):
                continue
            where = f"{file}: {panel['title']}"
            if not panel.get("description"):
                problems.append(f"{where}: it has no description")
            if panel["type"] != "alertlist" and not panel["fieldConfig"]["defaults"].get("unit"):
                problems.append(f"{where}: it has no unit")
    return problems


def check_made(root):
    """The committed files are what the script beside them makes."""
    script = root / FOLDER / "dashboards.py"
    if not script.exists():
        return [f"{FOLDER}/dashboards.py is missing"]
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, check=False)
    return [] if done.returncode == 0 else [(done.stdout + done.stderr).strip()]
