from itertools import pairwise

import numpy as np
import pytest
from evolution_worlds import LineEmbedder, LineGenerator, draws, noisy_votes

from evomix.core.errors import InputFileError
from evomix.core.release import Draws
from evomix.core.schedule import SCHEDULES
from evomix.evolution.loop import Evolution, evolve
from evomix.evolution.state import State, load_state, save_state
from evomix.selection.methods import Gape, Projection, Rank, Subsample

EVOLUTION = Evolution(candidates=(32,) * 6, most_variations=3, first_scale=1.0, last_scale=0.05)
INITIAL = np.linspace(0.0, 1.0, 8)[:, None]
SUBSAMPLE, RANK = Subsample(), Rank()
GEOMETRIC = [Projection(vectors=LineEmbedder().vectors), Gape(vectors=LineEmbedder().vectors)]


class Interrupted(Exception):  # noqa: N818
    """Stands for a kill at a given moment."""


def _breaking(stop, privatise=noisy_votes):
    """Answer as ``privatise`` does, until the round ``stop``, in which the run is killed."""

    def breaking(index, candidates):
        if index == stop:
            raise Interrupted
        return privatise(index, candidates)

    return breaking


def _run(privatise=noisy_votes, *, seed=1, select=SUBSAMPLE, **more):
    return evolve(
        EVOLUTION,
        INITIAL,
        generator=LineGenerator(),
        privatise=privatise,
        select=select,
        rng=np.random.default_rng(seed),
        **more,
    )


def _same(first, second):
    assert first.next_round == second.next_round
    np.testing.assert_array_equal(first.parents, second.parents)
    np.testing.assert_array_equal(first.candidates, second.candidates)
    assert first.rng_state == second.rng_state
    assert type(first.release) is type(second.release)
    np.testing.assert_array_equal(first.release.estimate(), second.release.estimate())


def test_the_population_moves_to_where_the_private_units_are():
    final = _run(select=RANK)
    assert final.next_round == 6
    best = final.candidates[np.argsort(-final.release.votes)[0], 0]
    assert INITIAL.max() == 1.0
    assert 1.7 < best < 1.0 + 0.55 + 0.31 + 0.17 + 0.1 + 0.051  # the steps of five rounds of variation


def test_first_candidates_are_voted_on_as_they_are():
    seen = []

    def privatise(index, candidates):
        seen.append(candidates)
        return noisy_votes(index, candidates)

    _run(privatise)
    assert seen[0] is INITIAL
    assert len(seen) == 6
    assert max(len(candidates) for candidates in seen) <= 32


@pytest.mark.parametrize("select", [SUBSAMPLE, RANK, *GEOMETRIC], ids=lambda select: type(select).__name__)
@pytest.mark.parametrize("privatise", [noisy_votes, draws])
@pytest.mark.parametrize("stop", [1, 3, 5])
def test_a_resumed_run_equals_an_unbroken_one_bit_for_bit(tmp_path, privatise, stop, select):
    unbroken = _run(privatise, select=select)
    begun = set()

    def breaking(index, candidates):
        if index == stop:
            raise Interrupted
        begun.add(index)
        return privatise(index, candidates)

    with pytest.raises(Interrupted):
        _run(breaking, checkpoint=tmp_path, select=select)
    assert begun == set(range(stop))
    resumed = _run(privatise, seed=999, checkpoint=tmp_path, begun=frozenset(begun), select=select)
    _same(resumed, unbroken)


def test_a_round_that_was_begun_but_not_saved_is_forfeited(tmp_path):
    begun, released = set(), []

    def privatise(index, candidates, stop=None):
        assert index not in begun, "a round is released once"
        begun.add(index)
        if index == stop:
            raise Interrupted
        released.append(index)
        return noisy_votes(index, candidates)

    with pytest.raises(Interrupted):
        _run(lambda index, candidates: privatise(index, candidates, stop=2), checkpoint=tmp_path)
    saved = []
    final = _run(privatise, checkpoint=tmp_path, begun=frozenset(begun), on_round=lambda index, _: saved.append(index))
    assert released == [0, 1, 3, 4, 5]
    assert saved == [3, 4, 5]
    assert final.next_round == 6


