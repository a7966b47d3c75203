"""Texts that a language model writes: fresh ones, and variations of candidates.

Prompts are made from a template, public texts and released candidates; no private text comes near them.
"""

from collections.abc import Callable, Sequence
from typing import Final, Protocol

import numpy as np

from evomix.core.arguments import whole
from evomix.core.arrays import FloatArray, Population
from evomix.core.errors import GeneratorError, SpecError
from evomix.modalities.text.asking import Asked, FreshText, Variation
from evomix.modalities.text.class_shares import assign_classes, checked_shares
from evomix.modalities.text.hygiene import Dropped, HygieneCounts, Kept, Reason, Seen, examine
from evomix.modalities.text.language_model import Completion, Form, LanguageModel
from evomix.modalities.text.lengths import Lengths, of_range, of_texts
from evomix.modalities.text.records import Record, population
from evomix.modalities.text.templates import Template

ATTEMPTS: Final = 3
"""How often a text is asked for at most."""
LEAST_USABLE: Final = 0.1
"""Share of what was asked for that must be usable."""


Fits = Callable[[Sequence[int], Sequence[str]], Sequence[bool]]
"""From class positions and texts to whether each text reads like its class."""


class _Task(Protocol):
    """A record to be made."""

    def ask(self, template: Template, attempt: int, form: Form) -> Asked:
        """Return what is asked at an attempt."""


