"""Documentation that cannot go stale unnoticed: commands, options, links, examples and proofs."""

import json
import re
import tomllib
from pathlib import Path

import pytest
import typer.main

from evomix.cli.app import app
from evomix.cli.options import MECHANISMS

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")])
PROOFS = sorted((ROOT / "docs" / "proofs").glob("*.md"))
OTHER_TOOLS = re.compile(r"\b(pytest|pip|ruff|git|mutmut)\b")


def _commands(command, path="evomix"):
    yield path, command
    for name, child in getattr(command, "commands", {}).items():
        yield from _commands(child, f"{path} {name}")


COMMANDS = dict(_commands(typer.main.get_command(app)))


def _options(command):
    return {option for parameter in command.params for option in parameter.opts if option.startswith("-")}


ALL_OPTIONS = set().union(*(_options(command) for command in COMMANDS.values())) | {"--help"}


def _code(page):
    """Yield the pieces of code in a page: fenced lines and inline spans."""
    text = page.read_text(encoding="utf-8")
    fenced = re.findall(r"```(?:console|bash)\n(.*?)```", text, flags=re.DOTALL)
    yield from (line for block in fenced for line in block.splitlines())
    yield from re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))


def _calls(page):
    """Yield each call of evomix in a page as (words of the command, options given)."""
    for code in _code(page):
        for call in re.findall(r"(?:^|&& )(evomix(?![\w.])[^&#]*)", code):
            words = call.split()
            path = " ".join(words[:3]) if " ".join(words[:3]) in COMMANDS else " ".join(words[:2])
            yield path, {word for word in words if re.fullmatch(r"--?[a-z][a-z-]*", word)}


def test_readme_and_ci_run_the_same_commands():
    blocks = re.findall(r"```console\n(.*?)\n```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    tested = 'pip install -e ".[test]" && evomix doctor --install-text && pytest'
    assert blocks[:2] == ['pip install ".[demo]" && evomix demo', tested]
    script = ROOT / ".ci" / "run"
    lines = script.read_text(encoding="utf-8").splitlines()
    assert lines[-1] == blocks[1]
    assert "set -euo pipefail" in lines
    assert script.stat().st_mode & 0o111
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {"demo", "test", "dev"} <= set(extras)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_mention_existing_commands_and_options_only(page):
    for path, options in _calls(page):
        assert path in COMMANDS, path
        assert options <= _options(COMMANDS[path]) | {"--help"}, path
    for code in _code(page):
        if not OTHER_TOOLS.search(code):
            assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", code)) <= ALL_OPTIONS, code


def test_every_command_is_shown_somewhere():
    shown = {path for page in PAGES for path, _ in _calls(page)}
    leaves = {path for path, command in COMMANDS.items() if not getattr(command, "commands", {})}
    assert leaves - shown - {"evomix ledger grant", "evomix ledger reset"} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


def test_quickstart_examples_are_valid():
    from evomix.experiment.spec import RunSpec
    from evomix.modalities.tabular.schema import Schema

    text = (ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8")
    (schema,) = re.findall(r"```json\n(.*?)```", text, flags=re.DOTALL)
    (config,) = re.findall(r"```toml\n(.*?)```", text, flags=re.DOTALL)
    assert len(Schema.from_dict(json.loads(schema)).columns) == 5
    assert RunSpec.from_mapping(tomllib.loads(config)).rounds == 3


@pytest.mark.parametrize("mechanism", [name for name in MECHANISMS if name != "auto"])
def test_every_mechanism_has_a_proof(mechanism):
    assert (ROOT / "docs" / "proofs" / f"{mechanism}.md").is_file()


@pytest.mark.parametrize("page", PROOFS, ids=lambda page: page.name)
def test_proofs_and_tests_name_each_other(page):
    named = set(re.findall(r"tests/[\w/]+\.py", page.read_text(encoding="utf-8")))
    assert named, "a proof names the tests that check it"
    for test in named:
        assert (ROOT / test).is_file(), test
    texts = [(ROOT / test).read_text(encoding="utf-8") for test in named]
    assert any(f"docs/proofs/{page.name}" in text for text in texts), "none of these tests names this page"


def test_code_cites_existing_proofs():
    cited = {
        page
        for path in (ROOT / "src").rglob("*.py")
        for page in re.findall(r"docs/proofs/\w+\.md", path.read_text(encoding="utf-8"))
    }
    assert cited
    assert {page for page in cited if not (ROOT / page).is_file()} == set()
