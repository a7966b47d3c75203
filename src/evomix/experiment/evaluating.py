"""``evomix evaluate``: tables in, figures out."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from evomix.core.errors import SpecError
from evomix.evaluation.evaluate import evaluate as evaluate_populations
from evomix.experiment.common_schema import schema_of_all
from evomix.experiment.evaluating_texts import TextOptions, evaluate_text_tables, find_text_column
from evomix.experiment.table_points import table_points
from evomix.formats.atomic import check_writable, write_text
from evomix.formats.table import read_table
from evomix.modalities.tabular.codec import TableCodec
from evomix.reports.evaluation_html import render_evaluation
from evomix.reports.text_evaluation_html import render_text_evaluation


def evaluate(
    real: Any,
    synthetic: Any,
    *,
    public: Any = None,
    target: str | None = None,
    schema: Any = None,
    seeds: int = 3,
    geometry: bool = True,
    report: str | Path | None = None,
    encoding: str = "utf-8",
    public_encoding: str = "utf-8",
    text_column: str | None = None,
    embedder: Any = None,
    classifier: str | Path | None = None,
    task: str = "auto",
    canaries: Any = None,
) -> dict[str, Any]:
    """Measure a synthetic table against real rows, beside ceiling and floor.

    A table of texts is measured as texts: one whose schema has a text column, for which ``text_column`` names one, or
    of which exactly one column reads as free text and at most two others are beside it.

    **Costs ε = ∞** for the people in ``real``, unless it is a held-out part declared as not protected.

    Args:
        real: path, frame or Arrow table of real rows.
        synthetic: the synthetic table.
        public: a public table: the floor.
        target: the column that models predict.
        schema: path, dict or Schema; default: that of all given tables together.
        seeds: repetitions of each model.
        geometry: also compare rows as points, in the distance of the votes.
        report: also write a self-contained page there.
        encoding: text encoding of the real file.
        public_encoding: text encoding of the public file.
        text_column: the column of texts.
        embedder: of texts: "minilm" (the default), "tfidf", "MODULE:FUNCTION", a model folder, or a
            ``SentenceEncoder``.
        classifier: of texts: folder of a transformer to fine-tune instead of training linear models on vectors.
        task: of texts: "classification", "regression", or "auto": by the target's values.
        canaries: of texts: path, frame or Arrow table with the text column and a column ``planted`` of truths.

    Raises:
        SchemaError: the tables' columns do not agree.
        SpecError: seeds below 1, an unknown encoding or target; options of texts for a table without any.
        InputFileError: a file cannot be read.
        EnvironmentFailure: what runs the embedder or the classifier is not installed.
    """
    if isinstance(seeds, bool) or not isinstance(seeds, int) or seeds < 1:
        raise SpecError(f"seeds must be a whole number of at least 1; found seeds={seeds!r}")
    if report is not None:
        check_writable(report)
    tables = {"real": read_table(real, encoding=encoding), "synthetic": read_table(synthetic)}
    if public is not None:
        tables["public"] = read_table(public, encoding=public_encoding)
    options = TextOptions(embedder=embedder, classifier=classifier, task=task, canaries=canaries)
    text = find_text_column(tables, named=text_column, schema=schema, options=options)
    if text is None:
        options.refuse_for_tables()
        measured = _evaluate_tables(tables, schema, target=target, seeds=seeds, geometry=geometry)
        page = render_evaluation
    else:
        measured = evaluate_text_tables(
            tables, text, target=target, schema=schema, seeds=seeds, geometry=geometry, options=options
        )
        page = render_text_evaluation
    if report is not None:
        write_text(report, page(measured))
    return measured


def evaluate_files(
    real: Path,
    synthetic: Path,
    public: Path | None = None,
    *,
    encoding: str | None = None,
    public_encoding: str | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Do :func:`evaluate` for the command line, with its other options."""
    return evaluate(
        real,
        synthetic,
        public=public,
        encoding=encoding or "utf-8",
        public_encoding=public_encoding or "utf-8",
        **options,
    )


def _evaluate_tables(
    tables: Mapping[str, pa.Table], schema: Any, *, target: str | None, seeds: int, geometry: bool
) -> dict[str, Any]:
    columns = schema_of_all(schema, tables)
    codec = TableCodec(columns)
    rows = {name: np.asarray(codec.encode(table), np.float64) for name, table in tables.items()}
    return evaluate_populations(
        rows["real"],
        rows["synthetic"],
        columns.modelled,
        public=rows.get("public"),
        target=target,
        points=table_points(columns, rows) if geometry else None,
        seeds=seeds,
    ).to_dict()
