"""Reading back what a run's ``privacy.json`` says was released: public figures, and nothing else of the run."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evomix.core.errors import InputFileError, SpecError
from evomix.experiment.artifacts import PRIVACY_FILE
from evomix.privacy.rounds import GaussianRound, LaplaceRound, MixingRound, Round

_ADJACENCY = "replace-one"
_MIXING = ("linmix", "pubmix")


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a run states and what it released.

    Attributes:
        path: the file that was read.
        epsilon, delta: the stated guarantee (replace-one).
        units: n.
        mechanism: as stated: a name, or one a round.
        accountant: what accounted for the run, as stated; "" if it is not.
        rounds: what each round released, at the recorded parameters.
    """

    path: Path
    epsilon: float
    delta: float
    units: int
    mechanism: str
    accountant: str
    rounds: tuple[Round, ...]


def read_recorded(run_dir: Path) -> Recorded:
    """Read ``privacy.json`` of a finished run; nothing else in the folder is opened.

    Raises:
        InputFileError: there is none, or it does not describe a release.
    """
    path = run_dir / PRIVACY_FILE
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputFileError(
            f"Expected the folder of a finished run, with {PRIVACY_FILE} in it; cannot read {str(path)!r} "
            f"({error.strerror}). Give the run's folder, OUT with suffix .run"
        ) from None
    except ValueError:
        raise InputFileError(f"{path} is no JSON; it is damaged, or not what a run wrote") from None
    if not isinstance(content, dict):
        raise InputFileError(f"{path} holds no JSON object; it is damaged, or not what a run wrote")
    fields = _Fields(path, content)
    if content.get("adjacency") != _ADJACENCY:
        raise InputFileError(f"{path}: only adjacency={_ADJACENCY!r} is audited; found {content.get('adjacency')!r}")
    units = fields.whole("n", least=1)
    accountant = content.get("accountant")
    return Recorded(
        path=path,
        epsilon=fields.number("epsilon"),
        delta=fields.number("delta"),
        units=units,
        mechanism=fields.text("mechanism"),
        accountant=accountant if isinstance(accountant, str) else "",
        rounds=_rounds(fields, units),
    )


@dataclass(frozen=True, slots=True)
class _Fields:
    """The fields of one JSON object, checked as they are read."""

    path: Path
    content: Mapping[str, Any]
    place: str = ""

    def number(self, name: str) -> float:
        value = self.content.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value < math.inf:
            raise self._odd(name, "a finite number of at least 0")
        return float(value)

    def whole(self, name: str, *, least: int = 0) -> int:
        value = self.content.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise self._odd(name, f"a whole number of at least {least}")
        return value

    def text(self, name: str) -> str:
        value = self.content.get(name)
        if not isinstance(value, str):
            raise self._odd(name, "a text")
        return value

    def _odd(self, name: str, expected: str) -> InputFileError:
        return InputFileError(
            f"{self.path}: expected {self.place}{name} to be {expected}; found {self.content.get(name)!r:.60}. "
            "The file is damaged, or not what a run wrote"
        )


def _rounds(fields: _Fields, units: int) -> tuple[Round, ...]:
    """Return the recorded rounds: from the list of releases where there is one, else from the run's own figures."""
    releases = fields.content.get("releases")
    try:
        if releases is None:
            return _alike(fields, units)
        if not isinstance(releases, list) or not releases or not all(isinstance(each, dict) for each in releases):
            raise InputFileError(f"{fields.path}: expected releases to be a list of objects, one a round")
        return tuple(
            _round(_Fields(fields.path, each, f"releases[{index}]."), units) for index, each in enumerate(releases)
        )
    except SpecError as error:
        raise InputFileError(f"{fields.path} describes a release that no run could make: {error}") from None


def _alike(fields: _Fields, units: int) -> tuple[Round, ...]:
    """Return the rounds of a run with one mechanism; draws of a mixture count together, whatever their round."""
    one = _round(fields, units)
    return (one,) if isinstance(one, MixingRound) else (one,) * fields.whole("rounds", least=1)


def _round(fields: _Fields, units: int) -> Round:
    mechanism = fields.text("mechanism")
    if mechanism in _MIXING:
        weight, floor = fields.number("mixing_weight"), fields.number("floor")
        return MixingRound(units=units, mixing_weight=weight, draws=fields.whole("draws"), floor=floor)
    if mechanism == "gaussian":
        return GaussianRound(fields.number("stddev"))
    if mechanism == "laplace":
        return LaplaceRound(fields.number("scale"))
    known = ", ".join((*_MIXING, "gaussian", "laplace"))
    raise InputFileError(f"{fields.path}: expected {fields.place}mechanism of {known}; found {mechanism!r:.60}")
