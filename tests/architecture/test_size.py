from pathlib import Path

SRC = Path(__file__).parents[2] / "src"


def test_files_are_short():
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in SRC.rglob("*.py")}
    assert len(lines) > 30
    assert {str(path): count for path, count in lines.items() if count > 300} == {}


def test_every_module_says_what_it_is():
    silent = [path for path in SRC.rglob("*.py") if not path.read_text(encoding="utf-8").startswith('"""')]
    assert silent == []
