import numpy as np
import pyarrow as pa
import pytest

from evomix.core.errors import SchemaError, SpecError
from evomix.modalities.tabular.generator import TableGenerator
from evomix.modalities.tabular.modality import build_table_modality
from evomix.modalities.tabular.schema import Column, Schema
from evomix.modalities.tabular.transform import learn_transforms

PAIR = Schema((Column("x", "integer", min=0, max=99), Column("y", "integer", min=0, max=99)))
TRIPLE = Schema(tuple(Column(name, "category", values=tuple("abcdefghij")) for name in "pqr"))


def generator(schema, public=None, **options):
    return TableGenerator(schema, learn_transforms(schema, public), public=public, **options)


def rng(seed=0):
    return np.random.default_rng(seed)


def rows_of(matrix):
    return [tuple(row) for row in matrix.tolist()]


@pytest.mark.parametrize("size", [3, 100])
def test_random_takes_each_public_row_at_most_once(size):
    public = np.column_stack([np.arange(100.0), np.arange(100.0)[::-1]])
    drawn = rows_of(generator(PAIR, public).random(size, rng()))
    assert len(set(drawn)) == size
    assert set(drawn) <= set(rows_of(public))


def test_random_past_the_public_rows_adds_variations_of_them():
    public = np.column_stack([np.arange(10.0) * 10, np.arange(10.0) * 10])
    drawn = generator(PAIR, public).random(40, rng())
    assert sorted(rows_of(drawn[:10])) == sorted(rows_of(public))
    assert len(set(rows_of(drawn))) > 30
    # The variations keep most of x = y; independent columns would be some 33 apart.
    assert np.median(np.abs(drawn[10:, 0] - drawn[10:, 1])) < 25


def test_random_without_public_rows_is_even_and_independent():
    schema = Schema((*PAIR.columns, Column("c", "category", values=("a", "b", "c", "d"), missing=True)))
    drawn = generator(schema).random(20_000, rng())
    assert abs(drawn[:, 0].mean() - 49.5) < 1
    assert abs(np.corrcoef(drawn[:, 0], drawn[:, 1])[0, 1]) < 0.03
    assert abs(np.isnan(drawn[:, 2]).mean() - 0.1) < 0.01
    shares = np.bincount(drawn[~np.isnan(drawn[:, 2]), 2].astype(int)) / np.isfinite(drawn[:, 2]).sum()
    np.testing.assert_allclose(shares, 0.25, atol=0.02)


def test_an_empty_public_table_is_no_public_table():
    first = generator(PAIR).random(50, rng())
    np.testing.assert_array_equal(generator(PAIR, np.empty((0, 2))).random(50, rng()), first)


def test_smaller_scales_change_fewer_cells():
    schema = Schema(tuple(Column(f"c{i}", "integer", min=0, max=1000) for i in range(20)))
    parents = generator(schema).random(2000, rng())
    changed = [
        (generator(schema, sweeping=0.0).vary(parents, scale, rng(1)) != parents).sum(axis=1).mean()
        for scale in (1.0, 0.5, 0.1, 0.01)
    ]
    assert changed == sorted(changed, reverse=True)
    assert 9 < changed[0] < 12
    assert 1 <= changed[-1] < 1.2


def test_crossover_only_copies_cells_of_other_parents():
    parents = np.column_stack([np.arange(50.0), 49 - np.arange(50.0)])
    children = generator(PAIR, crossover=1.0, public_crossover=0.0, sweeping=0.0).vary(parents, 1.0, rng())
    inherited = np.isin(children, parents).all()
    assert inherited
    assert (children != parents).any(axis=1).all()
    # Columns are not mixed up: with disjoint ranges each stays in its own.
    low_high = np.column_stack([np.arange(40.0), 60 + np.arange(39.0, -1, -1)])
    crossed = generator(PAIR, crossover=1.0, public_crossover=0.0, sweeping=0.0).vary(low_high, 1.0, rng())
    forced = (crossed[:, 0] >= 40) | (crossed[:, 1] < 60)
    assert forced.mean() < 0.1


def test_a_sweep_moves_all_numbers_a_little_and_redraws_some_categories():
    schema = Schema(
        (
            *(Column(f"c{i}", "integer", min=0, max=1000) for i in range(5)),
            Column("holes", "number", min=0, max=1, missing=True),
            Column("job", "category", values=("a", "b", "c", "d")),
        )
    )
    parents = generator(schema).random(4000, rng())
    children = generator(schema, sweeping=1.0).vary(parents, 0.2, rng(1))
    moved = np.abs(children[:, :5] - parents[:, :5])
    assert moved.max() <= 100.5  # half the scale, of a range of 1000, to the nearest whole number
    assert (moved > 0).mean() > 0.97
    assert 45 < moved.mean() < 52
    assert 0.05 < (children[:, 6] != parents[:, 6]).mean() < 0.1  # a tenth redrawn, of which one in four is the same
    missing = np.isnan(parents[:, 5]), np.isnan(children[:, 5])
    assert 0.0 < (missing[0] != missing[1]).mean() < 0.1
    assert children[:, :5].min() >= 0
    assert children[:, :5].max() <= 1000


