"""Evaluation of tables of texts: which column holds them, what makes vectors of them, what is predicted."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from evomix.core.arrays import FloatArray
from evomix.core.errors import EnvironmentFailure, SchemaError, SpecError
from evomix.evaluation.text.canaries import Canaries, CanarySet, measure_canaries
from evomix.evaluation.text.evaluate import Corpora, Target, evaluate_texts
from evomix.evaluation.text.fine_tuning import FineTunedLearner
from evomix.evaluation.text.learners import LinearLearner
from evomix.evaluation.text.text_set import TextSet
from evomix.experiment.common_schema import as_schema
from evomix.experiment.text_targets import TASKS, TextTargets, read_targets
from evomix.formats.table import read_table
from evomix.modalities.tabular.column import BOOLEAN_VALUES
from evomix.modalities.tabular.values import parse_booleans
from evomix.modalities.text.codec import read_texts
from evomix.modalities.text.language_model import SentenceEncoder
from evomix.modalities.text.named_encoder import DEFAULT, make_encoder
from evomix.modalities.text.schema import free_text_columns, holds_text

MOST_EMBEDDED: Final = 20_000
"""Texts of each table that vectors are made of; copies are searched among all texts."""
MOST_BESIDE: Final = 2
"""Columns beside a column of free text up to which a table is taken for one of texts without being told."""
PLANTED: Final = "planted"
"""Column of a table of canaries that says which were planted."""


@dataclass(frozen=True, slots=True)
class TextOptions:
    """How texts are evaluated; the fields are those of :func:`evomix.evaluate`."""

    embedder: str | SentenceEncoder | None = None
    classifier: str | Path | None = None
    task: str = "auto"
    canaries: Any = None

    def __post_init__(self) -> None:
        if self.task not in TASKS:
            raise SpecError(f"expected task among {', '.join(TASKS)}; found task={self.task!r}")

    def refuse_for_tables(self) -> None:
        """Refuse options that mean nothing without a text column.

        Raises:
            SpecError: one was given.
        """
        if self.given:
            raise SpecError(
                f"{self.given[0]} is for texts, and no column of these tables, or more than one, reads as texts; name "
                "it (--text-column)"
            )

    @property
    def given(self) -> list[str]:
        """Names of the options that were given: each says that the tables are about texts."""
        named = [name for name in ("embedder", "classifier", "canaries") if getattr(self, name) is not None]
        return named + ([] if self.task == "auto" else ["task"])


def find_text_column(
    tables: Mapping[str, pa.Table], *, named: str | None, schema: Any, options: TextOptions
) -> str | None:
    """Return the column of texts; None where the tables are not about texts.

    It is the one that is named, or of type text in the schema. Else it is the one column of the public table, or of the
    synthetic one without it, that reads as free text: the real table decides nothing. Where no option says that the
    tables are about texts, at most two columns may be beside it.

    Raises:
        SchemaError: the column is not once in every table, or the schema has several of them.
    """
    name = named if named is not None else _noticed(tables, schema, told=bool(options.given))
    if name is None:
        return None
    for role, table in tables.items():
        if table.column_names.count(name) != 1:
            raise SchemaError(
                f"expected one text column {name!r} in the {role} table; it has "
                f"{', '.join(map(repr, table.column_names))}"
            )
    return name


def evaluate_text_tables(
    tables: Mapping[str, pa.Table],
    text: str,
    *,
    target: str | None,
    schema: Any,
    seeds: int,
    geometry: bool,
    options: TextOptions,
) -> dict[str, Any]:
    """Measure a synthetic table of texts; arguments as in :func:`evomix.evaluate`. Costs ε = ∞ for the real people.

    Vectors are made of at most 20,000 texts of each table, drawn at random. Rows without a text are left out.

    Args:
        tables: "real", "synthetic" and perhaps "public".
        text: the column of texts.
        target: the column that models predict; the public table need not have it.
        schema: path, dict or Schema with the target's column, or None.
        seeds: splits of the real texts.
        geometry: whether to compare texts as points.
        options: of texts.

    Raises:
        SpecError: no such target or embedder, an embedder that is not local, a table without texts.
        SchemaError: tables that lack a column, or canaries without a column ``planted``.
        EnvironmentFailure: what runs the embedder or the classifier is not installed.
    """
    texts = {name: read_texts(table, text) for name, table in tables.items()}
    filled = {name: np.array([bool(one) for one in found], np.bool_) for name, found in texts.items()}
    for name, found in filled.items():
        if not found.any():
            raise SpecError(
                f"expected texts in column {text!r} of the {name} table, found none; there is nothing to read"
            )
    targets = None if target is None else read_targets(tables, target, text=text, schema=schema, task=options.task)
    corpora = {name: [one for one in found if one] for name, found in texts.items()}
    encoder = _encoder(options, corpora, text)
    rng = np.random.default_rng(0)
    sets = {name: _text_set(corpora[name], _targets(targets, name, filled[name]), encoder, rng) for name in tables}
    measured = evaluate_texts(
        sets["real"],
        sets["synthetic"],
        encoder=encoder.name,
        public=sets.get("public"),
        corpora=Corpora(corpora["real"], corpora["synthetic"], corpora.get("public", ())),
        target=None if targets is None else Target(targets.name, targets.task, _learner(options), seeds),
        canaries=None
        if options.canaries is None
        else _canaries(options.canaries, text, corpora["synthetic"], sets["synthetic"].vectors, encoder),
        points=geometry,
    ).to_dict()
    measured["warnings"] += [*_left_out(filled), *_beside(tables, text, target)]
    return measured


def _noticed(tables: Mapping[str, pa.Table], schema: Any, *, told: bool) -> str | None:
    if schema is not None:
        known = as_schema(schema)
        found = [column.name for column in known.columns if column.type == "text"] if holds_text(known) else []
        if len(found) > 1:
            raise SchemaError(
                f"expected one text column to evaluate, found {', '.join(map(repr, found))}; name one (--text-column)"
            )
        return found[0] if found else None
    shown = tables.get("public", tables["synthetic"])
    if not shown.num_rows or (shown.num_columns > 1 + MOST_BESIDE and not told):
        return None
    free = free_text_columns(shown)
    return free[0] if len(free) == 1 else None


def _encoder(options: TextOptions, corpora: Mapping[str, list[str]], text: str) -> SentenceEncoder:
    """Return the encoder; what it may learn from is the public texts, or the synthetic ones without them."""
    given = DEFAULT if options.embedder is None else options.embedder
    if not isinstance(given, str):
        encoder = given
    else:
        try:
            encoder = make_encoder(given, corpora.get("public", corpora["synthetic"]))
        except EnvironmentFailure as error:
            raise EnvironmentFailure(
                f"{error}. Or use --embedder tfidf, which needs nothing, or declare {text!r} as 'id' in a schema to "
                "compare the other columns alone"
            ) from None
    if not encoder.local:
        raise SpecError(
            f"expected an encoder that works in this process, found embedder={encoder.name!r}, which sends texts away; "
            "real texts must stay: use minilm, tfidf or a model folder"
        )
    return encoder


def _learner(options: TextOptions) -> LinearLearner | FineTunedLearner:
    return LinearLearner() if options.classifier is None else FineTunedLearner(str(options.classifier))


def _targets(targets: TextTargets | None, name: str, filled: np.ndarray[Any, Any]) -> Any:
    found = None if targets is None else targets.by_table.get(name)
    return None if found is None else found[filled]


def _text_set(texts: list[str], targets: Any, encoder: SentenceEncoder, rng: np.random.Generator) -> TextSet:
    rows = np.arange(len(texts))
    if len(texts) > MOST_EMBEDDED:
        rows = np.sort(rng.choice(len(texts), size=MOST_EMBEDDED, replace=False))
    drawn = [texts[row] for row in rows.tolist()]
    return TextSet(drawn, _vectors(encoder, drawn), None if targets is None else targets[rows])


def _vectors(encoder: SentenceEncoder, texts: list[str]) -> FloatArray:
    return np.asarray(encoder.encode(texts), np.float64)


def _canaries(given: Any, text: str, synthetic: list[str], vectors: FloatArray, encoder: SentenceEncoder) -> Canaries:
    table = read_table(given)
    if table.column_names.count(PLANTED) != 1:
        raise SchemaError(
            f"expected a column {PLANTED!r} of truths in the table of canaries; found "
            f"{', '.join(map(repr, table.column_names))}"
        )
    canaries = read_texts(table, text)
    planted = parse_booleans(table.column(PLANTED), spellings=BOOLEAN_VALUES)
    if np.isnan(planted).any():
        raise SchemaError(f"expected true or false in every row of {PLANTED!r} in the table of canaries")
    both = [[one for one, is_in in zip(canaries, planted, strict=True) if is_in == wanted] for wanted in (1.0, 0.0)]
    sets = [CanarySet(found, _vectors(encoder, found) if found else None) for found in both]
    return measure_canaries(sets[0], sets[1], synthetic, vectors)


def _left_out(filled: Mapping[str, np.ndarray[Any, Any]]) -> list[str]:
    """Return a sentence for synthetic and public rows without a text; of real rows nothing is said."""
    return [
        f"{int((~filled[name]).sum())} of {len(filled[name])} {name} rows have no text and are left out"
        for name in ("synthetic", "public")
        if name in filled and not filled[name].all()
    ]


def _beside(tables: Mapping[str, pa.Table], text: str, target: str | None) -> list[str]:
    others = [name for name in tables["synthetic"].column_names if name not in (text, target)]
    if not others:
        return []
    return [f"only texts{' and the target' if target else ''} are compared, not: {', '.join(map(repr, others))}"]