def test_a_forfeited_first_round_still_votes_on_the_first_candidates(tmp_path):
    seen = {}

    def privatise(index, candidates):
        seen[index] = candidates
        return noisy_votes(index, candidates)

    _run(privatise, checkpoint=tmp_path, begun=frozenset({0}))
    assert min(seen) == 1
    np.testing.assert_array_equal(seen[1], INITIAL)


def test_a_run_whose_rounds_were_all_begun_releases_nothing(tmp_path):
    def never(_index, _candidates):
        raise AssertionError

    assert _run(never, checkpoint=tmp_path, begun=frozenset(range(6))).release is None
    _run(checkpoint=tmp_path)
    finished = _run(never, checkpoint=tmp_path, begun=frozenset(range(6)))
    assert finished.next_round == 6
    assert finished.release is not None


def test_rounds_are_announced_only_when_they_are_saved(tmp_path):
    def announced(index, done):
        state = load_state(tmp_path)
        assert state.next_round == index + 1
        np.testing.assert_array_equal(state.candidates, done.candidates)

    _run(checkpoint=tmp_path, on_round=announced)


def test_nothing_is_kept_without_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _run()
    assert list(tmp_path.iterdir()) == []


def test_scales_fall_from_first_to_last():
    assert all(len(EVOLUTION.scales(index)) == 3 and len(set(EVOLUTION.scales(index))) == 1 for index in range(6))
    scales = [EVOLUTION.scales(index)[0] for index in range(6)]
    assert scales[0] == 1.0
    assert scales[-1] == pytest.approx(0.05)
    np.testing.assert_allclose(np.diff(np.log(scales)), np.log(0.05) / 5)
    assert Evolution((4,), 2, first_scale=0.3).scales(0) == (0.3, 0.3)


def test_every_round_has_all_scales_where_asked_for():
    many = Evolution((32, 32, 3), 3, first_scale=0.5, schedule="multiscale")
    assert [many.scales(index) for index in range(3)] == [(0.5, 0.25, 0.125)] * 2 + [(0.5, 0.25)]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_scales_are_such_that_any_generator_takes_them(schedule):
    evolution = Evolution((2000, 1), 1500, schedule=schedule)
    assert len(evolution.scales(0)) == 1500
    assert all(0.0 < scale <= 1.0 for scale in evolution.scales(0))
    assert evolution.scales(1) == ()


def test_a_round_varies_at_the_scales_of_its_schedule():
    asked = []

    class Watching(LineGenerator):
        def vary(self, parents, scale, rng):
            asked.append(scale)
            return super().vary(parents, scale, rng)

    evolve(
        Evolution(candidates=(32,) * 3, most_variations=3, schedule="multiscale"),
        INITIAL,
        generator=Watching(),
        privatise=noisy_votes,
        select=RANK,
        rng=np.random.default_rng(1),
    )
    assert asked == [1.0, 0.5, 0.25] * 2


@pytest.mark.parametrize("select", GEOMETRIC, ids=["projection", "gape"])
@pytest.mark.parametrize("privatise", [noisy_votes, draws])
def test_geometric_selections_move_the_population_too(privatise, select):
    final = _run(privatise, select=select)
    assert final.candidates[final.release.estimate().argmax(), 0] > 1.5
    _same(_run(privatise, select=select), final)


COARSE_TO_FINE = Evolution(candidates=(8, 12, 40, 20), most_variations=3)


def _coarse_to_fine(privatise, **more):
    seen = {}

    def watching(index, candidates):
        seen[index] = candidates
        return privatise(index, candidates)

    final = evolve(
        COARSE_TO_FINE,
        INITIAL,
        generator=LineGenerator(),
        privatise=watching,
        select=SUBSAMPLE,
        rng=np.random.default_rng(1),
        **more,
    )
    return final, {index: len(candidates) for index, candidates in seen.items()}


def test_each_round_has_parents_for_its_own_candidates():
    assert [COARSE_TO_FINE.parents(index) for index in range(4)] == [2, 3, 10, 5]
    tight = Evolution(candidates=(1, 2, 3), most_variations=3)
    assert [(tight.parents(index), tight.variations(index)) for index in range(3)] == [(1, 0), (1, 1), (1, 2)]
    final, sizes = _coarse_to_fine(noisy_votes)
    assert sizes[0] == 8
    assert all(size <= COARSE_TO_FINE.candidates[index] for index, size in sizes.items())
    assert sizes[2] > 12  # finer than the round before
    assert final.next_round == 4


