import json

import numpy as np
import pytest
from text_sets import reviews

from evomix.core.errors import SpecError
from evomix.evaluation.text.evaluate import Corpora, evaluate_texts, linear_target
from evomix.evaluation.text.text_set import TextSet

OPINION = linear_target("opinion", "classification", seeds=2)
OTHERS = ("novel", "hotel", "lamp", "jacket")


def shifted(n, seed):
    """Return public texts: of other things, elsewhere in space."""
    found = reviews(n, seed, things=OTHERS)
    return TextSet(found.texts, found.vectors + np.array([0.0, 2.0, 0.0, 0.0]), found.targets)


REAL, HALF, PUBLIC = reviews(300, 1), reviews(150, 2), shifted(200, 3)


@pytest.fixture(scope="module")
def good():
    return evaluate_texts(REAL, HALF, encoder="made up", public=PUBLIC, target=OPINION)


def test_real_texts_as_synthetic_ones_come_near_every_ceiling(good):
    for row in good.geometry.rows:
        gap = abs(float(row.synthetic) - float(row.ceiling))
        assert gap < 0.35 * abs(float(row.floor) - float(row.ceiling)), row.name
    for lengths in good.lengths:
        assert lengths.sets["synthetic"].distance < 1.5
    assert "the synthetic table is closer to the real rows than the public table" in good.verdict
    assert good.warnings == ()


def test_public_texts_as_synthetic_ones_are_no_better_than_the_floor():
    found = evaluate_texts(REAL, PUBLIC, encoder="made up", public=shifted(200, 4), target=OPINION)
    recall = found.geometry["recall"]
    assert float(recall.synthetic) < 0.3 < float(recall.ceiling)
    assert float(found.geometry["mauve"].synthetic) == pytest.approx(float(found.geometry["mauve"].floor), abs=0.1)


def test_no_real_text_is_in_the_result(good):
    told = json.dumps(good.to_dict())
    assert not any(text in told for text in REAL.texts)
    assert "ε = ∞" in good.cost
    assert good.to_dict()["modality"] == "text"
    again = evaluate_texts(REAL, HALF, encoder="made up", public=PUBLIC, target=OPINION)
    assert json.dumps(again.to_dict()) == told, "the same seed, the same figures"


def test_copies_are_searched_among_all_texts():
    everything = Corpora(real=reviews(2_000, 9).texts, synthetic=HALF.texts, public=["The end of all things"])
    copied = Corpora(real=everything.real, synthetic=everything.real[:400])
    found = evaluate_texts(REAL, HALF, encoder="made up", corpora=everything)
    assert [copies.exact.share for copies in found.copies] == [0.0, 0.0]
    assert (found.real_rows, found.public_rows) == (2_000, 1)
    found = evaluate_texts(REAL, HALF, encoder="made up", corpora=copied)
    assert 0.7 < found.copies[0].exact.share < 0.9, "all but those that went to the control"
    assert found.warnings[0].startswith("COPIES")


def test_few_texts_give_what_there_is():
    one = reviews(1, 1)
    found = evaluate_texts(one, one, encoder="made up", target=OPINION).to_dict()
    assert found["geometry"] is None
    assert found["vocabulary"] is None
    assert found["lengths"] == []
    assert "too few real texts to compare lengths and words" in found["warnings"]
    alone = evaluate_texts(REAL, one, encoder="made up").geometry
    assert alone.synthetic_points == 1
    assert "frechet" not in [row.name for row in alone.rows]
    evaluate_texts(REAL, HALF, encoder="made up", public=one)


def test_what_does_not_fit_is_refused():
    with pytest.raises(SpecError, match="texts in the synthetic set"):
        evaluate_texts(REAL, REAL.take(np.empty(0, np.int64)), encoder="made up")
    with pytest.raises(SpecError, match="dimension=2"):
        evaluate_texts(REAL, TextSet(["a"], np.zeros((1, 2))), encoder="made up")
    with pytest.raises(SpecError, match="seeds=0"):
        evaluate_texts(REAL, HALF, encoder="made up", target=linear_target("x", "classification", seeds=0))
