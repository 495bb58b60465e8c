"""The code of the pages can be read as what it says it is."""

import ast
import json
import re
import subprocess
import tomllib

PAGES = ["*.md", "docs/**/*.md", "wit/*.md", "examples/*.md", "deploy/**/*.md", "clients/*.md"]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def read_json(text):
    """A document, members of one, or a document a line."""
    if text.startswith('"'):
        json.loads(f"{{{text}}}")
    elif text.count("\n{"):
        for line in text.splitlines():
            json.loads(line)
    else:
        json.loads(text)


def read_shell(text):
    done = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ValueError(done.stderr.strip())


READERS = {"json": read_json, "toml": tomllib.loads, "python": ast.parse, "sh": read_shell, "bash": read_shell}


def check(root):
    problems = []
    pages = sorted({page for pattern in PAGES for page in root.glob(pattern) if "node_modules" not in page.parts})
    for page in pages:
        text = page.read_text()
        for block in BLOCK.finditer(text):
            reader = READERS.get(block[1])
            try:
                if reader:
                    reader(block[2])
            except (SyntaxError, ValueError) as error:
                line = text.count("\n", 0, block.start()) + 1
                problems.append(f"{page.relative_to(root)}:{line}: no {block[1]}: {error}")
    return problems
