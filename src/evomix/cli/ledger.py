"""``evomix ledger``: what each data set was granted, has spent and has left."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evomix.cli import options
from evomix.cli.console import answer, answer_json, answer_table
from evomix.cli.wording import at_least, at_most
from evomix.core.errors import SpecError

if TYPE_CHECKING:
    from evomix.privacy.ledger import Balance, Budget

Dataset = Annotated[str, typer.Option("--dataset", metavar="NAME", help="Name the budget is kept under.")]

ledger = typer.Typer(help="Show, grant or reset the privacy budgets of data sets.")


@ledger.command()
def show(
    dataset: Annotated[
        str | None, typer.Option("--dataset", metavar="NAME", help="One data set (default: all).")
    ] = None,
    path: options.LedgerPath = None,
    as_json: options.Json = False,
) -> None:
    """Show each data set's budget: granted, spent, left, number of runs, and what it protects."""
    from evomix.privacy.ledger import Ledger  # noqa: PLC0415  (--help must not wait for it)

    opened = Ledger(path)
    balances = [opened.balance(name) for name in ([dataset] if dataset is not None else opened.datasets())]
    if as_json:
        answer_json({"ledger": opened.path, "datasets": [_balance(balance) for balance in balances]})
        return
    answer(f"ledger: {opened.path}")
    rows = [
        (
            b.dataset,
            _amount(b.granted, "no limit"),
            _amount(b.spent, "-", at_most),
            _amount(b.left, "no limit", at_least),
            str(b.runs),
        )
        for b in balances
    ]
    answer_table(("data set", "granted", "spent", "left", "runs"), rows)
    for b in balances:
        if b.unit is not None:
            apart = "; these amounts do not add up" if b.mixed else ""
            answer(f"unit of {b.dataset}: {b.unit} ({b.adjacency}){apart}")


@ledger.command()
def grant(
    dataset: Dataset,
    budget: Annotated[
        str, typer.Option("--budget", metavar="E:D", help="Budget over all runs: ε and δ, such as 3:1e-5.")
    ],
    path: options.LedgerPath = None,
    as_json: options.Json = False,
) -> None:
    """Set the budget of a data set over all its runs, in place of any earlier one."""
    from evomix.privacy.ledger import Budget, Ledger  # noqa: PLC0415

    opened = Ledger(path)
    opened.grant(dataset, Budget.parse(budget))
    _print_balance(opened.balance(dataset), as_json=as_json)


@ledger.command()
def reset(
    dataset: Dataset,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    path: options.LedgerPath = None,
    as_json: options.Json = False,
) -> None:
    """Forget the past charges of a data set, by its owner's decision. What was released stays released."""
    from evomix.privacy.ledger import Ledger  # noqa: PLC0415

    opened = Ledger(path)
    balance = opened.balance(dataset)
    if balance.dataset not in opened.datasets():
        raise SpecError(
            f"Expected a data set of this ledger ({opened.path}); found dataset={dataset!r}. "
            "`evomix ledger show` lists those that it knows."
        )
    spent = _amount(balance.spent, "-", at_most)
    question = f"Forget {balance.runs} charges ({spent}) of data set {dataset!r}? (--yes does not ask)"
    if not yes and not _confirmed(question):
        raise SpecError("Not confirmed: nothing was changed.")
    opened.reset(dataset)
    _print_balance(opened.balance(dataset), as_json=as_json)


def _confirmed(question: str) -> bool:
    """Return the answer to ``question``.

    Raises:
        SpecError: there is nobody who could answer.
    """
    try:
        return typer.confirm(question, err=True)
    except typer.Abort:
        if sys.stdin is not None and sys.stdin.isatty():
            raise  # Ctrl-C
        sys.stderr.write("\n")  # the question's line
        raise SpecError("Expected an answer; reset needs --yes when nobody can answer. Nothing was changed.") from None


def _print_balance(balance: "Balance", *, as_json: bool) -> None:
    if as_json:
        answer_json(_balance(balance))
        return
    granted, left = _amount(balance.granted, "no limit"), _amount(balance.left, "no limit", at_least)
    answer(f"{balance.dataset}: granted {granted}, spent {_amount(balance.spent, '-', at_most)}, left {left}")


def _balance(balance: "Balance") -> dict[str, Any]:
    return {
        "dataset": balance.dataset,
        "granted": _pair(balance.granted),
        "spent": _pair(balance.spent),
        "left": _pair(balance.left),
        "unit": balance.unit,
        "adjacency": balance.adjacency,
        "runs": balance.runs,
        "voided": balance.voided,
    }


def _pair(budget: "Budget | None") -> dict[str, float] | None:
    return None if budget is None else {"epsilon": budget.epsilon, "delta": budget.delta}


def _amount(budget: "Budget | None", absent: str, written: Callable[[float], str] = repr) -> str:
    """Return a budget as it is typed; what was granted with all its digits."""
    return absent if budget is None else f"{written(budget.epsilon)}:{written(budget.delta)}"
