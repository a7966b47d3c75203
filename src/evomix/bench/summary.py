"""Results over repetitions: mean and standard error of every score, and which method is best."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from evomix.bench.contest import Measured
from evomix.bench.methods import title_of
from evomix.bench.results import Result


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over repetitions.

    Attributes:
        mean: None where no repetition has the figure.
        error: standard error of the mean; None of fewer than two repetitions.
    """

    mean: float | None
    error: float | None


@dataclass(frozen=True, slots=True)
class Line:
    """A method at one ε, or a reference.

    Attributes:
        name: of the method or reference.
        title: for readers.
        epsilon: ε; None for a reference.
        repetitions: how many results that have records.
        rows: records that were scored.
        scores: by name.
        wall_s: seconds to make the records, without scoring.
        cpu_s: CPU seconds, likewise.
        peak_mb: most memory that the process held, in 10⁶ bytes.
        unable: why a repetition has no records; empty where all have.
    """

    name: str
    title: str
    epsilon: float | None
    repetitions: int
    rows: int
    scores: Mapping[str, Mean]
    wall_s: Mean
    cpu_s: Mean
    peak_mb: Mean
    unable: str = ""


def mean_of(values: Iterable[float | None]) -> Mean:
    """Return mean and standard error of the values that there are.

    >>> mean_of([1.0, None, 3.0])
    Mean(mean=2.0, error=1.0)
    """
    known = [value for value in values if value is not None]
    if not known:
        return Mean(None, None)
    error = float(np.std(known, ddof=1)) / math.sqrt(len(known)) if len(known) > 1 else None
    return Mean(float(np.mean(known)), error)


def summarise(results: Sequence[Result]) -> tuple[Line, ...]:
    """Return a line for each method and ε and each reference, in the order of their first results."""
    held: dict[tuple[str, float | None], list[Result]] = {}
    for result in results:
        held.setdefault((result.name, result.epsilon), []).append(result)
    return tuple(
        Line(
            name=name,
            title=title_of(name),
            epsilon=epsilon,
            repetitions=sum(not result.unable for result in found),
            rows=max(result.rows for result in found),
            scores={one: mean_of(result.scores.get(one) for result in found) for one in found[0].scores},
            wall_s=mean_of(result.wall_s for result in found),
            cpu_s=mean_of(result.cpu_s for result in found),
            peak_mb=mean_of(result.peak_mb for result in found),
            unable=next((result.unable for result in found if result.unable), ""),
        )
        for (name, epsilon), found in held.items()
    )


def best_at(lines: Iterable[Line], epsilon: float, measures: Sequence[Measured]) -> dict[str, str]:
    """Return the method of the best mean by score; a score that no method has is left out."""
    best: dict[str, str] = {}
    for one in measures:
        sign = 1.0 if one.better == "higher" else -1.0
        means = {
            line.name: sign * mean
            for line in lines
            if line.epsilon == epsilon and (mean := line.scores[one.name].mean) is not None
        }
        if means:
            best[one.name] = max(means, key=lambda name: means[name])
    return best


def near_best(lines: Iterable[Line], epsilon: float, measures: Sequence[Measured]) -> dict[str, tuple[str, ...]]:
    """Return, by score, the methods whose mean is within one standard error of the best, the best among them.

    The error is that of the difference of the two means: the root of the sum of their squared errors. A mean of one
    repetition has none, and counts as exact.
    """
    lines = tuple(lines)
    near: dict[str, tuple[str, ...]] = {}
    for score, name in best_at(lines, epsilon, measures).items():
        at = {line.name: line.scores[score] for line in lines if line.epsilon == epsilon}
        near[score] = tuple(one for one, found in at.items() if _within(found, at[name]))
    return near


def _within(found: Mean, best: Mean) -> bool:
    if found.mean is None or best.mean is None:
        return False
    return abs(found.mean - best.mean) <= math.hypot(found.error or 0.0, best.error or 0.0)


def line_content(line: Line) -> dict[str, Any]:
    """Return a line as JSON content."""
    return asdict(line)
