"""The report of a run: one self-contained page a manager can read.

Reads public values and released ones only: post-processing; costs nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from evomix.core.arrays import FloatArray
from evomix.core.errors import SpecError
from evomix.evaluation.columns import ColumnLike
from evomix.reports import charts
from evomix.reports.citations import references, software_citation
from evomix.reports.evaluation_view import evaluation_view
from evomix.reports.heatmap import heat_maps
from evomix.reports.pages import render_page
from evomix.reports.privacy_statement import privacy_statement
from evomix.reports.rounds import make_grid, round_grid
from evomix.reports.stages import counts_columns, how_counted
from evomix.reports.wording import bound, count, percent, sentence, small_number

_HOW_VOTED: Final = (
    "Each round proposes candidate rows from public information. Private units vote for the candidates nearest to "
    "them, and only randomised votes leave the protected side. The candidates they favour become the parents of the "
    "next round. No private row is copied, stored or shown; a synthetic row can equal a private one by chance."
)
_WHY_VOTED: Final = (
    "Tables are made by votes where a setting of votes was given, or where there are so few possible records that one "
    "round of votes counts them all."
)
_METHODS: Final = {"marginals": "counts of column sets", "votes": "votes for candidates"}


@dataclass(frozen=True, slots=True)
class ReportContext:
    """Everything a report says.

    Attributes:
        title: heading of the page.
        privacy: the content of ``privacy.json``.
        columns: the c modelled columns.
        synthetic: float64 (m, c), missing as NaN.
        reference: float64 (l, c) of public rows, or of held-out rows declared as such; never private rows.
            None: the synthetic table is shown alone.
        reference_name: what the reference is, such as "public data".
        rounds: public figures of each round.
        warnings: sentences of the run.
        spec_toml: the resolved specification.
        evaluation: result of ``Evaluation.to_dict``; None where nothing was evaluated.
        made_up: number of id columns beside the modelled ones, made up anew.
        width: columns that are modelled, where those that are drawn are others.
        examples: synthetic records to be read.
        generation: public figures of how records were proposed, by what they are.
    """

    title: str
    privacy: Mapping[str, Any]
    columns: Sequence[ColumnLike]
    synthetic: FloatArray
    reference: FloatArray | None
    reference_name: str
    rounds: Sequence[Mapping[str, Any]]
    warnings: Sequence[str]
    spec_toml: str
    evaluation: Mapping[str, Any] | None = None
    made_up: int = 0
    width: int | None = None
    examples: Sequence[str] = ()
    generation: Mapping[str, Any] = field(default_factory=dict)


def render_report(context: ReportContext) -> str:
    """Return the page as HTML with everything inside it.

    Raises:
        SpecError: the privacy record is incomplete, or a matrix does not fit the columns.
    """
    _check(context)
    reference = context.reference if context.reference is not None and len(context.reference) else None
    statement = privacy_statement(context.privacy)
    tables = [("Synthetic data", context.synthetic)]
    if reference is not None:
        tables.append((context.reference_name[:1].upper() + context.reference_name[1:], reference))
    software = context.privacy.get("software")
    return render_page(
        "report.html.j2",
        title=context.title,
        statement=statement,
        tiles=_tiles(context),
        made=(*_made(context.privacy), *((name, small_number(value)) for name, value in context.generation.items())),
        examples=tuple(context.examples),
        step="stage" if counts_columns(context.privacy) else "round",
        how=_how(context.privacy),
        rounds=round_grid(context.rounds, context.privacy.get("begun_rounds") or ()),
        charges=make_grid(context.privacy.get("charges") or ()),
        charts=charts.column_charts(context.columns, context.synthetic, reference),
        chart_width=charts.WIDTH,
        chart_height=charts.HEIGHT,
        heat_maps=heat_maps(context.columns, tables),
        reference_name=None if reference is None else context.reference_name,
        reference_short=context.reference_name.removesuffix(" data"),
        warnings=tuple(dict.fromkeys(map(sentence, (*statement.warnings, *context.warnings)))),
        references=references(context.privacy),
        software_citation=software_citation(context.privacy),
        software=tuple(software.items()) if isinstance(software, Mapping) else (),
        spec_toml=context.spec_toml,
        evaluation=None if context.evaluation is None else evaluation_view(context.evaluation),
    )


def _check(context: ReportContext) -> None:
    for name, rows in (("synthetic", context.synthetic), ("reference", context.reference)):
        if rows is not None and (rows.ndim != 2 or rows.shape[1] != len(context.columns)):
            raise SpecError(f"expected {len(context.columns)} columns in the {name} table, found shape={rows.shape}")


def _tiles(context: ReportContext) -> tuple[tuple[str, str], ...]:
    """Return the figures at the top of the page."""
    privacy = context.privacy
    private = bool(privacy.get("private"))
    return (
        ("ε", bound(privacy["epsilon"]) if private else "none"),
        ("δ", bound(privacy["delta"]) if private else "none"),
        ("synthetic rows", count(len(context.synthetic))),
        ("columns", count(len(context.columns) if context.width is None else context.width)),
        *([("id columns made up anew", count(context.made_up))] if context.made_up else []),
        (
            "protected units" if privacy.get("unit_column") else "private rows",
            count(privacy["n"]) if privacy.get("n") is not None else "–",
        ),
    )


def _how(privacy: Mapping[str, Any]) -> tuple[str, ...]:
    """Return how the data was made and why so, for a reader who does not know the method."""
    if counts_columns(privacy):
        return how_counted(privacy)
    chosen = privacy.get("method") == "votes" and privacy.get("modality") == "table"
    return (_HOW_VOTED, _WHY_VOTED) if chosen else (_HOW_VOTED,)


def _made(privacy: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return the facts of how the data was made, those that are known."""
    weight = privacy.get("mixing_weight")
    counting = counts_columns(privacy)
    facts = (
        ("Method", _METHODS.get(privacy.get("method", ""))),
        ("Mechanism", privacy.get("mechanism")),
        ("The search started from", privacy.get("start")),
        ("Selection", privacy.get("selection")),
        ("Threshold in standard deviations of the noise (τ)", privacy.get("threshold")),
        ("Distance between clusters (R)", privacy.get("radius")),
        ("Denoising", privacy.get("denoising")),
        ("Scales of variation", privacy.get("schedule")),
        ("Stages" if counting else "Rounds", privacy.get("rounds")),
        ("Candidates per round, at most", privacy.get("candidates")),
        ("Draws in all rounds", privacy.get("draws")),
        ("Share of noise in a draw (β)", None if weight is None else percent(weight)),
        ("Smallest noise mass (floor)", privacy.get("floor")),
        ("Assumed distance of public data (γ)", privacy.get("proximity")),
        ("Noise per unit of sensitivity (multiplier)", privacy.get("noise_multiplier")),
        ("Accounting", privacy.get("accounting")),
        ("Public data", {True: "used", False: "none"}.get(privacy.get("public_data", ""))),
        ("Seed of public randomness", None if privacy.get("seed") is None else str(privacy["seed"])),
        ("Run", privacy.get("run_id")),
    )
    return tuple((label, small_number(value)) for label, value in facts if value is not None)
