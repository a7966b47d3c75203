"""How many texts a run proposes: each costs a model's time, and some cost money."""

from typing import Any, Final

from evomix.experiment.allocation import choose_candidates, default_delta, default_draws, default_rounds
from evomix.experiment.per_round import candidates_of, mechanisms_of, rounds_of
from evomix.experiment.spec import RunSpec

MOST_ROUNDS: Final = 4
CANDIDATES_PER_ROW: Final = 2
MOST_TIMES: Final = 4
"""Candidates at most, as a multiple of those that the votes tell apart well. Measured: benchmarks/results/bench."""


def text_rounds(spec: RunSpec, mechanism: str, n: int) -> int | None:
    """Return T of a run on texts: what is named, else as many as for a table with public rows, up to four.

    ``None`` where lists of mechanisms or candidates fix it.
    """
    if spec.rounds is not None:
        return spec.rounds
    if rounds_of(mechanisms_of(mechanism), candidates_of(spec.candidates), None) is not None:
        return None
    size = spec.candidates if isinstance(spec.candidates, int) else None
    planned = default_rounds(mechanism, **_budget(spec, n), candidates=size, informed=True)
    return min(planned, MOST_ROUNDS)


def text_candidates(spec: RunSpec, mechanism: str, n: int) -> int | tuple[int, ...] | None:
    """Return the most candidates of a round: two for each text that is asked for, as far as votes can tell them apart.

    Args:
        spec: what was asked for.
        mechanism: of the rounds; several differ, and then the plan decides.
        n: private units, public.
    """
    if spec.candidates is not None or "," in mechanism:
        return spec.candidates
    rounds = text_rounds(spec, mechanism, n) or MOST_ROUNDS
    told_apart = choose_candidates(mechanism, **_budget(spec, n), rounds=rounds)
    return min(max(told_apart, CANDIDATES_PER_ROW * spec.rows), MOST_TIMES * told_apart)


def _budget(spec: RunSpec, n: int) -> dict[str, Any]:
    return {
        "n": n,
        "epsilon": spec.epsilon,
        "delta": default_delta(n) if spec.delta is None else spec.delta,
        "draws": spec.draws or default_draws(n, spec.rounds),
    }
