"""Gradient boosting that takes any training table: one class, one row, no features, unseen categories.

Models use one thread: on a busy machine the threads of a small model wait for each other, and seven times
longer was measured; scores also come out equal wherever they are computed.
"""

from collections.abc import Sequence

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from evomix.core.arrays import FloatArray, IntArray
from evomix.evaluation.columns import ColumnLike
from evomix.evaluation.features import make_features

MOST_CLASSES = 100
_TREES = 400


def predict_classes(
    train: FloatArray,
    test: FloatArray,
    columns: Sequence[ColumnLike],
    *,
    target: int,
    labels: IntArray,
    classes: int,
    seed: int,
) -> FloatArray:
    """Return class probabilities of the test rows, float64 (k, classes); a class not in training gets 0.

    Beyond 100 classes only the 100 most frequent are learned, so that the number of trees stays bounded.

    Args:
        train: float64 (n, c), n ≥ 1.
        test: float64 (k, c); its target column is not looked at.
        columns: the c columns.
        target: position of the target.
        labels: int64 (n,), classes of the training rows, in 0..classes-1.
        classes: number of classes.
        seed: seed of the model.
    """
    counts = np.bincount(labels, minlength=classes)
    learned = np.sort(np.argsort(-counts, kind="stable")[:MOST_CLASSES])
    kept = np.isin(labels, learned)
    train, labels = train[kept], labels[kept]
    probabilities = np.zeros((len(test), classes))
    features = make_features(train, test, columns, target=target)
    present = np.unique(labels)
    if len(present) == 1 or features.train.shape[1] == 0:
        return np.tile(counts / counts.sum(), (len(test), 1))
    model = HistGradientBoostingClassifier(
        max_iter=int(np.clip(_TREES // len(present), 10, 100)),
        categorical_features=features.categorical,
        early_stopping=False,
        random_state=seed,
    )
    with threadpool_limits(1, user_api="openmp"):
        probabilities[:, present] = model.fit(features.train, labels).predict_proba(features.test)
    return probabilities


def predict_numbers(
    train: FloatArray, test: FloatArray, columns: Sequence[ColumnLike], *, target: int, seed: int
) -> FloatArray:
    """Return predictions of a number for the test rows, float64 (k,); arguments as in ``predict_classes``."""
    features = make_features(train, test, columns, target=target)
    values = train[:, target]
    if features.train.shape[1] == 0 or values.min() == values.max():
        return np.full(len(test), values.mean())
    model = HistGradientBoostingRegressor(
        categorical_features=features.categorical, early_stopping=False, random_state=seed
    )
    with threadpool_limits(1, user_api="openmp"):
        return np.asarray(model.fit(features.train, values).predict(features.test), dtype=np.float64)
