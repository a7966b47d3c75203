"""Answers of a language model kept in a file, so that a run or a test can be played again without the model."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO, Literal

from evomix.core.errors import EnvironmentFailure, GeneratorError, InputFileError, SpecError
from evomix.formats.atomic import check_place
from evomix.modalities.text.language_model import Completion, Form, LanguageModel, Request

Mode = Literal["replay", "record", "auto"]

_VERSION = 1
_Key = tuple[str, int]


class Cassette:
    """A language model that remembers.

    An answer is found by its request and by which time that same request is asked, counted from 0 since the cassette
    was opened. The file is JSON lines: the model's name, then one answer a line, written before it is handed on.

    * ``replay``: only what the file holds; ``model`` may be None.
    * ``record``: asks the model, and writes a new file.
    * ``auto``: what the file holds, and the model for the rest, which is added.
    """

    def __init__(self, model: LanguageModel | None, path: str | Path, *, mode: Mode = "auto") -> None:
        """Open a cassette; reads the file, writes nothing yet.

        Raises:
            SpecError: no model where one is needed, another model than the file's, or ``record`` over an old file.
            InputFileError: the file is missing in ``replay``, or is no cassette.
            EnvironmentFailure: the file cannot be read.
        """
        if mode not in {"replay", "record", "auto"}:
            raise SpecError(f"mode must be replay, record or auto, found mode={mode}")
        if model is None and mode != "replay":
            raise SpecError(f"mode={mode} needs a model to ask; only mode=replay does without")
        self._model, self._path, self._mode = model, Path(path), mode
        check_place(self._path)
        if mode == "record" and self._path.exists():
            raise SpecError(f"{self._path} exists: remove it to record anew, or use mode=auto to add to it")
        recorded, self._answers, self._good_bytes = _read(self._path)
        self._recorded_with: str | None = None if recorded is None else recorded[0]
        self._recorded_form: Form = "chat" if recorded is None else recorded[1]
        if mode == "replay" and self._recorded_with is None:
            raise InputFileError(f"{self._path} is no cassette: nothing was recorded there; use mode=auto to record")
        if model is not None and self._recorded_with not in {None, model.name}:
            raise SpecError(
                f"{self._path} was recorded with model={self._recorded_with}, not with model={model.name}; "
                "use another file, or the model it was recorded with"
            )
        self._asked: Counter[str] = Counter()

    @property
    def name(self) -> str:
        """Of the model whose answers these are."""
        return self._model.name if self._model is not None else str(self._recorded_with)

    @property
    def form(self) -> Form:
        """Of the model; in a replay that of the recorded requests."""
        return self._model.form if self._model is not None else self._recorded_form

    def complete(self, requests: Sequence[Request]) -> Iterator[tuple[int, Completion]]:
        """Answer what is known in the order of the requests, then what the model has to be asked for.

        Raises:
            GeneratorError: in ``replay``, a request is not in the file; or the model cannot answer.
            EnvironmentFailure: an answer cannot be written.
        """
        keys = [self._key(request) for request in requests]
        unknown = []
        for position, key in enumerate(keys):
            if key in self._answers:
                yield position, self._answers[key]
            elif self._mode == "replay":
                raise GeneratorError(self._missing(requests[position], key))
            else:
                unknown.append(position)
        if unknown:
            yield from self._ask(requests, keys, unknown)

    def _ask(
        self, requests: Sequence[Request], keys: list[_Key], unknown: list[int]
    ) -> Iterator[tuple[int, Completion]]:
        assert self._model is not None
        with self._opened() as file:
            for asked, completion in self._model.complete([requests[position] for position in unknown]):
                position = unknown[asked]
                line = {
                    "request": asdict(requests[position]),
                    "occurrence": keys[position][1],
                    "completion": asdict(completion),
                }
                self._append(file, line)
                self._answers[keys[position]] = completion
                yield position, completion

    def _key(self, request: Request) -> _Key:
        digest = _digest(asdict(request))
        self._asked[digest] += 1
        return digest, self._asked[digest] - 1

    def _opened(self) -> BinaryIO:
        """Open the file behind its last whole line; a new one gets its first line."""
        try:
            self._path.touch()
            file = self._path.open("r+b")
            file.truncate(self._good_bytes)
            file.seek(self._good_bytes)
        except OSError as error:
            raise self._unwritable(error) from error
        if self._good_bytes == 0:
            self._append(file, {"cassette": _VERSION, "model": self.name, "form": self.form})
        return file

    def _append(self, file: BinaryIO, line: dict[str, Any]) -> None:
        try:
            self._good_bytes += file.write(json.dumps(line).encode("ascii") + b"\n")
            file.flush()
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> EnvironmentFailure:
        return EnvironmentFailure(f"cannot write the cassette {self._path}: {error.strerror}; free or choose a place")

    def _missing(self, request: Request, key: _Key) -> str:
        return (
            f"{self._path} holds no answer to request {key[0][:12]} (asked for the {key[1] + 1}. time, "
            f"seed={request.seed}, most_tokens={request.most_tokens}) and has {len(self._answers)} others: prompts, "
            "seed or settings have changed since it was recorded; record anew, or use mode=auto with the model"
        )


def _digest(request: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode("ascii")).hexdigest()


def _read(path: Path) -> tuple[tuple[str, Form] | None, dict[_Key, Completion], int]:
    """Return model and form, answers, and the bytes of whole lines; a line that a killed run cut is ignored."""
    try:
        content = path.read_bytes() if path.exists() else b""
    except OSError as error:
        raise EnvironmentFailure(f"cannot read the cassette {path}: {error.strerror}") from error
    good_bytes = content.rfind(b"\n") + 1
    model, answers = None, {}
    for number, line in enumerate(content[:good_bytes].splitlines(), start=1):
        try:
            told = json.loads(line)
            if number == 1:
                model = _model_of(told)
                continue
            answers[_digest(asdict(Request(**told["request"]))), int(told["occurrence"])] = Completion(
                **told["completion"]
            )
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InputFileError(f"{path} is no cassette: line {number} is not as evomix writes it") from error
    return model, answers, good_bytes


def _model_of(first_line: dict[str, Any]) -> tuple[str, Form]:
    if first_line.get("cassette") != _VERSION:
        raise ValueError
    return str(first_line["model"]), "continue" if first_line.get("form") == "continue" else "chat"
