"""Every knob of a run, stated once. Flags and TOML both become a ``RunSpec``."""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final

from evomix.core.arguments import number, shown, whole
from evomix.core.errors import InputFileError, SpecError
from evomix.core.schedule import SCHEDULES as KNOWN_SCHEDULES
from evomix.experiment.method_choice import check_method
from evomix.experiment.per_round import (
    MECHANISMS,
    MIXING,
    MOST_ROUNDS,
    candidates_of,
    check_accounting,
    mechanisms_of,
    rounds_of,
)
from evomix.experiment.presets import preset_settings
from evomix.experiment.text_settings import TEXT_SETTINGS, check_text_settings
from evomix.privacy.calibration import check_delta, check_epsilon
from evomix.privacy.hockey_stick import MAX_DRAWS
from evomix.selection.denoising import DENOISINGS as KNOWN_DENOISINGS
from evomix.selection.denoising import POOLED, choose_denoising
from evomix.selection.methods import GEOMETRIC
from evomix.selection.methods import SELECTIONS as KNOWN_SELECTIONS

__all__ = ["MECHANISMS", "RunSpec", "check_counts", "check_proximity", "load_toml"]

SELECTIONS: Final = ("auto", *KNOWN_SELECTIONS)
DENOISINGS: Final = ("auto", *KNOWN_DENOISINGS, POOLED)
SCHEDULES: Final = ("auto", *KNOWN_SCHEDULES)
MODALITIES: Final = ("auto", "table", "text")
LATER_MODALITIES: Final = ("image",)
WORDS: Final = ("target", "unit", "dataset", "budget", "encoding", "public_encoding")
SWITCHES: Final = ("resume", "overwrite")
COUNTS: Final = {
    "rows": (1, 10**9),
    "rounds": (1, MOST_ROUNDS),
    "variations": (0, 10**6),
    "draws": (1, MAX_DRAWS),
    "seed": (0, 2**128 - 1),
}
"""Settings that are whole numbers, the least that they may be, and the most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec:
    """What the user asked for; the names are those of the command line (INTERFACE of the project).

    ``mechanism`` and ``candidates`` hold one value for all rounds or one for each: names with commas between them (or
    a list), a number or a list of numbers. ``public`` is one table or a list of several. ``preset`` fills in what is
    left at its default, and is not kept: the settings say all.

    Raises ``SpecError`` on construction when a value is out of range.
    """

    private: Any = field(repr=False)  # may be the table itself, and errors and notebooks print what holds it
    epsilon: float
    delta: float | None = None
    public: Any = field(default=None, repr=False)
    schema: Any = None
    out: Path | None = None
    rows: int = 5000
    method: str = "auto"
    preset: str | None = None
    mechanism: str = "auto"
    selection: str = "auto"
    threshold: float | None = None
    radius: float | None = None
    denoising: str = "auto"
    schedule: str = "auto"
    rounds: int | None = None
    variations: int | None = None
    candidates: int | tuple[int, ...] | None = None
    draws: int | None = None
    proximity: float | str = "auto"
    accounting: str = "auto"
    target: str | None = None
    unit: str | None = None
    modality: str = "auto"
    text_column: str | None = None
    generator: str | None = None
    model: str | None = None
    prompts: str | None = None
    domain: str | None = None
    embedder: str | None = None
    base_url: str | None = None
    api: str | None = None
    concurrency: int | None = None
    timeout_s: float | None = None
    price_in: float | None = None
    price_out: float | None = None
    most_cost: float | None = None
    most_tokens: int | None = None
    seed: int | None = None
    dataset: str | None = None
    budget: str | None = None
    ledger: Path | None = None
    run_dir: Path | None = None
    resume: bool = False
    overwrite: bool = False
    encoding: str = "utf-8"
    public_encoding: str = "utf-8"

    def __post_init__(self) -> None:
        _check_kinds(self)
        check_epsilon(self.epsilon)
        if self.delta is not None:
            check_delta(self.delta)
        _check_choice("selection", self.selection, SELECTIONS)
        _check_choice("denoising", self.denoising, DENOISINGS)
        _check_choice("schedule", self.schedule, SCHEDULES)
        self._take_preset()
        object.__setattr__(self, "public", _one_or_several(self.public))
        names = mechanisms_of(self.mechanism)
        object.__setattr__(self, "mechanism", ",".join(names))
        sizes = candidates_of(self.candidates)
        object.__setattr__(self, "candidates", sizes[0] if sizes is not None and len(sizes) == 1 else sizes)
        check_accounting(self.accounting, names)
        choose_denoising(self.denoising, informed=False, geometric=self.selection in GEOMETRIC)
        for name in ("threshold", "radius"):
            object.__setattr__(self, name, _check_of_gape(name, getattr(self, name), self.selection))
        _check_choice("modality", self.modality, MODALITIES, later=LATER_MODALITIES)
        for name, value in check_text_settings({name: getattr(self, name) for name in TEXT_SETTINGS}).items():
            object.__setattr__(self, name, value)
        for name, value in check_counts({name: getattr(self, name) for name in COUNTS if name != "draws"}).items():
            object.__setattr__(self, name, value)  # as Python's own, also where NumPy's was given
        rounds = rounds_of(names, sizes, self.rounds)
        drawing = rounds if len(names) == 1 else sum(name in MIXING for name in names)
        object.__setattr__(self, "draws", check_counts({"draws": self.draws, "rounds": drawing or None})["draws"])
        check_proximity(self.proximity)
        check_method(self)
        if "pubmix" in names and self.public is None:
            raise SpecError("mechanism='pubmix' needs a public table (--public); without one use linmix")

    def _take_preset(self) -> None:
        """Put the preset's settings where nothing else was given, and forget its name.

        Its denoising is that of its selection; another selection brings its own.
        """
        bundle = preset_settings(self.preset)
        other = self.selection not in ("auto", bundle.get("selection"))
        for name, value in bundle.items():
            given = getattr(self, name)
            is_open = given is None or (isinstance(given, str) and given == "auto")
            if is_open and not (other and name == "denoising"):
                object.__setattr__(self, name, value)
        object.__setattr__(self, "preset", None)

    @property
    def public_tables(self) -> tuple[Any, ...]:
        """The public tables, one after the other; none without ``public``."""
        if isinstance(self.public, tuple):
            return self.public
        return () if self.public is None else (self.public,)

    @classmethod
    def from_mapping(cls, settings: Mapping[str, Any]) -> "RunSpec":
        """Build a spec from plain settings; unknown keys are refused.

        Raises:
            SpecError: a key is unknown, one that is needed is missing, or a value is out of range.
        """
        known = {knob.name for knob in fields(cls)}
        unknown = sorted(set(settings) - known)
        if unknown:
            raise SpecError(f"unknown setting(s) {', '.join(unknown)}; known: {', '.join(sorted(known))}")
        missing = [name for name in ("private", "epsilon") if name not in settings]
        if missing:
            raise SpecError(f"missing setting(s): {', '.join(missing)}")
        paths = {"out", "ledger", "run_dir"}
        values: dict[str, Any] = dict(settings)
        for name in paths & set(values):
            values[name] = None if values[name] is None else _path(name, values[name])
        return cls(**values)

    def public_settings(self) -> dict[str, Any]:
        """Return the settings that are given, as plain values, for spec.toml."""
        settings: dict[str, Any] = {}
        for knob in fields(self):
            value = getattr(self, knob.name)
            if value is None or knob.name in {"resume", "overwrite"}:
                continue
            settings[knob.name] = _plain(value)
        return settings


def load_toml(path: str | Path) -> dict[str, Any]:
    """Return the settings of a run file.

    Raises:
        InputFileError: the file is missing or is not TOML.
    """
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputFileError(f"cannot read the run file {path}: {error.strerror}") from error
    except ValueError as error:  # also of bytes that are no text, and of numbers that Python refuses to read
        raise InputFileError(f"{path} is not a TOML file: {error}") from error


def _path(name: str, value: Any) -> Path:
    try:
        return Path(value)
    except TypeError:
        raise SpecError(f"{name} must be a path; found {name}={shown(value)}") from None


def _plain(value: Any) -> Any:
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else f"<in memory: {type(value).__name__}>"


def _one_or_several(public: Any) -> Any:
    """Return a list of public tables as a tuple, and a list of one as that one."""
    if not isinstance(public, list | tuple):
        return public
    if not public or any(table is None for table in public):
        raise SpecError(f"public must name at least one table, and no empty ones; found {len(public)} in the list")
    return public[0] if len(public) == 1 else tuple(public)


def _check_kinds(spec: RunSpec) -> None:
    for name in WORDS:
        if not isinstance(value := getattr(spec, name), str | None):
            raise SpecError(f"{name} must be text; found {name}={shown(value)}")
    for name in SWITCHES:
        if not isinstance(value := getattr(spec, name), bool):
            raise SpecError(f"{name} must be true or false; found {name}={shown(value)}")


def _check_choice(name: str, value: Any, choices: tuple[str, ...], later: tuple[str, ...] = ()) -> None:
    if isinstance(value, str) and value in later:
        raise SpecError(f"{name}={value!r} is not part of this version; choose one of {', '.join(choices)}")
    if not isinstance(value, str) or value not in choices:
        raise SpecError(f"{name} must be one of {', '.join(choices)}; found {name}={shown(value)}")


def _check_of_gape(name: str, value: Any, selection: str) -> float | None:
    """Return a setting of gape as a float; ``None`` where it is not given.

    Raises:
        SpecError: it is no number in its range, or another selection would ignore it.
    """
    if value is None:
        return None
    least = "at least" if name == "threshold" else "above"
    found = number(name, value)
    if not math.isfinite(found) or found < 0.0 or (name == "radius" and found == 0.0):
        raise SpecError(f"{name} must be a finite number {least} 0; found {name}={value!r}")
    if selection != "gape":
        raise SpecError(f"{name}={value!r} has no effect with selection={selection!r}: only gape has one. Leave it out")
    return found


def check_counts(settings: Mapping[str, Any]) -> dict[str, int | None]:
    """Return settings of :data:`COUNTS` as Python's whole numbers, ``None`` where they are not given.

    Raises:
        SpecError: one is no whole number in its range, or there are fewer draws than rounds.
    """
    found: dict[str, int | None] = {}
    for name, value in settings.items():
        least, most = COUNTS[name]
        found[name] = None if value is None else whole(name, value, least=least, most=most)
    draws, rounds = found.get("draws"), found.get("rounds")
    if draws is not None and rounds is not None and draws < rounds:
        raise SpecError(f"each round needs a draw; found draws={draws} for rounds={rounds}")
    return found


def check_proximity(value: float | str) -> None:
    """Raise ``SpecError`` unless ``value`` is "auto" or a number in [0, 1]."""
    if isinstance(value, str) and value == "auto":
        return
    if not isinstance(value, int | float) or not 0.0 <= number("proximity", value) <= 1.0:
        raise SpecError(f"proximity must be 'auto' or a number in [0, 1]; found proximity={value!r}")
