"""How far variations go in each round.

A schedule gives a scale in (0, 1] to each variation of a parent, so any generator can follow it. ``SCHEDULES`` maps the
names a user may give to the functions.
"""

from typing import Final, Protocol

MOST_HALVINGS: Final = 20
"""Scales below a millionth are none: with more variations than halvings the scales start over."""


class Schedule(Protocol):
    """Gives the scales of a round."""

    def __call__(
        self, round_index: int, rounds: int, variations: int, *, first: float, last: float
    ) -> tuple[float, ...]:
        """Return the scale of each of a parent's ``variations``."""


def geometric(
    round_index: int, rounds: int, variations: int, *, first: float = 1.0, last: float = 0.1
) -> tuple[float, ...]:
    """Return one scale for all variations: ``first`` in round 0, ``last`` in the last, geometric between.

    Args:
        round_index: 0-based round.
        rounds: number of rounds in all (at least 1).
        variations: variations of each parent.
        first: scale of the first round, in (0, 1].
        last: scale of the last round, in (0, first].

    >>> geometric(1, 3, 2, first=1.0, last=0.25)
    (0.5, 0.5)
    """
    scale = first if rounds <= 1 else float(first * (last / first) ** (round_index / (rounds - 1)))
    return (scale,) * variations


def multiscale(
    round_index: int, rounds: int, variations: int, *, first: float = 1.0, last: float = 0.1
) -> tuple[float, ...]:
    """Return a scale of its own for each variation, every one half of that before; the same in each round.

    A parent far from the votes and one next to them then find a variation that goes about as far as it should,
    whatever the round: the theory of Private Evolution asks for this (González et al. 2025; Theorem 3.4 of
    "Understanding Private Evolution as Learning-Augmented Clustering", 2026).

    Args:
        round_index: no matter.
        rounds: no matter.
        variations: variations of each parent.
        first: the largest scale, in (0, 1].
        last: no matter: how fine it gets follows from the number of variations.

    >>> multiscale(5, 8, 4)
    (1.0, 0.5, 0.25, 0.125)
    """
    del round_index, rounds, last
    return tuple(first * 0.5 ** (index % MOST_HALVINGS) for index in range(variations))


SCHEDULES: Final[dict[str, Schedule]] = {"geometric": geometric, "multiscale": multiscale}
