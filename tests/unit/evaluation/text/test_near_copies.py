import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_sets import reviews

from evomix.evaluation.text.near_copies import copy_warnings, public_copies, real_copies
from evomix.evaluation.text.shingles import nearest_containment, nearest_jaccard, shingles

TEXTS = st.lists(st.lists(st.sampled_from("abcd"), max_size=8).map(" ".join), min_size=1, max_size=8)


def rng():
    return np.random.default_rng(0)


@given(TEXTS, TEXTS)
def test_the_index_agrees_with_all_pairs(queries, corpus):
    def best(share):
        return [max(share(shingles(a), shingles(b)) for b in corpus) for a in queries]

    found = nearest_jaccard(queries, corpus)
    assert found.similarity.tolist() == pytest.approx(best(lambda a, b: len(a & b) / len(a | b)))
    for k, position in enumerate(found.position.tolist()):
        shared = [
            len(shingles(queries[k]) & shingles(text)) / len(shingles(queries[k]) | shingles(text)) for text in corpus
        ]
        assert position == (int(np.argmax(shared)) if max(shared) > 0 else -1)
    held = nearest_containment(queries, corpus, size=3)
    assert held.similarity.tolist() == pytest.approx(best(lambda a, b: len(a & b) / len(a)))


def test_public_texts_that_are_repeated_are_found_and_shown():
    public = reviews(300, 1).texts
    twin = public[7].upper() + "!!"
    near = public[8] + " again"
    made = [twin, near, "Something else that nobody ever wrote down"]
    found = public_copies(made, public, control=reviews(100, 2).texts, rng=rng())
    assert found.exact.share == pytest.approx(1 / 3)
    assert found.near.share == pytest.approx(2 / 3)
    assert (found.closest[0].synthetic, found.closest[0].public) == (twin, public[7])
    assert found.closest[1].synthetic == near
    assert found.control_near.share == 0.0
    assert found.percentiles[-1] == 1.0


def test_pairs_are_shown_once_and_few():
    public = reviews(50, 1).texts
    found = public_copies([public[0]] * 30 + list(public), public, control=[], rng=rng())
    assert len(found.closest) == 10
    assert len(set(found.closest)) == 10
    assert found.control_exact is None


def test_of_real_texts_only_shares_are_kept():
    real = reviews(200, 3).texts
    found = real_copies(real[:50], real, control=reviews(50, 4).texts, rng=rng())
    assert found.exact.share == 1.0
    assert found.closest == ()
    assert not any(text in repr(found) for text in real)


def test_copies_are_warned_of_only_beyond_the_control():
    real, other = reviews(400, 3).texts, reviews(400, 4).texts
    loud = copy_warnings(real_copies(real[:100], real, control=other[:100], rng=rng()))
    assert loud[0].startswith("COPIES: 100% of the synthetic texts")
    some = copy_warnings(real_copies([*real[:30], *other[:70]], real, control=other[100:], rng=rng()))
    assert some[0].startswith("copies: 30%")
    assert copy_warnings(real_copies(other[:100], real, control=other[100:], rng=rng())) == ()
    assert copy_warnings(real_copies(real[:100], real, control=real[100:], rng=rng())) == (), "chance explains as much"
    assert copy_warnings(public_copies(real[:100], real, control=other[:100], rng=rng())) == ()
