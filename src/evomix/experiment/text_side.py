"""The public side of a run on texts: schema, model, encoder, and what is made of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evomix.core.errors import SpecError
from evomix.experiment.model_choice import make_model
from evomix.experiment.public_side import PublicTables, read_public, schema_of
from evomix.experiment.spec import RunSpec
from evomix.modalities.tabular.values import is_empty, storage
from evomix.modalities.text.balancing import with_every_class
from evomix.modalities.text.classes import Classes
from evomix.modalities.text.codec import Placing, TextCodec
from evomix.modalities.text.embedder import TextEmbedder
from evomix.modalities.text.encoder_check import check_encoder
from evomix.modalities.text.journal import Journal, JournaledModel
from evomix.modalities.text.modality import TextModality, build_text_modality
from evomix.modalities.text.named_encoder import DEFAULT, make_encoder
from evomix.modalities.text.records import texts as texts_of
from evomix.modalities.text.schema import infer_text_schema, roles_of

JOURNAL_FILE: Final = "answers.jsonl"


@dataclass(frozen=True, slots=True)
class TextSide:
    """What a run on texts knows without a private record.

    Attributes:
        tables: schema and public rows.
        modality: of public texts.
        placing: takes private texts to points.
    """

    tables: PublicTables
    modality: TextModality
    placing: Placing


def open_texts(
    spec: RunSpec,
    folder: Path | None,
    progress: Callable[[str, int, int], None] | None,
    *,
    read: Sequence[pa.Table] | None = None,
) -> TextSide:
    """Read the public texts, find the roles of the columns, and make ready model and encoder.

    Args:
        spec: what the user asked for.
        folder: where answers of the model are kept; ``None`` keeps them in memory.
        progress: told how many texts of how many are made.
        read: the public tables, where they were read already.

    Raises:
        SpecError: a setting does not fit; the encoder is not local.
        SchemaError: names, types or roles do not agree.
        InputFileError: a file cannot be read.
        EnvironmentFailure: a model is not installed.
    """
    infer = partial(infer_text_schema, text=spec.text_column, target=spec.target)
    label = _label_of(spec)
    tables = read_public(
        spec.public_tables,
        spec.schema,
        unit=spec.unit,
        encoding=spec.public_encoding,
        infer=infer,
        may_lack=label,
        read=read,
    )
    roles = roles_of(tables.schema, target=spec.target)
    if spec.text_column not in (None, roles.text):
        raise SpecError(f"text_column={spec.text_column!r} is not of type 'text' in the schema; {roles.text!r} is")
    classes = Classes.of(roles.label)
    codec = TextCodec(tables.schema, roles.text, classes)
    public = None if tables.rows is None else codec.encode(tables.rows)
    labelled = None
    if public is not None and tables.rows is not None and roles.label is not None:
        labelled = _labelled(tables.rows.column(roles.label.name))
        public = with_every_class(public, labelled, len(classes))
    encoder = make_encoder(spec.embedder or DEFAULT, None if public is None else texts_of(public))
    if not encoder.local:
        raise SpecError(
            f"embedder={spec.embedder!r} sends texts to another machine; private texts never leave this one"
        )
    check_encoder(encoder)
    embedder = TextEmbedder(encoder, classes=len(classes))
    journal = Journal(None if folder is None else folder / JOURNAL_FILE)
    model = make_model(spec, already=journal.bill or (0, 0, 0.0))
    told = None if progress is None else partial(progress, "writing texts")
    asked = None if model is None else JournaledModel(model, journal, told=told)
    modality = build_text_modality(
        codec, embedder, public, labelled=labelled, model=asked, prompts=spec.prompts, domain=spec.domain
    )
    return TextSide(tables, modality, Placing(codec, embedder))


def _label_of(spec: RunSpec) -> str | None:
    """Return the label column that a given schema declares, which public tables may lack."""
    if spec.schema is None:
        return None
    label = roles_of(schema_of(spec.schema, unit=spec.unit), target=spec.target).label
    return None if label is None else label.name


def _labelled(cells: pa.ChunkedArray) -> NDArray[np.bool_]:
    """Return which cells hold anything, bool (m,)."""
    return ~is_empty(storage(cells))