@pytest.mark.parametrize("stop", [1, 2, 3])
def test_after_a_lost_round_the_next_one_still_keeps_within_its_own_candidates(tmp_path, stop):
    """Parents were selected for the round that was lost; the next one may have room for fewer, or for more."""
    _coarse_to_fine_until(stop, tmp_path)
    final, sizes = _coarse_to_fine(noisy_votes, checkpoint=tmp_path, begun=frozenset(range(stop + 1)))
    assert set(sizes) == set(range(stop + 1, 4))
    assert all(0 < size <= COARSE_TO_FINE.candidates[index] for index, size in sizes.items())
    assert final.release is not None


def _coarse_to_fine_until(stop, folder):
    with pytest.raises(Interrupted):
        _coarse_to_fine(_breaking(stop), checkpoint=folder)


def test_first_candidates_are_too_many_for_a_smaller_round_that_comes_first(tmp_path):
    seen = {}
    evolve(
        Evolution(candidates=(8, 3), most_variations=3),
        INITIAL,
        generator=LineGenerator(),
        privatise=lambda index, candidates: seen.setdefault(index, noisy_votes(index, candidates)),
        select=SUBSAMPLE,
        rng=np.random.default_rng(1),
        checkpoint=tmp_path,
        begun=frozenset({0}),
    )
    assert {index: len(release.votes) for index, release in seen.items()} == {1: 3}


def test_what_a_run_tells_of_its_releases_is_kept_with_the_state(tmp_path):
    def breaking(index, candidates):
        if index == 3:
            raise Interrupted
        return noisy_votes(index, candidates)

    def describe(index):
        return {"scale": 0.1 * (index + 1)}

    with pytest.raises(Interrupted):
        _run(breaking, checkpoint=tmp_path, describe=describe)
    assert [told["round"] for told in load_state(tmp_path).told] == [0, 1, 2]
    final = _run(checkpoint=tmp_path, begun=frozenset(range(4)), describe=describe)
    assert [told["round"] for told in final.told] == [0, 1, 2, 4, 5]
    assert final.told[2] == {"round": 2, "scale": 0.1 * 3}


@pytest.mark.parametrize("prior", [None, np.array([0.5, 0.25, 0.25])], ids=["no prior", "prior"])
def test_a_state_comes_back_as_it_was(tmp_path, prior):
    rng = np.random.default_rng(3)
    release = Draws(np.array([3, 0, 2]), 0.1 + 0.2, np.array([0.1, 0.2, 0.7]), 12, prior)
    told = ({"round": 0, "mixing_weight": 0.1 + 0.2}, {"round": 1, "stddev": 3.5})
    state = State(2, np.array([[np.nan, 1e-300]]), np.zeros((3, 2)), release, rng.bit_generator.state, told)
    save_state(state, tmp_path / "deep" / "folder")
    back = load_state(tmp_path / "deep" / "folder")
    _same(back, state)
    assert back.told == told
    assert back.release.mixing_weight == release.mixing_weight
    np.testing.assert_array_equal(back.release.noise_distribution, release.noise_distribution)
    assert back.release.counts.dtype == np.int64
    np.testing.assert_array_equal(back.release.prior, prior)


