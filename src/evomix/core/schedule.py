"""How far variations go in each round."""


def geometric_scale(round_index: int, rounds: int, *, first: float = 1.0, last: float = 0.1) -> float:
    """Return the variation scale of a round: ``first`` in round 0, ``last`` in the last, geometric between.

    Args:
        round_index: 0-based round.
        rounds: number of rounds in all (at least 1).
        first: scale of the first round, in (0, 1].
        last: scale of the last round, in (0, first].
    """
    if rounds <= 1:
        return first
    return float(first * (last / first) ** (round_index / (rounds - 1)))
