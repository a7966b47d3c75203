"""``evomix evaluate``: tables in, figures out."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evomix.core.errors import SchemaError, SpecError
from evomix.evaluation.evaluate import Evaluation
from evomix.evaluation.evaluate import evaluate as evaluate_populations
from evomix.experiment.table_points import table_points
from evomix.formats.atomic import check_writable, write_text
from evomix.formats.table import read_table
from evomix.modalities.tabular.codec import TableCodec
from evomix.modalities.tabular.column import BOOLEAN_VALUES
from evomix.modalities.tabular.fit import check_fit
from evomix.modalities.tabular.inference import infer_schema
from evomix.modalities.tabular.schema import Schema
from evomix.modalities.tabular.values import as_text, is_empty, parse_booleans
from evomix.reports.evaluation_html import render_evaluation


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
) -> dict[str, Any]:
    """Measure a synthetic table against real rows, beside ceiling and floor.

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

    Raises:
        SchemaError: the tables' columns do not agree.
        SpecError: seeds below 1, an unknown encoding or target.
        InputFileError: a file cannot be read.
    """
    if isinstance(seeds, bool) or not isinstance(seeds, int) or seeds < 1:
        raise SpecError(f"seeds must be a whole number of at least 1; found seeds={seeds!r}")
    if report is not None:
        check_writable(report)
    tables = {"real": read_table(real, encoding=encoding), "synthetic": read_table(synthetic)}
    if public is not None:
        tables["public"] = read_table(public, encoding=public_encoding)
    columns = _schema(schema, tables)
    codec = TableCodec(columns)
    rows = {name: np.asarray(codec.encode(table), np.float64) for name, table in tables.items()}
    measured = evaluate_populations(
        rows["real"],
        rows["synthetic"],
        columns.modelled,
        public=rows.get("public"),
        target=target,
        points=table_points(columns, rows) if geometry else None,
        seeds=seeds,
    )
    if report is not None:
        write_text(report, _page(measured))
    return measured.to_dict()


def evaluate_files(
    real: Path,
    synthetic: Path,
    public: Path | None = None,
    target: str | None = None,
    report: Path | None = None,
    schema: Path | None = None,
    seeds: int = 3,
    geometry: bool = True,
    encoding: str | None = None,
    public_encoding: str | None = None,
) -> dict[str, Any]:
    """Do :func:`evaluate` for the command line."""
    return evaluate(
        real,
        synthetic,
        public=public,
        target=target,
        schema=schema,
        seeds=seeds,
        geometry=geometry,
        report=report,
        encoding=encoding or "utf-8",
        public_encoding=public_encoding or "utf-8",
    )


def _page(measured: Evaluation) -> str:
    return render_evaluation(measured.to_dict())


def _schema(given: Any, tables: dict[str, pa.Table]) -> Schema:
    """Return the schema to compare under, after checking that all tables have its columns."""
    if given is None:
        names = tables["real"].column_names
        missing = {name: sorted(set(names) ^ set(table.column_names)) for name, table in tables.items()}
        if any(missing.values()):
            raise SchemaError(
                "the tables have different columns: "
                + "; ".join(f"{name} differs in {', '.join(map(repr, odd))}" for name, odd in missing.items() if odd)
            )
        return infer_schema(_stacked([table.select(names) for table in tables.values()])).schema
    schema = (
        given
        if isinstance(given, Schema)
        else (Schema.from_dict(given) if isinstance(given, dict) else Schema.from_json(given))
    )
    for name, table in tables.items():
        check_fit(schema, table.schema, role="private", described=f"the schema (checking the {name} table)")
    return schema


def _stacked(tables: list[pa.Table]) -> pa.Table:
    """Return the tables one below the other, each column in a type that all its cells have, else as text."""
    names = tables[0].column_names
    columns = {name: _in_one_type([table.column(name) for table in tables]) for name in names}
    return pa.table(
        {
            name: pa.chunked_array([c for cells in parts for c in cells.chunks], parts[0].type)
            for name, parts in columns.items()
        }
    )


def _in_one_type(parts: list[pa.ChunkedArray]) -> list[pa.ChunkedArray]:
    """Return a column of each table in the type that all have, as booleans where that is what all mean, else text."""
    truths = [parse_booleans(part, spellings=BOOLEAN_VALUES) for part in parts]
    mean_truth = all(bool((is_empty(part) | ~np.isnan(truth)).all()) for part, truth in zip(parts, truths, strict=True))
    # Words such as yes and no, or 0 and 1, stay what they are, unless another table says true and false.
    if mean_truth and any(map(_says_true_or_false, parts)):
        return [pa.chunked_array([pa.array(truth == 1.0, mask=np.isnan(truth))]) for truth in truths]
    if all(part.type == parts[0].type for part in parts):
        return parts
    return [pa.chunked_array([as_text(part)]) for part in parts]


def _says_true_or_false(cells: pa.ChunkedArray) -> bool:
    """Tell whether a column without other words than truths is spelled as one."""
    if pa.types.is_boolean(cells.type):
        return True
    text = as_text(cells)
    spelled = pc.is_in(pc.utf8_lower(text), value_set=pa.array(BOOLEAN_VALUES, pa.large_string()))
    empty = is_empty(cells)
    return bool((np.asarray(pc.fill_null(spelled, False)) | empty).all()) and not bool(empty.all())
