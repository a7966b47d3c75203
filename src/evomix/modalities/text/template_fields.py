"""What a template file holds, checked when it is read."""

import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from evomix.core.errors import SpecError

_ALWAYS: Final = frozenset({"domain", "kind"})
_THEME: Final = frozenset({"label", "tone", "topic", "length"})


@dataclass(frozen=True, slots=True)
class Fields:
    """The keys of a template file.

    Attributes:
        description: one line for whoever chooses a template.
        kind: the noun for one text, such as ``review``.
        domain: one line on what the texts are; empty where it is to be given.
        system: what the model is to be. Placeholders here and in all prompts: ``{domain}``, ``{kind}``.
        rewriting: the same where a text is varied; that of ``system`` where it is empty.
        random: prompts for a fresh text; also ``{label}``, ``{tone}``, ``{topic}``, ``{length}``, ``{examples}``.
            ``{label}`` and ``{length}`` must be there.
        rephrase: prompts for another wording; also ``{text}`` (must be there), ``{change}`` and the theme's.
        fill_in: prompts to fill blanks; also ``{text}`` (must be there) and the theme's.
        changes: how far a rephrasing goes, in words, from the smallest scale to the largest.
        tones, topics: drawn at random for variety; may be empty.
        length_text: with ``{words}``, a number, or ``{sentences}``, such as ``two sentences``, or both.
        words: range of lengths where no public text shows them.
        label_default: how a class is worded, with ``{label}``.
        label_text: how single classes are worded, by label.
        marks: what stands before and after each text that is shown; neither is left inside one.
        examples_text: what stands before public examples.
        shots: public examples of the same class in a prompt for a fresh text.
        listing: what stands before a list of texts, one a line, for models that are not told what to do but go on with
            a beginning; also ``{label}``.
        listed: public examples of the same class in such a list.
        pairs: texts and other wordings of them, for models that go on; a fresh text without public examples takes the
            wordings as examples. May be empty: then variations go on with a list too.
        pair_marks: what stands before a text and before its other wording.
        fill_in_share: share of variations that fill blanks; the others rephrase.
        blanked: share of words blanked, at scale 0 and at scale 1.
        temperature: of sampling, at scale 0 and at scale 1.
    """

    description: str
    kind: str
    domain: str
    system: str
    rewriting: str
    random: tuple[str, ...]
    rephrase: tuple[str, ...]
    fill_in: tuple[str, ...]
    changes: tuple[str, ...]
    tones: tuple[str, ...]
    topics: tuple[str, ...]
    length_text: str
    words: tuple[int, int]
    label_default: str
    label_text: Mapping[str, str]
    marks: tuple[str, str]
    examples_text: str
    shots: int
    listing: str
    listed: int
    pairs: tuple[tuple[str, str], ...]
    pair_marks: tuple[str, str]
    fill_in_share: float
    blanked: tuple[float, float]
    temperature: tuple[float, float]


_ALLOWED: Final[Mapping[str, tuple[frozenset[str], frozenset[str]]]] = {
    "system": (_ALWAYS, frozenset()),
    "rewriting": (_ALWAYS, frozenset()),
    "random": (_ALWAYS | _THEME | {"examples"}, frozenset({"label", "length"})),
    "rephrase": (_ALWAYS | _THEME | {"text", "change"}, frozenset({"text"})),
    "fill_in": (_ALWAYS | _THEME | {"text"}, frozenset({"text"})),
    "examples_text": (_ALWAYS, frozenset()),
    "listing": (_ALWAYS | {"label"}, frozenset({"label"})),
    "length_text": (frozenset({"words", "sentences"}), frozenset()),
    "label_default": (frozenset({"label"}), frozenset({"label"})),
}
"""By key, the placeholders it may have and those it must have."""

_MAY_BE_EMPTY: Final = frozenset({"domain", "rewriting"})
_OPTIONAL: Final[Mapping[str, Any]] = {
    "domain": "",
    "rewriting": "",
    "tones": [],
    "topics": [],
    "length_text": "{sentences} of about {words} words",
    "label_default": "of the class {label}",
    "label_text": {},
    "marks": ["<text>", "</text>"],
    "examples_text": "Examples:",
    "shots": 2,
    "listing": "A list of {kind}s {label}, each on a line of its own:",
    "listed": 4,
    "pairs": [],
    "pair_marks": ["Sentence:", "Same meaning:"],
    "fill_in_share": 0.3,
    "blanked": [0.2, 0.5],
    "temperature": [0.7, 1.0],
}


