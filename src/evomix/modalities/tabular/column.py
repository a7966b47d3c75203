"""One column of a table: type, bounds, categories, and the public rules for cells that do not fit.

Numbers are kept in the units of a population: integers and numbers as they are, dates in days and datetimes
in seconds since 1970-01-01.
"""

import math
from dataclasses import dataclass
from typing import Literal, get_args

from evomix.core.errors import SchemaError
from evomix.modalities.tabular import temporal

ColumnType = Literal["integer", "number", "category", "boolean", "date", "datetime", "text", "image", "id"]
Code = str | int | float

BOOLEAN_VALUES = ("false", "true")
EXACT_INTEGER = 2**53
"""Integers up to this size are exact in float64, the storage of a population."""

_ORDERED = ("integer", "number", "date", "datetime")


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Attributes:
        name: header, matched exactly.
        type: what the cells mean.
        min: smallest value, in population units (days for a date, seconds for a datetime).
        max: largest value, in population units.
        values: categories in the order of their codes; for a boolean the spellings of false and true.
        other: the category that takes unknown values, or False. True means the word ``other``; the word is
            added at the end of ``values`` unless it is there already, so a code is always a position in
            ``values``.
        missing: whether a cell may be empty.
        format: strftime layout of a date or datetime (None: ISO 8601); printf template of an id (``%d``,
            ``id-%06d``).
        missing_codes: values that mean "not known" (999, "?"); they are read as missing and written as empty.
        multiple_of: the grid of a number (0.01), an integer (5) or a datetime (60 seconds).
        integer_values: whether the categories are whole numbers, and come out as such in typed files.
        shares: how often each of ``values`` is to occur, summing to 1; for the label of texts.
    """

    name: str
    type: ColumnType
    min: float | None = None
    max: float | None = None
    values: tuple[str, ...] = ()
    other: bool | str = False
    missing: bool = False
    format: str | None = None
    missing_codes: tuple[Code, ...] = ()
    multiple_of: float | None = None
    integer_values: bool = False
    shares: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.type not in get_args(ColumnType):
            raise self.error("type", f"expected one of {', '.join(get_args(ColumnType))}, found {self.type!r}")
        if self.format is not None:
            _check_format(self)
        if self.missing_codes:
            object.__setattr__(self, "missing", True)
        if self.ordered:
            _check_bounds(self)
            _check_grid(self)
        elif self.type == "category":
            object.__setattr__(self, "values", _categories(self))
        elif self.type == "boolean":
            object.__setattr__(self, "values", self.values or BOOLEAN_VALUES)
            if len(self.values) != 2 or len(set(self.values)) != 2 or "" in self.values:
                raise self.error("values", f"expected two spellings [false, true], found {list(self.values)}")
        if self.shares:
            object.__setattr__(self, "shares", _shares(self))

    def error(self, key: str, rule: str) -> SchemaError:
        """Return the error that says what is wrong with a key of this column."""
        return SchemaError(f"schema column {self.name!r}, key {key!r}: {rule}")

    @property
    def ordered(self) -> bool:
        """Whether cells are numbers on a line (integer, number, date, datetime)."""
        return self.type in _ORDERED

    @property
    def coded(self) -> bool:
        """Whether cells are codes, positions in ``values`` (category, boolean)."""
        return self.type in ("category", "boolean")

    @property
    def modelled(self) -> bool:
        """Whether the column is part of a population: all but ids and columns that are always empty."""
        return self.type != "id" and not (self.type == "category" and not self.values)

    @property
    def step(self) -> float | None:
        """Distance between neighbouring values in population units, None where numbers are continuous."""
        if self.multiple_of is not None:
            return self.multiple_of
        if self.type in ("integer", "date"):
            return 1.0
        if self.type == "datetime":
            # Microseconds, unless float64 no longer tells them apart (years before 1685 and after 2255).
            assert self.min is not None
            assert self.max is not None
            finest = 1e-6 if max(abs(self.min), abs(self.max)) * 1e6 < EXACT_INTEGER else 1e-3
            return finest if self.format is None else max(finest, temporal.layout_step_s(self.format))
        return None

    @property
    def fallback(self) -> float:
        """What a cell becomes that is empty or cannot be understood: a public rule that no record can move.

        Missing where the column allows it; else the middle of the bounds (rounded down), ``false``, the
        category for other values, or the last category listed.
        """
        if self.missing:
            return math.nan
        if self.type == "category":
            return float(self.values.index(self.other) if isinstance(self.other, str) else len(self.values) - 1)
        if self.type == "boolean":
            return 0.0
        assert self.min is not None
        assert self.max is not None
        middle = (self.min + self.max) / 2.0
        return middle if self.step is None else math.floor(middle / self.step) * self.step


def _check_format(column: Column) -> None:
    layout = column.format
    assert layout is not None
    if column.type == "id":
        try:
            fits = layout % 7 != layout % 8
        except (TypeError, ValueError):
            fits = False
        if not fits:
            raise column.error("format", f"expected a template with one number such as 'id-%06d', found {layout!r}")
    elif not temporal.keeps_dates(layout):
        raise column.error("format", f"expected a strftime layout with year, month and day, found {layout!r}")


def _check_bounds(column: Column) -> None:
    low, high = _checked_bound(column, "min"), _checked_bound(column, "max")
    if low > high:
        raise column.error("min", f"expected min ≤ max, found min={low!r}, max={high!r}")
    object.__setattr__(column, "min", low)
    object.__setattr__(column, "max", high)


def _checked_bound(column: Column, key: str) -> float:
    bound = getattr(column, key)
    if bound is None:
        raise column.error(key, f"missing; a column of type {column.type!r} needs public bounds")
    if isinstance(bound, bool) or not isinstance(bound, int | float) or not math.isfinite(2.0 * bound):
        raise column.error(key, f"expected a finite number below 8e307, found {bound!r}")
    if column.type in ("integer", "date") and bound != math.floor(bound):
        raise column.error(key, f"expected a whole number, found {bound!r}")
    if column.type == "integer" and abs(bound) > EXACT_INTEGER:
        raise column.error(key, f"integers beyond 2^53 are not exact; declare type 'id' or 'category' ({bound!r})")
    if column.type in ("date", "datetime"):
        unit = temporal.DAY_S if column.type == "date" else 1.0
        if not temporal.FIRST_S <= bound * unit <= temporal.LAST_S + 1.0 - 1e-4:
            raise column.error(key, "expected a day from year 1 to year 9999")
    return float(bound) + 0.0  # turns -0.0 into 0.0


def _check_grid(column: Column) -> None:
    step = column.multiple_of
    if step is None:
        return
    if isinstance(step, bool) or not isinstance(step, int | float) or not 0.0 < step < math.inf:
        raise column.error("multiple_of", f"expected a positive number, found {step!r}")
    if column.type == "integer" and step != math.floor(step):
        raise column.error("multiple_of", f"expected a whole number for an integer column, found {step!r}")
    assert column.min is not None
    assert column.max is not None
    if math.ceil(column.min / step - 1e-9) > math.floor(column.max / step + 1e-9):
        raise column.error("multiple_of", f"no multiple of {step!r} lies in [{column.min!r}, {column.max!r}]")
    if max(abs(column.min), abs(column.max)) / step > EXACT_INTEGER:
        raise column.error("multiple_of", f"multiples of {step!r} up to these bounds are not exact; use a larger one")
    object.__setattr__(column, "multiple_of", float(step))


def _shares(column: Column) -> tuple[float, ...]:
    """Return shares that sum to 1 as floats do."""
    shares = tuple(map(float, column.shares))
    if len(shares) != len(column.values):
        raise column.error("shares", f"expected a number for each of {len(column.values)} values, found {len(shares)}")
    total = math.fsum(shares)
    if not all(math.isfinite(share) and share >= 0.0 for share in shares) or not math.isclose(total, 1.0, abs_tol=1e-6):
        raise column.error("shares", f"expected numbers of at least 0 that sum to 1, found {list(column.shares)}")
    return tuple(share / total for share in shares)


def _categories(column: Column) -> tuple[str, ...]:
    """Return the categories with the one for other values among them; sets ``other`` to its word."""
    values = tuple(column.values)
    if not all(isinstance(value, str) for value in values):
        raise column.error("values", "expected texts")
    if "" in values:
        raise column.error("values", "an empty text means missing; use 'missing': true instead")
    if len(set(values)) < len(values):
        twice = next(value for value in values if values.count(value) > 1)
        raise column.error("values", f"each value may occur once; {twice!r} is repeated")
    if not values and not column.missing:
        raise column.error("values", "expected at least one value, found []")
    other = "other" if column.other is True else column.other
    if other is False:
        return values
    if not isinstance(other, str) or not other:
        raise column.error("other", f"expected true, false or a word, found {other!r}")
    object.__setattr__(column, "other", other)
    return values if other in values else (*values, other)
