"""A causal language model in a folder, run by Hugging Face ``transformers`` on a GPU or the processor."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from evomix.core.errors import EnvironmentFailure, GeneratorError, InputFileError, SpecError
from evomix.modalities.text.language_model import Completion, Finish, Form, Request, last_line
from evomix.modalities.text.model_folder import folder_digest, folder_prompts, model_folder, stay_offline
from evomix.modalities.text.seeded_sampling import SeededSampling

_UNBOUNDED = 1_000_000


class TransformersModel:
    """Answers requests in batches of prompts of like length; nothing is downloaded, no code from the folder is run.

    Each request draws from its own seed: an answer does not depend on which requests share its batch, up to rounding in
    the model (a near-tie may flip). A batch that does not fit into memory is halved, and later ones are no larger.

    A prompt that leaves no room for an answer is answered with nothing, at the token limit.
    """

    def __init__(
        self, path: str | Path, *, batch_size: int = 32, device: str = "auto", form: Form | None = None
    ) -> None:
        """Load the model.

        Args:
            path: folder with ``config.json``, weights and tokenizer.
            batch_size: prompts at once at most.
            form: how it is asked; default "chat" where the tokenizer knows conversations, else "continue".
            device: as torch names it; ``auto``: a GPU where there is one, all of them with ``accelerate`` installed.

        Raises:
            SpecError: ``batch_size`` is below 1.
            InputFileError: the folder holds no causal language model that can be read.
            EnvironmentFailure: torch or transformers is not installed.
        """
        if batch_size < 1:
            raise SpecError(f"batch_size must be at least 1, found batch_size={batch_size}")
        folder = model_folder(path)
        self._torch, transformers = _libraries()
        self._tokenizer, self._model = _load(folder, transformers, self._torch, device)
        self._batch_size = batch_size
        config = self._model.config.get_text_config()
        self._prompts = folder_prompts(
            self._tokenizer,
            ends=_ends(self._model, self._tokenizer),
            most_tokens=getattr(config, "max_position_embeddings", None) or _UNBOUNDED,
        )
        self._form: Form = form or self._prompts.best_form
        self._generation = transformers.GenerationConfig
        dtype = str(self._model.dtype).removeprefix("torch.")
        self._name = f"transformers:{folder.resolve().name} files={folder_digest(folder)} {dtype}"

    @property
    def name(self) -> str:
        """Folder, what its files are, and the kind of numbers."""
        return self._name

    @property
    def form(self) -> Form:
        """How it is asked best."""
        return self._form

    def complete(self, requests: Sequence[Request]) -> Iterator[tuple[int, Completion]]:
        """Answer all requests; yield (position, answer) as each batch ends.

        Raises:
            GeneratorError: the model fails, or has no memory for one prompt.
        """
        prompts = [self._prompts.of(request) for request in requests]
        limits = [self._prompts.room(request, prompt) for request, prompt in zip(requests, prompts, strict=True)]
        for position, limit in enumerate(limits):
            if limit < 1 or not prompts[position]:
                yield position, Completion("", "length", len(prompts[position]))
        ready = [position for position, limit in enumerate(limits) if limit >= 1 and prompts[position]]
        # The longest first: what does not fit into memory shows at once.
        ready.sort(key=lambda place: (requests[place].form, limits[place], len(prompts[place])), reverse=True)
        while ready:
            form = requests[ready[0]].form  # lines end otherwise than conversations
            batch = [place for place in ready[: self._batch_size] if requests[place].form == form]
            tokens = self._generate(
                [requests[position] for position in batch],
                [prompts[position] for position in batch],
                max(limits[position] for position in batch),
            )
            if tokens is None:
                self._batch_size = len(batch) // 2
                continue
            ready = ready[len(batch) :]
            for position, row in zip(batch, tokens, strict=True):
                yield position, self._completion(row[: limits[position]], len(prompts[position]), requests[position])

    def _generate(self, requests: Sequence[Request], prompts: Sequence[list[int]], most: int) -> list[list[int]] | None:
        """Return each prompt's new tokens, padded; None where a batch of several does not fit into memory."""
        torch, device = self._torch, self._model.device
        ends = sorted(self._prompts.ends(requests[0].form))
        pad = self._tokenizer.pad_token_id if self._tokenizer.pad_token_id is not None else (ends or [0])[0]
        longest = max(map(len, prompts))
        ids = torch.tensor([[pad] * (longest - len(prompt)) + prompt for prompt in prompts], device=device)
        mask = torch.tensor([[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in prompts], device=device)
        # Defaults, so that the folder's own settings of sampling have no say: the draw is made by the processor.
        settings = self._generation(
            do_sample=False, num_beams=1, temperature=1.0, top_p=1.0, top_k=50, repetition_penalty=1.0,
            max_new_tokens=most, pad_token_id=pad, eos_token_id=ends or None,
        )  # fmt: skip
        try:
            with torch.inference_mode():
                made = self._model.generate(
                    input_ids=ids,
                    attention_mask=mask,
                    generation_config=settings,
                    logits_processor=[SeededSampling(requests, device=device)],
                )
        except RuntimeError as error:
            if not _is_out_of_memory(error, torch):
                raise GeneratorError(f"the model failed: {type(error).__name__}: {error}") from error
            if len(prompts) == 1:
                raise GeneratorError(
                    f"no memory for one prompt of {longest} tokens and {most} new ones; use a smaller model or texts"
                ) from error
        else:
            rows: list[list[int]] = made[:, longest:].tolist()
            return rows
        if torch.cuda.is_available():
            torch.cuda.empty_cache()  # outside of the handler, whose traceback holds the tensors
        return None

    def _completion(self, tokens: list[int], prompt_tokens: int, request: Request) -> Completion:
        ends = self._prompts.ends(request.form)
        length = next((place for place, token in enumerate(tokens) if token in ends), None)
        text = self._tokenizer.decode(tokens[:length], skip_special_tokens=True, clean_up_tokenization_spaces=False)
        finish: Finish = "length" if length is None else "stop"
        if request.form == "continue":
            text, finish = last_line(text, finish)
        if length is None:  # the limit may have cut a character of several tokens
            return Completion(text.rstrip("\ufffd"), finish, prompt_tokens, len(tokens))
        return Completion(text, finish, prompt_tokens, length + 1)


def _libraries() -> tuple[Any, Any]:
    stay_offline()
    try:
        import torch  # noqa: PLC0415  (optional)
        import transformers  # noqa: PLC0415  (optional)
    except ImportError as error:
        raise EnvironmentFailure(
            "a model in a folder needs torch and transformers: pip install torch transformers"
        ) from error
    return torch, transformers


def _load(folder: Path, transformers: Any, torch: Any, device: str) -> tuple[Any, Any]:
    spread = device == "auto" and torch.cuda.is_available() and transformers.utils.is_accelerate_available()
    logging = transformers.utils.logging
    bars = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        model = transformers.AutoModelForCausalLM.from_pretrained(
            folder,
            local_files_only=True,
            trust_remote_code=False,
            dtype="auto",
            **({"device_map": "auto"} if spread else {}),
        )
        if not spread:
            model = model.to(_device(device, torch))
    except Exception as error:  # whatever a foreign folder brings up
        raise InputFileError(
            f"model={folder} cannot be read as a causal language model on device={device} "
            f"({type(error).__name__}: {next(iter(str(error).splitlines()), '')}); give another folder or device"
        ) from error
    finally:
        if bars:
            logging.enable_progress_bar()
    return tokenizer, model.eval()


def _device(device: str, torch: Any) -> str:
    if device != "auto":
        return device
    return "cuda" if torch.cuda.is_available() else "cpu"


def _ends(model: Any, tokenizer: Any) -> tuple[int, ...]:
    """Return the tokens that end an answer: a chat model's may be several, and not the tokenizer's."""
    told = model.generation_config.eos_token_id
    ends = set(told if isinstance(told, list) else [told]) | {tokenizer.eos_token_id}
    return tuple(sorted(end for end in ends if end is not None))


def _is_out_of_memory(error: RuntimeError, torch: Any) -> bool:
    return isinstance(error, torch.OutOfMemoryError) or "allocate memory" in str(error)
