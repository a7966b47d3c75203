"""What rounds that differ released is told in words, and like rounds are told once."""

import pytest

from evomix.reports.citations import references
from evomix.reports.privacy_statement import privacy_statement
from evomix.reports.releases import differing_rounds, mechanisms_in_words

LINMIX = {"mechanism": "linmix", "candidates": 500, "draws": 3000, "mixing_weight": 0.25, "floor": 0.002}
FINE = LINMIX | {"candidates": 2000, "mixing_weight": 0.5, "floor": 0.0005}
GAUSSIAN = {"mechanism": "gaussian", "candidates": 8000, "stddev": 12.5}
RECORD = {
    "epsilon": 1.0,
    "delta": 1e-6,
    "private": True,
    "mechanism": "linmix,linmix,gaussian",
    "rounds": 3,
    "draws": 6000,
    "mixing_weight": None,
    "noise_multiplier": None,
    "accountant": "pld",
    "releases": [LINMIX, FINE, GAUSSIAN],
}


def test_each_round_is_told_with_its_own_figures():
    assert differing_rounds(RECORD) == (
        "Round 1: LinMix, 500 candidates, 3,000 draws, each noise with probability 25.0 %.",
        "Round 2: LinMix, 2,000 candidates, 3,000 draws, each noise with probability 50.0 %.",
        "Round 3: Gaussian noise, 8,000 candidates, σ = 12.5 units on each count.",
    )


def test_like_rounds_in_a_row_are_told_together_and_a_lost_one_is_not_told():
    releases = [LINMIX | {"round": index} for index in (0, 1, 2)] + [GAUSSIAN | {"round": 4}]
    told = differing_rounds({"releases": releases})
    assert [sentence.split(":")[0] for sentence in told] == ["Rounds 1 to 3", "Round 5"]


@pytest.mark.parametrize("releases", [None, [], [LINMIX], [LINMIX, LINMIX]])
def test_a_run_of_like_rounds_needs_no_list(releases):
    assert differing_rounds({"releases": releases}) == ()


def test_each_mechanism_is_explained_once():
    assert mechanisms_in_words("linmix,linmix").count("LinMix") == 1
    words = mechanisms_in_words("linmix,laplace,linmix,other")
    assert words.index("LinMix") < words.index("Laplace") < words.index("other")


@pytest.mark.parametrize(
    ("accountant", "words"), [("pld", "composed numerically, rounded up"), ("renyi", "Rényi filter")]
)
def test_the_statement_tells_the_rounds_and_how_they_add_up(accountant, words):
    spent = privacy_statement(RECORD | {"accountant": accountant}).spent
    assert spent[0].endswith("in 3 rounds and 6,000 draws in all.")
    assert spent[1:4] == differing_rounds(RECORD)
    assert words in spent[4]
    assert "(ε = 1, δ = 10⁻⁶) covers the whole run" in spent[4]


def test_draws_of_rounds_that_differ_in_candidates_are_still_one_budget():
    record = RECORD | {"mechanism": "linmix,pubmix", "accountant": "draws", "mixing_weight": 0.5}
    assert any("one exact composition" in sentence for sentence in privacy_statement(record).spent)


def test_everything_that_was_used_is_cited_once():
    cited = references(RECORD)
    assert len(cited) == len(set(cited))
    text = " ".join(cited)
    for work in ("Domain-Aware", "Discrete Gaussian", "Connect the Dots"):
        assert work in text
    assert "Rényi Filter" in " ".join(references(RECORD | {"accountant": "renyi"}))
    assert "Rényi" not in text
