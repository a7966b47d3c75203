"""A sentence encoder from a model folder, run by transformers: the mean of the last layer's vectors."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray
from evomix.core.errors import EnvironmentFailure, SpecError
from evomix.modalities.text.model_folder import folder_digest, stay_offline

_MOST_TOKENS: Final = 512


@dataclass(frozen=True, slots=True, eq=False)
class FolderEncoder:
    """A model of a local folder, as ``save_pretrained`` writes it; nothing is fetched.

    Texts are run one at a time: in a batch, the lengths of the others would decide how a text is padded, and padding
    moves the last digits of its vector. Texts beyond 512 tokens, or what the model takes, are cut.

    Attributes:
        name: the folder's name, and what tells its files from others.
    """

    name: str
    _tokenizer: Any
    _model: Any

    @classmethod
    def load(cls, folder: str | Path) -> "FolderEncoder":
        """Load tokenizer and model.

        Raises:
            SpecError: the folder holds no model that transformers knows.
            EnvironmentFailure: torch or transformers is not installed.
        """
        stay_offline()
        try:
            from transformers import AutoModel, AutoTokenizer  # noqa: PLC0415  (optional, and seconds to load)
        except ImportError as error:
            raise EnvironmentFailure(
                f"expected torch and transformers to run the model of --embedder={str(folder)!r}, found {error}; "
                "pip install torch transformers, or use --embedder minilm"
            ) from None
        try:
            tokenizer = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
            model = AutoModel.from_pretrained(str(folder), local_files_only=True).eval()
        except (OSError, ValueError, KeyError) as error:
            raise SpecError(
                f"expected a folder with a model and its tokenizer, found --embedder={str(folder)!r}: "
                f"{str(error).splitlines()[0] if str(error) else type(error).__name__}"
            ) from None
        place = Path(folder).resolve()
        return cls(f"{place.name} files={folder_digest(place)}", tokenizer, model)

    @property
    def local(self) -> bool:
        """Always: the model runs in this process."""
        return True

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, float32 (n, k)."""
        import torch  # noqa: PLC0415

        width = int(self._model.config.hidden_size)
        found = np.empty((len(texts), width), np.float32)
        longest = min(_MOST_TOKENS, int(getattr(self._model.config, "max_position_embeddings", _MOST_TOKENS)))
        with torch.inference_mode():
            for row, text in enumerate(texts):
                tokens = self._tokenizer(text, return_tensors="pt", truncation=True, max_length=longest)
                # A tokenizer without marks gives some texts, such as an empty one, no token at all.
                mean = self._mean(tokens) if tokens["input_ids"].numel() else np.ones(width)
                length = float(np.linalg.norm(mean))
                found[row] = mean / length if length > 0.0 else 1.0 / np.sqrt(width)
        return found

    def _mean(self, tokens: Any) -> FloatArray:
        return np.asarray(self._model(**tokens).last_hidden_state[0].double().mean(dim=0).numpy(), np.float64)
