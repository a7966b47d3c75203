"""Texts with a topic each, and their parts in a simulation: private, held out, and a public pool of another mixture."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from evomix.core.arrays import IntArray, Population
from evomix.core.errors import InputFileError, SpecError
from evomix.formats.rows import open_rows

TOPIC_COLUMNS: Final = ("topic", "condition", "category", "label")
"""Columns that may hold the topic; the first that a table has is taken."""
WHAT_IS_NEEDED: Final = f"a column {', '.join(TOPIC_COLUMNS[:-1])} or {TOPIC_COLUMNS[-1]}, and columns of text"
TAKEN: Final = 0.85
"""Most of a topic's texts that are private or held out; the rest is for the pool."""
_LEAST_TOPICS: Final = 2
_LEAST_OF_A_TOPIC: Final = 10
_ENDS: Final = (".", "!", "?")


@dataclass(frozen=True, slots=True)
class Texts:
    """A set of distinct texts.

    Attributes:
        source: name of the file.
        sha256: of the file's bytes; None for a folder.
        texts: object (rows,) of str.
        topics: int64 (rows,), 0 for the topic with the most texts, ties by name.
        names: the topics' names, in that order.
    """

    source: str
    sha256: str | None
    texts: Population
    topics: IntArray
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Split:
    """The parts of a set of texts in one repetition.

    Attributes:
        private: object (n,) texts that vote.
        topics: int64 (n,), topic of each private text.
        held_out: object (m,) texts of the private mixture that never vote: what real texts reach.
        public: object (l,) the pool from which candidates are made.
    """

    private: Population
    topics: IntArray
    held_out: Population
    public: Population

    @property
    def size(self) -> int:
        """m, number of synthetic texts."""
        return len(self.held_out)


def read_texts(path: str | Path) -> Texts:
    """Read a table with a topic column; all other columns of strings, joined in order, are the text.

    Texts that occur twice are kept once.

    Args:
        path: any table that evomix reads. The rows are taken as public: what is made of them has no guarantee.

    Raises:
        InputFileError: the file cannot be read, has no such columns, or too few topics or texts.
    """
    rows = open_rows(path)
    topic = next((name for name in TOPIC_COLUMNS if name in rows.column_names), None)
    kinds = rows.storage_types()
    written = [name for name in rows.column_names if name not in TOPIC_COLUMNS and _is_text(kinds[name])]
    if topic is None or not written:
        raise InputFileError(f"Expected {WHAT_IS_NEEDED} in {str(path)!r}; found {', '.join(rows.column_names)}.")
    needed = (topic, *written)
    empty = pa.schema([(name, kinds[name]) for name in needed]).empty_table()
    table = pa.concat_tables([empty, *rows.batches(needed, size=1 << 16)])
    joined = [_joined(parts) for parts in zip(*(_strings(table, name) for name in written), strict=True)]
    first = {text: k for k, text in reversed(list(enumerate(joined))) if text}
    kept = sorted(first.values())
    names, topics = _ranked(np.array(_strings(table, topic), dtype=np.str_)[kept])
    sizes = np.bincount(topics, minlength=len(names))
    if len(names) < _LEAST_TOPICS or sizes.min() < _LEAST_OF_A_TOPIC:
        raise InputFileError(
            f"Expected {_LEAST_TOPICS} topics or more with {_LEAST_OF_A_TOPIC} distinct texts or more each in "
            f"column {topic} of {str(path)!r}; found others. Drop the rare ones."
        )
    file = Path(path)
    digest = hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else None
    return Texts(file.name, digest, _objects([joined[k] for k in kept]), topics, names)


def split_texts(texts: Texts, *, shifted: bool, ratio: int, seed: int) -> Split:
    """Return the parts of one repetition.

    Shifted: of the largest topic ``TAKEN`` is private or held out, of each next one half as many (at most ``TAKEN`` of
    it), and the pool has as many texts of one topic as of another. Otherwise parts of the same sizes have the
    mixture of the whole file.

    Args:
        texts: the set.
        shifted: whether the pool has another mixture of topics than the private texts.
        ratio: private texts a synthetic text, n/m, at least 1.
        seed: of the split.

    Raises:
        SpecError: fewer than 4 synthetic texts would be made.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(texts.texts))
    sizes = np.bincount(texts.topics)
    wanted = np.minimum(TAKEN * sizes[0] / 2.0 ** np.arange(len(sizes)), TAKEN * sizes).astype(np.int64)
    each = int((sizes - wanted).min())
    place = _places(texts.topics[order])  # how many of its topic stand before each text
    taken = place < wanted[texts.topics[order]]
    pool = ~taken & (place - wanted[texts.topics[order]] < each)
    real, public = order[taken], order[pool]
    if not shifted:
        real, public = np.split(order[: len(real) + len(public)], [len(real)])
    real = rng.permutation(real)
    size = len(real) // (ratio + 1)
    if size < 4:
        raise SpecError(
            f"expected texts for 4 synthetic ones or more at ratio={ratio}, found {size}; give a larger file"
        )
    return Split(texts.texts[real[size:]], texts.topics[real[size:]], texts.texts[real[:size]], texts.texts[public])


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _strings(table: pa.Table, name: str) -> list[str]:
    column = pc.fill_null(pc.cast(table.column(name), pa.string()), "")
    return [str(value).strip() for value in column.to_pylist()]


def _joined(parts: tuple[str, ...]) -> str:
    """Return the parts as sentences, one after another."""
    kept = [part for part in parts if part]
    return " ".join([*(part if part.endswith(_ENDS) else f"{part}." for part in kept[:-1]), *kept[-1:]])


def _ranked(topics: NDArray[np.str_]) -> tuple[tuple[str, ...], IntArray]:
    names, where, counts = np.unique(topics, return_inverse=True, return_counts=True)
    order = np.lexsort((names, -counts))
    rank = np.empty(len(names), dtype=np.int64)
    rank[order] = np.arange(len(names))
    return tuple(str(names[k]) for k in order), rank[where]


def _objects(texts: list[str]) -> Population:
    return np.array(texts, dtype=object)


def _places(topics: IntArray) -> IntArray:
    """Return for each entry how many equal ones stand before it."""
    order = np.argsort(topics, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(topics))[:-1]])
    places = np.empty(len(topics), dtype=np.int64)
    places[order] = np.arange(len(topics)) - starts[topics[order]]
    return places