def read_fields(held: Mapping[str, object], file: str) -> Fields:
    """Return the checked keys of a template file.

    Raises:
        SpecError: a key is missing, unknown or of the wrong type, or a placeholder is; names file and key.
    """
    known = Fields.__dataclass_fields__.keys()
    if unknown := sorted(held.keys() - known):
        raise _wrong(file, unknown[0], f"one of the keys {', '.join(known)}", "an unknown key")
    values: dict[str, Any] = {}
    for key in known:
        if key not in held and key not in _OPTIONAL:
            raise _wrong(file, key, "this key", "none")
        values[key] = _READ[key](held.get(key, _OPTIONAL.get(key)), file, key)
        if key in _ALLOWED:
            for text in values[key] if isinstance(values[key], tuple) else [values[key]]:
                _check_placeholders(text, file, key)
    return Fields(**values)


def _check_placeholders(text: str, file: str, key: str) -> None:
    allowed, needed = _ALLOWED[key]
    spelled = ", ".join(f"{{{name}}}" for name in sorted(allowed))
    try:
        parts = [part for part in string.Formatter().parse(text) if part[1] is not None]
    except ValueError as error:
        raise _wrong(file, key, f"braces around placeholders only ({spelled}; {{{{ for a brace)", f"{error}") from None
    for _, name, spec, conversion in parts:
        if name not in allowed or spec or conversion:
            raise _wrong(
                file, key, f"placeholders among {spelled}", f"{{{name}}}" if name not in allowed else "a format"
            )
    if missing := sorted(needed - {part[1] for part in parts}):
        raise _wrong(file, key, f"the placeholder {{{missing[0]}}}", repr(text))


def _text(value: object, file: str, key: str) -> str:
    if not isinstance(value, str) or not (value.strip() or key in _MAY_BE_EMPTY):
        raise _wrong(file, key, "a text that is not empty", repr(value))
    return value.strip()


def _texts(value: object, file: str, key: str) -> tuple[str, ...]:
    single = [value] if isinstance(value, str) else value
    if not isinstance(single, list) or not (single or key in {"tones", "topics"}):
        raise _wrong(file, key, "a text or a list of texts", repr(value))
    return tuple(_text(one, file, key) for one in single)


def _labels(value: object, file: str, key: str) -> Mapping[str, str]:
    if not isinstance(value, dict):
        raise _wrong(file, key, 'a table of texts, such as {good = "in praise"}', repr(value))
    return {label: _text(one, file, f"{key}.{label}") for label, one in value.items()}


def _range(least: float, most: float, *, whole: bool = False) -> Callable[[object, str, str], tuple[Any, Any]]:
    kinds = (int,) if whole else (int, float)

    def read(value: object, file: str, key: str) -> tuple[Any, Any]:
        fits = isinstance(value, list) and len(value) == 2 and all(type(one) in kinds for one in value)
        if not fits or not least <= value[0] <= value[1] <= most:  # type: ignore[index]
            raise _wrong(
                file, key, f"two {'whole ' * whole}numbers in {least:g}..{most:g}, the smaller first", repr(value)
            )
        return value[0], value[1]  # type: ignore[index]

    return read


def _marks(value: object, file: str, key: str) -> tuple[str, ...]:
    marks = _texts(value, file, key)
    if len(marks) != 2:
        raise _wrong(file, key, "two marks, for before and after a text", repr(value))
    return marks


def _pairs(value: object, file: str, key: str) -> tuple[tuple[str, ...], ...]:
    if not isinstance(value, list):
        raise _wrong(file, key, "a list of pairs of texts", repr(value))
    return tuple(_marks(one, file, key) for one in value)


def _share(value: object, file: str, key: str) -> float:
    if type(value) not in (int, float) or not 0 <= value <= 1:  # type: ignore[operator]
        raise _wrong(file, key, "a number from 0 to 1", repr(value))
    return float(value)  # type: ignore[arg-type]


def _count(value: object, file: str, key: str) -> int:
    if type(value) is not int or not 0 <= value <= 20:
        raise _wrong(file, key, "a whole number from 0 to 20", repr(value))
    return value


_READ: Final[Mapping[str, Callable[[object, str, str], Any]]] = {
    **dict.fromkeys(
        (
            "description",
            "kind",
            "domain",
            "system",
            "rewriting",
            "length_text",
            "label_default",
            "examples_text",
            "listing",
        ),
        _text,
    ),
    **dict.fromkeys(("random", "rephrase", "fill_in", "changes", "tones", "topics"), _texts),
    "words": _range(1, 10_000, whole=True),
    "label_text": _labels,
    "marks": _marks,
    "pair_marks": _marks,
    "pairs": _pairs,
    "listed": _count,
    "shots": _count,
    "fill_in_share": _share,
    "blanked": _range(0, 1),
    "temperature": _range(0, 2),
}


def _wrong(file: str, key: str, expected: str, found: str) -> SpecError:
    return SpecError(f"template {file!r}, key {key!r}: expected {expected}; found {found}")
