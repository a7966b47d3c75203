"""What a run that counts column sets is told in words: stages, their shares of the budget, and where the rows began."""

import math
from dataclasses import asdict

import numpy as np
import pytest
from report_parts import PRIVACY, Made

from evomix.reports.citations import references
from evomix.reports.html import ReportContext, render_report
from evomix.reports.privacy_statement import privacy_statement
from evomix.reports.rounds import round_grid
from evomix.reports.stages import budget_shares, counts_columns, how_counted, stage_lines, stage_sentences

COLUMNS = {"mechanism": "gaussian", "counted": "each column", "column_sets": 9, "stddev": 20.0}
TARGET = {"mechanism": "gaussian", "counted": "each column and the target", "column_sets": 4, "stddev": 10.0}
ONE = {"mechanism": "gaussian", "counted": "two columns", "column_sets": 1, "stddev": 5.0}
RECORD = {name: value for name, value in PRIVACY.items() if name not in {"selection", "denoising", "candidates"}} | {
    "method": "marginals",
    "mechanism": "gaussian",
    "rounds": 3,
    "draws": None,
    "mixing_weight": None,
    "floor": None,
    "noise_multiplier": None,
    "accountant": "gaussian",
    "releases": [COLUMNS, TARGET, ONE],
    "start": "public rows",
    "public_data": True,
    "modality": "table",
}


def context(**changes):
    made = {
        "title": "Synthetic data report",
        "privacy": PRIVACY,
        "columns": (Made("age", "integer", min=17.0, max=90.0),),
        "synthetic": np.linspace(17.0, 90.0, 20)[:, None],
        "reference": None,
        "reference_name": "public data",
        "rounds": (),
        "warnings": (),
        "spec_toml": "",
    }
    return ReportContext(**made | changes)


def test_shares_of_the_budget_go_with_the_inverse_variances():
    assert budget_shares([20.0, 10.0, 5.0]) == pytest.approx([1 / 21, 4 / 21, 16 / 21])
    assert budget_shares([7.0]) == (1.0,)
    assert budget_shares([]) == ()
    assert math.fsum(budget_shares([1e-300, 1e300])) == 1.0
    assert budget_shares([1e300, 1e300]) == (0.5, 0.5)


def test_shares_are_those_that_the_plan_gave():
    from evomix.experiment.marginal_plan import plan_stages
    from evomix.marginals.stages import Shape, stages_of

    stages = stages_of(Shape((4, 300, 2, 3), (False, True, False, False), (False,) * 4, 2))
    planned = plan_stages(stages, n=1000, epsilon=0.7, delta=1e-6, rows=10)
    shares = budget_shares([one.noise_scale for one in planned.per_round])
    assert shares == pytest.approx([one.share for one in stages], rel=1e-9)
    assert stage_lines([asdict(one) for one in planned.per_round])[0].startswith(
        "each column (5 column sets), 10 % of the budget, σ = "
    )


def test_a_stage_tells_its_sets_share_and_both_noises():
    first, second, third = stage_sentences(RECORD)
    assert first == (
        "Stage 1 of 3 counts each column (9 column sets), 4.76 % of the budget, σ = 20 units for one set, "
        "60 on each count."
    )
    assert second.startswith("Stage 2 of 3 counts each column and the target (4 column sets), 19 % of the budget, ")
    assert second.endswith("σ = 10 units for one set, 20 on each count.")
    assert third == "Stage 3 of 3 counts two columns (1 column set), 76.2 % of the budget, σ = 5 units."


def test_the_statement_speaks_of_counts_and_not_of_votes():
    statement = privacy_statement(RECORD)
    text = " ".join(statement.spent)
    assert statement.spent[0].endswith("of every cell of column sets, in 3 stages.")
    assert "stages add up exactly: (ε = 1, δ = 10⁻⁶) covers all of them together" in text
    for word in ("vote", "candidate", "round", "draw"):
        assert word not in text
    assert "in 1 stage." in privacy_statement(RECORD | {"rounds": 1, "releases": [ONE]}).spent[0]


@pytest.mark.parametrize(
    ("start", "public", "words"),
    [
        ("public rows", True, "started from the public rows."),
        ("independent columns", True, "lay nearer to them than to the public rows"),
        ("independent columns", False, "There were no public rows"),
    ],
)
def test_the_report_says_why_counts_and_where_the_search_began(start, public, words):
    told = how_counted(RECORD | {"start": start, "public_data": public})
    assert words in told[1]
    assert "no candidate rows voted" in told[0]


def test_the_report_of_counts_has_stages_and_no_votes():
    events = [
        {"event": "round", "round": 0, "counted": "each column", "column_sets": 9, "cells": 50, "stddev": 60.0},
        {"event": "round", "round": 2, "counted": "two columns", "column_sets": 1, "cells": 7, "stddev": 5.0},
    ]
    page = render_report(context(privacy=RECORD | {"begun_rounds": [0, 1, 2]}, rounds=events))
    assert "Releases, stage by stage" in page
    assert "counts of column sets" in page
    assert "Candidates per round" not in page
    assert "voted for:" in page
    assert "Private units vote" not in page
    assert "interrupted: spent, nothing used" in page
    grid = round_grid(events, [0, 1, 2])
    assert grid.headings[:4] == ("stage", "what was counted", "column sets", "cells")
    assert [row[0] for row in grid.rows] == ["1", "2", "3"]


def test_the_report_of_votes_on_a_table_says_when_votes_are_taken():
    page = render_report(context(privacy=PRIVACY | {"method": "votes", "modality": "table"}))
    assert "Private units vote" in page
    assert "one round of votes counts them all" in page
    assert "one round of votes counts them all" not in render_report(context(privacy=PRIVACY | {"modality": "text"}))


def test_counts_cite_their_sources_and_not_those_of_votes():
    cited = " ".join(references(RECORD))
    for name in ("Genetic Algorithms", "AIM", "NIST Contest", "Discrete Gaussian", "Analytical Calibration"):
        assert name in cited
    assert "Foundation Model" not in cited
    assert "Foundation Model" in " ".join(references(RECORD | {"method": "votes"}))


def test_a_record_without_a_method_is_one_of_votes():
    assert counts_columns(RECORD)
    assert not counts_columns(PRIVACY)
