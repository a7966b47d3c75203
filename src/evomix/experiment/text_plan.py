"""How many texts a run proposes: each costs a model's time, and some cost money."""

from typing import Final

from evomix.experiment.allocation import choose_candidates, default_delta, default_draws
from evomix.experiment.per_round import candidates_of, mechanisms_of, rounds_of
from evomix.experiment.spec import RunSpec

ROUNDS: Final = 4
CANDIDATES_PER_ROW: Final = 2
MOST_TIMES: Final = 4
"""Candidates at most, as a multiple of those that the votes tell apart well. Measured: benchmarks/results/bench."""


def text_rounds(spec: RunSpec) -> int | None:
    """Return T of a run on texts that names none; ``None`` where lists of mechanisms or candidates fix it."""
    if spec.rounds is not None:
        return spec.rounds
    fixed = rounds_of(mechanisms_of(spec.mechanism), candidates_of(spec.candidates), None)
    return ROUNDS if fixed is None else None


def text_candidates(spec: RunSpec, mechanism: str, n: int) -> int | tuple[int, ...] | None:
    """Return the most candidates of a round: two for each text that is asked for, as far as votes can tell them apart.

    Args:
        spec: what was asked for.
        mechanism: of the rounds; several differ, and then the plan decides.
        n: private units, public.
    """
    if spec.candidates is not None or "," in mechanism:
        return spec.candidates
    told_apart = choose_candidates(
        mechanism,
        n=n,
        epsilon=spec.epsilon,
        delta=default_delta(n) if spec.delta is None else spec.delta,
        draws=spec.draws or default_draws(n, text_rounds(spec)),
        rounds=text_rounds(spec) or ROUNDS,
    )
    return min(max(told_apart, CANDIDATES_PER_ROW * spec.rows), MOST_TIMES * told_apart)
