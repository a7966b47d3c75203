"""What the ledger refuses: unusable names, and charges that a data set's budget does not allow."""

import unicodedata
from collections.abc import Sequence

from evomix.core.errors import BudgetExceeded, SpecError
from evomix.privacy.budget import Budget, rounded_up, total
from evomix.privacy.ledger_rows import Entry


def checked_name(kind: str, text: str) -> str:
    """Return a name as the ledger keeps it.

    Raises:
        SpecError: see :func:`checked_text`.
    """
    # Two spellings of one letter (composed or not) must not be two data sets with two budgets.
    return checked_text(kind, unicodedata.normalize("NFC", text))


def checked_text(kind: str, text: str) -> str:
    """Return ``text`` if it can be shown on one line.

    Raises:
        SpecError: naming ``kind``, when it is empty, not printable or has spaces around it.
    """
    if not text or text != text.strip() or not text.isprintable():
        raise SpecError(f"Expected {kind} to be printable text without spaces around it; found {kind}={text!r}.")
    return text


def refuse_charge(
    dataset: str,
    asked: Budget,
    *,
    granted: Budget | None,
    grant: Budget | None,
    charges: Sequence[Entry],
    unit: str,
    adjacency: str,
) -> None:
    """Refuse a new charge that would break what was promised about a data set.

    Args:
        dataset: its name.
        asked: the most the new run can cost.
        granted: the budget in force; without any, and without ``grant``, charges are recorded only.
        grant: the budget that the run names, which comes into force with its charge when there is none.
        charges: those that count.
        unit: what ``asked`` protects, in public words.
        adjacency: its neighbour relation.

    Raises:
        SpecError: when ``grant`` differs from the budget in force, or the charges protect something else.
        BudgetExceeded: when all charges together would exceed the budget, in exact decimals.
    """
    if granted is not None and grant is not None and granted.exact() != grant.exact():
        raise SpecError(
            f"Expected the budget that data set {dataset!r} already has ({granted}); found budget {grant}. "
            "Leave it out, or let the data set's owner change it with `evomix ledger grant`."
        )
    limit = grant if granted is None else granted
    if limit is None:
        return
    _refuse_another_unit(charges, unit=unit, adjacency=adjacency)
    budgets = [entry.budget for entry in charges]
    if not limit.covers(total([*budgets, asked])):
        spent = total(budgets)
        raise BudgetExceeded(
            f"The budget of data set {dataset!r} does not cover this run: asked {asked}, "
            f"spent {rounded_up(spent)}, granted {limit}, left {limit.minus(spent)}. Ask for no more than "
            "is left, or let the data set's owner grant more with `evomix ledger grant`. Nothing was drawn or "
            "charged."
        )


def _refuse_another_unit(charges: Sequence[Entry], *, unit: str, adjacency: str) -> None:
    """Refuse to add to charges that protect something else: the sum would bound nothing."""
    for entry in charges:
        if (entry.unit, entry.adjacency) != (unit, adjacency):
            raise SpecError(
                f"Expected a run that protects what the charges of data set {entry.dataset!r} protect: {entry.unit} "
                f"({entry.adjacency}); found one that protects {unit} ({adjacency}). Their amounts cannot be added. "
                "Use the same --unit as those runs (none, if they protect one row), keep a separate budget under "
                "another --dataset name, or let the data set's owner forget its charges with `evomix ledger reset`."
            )
