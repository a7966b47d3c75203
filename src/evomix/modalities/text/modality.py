"""Everything a run needs to know about texts, bundled."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray, IntArray, Population, distinct
from evomix.core.errors import SpecError
from evomix.core.protocols import Generator
from evomix.modalities.tabular.column import Column
from evomix.modalities.tabular.schema import Schema
from evomix.modalities.text.balancing import fresh_shares, with_class_shares
from evomix.modalities.text.codec import TextCodec
from evomix.modalities.text.embedder import TextEmbedder
from evomix.modalities.text.generator import Fits, TextGenerator
from evomix.modalities.text.hygiene import HygieneCounts
from evomix.modalities.text.journal import JournaledModel
from evomix.modalities.text.label_check import LabelCheck
from evomix.modalities.text.lengths import count_words
from evomix.modalities.text.recombination import Recombination
from evomix.modalities.text.records import classes as classes_of
from evomix.modalities.text.records import texts as texts_of
from evomix.modalities.text.templates import load_template

FIRST_SCALE: Final = 0.5
"""How far first candidates go from the public texts that they are varied from."""
LIKE_THE_EXAMPLES: Final = "short texts like the examples that are shown"
"""What texts are where nothing but examples says so."""
MOST_DROPPED: Final = 0.5
"""Share of answers without a usable text from which the user is told."""
MOST_REPEATS: Final = 0.1
EXAMPLES: Final = 20
"""Texts that a report shows."""


@dataclass(frozen=True, slots=True)
class TextModality:
    """Codec, generator and geometry of texts; all of it public.

    Attributes:
        codec: carries tables with a text column to populations and back.
        generator: proposes texts.
        embedder: the distance between texts.
        public: object (m,), the public records; ``None`` without any.
        model: who is asked; ``None`` where the generator asks no model.
        counts: what became of the answers.
        fits: tells which texts read like their class; ``None`` where nothing public does, or no model is asked.
    """

    codec: TextCodec
    generator: Generator
    embedder: TextEmbedder
    public: Population | None
    model: JournaledModel | None
    counts: HygieneCounts
    fits: Fits | None = None

    @property
    def kind(self) -> str:
        """The name of the modality."""
        return "text"

    @property
    def schema(self) -> Schema:
        """Columns of the synthetic table."""
        return self.codec.schema

    @property
    def costly(self) -> bool:
        """Whether records must not be proposed twice: a model takes its time, and may take money."""
        return self.model is not None

    @property
    def spares(self) -> None:
        """None: a public text stands in the output only as a candidate that was voted for."""
        return

    def first(self, size: int, rng: np.random.Generator) -> Population:
        """Return candidates to begin with, at most ``size`` distinct ones.

        Half are variations of public texts, which are near to what is asked for, half fresh ones, which are not tied
        to them; without public texts all are fresh.
        """
        if self.public is None:
            return distinct(self.generator.random(size, rng))
        varied = size // 2
        parents = self.public[_of_each_class(classes_of(self.public), varied, rng)]
        near = self.generator.vary(parents, FIRST_SCALE, rng)
        return self._fitting(distinct(np.concatenate([near, self.generator.random(size - varied, rng)])))

    def _fitting(self, records: Population) -> Population:
        """Return the records that read like their class; all of a class of which none does.

        A text that could not be varied stands for itself, and a public one may read like any class.
        """
        if self.fits is None:
            return records
        classes = classes_of(records)
        fitting = np.asarray(self.fits(classes.tolist(), texts_of(records)), np.bool_)
        return records[fitting | ~np.isin(classes, classes[fitting])]

    @property
    def repeats(self) -> bool:
        """Whether texts repeat: each is to be another one, as far as there are enough."""
        return False

    @property
    def groups(self) -> Callable[[Population], IntArray] | None:
        """The classes, of which none may lose its last candidate; ``None`` where there is one only."""
        return classes_of if len(self.codec.classes) > 1 else None

    def balanced(self, shares: FloatArray, candidates: Population) -> FloatArray:
        """Return the law of the final rows with the classes' shares of the schema, where it gives some.

        Within a class the votes decide; one without any is spread over its candidates. A class without candidates
        cannot have its share: the others have it, as they have theirs.
        """
        wanted = self.codec.classes.shares
        if wanted is None:
            return shares
        return with_class_shares(shares, classes_of(candidates), wanted)

    def charted(self, population: Population) -> tuple[tuple[Column, ...], FloatArray]:
        """Return the label, and how long texts are in words and characters."""
        texts, name = texts_of(population), self.codec.text
        words = np.array([count_words(text) for text in texts], np.float64)
        characters = np.array([len(text) for text in texts], np.float64)
        columns = [
            Column(f"{name}: words", "integer", min=0, max=max(words.max(initial=1.0), 1.0)),
            Column(f"{name}: characters", "integer", min=0, max=max(characters.max(initial=1.0), 1.0)),
        ]
        parts = [words, characters]
        classes = self.codec.classes
        if classes.column is not None:
            columns.insert(0, classes.column)
            parts.insert(0, classes.cells[classes_of(population)])
        return tuple(columns), np.column_stack(parts)

    def examples(self, population: Population) -> tuple[str, ...]:
        """Return some texts, with their labels, evenly over the population."""
        places = np.unique(np.linspace(0, max(len(population) - 1, 0), EXAMPLES).astype(np.int64))
        words = self.codec.classes.words
        return tuple(f"[{words[c]}] {text}" if words[c] else text for c, text in population[places[: len(population)]])

    def remarks(self, population: Population) -> tuple[str, ...]:
        """Return a sentence where many answers were no texts, and one where many records are the same."""
        told = []
        if self.model is not None and self.fits is None and len(self.codec.classes) > 1:
            told.append(
                "no public text has a label, so nothing checked whether the texts read like theirs: read some of each "
                "class, and word the classes in a template of your own ([label_text])"
            )
        if self.counts.dropped.total() > MOST_DROPPED * self.counts.answers:
            share = self.counts.dropped.total() / self.counts.answers
            told.append(
                f"{100 * share:.0f} % of the model's answers were no usable texts ({self.counts.reasons()}): other "
                "--prompts, a larger --model or another --api may do better"
            )
        repeats = len(population) - len(set(texts_of(population)))
        if repeats > MOST_REPEATS * len(population):
            told.append(
                f"{repeats} of {len(population)} texts repeat another one: no variation near enough was found. Ask for "
                "fewer rows, or allow more candidates"
            )
        return tuple(told)

    def made(self) -> Mapping[str, Any]:
        """Return who wrote the texts, and what became of the answers."""
        facts: dict[str, Any] = {"Embedded by": self.embedder.name}
        if self.codec.classes.column is not None:
            facts["Labels"] = ", ".join(word or "none" for word in self.codec.classes.words)
            facts["A private label that is none of these counts as"] = self.codec.classes.fallback
        if self.model is None:
            return facts | {"Texts proposed by": "recombination of public texts"}
        kept = self.model.journal
        facts |= {"Texts proposed by": self.model.name, "Answers of the model": len(kept)}
        facts |= {"Tokens read": kept.prompt_tokens, "Tokens written": kept.tokens}
        if self.counts.answers:  # after an interruption fewer than the journal has: the earlier process judged its own
            facts |= {"Answers judged since the last start": self.counts.answers}
        return facts | {f"Answers dropped: {reason}": count for reason, count in self.counts.dropped.items()}


def _label_check(embedder: TextEmbedder, public: Population, count: int) -> Fits | None:
    """Return what tells whether texts read like their class; ``None`` where public texts do not show it."""
    check = LabelCheck.fit(embedder.sentences(texts_of(public)), classes_of(public), count) if count > 1 else None
    if check is None:
        return None
    return lambda classes, texts: check.passes(embedder.sentences(texts), classes).tolist()


def _of_each_class(classes: IntArray, size: int, rng: np.random.Generator) -> IntArray:
    """Return positions of ``size`` public records, as many of each class, without repeats if they last."""
    order = rng.permutation(len(classes))
    order = order[np.argsort(classes[order], kind="stable")]
    starts = np.searchsorted(classes[order], classes[order], side="left")
    turns = order[np.argsort(np.arange(len(order)) - starts, kind="stable")]  # one of each class, then the next of each
    return np.asarray(np.resize(turns, size), np.int64)


def build_text_modality(
    codec: TextCodec,
    embedder: TextEmbedder,
    public: Population | None,
    *,
    labelled: NDArray[np.bool_] | None = None,
    model: JournaledModel | None,
    prompts: str | None = None,
    domain: str | None = None,
) -> TextModality:
    """Build the modality of texts from public information. Costs nothing.

    Args:
        codec: of the columns.
        embedder: the geometry.
        public: object (m,), public records; ``None`` if there are none.
        labelled: bool (m,), which public records came with a label; default all.
        model: who writes texts; ``None`` for recombined public ones.
        prompts: a template's name or file; default the general one.
        domain: one line on what the texts are; default what the template says, else that they are like the examples.

    Raises:
        SpecError: there is nothing to recombine, or nothing says what the texts are.
    """
    classes = codec.classes
    shares = fresh_shares(classes, None if public is None else classes_of(public))
    if model is None:
        if public is None:
            raise SpecError(
                "generator='recombine' mixes public texts, and there are none; give a public table (--public)"
            )
        mixing = Recombination(public, classes=len(classes), shares=shares)
        return TextModality(codec, mixing, embedder, public, None, HygieneCounts())
    if domain is None and prompts is None and public is not None:
        domain = LIKE_THE_EXAMPLES
    template = load_template(prompts or "general", domain=domain)
    told = public if public is None or labelled is None else public[labelled]
    fits = None if told is None else _label_check(embedder, told, len(classes))
    generator = TextGenerator(model, template, classes=classes.words, shares=shares, public=public, fits=fits)
    return TextModality(codec, generator, embedder, public, model, generator.counts, fits)
