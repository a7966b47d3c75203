"""``evomix audit``: a proven guarantee beside what an attack on the sampling code shows."""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from evomix.audit.audit import MOST_TRIALS, affordable_trials, audit, check_trials
from evomix.audit.claim import Claim
from evomix.audit.forecast import forecast, mistake_rate
from evomix.audit.release import Release
from evomix.audit.worst_case import worst_case
from evomix.core.errors import InputFileError, PrivacyError
from evomix.experiment.recorded import read_recorded
from evomix.experiment.recorded_proof import Proof, proof_of_record, proof_of_rounds
from evomix.experiment.specimen import Specimen
from evomix.privacy.randomness import SeededSource, SystemSource

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

    Returns:
        Plain values for JSON. The verdict is "VIOLATION" where the record does not bear out its claim by the account
        that it names, or where an attack on the sampling code shows more than is claimed.

    Raises:
        InputFileError: the folder holds no sound ``privacy.json``, or one of a run that claims no privacy.
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
        "accountant": recorded.accountant,
    } | _audited(
        releases,
        stated,
        proof_of_record(recorded),
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
        stated,
        proof_of_rounds(specimen.rounds, stated),
        trials=trials,
        confidence=confidence,
        seed=seed,
        report=report,
    )


def _audited(
    releases: Sequence[Release],
    stated: Claim,
    proof: Proof,
    *,
    trials: int | None,
    confidence: float,
    seed: int | None,
    report: Report | None,
) -> dict[str, Any]:
    """Audit the stated claim and, where its δ is too small for trials to resolve, an easier point of the curve."""
    runs = affordable_trials(releases) if trials is None else check_trials(trials)
    claims = [stated, *_easier(releases, proof, stated, runs, confidence, report)]
    source = SystemSource() if seed is None else SeededSource(seed)
    found = audit(releases, claims, trials=runs, confidence=confidence, source=source, report=report)
    accounted = not proof.faults and proof.delta <= stated.delta * _OTHER_MACHINE
    return {
        "verdict": "consistent" if accounted and not found.refuted else "VIOLATION",
        "adjacency": "replace-one",
        "epsilon": stated.epsilon,
        "delta": stated.delta,
        "proven_delta": proof.delta,
        "accounted": accounted,
        "faults": list(proof.faults),
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
    releases: Sequence[Release], proof: Proof, stated: Claim, trials: int, confidence: float, report: Report | None
) -> list[Claim]:
    """Return the point (ε', δ') of the same privacy curve at which the trials should come nearest to the proven ε'."""
    mistake = mistake_rate(confidence, deltas=2)
    if proof.epsilon_at is None:
        return []
    points = []
    for done, delta in enumerate(EASIER_DELTAS):
        if report is not None:
            report("accounting", done, len(EASIER_DELTAS))
        if delta > stated.delta and 0.0 < (epsilon := proof.epsilon_at(delta)) < math.inf:
            points.append(Claim(epsilon, delta))
    if report is not None:
        report("accounting", len(EASIER_DELTAS), len(EASIER_DELTAS))
    if not points:
        return []
    claimed = forecast(releases)
    nearness = [claimed.expected(point.delta, trials=trials, mistake=mistake) / point.epsilon for point in points]
    return [points[nearness.index(max(nearness))]]
