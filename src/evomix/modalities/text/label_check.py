"""Whether a text reads like its class: judged by a linear model of the public texts, so it costs nothing.

A rephrasing keeps its parent's class, but a small model may turn praise into complaint. Such a text would be voted for
by place and carry a wrong label. A text passes that reads as clearly like its class as three in four of the public
texts do which the model has not seen; so classes that are hard to tell apart ask for less.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray, IntArray

LEAST_TEXTS: Final = 20
"""Public texts of a class from which the class is judged at all."""
LEAST_RATIO: Final = 0.75
"""Probability of the text's own class, over that of the likeliest, from which it passes."""
LESS_CLEAR: Final = 0.25
"""Share of the public texts of a class that may read less clearly like it than a text that passes.

Measured on sentences of two sources, each as private in turn: a classifier of 200 texts gains 0.02 by it. From 0.25 to
0.6 it is much the same, and fewer candidates pass."""
FOLDS: Final = 5


@dataclass(frozen=True, slots=True)
class LabelCheck:
    """A logistic regression on sentence vectors of public texts. Make one with :meth:`fit`."""

    _model: Any
    _column: IntArray
    _least: FloatArray

    @classmethod
    def fit(cls, vectors: NDArray[np.float32], classes: IntArray, count: int) -> "LabelCheck | None":
        """Return the check; ``None`` where fewer than two classes have enough public texts to tell them apart by.

        Args:
            vectors: float32 (m, k), of the public texts.
            classes: int64 (m,), of each.
            count: how many classes there are.
        """
        known = np.flatnonzero(np.bincount(classes, minlength=count) >= LEAST_TEXTS)
        if known.size < 2:
            return None
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415  (seconds to load; few runs need it)
        from sklearn.model_selection import StratifiedKFold, cross_val_predict  # noqa: PLC0415

        held = np.isin(classes, known)
        points, labels = vectors[held].astype(np.float64), classes[held]
        model = LogisticRegression(C=10.0, max_iter=2000)
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)  # public texts may come in the order of a source
        unseen = cross_val_predict(model, points, labels, cv=folds, method="predict_proba")
        least = [np.quantile(unseen[labels == one, k], LESS_CLEAR) for k, one in enumerate(known)]
        column = np.full(count, -1)
        column[known] = np.arange(known.size)
        return cls(model.fit(points, labels), column, np.asarray(least, np.float64))

    def passes(self, vectors: NDArray[np.float32], classes: Sequence[int]) -> NDArray[np.bool_]:
        """Return which texts read like their class, bool (n,); one of a class that is not judged does."""
        if not len(vectors):
            return np.ones(0, np.bool_)
        chances = self._model.predict_proba(vectors.astype(np.float64))
        column = self._column[np.asarray(classes, np.int64)]
        own = chances[np.arange(len(chances)), column]
        least = np.maximum(LEAST_RATIO * chances.max(axis=1), self._least[column])
        return np.asarray((column < 0) | (own >= least), np.bool_)
