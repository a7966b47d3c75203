"""The graphical-model engine against sums over all rows that there could be."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from evomix.bench.rivals.estimation import Measurement, estimate
from evomix.bench.rivals.factor import Factor, contract
from evomix.bench.rivals.graphical_model import GraphicalModel, independent_model
from evomix.bench.rivals.grid import marginal
from evomix.bench.rivals.junction_tree import cells, joined, junction_tree, size_mb
from evomix.bench.rivals.lattice import lattice
from evomix.bench.rivals.row_sampling import round_shares, sample_rows
from evomix.bench.rivals.simplex import nearest_counts
from evomix.bench.rivals.tree_program import TreeProgram
from evomix.core.errors import SpecError


def subsets(columns, most):
    return [clique for k in range(1, most + 1) for clique in combinations(range(columns), k)]


@st.composite
def models(draw):
    sizes = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=5)))
    every = subsets(len(sizes), 3)
    cliques = tuple(draw(st.lists(st.sampled_from(every), min_size=1, max_size=6, unique=True)))
    return sizes, cliques, draw(st.integers(0, 2**32 - 1)), draw(st.sampled_from([0.0, 1.0, 30.0, 3000.0]))


def spread(clique, values, sizes):
    return np.reshape(values, [sizes[j] if j in clique else 1 for j in range(len(sizes))])


def sums(joint, clique):
    return joint.sum(axis=tuple(j for j in range(joint.ndim) if j not in clique)).reshape(-1)


def joint_of(cliques, potentials, sizes, total):
    log = np.zeros(sizes)
    for clique, values in zip(cliques, potentials, strict=True):
        log = log + spread(clique, values, sizes)
    joint = np.exp(log - log.max())
    return joint * (total / joint.sum())


def propagated(sizes, cliques, potentials, total):
    program = TreeProgram(junction_tree(cliques, sizes), cliques, sizes=sizes, total=total)
    found = program.marginals(np.concatenate(potentials))
    return found, GraphicalModel(program.tree, program.beliefs())


@settings(max_examples=60, deadline=None)
@given(models())
def test_message_passing_is_the_sum_over_all_rows(drawn):
    sizes, cliques, seed, scale = drawn
    rng = np.random.default_rng(seed)
    potentials = [scale * rng.normal(size=cells(clique, sizes)) for clique in cliques]
    joint = joint_of(cliques, potentials, sizes, 7.0)
    found, model = propagated(sizes, cliques, potentials, 7.0)
    np.testing.assert_allclose(found, np.concatenate([sums(joint, clique) for clique in cliques]), atol=1e-9)
    assert model.sizes == sizes
    for clique in [(), *subsets(len(sizes), len(sizes))]:  # those across the tree too
        np.testing.assert_allclose(model.marginal(clique), sums(joint, clique), atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(models())
def test_junction_trees_hold_every_marginal_and_keep_columns_connected(drawn):
    sizes, cliques, _, _ = drawn
    tree = junction_tree(cliques, sizes)
    assert all(tree.holder(clique, sizes) is not None for clique in cliques)
    assert set().union(*tree.cliques) == set(range(len(sizes)))
    assert not any(set(one) < set(other) for one in tree.cliques for other in tree.cliques)
    for j in range(len(sizes)):
        holding = [k for k, clique in enumerate(tree.cliques) if j in clique]
        below = [k for k in holding if tree.parents[k] >= 0 and j in tree.cliques[tree.parents[k]]]
        assert len(below) == len(holding) - 1  # all but one hang on another that has the column
    assert size_mb(joined(cliques, len(sizes)), sizes) * 2**17 == pytest.approx(
        sum(cells(clique, sizes) for clique in tree.cliques)
    )


def test_a_square_needs_one_chord_and_a_tree_none():
    assert sorted(map(len, junction_tree([(0, 1), (1, 2), (2, 3), (0, 3)], (2, 2, 2, 2)).cliques)) == [3, 3]
    assert set(junction_tree([(0, 1), (1, 2), (1, 3)], (2, 3, 4, 5)).cliques) == {(0, 1), (1, 2), (1, 3)}
    # Two triangles either way; the chord joins the two small columns, so that the large ones never meet.
    assert size_mb(joined([(0, 1), (1, 2), (2, 3), (0, 3)], 4), (2, 9, 2, 9)) * 2**17 == pytest.approx(2 * 2 * 2 * 9)


def test_a_lattice_reaches_every_target_by_sums_over_neighbouring_axes():
    sizes, targets = (3, 7, 2, 5, 4), [(0,), (0, 2), (1, 4), (), (3, 4), (0, 1, 2, 3, 4)]
    found = lattice((0, 1, 2, 3, 4), targets, sizes)
    for target in targets:
        path = found.path(target)
        assert path[0] == found.top
        assert path[-1] == target
    for node, above in found.above.items():
        gone = [above.index(j) for j in above if j not in node]
        assert set(node) < set(above)
        assert gone == list(range(gone[0], gone[-1] + 1))


def test_contraction_is_a_product_summed():
    rng = np.random.default_rng(0)
    one, other = Factor((0, 1, 3), rng.random((2, 3, 4))), Factor((1, 2, 3), rng.random((3, 5, 4)))
    expected = np.einsum("abd,bcd->acd", one.values, other.values)
    found = contract(one, other, (0, 2, 3))
    assert found.columns == (0, 2, 3)
    np.testing.assert_allclose(found.values, expected)
    assert contract(one, other, ()).values == pytest.approx(expected.sum())


def table(rows, sizes, seed):
    """Rows in which each column leans on the one before it."""
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, size, rows) for size in sizes], axis=1)
    for j in range(1, len(sizes)):
        same = rng.random(rows) < 0.7
        codes[same, j] = codes[same, j - 1] % sizes[j]
    return codes


@pytest.mark.parametrize(
    "cliques", [[(0, 1), (1, 2), (2, 3), (3, 4)], [(0, 1), (1, 2), (2, 3), (0, 3), (4,)], [(0, 1, 2), (2, 3), (3, 4)]]
)
def test_exact_marginals_are_recovered(cliques):
    sizes = (3, 4, 2, 3, 4)
    codes = table(5000, sizes, 1)
    exact = [Measurement(clique, marginal(codes, sizes, clique), 1.0) for clique in cliques]
    model = estimate(exact, sizes, total=5000.0)
    for one in exact:
        np.testing.assert_allclose(model.marginal(one.clique), one.values, atol=0.5)
    assert model.total == pytest.approx(5000.0)


def test_noisy_marginals_that_disagree_get_the_weighted_least_squares_fit():
    # One column of three values, known total 10: the nearest counts in squares are a projection to the simplex.
    noisy = np.array([7.0, 5.0, -3.0])
    model = estimate([Measurement((0,), noisy, 0.25)], (3,), total=10.0)
    np.testing.assert_allclose(model.marginal((0,)), nearest_counts(noisy, 10.0), atol=0.02)
    # Two answers to one question: the one with four times the weight counts four times.
    both = [Measurement((0,), np.array([10.0, 0.0]), 1.0), Measurement((0,), np.array([5.0, 5.0]), 4.0)]
    np.testing.assert_allclose(estimate(both, (2,), total=10.0).marginal((0,)), [6.0, 4.0], atol=1e-3)
    # A weight for each cell: (x − 8)² + 3·(10 − x − 6)² is least at x = 5.
    one = Measurement((0,), np.array([8.0, 6.0]), np.array([1.0, 3.0]))
    np.testing.assert_allclose(estimate([one], (2,), total=10.0).marginal((0,)), [5.0, 5.0], atol=1e-3)


def test_the_loss_is_the_least_of_any_distribution():
    """Non-negative least squares over all 72 rows that there could be is an independent way to the least loss."""
    rng = np.random.default_rng(3)
    sizes, cliques = (3, 4, 2, 3), [(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)]
    codes = table(400, sizes, 4)
    noisy = {clique: marginal(codes, sizes, clique) + rng.normal(0, 12, cells(clique, sizes)) for clique in cliques}
    every = np.stack(np.unravel_index(np.arange(72), sizes), axis=1)
    design = np.concatenate([np.transpose([marginal(row[None], sizes, c) for row in every]) for c in cliques])
    target = np.concatenate(list(noisy.values()))
    _, distance = nnls(np.vstack([design, np.full((1, 72), 1e3)]), np.append(target, 400e3), maxiter=10_000)
    model = estimate([Measurement(c, values, 1.0) for c, values in noisy.items()], sizes, total=400.0)
    found = np.concatenate([model.marginal(clique) for clique in cliques])
    assert distance**2 <= np.sum((found - target) ** 2) * (1.0 + 1e-6)
    assert np.sum((found - target) ** 2) <= 1.01 * distance**2


def test_columns_without_a_measurement_are_even():
    model = estimate([Measurement((0,), np.array([3.0, 1.0]), 1.0)], (2, 4), total=4.0)
    np.testing.assert_allclose(model.marginal((0, 1)), [0.75] * 4 + [0.25] * 4, atol=1e-3)


def test_no_rows_are_refused():
    with pytest.raises(SpecError, match="at least one row"):
        estimate([Measurement((0,), np.zeros(2), 1.0)], (2,), total=0.0)


def test_rows_have_the_counts_of_the_model():
    sizes = (3, 4, 2, 3, 4)
    codes = table(4000, sizes, 2)
    cliques = [(0, 1), (1, 2), (2, 3), (3, 4)]
    model = estimate([Measurement(c, marginal(codes, sizes, c), 1.0) for c in cliques], sizes, total=4000.0)
    rows = sample_rows(model, 8000, np.random.default_rng(0))
    assert rows.shape == (8000, 5)
    root = model.tree.cliques[0]
    for clique in cliques:
        gap = np.abs(marginal(rows, sizes, clique) - 2.0 * model.marginal(clique)).max()
        assert gap <= (3.0 if clique == root else 60.0)
    across = np.abs(marginal(rows, sizes, (0, 4)) - 2.0 * model.marginal((0, 4))).sum() / 16000
    assert across < 0.02


def test_rounding_is_within_one_and_unbiased():
    rng = np.random.default_rng(0)
    shares = np.array([[0.05, 0.25, 0.7], [0.5, 0.5, 0.0]])
    members = np.array([3, 5])
    drawn = np.stack([round_shares(shares, members, rng) for _ in range(4000)])
    assert np.all(drawn.sum(axis=2) == members)
    assert np.all(np.abs(drawn - members[:, None] * shares) < 1.0)
    np.testing.assert_allclose(drawn.mean(axis=0), members[:, None] * shares, atol=0.04)


def test_no_rows_and_one_row_can_be_drawn():
    model = independent_model([np.array([0.0, 2.0]), np.array([1.0, 1.0, 0.0])])
    assert sample_rows(model, 0, np.random.default_rng(0)).shape == (0, 2)
    rows = sample_rows(model, 1, np.random.default_rng(0))
    assert rows[0, 0] == 1
    assert rows[0, 1] < 2
    np.testing.assert_allclose(model.marginal((0, 1)), [0, 0, 0, 1, 1, 0])


def test_nearest_counts():
    np.testing.assert_allclose(nearest_counts(np.array([7.0, 5.0, -3.0]), 10.0), [6.0, 4.0, 0.0])
    np.testing.assert_allclose(nearest_counts(np.array([-4.0]), 3.0), [3.0])
