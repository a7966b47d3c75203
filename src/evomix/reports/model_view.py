"""Scores of models, arranged for reading."""

from collections.abc import Mapping
from typing import Any, Final

from evomix.reports.gauges import Gauge, gauge, three

METRICS: Final = {
    "accuracy": "Accuracy",
    "auc": "AUC",
    "macro_f1": "Macro F1",
    "rare_recall": "Recall of rare classes",
    "rmse": "Root mean squared error",
    "r2": "R²",
    "spearman": "Rank correlation",
}
_BEST: Final = {
    "accuracy": 1.0,
    "auc": 1.0,
    "macro_f1": 1.0,
    "rare_recall": 1.0,
    "rmse": 0.0,
    "r2": 1.0,
    "spearman": 1.0,
}


def _arm(models: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    for name in names:
        for arm in models["arms"]:
            if arm["name"] == name:
                scores: Mapping[str, Any] = arm["scores"]
                return scores
    return {}


def _metrics(models: Mapping[str, Any]) -> list[str]:
    return [key for key in METRICS if any(key in arm["scores"] for arm in models["arms"])]


def model_gauges(models: Mapping[str, Any]) -> tuple[Gauge, ...]:
    """Return a gauge for each score of ``Downstream`` as a dictionary."""
    arms = (
        _arm(models, "synthetic"),
        _arm(models, "real_same_rows", "real_all"),
        _arm(models, "public", "guess"),
    )
    gauges = []
    for key in _metrics(models):
        value, ceiling, floor = (arm.get(key, {}).get("mean") for arm in arms)
        best = _BEST[key]
        guess = _arm(models, "guess").get(key, {}).get("mean")
        gauges.append(gauge(METRICS[key], (value, ceiling, floor), ends=(best if guess is None else guess, best)))
    return tuple(gauges)


def model_headings(models: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the headings of :func:`model_rows`."""
    return ("Trained on", "Rows", *(METRICS[key] for key in _metrics(models)))


def model_rows(models: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
    """Return a row for each training set: its title, its size, its scores."""

    def cell(score: Mapping[str, Any]) -> str:
        spread = f" ± {three(score['sd'])}" if score.get("sd") is not None else ""
        return three(score.get("mean")) + spread

    return tuple(
        (arm["title"], f"{arm['rows']:,}", *(cell(arm["scores"].get(key, {})) for key in _metrics(models)))
        for arm in models["arms"]
    )
