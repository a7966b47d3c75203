"""What a run that counts column sets will cost and lose, from its schema alone, before any table is opened."""

from typing import Any

from evomix.core.arguments import whole
from evomix.core.errors import SpecError
from evomix.experiment.common_schema import as_schema
from evomix.experiment.counting import stages_for
from evomix.experiment.marginal_plan import plan_stages
from evomix.experiment.method_choice import one_round_counts_all
from evomix.experiment.plans import Plan
from evomix.experiment.spec import check_counts
from evomix.modalities.tabular.domain import domain_size
from evomix.modalities.tabular.schema import Schema
from evomix.privacy.calibration import MAX_UNITS


def plan_counts(
    *, n: int, epsilon: float, schema: Any, delta: float | None = None, rows: int = 5000, target: str | None = None
) -> Plan:
    """Plan a run with counts from public quantities alone.

    Args:
        n: number of private units (public under replace-one).
        epsilon: ε > 0.
        schema: path, dict or ``Schema`` of the table.
        delta: δ in (0, 1); default :func:`evomix.experiment.allocation.default_delta`.
        rows: synthetic records to make; does not change the cost.
        target: the column that a later model will predict.

    Raises:
        SpecError: a parameter is out of range, the target is no column with values to learn, or the schema is of texts.
        SchemaError, InputFileError: the schema cannot be read.
    """
    columns = table_schema(schema)
    names = [column.name for column in columns.modelled]
    if target is not None and target not in names:
        raise SpecError(f"expected target to be one of {', '.join(map(repr, names))}; found target={target!r}")
    units, made = whole("n", n, least=0, most=MAX_UNITS), check_counts({"rows": rows})["rows"]
    return plan_stages(stages_for(columns, target), n=units, epsilon=epsilon, delta=delta, rows=made or 0)


def table_schema(schema: Any) -> Schema:
    """Return the schema of a table.

    Raises:
        SpecError: it is one of texts or pictures, or has ids only.
    """
    found = as_schema(schema)
    other = [column.name for column in found.columns if column.type in ("text", "image")]
    if other:
        raise SpecError(
            f"counts are of tables; column {other[0]!r} of the schema is none of a table. Plan votes instead"
        )
    if not found.modelled:
        raise SpecError("no column is left to count: the schema holds ids only")
    return found


def votes_count_all(schema: Schema, *, n: int, epsilon: float, delta: float | None) -> bool:
    """Return whether possible records are so few that one round of votes counts them all, as a run decides it."""
    return one_round_counts_all(domain_size(schema), n=n, epsilon=epsilon, delta=delta)
