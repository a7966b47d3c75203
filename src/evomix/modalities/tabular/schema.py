"""The public description of a table.

A schema comes from its author or from public data, never from private records.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evomix.core.errors import InputFileError, SchemaError
from evomix.modalities.tabular.column import Column, ColumnType
from evomix.modalities.tabular.schema_json import column_from_entry, column_to_entry

__all__ = ["Column", "ColumnType", "Schema"]


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of a table, in order.

    Raises:
        SchemaError: no column, or two columns of one name.
    """

    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        if not self.columns:
            raise SchemaError("schema: expected at least one column, found columns=[]")
        twice = sorted({name for name in self.names if self.names.count(name) > 1})
        if twice:
            raise SchemaError(f"schema: each column name may occur once; repeated: {', '.join(map(repr, twice))}")

    @property
    def names(self) -> tuple[str, ...]:
        """All column names, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def modelled(self) -> tuple[Column, ...]:
        """The columns of a population matrix, in order: all but ids and columns that are always empty."""
        return tuple(column for column in self.columns if column.modelled)

    def column(self, name: str) -> Column:
        """Return the column of that name.

        Raises:
            SchemaError: there is none; the message lists the names.
        """
        for column in self.columns:
            if column.name == name:
                return column
        raise SchemaError(f"schema: no column {name!r}; it has {', '.join(map(repr, self.names))}")

    @classmethod
    def from_dict(cls, content: object) -> "Schema":
        """Build a schema from the content of a schema file: ``{"columns": [...]}``.

        Raises:
            SchemaError: unknown keys or types, missing or crossed bounds, empty or repeated values; the
            message
                names column and key.
        """
        if not isinstance(content, Mapping) or not isinstance(content.get("columns"), list):
            raise SchemaError('schema: expected {"columns": [...]}, a list of columns')
        unknown = sorted(set(content) - {"columns"})
        if unknown:
            raise SchemaError(f"schema: unknown key {unknown[0]!r}; the only key is 'columns'")
        return cls(tuple(column_from_entry(entry) for entry in content["columns"]))

    @classmethod
    def from_json(cls, path: str | Path) -> "Schema":
        """Read a schema file (JSON, UTF-8).

        Raises:
            InputFileError: the file cannot be read.
            SchemaError: it is not JSON, or not a schema.
        """
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8-sig"))
        except OSError as error:
            raise InputFileError(f"schema file {path}: {error.strerror or 'cannot be read'}") from error
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise SchemaError(f"schema file {path}: not JSON in UTF-8 ({error})") from error
        return cls.from_dict(content)

    def to_dict(self) -> dict[str, Any]:
        """Return the content of a schema file."""
        return {"columns": [column_to_entry(column) for column in self.columns]}

    def to_json(self, path: str | Path) -> None:
        """Write a schema file, one column a line."""
        lines = ",\n  ".join(json.dumps(column_to_entry(column), ensure_ascii=False) for column in self.columns)
        Path(path).write_text(f'{{"columns": [\n  {lines}\n]}}\n', encoding="utf-8")