@pytest.mark.parametrize("damage", ["cut", "garbage", "empty"])
def test_a_damaged_checkpoint_is_refused_and_says_that_nothing_comes_back(tmp_path, damage):
    _run(checkpoint=tmp_path)
    path = tmp_path / "state.npz"
    whole = path.read_bytes()
    path.write_bytes({"cut": whole[: len(whole) // 2], "garbage": b"PK" + whole[99:], "empty": b""}[damage])
    with pytest.raises(InputFileError, match=r"damaged.*stays spent"):
        load_state(tmp_path)


def _altered(state, **changes):
    told = ({"round": 0, "scale": 2.0}, {"round": 2, "scale": 3.0})
    fields = {name: getattr(state, name) for name in State.__slots__} | {"next_round": 3, "told": told}
    return State(**(fields | changes))


@pytest.mark.parametrize(
    ("changes", "sound"),
    [
        ({}, True),
        ({"told": ()}, True),
        ({"told": ({"round": 2, "scale": 3.0}, {"round": 0, "scale": 2.0})}, False),
        ({"told": ({"round": 2}, {"round": 2})}, False),
        ({"told": ({"round": -1}, {"round": 2})}, False),
        ({"told": ({"round": 2, "scale": float("inf")},)}, False),
        ({"told": ({"round": 2, "mixing_weight": 0.25},)}, True),
        ({"told": ({"round": 2, "mixing_weight": 0.26},)}, False),
        ({"told": ({"round": 1},)}, False),
        ({"told": ({"scale": 1.0},)}, False),
        ({"parents": np.zeros((2, 2))}, False),
        ({"parents": np.zeros((0, 1))}, False),
        ({"candidates": np.zeros((2, 1))}, False),
        ({"release": None}, False),
    ],
)
def test_a_state_whose_parts_do_not_belong_together_is_damaged(tmp_path, changes, sound):
    """Of round 1 nothing is told: it was lost."""
    state = _run(draws)
    save_state(_altered(state, **changes), tmp_path)
    if sound:
        assert load_state(tmp_path).next_round == 3
    else:
        with pytest.raises(InputFileError, match="damaged"):
            load_state(tmp_path)


def test_a_checkpoint_that_would_run_code_is_refused(tmp_path):
    save_state(State(0, INITIAL, INITIAL, None, np.random.default_rng(0).bit_generator.state), tmp_path)
    assert load_state(tmp_path).release is None
    np.savez(tmp_path / "state.npz", header=np.array([print], object))
    with pytest.raises(InputFileError):
        load_state(tmp_path)


POOLED = Evolution(candidates=(32,) * 6, most_variations=1, first_scale=1.0, last_scale=0.05, pooled=True)


def _pooling(privatise=noisy_votes, *, seed=1, **more):
    settings = {"generator": LineGenerator(), "select": SUBSAMPLE, "rng": np.random.default_rng(seed)}
    return evolve(POOLED, INITIAL, privatise=privatise, **settings, **more)


def test_a_run_that_pools_keeps_all_rounds_and_asks_of_new_records_only():
    seen = []

    def privatise(index, candidates):
        seen.append(candidates)
        return noisy_votes(index, candidates)

    final = _pooling(privatise)
    assert [one.index for one in final.released] == list(range(6))
    for kept, asked in zip(final.released, seen, strict=True):
        np.testing.assert_array_equal(kept.candidates, asked)
        np.testing.assert_array_equal(kept.release.votes, noisy_votes(0, asked).votes)
    for before, after in pairwise(seen):
        assert len(after) == 32
        assert not np.isin(after, before).any()


@pytest.mark.parametrize("privatise", [noisy_votes, draws])
@pytest.mark.parametrize("stop", [1, 3, 5])
def test_a_resumed_run_has_the_rounds_before_it_too(tmp_path, privatise, stop):
    unbroken = _pooling(privatise)
    with pytest.raises(Interrupted):
        _pooling(_breaking(stop, privatise), checkpoint=tmp_path)
    resumed = _pooling(privatise, seed=999, checkpoint=tmp_path, begun=frozenset(range(stop)))
    _same(resumed, unbroken)
    for kept, whole in zip(resumed.released, unbroken.released, strict=True):
        assert kept.index == whole.index
        np.testing.assert_array_equal(kept.candidates, whole.candidates)
        np.testing.assert_array_equal(kept.release.estimate(), whole.release.estimate())


def test_a_lost_round_is_missing_among_those_kept(tmp_path):
    with pytest.raises(Interrupted):
        _pooling(_breaking(2), checkpoint=tmp_path)
    resumed = _pooling(checkpoint=tmp_path, begun=frozenset({0, 1, 2}))
    assert [one.index for one in resumed.released] == [0, 1, 3, 4, 5]
    assert [one.index for one in load_state(tmp_path).released] == [0, 1, 3, 4, 5]


def test_a_run_that_does_not_pool_keeps_one_round():
    assert [one.index for one in _run().released] == [5]


def test_without_variations_the_parents_stay():
    pooled = Evolution(candidates=(8, 8), most_variations=0, pooled=True)
    assert pooled.keeps_parents(1)
    assert (pooled.variations(1), pooled.parents(1), pooled.scales(1)) == (0, 8, ())
    several = Evolution(candidates=(9, 9), most_variations=3, pooled=True)
    assert (several.variations(1), several.parents(1), several.keeps_parents(1)) == (3, 3, False)
