"""The scores of a table against a test part: models trained on it, and how near its marginals lie."""

from typing import Final

import numpy as np
import pyarrow as pa

from evomix.bench.contest import Measured
from evomix.bench.table_learners import Learner, learned_classes, learned_numbers
from evomix.bench.table_set import TableSet, Task
from evomix.bench.table_transport import coordinates, joint_transport, one_way_transport
from evomix.core.arrays import FloatArray
from evomix.evaluation.binning import Cells, bin_population
from evomix.evaluation.columns import bounds
from evomix.evaluation.marginals import column_sets, marginal_distances
from evomix.evaluation.scores import classification_scores, regression_scores
from evomix.modalities.tabular.codec import TableCodec

WAYS: Final = (1, 2, 3, 5)
"""Columns of a marginal that total variation is taken over."""
MOST_SETS: Final = 100
"""Column sets of a size that are looked at, the same for all tables."""
MOVED_TOGETHER: Final = 3
"""Columns of a set that joint W1 is taken over."""
_OTHERS: Final[tuple[Learner, ...]] = ("forest", "linear")
_CLASSES: Final = (
    Measured("accuracy", "accuracy", "higher"),
    Measured("auc", "AUC", "higher"),
    Measured("macro_f1", "macro F1", "higher"),
    Measured("rare_recall", "rare recall", "higher"),
    Measured("forest_accuracy", "accuracy (forest)", "higher"),
    Measured("linear_accuracy", "accuracy (linear)", "higher"),
)
_NUMBERS: Final = (
    Measured("rmse", "RMSE", "lower"),
    Measured("r2", "R²", "higher"),
    Measured("forest_rmse", "RMSE (forest)", "lower"),
    Measured("linear_rmse", "RMSE (linear)", "lower"),
)
_MARGINALS: Final = (
    *(Measured(f"tv_{way}", f"TV {way}-way", "lower") for way in WAYS),
    Measured("tv_2_private", "TV 2-way to private", "lower"),
    Measured("w1_1", "W1 1-way", "lower"),
    Measured(f"w1_{MOVED_TOGETHER}", f"W1 {MOVED_TOGETHER}-way", "lower"),
)


def table_measures(task: Task) -> tuple[Measured, ...]:
    """Return the scores, that of gradient boosting first."""
    return (*(_CLASSES if task == "classification" else _NUMBERS), *_MARGINALS)


class TableScorer:
    """Scores tables alike. Reads the test part: not private.

    Models are trained on the table and tested on the test part. Marginals are compared with those of the test part, so
    that a table of real rows does not score 0 either: it is the ceiling. Those of pairs are compared with the private
    part as well, as most published figures are.

    Args:
        parts: of the benchmark.
    """

    def __init__(self, parts: TableSet) -> None:
        self._codec = TableCodec(parts.schema)
        self._columns, self._task = parts.schema.modelled, parts.task
        self._target = [column.name for column in self._columns].index(parts.target)
        self._test = self._encoded(parts.test)
        self._cells = bin_population(self._test, self._columns)
        self._own = bin_population(self._encoded(parts.private), self._columns)
        self._points = coordinates(self._test, self._columns)
        asked = ~np.isnan(self._test[:, self._target])
        self._asked = self._test[asked]

    def score(self, table: pa.Table, *, seed: int) -> dict[str, float | None]:
        """Return every score of a table, None where one is not defined."""
        rows = self._encoded(table)
        if not len(rows):
            return {one.name: None for one in table_measures(self._task)}
        found = self._models(rows[~np.isnan(rows[:, self._target])], seed) | self._marginals(rows, seed)
        return {one.name: found.get(one.name) for one in table_measures(self._task)}

    def _encoded(self, table: pa.Table) -> FloatArray:
        return np.asarray(self._codec.encode(table), np.float64)

    def _models(self, train: FloatArray, seed: int) -> dict[str, float | None]:
        if not len(train) or not len(self._asked):
            return {}
        return self._classes(train, seed) if self._task == "classification" else self._numbers(train, seed)

    def _classes(self, train: FloatArray, seed: int) -> dict[str, float | None]:
        column, target = self._columns[self._target], self._target
        low = 0.0 if column.coded else bounds(column)[0]
        classes = len(column.values) if column.coded else int(bounds(column)[1] - low) + 1
        labels, truth = ((rows[:, target] - low).astype(np.int64) for rows in (train, self._asked))

        def scores(learner: Learner) -> dict[str, float | None]:
            arguments = (learner, train, self._asked, self._columns)
            found = learned_classes(*arguments, target=target, labels=labels, classes=classes, seed=seed)
            return classification_scores(truth, found)

        return scores("boosting") | {f"{learner}_accuracy": scores(learner)["accuracy"] for learner in _OTHERS}

    def _numbers(self, train: FloatArray, seed: int) -> dict[str, float | None]:
        target, truth = self._target, self._asked[:, self._target]

        def scores(learner: Learner) -> dict[str, float | None]:
            found = learned_numbers(learner, train, self._asked, self._columns, target=target, seed=seed)
            return regression_scores(truth, found)

        return scores("boosting") | {f"{learner}_rmse": scores(learner)["rmse"] for learner in _OTHERS}

    def _marginals(self, rows: FloatArray, seed: int) -> dict[str, float | None]:
        cells, points = bin_population(rows, self._columns), coordinates(rows, self._columns)
        count = len(self._columns)
        variation: dict[str, float | None] = {
            f"tv_{way}": _variation(self._cells, cells, way) for way in WAYS if way <= count
        }
        if count > 1:
            variation["tv_2_private"] = _variation(self._own, cells, 2)
        together = min(MOVED_TOGETHER, count)
        return variation | {
            "w1_1": one_way_transport(self._points, points),
            f"w1_{MOVED_TOGETHER}": joint_transport(self._points, points, together, seed=seed),
        }


def _variation(real: Cells, made: Cells, way: int) -> float:
    sets = column_sets(len(real.sizes), way, MOST_SETS, np.random.default_rng(0))
    return float(marginal_distances(real, made, sets).mean())
