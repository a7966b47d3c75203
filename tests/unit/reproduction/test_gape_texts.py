import json
import math
import sys

import numpy as np
import pytest

from evomix.core.errors import SpecError
from evomix.reproduction import running
from evomix.reproduction.figure import NOT_COMPARABLE, Request
from evomix.reproduction.gape_texts import gape_texts
from evomix.reproduction.gape_texts_claims import text_claims, text_notes
from evomix.reproduction.text_curves import (
    CEILING,
    DISTANCE,
    FLOOR,
    GAPE,
    LOWER,
    METRICS,
    PAPER_CURVES,
    RANK,
    RECALL,
    SMALLEST,
    SUBSAMPLE,
    WEIGHTED,
    Measured,
    Setting,
)

EPSILONS = (1.0, 4.0, math.inf)
WIGGLE = np.array([-1e-3, 0.0, 1e-3])  # the same for all curves, so that differences are exact


def measured(*, ratio=37, **changed):
    """Return numbers with which every claim holds, but for ``changed``: (curve, metric) by a name, a value an ε."""
    usual = {
        "subsample_recall": (0.2, 0.2, 0.2),
        "rank_recall": (0.3, 0.3, 0.3),
        "gape_recall": (0.25, 0.4, 0.5),
        "subsample_w1": (1.0, 1.0, 1.0),
        "rank_w1": (1.0, 1.0, 1.0),
        "gape_w1": (1.0, 0.9, 0.8),
        "weighted_w1": (1.0, 0.9, 0.8),
        "rank_smallest": (0.0, 0.0, 0.0),
        "gape_smallest": (0.0, 0.05, 0.05),
    }
    curves = {"subsample": SUBSAMPLE.name, "rank": RANK.name, "gape": GAPE.name, "weighted": WEIGHTED}
    metrics = {"recall": RECALL, "w1": DISTANCE, "smallest": SMALLEST}
    values = {name: {metric: np.ones((3, 3)) for metric in METRICS} for name in curves.values()}
    for key, given in (usual | changed).items():
        curve, metric = key.split("_")
        values[curves[curve]][metrics[metric]] = np.array(given)[:, None] + WIGGLE
    references = {name: {metric: np.full(3, 0.5) for metric in METRICS} for name in (CEILING, FLOOR)}
    setting = Setting(f"n/m = {ratio}", "", shifted=True, ratio=ratio, curves=PAPER_CURVES)
    return Measured(setting, (370, 10, 50), EPSILONS, values, references, np.full(3, 0.06))


def verdicts(*found):
    return {claim.text: claim.supported for claim in text_claims(found)}


def only(words, **changed):
    """Return the verdict of the one claim that holds ``words``."""
    (found,) = (verdict for text, verdict in verdicts(measured(**changed)).items() if words in text)
    return found


def test_all_claims_hold_with_numbers_that_agree():
    found = verdicts(measured())
    assert [verdict for verdict in found.values() if verdict != NOT_COMPARABLE] == [True] * 7
    assert list(found.values()).count(NOT_COMPARABLE) == 1


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        ("recall is no smaller", {"gape_recall": (0.25, 0.29, 0.5)}),
        ("recall is no smaller", {"rank_recall": (0.25, 0.4, 0.5), "gape_recall": (0.3, 0.3, 0.3)}),
        ("no farther from the private texts (W1) than subsampling", {"gape_w1": (1.0, 0.9, 1.01)}),
        ("weighted by the votes", {"weighted_w1": (1.0, 1.01, 0.8)}),
        ("For large ε", {"gape_recall": (0.25, 0.4, 0.3)}),
        ("smallest recall", {"subsample_recall": (0.2, 0.2, 0.35)}),
        ("smallest recall", {"subsample_recall": (0.26, 0.2, 0.2)}),
        ("competitive", {"gape_w1": (1.02, 0.9, 0.8)}),
        ("smallest topic", {"gape_smallest": (0.0, 0.2, 0.05)}),
    ],
)
def test_a_claim_falls_with_its_numbers_alone(words, changed):
    assert only(words) is True
    assert only(words, **changed) is False


def test_small_budgets_do_not_decide():
    assert only("recall is no smaller", gape_recall=(0.0, 0.4, 0.5)) is True
    assert only("than subsampling", gape_w1=(2.0, 0.9, 0.8)) is True


