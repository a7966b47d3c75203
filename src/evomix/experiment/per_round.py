"""Settings that may differ from round to round: one value for all rounds, or one for each."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any, Final

from evomix.core.arguments import shown
from evomix.core.errors import SpecError

MECHANISMS: Final = ("auto", "pubmix", "linmix", "gaussian", "laplace")
MIXING: Final = ("pubmix", "linmix")
"""Mechanisms that release draws; the others release noisy votes."""
ACCOUNTINGS: Final = ("auto", "draws", "pld", "renyi")
MOST_CANDIDATES: Final = 1_000_000
"""Most candidates of a round: they are held in memory, and votes for more could not be told from noise."""
MOST_ROUNDS: Final = 1000
"""Most rounds of a run: each is calibrated and released by itself, and more only split the budget further."""


def mechanisms_of(mechanism: Any) -> tuple[str, ...]:
    """Return the mechanisms that were named: one for all rounds, or one a round.

    Args:
        mechanism: a name, names with commas between them, or a sequence of names.

    Raises:
        SpecError: a name is unknown, or "auto" is not alone.

    >>> mechanisms_of("linmix, linmix,gaussian")
    ('linmix', 'linmix', 'gaussian')
    """
    parts = mechanism.split(",") if isinstance(mechanism, str) else mechanism
    if not isinstance(parts, Sequence) or not parts or not all(isinstance(name, str) for name in parts):
        raise SpecError(f"mechanism must be a name, or one for each round; found mechanism={shown(mechanism)}")
    names = tuple(name.strip() for name in parts)
    for name in names:
        if name not in MECHANISMS:
            found = repr(mechanism) if len(names) == 1 else f"{mechanism!r} with {name!r} in it"
            raise SpecError(f"mechanism must be one of {', '.join(MECHANISMS)}; found mechanism={found}")
    if len(names) > 1 and "auto" in names:
        raise SpecError(
            f"mechanism='auto' stands alone; found mechanism={','.join(names)!r}. Name the mechanism of every round"
        )
    return names


def candidates_of(candidates: Any) -> tuple[int, ...] | None:
    """Return the most candidates of a round: one number for all rounds, or one a round; ``None`` if left open.

    Args:
        candidates: a whole number, or a sequence of them; NumPy's are taken too.

    Raises:
        SpecError: a number is no whole number in 1..:data:`MOST_CANDIDATES`.

    >>> candidates_of(500), candidates_of([500, 2000])
    ((500,), (500, 2000))
    """
    if candidates is None:
        return None
    counts = candidates if isinstance(candidates, list | tuple) else (candidates,)
    for count in counts:
        if isinstance(count, bool) or not isinstance(count, Integral) or not 1 <= int(count) <= MOST_CANDIDATES:
            counts = ()
            break
    if not counts:
        raise SpecError(
            f"candidates must be a whole number in 1..{MOST_CANDIDATES}, or one for each round; "
            f"found candidates={shown(candidates)}"
        )
    return tuple(int(count) for count in counts)


def rounds_of(names: Sequence[str], sizes: Sequence[int] | None, rounds: int | None) -> int | None:
    """Return the number of rounds that the settings state; ``None`` if they leave it open.

    Args:
        names: as :func:`mechanisms_of` gives them.
        sizes: as :func:`candidates_of` gives them.
        rounds: T, if it is given.

    Raises:
        SpecError: two settings state different numbers, or more than :data:`MOST_ROUNDS`.
    """
    lengths = {"rounds": rounds} if rounds is not None else {}
    if len(names) > 1:
        lengths["mechanism"] = len(names)
    if sizes is not None and len(sizes) > 1:
        lengths["candidates"] = len(sizes)
    if len(set(lengths.values())) > 1:
        stated = ", ".join(
            f"rounds={length}" if name == "rounds" else f"{name} for {length} rounds"
            for name, length in lengths.items()
        )
        raise SpecError(f"what is given for each round must be given for all of them; found {stated}")
    for name, length in lengths.items():
        if length > MOST_ROUNDS:
            raise SpecError(f"a run has at most {MOST_ROUNDS} rounds; found {name} for {length}")
    return next(iter(lengths.values()), None)


def check_accounting(accounting: Any, names: Sequence[str]) -> None:
    """Raise ``SpecError`` unless ``accounting`` is one of :data:`ACCOUNTINGS` and can count these mechanisms."""
    if not isinstance(accounting, str) or accounting not in ACCOUNTINGS:
        raise SpecError(f"accounting must be one of {', '.join(ACCOUNTINGS)}; found accounting={shown(accounting)}")
    others = [name for name in names if name not in (*MIXING, "auto")]
    if accounting == "draws" and others:
        raise SpecError(
            f"accounting='draws' counts draws, and mechanism={others[0]!r} draws nothing. Leave the accounting to "
            "'auto', or use linmix or pubmix in all rounds"
        )


def accountant_of(names: Sequence[str], sizes: Sequence[int], accounting: str = "auto") -> str:
    """Return the account that a run is kept by: "draws", "gaussian", "laplace", "pld" or "renyi".

    Args:
        names: the mechanism of every round, or one for all.
        sizes: most candidates of every round, or one for all.
        accounting: what was asked for. "auto": the exact account where one mechanism, and for mixtures one number of
            candidates, serves all rounds; else composed privacy loss distributions.

    Raises:
        SpecError: as :func:`check_accounting`.

    >>> accountant_of(["linmix"] * 3, [500] * 3), accountant_of(["linmix"] * 2, [500, 2000])
    ('draws', 'pld')
    """
    check_accounting(accounting, names)
    if accounting != "auto":
        return accounting
    if len(set(names)) > 1:
        return "pld"
    if names[0] in MIXING:
        return "draws" if len(set(sizes)) == 1 else "pld"
    return names[0]
