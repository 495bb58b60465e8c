"""One page for each alert."""

import re

from .rules import kebab

SECTIONS = ["What it means", "Who notices", "How to look", "What to do", "What not to do", "When it is over"]


def check(rules, series, root):
    folder = root / "docs/runbooks"
    alerts = {kebab(rule.name): rule.name for rule in rules if rule.kind == "alert"}
    pages = {page.stem: page for page in folder.glob("*.md") if page.name != "README.md"}
    problems = [f"{alerts[name]} has no page docs/runbooks/{name}.md" for name in sorted(alerts.keys() - pages.keys())]
    problems += [f"docs/runbooks/{name}.md is for no alert" for name in sorted(pages.keys() - alerts.keys())]
    index = (folder / "README.md").read_text() if (folder / "README.md").exists() else ""
    for name in sorted(alerts.keys() & pages.keys()):
        text = pages[name].read_text()
        if not text.startswith(f"# {alerts[name]}\n"):
            problems.append(f"docs/runbooks/{name}.md does not begin with # {alerts[name]}")
        titles = re.findall(r"^\*\*(.*?)\.\*\*", text, re.MULTILINE)
        if titles != SECTIONS:
            problems.append(f"docs/runbooks/{name}.md has the parts {titles}, not {SECTIONS}")
        for metric in sorted(set(re.findall(r"[\w:]*\bintent_gateway_[\w:]+", text)) - series.keys()):
            problems.append(f"docs/runbooks/{name}.md: there is no series {metric}")
        if f"({name}.md)" not in index:
            problems.append(f"docs/runbooks/README.md does not list {name}.md")
    return problems
