"""What a language model is asked, and what it answers; every runtime stands behind this protocol.

A request never holds a private text: prompts are made from templates, public texts and released candidates.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Form = Literal["chat", "continue"]
"""How a model is asked: told what to do, or given the beginning of a text whose next line it writes. Small models, and
those that were taught no conversations, do the second far better."""

Finish = Literal["stop", "length", "filtered"]
"""Why an answer ended: by itself, at the token limit (also where that is only suspected), or withheld by a filter."""


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt; one answer is wanted.

    Attributes:
        system: what the model is to be; may be empty.
        user: what is asked.
        most_tokens: new tokens at most, at least 1.
        temperature: of sampling, at least 0; 0 takes the likeliest token each time.
        top_p: share of probability that is sampled from, in (0, 1].
        seed: of the sampling where the runtime can, from 0 to 2³¹ − 1.
        form: "continue": there is no ``system``, and the answer is what follows ``user`` on its last line.
    """

    system: str
    user: str
    most_tokens: int
    temperature: float = 1.0
    top_p: float = 0.95
    seed: int = 0
    form: Form = "chat"


@dataclass(frozen=True, slots=True)
class Completion:
    """An answer.

    Attributes:
        text: as the model gave it, without the prompt and without control tokens; empty if there was none.
        finish: why it ended.
        prompt_tokens: tokens read, 0 where unknown.
        tokens: tokens made, 0 where unknown.
    """

    text: str
    finish: Finish
    prompt_tokens: int = 0
    tokens: int = 0


def last_line(text: str, finish: Finish) -> tuple[str, Finish]:
    """Return what follows on the line that an answer of the form "continue" goes on with, and whether it ended."""
    line, broken, _ = text.partition("\n")
    return line, "stop" if broken else finish


class LanguageModel(Protocol):
    """A runtime that answers requests."""

    @property
    def name(self) -> str:
        """What tells this model and its settings from others, for the record of a run; public, no key or address."""

    @property
    def form(self) -> Form:
        """How it is asked best."""

    def complete(self, requests: Sequence[Request]) -> Iterator[tuple[int, Completion]]:
        """Answer all requests; yield (position, answer) in any order, each as soon as it is there.

        Whoever calls it keeps each answer before it takes the next: what was yielded is never asked for again.

        Raises:
            GeneratorError: the model cannot answer, or a limit of the run was reached; what was yielded stays good.
        """


class SentenceEncoder(Protocol):
    """Places texts in a space where near means alike."""

    @property
    def name(self) -> str:
        """What tells this encoder from others, for the record of a run."""

    @property
    def local(self) -> bool:
        """Whether texts stay in this process; a remote encoder never sees a private text."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, float32 (n, k).

        The vector of a text depends on that text alone, bit by bit: what else is in the batch must not matter, or
        another record's presence would move this one's vote. Total: any text has a vector, also an empty one.
        """
