"""Plan and account of a run that counts column sets: stages, their shares of the budget, and their noise."""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from evomix.core.errors import SpecError
from evomix.experiment.allocation import choose_candidates, default_delta, votes_signal
from evomix.experiment.plan_summary import plan_warnings
from evomix.experiment.plans import Plan, RoundPlan
from evomix.experiment.spec import RunSpec
from evomix.marginals.model import LEAST_COUNT, most_cells
from evomix.marginals.stages import Kind, Stage
from evomix.privacy.calibration import check_delta, check_epsilon
from evomix.privacy.gaussian_accounting import gaussian_stddev
from evomix.privacy.mechanisms.gaussian import spread_over

_COUNTED: Final[Mapping[Kind, str]] = {
    "columns": "each column",
    "with_target": "each column and the target",
    "most_telling": "the most telling column and the target",
    "coarse_pairs": "every two columns, coarsely",
    "sets": "two columns",
}
"""What a stage counts, in words."""
_ROOM: Final = 1.0 + 2.0**-40
"""Covers the roundings of the shares, so that the stages together cost no more than the whole."""
_MOST_NOISE: Final = 1e12
"""On a count, in units: what votes on a lattice can hold."""


def plan_marginals(spec: RunSpec, stages: Sequence[Stage], *, n: int) -> Plan:
    """Return the plan of a run in these stages; see :func:`plan_stages`."""
    return plan_stages(stages, n=n, epsilon=spec.epsilon, delta=spec.delta, rows=spec.rows)


def plan_stages(stages: Sequence[Stage], *, n: int, epsilon: float, delta: float | None, rows: int) -> Plan:
    """Return the plan of stages that share a budget.

    A stage with a share s of the budget has noise of σ/√s where σ is that of a single histogram for all of it: the
    inverse variances of Gaussian rounds add up (docs/proofs/gaussian.md).

    Args:
        stages: what is counted, with shares that sum to 1.
        n: private units, public.
        epsilon: ε > 0.
        delta: δ in (0, 1); ``None`` for the default.
        rows: synthetic records to make.

    Raises:
        SpecError: no Gaussian noise meets the budget.
    """
    epsilon = check_epsilon(epsilon)
    delta = check_delta(default_delta(n) if delta is None else delta)
    whole = _stddev(epsilon, delta, stages)
    rounds = tuple(
        RoundPlan(
            mechanism="gaussian",
            candidates=cells_at_most(n, stage.blocks, whole / math.sqrt(stage.share)),
            draws=0,
            mixing_weight=None,
            floor=None,
            noise_scale=math.nextafter(whole / math.sqrt(stage.share) * _ROOM, math.inf),
            blocks=stage.blocks,
            counted=_in_words(stage, stages),
        )
        for stage in stages
    )
    last = rounds[-1]
    assert last.noise_scale is not None
    signal = votes_signal("gaussian", spread_over(last.noise_scale, last.blocks), n, last.candidates)
    return Plan(
        n=n,
        epsilon=epsilon,
        delta=delta,
        adjacency="replace-one",
        mechanism="gaussian",
        rows=rows,
        rounds=len(rounds),
        candidates=max(one.candidates for one in rounds),
        draws=(),
        variations=0,
        mixing_weight=None,
        floor=None,
        noise_scale=None if len(rounds) > 1 else last.noise_scale,
        signal=signal,
        worst_case_tv=None,
        warnings=plan_warnings(n, epsilon, delta, signal, rounds),
        per_round=rounds,
        accountant="gaussian",
        useful_candidates=choose_candidates("gaussian", n=n, epsilon=epsilon, delta=delta, draws=1, rounds=1),
        method="marginals",
    )


def _in_words(stage: Stage, stages: Sequence[Stage]) -> str:
    targeted = stage.kind == "sets" and any(one.kind == "with_target" for one in stages)
    return _COUNTED[stage.kind] + (" and the target" if targeted else "")


def cells_at_most(n: int, blocks: int, stddev: float) -> int:
    """Return about how many cells a column set is cut into at most: each should hold as many units as its noise."""
    most = n / max(spread_over(stddev, blocks), LEAST_COUNT)
    return int(min(max(most, 2), most_cells(blocks)))


def _stddev(epsilon: float, delta: float, stages: Sequence[Stage]) -> float:
    """Return the noise of a single histogram for the whole budget, where that of all stages can be added."""
    with suppress(SpecError):
        found = gaussian_stddev(epsilon, delta, adjacency="replace-one")
        if found * max(math.sqrt(stage.blocks / stage.share) for stage in stages) < _MOST_NOISE / _ROOM**2:
            return found
    raise SpecError(
        f"counts of column sets have Gaussian noise, and none is enough for delta={delta!r}, epsilon={epsilon!r}: take "
        "larger ones (--delta, --epsilon), or method='votes' (--method votes)"
    )
