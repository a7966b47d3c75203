"""What the metrics need to know of a column: its type and its public range."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol

from evomix.core.errors import SchemaError

EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  (the population's zero carries no zone)
FIRST = -719_162 * 86_400.0
LAST = 2_932_897 * 86_400.0 - 1.0
"""Seconds from 1970 to the calendar's first and last second, years 1 and 9999."""
SECONDS_PER_DAY = 86_400.0
NUMBER_LIKE = ("integer", "number", "date", "datetime")
WHOLE = ("integer", "date")


class ColumnLike(Protocol):
    """A modelled column of a schema, as far as evaluation and reports read it."""

    @property
    def name(self) -> str:
        """Name in the table."""

    @property
    def type(self) -> str:
        """One of integer, number, category, boolean, date, datetime."""

    @property
    def values(self) -> Sequence[str]:
        """Words of a category or boolean column, in the order of their codes."""

    @property
    def min(self) -> float | None:
        """Public lower bound of a number-like column, in the population's units."""

    @property
    def max(self) -> float | None:
        """Public upper bound of a number-like column."""

    @property
    def missing(self) -> bool:
        """Whether cells may be missing."""


def is_number_like(column: ColumnLike) -> bool:
    """Return whether the column's cells have an order and a scale."""
    return column.type in NUMBER_LIKE


def labels(column: ColumnLike) -> tuple[str, ...]:
    """Return the word of each code of a category or boolean column."""
    if column.type == "boolean" and not column.values:
        return ("false", "true")
    return tuple(column.values)


def bounds(column: ColumnLike) -> tuple[float, float]:
    """Return the public range in the population's units (dates: days, datetimes: seconds since 1970).

    Raises:
        SchemaError: a bound is absent.
    """
    if column.min is None or column.max is None:
        raise SchemaError(
            f"expected public bounds for column={column.name!r} of type={column.type!r}, found "
            f"min={column.min}, max={column.max}; give both in the schema"
        )
    return float(column.min), float(column.max)


def in_words(column: ColumnLike, value: float) -> str:
    """Return a population value of a number-like column as a reader would write it."""
    if column.type == "date":
        return str(_moment(value * SECONDS_PER_DAY).date())
    if column.type == "datetime":
        return _moment(value).isoformat(sep=" ", timespec="minutes")
    if column.type == "integer" or abs(value) >= 1e3:
        return f"{value:,.0f}" if abs(value) < 1e15 else f"{value:.4g}"
    return f"{value:.4g}"


def _moment(seconds: float) -> datetime:
    """Return the instant, kept within the calendar: a bin's edge may lie just past its end."""
    return EPOCH + timedelta(seconds=min(max(seconds, FIRST), LAST))
