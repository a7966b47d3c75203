"""Who may import what, with re-exported names followed to their origin; import-linter sees modules only."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src"
SIBLINGS = ("evolution", "curator", "modalities", "selection", "evaluation", "diagnosis")
EXACT_VOTES = ("evomix.curator.records", "evomix.curator.voting")
PRIVACY_MAY_IMPORT = {"numpy", "scipy", "numba", "opendp", "platformdirs", "threadpoolctl"}
CORE_MAY_IMPORT = {"numba", "numpy", "pyarrow"}


class Imports:
    """All imports below a source folder, and where each imported name comes from in the end."""

    def __init__(self, root):
        self.targets = {}
        for path in sorted(root.rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            package = parts[-1] == "__init__"
            name = ".".join(parts[:-1] if package else parts)
            self.targets[name] = dict(_imports(ast.parse(path.read_text(encoding="utf-8")), name, package))

    def origin(self, dotted):
        """Follow ``module.name`` through re-exports to the module that defines the name."""
        seen = set()
        while dotted not in self.targets and dotted not in seen:
            seen.add(dotted)
            module, _, name = dotted.rpartition(".")
            if name not in self.targets.get(module, {}):
                return dotted
            dotted = self.targets[module][name]
        return dotted

    def of(self, package):
        """Return (module, what it imports) for every module in ``package``; both ends of re-exports."""
        for module, names in self.targets.items():
            if _within(module, package):
                for target in names.values():
                    yield module, target
                    yield module, self.origin(target)

    def violations(self, package, forbidden):
        return sorted({(m, t) for m, t in self.of(package) for f in forbidden if _within(t, f)})


def _imports(tree, module, package) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = module.split(".")[: len(module.split(".")) - node.level + package]
                base = ".".join([*parents, *([base] if base else [])])
            for alias in node.names:
                yield alias.asname or alias.name, f"{base}.{alias.name}"


def _within(dotted, package):
    return dotted == package or dotted.startswith(f"{package}.")


@pytest.fixture(scope="module")
def imports():
    return Imports(SRC)


def test_reexported_names_are_seen(tmp_path):
    files = {
        "evomix/curator/records.py": "class PrivateRecords: ...",
        "evomix/curator/__init__.py": "from .records import PrivateRecords",
        "evomix/experiment/__init__.py": "from evomix.curator import PrivateRecords as Rows",
        "evomix/selection/rank.py": "def f():\n    from evomix.experiment import Rows",
        "evomix/selection/clean.py": "import numpy",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = Imports(tmp_path).violations("evomix.selection", ["evomix.curator"])
    assert found == [("evomix.selection.rank", "evomix.curator.records.PrivateRecords")]


def test_the_source_was_found(imports):
    assert {"evomix.curator.records", "evomix.privacy.ledger", "evomix.cli.app"} <= set(imports.targets)


@pytest.mark.parametrize("package", ["evomix.selection", "evomix.evolution"])
def test_selection_and_evolution_see_releases_only(imports, package):
    assert imports.violations(package, ["evomix.privacy", "evomix.curator"]) == []


def test_exact_votes_stay_with_the_curator(imports):
    importers = {m for m, _ in imports.violations("evomix", EXACT_VOTES)}
    outside = {m for m in importers if not _within(m, "evomix.curator") and not _within(m, "evomix.privacy")}
    assert all(_within(module, "evomix.experiment") for module in outside), outside
    # The composition root opens the records, in one file; two would already be too many to watch.
    assert len(outside) <= 1, outside


@pytest.mark.parametrize(
    ("package", "allowed"), [("evomix.privacy", PRIVACY_MAY_IMPORT), ("evomix.core", CORE_MAY_IMPORT)]
)
def test_the_lowest_layers_know_few_libraries(imports, package, allowed):
    roots = {target.split(".")[0] for _, target in imports.of(package)} - set(sys.stdlib_module_names) - {"evomix"}
    assert roots <= allowed


def test_privacy_and_core_know_nothing_above_them(imports):
    own = ("evomix.privacy", "evomix.core")
    targets = {t for package in own for _, t in imports.of(package) if _within(t, "evomix")}
    assert {t for t in targets if not any(_within(t, package) for package in own)} == set()
    assert imports.violations("evomix.core", ["evomix.privacy"]) == []


@pytest.mark.parametrize("package", SIBLINGS)
def test_siblings_do_not_know_each_other(imports, package):
    others = [f"evomix.{other}" for other in SIBLINGS if other != package]
    assert imports.violations(f"evomix.{package}", others) == []


def test_star_and_computed_imports_hide_nothing(imports):
    assert [(module, target) for module, target in imports.of("evomix") if target.endswith(".*")] == []
    # The public packages load their names at first use; every name stands in their __all__ and type imports.
    # An encoder may be a function that the user names; a runtime that is an extra is loaded by name in one place.
    computing = {m for m, t in imports.of("evomix") if t in {"importlib", "importlib.import_module"}}
    text = "evomix.modalities.text"
    assert computing <= {"evomix", "evomix.privacy", f"{text}.function_encoder", f"{text}.ctranslate2_runtime"}
    assert [path for path in SRC.rglob("*.py") if "__import__" in path.read_text(encoding="utf-8")] == []
