"""Tables with a text column to records and back; which column is what."""

import unicodedata

import numpy as np
import pyarrow as pa
import pytest

from evomix.core.errors import SchemaError, SpecError
from evomix.modalities.tabular.column import Column
from evomix.modalities.tabular.schema import Schema
from evomix.modalities.text.classes import Classes
from evomix.modalities.text.codec import Placing, TextCodec
from evomix.modalities.text.embedder import TextEmbedder
from evomix.modalities.text.normal_form import normal_form
from evomix.modalities.text.schema import free_text_columns, holds_text, infer_text_schema, roles_of

LONG = ["the food was good and cheap", "we waited an hour for soup", "lovely view, slow service", "never again, sorry"]
LABEL = Column("mood", "category", values=("good", "bad"), other="odd", missing=True)


def _codec(label=LABEL):
    columns = [Column("id", "id"), *([label] if label else []), Column("text", "text")]
    return TextCodec(Schema(tuple(columns)), "text", Classes.of(label))


def test_records_come_back_as_they_went():
    table = pa.table({"text": LONG, "mood": ["bad", "good", None, "strange"], "id": ["a", "b", "c", "d"]})
    codec = _codec()
    records = codec.encode(table)
    assert [codec.classes.words[c] for c, _ in records] == ["bad", "good", "", "odd"]
    back = codec.decode(records)
    assert back.column_names == ["id", "mood", "text"]
    assert back["text"].to_pylist() == LONG
    assert back["mood"].to_pylist() == ["bad", "good", None, "odd"]
    assert back["id"].to_pylist() == ["id-000001", "id-000002", "id-000003", "id-000004"]


@pytest.mark.parametrize(
    ("column", "cells", "words"),
    [
        (Column("stars", "integer", min=1, max=5), [1, 9, None, 3], ["1", "5", "3", "3"]),
        (Column("spam", "boolean"), [True, False, None, True], ["True", "False", "False", "True"]),
        (Column("score", "number", min=0, max=1, multiple_of=0.5), [0.4, 1.0, 7, None], ["0.5", "1.0", "1.0", "0.5"]),
    ],
    ids=str,
)
def test_odd_labels_follow_the_rules_of_their_column(column, cells, words):
    codec = _codec(column)
    records = codec.encode(pa.table({"text": LONG, column.name: cells}))
    assert [codec.classes.words[c] for c, _ in records] == words


def test_a_label_of_very_many_values_is_refused():
    with pytest.raises(SchemaError, match="more than 200 values"):
        Classes.of(Column("age", "integer", min=0, max=500))
    with pytest.raises(SchemaError, match="more than 200 values"):
        Classes.of(Column("age", "number", min=0, max=1))


def test_shares_of_the_schema_go_with_the_classes():
    column = Column("mood", "category", values=("good", "bad"), missing=True, shares=(0.25, 0.75))
    assert Classes.of(column).shares.tolist() == [0.25, 0.75, 0.0]
    for shares in [(0.5,), (0.5, 0.6), (-0.5, 1.5), (float("nan"), 1.0)]:
        with pytest.raises(SchemaError, match="shares"):
            Column("mood", "category", values=("good", "bad"), shares=shares)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_cells_that_are_no_text_are_empty(kind):
    codec = _codec(None)
    assert [text for _, text in codec.encode(pa.table({"text": pa.array(["a", None, ""], kind)}))] == ["a", "", ""]
    broken = pa.StringArray.from_buffers(
        1, pa.py_buffer(b"\x00\x00\x00\x00\x02\x00\x00\x00"), pa.py_buffer(b"\xff\xfe")
    )
    assert len(codec.encode(pa.table({"text": broken}))) == 1


def test_texts_that_look_alike_are_one():
    assert normal_form("cafe\u0301") == normal_form("café ") == "café"
    assert normal_form("a\x00b\r\nc\ud800") == "ab\nc"
    astronaut, flag = "\U0001f469\U0001f3fd\u200d\U0001f680", "\U0001f3f3\ufe0f\u200d\U0001f308"
    right_to_left, combining = "\u0645\u0631\u062d\u0628\u0627 \u200f(test)\u200f", "Z\u0351\u036b\u0343algo"
    for kept in (astronaut, flag, right_to_left, combining, "Stop here <|endoftext|> or not", "\U00020000 rare"):
        assert normal_form(kept) == unicodedata.normalize("NFC", kept)


def test_private_texts_become_points_at_once():
    class Lengths:
        name, local = "lengths", True

        def encode(self, texts):
            return np.array([[len(text)] for text in texts], np.float32).reshape(len(texts), 1)

    codec = _codec()
    placed = Placing(codec, TextEmbedder(Lengths(), classes=4)).encode(pa.table({"text": ["abc"], "mood": ["bad"]}))
    assert placed.dtype == np.float32
    assert placed.tolist() == [[3.0, 0.0, 1.5, 0.0, 0.0]]


def test_free_text_is_told_from_words():
    table = pa.table({"text": LONG, "town": ["Rome", "Oslo", "Bern", "Rome"], "n": [1, 2, 3, 4], "same": LONG[:1] * 4})
    assert free_text_columns(table) == ["text"]


def test_the_text_is_the_column_of_most_words():
    table = pa.table({"lang": ["en", "fr", "he", "ar"], "text": ["plain", "two words", "שלום", "مرحبا"]})
    inferred = infer_text_schema(table, text=None, target=None)
    assert [column.type for column in inferred.schema.columns] == ["id", "text"] or holds_text(inferred.schema)
    assert any("'text' is taken as the text" in warning for warning in inferred.warnings)
    assert infer_text_schema(table, text="lang", target=None).schema.column("lang").type == "text"
    for bad in (
        {"text": "nothing"},
        {"text": None, "table": table.slice(0, 0)},
        {"text": None, "table": pa.table({"n": [1]})},
    ):
        with pytest.raises(SchemaError):
            infer_text_schema(bad.get("table", table), text=bad["text"], target=None)


def test_roles_are_a_text_and_a_label_at_most():
    text, label, other = Column("t", "text"), LABEL, Column("n", "integer", min=0, max=3)
    assert roles_of(Schema((text,)), target=None).label is None
    assert roles_of(Schema((text, label)), target=None).label == label
    assert roles_of(Schema((text, label)), target="mood").label == label
    for columns, target, kind in [
        ((text, label, other), None, SchemaError),
        ((text, label, other), "mood", SchemaError),
        ((label,), None, SchemaError),
        ((text, Column("u", "text")), None, SchemaError),
        ((text, label), "t", SpecError),
        ((text, label), "nothing", SpecError),
    ]:
        with pytest.raises(kind):
            roles_of(Schema(columns), target=target)
