"""Scores of predictions on held-out rows."""

import numpy as np
from sklearn.metrics import roc_auc_score

from evomix.core.arrays import FloatArray, IntArray

RARE_SHARE = 0.1


def classification_scores(truth: IntArray, probabilities: FloatArray) -> dict[str, float | None]:
    """Return accuracy, auc (macro, one against the rest), macro_f1 and rare_recall.

    All means run over the classes that occur in ``truth``: a class the model never saw counts as missed.

    Args:
        truth: int64 (n,), class codes, n ≥ 1.
        probabilities: float64 (n, classes).
    """
    predicted = probabilities.argmax(axis=1)
    classes = np.unique(truth)
    hits = {int(k): int(((truth == k) & (predicted == k)).sum()) for k in classes}
    size = {k: int((truth == k).sum()) for k in hits}
    named = {k: int((predicted == k).sum()) for k in hits}
    f1 = [2 * hits[k] / (size[k] + named[k]) for k in hits]
    recall = {k: hits[k] / size[k] for k in hits}
    auc = [roc_auc_score(truth == k, probabilities[:, k]) for k in hits if size[k] < len(truth)]
    return {
        "accuracy": float((predicted == truth).mean()),
        "auc": float(np.mean(auc)) if auc else None,
        "macro_f1": float(np.mean(f1)),
        "rare_recall": float(np.mean([recall[k] for k in rare_classes(truth)])),
    }


def rare_classes(truth: IntArray) -> tuple[int, ...]:
    """Return the classes that hold less than a tenth of the rows, or the rarest class where none does."""
    classes, counts = np.unique(truth, return_counts=True)
    rare = classes[counts < RARE_SHARE * len(truth)]
    return tuple(int(k) for k in (rare if len(rare) else classes[[counts.argmin()]]))


def regression_scores(truth: FloatArray, predicted: FloatArray) -> dict[str, float | None]:
    """Return rmse, in the target's unit, and r2 (None where the truth does not vary)."""
    squares = (truth - predicted) ** 2
    spread = float(((truth - truth.mean()) ** 2).mean())
    return {
        "rmse": float(np.sqrt(squares.mean())),
        "r2": 1.0 - float(squares.mean()) / spread if spread > 0 else None,
    }
