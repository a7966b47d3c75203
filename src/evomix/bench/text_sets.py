"""The data of the text benchmarks: who votes, who scores, what is public.

Public texts may have no label, or another one than the private ones. They are lent labels, at random, by the class
shares of a small part of the private table that is set apart as public and used for nothing else. Public texts then
say nothing of what a class looks like: that is for the votes to find out.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evomix.bench.catalog import Entry
from evomix.bench.files import find_files
from evomix.bench.splitting import split_groups
from evomix.core.arrays import IntArray
from evomix.core.errors import InputFileError, SpecError
from evomix.evaluation.text.downstream import Task
from evomix.formats.table import read_table
from evomix.modalities.text.codec import read_texts

TEST_SHARE: Final = 0.3
APART_SHARE: Final = 0.05
"""Share of the private table that is set apart as public where public texts have no labels."""
SPLIT_SEED: Final = 0
"""One split for all: what varies between repetitions is the run."""
TEXT: Final = "text"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TextTables:
    """A text benchmark's tables, each with a text and a target; the private one may have a unit as well.

    Attributes:
        private: what votes.
        test: what scores, and nothing else sees.
        public: what anyone may have.
        target: the label's column.
        task: what the label is for models.
        unit: column of the private unit; None for a record each.
        domain: what the texts are, for a language model.
        prompts: the template for one.
        notes: sentences for readers.
    """

    private: pa.Table
    test: pa.Table
    public: pa.Table
    target: str
    task: Task
    unit: str | None
    domain: str
    prompts: str
    notes: tuple[str, ...] = ()


def read_text_tables(entry: Entry, folder: str | Path) -> TextTables:
    """Read and split the tables of a benchmark.

    Raises:
        SpecError: a file is not in ``folder``, or too small to be split.
        InputFileError: a file lacks a column or cannot be read.
    """
    files = find_files(folder, entry.files, who=entry.name)
    return _READERS[entry.name]({name: read_table(path) for name, path in files.items()})


def _sentiment(tables: Mapping[str, pa.Table]) -> TextTables:
    table = _columns(tables, "uci_sentiment.parquet", ("text", "positive", "source"))
    is_private = pc.equal(table.column("source"), "yelp")
    rows, public = (table.filter(mask).select(["text", "positive"]) for mask in (is_private, pc.invert(is_private)))
    test, private = (rows.take(part) for part in _split(rows, TEST_SHARE))
    return TextTables(
        private, test, public, "positive", "classification", None, "short sentences from reviews", "reviews"
    )


def _medical(tables: Mapping[str, pa.Table]) -> TextTables:
    rows = _columns(tables, "medical_abstracts.parquet", ("text", "condition"))
    texts = _columns(tables, "pubmedqa_abstracts.parquet", ("text",))
    test, apart, private = (rows.take(part) for part in _split(rows, TEST_SHARE, APART_SHARE))
    public = texts.append_column("condition", _lent(apart, "condition", texts.num_rows))
    domain = "abstracts of medical research papers"
    return TextTables(
        private, test, public, "condition", "classification", None, domain, "medical_abstracts", (_note(apart),)
    )


def _instruments(tables: Mapping[str, pa.Table]) -> TextTables:
    rows = _columns(tables, "amazon_instruments.parquet", ("text", "rating", "user"))
    snippets = _columns(tables, "rt_polarity.parquet", ("text", "positive"))
    parts = split_groups(rows.column("user").to_pylist(), (TEST_SHARE, APART_SHARE), seed=SPLIT_SEED)
    test, apart, private = (rows.take(part) for part in parts)
    positive = np.asarray(snippets.column("positive")) == 1
    ratings = np.empty(len(positive), np.int64)
    for liked, of in ((True, (4, 5)), (False, (1, 2, 3))):
        among = apart.filter(pc.is_in(apart.column("rating"), value_set=pa.array(of, apart.column("rating").type)))
        ratings[positive == liked] = np.asarray(_lent(among, "rating", int((positive == liked).sum())))
    public = snippets.select(["text"]).append_column("rating", pa.array(ratings))
    note = f"{_note(apart)} Positive snippets are lent 4 or 5, negative ones 1 to 3."
    domain = "customer reviews of musical instruments and accessories"
    return TextTables(private, test, public, "rating", "regression", "user", domain, "reviews", (note,))


def _sms(tables: Mapping[str, pa.Table]) -> TextTables:
    rows = _columns(tables, "sms_spam.parquet", ("text", "label"))
    news = _columns(tables, "ag_news_7600.parquet", ("title",)).rename_columns([TEXT])
    test, apart, private = (rows.take(part) for part in _split(rows, TEST_SHARE, APART_SHARE))
    public = news.append_column("label", _lent(apart, "label", news.num_rows))
    domain = "text messages sent from mobile phones; the label says whether they are spam"
    return TextTables(private, test, public, "label", "classification", None, domain, "general", (_note(apart),))


_READERS: Final[Mapping[str, Callable[[Mapping[str, pa.Table]], TextTables]]] = {
    "text-sentiment": _sentiment,
    "text-medical": _medical,
    "text-instruments": _instruments,
    "text-sms": _sms,
}


def _columns(tables: Mapping[str, pa.Table], name: str, columns: Sequence[str]) -> pa.Table:
    """Return the columns of a table, without rows that miss one of them, the first of which is the text."""
    table = tables[name]
    if lacking := [column for column in columns if table.column_names.count(column) != 1]:
        raise InputFileError(f"{name} must have the columns {', '.join(columns)}; it lacks {', '.join(lacking)}")
    table = table.select(list(columns)).drop_null()
    return table.filter(pa.array([bool(text) for text in read_texts(table, columns[0])]))


def _split(rows: pa.Table, *shares: float) -> tuple[IntArray, ...]:
    """Split rows so that copies of a text are on one side."""
    return split_groups(read_texts(rows, TEXT), shares, seed=SPLIT_SEED)


def _lent(apart: pa.Table, target: str, count: int) -> pa.Array:
    """Return ``count`` labels drawn by their shares among the rows that were set apart."""
    labels = apart.column(target).combine_chunks()
    if not len(labels):
        raise SpecError(f"expected some {target!r} in the part set apart for class shares, found none; give more rows")
    drawn = np.random.default_rng(SPLIT_SEED).integers(len(labels), size=count)
    return labels.take(pa.array(drawn))


def _note(apart: pa.Table) -> str:
    return (
        f"Public texts have no label of this kind: they are lent one at random, by the class shares of "
        f"{apart.num_rows} private rows that were set apart as public and used for nothing else."
    )


def labels_of(table: pa.Table, target: str, task: Task) -> np.ndarray[Any, Any]:
    """Return a target as class names, object (n,) with None where missing, or float64 (n,) with NaN."""
    cells = table.column(target).to_pylist()
    if task == "regression":
        return np.array([np.nan if cell is None else float(cell) for cell in cells], np.float64)
    found = np.empty(len(cells), object)
    found[:] = [None if cell is None else str(cell) for cell in cells]
    return found
