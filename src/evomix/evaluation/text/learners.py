"""What learns from texts: linear models on their vectors, a usual probe of what the vectors say of a target.

One thread is used, as everywhere here: scores come out equal wherever they are computed.
"""

import warnings
from typing import Final, Protocol

import numpy as np
from threadpoolctl import threadpool_limits

from evomix.core.arrays import FloatArray, IntArray
from evomix.evaluation.text.text_set import TextSet

INVERSE_PENALTY: Final = 10.0
"""C of the logistic regression: vectors have unit length, so that weights must be large to separate classes."""
_PENALTIES: Final = np.logspace(-3.0, 3.0, 13)


class Learner(Protocol):
    """Learns a target from some texts and says it of others."""

    @property
    def title(self) -> str:
        """What it is, for readers: begins a sentence."""

    def predict_classes(
        self, train: TextSet, labels: IntArray, test: TextSet, *, classes: int, seed: int
    ) -> FloatArray:
        """Return class probabilities, float64 (len(test), classes), from at least one label int64 (len(train),).

        A class that is not in training gets 0.
        """

    def predict_numbers(self, train: TextSet, targets: FloatArray, test: TextSet, *, seed: int) -> FloatArray:
        """Return predicted numbers, float64 (len(test),), from at least one target float64 (len(train),)."""


class LinearLearner:
    """Logistic regression for classes, ridge regression for numbers (penalty by leave-one-out), on vectors."""

    @property
    def title(self) -> str:
        """What it is."""
        return "Linear models on the texts' vectors"

    def predict_classes(
        self, train: TextSet, labels: IntArray, test: TextSet, *, classes: int, seed: int
    ) -> FloatArray:
        """Fit a logistic regression with C = 10; with one class in training, that class is certain."""
        from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415  (seconds to load)
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415

        answer = np.zeros((len(test), classes))
        known = np.unique(labels)
        if len(known) == 1:
            answer[:, known[0]] = 1.0
            return answer
        model = LogisticRegression(C=INVERSE_PENALTY, max_iter=500, random_state=seed)
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # 500 steps are near enough for a score
            model.fit(train.vectors, labels)
            answer[:, model.classes_] = model.predict_proba(test.vectors)
        return answer

    def predict_numbers(self, train: TextSet, targets: FloatArray, test: TextSet, *, seed: int) -> FloatArray:  # noqa: ARG002
        """Fit a ridge regression; of one text, its target is predicted for all."""
        from sklearn.linear_model import RidgeCV  # noqa: PLC0415  (seconds to load)

        if len(targets) < 2:
            return np.full(len(test), float(targets.mean()))
        with threadpool_limits(1):
            return np.asarray(RidgeCV(_PENALTIES).fit(train.vectors, targets).predict(test.vectors), np.float64)
