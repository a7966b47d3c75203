"""In-memory frames (Arrow, pandas, polars) as Arrow tables."""

import sys
from typing import Any

import pyarrow as pa

from evomix.core.errors import InputFileError, SpecError
from evomix.formats.names import check_names

_PLACE = "the table"


def from_frame(frame: Any) -> pa.Table:
    """Return a pandas, polars or Arrow table as an Arrow table with distinct column names.

    The index of a pandas frame is ignored. An object column that mixes types becomes strings.

    Raises:
        SpecError: for anything that is not a table.
        InputFileError: for repeated or empty column names, or a column that Arrow cannot hold.
    """
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if isinstance(frame, pa.Table):
        table = frame
    elif isinstance(frame, pa.RecordBatch):
        table = pa.Table.from_batches([frame])
    elif pandas is not None and isinstance(frame, pandas.DataFrame):
        table = _from_pandas(frame)
    elif polars is not None and isinstance(frame, polars.DataFrame):
        table = _from_polars(frame)
    else:
        raise SpecError(
            f"expected a path or a pandas, polars or Arrow table, type={type(frame).__name__!r}"
            + ("; call .collect() on a lazy frame" if type(frame).__name__ == "LazyFrame" else "")
        )
    check_names(table.column_names, _PLACE)
    return table


def _from_pandas(frame: Any) -> pa.Table:
    names = [str(name) for name in frame.columns]
    check_names(names, _PLACE)
    columns = [_array(frame.iloc[:, position], name) for position, name in enumerate(names)]
    return pa.table(dict(zip(names, columns, strict=True)))


def _from_polars(frame: Any) -> pa.Table:
    columns = {}
    for name in frame.columns:
        series = frame.get_column(name)
        if str(series.dtype) == "Object":  # any Python objects, which Arrow has no type for
            columns[name] = _as_strings(series.to_list(), series.is_null().to_list(), name)
        else:
            columns[name] = series.to_arrow()
    check_names(list(columns), _PLACE)
    return pa.table(columns)


def _array(series: Any, name: str) -> Any:
    """Return a pandas series as an Arrow array.

    Objects of several types become text here: Arrow would bend some into the type of the others (a number next
    to dates into a day of 1970) and refuse the rest with an error that quotes one.
    """
    missing = list(series.isna())
    if series.dtype == object:
        kinds = {type(value) for value, gone in zip(series, missing, strict=True) if not gone}
        if len(kinds) > 1 and not kinds <= {int, float}:
            return _as_strings(list(series), missing, name)
    try:
        return pa.array(series, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        pass
    return _as_strings(list(series), missing, name)


def _as_strings(values: list[Any], missing: list[bool], name: str) -> Any:
    try:
        texts = [None if gone else str(value) for value, gone in zip(values, missing, strict=True)]
        return pa.array(texts, pa.large_string())
    except (pa.ArrowException, TypeError, ValueError):
        pass
    raise InputFileError(f"{_PLACE}: column {name!r} holds values that are neither of one type nor text")
