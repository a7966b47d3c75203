"""The page of ``evomix evaluate``."""

from collections.abc import Mapping
from typing import Any

from evomix.reports.evaluation_view import evaluation_view
from evomix.reports.pages import render_page


def render_evaluation(evaluation: Mapping[str, Any], *, title: str = "Evaluation of synthetic data") -> str:
    """Return a self-contained page of measured quality and risk.

    The figures come from real rows without noise: whoever publishes the page spends ε = ∞ for them, as it
    says.

    Args:
        evaluation: result of ``Evaluation.to_dict``.
        title: heading of the page.
    """
    return render_page("evaluation.html.j2", title=title, evaluation=evaluation_view(evaluation))
