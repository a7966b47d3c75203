"""The audit: run the sampling code on both neighbours many times, count events chosen beforehand, bound ε from below.

Every bound is exact (Clopper-Pearson) and all of them together are right with the stated confidence (a union bound),
so a lower bound above the proven ε means, with that confidence, that code or proof is broken. A lower bound below it
proves nothing about privacy: another attack might show more. The records are made up; it costs no privacy.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from numbers import Integral
from typing import Any, Final

import numpy as np

from evomix.audit.claim import Claim, Event, epsilon_bounds
from evomix.audit.clopper_pearson import LARGEST_SAMPLE
from evomix.audit.forecast import forecast, mistake_rate
from evomix.audit.release import SIDES, Release, Side
from evomix.core.errors import SpecError
from evomix.privacy.randomness import RandomSource, SystemSource

MOST_TRIALS: Final = 1_000_000
"""Trials on each side when none are asked for and a trial is cheap."""
WORK: Final = 2_000_000_000
"""Draws, on both sides together, that an audit makes when no number of trials is asked for: a few minutes."""
_BATCH: Final = 2**20  # draws held in memory

Report = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Count:
    """How often an event was counted.

    Attributes:
        direction: the side on which it should be more frequent.
        threshold: what the loss had to exceed.
        likely: how often it did on that side.
        other: how often it did on the other side.
    """

    direction: Side
    threshold: float
    likely: int
    other: int


@dataclass(frozen=True, slots=True)
class Tally:
    """One claim beside what was shown.

    Attributes:
        epsilon, delta: the claim.
        lower_bound: with the audit's confidence, the mechanism is not (ε', δ)-DP for any ε' below this.
        expected: about what a mechanism that keeps the claim with nothing to spare shows with as many trials.
    """

    epsilon: float
    delta: float
    lower_bound: float
    expected: float

    @property
    def refuted(self) -> bool:
        """Whether the lower bound exceeds the claim."""
        return self.lower_bound > self.epsilon


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit found.

    Attributes:
        tallies: one for each claim.
        counts: of all events; every one bears on every claim.
        trials: releases on each of the two neighbours.
        confidence: probability that all lower bounds are right, whatever the mechanism.
    """

    tallies: tuple[Tally, ...]
    counts: tuple[Count, ...]
    trials: int
    confidence: float

    @property
    def refuted(self) -> bool:
        """Whether any claim is refuted."""
        return any(tally.refuted for tally in self.tallies)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)


def affordable_trials(releases: Sequence[Release]) -> int:
    """Return how many trials on each side a few minutes allow, at least 1 and at most ``MOST_TRIALS``."""
    return max(1, min(MOST_TRIALS, WORK // (2 * _cost(releases))))


def audit(
    releases: Sequence[Release],
    claims: Sequence[Claim],
    *,
    trials: int | None = None,
    confidence: float = 0.999,
    source: RandomSource | None = None,
    report: Report | None = None,
) -> Audit:
    """Bound from below the ε of a run made of ``releases``, at the δ of each claim.

    Args:
        releases: what one run releases, one after the other, on a worst-case pair.
        claims: proven pairs (ε, δ) of the run.
        trials: runs on each side; ``None``: as many as a few minutes allow.
        confidence: probability that all bounds are right, in (0, 1).
        source: randomness of mixtures (default: the operating system's; histogram noise always comes from there).
        report: told ("audit", runs done, runs in all).

    Raises:
        SpecError: an argument is out of range.

    Proof of the bound: docs/audit.md. Records are made up; costs no privacy.
    """
    if not releases or not claims:
        raise SpecError("an audit needs at least one release and one claim; found none")
    if trials is None:
        trials = affordable_trials(releases)
    trials = check_trials(trials)
    mistake = mistake_rate(confidence, deltas=len(claims))
    claimed = forecast(releases)
    events = claimed.events([claim.delta for claim in claims], trials=trials, mistake=mistake)
    counts = _counted(releases, events, trials, SystemSource() if source is None else source, report)
    likely, other = (np.array([getattr(count, side) for count in counts]) for side in ("likely", "other"))
    tallies = [
        Tally(
            claim.epsilon,
            claim.delta,
            float(epsilon_bounds(likely, other, trials=trials, delta=claim.delta, mistake=mistake).max()),
            claimed.expected(claim.delta, trials=trials, mistake=mistake),
        )
        for claim in claims
    ]
    return Audit(tuple(tallies), counts, trials, confidence)


def check_trials(trials: int) -> int:
    """Return ``trials`` if so many can be made and judged, else raise ``SpecError``."""
    if isinstance(trials, bool) or not isinstance(trials, Integral) or not 1 <= int(trials) <= LARGEST_SAMPLE:
        raise SpecError(
            f"trials must be a whole number of at least 1 and at most {LARGEST_SAMPLE}; found "
            f"trials={repr(trials)[:60]}. A million show most of what there is to see"
        )
    return int(trials)


def _cost(releases: Sequence[Release]) -> int:
    return max(1, sum(release.cost for release in releases))


def _counted(
    releases: Sequence[Release], events: Sequence[Event], trials: int, source: RandomSource, report: Report | None
) -> tuple[Count, ...]:
    """Run both sides and count; the same runs serve all events."""
    hits = np.zeros((len(events), 2), np.int64)
    batch = max(1, _BATCH // _cost(releases))
    done = 0
    for side in SIDES:
        for start in range(0, trials, batch):
            size = min(batch, trials - start)
            losses = np.sum([release.losses(side, size, source) for release in releases], axis=0)
            hits[:, side] += [event.count(losses) for event in events]
            done += size
            if report is not None:
                report("audit", done, 2 * trials)
    return tuple(
        Count(event.likely, event.threshold, int(found[event.likely]), int(found[1 - event.likely]))
        for event, found in zip(events, hits, strict=True)
    )
