"""PubMix, Figure 5: a random forest that predicts ability to speak English, trained on synthetic rows.

Trained on m synthetic rows of the seven columns, tested on the 20 % of the private state that no mechanism saw. The
five levels are 1 (speaks only English, or too young to be asked: an empty cell in the files) and 2 to 5 (the files'
1, very well, to 4, not at all).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from evomix.core.arrays import FloatArray, IntArray
from evomix.reports.line_chart import Series, line_chart
from evomix.reproduction.census import COLUMNS, States, decode
from evomix.reproduction.distance_curves import (
    GAUSSIAN,
    LINMIX,
    MECHANISMS,
    PUBLIC,
    PUBMIX,
    REAL,
    ROW_CURVES,
    THRESHOLDED,
    draws_of,
    law_of,
    middle,
    mixtures_at,
)
from evomix.reproduction.figure import NOT_COMPARABLE, Claim, Reproduction, Request
from evomix.reproduction.releases import ADJACENCY
from evomix.reproduction.state_pairs import EPSILON, KEPT, StatePair, chosen_pairs, needed

SHARES: Final = (0.01, 0.03, 0.1, 0.3)
QUICK_SHARES: Final = (0.1,)
TARGET: Final = "ENG"
TREES: Final = 100
CONSTANT: Final = "mean of the public rows"
ALL_REAL: Final = "all private rows"
_ERRORS: Final = 2.0
_PLACE: Final = [column.name for column in COLUMNS].index(TARGET)


@dataclass(frozen=True, slots=True)
class Accuracies:
    """Root mean squared errors on the held-out rows of one private state.

    Attributes:
        pair: the two states, as split in the first repetition.
        draws: the numbers m of training rows.
        errors: by curve, float64 (len(draws), seeds).
        reference: by reference, float64 (seeds,): the forest on all private rows; a constant.
    """

    pair: StatePair
    draws: tuple[int, ...]
    errors: dict[str, FloatArray]
    reference: dict[str, FloatArray]

    def relative(self, curve: str) -> FloatArray:
        """Return the error of the forest on all private rows over that of ``curve``: 1 is as good as real rows."""
        mine = self.errors[curve] if curve in self.errors else self.reference[curve][None, :]
        return np.asarray(self.reference[ALL_REAL][None, :] / mine, dtype=np.float64)


def pubmix_fig5(request: Request) -> Reproduction:
    """Return the figure.

    Raises:
        SpecError: no table of states.
        InputFileError: too few states or rows.
    """
    states = needed(request.states)
    pairs = range(1 if request.quick else 3)
    measured = [one for k in pairs if (one := _measure(states, k, request)) is not None]
    return Reproduction(
        plots=tuple(
            ("" if k == 0 else f"-{one.pair.slug}", _plot(one, states, request)) for k, one in enumerate(measured)
        ),
        settings={
            "epsilon": EPSILON,
            "delta": "1/n",
            "adjacency": ADJACENCY,
            "n": f"{KEPT:.0%} of the rows of the private state; the other rows test",
            "model": f"random forest regressor, {TREES} trees, library defaults, codes as numbers",
            "target": "1 only English or under 5 years (empty), 2 very well, 3 well, 4 not well, 5 not at all",
            "seeds": request.seeds,
            "quick": request.quick,
        },
        numbers={"pairs": [_numbers(one) for one in measured]},
        header=("private", "public", "m", "RMSE, all private", *MECHANISMS, "thresholded", "public rows", "constant"),
        rows=tuple(_row(one) for one in measured),
        claims=_claims(measured),
        notes=_notes(measured),
    )


def _measure(states: States, position: int, request: Request) -> Accuracies | None:
    """Return what repetitions give for one pair of states; None where there are too few states for it."""
    splits = [chosen_pairs(states, seed=seed)[position:][:1] for seed in range(request.seeds)]
    if not splits[0]:
        return None
    pairs = [pair for split in splits for pair in split]
    draws = draws_of(pairs[0], QUICK_SHARES if request.quick else SHARES)
    mixtures = [mixtures_at(pairs[0], m) for m in draws]  # the same for every split
    errors = {curve: np.empty((len(draws), request.seeds)) for curve in ROW_CURVES}
    reference = {name: np.empty(request.seeds) for name in (ALL_REAL, CONSTANT)}
    for seed, pair in enumerate(pairs):
        reference[ALL_REAL][seed] = _forest_error(pair.kept, pair.held_out, seed)
        mean = float(_levels(states.cells[pair.public]).mean())
        reference[CONSTANT][seed] = _error(np.full(len(pair.held_out), mean), _levels(pair.held_out))
        for k, m in enumerate(draws):
            for j, curve in enumerate(ROW_CURVES):
                rng = np.random.default_rng([seed, m, j])
                counts = rng.multinomial(m, law_of(curve, pair, mixtures[k], rng).distribution)
                synthetic = np.repeat(np.arange(len(counts)), counts)
                errors[curve][k, seed] = _forest_error(synthetic, pair.held_out, seed)
    return Accuracies(pairs[0], draws, errors, reference)


def _forest_error(training: IntArray, test: IntArray, seed: int) -> float:
    """Return the error on ``test`` of a forest trained on ``training``; both are cells."""
    from sklearn.ensemble import RandomForestRegressor  # noqa: PLC0415  (seconds to load; other figures need none)

    forest = RandomForestRegressor(n_estimators=TREES, random_state=seed, n_jobs=1)
    forest.fit(_features(training), _levels(training))
    cells, where = np.unique(test, return_inverse=True)
    return _error(forest.predict(_features(cells))[where], _levels(test))


def _features(cells: IntArray) -> IntArray:
    return np.delete(decode(cells), _PLACE, axis=1)


def _levels(cells: IntArray) -> IntArray:
    """Return the levels 1 to 5; the empty cell is code 0."""
    return np.asarray(decode(cells)[:, _PLACE] + 1, dtype=np.int64)


def _error(predicted: FloatArray, true: IntArray) -> float:
    return float(np.sqrt(np.mean((predicted - true) ** 2)))


def _plot(one: Accuracies, states: States, request: Request) -> str:
    curves = []
    for name in ROW_CURVES:
        relative = one.relative(name)
        curves.append(Series(name, one.draws, relative.mean(axis=1), spread=_scatter(relative), marker=True))
    constant = [float(one.relative(CONSTANT).mean())] * len(one.draws)
    pair = one.pair
    return line_chart(
        [*curves, Series(CONSTANT, one.draws, constant)],
        title=f"Predicting English from synthetic rows: {pair.name}",
        x_label="number m of training rows",
        y_label="accuracy relative to real rows",
        log_x=True,
        note=(
            f"RMSE of a forest trained on all {pair.budget.n:,} private rows over that of one trained on m rows; 1 is "
            f"as good as real rows. Simulation on rows of {states.source} declared public, {pair.private} and "
            f"{pair.public} in place of the paper's Texas and California (2023). ε = {EPSILON:g}, δ = 1/n, {ADJACENCY} "
            f"for all. Bars: ± 1 s.d. over {request.seeds} splits."
        ),
    )


def _scatter(values: FloatArray) -> FloatArray:
    return np.asarray(values.std(axis=-1, ddof=1 if values.shape[-1] > 1 else 0), dtype=np.float64)


def _numbers(one: Accuracies) -> dict[str, Any]:
    pair = one.pair
    return {
        "private": pair.private,
        "public": pair.public,
        "n": pair.budget.n,
        "draws": one.draws,
        "rmse": {name: values.tolist() for name, values in one.errors.items()},
        "rmse_reference": {name: values.tolist() for name, values in one.reference.items()},
        "relative_accuracy": {name: one.relative(name).mean(axis=1).tolist() for name in (*ROW_CURVES, CONSTANT)},
    }


def _at(one: Accuracies) -> int:
    return one.draws.index(middle(one.pair))


def _row(one: Accuracies) -> tuple[str, ...]:
    k = _at(one)
    shown = [one.reference[ALL_REAL], *(one.errors[curve][k] for curve in (*MECHANISMS, THRESHOLDED, PUBLIC))]
    values = [*shown, one.reference[CONSTANT]]
    words = [f"{value.mean():.3f} ± {float(_scatter(value)):.3f}" for value in values]
    return (one.pair.private, one.pair.public, str(one.draws[k]), *words)


def _claims(measured: Sequence[Accuracies]) -> tuple[Claim, ...]:
    return (
        *(_better_than(measured, other) for other in (GAUSSIAN, LINMIX)),
        Claim(
            "The accuracies drawn, relative to a model trained on real rows.",
            NOT_COMPARABLE,
            "The paper draws them and states no number, and its states are others.",
        ),
    )


def _better_than(measured: Sequence[Accuracies], other: str) -> Claim:
    """Compare within each repetition, where split and test rows are the same."""
    gains = [one.errors[other] - one.errors[PUBMIX] for one in measured]
    clear = [_is_clear(row) for gain in gains for row in gain]
    points = ", ".join(
        f"{one.pair.private}/{one.pair.public} {gain[_at(one)].mean():+.3f}"
        for one, gain in zip(measured, gains, strict=True)
    )
    return Claim(
        f"A model trained on PubMix's rows predicts better than one trained on rows of {other}.",
        all(clear),
        f"Better, by more than {_ERRORS:g} standard errors, at {sum(clear)} of {len(clear)} points (pair, m). "
        f"RMSE of {other} less that of PubMix at m = n/10: {points}.",
    )


def _is_clear(gains: FloatArray) -> bool:
    return float(gains.mean()) > _ERRORS * float(_scatter(gains)) / math.sqrt(len(gains))


def _notes(measured: Sequence[Accuracies]) -> tuple[str, ...]:
    words = ", ".join(
        f"{one.pair.private}/{one.pair.public} PubMix {one.errors[PUBMIX][_at(one)].mean():.3f}, public rows "
        f"{one.errors[PUBLIC][_at(one)].mean():.3f}, private rows {one.errors[REAL][_at(one)].mean():.3f}, thresholded "
        f"Gaussian {one.errors[THRESHOLDED][_at(one)].mean():.3f}"
        for one in measured
    )
    return (
        "How the paper codes the empty cells of English is not said; here they are the level next to 'very well'.",
        f"RMSE at m = n/10 beside references that the paper does not draw: {words}.",
    )
