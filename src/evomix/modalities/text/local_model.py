"""A language model in this process: the packaged SmolLM2, or any GGUF file of the llama architecture, on CTranslate2.

Nothing is downloaded and nothing is sent. The file is converted once (``llama_conversion``) and kept in the user's
cache folder.
"""

import itertools
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from evomix.core.errors import GeneratorError, SpecError
from evomix.modalities.text.ctranslate2_runtime import load_runtime, thread_count
from evomix.modalities.text.language_model import Completion, Finish, Form, Request, last_line
from evomix.modalities.text.llama_conversion import llama_conversion
from evomix.modalities.text.packaged import WRITER
from evomix.modalities.text.prompt_tokens import PromptTokens

# The runtime's seed is the process's: between setting it and the batch's end no other batch may run.
_SEED: Final = threading.Lock()


class LocalModel:
    """Answers requests in batches of prompts of like length.

    Reproducible: the same list of requests gives the same answers, in any process on the same kind of processor, with
    any number of threads. Not so: an answer also depends on the requests that share its batch (the runtime draws for
    all of them from one stream, seeded from all their seeds), so a request asked alone, or among others, or with
    another ``batch_size`` is answered otherwise.

    A prompt that leaves no room for an answer is answered with nothing, at the token limit.

    Args:
        path: a GGUF file of the llama architecture; by default the packaged SmolLM2-135M-Instruct.
        threads: of each batch; by default the cores of this process.
        batch_size: prompts at once; more are faster and need more memory.
        form: how it is asked; by default "continue" for the packaged model, which is too small to follow instructions
            well, and for one that knows no conversations, else "chat".
        top_k: likeliest tokens that ``top_p`` then chooses among; 0 for all of the vocabulary, which halves the speed.

    Raises:
        EnvironmentFailure: the model's package or its runtime is not installed.
        InputFileError: the file is absent, damaged, or of another architecture.
        SpecError: a number is out of range.
    """

    def __init__(
        self,
        path: Path | None = None,
        *,
        threads: int | None = None,
        batch_size: int = 32,
        top_k: int = 50,
        form: Form | None = None,
    ) -> None:
        if batch_size < 1 or top_k < 0:
            raise SpecError(
                f"a local model needs batch_size of at least 1 and top_k of at least 0: "
                f"batch_size={batch_size} top_k={top_k}"
            )
        self._threads = thread_count(threads)
        self._batch_size = batch_size
        self._top_k = top_k
        self._runtime = load_runtime()
        source = WRITER.require() if path is None else Path(path)
        self._folder = llama_conversion(source).converted()
        self._prompts = PromptTokens.read(self._folder)
        self._form: Form = form or ("continue" if path is None else self._prompts.best_form)
        digest = self._prompts.form.source[:12]
        self._name = f"{source.stem} int8 sha256={digest} top_k={top_k} batch_size={batch_size}"

    @property
    def name(self) -> str:
        """File, digest and settings that decide the answers."""
        return self._name

    @property
    def form(self) -> Form:
        """How it is asked best."""
        return self._form

    def complete(self, requests: Sequence[Request]) -> Iterator[tuple[int, Completion]]:
        """Answer all requests; yield (position, answer) as each batch ends.

        Raises:
            GeneratorError: the runtime failed.
            SpecError: a request's number is out of range.
        """
        for request in requests:
            _check(request)
        prompts = [self._prompts.of(request) for request in requests]
        limits = [self._prompts.room(request, prompt) for request, prompt in zip(requests, prompts, strict=True)]
        for position, limit in enumerate(limits):
            if limit < 1:
                yield position, Completion("", "length", prompt_tokens=len(prompts[position]))
        for batch in self._batches(requests, prompts, limits):
            answers = self._answers(
                [requests[position] for position in batch],
                [prompts[position] for position in batch],
                [limits[position] for position in batch],
            )
            yield from zip(batch, answers, strict=True)

    def _batches(
        self, requests: Sequence[Request], prompts: Sequence[list[int]], limits: Sequence[int]
    ) -> Iterator[list[int]]:
        """Yield positions that run together: one way of sampling, prompts of like length."""

        def sampling(position: int) -> tuple[str, float, float]:
            return requests[position].form, requests[position].temperature, requests[position].top_p

        def size(position: int) -> tuple[tuple[str, float, float], int, int]:
            return sampling(position), len(prompts[position]), limits[position]

        ready = sorted((position for position, limit in enumerate(limits) if limit >= 1), key=size)
        for _, alike in itertools.groupby(ready, sampling):
            positions = list(alike)
            for start in range(0, len(positions), self._batch_size):
                yield positions[start : start + self._batch_size]

    def _answers(
        self, requests: Sequence[Request], prompts: Sequence[list[int]], limits: Sequence[int]
    ) -> list[Completion]:
        ends, lines = set(self._prompts.form.ends), requests[0].form == "continue"
        completions = []
        for tokens, prompt in zip(self._generate(requests, prompts, limits), prompts, strict=True):
            ended = bool(tokens) and tokens[-1] in ends
            finish: Finish = "stop" if ended else "length"
            said = self._prompts.decode(tokens[:-1] if ended else tokens)
            if not ended:
                said = said.rstrip("\ufffd")  # the limit may have cut a character of several tokens
            if lines:
                said, finish = last_line(said, finish)
            completions.append(Completion(said, finish, prompt_tokens=len(prompt), tokens=len(tokens)))
        return completions

    def _generate(
        self, requests: Sequence[Request], prompts: Sequence[list[int]], limits: Sequence[int]
    ) -> list[list[int]]:
        """Return each prompt's new tokens, with the one that ended it."""
        greedy = requests[0].temperature == 0
        start = [[str(token) for token in prompt] for prompt in prompts]
        made: Counter[int] = Counter()

        def enough(step: Any) -> bool:  # asked after each token of an answer
            made[step.batch_id] += 1
            return bool(made[step.batch_id] >= limits[step.batch_id])

        with _SEED:
            try:
                self._runtime.set_random_seed(_batch_seed(requests))
                results = self._fresh_runtime().generate_batch(
                    start,
                    max_length=max(limits),
                    include_prompt_in_result=False,
                    end_token=list(self._prompts.ends(requests[0].form)),
                    return_end_token=True,
                    sampling_topk=1 if greedy else self._top_k,
                    sampling_topp=1.0 if greedy else requests[0].top_p,
                    sampling_temperature=1.0 if greedy else requests[0].temperature,
                    callback=None if min(limits) == max(limits) else enough,
                )
            except (RuntimeError, ValueError, MemoryError) as error:
                raise GeneratorError(
                    f"the local model cannot answer: batch_size={len(requests)} folder={self._folder}; a smaller "
                    "batch needs less memory, and a folder that was removed is made anew at the next start"
                ) from error
        return [list(result.sequences_ids[0]) for result in results]

    def _fresh_runtime(self) -> Any:
        """Return the model with threads of its own.

        The runtime reads the seed when one of its threads first draws, and then draws on. Loading anew is what makes
        a batch's answers depend on its own seed; it takes 1 % of a batch's time.
        """
        return self._runtime.Generator(str(self._folder), compute_type="int8", intra_threads=self._threads)


def _batch_seed(requests: Sequence[Request]) -> int:
    state = np.random.SeedSequence([request.seed for request in requests]).generate_state(1)
    return int(state[0]) & 0x7FFFFFFF


def _check(request: Request) -> None:
    if request.most_tokens < 1 or request.temperature < 0 or not 0 < request.top_p <= 1 or request.seed < 0:
        raise SpecError(
            "a request needs most_tokens of at least 1, temperature of at least 0, top_p in (0, 1] and seed of at "
            f"least 0: most_tokens={request.most_tokens} temperature={request.temperature} top_p={request.top_p} "
            f"seed={request.seed}"
        )