class TextGenerator:
    """A :class:`~evomix.core.protocols.Generator` of texts. Post-processing of public values; costs nothing.

    All randomness is drawn from ``rng``, as much for a call whatever the answers are, and answers are judged in the
    order of the records. So a run that is resumed asks what it asked before, and equal answers give equal records.
    """

    def __init__(
        self,
        model: LanguageModel,
        template: Template,
        *,
        classes: Sequence[str] = ("",),
        shares: FloatArray | None = None,
        public: Population | None = None,
        lengths: Lengths | None = None,
        fits: Fits | None = None,
        attempts: int = ATTEMPTS,
    ) -> None:
        """Prepare a generator.

        Args:
            model: answers the prompts.
            template: how texts are asked for.
            classes: label words by class position; one empty word for texts without labels.
            shares: float64 (classes,), shares of classes among fresh texts, public; ``None`` for those of the public
                records, or even ones without these.
            public: public records: examples in prompts, lengths. ``None`` if there are none.
            lengths: target lengths; ``None`` for those of the public records, or of the template without these.
            fits: tells which records read like their class; ``None``: all do.
            attempts: how often a text is asked for at most.

        Raises:
            SpecError: no class, shares that are none, a public record of an unknown class, attempts below 1.
        """
        self._model = model
        self._template = template
        self._classes = tuple(classes)
        self._fits = fits
        self._attempts = whole("attempts", attempts, least=1)
        held: list[Record] = [] if public is None else list(public)
        self._shares = checked_shares(shares, len(self._classes), [position for position, _ in held])
        self._examples: list[list[str]] = [[] for _ in self._classes]
        for position, text in held:
            self._examples[position].append(text)
        texts = [text for _, text in held]
        self._lengths = lengths or (of_texts(texts) if any(map(str.strip, texts)) else of_range(*template.fields.words))
        self.counts = HygieneCounts()
        """What became of all answers so far."""

    def random(self, size: int, rng: np.random.Generator) -> Population:
        """Return ``size`` fresh records, fewer where some had no usable answer in all attempts; all distinct.

        Raises:
            GeneratorError: hardly any answer is usable, or the model cannot answer.
        """
        wanted = whole("size", size, least=0)
        positions = assign_classes(self._shares, wanted, rng).tolist()
        seeds = _seeds(wanted, rng)
        tasks = [
            FreshText(self._classes[position], self._examples[position], self._lengths, seed)
            for position, seed in zip(positions, seeds, strict=True)
        ]
        made = self._make(tasks, positions, Seen(), forgiven=())
        return population((position, text) for position, text in zip(positions, made, strict=True) if text is not None)

    def vary(self, parents: Population, scale: float, rng: np.random.Generator) -> Population:
        """Return one variation of each parent, of the same class; the parent itself where no answer was usable.

        Args:
            parents: object (n,), records.
            scale: in (0, 1], how far variations go.
            rng: public randomness.

        Raises:
            SpecError: a scale outside (0, 1].
            GeneratorError: hardly any answer is usable, or the model cannot answer.
        """
        if not 0.0 < scale <= 1.0:
            raise SpecError(f"expected a scale in (0, 1], got scale={scale}")
        held: list[Record] = list(parents)
        tasks = [
            Variation(self._classes[position], text, self._examples[position], scale, self._lengths, seed)
            for (position, text), seed in zip(held, _seeds(len(held), rng), strict=True)
        ]
        positions = [position for position, _ in held]
        # A variation that is there already says nothing against the model: short texts have few wordings.
        made = self._make(tasks, positions, Seen(held), forgiven=("duplicate", "copy", "off label"))
        return population(
            (position, parent if text is None else text) for (position, parent), text in zip(held, made, strict=True)
        )

    def _make(
        self, tasks: Sequence[_Task], positions: Sequence[int], seen: Seen, *, forgiven: Sequence[Reason]
    ) -> list[str | None]:
        """Ask for each record until it has a text that is new, at most so often; ``None`` where it has none."""
        made: list[str | None] = [None] * len(tasks)
        counts, last = HygieneCounts(), dict.fromkeys(range(len(tasks)), "")
        for attempt in range(self._attempts):
            missing = [k for k, text in enumerate(made) if text is None]
            asked = [tasks[k].ask(self._template, attempt, self._model.form) for k in missing]
            outcomes = [
                _judge(request, answer, lambda text, k=k: seen.add(positions[k], text))  # type: ignore[misc]
                for k, request, answer in zip(missing, asked, self._answers(asked), strict=True)
            ]
            for k, outcome in zip(missing, self._fitting(outcomes, [positions[k] for k in missing]), strict=True):
                counts.note(outcome)
                if isinstance(outcome, Kept):
                    made[k] = outcome.text
                else:
                    last[k] = outcome.reason
        counts.given_up = made.count(None)
        self.counts.add(counts)
        usable = sum(text is not None or last[k] in forgiven for k, text in enumerate(made))
        if usable < LEAST_USABLE * len(tasks):
            raise GeneratorError(
                f"expected usable texts from the model {self._model.name!r}, at least {LEAST_USABLE:.0%} of those "
                f"asked for; found usable={usable} of asked={len(tasks)} in {counts.answers} answers (dropped: "
                f"{counts.reasons()}); try another model or template, or other lengths"
            )
        return made

    def _fitting(self, outcomes: Sequence[Kept | Dropped], positions: Sequence[int]) -> list[Kept | Dropped]:
        """Return the outcomes, those dropped that do not read like their class."""
        kept = [k for k, outcome in enumerate(outcomes) if isinstance(outcome, Kept)]
        found = list(outcomes)
        if self._fits is not None and kept:
            texts = [outcome.text for outcome in outcomes if isinstance(outcome, Kept)]
            passing = self._fits([positions[k] for k in kept], texts)
            for k, passes in zip(kept, passing, strict=True):
                if not passes:
                    found[k] = Dropped("off label")
        return found

    def _answers(self, asked: Sequence[Asked]) -> list[Completion]:
        """Return the answers in the order of the requests, whenever they came."""
        if not asked:
            return []
        answers: dict[int, Completion] = dict(self._model.complete([one.request for one in asked]))
        if answers.keys() != set(range(len(asked))):
            raise GeneratorError(
                f"expected an answer to each of {len(asked)} requests from the model {self._model.name!r}; "
                f"found answers={len(answers)}"
            )
        return [answers[k] for k in range(len(asked))]


def _judge(asked: Asked, answer: Completion, is_new: Callable[[str], bool]) -> Kept | Dropped:
    outcome = examine(answer.text, asked.judged(answer), finish=answer.finish)
    if isinstance(outcome, Kept) and not is_new(outcome.text):
        return Dropped("duplicate")
    return outcome


def _seeds(size: int, rng: np.random.Generator) -> list[int]:
    return list(map(int, rng.integers(2**63, size=size)))
