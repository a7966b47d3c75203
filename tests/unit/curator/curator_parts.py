"""Small stand-ins: numbers as records, the nearest one as vote, a ledger that notes the order of events."""

import numpy as np
import pyarrow as pa

from evomix.curator.curator import Curator
from evomix.curator.records import PrivateRecords
from evomix.formats.row_source import MemoryRows
from evomix.privacy.mechanisms.gaussian import GaussianHistogram
from evomix.privacy.mechanisms.laplace import LaplaceHistogram
from evomix.privacy.mechanisms.mixture import Mixture
from evomix.privacy.mechanisms.schedule import Schedule
from evomix.privacy.randomness import SystemSource


class NumberCodec:
    """One column of numbers as a population (rows, 1)."""

    def encode(self, table):
        return np.asarray(table.column("x").to_numpy(), np.float64)[:, None]

    def decode(self, population):
        return pa.table({"x": population[:, 0]})


class NearestNumber:
    """Votes go to the nearest candidate, ties to the lowest position."""

    def __init__(self, candidates):
        self._candidates = np.asarray(candidates)[:, 0]

    def nearest(self, records):
        return np.abs(records[:, :1] - self._candidates[None, :]).argmin(axis=1).astype(np.int64)


class NumberEmbedder:
    def index(self, candidates):
        return NearestNumber(candidates)


class WatchedRows(MemoryRows):
    """Rows that report when they are read."""

    def __init__(self, table, events):
        super().__init__("private", table)
        self.events = events

    def _take(self, positions, columns):
        self.events.append("read")
        return super()._take(positions, columns)

    def _batches(self, columns, size):
        self.events.append("read")
        return super()._batches(columns, size)


class EventLedger:
    def __init__(self, events):
        self.events = events

    def begin_round(self, round_index):
        self.events.append(f"begin {round_index}")


def records_of(values, *, units=None, rows=MemoryRows, **more):
    """Return records with numbers as values and, if given, a unit of each row."""
    columns = {"x": np.asarray(values, np.float64)} | ({} if units is None else {"unit": units})
    table = pa.table(columns)
    source = rows("private", table) if rows is MemoryRows else rows(table, **more)
    return PrivateRecords(source, NumberCodec(), columns=["x"], unit_column=None if units is None else "unit")


BUDGET = (500.0, 0.5)
"""ε and δ of the schedules here: large, so that little noise is enough and what a release holds can be foreseen."""


def mixture_of(*, units, draws, weight=0.5, floor=0.125):
    return Mixture("linmix", weight, floor, draws, units, *BUDGET)


def gaussian_of(*, units, rounds=1, stddev=0.1):
    return GaussianHistogram(stddev, rounds, units, *BUDGET)


def laplace_of(*, units, rounds=1, scale=0.1):
    return LaplaceHistogram(scale, rounds, units, *BUDGET)


def draws_of(mixture, *draws):
    """Return a run of one mixture with so many draws in each round."""
    return Schedule("draws", (mixture,) * len(draws), draws, *BUDGET)


def histograms_of(mechanism):
    """Return a run of all rounds that one histogram mechanism accounts for."""
    return Schedule(mechanism.name, (mechanism,) * mechanism.rounds, (0,) * mechanism.rounds, *BUDGET)


def curator_of(records, account, *, first_round=0, events=None, embedder=None, source=None):
    return Curator(
        records,
        NumberEmbedder() if embedder is None else embedder,
        account,
        first_round=first_round,
        ledger=EventLedger([] if events is None else events),
        source=SystemSource() if source is None else source,
    )


def line(candidates):
    """Return candidates 0, 1, 2, … as a population."""
    return np.arange(float(candidates))[:, None]
