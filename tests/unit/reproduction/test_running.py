import json
import xml.etree.ElementTree as ET

import pytest

from evomix.core.errors import InputFileError, SpecError
from evomix.reproduction import distance_figure, running
from evomix.reproduction.catalog import CATALOG, entry
from evomix.reproduction.figure import Claim, Reproduction
from evomix.reproduction.registry import FIGURES

PLAIN = Reproduction(
    plots=(("", "<svg/>"), ("-more", "<svg/>")),
    settings={"seeds": 3},
    numbers={"b": 2},
    header=("x", "y"),
    rows=(("1", "2"),),
    claims=(Claim("one.", True, "because."), Claim("two.", False, "since."), Claim("three.", "not comparable", "no.")),
    notes=("a note.",),
)


@pytest.fixture
def asked(monkeypatch):
    """Replace every figure by one that records what it was asked."""
    found = []

    def figure(request):
        found.append(request)
        return PLAIN

    monkeypatch.setattr(running, "FIGURES", dict.fromkeys(FIGURES, figure))
    return found


def test_the_catalog_and_the_registry_know_the_same_figures():
    assert [one.name for one in CATALOG] == list(FIGURES)
    assert entry("pubmix-fig2").figure == "Figure 2"


def test_a_quick_figure_is_marked_preliminary(asked, data, tmp_path):
    made, files = running.reproduce("pubmix-fig4", data=data, out=tmp_path, quick=True)
    found = json.loads(files[2].read_text())
    assert found["quick"] is True
    assert [claim["preliminary"] for claim in found["claims"]] == [True, True, True]
    page = files[3].read_text()
    assert "Preliminary: fewer points and repetitions" in page
    assert "**supported (preliminary)**: one." in page
    assert "**not comparable (preliminary)**: three." in page
    assert "--data FILE --quick`" in page
    assert running.verdict(made.claims[1], quick=True) == "not supported (preliminary)"


def test_what_is_left_behind(asked, data, tmp_path):
    made, files = running.reproduce("pubmix-fig4", data=data, out=tmp_path / "new" / "folder", seeds=3)
    assert made is PLAIN
    assert [path.name for path in files] == [
        "pubmix-fig4.svg",
        "pubmix-fig4-more.svg",
        "pubmix-fig4.json",
        "pubmix-fig4.md",
    ]
    assert all(path.is_file() for path in files)
    (request,) = asked
    assert (request.seeds, request.quick, len(request.states.cells)) == (3, False, 4)
    found = json.loads(files[2].read_text())
    assert found["private"] is False
    assert found["simulation"] is True
    assert found["data"]["declared"] == "public"
    assert found["data"]["file"] == "states.parquet"
    assert len(found["data"]["sha256"]) == 64
    assert [claim["supported"] for claim in found["claims"]] == [True, False, "not comparable"]
    assert {"evomix", "numpy", "scikit-learn"} <= set(found["software"])
    assert str(data.parent) not in files[2].read_text()  # where the file lies is nobody's business
    assert found["quick"] is False
    assert {claim["preliminary"] for claim in found["claims"]} == {False}
    page = files[3].read_text()
    assert "reliminary" not in page
    assert "Not private: a simulation" in page
    assert "![" in page
    assert "**supported**: one." in page
    assert "**not supported**: two." in page
    assert "**not comparable**: three." in page
    assert "| 1 | 2 |" in page
    assert "--data FILE" in page
    assert "Repetitions: 3" in page


def test_figures_without_data_are_arithmetic(asked, tmp_path):
    _, files = running.reproduce("pubmix-fig2", out=tmp_path)
    found = json.loads((tmp_path / "pubmix-fig2.json").read_text())
    assert (found["simulation"], found["private"], found["data"]) == (False, False, None)
    assert "--data" not in files[-1].read_text()


@pytest.mark.parametrize(
    ("name", "given", "seeds"),
    [
        ("pubmix-fig4", {}, 10),
        ("pubmix-fig4", {"quick": True}, 2),
        ("pubmix-fig4", {"seeds": 4, "quick": True}, 4),
        ("pubmix-fig2", {}, 0),
    ],
)
def test_repetitions(asked, data, tmp_path, name, given, seeds):
    running.reproduce(name, out=tmp_path, data=data if name == "pubmix-fig4" else None, **given)
    assert (asked[0].seeds, asked[0].quick) == (seeds, given.get("quick", False))


@pytest.mark.parametrize(
    ("name", "given", "why"),
    [
        ("pubmix-fig9", {}, "known are pubmix-fig1d"),
        ("pubmix-fig4", {}, "state, RAC1P, SEX, COW, MAR, SCHL, DIS, ENG"),
        ("pubmix-fig4", {}, "American Community Survey"),
        ("pubmix-fig2", {"data": "x.parquet"}, "reads no data"),
        ("pubmix-fig2", {"seeds": 3}, "nothing in pubmix-fig2 is random"),
    ],
)
def test_what_cannot_be_made_is_refused_before_a_folder_is(asked, tmp_path, name, given, why):
    with pytest.raises(SpecError, match=why):
        running.reproduce(name, out=tmp_path / "new", **given)
    assert not (tmp_path / "new").exists()
    assert asked == []


@pytest.mark.parametrize("seeds", [1, 0, -3])
def test_too_few_repetitions_are_refused(asked, data, tmp_path, seeds):
    with pytest.raises(SpecError, match=f"--seeds={seeds}"):
        running.reproduce("pubmix-fig4", data=data, out=tmp_path, seeds=seeds)


def test_a_missing_file_is_refused(asked, tmp_path):
    with pytest.raises(InputFileError, match=r"nowhere\.parquet"):
        running.reproduce("pubmix-fig4", data=tmp_path / "nowhere.parquet", out=tmp_path)


def test_a_folder_that_cannot_be_made_is_refused(asked, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SpecError, match="--out"):
        running.reproduce("pubmix-fig2", out=tmp_path / "file")


def test_the_same_call_writes_the_same_bytes(data, tmp_path, monkeypatch):
    monkeypatch.setattr(distance_figure, "QUICK_SHARES", (0.1, 1.0))
    runs = [running.reproduce("pubmix-fig4", data=data, out=tmp_path / k, quick=True)[1] for k in ("one", "two")]
    for one, other in zip(*runs, strict=True):
        assert one.read_bytes() == other.read_bytes()
    assert ET.parse(runs[0][0]).getroot().tag.endswith("svg")
    assert json.loads(runs[0][1].read_text())["numbers"]["pairs"][0]["n"] == 336
