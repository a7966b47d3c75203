"""What a run that counts column sets released, in sentences, from the public parameters in ``privacy.json``."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from evomix.reports.wording import count, small_number

NOISE: Final = "discrete Gaussian noise added to the count of every cell of column sets"


def counts_columns(privacy: Mapping[str, Any]) -> bool:
    """Return whether a run, or a plan, counts column sets; others ask for votes."""
    return privacy.get("method") == "marginals"


def budget_shares(spreads: Sequence[float]) -> tuple[float, ...]:
    """Return each stage's share of the budget, together 1: inverse variances add up (docs/proofs/gaussian.md).

    Args:
        spreads: σ of each stage, of a single column set; above 0.
    """
    least = min(spreads, default=1.0)
    inverse = [(least / spread) ** 2 for spread in spreads]
    return tuple(one / math.fsum(inverse) for one in inverse)


def stage_lines(releases: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return what each stage counts, with which share of the budget and how much noise; a phrase a stage.

    Args:
        releases: those of privacy.json, or a plan's rounds; σ under ``stddev`` or ``noise_scale``, the number of
            column sets under ``column_sets`` or ``blocks``.
    """
    spreads = [float(one["stddev"] if "stddev" in one else one["noise_scale"]) for one in releases]
    sets = [int(one["column_sets"] if "column_sets" in one else one["blocks"]) for one in releases]
    shares = budget_shares(spreads)
    names = [str(one["counted"]) for one in releases]
    return tuple(_line(*figures) for figures in zip(names, sets, shares, spreads, strict=True))


def stage_sentences(privacy: Mapping[str, Any]) -> tuple[str, ...]:
    """Return one sentence a stage."""
    lines = stage_lines(privacy.get("releases") or ())
    return tuple(f"Stage {place} of {len(lines)} counts {line}." for place, line in enumerate(lines, 1))


def how_counted(privacy: Mapping[str, Any]) -> tuple[str, ...]:
    """Return how the data was made, in sentences for a reader who does not know the method."""
    if privacy.get("start") == "public rows":
        start = "The search started from the public rows."
    elif privacy.get("public_data"):
        start = (
            "The search started from independent columns, for what was released lay nearer to them than to the public "
            "rows; these only say which values lie within a rough cell."
        )
    else:
        start = "There were no public rows; the search started from independent columns."
    counting = (
        "Columns were counted, and no candidate rows voted for: on tables that came nearer to real rows in what was "
        "measured. For a few columns at a time the run counts how many private units have which values, roughly cut, "
        "and only counts with noise leave the protected side."
    )
    searching = (
        f"Rows were then changed, one value at a time, until they agreed better with the released counts. {start} No "
        "private row is copied, stored or shown; a synthetic row can equal a private one by chance."
    )
    return counting, searching


def _line(counted: str, sets: int, share: float, spread: float) -> str:
    noise = f"σ = {small_number(_three(spread))} units"
    if sets > 1:
        noise += f" for one set, {small_number(_three(spread * math.sqrt(sets)))} on each count"
    named = "set" if sets == 1 else "sets"
    return f"{counted} ({count(sets)} column {named}), {_percent(share)} of the budget, {noise}"


def _three(value: float) -> float:
    return float(f"{value:.3g}")


def _percent(share: float) -> str:
    return f"{100.0 * share:.3g} %"
