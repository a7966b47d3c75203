"""``evomix evaluate``: tables in, figures out."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from evomix.core.errors import SchemaError, SpecError
from evomix.evaluation.evaluate import Evaluation
from evomix.evaluation.evaluate import evaluate as evaluate_populations
from evomix.formats.atomic import check_writable, write_text
from evomix.formats.table import read_table
from evomix.modalities.tabular.codec import TableCodec
from evomix.modalities.tabular.fit import check_fit
from evomix.modalities.tabular.inference import infer_schema
from evomix.modalities.tabular.schema import Schema
from evomix.modalities.tabular.values import as_text
from evomix.reports.evaluation_html import render_evaluation


def evaluate(
    real: Any,
    synthetic: Any,
    *,
    public: Any = None,
    target: str | None = None,
    schema: Any = None,
    seeds: int = 3,
    report: str | Path | None = None,
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
        report: also write a self-contained page there.

    Raises:
        SchemaError: the tables' columns do not agree.
        InputFileError: a file cannot be read.
    """
    if isinstance(seeds, bool) or not isinstance(seeds, int) or seeds < 1:
        raise SpecError(f"seeds must be a whole number of at least 1; found seeds={seeds!r}")
    if report is not None:
        check_writable(report)
    tables = {"real": read_table(real), "synthetic": read_table(synthetic)}
    if public is not None:
        tables["public"] = read_table(public)
    columns = _schema(schema, tables)
    codec = TableCodec(columns)
    rows = {name: np.asarray(codec.encode(table), np.float64) for name, table in tables.items()}
    measured = evaluate_populations(
        rows["real"],
        rows["synthetic"],
        columns.modelled,
        public=rows.get("public"),
        target=target,
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
) -> dict[str, Any]:
    """Do :func:`evaluate` for the command line."""
    return evaluate(real, synthetic, public=public, target=target, schema=schema, seeds=seeds, report=report)


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
    """Return the tables one below the other, each column in the type of the real one where all agree, else text."""
    return pa.concat_tables(
        [
            pa.table(
                {
                    name: _plain(table.column(name), [other.schema.field(name).type for other in tables])
                    for name in table.column_names
                }
            )
            for table in tables
        ]
    )


def _plain(column: pa.ChunkedArray, types: list[pa.DataType]) -> pa.ChunkedArray:
    if all(kind == types[0] for kind in types):
        return column
    return pa.chunked_array([as_text(column)])
