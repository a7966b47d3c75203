"""Prompt templates: TOML files that say how texts of a domain are asked for.

Curly braces in a template's texts are placeholders. What is put in their place is never parsed again, so braces in a
text, a label or a description stay what they are. Public texts and parents stand between the template's marks, and
marks in them are taken out, so that they are not mistaken for instructions.
"""

import string
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Final

from evomix.core.errors import SpecError
from evomix.modalities.text.template_fields import Fields, read_fields

PRESETS: Final = ("general", "reviews", "medical_abstracts", "forum_posts", "support_tickets")
"""Templates that come with the package."""
_WORDS_A_SENTENCE: Final = 16
_NUMBERS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is asked.

    Attributes:
        system: what it is to be.
        user: what is asked.
        instructions: all of it without the texts that are shown.
        quoted: the texts that are shown.
        kind: noun for what is asked for.
    """

    system: str
    user: str
    instructions: str
    quoted: tuple[str, ...]
    kind: str


@dataclass(frozen=True, slots=True)
class Theme:
    """What varies from prompt to prompt.

    Attributes:
        label: word of the class, empty where there is one nameless class.
        words: target length.
        wording: from 0 to 1, which of the template's alternative prompts is taken.
        tone, topic: one of the template's, or empty.
    """

    label: str
    words: int
    wording: float = 0.0
    tone: str = ""
    topic: str = ""


@dataclass(frozen=True, slots=True)
class Template:
    """How texts of one domain are asked for.

    Attributes:
        name: of the preset, or the path of the file.
        domain: one line on what the texts are.
        label_text: how classes are worded, by label; others as the template's default says.
        fields: what the file says.
    """

    name: str
    domain: str
    label_text: Mapping[str, str]
    fields: Fields

    def random(self, theme: Theme, examples: Sequence[str] = ()) -> Prompt:
        """Return a prompt for a fresh text; ``examples`` are public."""
        block = "\n".join([self._plain(self.fields.examples_text), *map(self._marked, examples)]) if examples else ""
        return self._prompt(_pick(self.fields.random, theme.wording), theme, examples, examples=block)

    def rephrase(self, theme: Theme, parent: str, scale: float) -> Prompt:
        """Return a prompt for another wording of ``parent``; ``scale`` in (0, 1] is how far it may go."""
        change = _pick(self.fields.changes, scale)
        template = _pick(self.fields.rephrase, theme.wording)
        return self._prompt(template, theme, [parent], change=change, text=self._marked(parent))

    def fill_in(self, theme: Theme, blanked: str) -> Prompt:
        """Return a prompt that asks to fill the blanks of ``blanked``."""
        return self._prompt(_pick(self.fields.fill_in, theme.wording), theme, [blanked], text=self._marked(blanked))

    def listed(self, theme: Theme, shown: Sequence[str]) -> Prompt:
        """Return the beginning of a list of texts, whose next one is to be written; ``shown`` are on it already."""
        lines = [" ".join(text.split()) for text in shown or [wording for _, wording in self.fields.pairs]]
        head = self._plain(self.fields.listing, {"label": self._label(theme.label)})
        head = " ".join(head.split()).replace(" ,", ",").replace(" :", ":")
        return Prompt(
            "", "\n".join([head, *(f"- {line}" for line in lines), "-"]), head, tuple(lines), self.fields.kind
        )

    def paired(self, parent: str, order: Sequence[int]) -> Prompt:
        """Return pairs of a text and another wording, the last of which is that of ``parent``, still to be written.

        Args:
            parent: a text.
            order: positions of the template's pairs that stand before it.
        """
        before, after = self.fields.pair_marks
        one_line = " ".join(parent.split())
        pairs = [self.fields.pairs[place] for place in order]
        shown = "".join(f"{before} {text}\n{after} {wording}\n\n" for text, wording in pairs)
        quoted = (one_line, *(text for pair in pairs for text in pair))
        return Prompt("", f"{shown}{before} {one_line}\n{after}", "", quoted, self.fields.kind)

    def blanked_share(self, scale: float) -> float:
        """Return the share of words that become blanks: grows evenly with ``scale``."""
        return _between(self.fields.blanked, scale)

    def temperature(self, scale: float) -> float:
        """Return the temperature of sampling for variations that go ``scale`` far; fresh texts are of scale 1."""
        return _between(self.fields.temperature, scale)

    def _prompt(self, template: str, theme: Theme, quoted: Sequence[str], **shown: str) -> Prompt:
        values = {
            "label": self._label(theme.label),
            "tone": theme.tone,
            "topic": theme.topic,
            "length": _fill(self.fields.length_text, {"words": str(theme.words), "sentences": _sentences(theme.words)}),
            **shown,
        }
        varied = "text" in shown
        system = self._plain((varied and self.fields.rewriting) or self.fields.system)
        told = self._plain(template, {**values, "text": "", "examples": ""})
        return Prompt(system, self._plain(template, values), f"{system}\n{told}", tuple(quoted), self.fields.kind)

    def _marked(self, text: str) -> str:
        opening, closing = self.fields.marks
        for mark in self.fields.marks:
            text = text.replace(mark, " ")
        return f"{opening}{text}{closing}"

    def _plain(self, template: str, values: Mapping[str, str] | None = None) -> str:
        return _fill(template, {"domain": self.domain, "kind": self.fields.kind, **(values or {})})

    def _label(self, label: str) -> str:
        if not label:
            return ""
        return self.label_text.get(label) or _fill(self.fields.label_default, {"label": label})


def load_template(
    name: str = "general", *, domain: str | None = None, label_text: Mapping[str, str] | None = None
) -> Template:
    """Return a template.

    Args:
        name: one of :data:`PRESETS`, or the path of a TOML file.
        domain: one line on what the texts are; without it that of the template.
        label_text: how classes are worded, besides what the template says and before it.

    Raises:
        SpecError: there is no such template, it is not as a template should be, or nothing says what the domain is.
    """
    fields = read_fields(_parse(name), name)
    described = " ".join((fields.domain if domain is None else domain).split())
    if not described:
        raise SpecError(
            f"expected one line that says what the texts are, as the template gives none; found domain={domain!r} with "
            f"template={name!r}; give a domain, such as 'reviews of hotels', or take one of {', '.join(PRESETS[1:])}"
        )
    return Template(name, described, {**fields.label_text, **(label_text or {})}, fields)


def _parse(name: str) -> Mapping[str, object]:
    try:
        if name in PRESETS:
            held = resources.files("evomix.modalities.text").joinpath("prompts", f"{name}.toml").read_text("utf-8")
        elif name.endswith(".toml"):
            held = Path(name).read_text("utf-8")
        else:
            raise SpecError(
                f"expected a template among {', '.join(PRESETS)} or the path of a .toml file; found template={name!r}"
            )
        return tomllib.loads(held)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SpecError(f"expected a template in TOML that can be read; found template={name!r}: {error}") from error


def _pick(choices: Sequence[str], at: float) -> str:
    """Return the choice that ``at`` in [0, 1] falls on, each taking an equal part."""
    return choices[min(int(at * len(choices)), len(choices) - 1)]


def _between(ends: tuple[float, float], scale: float) -> float:
    return ends[0] + (ends[1] - ends[0]) * scale


def _sentences(words: int) -> str:
    """Return in how many sentences so many words are, which small models follow better than a number of words."""
    count = max(1, round(words / _WORDS_A_SENTENCE))
    spelled = _NUMBERS[count - 1] if count <= len(_NUMBERS) else str(count)
    return f"{spelled} sentence{'s' * (count > 1)}"


def _fill(template: str, values: Mapping[str, str]) -> str:
    """Return ``template`` with values in the place of placeholders; before an empty one, spaces go too."""
    made = ""
    for literal, name, _, _ in string.Formatter().parse(template):
        made += literal
        if name is not None:
            made = made + values[name] if values[name] else made.rstrip(" ")
    return made.strip()
