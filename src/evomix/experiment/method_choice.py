"""Whether rows are found from counts of column sets or from votes for candidates."""

from dataclasses import fields
from typing import Any, Final

from evomix.core.arguments import shown
from evomix.core.errors import SpecError
from evomix.experiment.allocation import SIZES, choose_candidates, default_delta

METHODS: Final = ("auto", "marginals", "votes")
OF_VOTES: Final = (
    "selection",
    "threshold",
    "radius",
    "denoising",
    "schedule",
    "rounds",
    "variations",
    "candidates",
    "draws",
    "proximity",
    "accounting",
)
"""Settings that say how votes are asked for and used; counts have no use for them."""


def check_method(spec: Any) -> None:
    """Refuse settings that the method would ignore.

    Args:
        spec: a run's specification, its preset already put into settings.

    Raises:
        SpecError: the method is unknown, or ``method='marginals'`` stands beside a setting of votes.
    """
    if not isinstance(spec.method, str) or spec.method not in METHODS:
        raise SpecError(f"method must be one of {', '.join(METHODS)}; found method={shown(spec.method)}")
    if spec.method != "marginals":
        return
    given = votes_given(spec)
    if given:
        raise SpecError(
            f"{given[0]} has no effect with method='marginals', which counts column sets and asks for no votes. "
            f"Leave it out, or take method='votes' (--method votes)"
        )


def votes_given(spec: Any) -> list[str]:
    """Return the settings that only votes have and that are not what they are by default."""
    default = {knob.name: knob.default for knob in fields(spec)}
    given = [name for name in OF_VOTES if getattr(spec, name) != default[name]]
    counts = spec.mechanism == "auto" or (spec.method == "marginals" and spec.mechanism == "gaussian")
    return given if counts else ["mechanism", *given]


def told_apart(*, n: int, epsilon: float, delta: float | None) -> int:
    """Return how many candidates one round of votes would tell apart; 0 where no Gaussian noise meets the budget."""
    chosen = default_delta(n) if delta is None else delta
    try:
        return choose_candidates("gaussian", n=n, epsilon=epsilon, delta=chosen, draws=1, rounds=1)
    except SpecError:  # δ is the smallest number there is; other noise may do
        return 0


def one_round_counts_all(possible: float, *, n: int, epsilon: float, delta: float | None) -> bool:
    """Return whether there are so few possible records that one round of votes counts them all."""
    return possible <= SIZES[-1] and possible <= told_apart(n=n, epsilon=epsilon, delta=delta)


def method_of(spec: Any, *, kind: str, few: bool) -> str:
    """Return "marginals" or "votes".

    Counts came nearer to real rows on nearly all tables that were measured (benchmarks/results/bench). Votes serve
    where records have no columns, where there are so few possible records that one round of votes counts them all, and
    where a setting of votes was given.

    Args:
        spec: what was asked for.
        kind: what records are.
        few: whether there are so few possible records that one round of votes counts them all.

    Raises:
        SpecError: ``method='marginals'`` was asked for on records without columns.
    """
    if kind != "table":
        if spec.method == "marginals":
            raise SpecError(f"method='marginals' counts columns of tables; for a {kind} take method='votes'")
        return "votes"
    if spec.method != "auto":
        return str(spec.method)
    return "votes" if votes_given(spec) or few else "marginals"
