"""Train on synthetic rows, test on real ones: what a model loses by it.

Each seed splits the real table 70/30 and tests every model on the 30. Ceilings learn from the 70 (all of it,
and as many rows as the synthetic table has), floors from public rows or from nothing (the most frequent
class, the mean). Reads real rows: not private.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.errors import SpecError
from evomix.evaluation.columns import WHOLE, ColumnLike, bounds, labels
from evomix.evaluation.models import predict_classes, predict_numbers
from evomix.evaluation.scores import classification_scores, rare_classes, regression_scores

TEST_SHARE = 0.3
MOST_WHOLE_CLASSES = 20
TITLES = {
    "synthetic": "synthetic rows",
    "real_same_rows": "ceiling: as many real rows",
    "real_all": "ceiling: all real training rows",
    "public": "floor: public rows only",
    "guess": "floor: no model",
}


@dataclass(frozen=True, slots=True)
class Score:
    """Mean and standard deviation over the seeds where the score is defined; None where it never is."""

    mean: float | None
    sd: float | None


@dataclass(frozen=True, slots=True)
class Arm:
    """One training set: its name, a title for readers, its rows and its scores by name."""

    name: str
    title: str
    rows: int
    scores: dict[str, Score]


@dataclass(frozen=True, slots=True)
class Downstream:
    """Scores of every training set.

    Attributes:
        target: name of the predicted column.
        task: "classification" (accuracy, auc, macro_f1, rare_recall) or "regression" (rmse, r2).
        seeds: number of splits.
        test_rows: real rows in a test.
        rare: the classes that rare_recall is about, in the first split.
        arms: synthetic first, then ceilings, then floors.
        warnings: plain sentences.
    """

    target: str
    task: str
    seeds: int
    test_rows: int
    rare: tuple[str, ...]
    arms: tuple[Arm, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Task:
    columns: Sequence[ColumnLike]
    target: int
    classes: int  # 0: regression
    origin: float

    def classes_of(self, rows: FloatArray) -> IntArray:
        codes = (rows[:, self.target] - self.origin).astype(np.int64)
        return np.clip(codes, 0, self.classes - 1)


def downstream(
    real: FloatArray,
    synthetic: FloatArray,
    columns: Sequence[ColumnLike],
    *,
    target: str,
    public: FloatArray | None,
    seeds: int,
    rng_seed: int,
) -> Downstream:
    """Score models that predict ``target`` from the other columns. Reads real rows: not private.

    Rows whose target is missing are left out. Categories, booleans and whole numbers of at most 20 possible
    values are classified, everything else is regression.

    Args:
        real: float64 (n, c), missing as NaN.
        synthetic: float64 (m, c).
        columns: the c columns.
        target: name of the predicted column.
        public: float64 (l, c) or None.
        seeds: number of splits, ≥ 1.
        rng_seed: first seed; the splits use rng_seed, rng_seed + 1, …

    Raises:
        SpecError: ``target`` is not a column.
    """
    task = _task(columns, target)
    tables = {"real": real, "synthetic": synthetic, "public": np.empty((0, real.shape[1]))}
    if public is not None:
        tables["public"] = public
    tables = {name: rows[~np.isnan(rows[:, task.target])] for name, rows in tables.items()}
    kind = "classification" if task.classes else "regression"
    if len(tables["real"]) < 2:
        return Downstream(target, kind, 0, 0, (), (), (f"too few real rows have a {target!r} to test a model",))
    results: dict[str, list[dict[str, float | None]]] = {}
    rows: dict[str, int] = {}
    for seed in range(rng_seed, rng_seed + seeds):
        train, test = _split(tables["real"], np.random.default_rng(seed))
        for name, arm in _training_sets(tables, train).items():
            results.setdefault(name, []).append(_score(name, arm, test, task, seed))
            rows[name] = len(arm)
    _, test = _split(tables["real"], np.random.default_rng(rng_seed))
    arms = tuple(
        Arm(name, TITLES[name], rows[name], {key: summary([r[key] for r in found]) for key in found[0]})
        for name, found in results.items()
    )
    return Downstream(
        target=target,
        task=kind,
        seeds=seeds,
        test_rows=len(test),
        rare=_rare_names(test, task),
        arms=arms,
        warnings=_warnings(tables["synthetic"], test, task),
    )


def _task(columns: Sequence[ColumnLike], target: str) -> _Task:
    names = [column.name for column in columns]
    if target not in names:
        raise SpecError(f"expected target to be one of the columns {', '.join(names)}; found target={target!r}")
    position = names.index(target)
    column = columns[position]
    if column.type in ("category", "boolean"):
        return _Task(columns, position, len(labels(column)), 0.0)
    low, high = bounds(column)
    if column.type in WHOLE and high - low < MOST_WHOLE_CLASSES:
        return _Task(columns, position, int(high - low) + 1, low)
    return _Task(columns, position, 0, 0.0)


def _split(real: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    order = rng.permutation(len(real))
    tested = min(max(round(TEST_SHARE * len(real)), 1), len(real) - 1)
    return real[order[tested:]], real[order[:tested]]


def _training_sets(tables: dict[str, FloatArray], train: FloatArray) -> dict[str, FloatArray]:
    """Return the arms; the split has shuffled ``train``, so its head is a random sample.

    "As many real rows" is left out where it would be all of them again.
    """
    fewer = len(tables["synthetic"]) < len(train)
    arms = {
        "synthetic": tables["synthetic"],
        "real_same_rows": train[: len(tables["synthetic"]) if fewer else 0],
        "real_all": train,
        "public": tables["public"],
        "guess": train,
    }
    return {name: rows for name, rows in arms.items() if len(rows)}


def _score(name: str, train: FloatArray, test: FloatArray, task: _Task, seed: int) -> dict[str, float | None]:
    if not task.classes:
        predicted = (
            np.full(len(test), train[:, task.target].mean())
            if name == "guess"
            else predict_numbers(train, test, task.columns, target=task.target, seed=seed)
        )
        return regression_scores(test[:, task.target], predicted)
    known = task.classes_of(train)
    if name == "guess":
        shares = np.bincount(known, minlength=task.classes) / len(known)
        probabilities = np.tile(shares, (len(test), 1))
    else:
        probabilities = predict_classes(
            train, test, task.columns, target=task.target, labels=known, classes=task.classes, seed=seed
        )
    return classification_scores(task.classes_of(test), probabilities)


def summary(values: Sequence[float | None]) -> Score:
    """Return mean and standard deviation of a score over the seeds where it is defined."""
    known = [value for value in values if value is not None]
    if not known:
        return Score(None, None)
    return Score(float(np.mean(known)), float(np.std(known, ddof=1)) if len(known) > 1 else None)


def _class_names(task: _Task) -> tuple[str, ...]:
    column = task.columns[task.target]
    if column.type in ("category", "boolean"):
        return labels(column)
    return tuple(f"{task.origin + k:g}" for k in range(task.classes))


def _rare_names(test: FloatArray, task: _Task) -> tuple[str, ...]:
    if not task.classes:
        return ()
    return tuple(_class_names(task)[k] for k in rare_classes(task.classes_of(test)))


def _warnings(synthetic: FloatArray, test: FloatArray, task: _Task) -> tuple[str, ...]:
    target = task.columns[task.target].name
    if not len(synthetic):
        return (f"no synthetic row has a {target!r}: no model could be trained on them",)
    if not task.classes:
        return ()
    lacking = set(task.classes_of(test).tolist()) - set(task.classes_of(synthetic).tolist())
    if not lacking:
        return ()
    named = ", ".join(repr(_class_names(task)[k]) for k in sorted(lacking)[:5])
    more = ", …" if len(lacking) > 5 else ""
    return (f"the synthetic table lacks classes of {target!r}, which count as missed: {named}{more}",)
