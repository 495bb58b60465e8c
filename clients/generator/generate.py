"""Writes what both clients have of docs/openapi.json, and of the pages that list the codes.

    generate.py CLIENTS

CLIENTS is the folder with `typescript` and `python` in it: this project's own, or an empty one to compare with.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import document
import python
import typescript

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent.parent / "docs"
PACKAGE = Path("python/src/intent_gateway_client")


def main() -> None:
    clients = Path(sys.argv[1]).resolve()
    described = document.Document(DOCS / "openapi.json")
    found = described.operations()
    codes = document.codes(DOCS)
    require_listed(described, codes)
    with tempfile.TemporaryDirectory() as folder:
        types = Path(folder) / "types.json"
        types.write_text(json.dumps(described.types_only()))
        write_typescript(empty(clients / "typescript/src/generated"), types, found, codes)
        write_python(empty(clients / PACKAGE / "generated"), types, found, codes)


def require_listed(described: document.Document, codes: list[str]) -> None:
    """A code that the document names and no page lists would be missing in the clients."""
    missing = described.codes_of_refusals() - set(codes)
    if missing:
        sys.exit(f"docs/openapi.json names codes that no page lists with a status: {', '.join(sorted(missing))}")


def empty(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def write_typescript(folder: Path, types: Path, found: list[document.Operation], codes: list[str]) -> None:
    generator = HERE / "node_modules/.bin/openapi-typescript"
    models = folder / "models.ts"
    # `--root-types` gives each schema its own name. An object of unknown members is no empty one.
    flags = ["--root-types", "--root-types-no-schema-prefix", "--empty-objects-unknown", "--immutable", "--default-non-nullable=false"]
    subprocess.run([generator, types, "--output", models, *flags], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    (folder / "operations.ts").write_text(typescript.operations(found))
    (folder / "codes.ts").write_text(typescript.codes(codes))


def write_python(folder: Path, types: Path, found: list[document.Operation], codes: list[str]) -> None:
    (folder / "__init__.py").write_text(python.HEAD)
    models = folder / "models.py"
    flags = [
        *("--input", types, "--input-file-type", "openapi", "--output", models, "--formatters", "builtin"),
        *("--output-model-type", "typing.TypedDict", "--target-python-version", "3.10", "--enum-field-as-literal", "all"),
        *("--use-schema-description", "--use-field-description", "--use-union-operator", "--use-standard-collections"),
        *("--disable-timestamp", "--naming-strategy", "parent-prefixed"),
        *("--custom-file-header", python.HEAD.strip()),
    ]
    subprocess.run([sys.executable, "-m", "datamodel_code_generator", *flags], check=True)
    (folder / "codes.py").write_text(python.codes(codes))
    asynchronous = empty(folder / "aio")
    (asynchronous / "__init__.py").write_text(python.HEAD)
    (asynchronous / "operations.py").write_text(python.operations(found))
    # The blocking client is the asynchronous one, without what makes it asynchronous.
    blocking = empty(folder / "blocking")
    for file in sorted((HERE.parent / PACKAGE / "aio").glob("*.py")) + [asynchronous / "operations.py"]:
        source = file.read_text().removeprefix(python.HEAD)
        (blocking / file.name).write_text(python.HEAD + python.blocking(source))


if __name__ == "__main__":
    main()
