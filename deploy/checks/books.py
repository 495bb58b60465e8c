"""The pages of docs/: each is in the book's summary, and links between files lead to files and headings."""

import re
import unicodedata

SUMMARY = "docs/SUMMARY.md"
# Pages that are read outside of the book, and whose links are looked at as well.
OUTSIDE = ["*.md", "wit/*.md", "examples/*.md", "deploy/**/*.md"]


def prose(path):
    """A page without its code, where what looks like a link is none."""
    text = re.sub(r"^(```|~~~).*?^\1", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", lambda code: code[0].replace("[", " ").replace("(", " "), text)


def anchors(path):
    """The anchors of a page's headings, as GitHub and mdBook make them."""
    found = set()
    for title in re.findall(r"^#+ +(.*?) *#*$", re.sub(r"^(```|~~~).*?^\1", "", path.read_text(), flags=re.MULTILINE | re.DOTALL), re.MULTILINE):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower()
        kept = "".join(c for c in title if c in " -_" or unicodedata.category(c)[0] in "LN")
        base = kept.strip().replace(" ", "-")
        name, number = base, 0
        while name in found:
            number += 1
            name = f"{base}-{number}"
        found.add(name)
    return found


def links(path):
    return re.findall(r"\]\(([^()\s]+)\)", prose(path))


def check(root):
    docs = root / "docs"
    summary = root / SUMMARY
    if not summary.exists():
        return [f"{SUMMARY} is missing"]
    listed = links(summary)
    problems = [f"{SUMMARY} lists {link} twice" for link in sorted({link for link in listed if listed.count(link) > 1})]
    pages = [page for page in sorted(docs.rglob("*.md")) if page != summary]
    for page in pages:
        if str(page.relative_to(docs)) not in listed:
            problems.append(f"{SUMMARY} does not list {page.relative_to(docs)}")
    outside = [page for pattern in OUTSIDE for page in sorted(root.glob(pattern))]
    for page in [summary, *pages, *outside]:
        for link in links(page):
            if re.match(r"[a-z]+:", link):
                continue
            target, _, anchor = link.partition("#")
            path = (page.parent / target).resolve() if target else page
            where = page.relative_to(root)
            if not path.exists():
                problems.append(f"{where}: {link} leads nowhere")
            elif anchor and path.suffix == ".md" and anchor not in anchors(path):
                problems.append(f"{where}: {link} leads to no heading")
    return problems
