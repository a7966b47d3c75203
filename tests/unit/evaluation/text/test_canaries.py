import numpy as np
import pytest
from text_sets import reviews

from evomix.core.errors import SpecError
from evomix.evaluation.text.canaries import CanarySet, measure_canaries


def canaries(n, seed):
    rng = np.random.default_rng(seed)
    return [
        " ".join(f"{kind}{rng.integers(10**9)}" for kind in ("key", "lock", "door", "hall", "gate")) for _ in range(n)
    ]


PLANTED, REFERENCES = canaries(20, 1), canaries(99, 2)
TEXTS = list(reviews(200, 5).texts)


def look(texts, planted=PLANTED, references=REFERENCES):
    return measure_canaries(CanarySet(planted), CanarySet(references), texts)


def test_where_nothing_leaks_nothing_is_found():
    found = look(TEXTS)
    assert found.literal.share == found.fuzzy.share == found.reference_literal.share == 0.0
    (words,) = found.exposures
    assert (words.auc, words.p_value) == (0.5, 1.0)
    assert words.mean < 1.0
    assert found.warnings == ()


def test_leaks_word_for_word_are_found_inside_texts_whatever_the_case():
    found = look([*TEXTS, *(f"Well, {canary.upper()}! Indeed." for canary in PLANTED[:5])])
    assert found.literal.share == 0.25
    assert found.reference_literal.share == 0.0
    assert found.exposures[0].largest == found.exposures[0].possible == pytest.approx(np.log2(100))
    assert found.warnings[0].startswith("CANARIES: 5 of 20")


def test_leaks_in_pieces_are_found_and_tested():
    pieces = [" ".join(canary.split()[:3]) for canary in PLANTED]
    found = look([*TEXTS, *pieces])
    assert found.literal.share == found.fuzzy.share == 0.0
    assert found.exposures[0].auc == 1.0
    assert found.exposures[0].p_value < 1e-6
    assert "by words" in found.warnings[0]
    nearly = look([*TEXTS, *(canary + " more" for canary in PLANTED), "x"])
    assert nearly.fuzzy.share == nearly.literal.share == 1.0


def test_part_of_a_longer_word_is_no_canary():
    assert look(["xkey7", "key77"], planted=["key7"], references=["key8"]).literal.share == 0.0
    found = look(["say key7 now"], planted=["key7"], references=["key8"])
    assert found.literal.share == 1.0
    assert found.exposures[0].auc == 1.0, "one word is a score of its own"


def test_vectors_score_what_words_do_not():
    near, far = np.eye(4)[:1].repeat(20, 0), np.eye(4)[1:2].repeat(30, 0)
    synthetic = np.eye(4)[[0, 2, 3]]
    found = measure_canaries(CanarySet(PLANTED, near), CanarySet(REFERENCES[:30], far), TEXTS[:3], synthetic)
    assert [exposure.auc for exposure in found.exposures] == [0.5, 1.0]
    assert "by vectors" in found.warnings[0]


def test_exposure_where_nothing_leaks_is_that_of_uniform_ranks():
    """Scores at random: planted and reference canaries are alike, so no warning, and ranks are spread."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(520, 8))
    vectors /= np.linalg.norm(vectors, axis=1)[:, None]
    planted, references, synthetic = vectors[:200], vectors[200:500], vectors[500:]
    words = canaries(500, 3)
    found = measure_canaries(CanarySet(words[:200], planted), CanarySet(words[200:], references), TEXTS[:20], synthetic)
    exposure = found.exposures[1]
    assert exposure.mean == pytest.approx(1.44, abs=0.3)
    assert exposure.auc == pytest.approx(0.5, abs=0.08)
    assert found.warnings == ()


def test_no_canary_is_kept():
    assert not any(canary in repr(look(TEXTS)) for canary in PLANTED)
    assert not any(canary in repr(CanarySet(PLANTED)) for canary in PLANTED)


@pytest.mark.parametrize(
    ("planted", "references", "said"),
    [
        ([], ["a"], "planted=0"),
        (["a"], [], "references=0"),
        (["A!"], ["a"], "1 canaries in both"),
        (["a"], [" "], "expected words in every canary"),
    ],
)
def test_sets_that_test_nothing_are_refused(planted, references, said):
    with pytest.raises(SpecError, match=said):
        look(["a b"], planted, references)
