"""The models of table benchmarks: gradient boosting, and a random forest and a linear one beside it.

All are small and run on one thread: a benchmark trains hundreds of them.
"""

from collections.abc import Sequence
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

from evomix.core.arrays import FloatArray, IntArray
from evomix.evaluation.columns import ColumnLike
from evomix.evaluation.features import Features, make_features

Learner: TypeAlias = Literal["boosting", "forest", "linear"]
MOST_ROWS: Final = 50_000
"""Rows that boosting is trained on; of a larger table as many are drawn."""
MOST_ROWS_OF_OTHERS: Final = 20_000
_TREES: Final = 50
_BOOSTING: Final = {"max_iter": 100, "l2_regularization": 1.0, "early_stopping": False}
"""As many rounds for every class: rare ones need them. Without the penalty, a class that is all but learned makes
leaves of no curvature, and steps that undo what was learned: 0.36 instead of 0.84 was measured at a rate of 0.3."""
_STEPS: Final = 200
_TOLERANCE: Final = 1e-3


def learned_classes(
    learner: Learner,
    train: FloatArray,
    test: FloatArray,
    columns: Sequence[ColumnLike],
    *,
    target: int,
    labels: IntArray,
    classes: int,
    seed: int,
) -> FloatArray:
    """Return a model's class probabilities of the test rows, float64 (k, classes); a class not in training gets 0.

    Args:
        learner: which model.
        train: float64 (n, c), n ≥ 1, missing as NaN.
        test: float64 (k, c); its target column is not looked at.
        columns: the c columns.
        target: position of the target.
        labels: int64 (n,), classes of the training rows, in 0..classes−1.
        classes: number of classes.
        seed: of the model, and of the rows that are drawn.
    """
    rows = _drawn(learner, len(train), seed)
    features, labels = make_features(train[rows], test, columns, target=target), labels[rows]
    present = np.unique(labels)
    shares = np.bincount(labels, minlength=classes) / len(labels)
    if features.train.shape[1] == 0 or len(present) == 1:
        return np.tile(shares, (len(test), 1))
    probabilities = np.zeros((len(test), classes))
    with threadpool_limits(1):
        model = _pipeline(learner, _classifier(learner, features, seed), features)
        probabilities[:, present] = model.fit(features.train, labels).predict_proba(features.test)
    return probabilities


def learned_numbers(
    learner: Learner, train: FloatArray, test: FloatArray, columns: Sequence[ColumnLike], *, target: int, seed: int
) -> FloatArray:
    """Return a model's prediction of a number for each test row, float64 (k,); arguments as in ``learned_classes``."""
    rows = _drawn(learner, len(train), seed)
    features, values = make_features(train[rows], test, columns, target=target), train[rows, target]
    if features.train.shape[1] == 0 or values.min() == values.max():
        return np.full(len(test), values.mean())
    with threadpool_limits(1):
        model = _pipeline(learner, _regressor(learner, features, seed), features)
        return np.asarray(model.fit(features.train, values).predict(features.test), np.float64)


def _classifier(learner: Learner, features: Features, seed: int) -> Any:
    if learner == "boosting":
        return HistGradientBoostingClassifier(categorical_features=features.categorical, random_state=seed, **_BOOSTING)
    if learner == "forest":
        return RandomForestClassifier(_TREES, random_state=seed, n_jobs=1)
    return LogisticRegression(max_iter=_STEPS, tol=_TOLERANCE)


def _regressor(learner: Learner, features: Features, seed: int) -> Any:
    if learner == "boosting":
        return HistGradientBoostingRegressor(categorical_features=features.categorical, random_state=seed, **_BOOSTING)
    if learner == "forest":
        return RandomForestRegressor(_TREES, random_state=seed, n_jobs=1, min_samples_leaf=3)
    return Ridge()


def _pipeline(learner: Learner, model: Any, features: Features) -> Any:
    if learner == "boosting":
        return model  # takes missing cells and categories as they are
    return Pipeline([("inputs", _filled() if learner == "forest" else _encoder(features)), ("model", model)])


def _filled() -> SimpleImputer:
    """Trees take codes as numbers; a missing cell is below them all."""
    return SimpleImputer(strategy="constant", fill_value=-1e9)


def _encoder(features: Features) -> ColumnTransformer:
    """Categories one-hot, missing being one more; numbers scaled, missing at the mean and told by a column."""
    numbers = Pipeline([("fill", SimpleImputer(add_indicator=True)), ("scale", StandardScaler())])
    return ColumnTransformer(
        [
            ("numbers", numbers, np.flatnonzero(~features.categorical)),
            ("categories", OneHotEncoder(handle_unknown="ignore"), np.flatnonzero(features.categorical)),
        ]
    )


def _drawn(learner: Learner, count: int, seed: int) -> IntArray:
    most = MOST_ROWS if learner == "boosting" else MOST_ROWS_OF_OTHERS
    if count <= most:
        return np.arange(count)
    drawn: NDArray[np.int64] = np.random.default_rng(seed).permutation(count)[:most]
    return np.sort(drawn)
