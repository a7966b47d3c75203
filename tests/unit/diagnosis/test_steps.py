from itertools import combinations

import numpy as np
import pytest
from point_worlds import Subspace, subspace

from evomix.core.errors import GeneratorError
from evomix.diagnosis import steps as module
from evomix.diagnosis.pairs import Pairs, serving
from evomix.diagnosis.steps import measure_steps


def pairs_of(dimension, *, count=100, seed=0):
    rng = np.random.default_rng(seed)
    population = rng.standard_normal((count, dimension))
    return Pairs(population, rng.permutation(count), rng.standard_normal((count, dimension)))


def measured(generator, pairs, *, scale=0.5, variations=64, vectors=np.asarray):
    rng = np.random.default_rng(1)
    return measure_steps(generator, vectors, pairs, scale=scale, variations=variations, rng=rng)


def test_isotropic_variations():
    found = measured(subspace(12, 12), pairs_of(12))
    assert np.median(found.shares.rank) == pytest.approx(12, rel=0.12)
    assert np.median(found.participation) == pytest.approx(12, rel=0.05)
    assert np.median(found.constant) == pytest.approx(0.186, abs=0.05)
    assert found.length.mean() == pytest.approx(0.5, rel=0.02)
    assert np.median(found.drift) < 0.1
    assert np.median(found.gain) == pytest.approx(0.186 / (200 * 12), rel=0.3)


def test_a_subspace_is_reached_within_and_not_outside():
    inside = Subspace(np.eye(10)[:3])
    pairs = pairs_of(10)
    flat = Pairs(pairs.population, pairs.parents, pairs.population[pairs.parents] + [1, 2, 3, 0, 0, 0, 0, 0, 0, 0])
    assert np.median(measured(inside, flat).shares.rank) == pytest.approx(3, rel=0.1)
    upright = Pairs(pairs.population, pairs.parents, pairs.population[pairs.parents] + np.eye(10)[7])
    found = measured(inside, upright)
    assert np.isposinf(found.shares.rank).all()
    assert (found.gain == 0.0).all()
    assert (found.nearer == 1.0).all()


def test_a_mean_that_is_not_the_parent_is_seen():
    class Drifting(Subspace):
        def vary(self, parents, scale, rng):
            return super().vary(parents, scale, rng) + np.array([2.0 * scale, 0.0])

    assert np.median(measured(Drifting(np.eye(2)), pairs_of(2)).drift) == pytest.approx(2.0, rel=0.1)


def test_the_nearest_of_several_is_the_mean_over_all_choices():
    found = measured(subspace(3, 3), pairs_of(3, count=4), variations=9)
    for count in (1, 2, 4, 9):
        brute = [[min(row[list(chosen)]) for chosen in combinations(range(9), count)] for row in found.nearer]
        assert found.best_of(count) == pytest.approx(np.mean(brute, axis=1))
    for count in (0, 10):
        with pytest.raises(ValueError, match="count"):
            found.best_of(count)


def test_blocks_change_nothing(monkeypatch):
    generator, pairs = subspace(6, 6), pairs_of(6, count=30)
    whole = measured(generator, pairs, variations=8)
    monkeypatch.setattr(module, "ROWS", 25)
    parts = measured(generator, pairs, variations=8)
    for name in ("length", "constant", "drift", "participation", "nearer"):
        assert getattr(parts, name) == pytest.approx(getattr(whole, name)), name
    assert parts.shares.share == pytest.approx(whole.shares.share)


def test_each_variation_is_one_of_its_own_parent():
    class Marked:
        def vary(self, parents, scale, rng):
            assert len(parents) == 5  # the whole population, which may mix
            return parents + scale * np.array([1.0, 0.0])

    population = np.arange(10.0).reshape(5, 2)
    pairs = Pairs(population, np.array([4, 0]), population[[4, 0]] + [1.0, 0.0])
    found = measured(Marked(), pairs, scale=0.25, variations=8)
    assert found.nearer == pytest.approx(np.full((2, 8), 0.75))


def test_a_generator_that_gives_too_few_is_refused():
    class Short(Subspace):
        def vary(self, parents, scale, rng):
            return parents[:-1]

    with pytest.raises(GeneratorError, match="variations=9"):
        measured(Short(np.eye(2)), pairs_of(2, count=10))


def test_targets_go_with_the_record_that_serves_them_and_found_ones_are_left_out():
    population = np.array([[0.0, 0.0], [10.0, 0.0]])
    targets = np.array([[9.0, 1.0], [0.0, 0.0], [1.0, 1.0]])
    found = serving(population, targets, np.asarray)
    assert found.parents.tolist() == [1, 0]
    assert found.targets.tolist() == [[9.0, 1.0], [1.0, 1.0]]
