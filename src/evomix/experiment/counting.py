"""A run that counts column sets, stage by stage, saved after each one so that it can be resumed."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evomix.core.arrays import Population
from evomix.core.protocols import Panel
from evomix.core.release import NoisyVotes
from evomix.experiment.inputs import Inputs
from evomix.experiment.modality import Modality
from evomix.experiment.plans import Plan
from evomix.formats.atomic import remove_leftovers
from evomix.formats.checkpoints import damaged
from evomix.marginals.checkpoint import Counted, load_counts, save_counts
from evomix.marginals.model import CountedTable
from evomix.marginals.stages import Shape, Stage, stages_of
from evomix.modalities.tabular.grid import Grid
from evomix.modalities.tabular.schema import Schema
from evomix.privacy.mechanisms.gaussian import spread_over
from evomix.selection.empirical_bayes import empirical_bayes

Count = Callable[[int, Panel], NoisyVotes]
"""Answers a stage's panel with a release; the private side lives behind it."""


def shape_of(schema: Schema, target: str | None) -> Shape:
    """Return a table as codes see it; public. Public rows bear on values within cells alone.

    Args:
        schema: of the table.
        target: the column that a later model will predict.
    """
    grid = Grid(schema, None)
    names = [column.name for column in schema.modelled]
    return Shape(grid.sizes, grid.ordered, grid.missing, None if target is None else names.index(target))


def stages_for(schema: Schema, target: str | None) -> tuple[Stage, ...]:
    """Return what a run counts, in order; public."""
    return stages_of(shape_of(schema, target))


def grid_of(modality: Modality) -> Grid:
    """Return the cells of a table's columns; public."""
    public = modality.public
    return Grid(modality.schema, None if public is None else np.asarray(public, np.float64))


@dataclass(frozen=True, slots=True)
class CountedRows:
    """What a run counted, ready for rows.

    Attributes:
        table: the counts, and the search for rows.
        grid: from codes to records.
        seed: of the public randomness.
    """

    table: CountedTable
    grid: Grid
    seed: int

    def sample(self, rows: int, seed: int) -> Population:
        """Return ``rows`` records: post-processing of what was released; costs nothing."""
        return self.grid.records(self.table.sample(rows, seed), np.random.default_rng([self.seed, seed, 1]))


def begin_counting(inputs: Inputs, *, target: str | None, seed: int) -> CountedRows:
    """Return a run's counts before the first stage: public information alone."""
    modality = inputs.modality
    grid = grid_of(modality)
    table = CountedTable(
        shape_of(modality.schema, target),
        grid.codes,
        empirical_bayes,
        None if modality.public is None else grid.codes(modality.public),
        inputs.records.units,
        seed,
    )
    return CountedRows(table, grid, seed)


def count_stages(
    counted: CountedRows,
    planned: Plan,
    count: Count,
    *,
    path: Path | None,
    begun: frozenset[int],
    on_stage: Callable[[int, NoisyVotes], None],
) -> frozenset[int]:
    """Count every stage that was not begun before; return those that were released in all.

    A stage that was begun but not saved is forfeited: its budget is spent, and the rows do without it.

    Args:
        counted: takes in what is released.
        planned: the noise of each stage.
        count: the private side.
        path: file of the counts so far; ``None`` keeps nothing.
        begun: stages that were begun by an earlier, interrupted run.
        on_stage: called after each stage that was saved.

    Raises:
        InputFileError: what was saved is damaged, or not of this run.
    """
    saved = {} if path is None else load_counts(path)
    if path is not None:
        remove_leftovers(path)
        if not saved.keys() <= begun or any(one.release.units != planned.n for one in saved.values()):
            raise damaged(path, "it is not of this run")
    for stage, one in enumerate(planned.per_round):
        assert one.noise_scale is not None
        stddev = spread_over(one.noise_scale, one.blocks)
        panel = counted.table.panel(stage, stddev)
        if stage not in begun:
            release = count(stage, panel)
            saved[stage] = Counted(panel.digest(), release)
            if path is not None:
                save_counts(saved, path)
            on_stage(stage, release)
        elif stage in saved and path is not None:
            kept = saved[stage]
            if kept.digest != panel.digest() or kept.release.votes.size != sum(panel.sizes):
                raise damaged(path, "its counts are of other column sets")
            if kept.release.stddev != stddev:
                raise damaged(path, "its counts have other noise than was planned")
        counted.table.learn(stage, panel, saved[stage].release if stage in saved else None)
    return frozenset(saved)
