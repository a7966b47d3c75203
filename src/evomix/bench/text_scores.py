"""The scores of a table of texts against a test part: a model trained on it, and where its texts lie."""

from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evomix.bench.contest import Measured
from evomix.bench.shared_encoder import SharedEncoder
from evomix.bench.text_sets import TEXT, TextTables, labels_of
from evomix.core.arrays import FloatArray, IntArray
from evomix.evaluation.scores import classification_scores, regression_scores
from evomix.evaluation.text.downstream import Task
from evomix.evaluation.text.learners import LinearLearner
from evomix.evaluation.text.text_set import TextSet
from evomix.metrics import mauve, precision, recall, wasserstein
from evomix.modalities.text.codec import read_texts

MOST_POINTS: Final = 1_000
"""Texts of a side that figures of points are taken over, the same test texts for all."""
NEIGHBOURS: Final = 3
_CLASSES: Final = (Measured("accuracy", "accuracy", "higher"), Measured("macro_f1", "macro F1", "higher"))
_NUMBERS: Final = (Measured("rmse", "RMSE", "lower"), Measured("r2", "R²", "higher"))
_POINTS: Final = (
    Measured("wasserstein", "W1", "lower"),
    Measured("precision", "precision", "higher"),
    Measured("recall", "recall", "higher"),
    Measured("mauve", "MAUVE-like", "higher"),
)


def measures_of(task: Task) -> tuple[Measured, ...]:
    """Return the scores, that of models first."""
    return (*(_CLASSES if task == "classification" else _NUMBERS), *_POINTS)


class TextScorer:
    """Scores tables of texts alike. Reads the test part: not private.

    Models are linear ones on the texts' vectors, trained on the table and tested on the test part. Figures of points
    compare the table's texts with those of the test part, whatever their labels.

    Args:
        tables: of the benchmark.
        encoder: of all texts.
    """

    def __init__(self, tables: TextTables, encoder: SharedEncoder) -> None:
        self._tables, self._encoder = tables, encoder
        self._test = self._text_set(tables.test)
        names = {str(name) for name in labels_of(tables.test, tables.target, tables.task)}
        self._classes = {name: k for k, name in enumerate(sorted(names))}
        self._points = self._test.draw(MOST_POINTS, np.random.default_rng(0)).vectors

    def score(self, table: pa.Table, *, seed: int, points: bool) -> dict[str, float | None]:
        """Return the scores of at least one text; without ``points`` those of models alone."""
        found = self._text_set(table)
        scores = self._downstream(found.with_targets(), seed) | (
            self._geometry(found, seed) if points else {one.name: None for one in _POINTS}
        )
        return {one.name: scores[one.name] for one in measures_of(self._tables.task)}

    def _text_set(self, table: pa.Table) -> TextSet:
        texts = read_texts(table, TEXT)
        vectors = np.asarray(self._encoder.vectors(texts), np.float64)
        return TextSet(texts, vectors, labels_of(table, self._tables.target, self._tables.task))

    def _downstream(self, train: TextSet, seed: int) -> dict[str, float | None]:
        learner, test = LinearLearner(), self._test
        assert test.targets is not None
        assert train.targets is not None
        if not len(train):
            return {one.name: None for one in measures_of(self._tables.task)}
        if self._tables.task == "regression":
            return regression_scores(test.targets, learner.predict_numbers(train, train.targets, test, seed=seed))
        # A class that the test part lacks is one more, which is always wrong.
        labels = self._codes(train.targets)
        probabilities = learner.predict_classes(train, labels, test, classes=len(self._classes) + 1, seed=seed)
        return classification_scores(self._codes(test.targets), probabilities)

    def _codes(self, names: NDArray[Any]) -> IntArray:
        return np.array([self._classes.get(str(name), len(self._classes)) for name in names], np.int64)

    def _geometry(self, found: TextSet, seed: int) -> dict[str, float | None]:
        drawn: FloatArray = found.draw(MOST_POINTS, np.random.default_rng(seed)).vectors
        balls = len(self._points) > NEIGHBOURS
        return {
            "wasserstein": wasserstein(self._points, drawn, seed=seed).value,
            "precision": precision(self._points, drawn, k=NEIGHBOURS) if balls else None,
            "recall": recall(self._points, drawn, k=NEIGHBOURS) if balls else None,
            "mauve": mauve(self._points, drawn, seed=seed),
        }
