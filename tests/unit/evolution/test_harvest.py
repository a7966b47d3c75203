import numpy as np
from evolution_worlds import LineEmbedder, LineGenerator

from evomix.evolution.harvest import harvest
from evomix.modalities.tabular.embedding import TableEmbedder
from evomix.modalities.tabular.generator import TableGenerator
from evomix.modalities.tabular.schema import Column, Schema
from evomix.modalities.tabular.transform import learn_transforms

CANDIDATES = np.array([[0.0], [1.0], [4.0]])


def _harvest(chosen, candidates=CANDIDATES, generator=None, embedder=None, public=None):
    return harvest(
        candidates,
        np.asarray(chosen),
        generator=generator or LineGenerator(),
        embedder=embedder or LineEmbedder(),
        spares=public,
        rng=np.random.default_rng(2),
    )


def test_every_row_stays_in_the_cell_it_was_chosen_for():
    chosen = np.random.default_rng(0).integers(3, size=500)
    rows = _harvest(chosen)
    np.testing.assert_array_equal(LineEmbedder().index(CANDIDATES).nearest(rows), chosen)


def test_the_first_of_a_candidate_is_itself_and_the_others_vary():
    rows = _harvest([2, 0, 2, 2, 0, 1])[:, 0]
    np.testing.assert_array_equal(rows[[0, 1, 5]], [4.0, 0.0, 1.0])
    assert len(set(rows)) == 6


def test_what_leaves_its_cell_is_tried_nearer_and_then_repeated():
    class Far(LineGenerator):
        def __init__(self):
            self.scales = []

        def vary(self, parents, scale, rng):
            self.scales.append((scale, len(parents)))
            return parents + 100.0

    generator = Far()
    np.testing.assert_array_equal(_harvest([0, 0, 0], generator=generator), np.zeros((3, 1)))
    assert generator.scales == [(0.2, 2), (0.05, 2)]


def test_cells_are_filled_with_public_records_first_each_once():
    class Never(LineGenerator):
        def vary(self, parents, scale, rng):
            assert (parents == 4.0).all()  # only cell 2 has too few public records
            return parents + 0.25

    public = np.array([[0.1], [0.2], [0.9], [1.1], [3.9], [40.0]])
    rows = _harvest([0, 2, 0, 2, 2, 2, 0, 1], generator=Never(), public=public)[:, 0]
    assert sorted(rows[[0, 2, 6]]) == [0.0, 0.1, 0.2]
    assert sorted(rows[[1, 3, 4, 5]]) == [3.9, 4.0, 4.25, 40.0]
    assert rows[7] == 1.0


def test_public_records_do_not_move_mass():
    rng = np.random.default_rng(6)
    chosen = rng.integers(3, size=400)
    rows = _harvest(chosen, public=rng.uniform(-5, 9, (150, 1)))
    np.testing.assert_array_equal(LineEmbedder().index(CANDIDATES).nearest(rows), chosen)


def test_each_candidate_once_needs_no_variation():
    class Never(LineGenerator):
        def vary(self, parents, scale, rng):
            raise AssertionError

    np.testing.assert_array_equal(_harvest([1, 0], generator=Never()), [[1.0], [0.0]])


def test_table_rows_keep_the_mass_of_every_cell():
    schema = Schema(
        (
            Column("x", "number", min=0, max=10, missing=True),
            Column("k", "integer", min=0, max=50),
            Column("c", "category", values=("a", "b", "c")),
        )
    )
    rng = np.random.default_rng(4)
    transforms = learn_transforms(schema, None)
    generator, embedder = TableGenerator(schema, transforms), TableEmbedder(schema, transforms)
    candidates = generator.random(30, rng)
    chosen = rng.integers(30, size=2000)
    rows = _harvest(chosen, candidates, generator, embedder)
    np.testing.assert_array_equal(embedder.index(candidates).nearest(rows), chosen)
    assert len(np.unique(np.nan_to_num(rows, nan=-1.0), axis=0)) > 300  # far more than the thirty candidates
