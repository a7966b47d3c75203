"""From a GGUF file of the llama architecture to a folder that CTranslate2 runs; no other library is needed.

The network: rotary positions, grouped attention heads, gated units with the SiLU function, root mean square norms
(Touvron et al. 2023, arXiv:2302.13971). GGUF keeps the rows of queries and keys in the order of interleaved rotation.
Weights are dequantised to float32 (4 bytes each in memory while converting) and quantised anew to int8, by rows.
"""

import hashlib
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from evomix.core.errors import InputFileError
from evomix.modalities.text.chat_template import plain_template, read_template
from evomix.modalities.text.conversion_cache import Conversion
from evomix.modalities.text.ctranslate2_runtime import load_runtime
from evomix.modalities.text.gguf_file import GgufFile
from evomix.modalities.text.gguf_tokenizer import control_tokens, text_tokenizer
from evomix.modalities.text.prompt_tokens import PromptForm, PromptTokens

VERSION: Final = "llama 1"


def llama_conversion(path: Path) -> Conversion:
    """Return how a GGUF file becomes a folder that CTranslate2 and ``PromptTokens`` read.

    Converting raises ``InputFileError`` if the file is damaged or no llama model.

    Raises:
        InputFileError: there is no such file.
    """
    if not path.is_file():
        raise InputFileError(f"a local model must be a GGUF file: path={path} is not a file")
    return Conversion(sources=(path,), version=VERSION, convert=partial(_convert, path))


def _convert(path: Path, folder: Path) -> None:
    file = GgufFile(path)
    _check(file)
    form = _prompt_form(file)
    PromptTokens(text_tokenizer(file), form).write(folder)
    try:
        spec = _network(file)
        spec.validate()
    except ValueError as error:  # sides of weights that do not fit together
        raise InputFileError(f"weights of a GGUF file do not make a llama network: path={path}") from error
    spec.optimize(quantization="int8")
    spec.save(str(folder))


def _check(file: GgufFile) -> None:
    """Refuse what this converter would turn into a model that talks nonsense."""
    kind = file.needed("general.architecture")
    if kind != "llama":
        raise InputFileError(
            f"a local model must be of the llama architecture: path={file.path} architecture={kind}; serve others "
            "behind an endpoint"
        )
    scaling = file.fact("llama.rope.scaling.type", "none")
    strange = {
        "mixture of experts": int(file.fact("llama.expert_count", 0)) > 0,
        f"rope scaling {scaling}": scaling not in {"none", "linear"},
        "rope factors": file.has("rope_freqs.weight") and not np.all(file.weights("rope_freqs.weight") == 1),
    }
    found = [name for name, there in strange.items() if there]
    if found:
        raise InputFileError(
            f"this kind of llama model cannot be converted: path={file.path} has={', '.join(found)}; serve it behind "
            "an endpoint"
        )


def _prompt_form(file: GgufFile) -> PromptForm:
    tokens = file.needed("tokenizer.ggml.tokens")
    control = control_tokens(file)
    first = file.fact("tokenizer.ggml.bos_token_id")
    last = file.fact("tokenizer.ggml.eos_token_id")
    marks = ["" if place is None else tokens[place] for place in (first, last)]
    source = file.fact("tokenizer.chat_template")
    template = plain_template() if source is None else read_template(source, first_token=marks[0], last_token=marks[1])
    sentencepiece = file.needed("tokenizer.ggml.model") == "llama"
    llama3 = str(file.fact("tokenizer.ggml.pre", "")).startswith("llama")
    begins = file.fact("tokenizer.ggml.add_bos_token", sentencepiece or llama3)
    named = (file.fact(f"tokenizer.ggml.{name}_token_id") for name in ("eos", "eot", "eom"))
    kinds = file.fact("tokenizer.ggml.token_type", [])
    # No control token belongs in an answer: wherever one comes, the model's turn is over.
    ends = {place for place in control.values() if kinds[place] == 3} | {int(end) for end in named if end is not None}
    with file.path.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    return PromptForm(
        template=template,
        control=control,
        first=int(first) if begins and first is not None else None,
        ends=tuple(sorted(ends)),
        most_tokens=int(file.needed("llama.context_length")),
        source=digest,
    )


def _network(file: GgufFile) -> Any:
    """Return the specification with all weights set; the words of its vocabulary are the tokens' positions."""
    ct2 = load_runtime()
    fact = partial(_number, file)
    heads, width = fact("attention.head_count"), fact("embedding_length")
    pairs = fact("attention.head_count_kv", heads)
    side = fact("attention.key_length", width // heads)
    scaled = file.fact("llama.rope.scaling.type", "none") == "linear"
    spec = ct2.specs.TransformerDecoderModelSpec.from_config(
        fact("block_count"),
        heads,
        activation=ct2.specs.Activation.SWISH,
        ffn_glu=True,
        rms_norm=True,
        rotary_dim=fact("rope.dimension_count", side),
        rotary_interleave=True,
        rotary_scaling_type=ct2.specs.RotaryScalingType.Linear if scaled else None,
        rotary_scaling_factor=float(file.fact("llama.rope.scaling.factor", 1.0)),
        rotary_base=float(file.fact("llama.rope.freq_base", 10000.0)),
        num_heads_kv=None if pairs == heads else pairs,
        head_dim=None if side * heads == width else side,
    )
    decoder = spec.decoder
    decoder.scale_embeddings = False
    decoder.embeddings.weight = file.weights("token_embd.weight")
    decoder.layer_norm.gamma = file.weights("output_norm.weight")
    tied = not file.has("output.weight")
    decoder.projection.weight = decoder.embeddings.weight if tied else file.weights("output.weight")
    for place, layer in enumerate(decoder.layer):
        _set_layer(file, f"blk.{place}", layer)
    words = [str(place) for place in range(len(decoder.embeddings.weight))]
    spec.register_vocabulary(words)
    spec.config.bos_token = spec.config.eos_token = spec.config.unk_token = words[0]  # prompts name their own
    spec.config.layer_norm_epsilon = float(file.needed("llama.attention.layer_norm_rms_epsilon"))
    return spec


def _number(file: GgufFile, key: str, default: int | None = None) -> int:
    value = file.fact(f"llama.{key}", default)
    return int(file.needed(f"llama.{key}") if value is None else value)


def _set_layer(file: GgufFile, block: str, layer: Any) -> None:
    attention, units = layer.self_attention, layer.ffn
    attention.layer_norm.gamma = file.weights(f"{block}.attn_norm.weight")
    _set_linear(file, attention.linear[0], *(f"{block}.attn_{part}" for part in "qkv"))
    _set_linear(file, attention.linear[1], f"{block}.attn_output")
    units.layer_norm.gamma = file.weights(f"{block}.ffn_norm.weight")
    _set_linear(file, units.linear_0, f"{block}.ffn_gate")
    _set_linear(file, units.linear_0_noact, f"{block}.ffn_up")
    _set_linear(file, units.linear_1, f"{block}.ffn_down")


def _set_linear(file: GgufFile, linear: Any, *names: str) -> None:
    """Set one linear map; several of the file's are stacked, their outputs side by side."""
    linear.weight = np.concatenate([file.weights(f"{name}.weight") for name in names])
    if file.has(f"{names[0]}.bias"):
        linear.bias = np.concatenate([file.weights(f"{name}.bias") for name in names])
