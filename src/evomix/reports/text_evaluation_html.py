"""The page of ``evomix evaluate`` on texts."""

from collections.abc import Mapping
from typing import Any

from evomix.reports import charts
from evomix.reports.pages import render_page
from evomix.reports.text_evaluation_view import text_evaluation_view


def render_text_evaluation(evaluation: Mapping[str, Any], *, title: str = "Evaluation of synthetic texts") -> str:
    """Return a self-contained page of measured quality and risk.

    The figures come from real texts without noise: whoever publishes the page spends ε = ∞ for them, as it says. No
    real text is on it; synthetic and public texts are.

    Args:
        evaluation: result of ``TextEvaluation.to_dict``.
        title: heading of the page.
    """
    return render_page(
        "text_evaluation.html.j2",
        title=title,
        evaluation=text_evaluation_view(evaluation),
        chart_width=charts.WIDTH,
        chart_height=charts.HEIGHT,
    )
