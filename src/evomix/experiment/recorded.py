"""Reading back what a run's ``privacy.json`` says was released: public figures, and nothing else of the run."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from evomix.core.errors import InputFileError, SpecError
from evomix.experiment.artifacts import PRIVACY_FILE
from evomix.experiment.recorded_fields import Fields
from evomix.privacy.composition import accountant_of
from evomix.privacy.mechanisms.schedule import ACCOUNTS
from evomix.privacy.rounds import GaussianRound, LaplaceRound, MixingRound, Round

_ADJACENCY = "replace-one"
_MIXING = ("linmix", "pubmix")
_KNOWN = (*_MIXING, "gaussian", "laplace")
MOST_ROUNDS: Final = 100_000
"""More than any run has; as a number in a damaged file it must not fill the memory."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What a Rényi filter went by, in a run that chose the parameters of a round as it came.

    Attributes:
        order: α of the filter.
        shares: each planned round's share of the budget; ``None`` where the record has no list of them.
        released: round of each release.
        released_shares: share of the budget that each release states.
        begun: rounds that were begun.
    """

    order: float
    shares: tuple[float, ...] | None
    released: tuple[int, ...]
    released_shares: tuple[float, ...]
    begun: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a run states and what it released.

    Attributes:
        path: the file that was read.
        epsilon, delta: the stated guarantee (replace-one).
        units: n, at least 0.
        mechanism: as stated: a name, or one a round.
        accountant: what accounted for the run.
        planned: number of rounds.
        rounds: what each release was, at the recorded parameters.
        choices: what a filter went by; ``None`` where all was fixed in advance.
        contradictions: figures that are recorded twice, and not alike, in words.
    """

    path: Path
    epsilon: float
    delta: float
    units: int
    mechanism: str
    accountant: str
    planned: int
    rounds: tuple[Round, ...]
    choices: Choices | None
    contradictions: tuple[str, ...]


def read_recorded(run_dir: Path) -> Recorded:
    """Read ``privacy.json`` of a finished run; nothing else in the folder is opened.

    Raises:
        InputFileError: there is none, it does not describe a release, or the run claims no privacy.
    """
    fields = _read(run_dir / PRIVACY_FILE)
    if not fields.truth("private"):
        raise InputFileError(
            f"{fields.path}: NOT PRIVATE. The run says that its noise came from a seeded or simulated source, so it "
            "claims nothing and there is nothing to audit. Treat its output as the private data"
        )
    if fields.content.get("adjacency") != _ADJACENCY:
        raise fields.odd("adjacency", f"{_ADJACENCY!r}, the only relation that is audited")
    units = fields.whole("n")
    planned = fields.whole("rounds", least=1, most=MOST_ROUNDS)
    try:
        releases, rounds = _releases(fields, units, planned)
    except SpecError as error:
        raise InputFileError(f"{fields.path} describes a release that no run could make: {error!s:.300}") from None
    accountant = _accountant(fields, releases, rounds)
    return Recorded(
        path=fields.path,
        epsilon=fields.number("epsilon", positive=True),
        delta=fields.number("delta", positive=True, below=1.0),
        units=units,
        mechanism=_names(fields),
        accountant=accountant,
        planned=planned,
        rounds=rounds,
        choices=_choices(fields, releases, planned) if accountant == "renyi" else None,
        contradictions=tuple(fields.contradictions(releases, planned, filtered=accountant == "renyi")),
    )


def _read(path: Path) -> Fields:
    try:
        content = json.loads(path.read_text(encoding="utf-8"), parse_constant=_finite, parse_float=_finite)
    except OSError as error:
        raise InputFileError(
            f"Expected the folder of a finished run, with {PRIVACY_FILE} in it; cannot read {str(path)!r} "
            f"({error.strerror}). Give the run's folder, OUT with suffix .run"
        ) from None
    except (ValueError, RecursionError):
        raise InputFileError(f"{path} is no JSON; it is damaged, or not what a run wrote") from None
    if not isinstance(content, dict):
        raise InputFileError(f"{path} holds no JSON object; it is damaged, or not what a run wrote")
    return Fields(path, content)


def _finite(text: str) -> float:
    """Return a number; refuse NaN and Infinity, which Python reads and JSON does not know, and what is too large."""
    if not math.isfinite(found := float(text)):
        raise ValueError
    return found


def _names(fields: Fields) -> str:
    stated = fields.text("mechanism")
    for name in stated.split(","):
        _check_name(fields, name)
    return stated


def _check_name(fields: Fields, name: str) -> str:
    if name not in _KNOWN:
        raise fields.odd("mechanism", f"of {', '.join(_KNOWN)}")
    return name


def _releases(fields: Fields, units: int, planned: int) -> tuple[list[Fields], tuple[Round, ...]]:
    """Return the recorded releases: from the list of them where there is one, else from the run's own figures."""
    if "releases" in fields.content:
        listed = fields.objects("releases", most=MOST_ROUNDS)
        return listed, tuple(_round(each, units) for each in listed)
    one = _round(fields, units)
    # Draws of a mixture count together, whatever their round.
    return [], (one,) if isinstance(one, MixingRound) else (one,) * planned


def _round(fields: Fields, units: int) -> Round:
    mechanism = _check_name(fields, fields.text("mechanism"))
    if mechanism in _MIXING:
        weight, floor = fields.number("mixing_weight"), fields.number("floor")
        # Where there is no unit there is none to betray; n = 1 is the nearest that has neighbours.
        return MixingRound(units=max(units, 1), mixing_weight=weight, draws=fields.whole("draws"), floor=floor)
    if mechanism == "gaussian":
        return GaussianRound(fields.number("stddev"))
    return LaplaceRound(fields.number("scale"))


def _accountant(fields: Fields, releases: list[Fields], rounds: tuple[Round, ...]) -> str:
    """Return the account that is named, if it goes with the fields that a filter writes and no other account does."""
    told = fields.content.get("accountant")
    marks = [f"{name!r}" for name in ("order", "shares") if fields.content.get(name) is not None]
    marks += [
        f"{each.place}{name}" for each in releases for name in ("round", "share") if each.content.get(name) is not None
    ]
    if told is None and not marks:
        return accountant_of(rounds)  # of these rounds, fixed in advance, the account is no choice
    if not isinstance(told, str) or told not in ACCOUNTS:
        raise fields.odd("accountant", f"of {', '.join(ACCOUNTS)}")
    if told != "renyi" and marks:
        raise fields.odd("accountant", f"'renyi', the only one that writes {marks[0]}")
    return told


def _choices(fields: Fields, releases: list[Fields], planned: int) -> Choices:
    if not releases:
        raise fields.odd("releases", "a list of objects, one a round")
    shares: Any = None
    if fields.content.get("shares") is not None:
        shares = tuple(each.number("share", positive=True, most=1.0) for each in fields.numbered("shares", "share"))
        if len(shares) != planned:
            raise fields.odd("shares", f"a list of {planned} numbers, one a round")
    return Choices(
        order=fields.number("order", positive=True),
        shares=shares,
        released=tuple(each.whole("round", most=planned - 1) for each in releases),
        released_shares=tuple(each.number("share", positive=True, most=1.0) for each in releases),
        begun=tuple(each.whole("round", most=planned - 1) for each in fields.numbered("begun_rounds", "round")),
    )
