"""The packaged sentence encoder: all-MiniLM-L6-v2 on CTranslate2, in float32, in this process.

A private text's vector decides its vote, so nothing but that text may move it. A matrix product with another number
of rows may take another path and round otherwise: a text's last bits would depend on its companions, a near-tie
between two candidates would flip, and sensitivity 1 would be false. So every text runs in a block whose shape its own
length decides: as many rows as bring the block to 256 word pieces, all of that length, nothing padded, in one thread.
Rows without a text repeat one. What is left is a text's place among the rows; that it does not matter is checked at
the start, and where it does, every text runs alone.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evomix.core.errors import EnvironmentFailure
from evomix.modalities.text.ctranslate2_runtime import load, load_runtime, thread_count
from evomix.modalities.text.minilm_conversion import TOKENIZER, minilm_conversion
from evomix.modalities.text.packaged import ENCODER

WIDTH: Final = 384
MOST_PIECES: Final = 256
_BLOCK_PIECES: Final = 256  # of all rows together; fewer cost speed (measured: 128 cost 14 %, 256 cost 6 %)
_SLICE: Final = 1024  # texts cut into pieces at a time


class MiniLM:
    """Sentences as unit vectors of 384 numbers: the mean of their word pieces' vectors, at unit length.

    Only the first 256 word pieces of a text count. An empty text has a vector too. Words that the tokenizer uses as
    marks, such as ``[SEP]``, are plain text. Nothing of a text is kept.

    Args:
        threads: blocks encoded at once; by default the cores of this process.

    Raises:
        EnvironmentFailure: the model's package or its runtime is not installed, or cannot be converted.
        SpecError: fewer than one thread.
    """

    def __init__(self, *, threads: int | None = None) -> None:
        self._threads = thread_count(threads)
        runtime = load_runtime()
        folder = minilm_conversion(ENCODER.require()).converted()
        self._tokenizer = load("tokenizers").Tokenizer.from_file(str(folder / TOKENIZER))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MOST_PIECES)
        self._tokenizer.encode_special_tokens = True
        try:
            # One thread a block: more would divide its sums differently.
            self._encoder: Any = runtime.Encoder(
                str(folder), compute_type="float32", inter_threads=self._threads, intra_threads=1
            )
        except (RuntimeError, ValueError) as error:
            raise EnvironmentFailure(f"the converted sentence encoder cannot be loaded: folder={folder}") from error
        self._block_pieces = _BLOCK_PIECES if self._places_are_alike() else 1

    @property
    def name(self) -> str:
        """What tells this encoder from others."""
        return "all-MiniLM-L6-v2 float32, mean of at most 256 word pieces, unit length"

    @property
    def local(self) -> bool:
        """Texts stay in this process."""
        return True

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, float32 (n, 384); each depends on its own text alone, bit by bit."""
        pieces = self._pieces(texts)
        vectors = np.empty((len(texts), WIDTH), np.float32)

        def place(rows: list[int]) -> None:
            whole = self._rows(len(pieces[rows[0]]))
            filled = rows + rows[:1] * (whole - len(rows))
            vectors[rows] = self._block([pieces[row] for row in filled])[: len(rows)]

        with ThreadPoolExecutor(self._threads) as pool:
            for _ in pool.map(place, self._blocks(pieces)):
                pass
        return vectors

    def _pieces(self, texts: Sequence[str]) -> list[list[int]]:
        pieces: list[list[int]] = []
        for start in range(0, len(texts), _SLICE):
            # Half characters of a broken text are read as question marks.
            whole = [text.encode("utf-8", "replace").decode("utf-8") for text in texts[start : start + _SLICE]]
            pieces += [encoding.ids for encoding in self._tokenizer.encode_batch(whole)]
        return pieces

    def _rows(self, length: int) -> int:
        return -(-self._block_pieces // length)

    def _blocks(self, pieces: Sequence[list[int]]) -> list[list[int]]:
        """Return positions of texts of one length each, at most a block's rows together."""
        alike: dict[int, list[int]] = {}
        for position, cut in enumerate(pieces):
            alike.setdefault(len(cut), []).append(position)
        return [
            positions[start : start + self._rows(length)]
            for length, positions in alike.items()
            for start in range(0, len(positions), self._rows(length))
        ]

    def _block(self, pieces: list[list[int]]) -> NDArray[np.float32]:
        states = np.asarray(self._encoder.forward_batch(pieces).last_hidden_state)
        means = states.mean(axis=1, dtype=np.float64)
        vectors: NDArray[np.float32] = (means / np.linalg.norm(means, axis=1, keepdims=True)).astype(np.float32)
        return vectors

    def _places_are_alike(self) -> bool:
        """Return whether rows in reverse order have the same vectors, bit by bit; rows of arbitrary public words."""
        words = np.random.default_rng(0).integers(2000, 20000, (2 * _BLOCK_PIECES,))
        for length in (5, 40):
            rows = words[: -(-_BLOCK_PIECES // length) * length].reshape(-1, length).tolist()
            if not np.array_equal(self._block(rows), self._block(rows[::-1])[::-1]):
                return False
        return True
