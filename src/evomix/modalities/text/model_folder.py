"""A folder with a Hugging Face causal language model: that it is one, what tells it from others, and its prompts."""

import hashlib
import os
from pathlib import Path
from typing import Any

from evomix.core.errors import InputFileError
from evomix.modalities.text.chat_template import plain_template, read_template
from evomix.modalities.text.prompt_tokens import PromptForm, PromptTokens

_SMALL = 1_000_000


def stay_offline() -> None:
    """Keep the libraries that are about to be imported from looking for models or reporting use over the network."""
    for name in ("HF_HUB_OFFLINE", "HF_HUB_DISABLE_TELEMETRY", "VLLM_NO_USAGE_STATS", "DO_NOT_TRACK"):
        os.environ.setdefault(name, "1")


def model_folder(path: str | Path) -> Path:
    """Return a model's folder.

    Raises:
        InputFileError: it is no folder, or has no ``config.json``.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise InputFileError(
            f"model={path} is no folder; give the folder of a Hugging Face model (nothing is downloaded)"
        )
    if not (folder / "config.json").is_file():
        raise InputFileError(f"model={path} holds no config.json; give the folder that save_pretrained wrote")
    return folder


def folder_digest(folder: Path) -> str:
    """Return 12 hexadecimal digits that tell a model's files from others: of names, sizes and small files' bytes."""
    digest = hashlib.sha256()
    for path in sorted(entry for entry in folder.iterdir() if entry.is_file()):
        size = path.stat().st_size
        digest.update(f"{path.name}\0{size}\0".encode())
        if size <= _SMALL:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def folder_prompts(tokenizer: Any, *, ends: tuple[int, ...], most_tokens: int) -> PromptTokens:
    """Return what makes prompts for a model with a Hugging Face tokenizer.

    Uses the tokenizer's chat template where there is one. What is said never acts as a control token.

    Args:
        tokenizer: of ``transformers``, of the fast kind.
        ends: tokens that end an answer.
        most_tokens: prompt and answer together at most.

    Raises:
        InputFileError: the tokenizer is not of the fast kind, or its chat template cannot be used.
    """
    import tokenizers  # noqa: PLC0415  (comes with transformers)

    backend = getattr(tokenizer, "backend_tokenizer", None)
    if not isinstance(backend, tokenizers.Tokenizer):
        raise InputFileError("the model's folder needs a tokenizer of the fast kind (tokenizer.json)")
    said = tokenizers.Tokenizer.from_str(backend.to_str())  # a copy: the model's own stays as it is
    said.encode_special_tokens = True
    said.no_padding()
    said.no_truncation()
    control = {token.content: place for place, token in tokenizer.added_tokens_decoder.items() if token.special}
    template = tokenizer.chat_template
    if isinstance(template, str):
        form = read_template(
            template, first_token=str(tokenizer.bos_token or ""), last_token=str(tokenizer.eos_token or "")
        )
        first = None  # a template brings its own
    else:
        form = plain_template()
        begun = tokenizer("")["input_ids"]
        first = begun[0] if begun and begun[0] == tokenizer.bos_token_id else None
    return PromptTokens(said, PromptForm(form, control, first, ends, most_tokens, source=""))
