import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from report_parts import PRIVACY, Made, Page

from evomix.core.errors import SpecError
from evomix.evaluation.evaluate import evaluate
from evomix.reports.evaluation_html import render_evaluation
from evomix.reports.gauges import gauge
from evomix.reports.html import ReportContext, render_report

COLUMNS = (
    Made("age", "integer", min=17.0, max=90.0),
    Made("pay", "number", min=0.0, max=9e4, missing=True),
    Made("region", "category", values=("north", "south"), missing=True),
    Made("smokes", "boolean", values=("false", "true")),
    Made("seen", "date", min=-719_162.0, max=2_932_896.0),
    Made("at", "datetime", min=0.0, max=1.7e9),
    Made("fixed", "integer", min=5.0, max=5.0),
    Made("void", "number", min=0.0, max=1.0, missing=True),
)
NASTY = '<script>alert("x")</script>&"\' \u202e\x00\x1b 名前 👩‍👩‍👧 \ud800'


def rows(n, seed):
    rng = np.random.default_rng(seed)
    age = rng.integers(17, 91, n).astype(float)
    pay = np.where(rng.random(n) < 0.1, np.nan, 900 * age)
    region = np.where(rng.random(n) < 0.1, np.nan, (age > 50).astype(float))
    rest = [rng.integers(0, 2, n), rng.integers(-719_162, 2_932_897, n), 1.7e9 * rng.random(n)]
    return np.column_stack([age, pay, region, *rest, np.full(n, 5.0), np.full(n, np.nan)])


def context(**changes):
    plain = ReportContext(
        title="Synthetic data report",
        privacy=PRIVACY,
        columns=COLUMNS,
        synthetic=rows(300, 1),
        reference=rows(200, 2),
        reference_name="public data",
        rounds=[{"event": "round", "round": 0, "candidates": 4000, "draws": 1666}],
        warnings=("the schema was read from public data",),
        spec_toml="epsilon = 1.0\n",
        evaluation=None,
    )
    return replace(plain, **changes)


def test_the_page_is_whole_and_stands_alone():
    page = render_report(context())
    read = Page(page)
    expected = ["guarantee", "warnings", "spent", "made", "columns", "relations", "cite", "reproduce"]
    assert read.ids == expected
    assert "script" not in read.tags
    assert not {key for key, _ in read.attributes} & {"src", "href", "srcset", "onload", "onclick"}
    assert "url(" not in page
    assert "@import" not in page
    assert sum(value == "chart" for key, value in read.attributes if key == "class") == len(COLUMNS)


def test_a_manager_finds_guarantee_spending_warnings_and_references():
    text = Page(render_report(context())).text
    for sentence in (
        "Differentially private with (ε = 1, δ = 10⁻⁶)",
        "The protected unit is one row.",
        "The schema was read from public data.",
        "People in the public data are not protected",
        "1,666",
        "21.3 %",
        "Optimal Domain-Aware Privacy Mechanisms",
        "evomix 0.1.0",
        "epsilon = 1.0",
        "The private data is not shown",
        "0001-01-01",
        "9999-12-31",
    ):
        assert sentence in text
    assert "NaN" not in text
    assert "None" not in text


def test_not_private_is_impossible_to_miss():
    read = Page(render_report(context(privacy=PRIVACY | {"private": False})))
    assert ("role", "alert") in read.attributes
    assert "NOT PRIVATE." in read.text
    assert "Differentially private with" not in read.text


def test_rounds_are_counted_from_one_and_lost_ones_are_told():
    done = [{"event": "round", "round": index, "candidates": 40 + index, "draws": 10} for index in (0, 2)]
    text = Page(render_report(context(rounds=done, privacy=PRIVACY | {"begun_rounds": [0, 1, 2]}))).text
    assert "1 40 10 – 2 – – interrupted: spent, nothing used 3 42 10 –" in text
    whole = Page(render_report(context(rounds=done, privacy=PRIVACY | {"begun_rounds": [0, 2]}))).text
    assert "interrupted" not in whole
    assert "interrupted" not in render_report(context(rounds=(), privacy=PRIVACY | {"begun_rounds": [0, 1]}))


def test_a_seed_is_shown_to_its_last_digit():
    assert "3162454057722129723" in render_report(context(privacy=PRIVACY | {"seed": 3162454057722129723}))


def test_without_reference_the_synthetic_table_stands_alone():
    for reference in (None, np.empty((0, len(COLUMNS)))):
        page = render_report(context(reference=reference))
        assert "there is no public or held-out table" in Page(page).text
        assert "<polyline" not in page
        assert "overlap" not in page


