"""How many texts a run proposes: each costs a model's time, and some cost money."""

from typing import Any, Final

from evomix.experiment.allocation import choose_candidates, default_delta, default_draws, default_rounds
from evomix.experiment.per_round import candidates_of, mechanisms_of, rounds_of
from evomix.experiment.spec import RunSpec

MOST_ROUNDS: Final = 4
CANDIDATES_PER_ROW: Final = 4
"""Of one round. Measured beside two rounds of two, which take a model as long: benchmarks/results/bench."""
CANDIDATES_PER_ROW_AND_ROUND: Final = 2
MOST_TIMES: Final = 4
"""Candidates at most, as a multiple of those that the votes tell apart well. Measured: benchmarks/results/bench."""


def text_rounds(spec: RunSpec, mechanism: str, n: int) -> int | None:
    """Return T of a run on texts: what is named, else one.

    A model writes variations of what was voted for less well than fresh texts, so that all of the budget and of the
    model's time is best spent on one round of many candidates. Who names a selection, as every preset does, wants
    parents, which one round has none of: then there are as many rounds as for a table with public rows, up to four.

    ``None`` where lists of mechanisms or candidates fix it.
    """
    if spec.rounds is not None:
        return spec.rounds
    if rounds_of(mechanisms_of(mechanism), candidates_of(spec.candidates), None) is not None:
        return None
    if spec.selection == "auto":
        return 1
    size = spec.candidates if isinstance(spec.candidates, int) else None
    planned = default_rounds(mechanism, **_budget(spec, n), candidates=size, informed=True)
    return min(planned, MOST_ROUNDS)


def text_candidates(spec: RunSpec, mechanism: str, n: int) -> int | tuple[int, ...] | None:
    """Return the most candidates of a round, as far as votes can tell them apart.

    In one round four for each text that is asked for. In each of several two, and no fewer than the votes tell apart.

    Args:
        spec: what was asked for.
        mechanism: of the rounds; several differ, and then the plan decides.
        n: private units, public.
    """
    if spec.candidates is not None or "," in mechanism:
        return spec.candidates
    rounds = text_rounds(spec, mechanism, n) or MOST_ROUNDS
    told_apart = choose_candidates(mechanism, **_budget(spec, n), rounds=rounds)
    if rounds == 1:
        return min(CANDIDATES_PER_ROW * spec.rows, MOST_TIMES * told_apart)
    return min(max(told_apart, CANDIDATES_PER_ROW_AND_ROUND * spec.rows), MOST_TIMES * told_apart)


def _budget(spec: RunSpec, n: int) -> dict[str, Any]:
    return {
        "n": n,
        "epsilon": spec.epsilon,
        "delta": default_delta(n) if spec.delta is None else spec.delta,
        "draws": spec.draws or default_draws(n, spec.rounds),
    }
