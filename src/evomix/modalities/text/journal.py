"""Every answer is on disk before it is used: a run that was killed asks for none twice.

The file holds answers to prompts, which are public: made of templates, public texts and released candidates.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from evomix.core.errors import EnvironmentFailure
from evomix.modalities.text.language_model import Completion, Form, LanguageModel, Request

Bill = tuple[int, int, float]
"""Tokens read, tokens made, cost."""


class Journal:
    """Answers by what was asked.

    Args:
        path: JSON lines, made anew if missing; ``None`` keeps answers in memory only.

    Attributes:
        prompt_tokens: tokens read for all answers, as far as known.
        tokens: tokens made for them.
        bill: tokens read, tokens made and cost, all attempts and estimates included, as the model's own account had
            them at the last answer; ``None`` for a model without one.

    Raises:
        EnvironmentFailure: the file cannot be read.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._file: TextIOWrapper | None = None
        self._answers: dict[str, Completion] = {}
        self.prompt_tokens = self.tokens = 0
        self.bill: Bill | None = None
        if path is not None and path.exists():
            self._load(path)

    def __len__(self) -> int:
        """Return how many answers there are."""
        return len(self._answers)

    def find(self, key: str) -> Completion | None:
        """Return the answer that was kept under ``key``."""
        return self._answers.get(key)

    def keep(self, key: str, answer: Completion, bill: Bill | None = None) -> None:
        """Keep an answer; when this returns the operating system has it.

        Args:
            key: what was asked.
            answer: what was answered.
            bill: what all answers so far have cost, by the model's account.

        Raises:
            EnvironmentFailure: the file cannot be written.
        """
        if self._path is not None:
            try:
                entry = {"key": key, **asdict(answer)} | ({} if bill is None else {"bill": bill})
                self._append(self._path, json.dumps(entry))
            except OSError as error:
                raise EnvironmentFailure(
                    f"cannot write the journal of answers {self._path}: {error.strerror}"
                ) from error
        self._note(key, answer)
        self.bill = bill or self.bill

    def sync(self) -> None:
        """Bring what was kept to the disk itself, and let go of the file."""
        if self._file is not None:
            with self._file:
                os.fsync(self._file.fileno())
            self._file = None

    def _append(self, path: Path, line: str) -> None:
        if self._file is None:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a", encoding="utf-8")
        self._file.write(line + "\n")
        self._file.flush()

    def _note(self, key: str, answer: Completion) -> None:
        self._answers[key] = answer
        self.prompt_tokens += answer.prompt_tokens
        self.tokens += answer.tokens

    def _load(self, path: Path) -> None:
        """Read what is whole; a last line that a crash cut is dropped from the file, so that the next starts anew."""
        try:
            content = path.read_bytes()
            whole = content[: content.rfind(b"\n") + 1]
            if len(whole) < len(content):
                os.truncate(path, len(whole))
        except OSError as error:
            raise EnvironmentFailure(f"cannot read the journal of answers {path}: {error.strerror}") from error
        for line in whole.splitlines():
            try:
                entry = json.loads(line)
                key, bill = str(entry.pop("key")), entry.pop("bill", None)
                self._note(key, _answer(entry))
                self.bill = self.bill if bill is None else (int(bill[0]), int(bill[1]), float(bill[2]))
            except (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError, RecursionError):
                continue  # no answer: it is asked for again


class JournaledModel:
    """A language model whose answers are kept in a journal.

    An answer belongs to its request, word by word, and to the model's name. Requests bear seeds, so two that are
    equal are one.

    Args:
        model: who is asked.
        journal: where answers are kept.
        told: called with how many requests of how many are answered.
    """

    def __init__(
        self, model: LanguageModel, journal: Journal, *, told: Callable[[int, int], None] | None = None
    ) -> None:
        self._model, self._told = model, told
        self.journal = journal

    @property
    def name(self) -> str:
        """The model's."""
        return self._model.name

    @property
    def form(self) -> Form:
        """The model's."""
        return self._model.form

    def complete(self, requests: Sequence[Request]) -> Iterator[tuple[int, Completion]]:
        """Answer from the journal what is there, then ask the model for the rest; errors are the model's."""
        keys = [_key(self.name, request) for request in requests]
        waiting: dict[str, list[int]] = {}
        for position, key in enumerate(keys):
            known = self.journal.find(key)
            if known is None:
                waiting.setdefault(key, []).append(position)
            else:
                yield position, known
        done = len(requests) - sum(map(len, waiting.values()))
        self._tell(done, len(requests))
        if not waiting:
            return
        asked = list(waiting)
        try:
            for place, answer in self._model.complete([requests[waiting[key][0]] for key in asked]):
                key = asked[place]
                self.journal.keep(key, answer, self._bill())
                done += len(waiting[key])
                self._tell(done, len(requests))
                for position in waiting[key]:
                    yield position, answer
        finally:
            self.journal.sync()

    def _bill(self) -> Bill | None:
        spent = getattr(self._model, "spent", None)
        return None if spent is None else (spent.prompt_tokens, spent.tokens, spent.cost)

    def _tell(self, done: int, total: int) -> None:
        if self._told is not None:
            self._told(done, total)


def _answer(entry: dict[str, Any]) -> Completion:
    answer = Completion(**entry)
    counts = (answer.prompt_tokens, answer.tokens)
    if not isinstance(answer.text, str) or answer.finish not in ("stop", "length", "filtered"):
        raise ValueError
    if not all(type(count) is int and count >= 0 for count in counts):
        raise ValueError
    return answer


def _key(name: str, request: Request) -> str:
    return hashlib.sha256(json.dumps([name, asdict(request)], sort_keys=True).encode()).hexdigest()
