"""Every generator keeps its protocol's promises. A new generator registers its worlds in ``WORLDS``."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from evomix.core.arrays import FloatArray, Population
from evomix.core.protocols import Embedder, Generator
from evomix.modalities.tabular.conform import conform
from evomix.modalities.tabular.embedding import TableEmbedder
from evomix.modalities.tabular.generator import TableGenerator
from evomix.modalities.tabular.schema import Column, Schema
from evomix.modalities.tabular.transform import learn_transforms

SCALES = (1.0, 0.3, 0.02, 1e-4)


@dataclass(frozen=True)
class World:
    """A generator with what is needed to judge it."""

    generator: Generator
    embedder: Embedder
    embed: Callable[[Population], FloatArray]
    inside: Callable[[Population], bool]
    records: int
    """Number of possible records; what passes a thousand is not counted."""
    nearest: float
    """The squared distance over which one cell may have to go to change at all."""


MIXED = (
    Column("age", "integer", min=17, max=90),
    Column("gain", "number", min=0, max=1e5, missing=True),
    Column("price", "number", min=0.01, max=9.99, multiple_of=0.01),
    Column("job", "category", values=("a", "b", "c"), other=True),
    Column("smokes", "boolean", missing=True),
    Column("born", "date", min=-719162, max=2932896),
    Column("seen", "datetime", min=0, max=1e9),
    Column("fives", "integer", min=-12, max=23, multiple_of=5),
    Column("who", "id"),
)
TABLES: dict[str, tuple[Column, ...]] = {
    "mixed": MIXED,
    "numbers": (Column("x", "number", min=-3, max=8), Column("y", "number", min=1e6, max=1e6 + 1)),
    "one integer": (Column("bit", "integer", min=0, max=1),),
    "one number": (Column("x", "number", min=0, max=1),),
    "one category": (Column("c", "category", values=("p", "q")),),
    "constants": (Column("k", "integer", min=7, max=7), Column("c", "category", values=("only",))),
    "one constant": (Column("k", "number", min=0.1, max=0.1), Column("x", "integer", min=0, max=9)),
    "empty or constant": (Column("k", "number", min=2, max=2, missing=True),),
    "empty or one category": (Column("c", "category", values=("only",), missing=True),),
    "all may be missing": (
        Column("x", "number", min=0, max=1, missing=True),
        Column("c", "category", values=("a", "b"), missing=True),
        Column("d", "date", min=0, max=9, missing=True),
    ),
    "ten thousand categories": (
        Column("c", "category", values=tuple(f"v{i}" for i in range(10_000))),
        Column("x", "integer", min=0, max=10_000_000),
    ),
}


def public_rows(schema: Schema, kind: str) -> FloatArray | None:
    if kind == "none":
        return None
    rng = np.random.default_rng(99)
    raw = np.empty((1 if kind == "one row" else 60, len(schema.modelled)))
    for position, column in enumerate(schema.modelled):
        if column.coded:
            raw[:, position] = rng.integers(0, min(len(column.values), 40), len(raw))
        else:
            raw[:, position] = column.min + (column.max - column.min) * rng.beta(1, 4, len(raw)).round(1)
        if column.missing:
            raw[rng.random(len(raw)) < (1.0 if kind == "all missing" else 0.2), position] = np.nan
    return conform(schema, raw)


def outcomes(column: Column) -> FloatArray:
    """The values of a column, missing apart, or a thousand of them."""
    if column.coded:
        return np.arange(len(column.values), dtype=np.float64)
    return np.unique(conform(Schema((column,)), np.linspace(column.min, column.max, 1000)[:, None]))


def table_world(name: str, kind: str) -> World:
    schema = Schema(TABLES[name])
    public = public_rows(schema, kind)
    transforms = learn_transforms(schema, public)
    embedder = TableEmbedder(schema, transforms)
    records, nearest = 1, 0.0
    for column, transform in zip(schema.modelled, transforms, strict=True):
        values = outcomes(column)
        records *= len(values) + column.missing
        if column.coded or column.missing:
            nearest = 1.0
        elif len(values) < 1000:
            steps = np.diff(transform.forward(values))
            nearest = max(nearest, steps.max(initial=0.0) ** 2)
    return World(
        generator=TableGenerator(schema, transforms, public=public),
        embedder=embedder,
        embed=embedder.embed,
        inside=lambda rows: rows.dtype == np.float64 and np.array_equal(conform(schema, rows), rows, equal_nan=True),
        records=records,
        nearest=nearest,
    )


WORLDS: dict[str, Callable[[], World]] = {
    f"table: {name}, public: {kind}": (lambda name=name, kind=kind: table_world(name, kind))
    for name in TABLES
    for kind in ("none", "one row", "sixty rows", "all missing")
}


@pytest.fixture(params=WORLDS, scope="module")
def world(request) -> World:
    return WORLDS[request.param]()


def rng(seed=0):
    return np.random.default_rng(seed)


def alike(first, second):
    return ((first == second) | (np.isnan(first) & np.isnan(second))).all(axis=1)


@pytest.mark.parametrize("size", [0, 1, 2, 61, 500])
def test_random_returns_the_size_asked_inside_the_schema(world, size):
    records = world.generator.random(size, rng())
    assert len(records) == size
    assert world.inside(records)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("size", [0, 1, 300])
def test_variation_is_one_for_one_inside_the_schema_and_different(world, size, scale):
    parents = world.generator.random(size, rng(1))
    children = world.generator.vary(parents, scale, rng(2))
    assert children.shape == parents.shape
    assert world.inside(children)
    assert not alike(children, parents).any() or world.records == 1


def test_variation_stays_different_over_many_generations(world):
    population, source = world.generator.random(50, rng(3)), rng(4)
    for scale in np.geomspace(1.0, 1e-12, 20):
        children = world.generator.vary(population, scale, source)
        assert world.inside(children)
        assert not alike(children, population).any() or world.records == 1
        population = children


def test_the_seed_decides_everything(world):
    for seed in (0, 1):
        first, second = (world.generator.random(100, rng(seed)) for _ in range(2))
        np.testing.assert_array_equal(first, second)
        one, two = (world.generator.vary(first, 0.4, rng(seed)) for _ in range(2))
        np.testing.assert_array_equal(one, two)


def test_another_seed_gives_other_records(world):
    if world.records < 1000:
        pytest.skip("too few records are possible")
    assert not alike(world.generator.random(200, rng(0)), world.generator.random(200, rng(1))).all()


def test_what_goes_in_is_left_as_it_was(world):
    parents = world.generator.random(100, rng())
    before = parents.copy()
    parents.flags.writeable = False
    children = world.generator.vary(parents, 0.7, rng(1))
    np.testing.assert_array_equal(parents, before)
    children[:] = 0
    world.generator.random(100, rng())[:] = 0
    np.testing.assert_array_equal(parents, before)
    np.testing.assert_array_equal(world.generator.random(100, rng()), before)


def test_small_scales_stay_close(world):
    parents = world.generator.random(400, rng(5))
    distances = {}
    for scale in (1.0, 1e-4):
        gaps = world.embed(world.generator.vary(parents, scale, rng(6))) - world.embed(parents)
        kinds = getattr(world.embedder, "kinds", np.zeros(gaps.shape[1]))
        weights = getattr(world.embedder, "weights", np.ones(gaps.shape[1]))
        distances[scale] = (np.where(kinds == 1, gaps != 0, gaps**2) * weights).sum(axis=1)
    assert np.median(distances[1e-4]) <= np.median(distances[1.0]) + 1e-6
    # One cell changes, hardly ever more, and goes no further than it must.
    assert np.quantile(distances[1e-4], 0.9) <= world.nearest + 1e-4


def test_the_index_finds_each_candidate_itself(world):
    candidates = world.generator.random(50, rng(7))
    _, first = np.unique(world.embed(candidates), axis=0, return_inverse=True)
    nearest = world.embedder.index(candidates).nearest(candidates)
    np.testing.assert_array_equal(first.ravel()[nearest], first.ravel())
    assert (nearest <= np.arange(50)).all()
