"""What one round releases, apart from how it is accounted.

A frozen description of each kind of round. All guarantees built on them are for replace-one neighbours: the private
units are public in number, and one of them is exchanged.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, get_args

from evomix.core.arguments import number, whole
from evomix.core.errors import SpecError
from evomix.privacy.calibration import MAX_UNITS
from evomix.privacy.hockey_stick import MAX_DRAWS

RoundKind = Literal["mixing", "gaussian", "laplace"]
"""How a round's votes become releasable."""

MOST_NOISE: Final = 1e150
"""Largest noise scale that is accounted for, and the inverse of the smallest."""


@dataclass(frozen=True, slots=True)
class MixingRound:
    """``draws`` i.i.d. draws from ``(1−β)·votes/n + β·noise``, noise mass at least ``floor`` on every candidate.

    Attributes:
        units: n, the number of private units (public), at least 1.
        mixing_weight: β in [0, 1], the share of noise.
        draws: m ≥ 0.
        floor: smallest noise mass, in [0, 1/2].
        second_floor: second smallest noise mass, if it is known to be larger. It sharpens the account of a single
            round; several rounds are accounted at ``floor`` alone (docs/proofs/composition.md).

    Raises:
        SpecError: a value lies outside its range.
    """

    units: int
    mixing_weight: float
    draws: int
    floor: float
    second_floor: float | None = None

    def __post_init__(self) -> None:
        _set(self, units=check_units(self.units), draws=_draws(self.draws), floor=_floor(self.floor))
        _set(self, mixing_weight=_real("mixing_weight", self.mixing_weight, 0.0, 1.0))
        if self.second_floor is not None:
            least, most = self.floor, 1.0 - self.floor
            _set(self, second_floor=_real("second_floor", self.second_floor, least, most))


@dataclass(frozen=True, slots=True)
class GaussianRound:
    """All candidates' votes plus discrete Gaussian noise on the vote lattice.

    Attributes:
        stddev: σ of the noise on a candidate's votes, in private units.

    Raises:
        SpecError: unless σ is positive and finite.
    """

    stddev: float

    def __post_init__(self) -> None:
        _set(self, stddev=_scale("stddev", self.stddev))


@dataclass(frozen=True, slots=True)
class LaplaceRound:
    """All candidates' votes plus discrete Laplace noise on the vote lattice.

    Attributes:
        scale: b of the noise on a candidate's votes, in private units (its standard deviation is b√2).

    Raises:
        SpecError: unless b is positive and finite.
    """

    scale: float

    def __post_init__(self) -> None:
        _set(self, scale=_scale("scale", self.scale))


Round: TypeAlias = MixingRound | GaussianRound | LaplaceRound
"""One release of a run."""


@dataclass(frozen=True, slots=True)
class RoundShape:
    """A round whose noise is still to be found.

    Attributes:
        kind: ``"mixing"``, ``"gaussian"`` or ``"laplace"``.
        draws: m of a mixing round; 0 for the others.
        floor: smallest noise mass of a mixing round; 0 for the others.
        share: this round's part of the run's privacy loss, relative to the other rounds' shares; positive.

    Raises:
        SpecError: a value lies outside its range, or does not belong to this kind.
    """

    kind: RoundKind
    draws: int = 0
    floor: float = 0.0
    share: float = 1.0

    def __post_init__(self) -> None:
        if self.kind not in get_args(RoundKind):
            raise SpecError(f"Expected a kind of {', '.join(get_args(RoundKind))}; found kind={self.kind!r}.")
        _set(self, draws=_draws(self.draws), floor=_floor(self.floor))
        if self.kind != "mixing" and (self.draws or self.floor):
            raise SpecError(
                f"Expected draws and floor with kind 'mixing' only; "
                f"found kind={self.kind!r}, draws={self.draws!r}, floor={self.floor!r}."
            )
        if not (0.0 < self.share < math.inf):
            raise SpecError(f"Expected share to be positive and finite; found share={self.share!r}.")


def check_rounds_given(rounds: Sequence[Round]) -> tuple[Round, ...]:
    """Return ``rounds`` as a tuple if each is a description of this file, else raise ``SpecError``."""
    given = _sequence(rounds, "rounds")
    for each in given:
        if not isinstance(each, MixingRound | GaussianRound | LaplaceRound):
            raise SpecError(
                f"Expected rounds of MixingRound, GaussianRound or LaplaceRound; found round={type(each).__name__}."
            )
    return given


def check_shapes(shapes: Sequence[RoundShape]) -> tuple[RoundShape, ...]:
    """Return ``shapes`` as a tuple if each is a ``RoundShape``, else raise ``SpecError``."""
    given = _sequence(shapes, "shapes")
    for each in given:
        if not isinstance(each, RoundShape):
            raise SpecError(f"Expected shapes of RoundShape; found shape={type(each).__name__}.")
    return given


def _sequence(given: Any, name: str) -> tuple[Any, ...]:
    if not isinstance(given, Iterable):
        raise SpecError(f"Expected {name} to be a sequence; found {name}={given!r}.")
    return tuple(given)


def check_units(units: int) -> int:
    """Return ``units`` if it can be a number of private units, else raise ``SpecError``."""
    return whole("units", units, least=1, most=MAX_UNITS)


def _set(described: object, **values: float) -> None:
    """Keep Python's own numbers in a frozen description."""
    for name, value in values.items():
        object.__setattr__(described, name, value)


def _real(name: str, value: float, least: float, most: float) -> float:
    if not least <= number(name, value) <= most:
        raise SpecError(f"Expected {name} to be a number in [{least!r}, {most!r}]; found {name}={value!r}.")
    return number(name, value)


def _draws(draws: int) -> int:
    return whole("draws", draws, least=0, most=MAX_DRAWS)


def _floor(floor: float) -> float:
    return _real("floor", floor, 0.0, 0.5)


def _scale(name: str, value: float) -> float:
    if not 1.0 / MOST_NOISE < number(name, value) < MOST_NOISE:
        raise SpecError(f"Expected {name} to be positive and finite; found {name}={value!r}.")
    return number(name, value)