def test_half_of_the_variations_sweep():
    schema = Schema(tuple(Column(f"c{i}", "number", min=0, max=1) for i in range(20)))
    parents = generator(schema).random(2000, rng())
    changed = (generator(schema).vary(parents, 0.05, rng(1)) != parents).sum(axis=1)
    assert 0.45 < (changed == 20).mean() < 0.55
    assert (changed > 0).all()
    with pytest.raises(SpecError, match="sweeping"):
        generator(schema, sweeping=1.5)


def test_public_crossover_keeps_what_public_rows_know():
    halves, bits = rng(3).integers(0, 5, 2000), rng(4).integers(0, 2, 2000)
    public = np.column_stack([halves, halves, 2 * halves + bits]).astype(float)

    def broken(**options):
        children = generator(TRIPLE, public, **options).vary(public[:1000], 1.0, rng(5))
        return np.mean((children[:, 0] != children[:, 1]) | (children[:, 0] != children[:, 2] // 2))

    one = broken(crossover=0.0, public_crossover=1.0, public_sample=1)
    eight = broken(crossover=0.0, public_crossover=1.0, public_sample=8)
    many = broken(crossover=0.0, public_crossover=1.0, public_sample=100)
    assert one > eight + 0.05 > many + 0.1


def test_the_donor_is_judged_on_the_kept_cells_only():
    public = np.array([[0.0, 5, 5], [1.0, 6, 6]])
    copier = generator(TRIPLE, public, crossover=0.0, public_crossover=1.0, public_sample=64)
    chosen = np.tile([False, True, True], (2, 1))
    donors = copier._agreeing(np.array([[0.0, 6, 6], [1.0, 5, 5]]), chosen, rng())
    assert donors.tolist() == [0, 1]


def test_a_donor_that_changes_nothing_comes_last():
    public = np.array([[0.0, 5, 5], [1.0, 6, 6]])
    copier = generator(TRIPLE, public, crossover=0.0, public_crossover=1.0, public_sample=64)
    donors = copier._agreeing(public, np.tile([False, True, True], (2, 1)), rng())
    assert donors.tolist() == [1, 0]


def test_redraws_follow_the_public_marginal_but_reach_unseen_categories():
    public = np.zeros((500, 3))
    drawn = generator(TRIPLE, public, crossover=0.0, public_crossover=0.0).vary(np.full((20_000, 3), 9.0), 1.0, rng())
    changed = drawn[drawn != 9.0]
    assert np.mean(changed == 0.0) > 0.75
    assert set(changed) == set(range(9))


def test_one_row_and_one_column_still_change():
    for schema in (PAIR, Schema(PAIR.columns[:1])):
        parent = np.zeros((1, len(schema.modelled)))
        for seed in range(50):
            assert (generator(schema, parent).vary(parent, 1e-9, rng(seed)) != parent).sum() == 1


def test_wrong_arguments_are_refused():
    public = np.zeros((3, 2))
    for scale in (0.0, -1.0, 1.01, np.nan):
        with pytest.raises(SpecError, match="scale"):
            generator(PAIR).vary(public, scale, rng())
    for shape in ((2,), (2, 3)):
        with pytest.raises(SpecError, match="columns=2"):
            generator(PAIR).vary(np.zeros(shape), 0.5, rng())
    with pytest.raises(SpecError, match="columns=2"):
        TableGenerator(PAIR, learn_transforms(PAIR), public=np.zeros((3, 1)))
    with pytest.raises(SpecError, match="size=-1"):
        generator(PAIR).random(-1, rng())
    for options in ({"crossover": -0.1}, {"crossover": 0.6, "public_crossover": 0.6}, {"public_sample": 0}):
        with pytest.raises(SpecError, match=next(iter(options))):
            generator(PAIR, public, **options)


def test_a_modality_is_built_from_public_information():
    schema = Schema(
        (
            Column("who", "id"),
            Column("x", "integer", min=0, max=9),
            Column("c", "category", values=("a", "b")),
        )
    )
    table = pa.table({"x": [1, 2, 99], "c": ["a", "b", "b"], "who": ["u", "v", "w"]})
    modality = build_table_modality(schema, table, target="c", target_weight=3.0)
    np.testing.assert_array_equal(modality.public, [[1, 0], [2, 1], [9, 1]])
    np.testing.assert_allclose(modality.embedder.weights, [1, 3])
    drawn = modality.generator.random(5, rng())
    assert modality.codec.decode(drawn).column_names == ["who", "x", "c"]
    assert not {"u", "v", "w"} & set(modality.codec.decode(drawn)["who"].to_pylist())
    assert build_table_modality(schema, None, target=None).public is None


@pytest.mark.parametrize("target", ["who", "nobody"])
def test_a_target_that_is_not_modelled_is_refused(target):
    schema = Schema((Column("who", "id"), Column("x", "integer", min=0, max=9)))
    with pytest.raises(SchemaError, match=target):
        build_table_modality(schema, None, target=target)
