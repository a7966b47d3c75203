"""Rows of tables repeat as their shares say; texts are different ones, with classes in their shares."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from evomix.experiment.selecting import draw_rows
from evomix.modalities.tabular.modality import build_table_modality
from evomix.modalities.tabular.schema import Column, Schema
from evomix.modalities.text.classes import Classes
from evomix.modalities.text.codec import TextCodec
from evomix.modalities.text.embedder import TextEmbedder
from evomix.modalities.text.hygiene import HygieneCounts
from evomix.modalities.text.modality import TextModality
from evomix.modalities.text.named_encoder import make_encoder
from evomix.modalities.text.records import classes as classes_of
from evomix.modalities.text.records import population, texts

PUBLIC = population((k % 2, f"{'good' if k % 2 else 'bad'} text number {k}") for k in range(20))


@dataclass
class Writer:
    """Varies the first half of its parents and leaves the others; writes fresh texts, of which some have no class."""

    made: int = 0

    def vary(self, parents, _scale, _rng):
        half = len(parents) // 2
        return population([(c, f"{t} again") if k < half else (c, t) for k, (c, t) in enumerate(parents)])

    def random(self, size, _rng):
        return population((k % 2, f"fresh {k}" if k % 3 else f"unclear {k}") for k in range(size))


def _texts(*, shares=None, fits=None, model: Any = None):
    mood = Column("mood", "category", values=("bad", "good"), shares=shares)
    text = Column("text", "text")
    classes = Classes.of(mood)
    codec = TextCodec(Schema((text, mood)), text, classes)
    embedder = TextEmbedder(make_encoder("tfidf", texts(PUBLIC)), classes=len(classes))
    return TextModality(codec, Writer(), embedder, PUBLIC, model, HygieneCounts(), fits)


def test_rows_of_tables_repeat_and_texts_do_not():
    rng = np.random.default_rng(0)
    shares = np.r_[0.5, np.full(50, 0.01)]
    table = build_table_modality(
        Schema((Column("x", "category", values=tuple("abc")),)), pa.table({"x": ["a", "b"]}), target=None
    )
    rows = draw_rows(shares, 20, rng, modality=table, candidates=np.zeros((51, 1)))
    assert np.bincount(rows)[0] == 10
    candidates = population((0, f"text {k}") for k in range(51))
    rows = draw_rows(shares, 20, rng, modality=_texts(), candidates=candidates)
    assert np.bincount(rows).max() == 1
    assert 0 in rows


@pytest.mark.parametrize("few", [3, 200])
def test_classes_keep_the_shares_of_the_schema_also_where_one_has_few_candidates(few):
    modality = _texts(shares=(0.5, 0.5))
    candidates = population([(1, f"good {k}") for k in range(few)] + [(0, f"bad {k}") for k in range(300)])
    votes = np.random.default_rng(1).dirichlet(np.ones(len(candidates)))
    shares = modality.balanced(votes, candidates)
    rows = draw_rows(shares, 40, np.random.default_rng(2), modality=modality, candidates=candidates)
    counts = np.bincount(rows, minlength=len(candidates))
    assert counts[:few].sum() == counts[few:].sum() == 20
    assert counts[few:].max() == 1
    assert counts[:few].min() >= (1 if few < 20 else 0)
    assert counts[:few].max() == 1 or few < 20


def test_first_texts_that_do_not_read_like_their_class_are_no_candidates():
    def fits(classes, found):
        assert len(classes) == len(found)
        return ["unclear" not in text and not text.endswith("7") for text in found]

    every, checked = _texts().first(40, np.random.default_rng(0)), _texts(fits=fits).first(40, np.random.default_rng(0))
    assert sum("unclear" in text for text in texts(every)) > 0
    assert set(texts(checked)) == {text for text in texts(every) if "unclear" not in text and not text.endswith("7")}


def test_a_class_of_which_no_text_passes_keeps_its_candidates():
    def fits(classes, _texts):
        return [position == 1 for position in classes]

    every, checked = _texts().first(40, np.random.default_rng(0)), _texts(fits=fits).first(40, np.random.default_rng(0))
    assert (np.bincount(classes_of(checked)) == np.bincount(classes_of(every))).all()


def test_the_user_is_told_where_nothing_checks_the_labels_of_a_model():
    some = population([(0, "one text"), (1, "another text")])
    assert not _texts().remarks(some)  # recombined: no model that could write another class
    assert "no public text has a label" in _texts(model=object()).remarks(some)[0]
    assert not _texts(model=object(), fits=lambda classes, _: [True] * len(classes)).remarks(some)
