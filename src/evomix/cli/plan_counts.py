"""The part of ``evomix plan`` that is about counts of column sets: whether they are planned, and their plan."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from evomix.cli.options import METHODS
from evomix.core.errors import SpecError

HINT: Final = "tables are counted unless votes are asked for; --schema SCHEMA.json plans that"


@dataclass(frozen=True, slots=True)
class Table:
    """What is known of the table, and how its rows shall be found.

    Attributes:
        method: one of :data:`METHODS`.
        schema: file of the schema.
        target: the column that a later model will predict.
    """

    method: str
    schema: Path | None
    target: str | None

    def counted(self, of_votes: Sequence[str], *, n: int, epsilon: float, delta: float | None) -> bool:
        """Return whether counts are planned, by the rule that a run goes by.

        Args:
            of_votes: options that were given and that only votes have.
            n: private units.
            epsilon: ε.
            delta: δ, where it was given.

        Raises:
            SpecError: the method is unknown, lacks what it needs, or would ignore an option.
        """
        if self.method not in METHODS:
            raise SpecError(f"method must be one of {', '.join(METHODS)}; found method={self.method!r}")
        if self.method == "marginals" and of_votes:
            raise SpecError(
                f"{of_votes[0]} has no effect with method='marginals', which asks for no votes; leave it out"
            )
        if self.method == "marginals" and self.schema is None:
            raise SpecError("what is counted follows from the columns: give their schema (--schema)")
        counted = self.method != "votes" and not of_votes and self.schema is not None
        if counted and self.method == "auto":
            counted = not self._votes_count_all(n, epsilon, delta)
        if self.target is not None and not counted:
            raise SpecError(
                f"target={self.target!r} has no effect on a plan of votes; it says which columns are counted together "
                "(with --schema, --method marginals)"
            )
        return counted

    def plan(self, *, n: int, epsilon: float, delta: float | None, rows: int | None) -> dict[str, Any]:
        """Return the plan of a run with counts; see :func:`evomix.experiment.planning_counts.plan_counts`."""
        from evomix.experiment.planning_counts import plan_counts  # noqa: PLC0415  (--help must not wait for it)

        made = {} if rows is None else {"rows": rows}
        planned = plan_counts(n=n, epsilon=epsilon, delta=delta, schema=self.schema, target=self.target, **made)
        return planned.to_dict()

    def possible(self) -> dict[str, float]:
        """Return the number of possible records as a plan of votes takes it; nothing where there is no schema."""
        if self.schema is None:
            return {}
        from evomix.experiment.planning_counts import table_schema  # noqa: PLC0415
        from evomix.modalities.tabular.domain import domain_size  # noqa: PLC0415

        return {"domain_size": domain_size(table_schema(self.schema))}

    def _votes_count_all(self, n: int, epsilon: float, delta: float | None) -> bool:
        from evomix.experiment.planning_counts import table_schema, votes_count_all  # noqa: PLC0415

        return votes_count_all(table_schema(self.schema), n=n, epsilon=epsilon, delta=delta)
