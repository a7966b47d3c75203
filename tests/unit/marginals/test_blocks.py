"""The joint cell of a row is that of its values, the last column running fastest."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from marginal_tables import same

from evomix.marginals.blocks import Block, Panel, split

SIZES = st.lists(st.integers(1, 6), min_size=1, max_size=5)


@st.composite
def _blocks(draw, sizes):
    columns = draw(st.lists(st.sampled_from(range(len(sizes))), min_size=1, max_size=3, unique=True))
    maps = []
    for column in columns:
        cells = draw(st.integers(1, sizes[column]))
        # Every cell has a code, as coarsening makes them.
        extra = draw(
            st.lists(st.integers(0, cells - 1), min_size=sizes[column] - cells, max_size=sizes[column] - cells)
        )
        maps.append(np.array(draw(st.permutations([*range(cells), *extra]))))
    return Block(tuple(columns), tuple(maps))


@st.composite
def _worlds(draw):
    sizes = draw(SIZES)
    rows = draw(st.lists(st.tuples(*[st.integers(0, size - 1) for size in sizes]), max_size=12))
    return draw(st.lists(_blocks(sizes), min_size=1, max_size=3)), np.array(rows, np.int64).reshape(-1, len(sizes))


@given(_worlds())
def test_cells_are_those_of_a_walk_through_all_of_them(world):
    blocks, rows = world
    for block in blocks:
        number = {cell: at for at, cell in enumerate(itertools.product(*map(range, block.sizes)))}
        expected = [
            number[tuple(int(cells[row[column]]) for column, cells in zip(block.columns, block.maps, strict=True))]
            for row in rows
        ]
        assert block.cells == len(number)
        assert block.assign(rows).tolist() == expected
        assert block.assign(rows).dtype == np.int64
        shares = [expected.count(cell) / max(len(rows), 1) for cell in range(block.cells)]
        assert block.shares(rows) == pytest.approx(shares)


@given(_worlds())
def test_a_panel_is_its_blocks_one_after_the_other(world):
    blocks, rows = world
    panel = Panel(tuple(blocks), same)
    assert panel.sizes == tuple(block.cells for block in blocks)
    cells = list(panel.cells(rows))
    assert [found.tolist() for found in cells] == [block.assign(rows).tolist() for block in blocks]
    release = np.arange(float(sum(panel.sizes)))
    parts = split(release, blocks)
    assert tuple(map(len, parts)) == panel.sizes
    assert np.concatenate(parts).tolist() == release.tolist()


def test_records_are_encoded_once_for_all_blocks():
    calls = []

    def encode(records):
        calls.append(len(records))
        return records // 10

    panel = Panel((Block((0,), (np.arange(3),)), Block((1, 0), (np.arange(2), np.arange(3)))), encode)
    assert [cells.tolist() for cells in panel.cells(np.array([[25, 13], [1, 2]]))] == [[2, 0], [5, 0]]
    assert calls == [2]


def test_panels_that_differ_have_other_digests():
    halves, thirds = np.array([0, 0, 1]), np.array([0, 1, 2])
    panels = [
        Panel((Block((0,), (halves,)),), same),
        Panel((Block((1,), (halves,)),), same),
        Panel((Block((0,), (thirds,)),), same),
        Panel((Block((0, 1), (halves, thirds)),), same),
        Panel((Block((0,), (halves,)), Block((1,), (thirds,))), same),
        Panel((Block((1,), (thirds,)), Block((0,), (halves,))), same),
    ]
    assert len({panel.digest() for panel in panels}) == len(panels)
    assert panels[0].digest() == Panel((Block((0,), (halves.astype(np.int32),)),), lambda codes: codes).digest()
