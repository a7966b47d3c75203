import numpy as np
import pytest
from point_worlds import subspace

from evomix.core.errors import SpecError
from evomix.diagnosis.reachability import approach, ceilings

SCALES = (1.0, 0.5, 0.25, 0.125)


def reached(generator, targets, start, *, rounds=6, seed=0):
    rng = np.random.default_rng(seed)
    return approach(generator, np.asarray, targets, start=start, scales=SCALES, rounds=rounds, rng=rng)


def test_variations_come_nearer_and_never_go_back():
    rng = np.random.default_rng(0)
    targets = rng.standard_normal((50, 3))
    found = reached(subspace(3, 3), targets, 3.0 + rng.standard_normal((50, 3)))
    assert found.distances.shape == (7, 50)
    assert found.rounds == 6
    assert (np.diff(found.distances, axis=0) <= 0.0).all()
    assert found.distances[-1].mean() < 0.3 * found.distances[0].mean()
    assert np.linalg.norm(found.parents - targets, axis=1) == pytest.approx(found.distances[-1])


def test_a_direction_without_variations_is_not_gone():
    targets = np.zeros((5, 4))
    targets[:, 3] = 2.0
    found = reached(subspace(2, 4, seed=3), targets, np.zeros((1, 4)), rounds=30)
    basis = subspace(2, 4, seed=3).basis
    outside = np.linalg.norm(targets - targets @ basis.T @ basis, axis=1)
    assert (found.distances[-1] >= outside - 1e-9).all()
    assert found.distances[-1] == pytest.approx(outside, rel=0.05)


def test_a_seed_makes_it_repeatable():
    targets = np.random.default_rng(0).standard_normal((20, 3))
    curves = [reached(subspace(3, 3), targets, targets[:1] + 5.0, seed=seed).distances for seed in (1, 1, 2)]
    assert (curves[0] == curves[1]).all()
    assert (curves[0] != curves[2]).any()


def test_what_cannot_be_run_is_refused():
    some = np.zeros((2, 2))
    for targets, start, rounds in ((some[:0], some, 1), (some, some[:0], 1), (some, some, 0)):
        with pytest.raises(SpecError, match="an approach needs"):
            reached(subspace(2, 2), targets, start, rounds=rounds)


def test_a_ceiling_is_the_distance_of_public_samples():
    public = np.array([[0.0], [4.0], [10.0]])
    targets = np.array([[1.0], [9.0]])
    rng = np.random.default_rng(0)
    assert ceilings(np.asarray, targets, public, size=3, samples=2, rng=rng).tolist() == [1.0, 1.0]
    single = ceilings(np.asarray, targets, public, size=1, samples=4000, rng=rng)
    assert single == pytest.approx([13 / 3, 5.0], rel=0.1)
