"""``evomix audit``: a proven guarantee beside what an attack on the sampling code shows."""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from evomix.audit.audit import MOST_TRIALS, affordable_trials, audit
from evomix.audit.claim import Claim
from evomix.audit.forecast import forecast, mistake_rate
from evomix.audit.release import Release
from evomix.audit.worst_case import worst_case
from evomix.core.errors import InputFileError, PrivacyError, SpecError
from evomix.experiment.recorded import read_recorded
from evomix.experiment.specimen import Specimen
from evomix.privacy.composition import composed_delta, composed_epsilon
from evomix.privacy.randomness import SeededSource, SystemSource
from evomix.privacy.rounds import Round

EASIER_DELTAS: Final = (1e-2, 1e-3, 1e-4)
"""Where an audit with a million trials can come near to a proven ε."""

_OTHER_MACHINE: Final = 1.0 + 1e-9
"""The run may have been accounted for where the last digits of a certified bound come out otherwise."""

Report = Callable[[str, int, int], None]


def audit_run(
    run_dir: Path,
    *,
    trials: int | None = None,
    confidence: float = 0.999,
    seed: int | None = None,
    report: Report | None = None,
) -> dict[str, Any]:
    """Audit the mechanism of a finished run, rebuilt from the public figures of its ``privacy.json``.

    No private record is opened and nothing is charged: the records of an audit are made up.

    Args:
        run_dir: the run's folder.
        trials: runs on each of the two neighbours (default: a million, or as many as a few minutes allow).
        confidence: probability that all lower bounds are right.
        seed: of a mixture's randomness (default: the operating system's).
        report: told how far the audit is.

    Raises:
        InputFileError: the folder holds no sound ``privacy.json``.
        SpecError: trials or confidence out of range.
    """
    recorded = read_recorded(run_dir)
    stated = Claim(recorded.epsilon, recorded.delta)
    try:
        releases = worst_case(recorded.rounds, stated)
    except PrivacyError as error:
        raise InputFileError(f"{recorded.path} describes a release that no run could make: {error}") from None
    return {
        "run": str(run_dir),
        "mechanism": recorded.mechanism,
        "n": recorded.units,
        "accountant": recorded.accountant or None,
    } | _audited(
        releases,
        recorded.rounds,
        stated,
        proven_delta=_proven_delta(recorded.rounds, stated, recorded.accountant),
        trials=trials,
        confidence=confidence,
        seed=seed,
        report=report,
    )


def audit_mechanism(
    specimen: Specimen,
    *,
    trials: int | None = None,
    confidence: float = 0.999,
    seed: int | None = None,
    report: Report | None = None,
) -> dict[str, Any]:
    """Audit a mechanism calibrated as a run would do it; arguments and errors as in :func:`audit_run`."""
    stated = Claim(specimen.epsilon, specimen.delta)
    return {"mechanism": specimen.mechanism, "n": specimen.units} | _audited(
        worst_case(specimen.rounds, stated, name=specimen.mechanism),
        specimen.rounds,
        stated,
        proven_delta=_proven_delta(specimen.rounds, stated),
        trials=trials,
        confidence=confidence,
        seed=seed,
        report=report,
    )


def _proven_delta(rounds: Sequence[Round], stated: Claim, accountant: str = "") -> float:
    """Return what the accounting here proves δ to be at the stated ε."""
    proven = composed_delta(stated.epsilon, rounds)
    if proven > stated.delta and accountant == "renyi":  # another upper bound, and the one the run went by
        proven = min(proven, composed_delta(stated.epsilon, rounds, accountant="renyi"))
    return proven


def _audited(
    releases: Sequence[Release],
    rounds: Sequence[Round],
    stated: Claim,
    *,
    proven_delta: float,
    trials: int | None,
    confidence: float,
    seed: int | None,
    report: Report | None,
) -> dict[str, Any]:
    """Audit the stated claim and, where its δ is too small for trials to resolve, an easier point of the curve."""
    runs = affordable_trials(releases) if trials is None else trials
    claims = [stated, *_easier(releases, rounds, stated, runs, confidence)]
    source = SystemSource() if seed is None else SeededSource(seed)
    found = audit(releases, claims, trials=runs, confidence=confidence, source=source, report=report)
    accounted = proven_delta <= stated.delta * _OTHER_MACHINE
    return {
        "verdict": "consistent" if accounted and not found.refuted else "VIOLATION",
        "adjacency": "replace-one",
        "epsilon": stated.epsilon,
        "delta": stated.delta,
        "proven_delta": proven_delta,
        "accounted": accounted,
        "trials": found.trials,
        "confidence": confidence,
        "warnings": _warnings(trials, runs),
        "randomness": "operating system" if seed is None else f"seed {seed}",
        "claims": [
            asdict(tally) | {"stated": index == 0, "refuted": tally.refuted}
            for index, tally in enumerate(found.tallies)
        ],
        "counts": [asdict(count) for count in found.counts],
    }


def _warnings(asked: int | None, trials: int) -> list[str]:
    if asked is not None or trials >= MOST_TRIALS:
        return []
    fewer = f"{trials} trials instead of {MOST_TRIALS}, to be done in minutes"
    return [f"{fewer}: the bounds hold but are weaker. --trials sets their number"]


def _easier(
    releases: Sequence[Release], rounds: Sequence[Round], stated: Claim, trials: int, confidence: float
) -> list[Claim]:
    """Return the point (ε', δ') of the same privacy curve at which the trials should come nearest to the proven ε'."""
    if isinstance(trials, bool) or not isinstance(trials, int) or trials < 1:
        raise SpecError(f"trials must be a whole number of at least 1; found trials={trials!r}")
    points = [Claim(composed_epsilon(delta, rounds), delta) for delta in EASIER_DELTAS if delta > stated.delta]
    points = [point for point in points if 0.0 < point.epsilon < math.inf]
    if not points:
        return []
    mistake = mistake_rate(confidence, deltas=2)
    claimed = forecast(releases)
    nearness = [claimed.expected(point.delta, trials=trials, mistake=mistake) / point.epsilon for point in points]
    return [points[nearness.index(max(nearness))]]
