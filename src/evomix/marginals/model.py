"""A table known by noisy counts: what was released so far, and rows that agree with it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray, IntArray, Population
from evomix.core.release import NoisyVotes
from evomix.marginals.blocks import Block, Panel, split
from evomix.marginals.choosing import chosen_sets, shows_dependence
from evomix.marginals.coarsening import equal_mass, largest_values
from evomix.marginals.denoising import Estimate, coarse_cells, denoised, denoised_by_levels, leaning
from evomix.marginals.redrawing import redrawn
from evomix.marginals.search import search
from evomix.marginals.stages import Shape, Stage, stages_of
from evomix.marginals.targets import Target

PUBLIC, INDEPENDENT = "public rows", "independent columns"
LEAST_ROWS, MOST_ROWS = 5_000, 30_000
"""Rows that are fitted between stages: enough that their own sampling error stays below the noise."""
PASSES: Final = 20
"""Proposals of a search for each value of its rows, at most."""
MOST_LOOKUPS: Final = 500_000_000
"""Cells that are looked up in a search, or in an exchange of rows, at most, about: some seconds."""
LEAST_SAMPLE: Final = 1_000
"""Rows that are made where fewer are wanted: a single row that agrees best with all counts is always the same one."""
EXCHANGES: Final = 5
"""Public rows that are tried in the place of each: after single columns, and in wide tables after every stage."""
CAUTION: Final = {PUBLIC: 0.4, INDEPENDENT: 0.2}
"""What a change of rows must gain, in standard deviations of noise, by what the rows started from: public rows are
right about much that is never counted, and each change takes some of that from them."""
CHUNK: Final = 100_000
"""Rows that are fitted together; more are made in several parts."""
FINE, COARSE = 0.5, 1.0
"""Records that a cell should hold on average, in standard deviations of its noise: with the target, and in a set."""
LEAST_COUNT: Final = 10.0
"""Records that a cell should hold on average however little noise there is: the search finds no rows for emptier ones
(columns of 1000 codes, 3000 rows, no noise: total variation of pairs on 10 × 10 cells 0.16 without it, 0.03 with)."""
MOST_CELLS, PANEL_CELLS = 100_000, 5_000_000
"""Most cells of a column set, and of all those of a stage, about: noise takes 10 µs a cell, and a run that ends for
want of memory has been charged."""
TARGET_CELLS: Final = 32
"""Most cells of the target in a set."""
ORDERED_TARGET_CELLS: Final = 8
_SEEDS: Final = 2**31


@dataclass(slots=True)
class CountedTable:
    """Counts that were released stage by stage, and the rows they lead to.

    Everything but the releases is public, and everything it makes is post-processing of them.

    Attributes:
        shape: the table as codes.
        encode: from records to codes.
        estimate: of a release that has a prior.
        public: int64 (l, columns), codes of public rows; None where there are none.
        units: n, public.
        seed: of the search.
        start: what the rows were changed from: "public rows", or "independent columns".
    """

    shape: Shape
    encode: Callable[[Population], IntArray]
    estimate: Estimate
    public: IntArray | None
    units: int
    seed: int
    start: str = field(init=False)
    stages: tuple[Stage, ...] = field(init=False)
    shares: list[FloatArray] = field(init=False)
    targets: list[Target] = field(init=False)
    dependence: dict[tuple[int, int], float] = field(init=False)
    tells: dict[int, float] = field(init=False)
    _rows: IntArray = field(init=False)

    def __post_init__(self) -> None:
        """Begin with what public rows say, or with nothing."""
        if self.public is not None and not len(self.public):
            self.public = None
        self.start = INDEPENDENT if self.public is None else PUBLIC
        self.stages = stages_of(self.shape)
        self.shares = [self._expected(j) for j in range(len(self.shape.sizes))]
        self.targets, self.dependence, self.tells = [], {}, {}
        self._rows = self._start()

    def panel(self, stage: int, stddev: float) -> Panel:
        """Return what a stage counts.

        Args:
            stage: 0-based, each once and in order.
            stddev: of the noise on a count of that stage, in units.
        """
        return Panel(tuple(self._blocks(self.stages[stage], stddev)), self.encode)

    def learn(self, stage: int, panel: Panel, release: NoisyVotes | None) -> None:
        """Take in what a stage released; None where the release was lost, which costs quality alone."""
        if release is None:
            return
        kind = self.stages[stage].kind
        parts = [NoisyVotes(votes, release.stddev, release.units) for votes in split(release.votes, panel.blocks)]
        if kind == "columns":
            self._learn_columns(panel.blocks, parts)
            if self.public is None:
                self._rows = self._start()
        else:
            if kind != "most_telling":  # on one set that fine, right public rows look wrong for being few
                self._choose_start(panel.blocks, parts)
            for block, part in zip(panel.blocks, parts, strict=True):
                self._learn_block(kind, block, part)
        if self.public is not None and self.start == PUBLIC and (kind == "columns" or self.shape.is_wide):
            self._rows = self._redrawn(self.public, stage)
        self._rows = self._searched(self._rows, stage)

    def sample(self, count: int, seed: int) -> IntArray:
        """Return ``count`` rows that agree with all that was released, int64 (count, columns)."""
        rng = np.random.default_rng([self.seed, seed])
        parts = []
        made = max(count, LEAST_SAMPLE) if count else 0
        for size in [CHUNK] * (made // CHUNK) + [made % CHUNK]:
            if size:
                start = self._rows[_drawn(len(self._rows), size, rng)]
                parts.append(self._searched(start, int(rng.integers(_SEEDS))))
        return rng.permutation(np.concatenate(parts))[:count] if parts else self._rows[:0]

    def _expected(self, column: int) -> FloatArray:
        size = self.shape.sizes[column]
        even = np.full(size, 1.0 / size)
        if self.public is None:
            return even
        found = np.bincount(self.public[:, column], minlength=size) / len(self.public)
        return 0.9 * found + 0.1 * even if self.shape.ordered[column] else found

    def _start(self) -> IntArray:
        """Return public rows, or rows whose columns are independent."""
        rng = np.random.default_rng([self.seed, 0])
        count = int(np.clip(self.units, LEAST_ROWS, MOST_ROWS))
        if self.public is not None:
            return self.public[_drawn(len(self.public), count, rng)]
        return self._independent(count, rng)

    def _independent(self, count: int, rng: np.random.Generator) -> IntArray:
        return np.stack(
            [rng.choice(len(shares), count, p=shares / shares.sum()) for shares in self.shares], axis=1
        ).astype(np.int64)

    def _choose_start(self, blocks: Sequence[Block], parts: Sequence[NoisyVotes]) -> None:
        """Give up public rows where independent columns are nearer to what was just released."""
        if self.public is None:
            return
        apart = self._independent(len(self._rows), np.random.default_rng([self.seed, 1]))
        if _misfit(blocks, parts, apart) < _misfit(blocks, parts, self._rows):
            self._rows, self.start = apart, INDEPENDENT

    def _learn_columns(self, blocks: Sequence[Block], parts: Sequence[NoisyVotes]) -> None:
        columns = len(self.shape.sizes)
        coarse = dict(zip(self.shape.twice, zip(blocks[columns:], parts[columns:], strict=True), strict=True))
        for j, (block, part) in enumerate(zip(blocks[:columns], parts[:columns], strict=True)):
            if self.shape.ordered[j]:
                held = coarse.get(j)
                known = denoised_by_levels(part, None if held is None else held[1], self.shares[j], self.estimate)
            else:
                known = denoised(part, self.shares[j], self.estimate)
            self.shares[j] = known
            self.targets.append(Target(block, known, part.spread))
            if j in coarse:
                wide = coarse[j][0]
                self.targets.append(Target(wide, self._coarse(j, wide.maps[0]), part.spread))

    def _learn_block(self, kind: str, block: Block, part: NoisyVotes) -> None:
        first = block.columns[0]
        if kind == "coarse_pairs":
            pair = (first, block.columns[1])
            expected = np.outer(*(self._coarse(j, cells) for j, cells in zip(pair, block.maps, strict=True))).ravel()
            self.dependence[pair] = float(((part.shares() - expected) ** 2).sum() - block.cells * part.spread**2)
        shares = leaning(part, block.shares(self._rows), self.estimate)
        if kind == "with_target":
            table = shares.reshape(block.sizes)
            apart = np.outer(table.sum(axis=1), table.sum(axis=0))
            self.dependence[first, first] = float(np.abs(table - apart).sum() / 2.0)
            if shows_dependence(part, block.sizes):
                self.tells[first] = self.dependence[first, first]
        self.targets.append(Target(block, shares, part.spread))

    def _coarse(self, column: int, cells: IntArray) -> FloatArray:
        return np.bincount(cells, self.shares[column]).astype(np.float64)

    def _blocks(self, stage: Stage, stddev: float) -> list[Block]:
        shape, target = self.shape, self.shape.target
        if stage.kind == "columns":
            fine = [Block((j,), (np.arange(size),)) for j, size in enumerate(shape.sizes)]
            coarse = {j: coarse_cells(shape.sizes[j]) for j in shape.twice}
            return fine + [Block((j,), (cells,)) for j, cells in coarse.items() if cells is not None]
        if stage.kind == "coarse_pairs":
            cuts = [self._cut(j, 3, stddev) for j in range(len(shape.sizes))]
            return [Block((a, b), (cuts[a], cuts[b])) for a, b in shape.pairs]
        room, most = self.units / max(stddev, LEAST_COUNT), most_cells(stage.blocks)
        if stage.kind in ("with_target", "most_telling"):
            assert target is not None
            own = self._target_cut(stddev, most=TARGET_CELLS)
            cells = int(np.clip(room / FINE / (own.max() + 1), 2, most // (own.max() + 1)))
            others = shape.others if stage.kind == "with_target" else (self._most_telling(),)
            return [Block((j, target), (self._cut(j, cells, stddev / 3.0), own)) for j in others]
        third: tuple[int, ...] = () if target is None else (target,)  # pairs by themselves, or with the target
        maps = tuple(self._target_cut(stddev, most=TARGET_CELLS) for _ in third)
        targeted = maps[0].max() + 1 if maps else 1
        cells = int(np.clip(np.sqrt(room / COARSE / targeted), 2, np.sqrt(most / targeted)))
        cuts = [self._cut(j, cells, stddev) for j in range(len(shape.sizes))]
        chosen = chosen_sets(shape, self.dependence, stage.blocks)
        return [Block((a, b, *third), (cuts[a], cuts[b], *maps)) for a, b in chosen]

    def _most_telling(self) -> int:
        """Return the column on which the target depends most, of those that show it by more than noise."""
        return max(self.shape.others, key=lambda j: self.tells.get(j, 0.0))

    def _cut(self, column: int, cells: int, stddev: float) -> IntArray:
        """Return a column in about so many cells; of categories those of few records share one."""
        if self.shape.ordered[column]:
            return equal_mass(self.shares[column], cells, missing=self.shape.missing[column])
        least = COARSE * stddev / max(self.units, 1)
        return largest_values(self.shares[column], max(2 * cells, 2), least=least)

    def _target_cut(self, stddev: float, *, most: int) -> IntArray:
        target = self.shape.target
        assert target is not None
        if self.shape.ordered[target]:
            return equal_mass(self.shares[target], ORDERED_TARGET_CELLS, missing=self.shape.missing[target])
        return largest_values(self.shares[target], most, least=0.1 * stddev / max(self.units, 1))

    def _redrawn(self, public: IntArray, seed: int) -> IntArray:
        tries = min(EXCHANGES, MOST_LOOKUPS / (2 * self._in_a_pass(self._rows)))  # two rows are looked up in a try
        proposals = math.ceil(tries * len(self._rows))
        return redrawn(self._rows, public, self.targets, proposals=proposals, seed=seed, caution=CAUTION[PUBLIC])

    def _searched(self, rows: IntArray, seed: int) -> IntArray:
        if not self.targets or not len(rows):
            return rows
        passes = min(PASSES, MOST_LOOKUPS / self._in_a_pass(rows))
        return search(rows, self.targets, self.shares, passes=passes, seed=seed, caution=CAUTION[self.start])

    def _in_a_pass(self, rows: IntArray) -> int:
        """Return how many cells are looked up where each value of the rows is looked at once."""
        return len(rows) * sum(len(one.block.columns) for one in self.targets)


def most_cells(blocks: int) -> int:
    """Return about how many cells each of so many column sets is cut into at most, however many records there are."""
    return max(min(MOST_CELLS, PANEL_CELLS // blocks), 2 * (TARGET_CELLS + 1))


def _drawn(held: int, count: int, rng: np.random.Generator) -> IntArray:
    """Return positions of ``count`` of the rows held, each as often as any other or once more."""
    whole = np.tile(np.arange(held), count // held)
    return np.concatenate([whole, rng.permutation(held)[: count % held]])


def _misfit(blocks: Sequence[Block], parts: Sequence[NoisyVotes], rows: IntArray) -> float:
    """Return how far rows are from what was released; the noise adds the same for all rows."""
    return float(
        sum(((part.shares() - block.shares(rows)) ** 2).sum() for block, part in zip(blocks, parts, strict=True))
    )
