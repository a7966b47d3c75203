"""What a language model answered becomes a text, or is dropped for a reason that is counted.

Answers are made from public things alone, so reasons and counts are public figures.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from evomix.modalities.text.language_model import Finish
from evomix.modalities.text.lengths import count_words
from evomix.modalities.text.normal_form import normal_form
from evomix.modalities.text.refusals import declines
from evomix.modalities.text.remarks import is_remark
from evomix.modalities.text.wrappers import unwrap

Reason = Literal[
    "filtered", "truncated", "damaged", "control token", "refusal", "empty", "comment", "no prose", "unfilled",
    "too long", "too short", "copy", "echo", "duplicate", "off label",
]  # fmt: skip
"""Why an answer was dropped, in the order of the tests."""

_LONGEST: Final = 2.5
_SHORTEST: Final = 0.1
"""Longest and shortest text that is kept, in units of the target."""
_ROOM: Final = 16
"""Words beyond the longest that are let through: targets of a few words are no strict ones."""
_ECHOED: Final = 7
"""Words in a row from the instructions that make an answer an echo of them."""

_CHARACTERS_A_WORD: Final = 16
_WORDLESS: Final = 500
"""Words of the longest answer where no length is asked for."""

_REMOVED: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufeff]")
_DAMAGED: Final = re.compile(r"[\ufffd\ud800-\udfff]")
_CONTROL: Final = re.compile(
    r"<\|[a-z_ ]{1,40}\|>|</?s>|<pad>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>|<(?:bos|eos|unk)>|"
    r"^(?:###? )?(?:user|assistant|system):?$",
    re.IGNORECASE | re.MULTILINE,
)
_PLACEHOLDER: Final = re.compile(
    r"^\W*\[[^\]\n]{1,60}\]\W*$|"
    r"\[(?:your|insert|name|company|product|customer|restaurant|date|location|city)\b[^\]\n]{0,40}\]|\{\{?\w+\}?\}",
    re.IGNORECASE,
)
_STRUCTURE: Final = re.compile(
    r"^\s*(?:\{\s*[\"'}]|\[\s*[\"'{\]]|<\?xml|<!DOCTYPE|<html|```)|^[\"']\w+[\"']\s*:\s*[\"'\d\[{]", re.IGNORECASE
)
_BLANK: Final = re.compile(r"_{2,}")
_ENDED: Final = re.compile(r"[.!?…。！？؟।)\]\"'”’»」』*:;~]$|[^\w\s,\-–—(\[&/]$")
_BROKEN_OFF: Final = re.compile(
    r"(?:[,(\[&/–—-]|\s(?:the|a|an|and|but|or|because|my|your|our|their|its|than))$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Kept:
    """A text fit to be a record."""

    text: str


@dataclass(frozen=True, slots=True)
class Dropped:
    """An answer that is no record, and why."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an answer is held against.

    Attributes:
        kind: noun for what was asked for, such as ``review``; an answer that speaks about one is a remark.
        words: target length; ``None`` to judge no length.
        instructions: what the model was told, without quoted texts.
        quoted: texts that were shown to it; what stands in them is plain text, also a control word.
        at_limit: whether the answer is as long as it was allowed to be, so that it may be cut although the runtime
            says that it ended.
    """

    kind: str = ""
    words: int | None = None
    instructions: str = ""
    quoted: Sequence[str] = ()
    at_limit: bool = False


def examine(answer: str, wanted: Wanted | None = None, *, finish: Finish = "stop") -> Kept | Dropped:
    """Return the text that an answer holds, or why it holds none.

    The text is in Unicode's NFC, with newlines as they are; control characters (NUL among them) are taken out.
    Duplicates are for :class:`Seen` to find.
    """
    wanted = Wanted() if wanted is None else wanted
    if finish != "stop":
        return Dropped("filtered" if finish == "filtered" else "truncated")
    if len(answer) > _most_characters(wanted):
        return Dropped("too long")
    if _DAMAGED.search(answer):
        return Dropped("damaged")
    text = normal_form(_REMOVED.sub("", answer))
    if (cut := _before_control_tokens(text, wanted.quoted)) is None:
        return Dropped("control token")
    if declines(cut):
        return Dropped("refusal")
    bare = unwrap(cut)
    reason = _reason(bare, wanted) if bare else ("comment" if cut.strip() else "empty")
    return Kept(bare) if reason is None else Dropped(reason)


def _before_control_tokens(text: str, quoted: Sequence[str]) -> str | None:
    """Return what stands before a chat template's tokens, ``None`` where that is nothing.

    A model that runs on after its turn writes them as text. Those of the quoted texts are no such artefacts.
    """
    own = [found for found in _CONTROL.finditer(text) if not any(found.group() in one for one in quoted)]
    start = 0
    for found in own:
        if before := text[start : found.start()].strip():
            return before
        start = found.end()  # one at the beginning opened the answer
    return text[start:] if not own or text[start:].strip() else None


def _reason(text: str, wanted: Wanted) -> Reason | None:
    if not any(letter.isalnum() or unicodedata.category(letter) == "So" for letter in text):
        return "empty"
    for reason, found in (("refusal", declines(text)), ("comment", is_remark(text, wanted.kind))):
        if found:
            return reason  # type: ignore[return-value]
    shown = "\n".join(wanted.quoted)
    if _STRUCTURE.search(text) or (_PLACEHOLDER.search(text) and not _PLACEHOLDER.search(shown)):
        return "no prose"
    if _BLANK.search(text) and not _BLANK.search(shown):
        return "unfilled"
    return _length(text, wanted) or _repeats(text, wanted)


def most_words(target: int) -> int:
    """Return how many words an answer may have at most."""
    return int(_LONGEST * target) + _ROOM


def _most_characters(wanted: Wanted) -> int:
    """Return how long an answer may be to be looked at: what is far longer is not wanted, and would take long."""
    asked = _WORDLESS if wanted.words is None else most_words(wanted.words)
    return _CHARACTERS_A_WORD * asked + sum(map(len, wanted.quoted))


def _length(text: str, wanted: Wanted) -> Reason | None:
    if _BROKEN_OFF.search(text) or (wanted.at_limit and not _ENDED.search(text)):
        return "truncated"
    if wanted.words is None:
        return None
    words = count_words(text)
    if words > most_words(wanted.words):
        return "too long"
    return "too short" if words < _SHORTEST * wanted.words else None


def _repeats(text: str, wanted: Wanted) -> Reason | None:
    """Return whether the answer is one of the quoted texts, or says again what the instructions say."""
    if folded(text) in {folded(one) for one in wanted.quoted}:
        return "copy"
    told = f" {' '.join(_words(wanted.instructions))} "
    said = _words(text)
    runs = [said[k : k + _ECHOED] for k in range(len(said) - _ECHOED + 1)] or ([said] if len(said) >= 3 else [])
    return "echo" if any(f" {' '.join(run)} " in told for run in runs) else None


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def folded(text: str) -> str:
    """Return what two texts share that differ in case and spaces alone."""
    return "".join(normal_form(text).casefold().split())


class Seen:
    """The texts of one class and another that there are already; case and spaces make no difference."""

    def __init__(self, records: Iterable[tuple[int, str]] = ()) -> None:
        self._keys = {(position, folded(text)) for position, text in records}

    def add(self, position: int, text: str) -> bool:
        """Note a text of a class; return whether it is new."""
        key = (position, folded(text))
        if key in self._keys:
            return False
        self._keys.add(key)
        return True


@dataclass(slots=True)
class HygieneCounts:
    """What became of the answers so far; grows as they come. Public figures, for the report.

    Attributes:
        kept: answers that became texts.
        dropped: answers that did not, by reason.
        given_up: records that had no usable answer in all attempts.
    """

    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    given_up: int = 0

    @property
    def answers(self) -> int:
        """All answers."""
        return self.kept + self.dropped.total()

    def note(self, outcome: Kept | Dropped) -> None:
        """Count an answer."""
        if isinstance(outcome, Kept):
            self.kept += 1
        else:
            self.dropped[outcome.reason] += 1

    def add(self, other: "HygieneCounts") -> None:
        """Count what another one counted."""
        self.kept += other.kept
        self.dropped.update(other.dropped)
        self.given_up += other.given_up

    def reasons(self) -> str:
        """Return the reasons with their counts as words, most frequent first: ``9 refusal, 1 empty``."""
        return ", ".join(f"{count} {reason}" for reason, count in self.dropped.most_common()) or "none dropped"

    def figures(self) -> Mapping[str, int | Mapping[str, int]]:
        """Return the counts as plain values, for JSON."""
        return {"answers": self.answers, "kept": self.kept, "given_up": self.given_up, "dropped": dict(self.dropped)}
