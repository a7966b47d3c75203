"""What a generator asks of one record, attempt by attempt.

Each record draws from a stream of its own, seeded before anything is asked. So what is asked the second time does not
depend on which other records failed, or on when their answers came.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from evomix.modalities.text.hygiene import Wanted, most_words
from evomix.modalities.text.language_model import Completion, Form, Request
from evomix.modalities.text.lengths import Lengths, count_words
from evomix.modalities.text.templates import Prompt, Template, Theme
from evomix.modalities.text.words import blank

_TOKENS_A_WORD: Final = 1.6
_MORE_ROOM: Final = 0.5
"""Room that each further attempt adds, as a share of the first one's."""
_NEAR_LIMIT: Final = 0.95
_PAIRS: Final = 3
"""Pairs that are shown, in random order: a model borrows words from them."""
_LISTED: Final = 0.5
"""Share of variations, at scale 1, that a model makes by going on with a list; the others are other wordings."""
_SEEDS: Final = 2**31


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, and what its answer is held against."""

    request: Request
    wanted: Wanted

    def judged(self, answer: Completion) -> Wanted:
        """Return what ``answer`` is held against, now that its length is known."""
        used = answer.tokens or _TOKENS_A_WORD * count_words(answer.text)
        at_limit = used >= _NEAR_LIMIT * self.request.most_tokens
        return replace(self.wanted, at_limit=at_limit)


@dataclass(frozen=True, slots=True)
class FreshText:
    """A record that is to be written from nothing.

    Attributes:
        label: word of its class; empty for a nameless one.
        examples: public texts of the class.
        lengths: what target lengths are drawn from.
        seed: of the record's stream.
    """

    label: str
    examples: Sequence[str] = field(repr=False)
    lengths: Lengths
    seed: int

    def ask(self, template: Template, attempt: int, form: Form) -> Asked:
        """Return what is asked at an attempt."""
        rng = np.random.default_rng([self.seed, attempt])
        words = int(self.lengths.draw(1, rng)[0])
        theme = _theme(template, self.label, words, rng)
        temperature = template.temperature(1.0)
        if form == "continue":
            listed = _some(self.examples, template.fields.listed, rng)
            return _goes_on(template.listed(theme, listed), words, temperature, attempt=attempt, rng=rng)
        prompt = template.random(theme, _some(self.examples, template.fields.shots, rng))
        return _asked(prompt, words, temperature, attempt=attempt, rng=rng)


@dataclass(frozen=True, slots=True)
class Variation:
    """A record that is to be made from a parent.

    Attributes:
        label: word of its class; empty for a nameless one.
        parent: its text.
        examples: public texts of the class.
        scale: how far it may go.
        lengths: limits of target lengths.
        seed: of the record's stream.
    """

    label: str
    parent: str = field(repr=False)
    examples: Sequence[str] = field(repr=False)
    scale: float
    lengths: Lengths
    seed: int

    def ask(self, template: Template, attempt: int, form: Form) -> Asked:
        """Return what is asked at an attempt."""
        rng = np.random.default_rng([self.seed, attempt])
        words = int(self.lengths.step(np.array([count_words(self.parent)]), self.scale, rng)[0])
        theme = _theme(template, self.label, words, rng)
        if form == "continue":
            return self._go_on(template, theme, attempt, rng)
        if rng.random() < template.fields.fill_in_share:
            prompt = template.fill_in(theme, blank(self.parent, template.blanked_share(self.scale), rng))
        else:
            prompt = template.rephrase(theme, self.parent, self.scale)
        temperature = template.temperature(self.scale)
        return _asked(prompt, words, temperature, attempt=attempt, rng=rng, parent=self.parent)

    def _go_on(self, template: Template, theme: Theme, attempt: int, rng: np.random.Generator) -> Asked:
        """Return pairs to go on with, or, the more often the farther it may go, a list that ends with the parent."""
        words, temperature = count_words(self.parent), template.temperature(self.scale)
        if template.fields.pairs and rng.random() >= _LISTED * self.scale:
            prompt = template.paired(self.parent, rng.permutation(len(template.fields.pairs))[:_PAIRS].tolist())
        else:
            prompt = template.listed(theme, [*_some(self.examples, template.fields.listed - 1, rng), self.parent])
            words = max(words, theme.words)
        return _goes_on(prompt, words, temperature, attempt=attempt, rng=rng, parent=self.parent)


def _some(examples: Sequence[str], size: int, rng: np.random.Generator) -> list[str]:
    """Return some examples in random order, at most ``size``."""
    return [examples[k] for k in rng.permutation(len(examples))[: max(size, 0)]]


def _theme(template: Template, label: str, words: int, rng: np.random.Generator) -> Theme:
    tones, topics = template.fields.tones, template.fields.topics
    tone = tones[int(rng.integers(len(tones)))] if tones else ""
    topic = topics[int(rng.integers(len(topics)))] if topics else ""
    return Theme(label, words, wording=float(rng.random()), tone=tone, topic=topic)


def _asked(
    prompt: Prompt, words: int, temperature: float, *, attempt: int, rng: np.random.Generator, parent: str = ""
) -> Asked:
    seed = int(rng.integers(_SEEDS))
    quoted = (*prompt.quoted, parent) if parent else prompt.quoted
    request = Request(
        prompt.system, prompt.user, most_tokens(words, quoted, attempt=attempt), temperature=temperature, seed=seed
    )
    return Asked(request, Wanted(prompt.kind, words, prompt.instructions, quoted))


def _goes_on(
    prompt: Prompt, words: int, temperature: float, *, attempt: int, rng: np.random.Generator, parent: str = ""
) -> Asked:
    """Return a request whose answer is the next line of a prompt."""
    asked = _asked(prompt, words, temperature, attempt=attempt, rng=rng, parent=parent)
    return replace(asked, request=replace(asked.request, form="continue"))


def most_tokens(words: int, quoted: Sequence[str] = (), *, attempt: int = 0) -> int:
    """Return the token limit for a text of about ``words`` words: what the longest text that is kept needs.

    Tokenizers spend more on a word outside the Latin alphabet, up to one token a byte; how much the texts that are
    shown would cost tells. Each further attempt has more room, as answers that were cut are asked for again.
    """
    shown = sum(count_words(text) for text in quoted)
    strange = sum(len(letter.encode()) for text in quoted for letter in text if not letter.isascii())
    a_word = _TOKENS_A_WORD + (strange / shown if shown else 0.0)
    return int((1 + _MORE_ROOM * attempt) * a_word * most_words(words))
