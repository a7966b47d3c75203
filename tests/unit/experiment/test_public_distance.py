"""Distance between public tables, and the part of it that any two samples have."""

import numpy as np
import pyarrow as pa
import pytest
from experiment_tables import SCHEMA, jobs, people

from evomix.experiment.public_distance import Apart, apart, columns_apart, group_votes, voters_of_sets
from evomix.experiment.public_side import open_public


def _samples(law, sizes, rng):
    laws = [law] * len(sizes) if np.ndim(law) == 1 else law
    cells = [rng.choice(len(one), size, p=one) for one, size in zip(laws, sizes, strict=True)]
    return np.concatenate(cells), np.repeat(np.arange(len(sizes)), sizes)


def test_samples_of_one_law_are_apart_by_sampling_alone():
    rng = np.random.default_rng(0)
    law = rng.dirichlet(np.ones(200))
    found = [apart(*_samples(law, (400, 900, 300), rng), rng=rng) for _ in range(20)]
    distance, sampling = (np.mean([getattr(one, name) for one in found]) for name in ("distance", "sampling"))
    assert sampling > 0.15
    assert sampling == pytest.approx(distance, rel=0.03)


def test_the_laws_distance_lies_between_the_corrected_figure_and_gamma():
    rng = np.random.default_rng(1)
    for part in (0.05, 0.2, 0.6, 1.0):
        one, other = rng.dirichlet(np.ones(100)), rng.dirichlet(np.ones(100))
        laws = one, (1 - part) * one + part * other
        true = 0.5 * np.abs(laws[0] - laws[1]).sum()
        found = [apart(*_samples(laws, (500, 500), rng), rng=rng, deals=5) for _ in range(40)]
        # Means of forty, each with a spread of about a hundredth.
        assert np.mean([one.corrected for one in found]) < true + 0.01
        assert np.mean([one.distance for one in found]) > true - 0.01
        assert np.mean([one.sampling for one in found]) > 0.1  # or there would be nothing to tell


def test_without_sampling_there_is_nothing_to_correct():
    cells, groups = np.array([0] * 50 + [1] * 50), np.repeat([0, 1], 50)
    found = apart(cells, groups, rng=np.random.default_rng(0))
    assert found.distance == 1.0
    assert 0.0 < found.sampling < 0.2
    assert Apart(0.1, 0.2).corrected == 0.0
    same = apart(np.zeros(20, np.int64), np.arange(20) % 4, rng=np.random.default_rng(0))
    assert same == Apart(0.0, 0.0)


def test_votes_of_groups_are_their_shares():
    votes = group_votes(np.array([0, 0, 2, 1]), np.array([0, 0, 0, 1]), 3)
    np.testing.assert_allclose(votes, [[2 / 3, 0, 1 / 3], [0, 1, 0]])


def test_a_small_table_is_heard_beside_a_large_one():
    side = open_public([people(9000, seed=1), people(100, seed=2), people(3000, seed=3)], SCHEMA)
    rows, sets = voters_of_sets(side, most=3000, rng=np.random.default_rng(0))
    assert np.bincount(sets).tolist() == [1000, 100, 1000]
    everyone, all_sets = voters_of_sets(side, most=20_000, rng=np.random.default_rng(0))
    assert np.bincount(all_sets).tolist() == [9000, 100, 3000]
    np.testing.assert_array_equal(rows[sets == 1], everyone[all_sets == 1])
    ids = {row.tobytes() for row in everyone[all_sets == 2]}
    assert all(row.tobytes() in ids for row in rows[sets == 2])


def _columns(tables):
    side = open_public(tables, SCHEMA)
    rows, sets = voters_of_sets(side, most=50_000, rng=np.random.default_rng(0))
    return columns_apart(side, rows, sets, rng=np.random.default_rng(0))


@pytest.mark.parametrize("name", ["age", "income", "job"])
def test_the_column_that_differs_comes_first(name):
    first, second = people(900, seed=1), people(900, seed=2)
    moved = {"age": pa.array(np.full(900, 20)), "income": pa.nulls(900, pa.float64()), "job": pa.array(["a"] * 900)}
    columns = _columns([first, second.set_column(second.column_names.index(name), name, moved[name])])
    assert columns[0].name == name
    assert columns[0].apart.corrected > 0.3
    assert all(one.apart.corrected < 0.1 for one in columns[1:])


def test_numbers_of_one_value_and_constant_columns_do_no_harm():
    side = open_public([jobs(20, values=("a",)), jobs(30, values=("a",))])
    rows, sets = voters_of_sets(side, most=50_000, rng=np.random.default_rng(0))
    (only,) = columns_apart(side, rows, sets, rng=np.random.default_rng(0))
    assert only.apart == Apart(0.0, 0.0)