def test_hostile_text_stays_text_and_the_page_can_be_saved():
    columns = (replace(COLUMNS[0], name=NASTY * 9), replace(COLUMNS[2], values=(NASTY, NASTY + "2")))
    page = render_report(
        context(
            title=NASTY,
            columns=columns,
            synthetic=rows(50, 1)[:, [0, 2]],
            reference=None,
            warnings=(NASTY,),
            spec_toml=f'title = "</pre>{NASTY}"',
            rounds=[{NASTY: NASTY}],
            privacy=PRIVACY | {"unit_column": NASTY, "dataset": NASTY, "software": {"evomix": NASTY}},
        )
    )
    read = Page(page)
    assert "script" not in read.tags
    assert "名前" in read.text
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", page)
    page.encode("utf-8")


@pytest.mark.parametrize("width", [1, 60])
def test_narrow_and_wide_tables(width):
    rng = np.random.default_rng(0)
    columns = [Made(f"column {k}", "number", min=0.0, max=1.0) for k in range(width)]
    made, known = rng.random((200, width)), rng.random((200, width))
    page = render_report(context(columns=columns, synthetic=made, reference=known))
    assert len(page) < 3_000_000
    assert ("relations" in Page(page).ids) == (width > 1)


def test_no_rows_and_a_bare_record_still_give_a_page():
    bare = {"private": True, "epsilon": 0.5, "delta": 0.0}
    page = render_report(
        context(privacy=bare, synthetic=np.empty((0, 8)), reference=None, rounds=(), warnings=(), spec_toml="")
    )
    assert "no rows" in Page(page).text


def test_matrices_must_fit_the_columns():
    with pytest.raises(SpecError, match="8 columns in the reference table"):
        render_report(context(reference=np.ones((3, 2))))


def measured(target="region"):
    found = evaluate(rows(300, 1), rows(200, 2), COLUMNS, public=rows(100, 3), target=target, seeds=1)
    return found.to_dict()


def test_evaluation_page_shows_figures_ceilings_floors_and_cost():
    evaluation = measured()
    text = Page(render_evaluation(evaluation)).text
    for sentence in (
        "ε = ∞",
        "Predicting region",
        "ceiling: as many real rows",
        "floor: public rows only",
        "Relations between columns",
        "age with pay",
        "A measured risk is not a bound",
        f"{evaluation['fidelity']['marginals'][1]['mean']:.3f}",
    ):
        assert sentence in text
    positions = [
        float(value) for key, value in Page(render_evaluation(evaluation)).attributes if key == "x1" and value != "0"
    ]
    assert all(0.0 <= position <= 100.0 for position in positions)


@pytest.mark.parametrize(
    ("value", "ends", "position"),
    [
        (0.8, (0.6, 1.0), 50.0),
        (2.0, (4.0, 0.0), 50.0),
        (0.2, (0.4, 0.0), 50.0),
        (0.5, (1.0, 1.0), 0.0),
        (None, (0, 1), None),
    ],
)
def test_better_is_always_to_the_right(value, ends, position):
    found = gauge("figure", (value, ends[1], ends[0]), ends=ends)
    assert found.position == position
    assert found.ceiling_position == 100.0


def test_evaluation_of_numbers_of_nothing_and_of_copies():
    assert "Root mean squared error" in Page(render_evaluation(measured("pay"))).text
    assert "Predicting" not in Page(render_evaluation(measured(None))).text
    one = rows(1, 1)
    alone = evaluate(one, one, COLUMNS, target="region", seeds=1).to_dict()
    assert "too few real rows" in Page(render_evaluation(alone)).text
    copied = evaluate(rows(99, 1), rows(99, 1), COLUMNS).to_dict()
    assert "Do not share this table" in Page(render_evaluation(copied)).text


def test_a_report_can_hold_its_evaluation():
    read = Page(render_report(context(evaluation=measured())))
    assert "evaluation" in read.ids
    assert "Predicting region" in read.text


def test_the_verdict_stands_above_the_figures():
    evaluation = measured()
    text = Page(render_evaluation(evaluation)).text
    assert text.index(evaluation["verdict"]) < text.index("Distance of single columns")
    assert Page(render_evaluation(evaluation | {"verdict": None})).text.count("figures") == text.count("figures") - 1


def test_charts_say_what_they_compare_with():
    text = Page(render_report(context())).text
    assert "overlap with public " in text
    assert "(public " in text
    assert "reference" not in text


def test_made_up_ids_are_counted_beside_the_modelled_columns():
    assert "2 id columns made up anew" in Page(render_report(context(made_up=2))).text
    assert "made up anew" not in render_report(context())


def test_the_package_draws_without_a_plotting_library():
    code = "import sys, evomix.reports.html; sys.exit(bool({'matplotlib', 'sklearn', 'pandas'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
