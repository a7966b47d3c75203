"""The public description of a table.

A schema comes from its author or from public data, never from private records.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evomix.core.errors import InputFileError, SchemaError
from evomix.modalities.tabular.column import Column, ColumnType
from evomix.modalities.tabular.rules import Rule, Rules
from evomix.modalities.tabular.rules_json import rule_to_entry, rules_from_entries
from evomix.modalities.tabular.schema_json import column_from_entry, column_to_entry

__all__ = ["Column", "ColumnType", "Schema"]


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of a table, in order, and the rules between them.

    Raises:
        SchemaError: no column, two columns of one name, or rules that do not fit the columns or each other.
    """

    columns: tuple[Column, ...]
    rules: tuple[Rule, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "rules", tuple(self.rules))
        if not self.columns:
            raise SchemaError("schema: expected at least one column, found columns=[]")
        twice = sorted({name for name in self.names if self.names.count(name) > 1})
        if twice:
            raise SchemaError(f"schema: each column name may occur once; repeated: {', '.join(map(repr, twice))}")
        Rules(self.columns, self.rules)  # refuses what does not fit

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
        """Build a schema from the content of a schema file: ``{"columns": [...]}``, perhaps with ``"rules": [...]``.

        Raises:
            SchemaError: unknown keys or types, missing or crossed bounds, empty or repeated values, rules that do not
                fit; the message names column or rule, and key.
        """
        if not isinstance(content, Mapping) or not isinstance(content.get("columns"), list):
            raise SchemaError('schema: expected {"columns": [...]}, a list of columns')
        unknown = sorted(map(str, set(content) - {"columns", "rules"}))
        if unknown:
            raise SchemaError(f"schema: unknown key {unknown[0]!r}; the keys are 'columns' and 'rules'")
        columns = tuple(column_from_entry(entry) for entry in content["columns"])
        return cls(columns, rules_from_entries(content.get("rules", [])))

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
        content = {"columns": [column_to_entry(column) for column in self.columns]}
        return content | ({"rules": [rule_to_entry(rule) for rule in self.rules]} if self.rules else {})

    def to_json(self, path: str | Path) -> None:
        """Write a schema file, one column and one rule a line."""
        parts = [f'"{key}": [\n  {_lines(entries)}\n]' for key, entries in self.to_dict().items()]
        Path(path).write_text("{" + ",\n".join(parts) + "}\n", encoding="utf-8")


def _lines(entries: Sequence[Mapping[str, Any]]) -> str:
    return ",\n  ".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