def test_a_difference_within_chance_is_none():
    found = measured()
    found.values[GAPE.name][RECALL][2] = 0.3 + np.array([-0.1, 0.0, 0.11])
    (claim,) = (one for one in text_claims([found]) if "For large ε" in one.text)
    assert claim.supported is False
    assert "0 of 1 budgets" in claim.evidence


def test_more_private_texts_a_synthetic_one():
    low, middle, high = (
        measured(ratio=ratio, gape_recall=(0.3, recall, recall))
        for ratio, recall in ((12, 0.29), (37, 0.31), (111, 0.35))
    )
    words = "The more private texts for each synthetic one, the better GAPE does beside rank in recall."
    found = verdicts(middle, high, low)
    assert found[words] is True
    assert found["n/m = 111: GAPE's recall is no smaller than that of rank (ε ≥ 2)."] is True
    assert sum("n/m = 12:" in text for text in found) == 0
    worse = measured(ratio=111, gape_recall=(0.3, 0.3, 0.3))
    assert verdicts(middle, worse, low)[words] is False
    worst = measured(ratio=111, gape_recall=(0.3, 0.2, 0.3))
    assert verdicts(middle, worst)["n/m = 111: GAPE's recall is no smaller than that of rank (ε ≥ 2)."] is False
    assert words not in verdicts(middle)


def test_notes_give_the_differences_and_what_repeats():
    found = measured()
    (note,) = text_notes(found)
    assert "ε = 4 +0.1000 ± 0.0000" in note
    assert "100% / 100% / 100%" in note
    lower = {metric: found.values[RANK.name][metric] - 0.02 for metric in METRICS}
    found.values[LOWER.name] = lower
    _, note = text_notes(found)
    assert "recall less rank's ε = 1 -0.0200 ± 0.0000" in note


def test_the_page_and_the_numbers_of_a_quick_figure(text_file, text_columns, tmp_path):
    made, files = running.reproduce("gape-texts", data=text_file, out=tmp_path, quick=True)
    assert [path.name for path in files] == [
        "gape-texts.svg",
        "gape-texts-w1.svg",
        "gape-texts-precision.svg",
        "gape-texts-smallest-topic.svg",
        "gape-texts-mechanisms.svg",
        "gape-texts-mechanisms-w1.svg",
        "gape-texts.json",
        "gape-texts.md",
    ]
    found = json.loads(files[-2].read_text())
    assert found["private"] is False
    assert found["data"]["declared"] == "public"
    (setting,) = found["numbers"]["settings"]
    assert setting["m"] == 4
    assert all(np.array(one["recall"]).shape == (2, 2) for one in setting["values"].values())
    assert len(made.rows) == len(setting["values"]) + 2
    page = files[-1].read_text()
    assert "Figures 2 and 3, Table 1" in page
    assert "Learning-Augmented Clustering" in page
    assert "Not private: a simulation" in page
    written = "".join(path.read_text() for path in files)
    assert not any(text in written for text in text_columns["title"])  # numbers only: texts may not be ours to print


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "toy_embedder.py").write_text(
        "def lengths(texts): return [[len(text), text.count('a'), text.count('.')] for text in texts]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield "toy_embedder:lengths"
    sys.modules.pop("toy_embedder", None)


@pytest.mark.slow
def test_an_embedder_of_the_users_own_and_the_same_bytes_again(text_file, tmp_path, module):
    runs = [
        running.reproduce("gape-texts", data=text_file, out=tmp_path / name, quick=True, embedder=module)[1]
        for name in ("one", "two")
    ]
    for one, other in zip(*runs, strict=True):
        assert one.read_bytes() == other.read_bytes()
    assert json.loads(runs[0][-2].read_text())["settings"]["embedder"] == module


def test_what_cannot_be_made_is_refused(text_file, tmp_path, texts):
    with pytest.raises(SpecError, match="topic, condition, category or label"):
        running.reproduce("gape-texts", out=tmp_path)
    with pytest.raises(SpecError, match="reads no texts"):
        running.reproduce("pubmix-fig2", out=tmp_path, embedder="a:b")
    with pytest.raises(SpecError, match="--embedder"):
        running.reproduce("gape-texts", data=text_file, out=tmp_path, embedder="nomodule:f")
    with pytest.raises(SpecError, match="--data"):
        gape_texts(Request(None, 2))
    with pytest.raises(SpecError, match="ratio=111"):
        gape_texts(Request(None, 2, texts=texts))
