"""What a run's privacy.json says was released is read back, or refused with the place and the reason."""

import json

import pytest

from evomix.core.errors import InputFileError
from evomix.experiment.recorded import Choices, read_recorded
from evomix.privacy.rounds import GaussianRound, LaplaceRound, MixingRound

MIXTURE = {
    "private": True,
    "epsilon": 1.0,
    "delta": 1e-6,
    "adjacency": "replace-one",
    "n": 100,
    "mechanism": "linmix",
    "draws": 60,
    "mixing_weight": 0.75,
    "floor": 0.05,
    "rounds": 2,
    "accountant": "draws",
}
GAUSSIAN = MIXTURE | {"mechanism": "gaussian", "stddev": 3.0, "rounds": 4, "accountant": "gaussian"}
LINMIX_30 = {"mechanism": "linmix", "draws": 30, "mixing_weight": 0.75, "floor": 0.05}
LISTED = MIXTURE | {"releases": [LINMIX_30, LINMIX_30], "draws_per_round": [30, 30]}
FILTERED = LISTED | {
    "accountant": "renyi",
    "order": 12.0,
    "shares": [0.5, 0.5],
    "begun_rounds": [0, 1],
    "releases": [LINMIX_30 | {"round": 0, "share": 0.5}, LINMIX_30 | {"round": 1, "share": 0.5}],
}


@pytest.fixture
def written(tmp_path):
    def write(content):
        text = content if isinstance(content, str) else json.dumps(content)
        (tmp_path / "privacy.json").write_text(text, encoding="utf-8")
        return tmp_path

    return write


def test_a_mixture_is_one_release_of_all_its_draws(written):
    found = read_recorded(written(MIXTURE))
    assert found.rounds == (MixingRound(100, 0.75, 60, 0.05),)
    assert (found.epsilon, found.delta, found.units, found.mechanism, found.accountant) == (
        1.0,
        1e-6,
        100,
        "linmix",
        "draws",
    )


def test_a_histogram_is_released_every_round(written):
    assert read_recorded(written(GAUSSIAN)).rounds == (GaussianRound(3.0),) * 4
    laplace = MIXTURE | {"mechanism": "laplace", "scale": 2.5, "rounds": 3, "accountant": "laplace"}
    assert read_recorded(written(laplace)).rounds == (LaplaceRound(2.5),) * 3


def test_a_list_of_releases_is_what_counts(written):
    releases = [
        {"mechanism": "pubmix", "candidates": 50, "draws": 30, "mixing_weight": 0.5, "floor": 0.01},
        {"mechanism": "gaussian", "candidates": 20, "draws": 0, "mixing_weight": None, "floor": None, "stddev": 4.0},
        {"mechanism": "laplace", "candidates": 20, "scale": 5.0},
    ]
    content = MIXTURE | {
        "mechanism": "pubmix,gaussian,laplace",
        "mixing_weight": None,
        "floor": None,
        "releases": releases,
        "draws": 30,
        "draws_per_round": [30, 0, 0],
        "rounds": 3,
    }
    found = read_recorded(written(content | {"accountant": "pld"}))
    assert found.rounds == (MixingRound(100, 0.5, 30, 0.01), GaussianRound(4.0), LaplaceRound(5.0))
    assert (found.accountant, found.planned, found.choices, found.contradictions) == ("pld", 3, None, ())


def test_what_a_filter_went_by_is_read_with_the_rounds(written):
    found = read_recorded(written(FILTERED))
    assert found.choices == Choices(12.0, (0.5, 0.5), (0, 1), (0.5, 0.5), (0, 1))
    assert found.contradictions == ()
    without = {name: value for name, value in FILTERED.items() if name != "shares"}
    assert read_recorded(written(without)).choices.shares is None


def test_nobody_to_betray_is_audited_as_one(written):
    found = read_recorded(written(MIXTURE | {"n": 0}))
    assert found.units == 0
    assert found.rounds == (MixingRound(1, 0.75, 60, 0.05),)


def test_an_account_that_is_not_named_is_the_one_of_the_rounds(written):
    for content, account in ((MIXTURE, "draws"), (GAUSSIAN, "gaussian")):
        unnamed = {name: value for name, value in content.items() if name != "accountant"}
        assert read_recorded(written(unnamed)).accountant == account


def test_a_run_that_claims_nothing_is_refused_loudly(written):
    with pytest.raises(InputFileError, match=r"NOT PRIVATE.*nothing to audit"):
        read_recorded(written(MIXTURE | {"private": False}))


def test_another_word_does_not_change_the_account(written):
    for word in ("pld", "draws", "gaussian", "laplace"):
        with pytest.raises(InputFileError, match="accountant to be 'renyi'"):
            read_recorded(written(FILTERED | {"accountant": word}))
    unnamed = {name: value for name, value in FILTERED.items() if name != "accountant"}
    with pytest.raises(InputFileError, match="accountant"):
        read_recorded(written(unnamed))
    with pytest.raises(InputFileError, match="round"):
        read_recorded(written(LISTED | {"accountant": "renyi", "order": 12.0, "begun_rounds": [0, 1]}))
    # One trace of a filter is enough.
    for trace in ("order", "shares"):
        with pytest.raises(InputFileError, match="accountant"):
            read_recorded(written(LISTED | {trace: FILTERED[trace]}))
    for trace in ("round", "share"):
        with pytest.raises(InputFileError, match="accountant"):
            read_recorded(written(LISTED | {"releases": [LINMIX_30, FILTERED["releases"][0] | {trace: 1}]}))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rounds": 3}, "2 releases"),
        ({"releases": [LINMIX_30]}, "1 releases"),
        ({"mixing_weight": 0.5}, "mixing_weight is 0.5"),
        ({"releases": [LINMIX_30, LINMIX_30 | {"floor": 0.04}]}, "floor is 0.05"),
        ({"stddev": 2.0}, "stddev is 2.0"),
        ({"mechanism": "pubmix"}, "mechanism is pubmix"),
        ({"mechanism": "linmix,gaussian"}, "mechanism is linmix,gaussian"),
        ({"mechanism": "linmix,linmix,linmix"}, "names 3 rounds"),
        ({"draws": 59}, "draws is 59"),
        ({"draws_per_round": [30, 29]}, "draws_per_round has 29 in round 1"),
        ({"draws_per_round": [60]}, "draws_per_round has 1 rounds"),
    ],
)
def test_figures_that_are_recorded_twice_must_agree(written, change, said):
    assert read_recorded(written(LISTED)).contradictions == ()
    assert said in "; ".join(read_recorded(written(LISTED | change)).contradictions)
    if set(change) <= {"mechanism", "draws", "draws_per_round", "mixing_weight"}:
        assert said in "; ".join(read_recorded(written(FILTERED | change)).contradictions)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"order": None}, "order"),
        ({"order": -3.0}, "order"),
        ({"order": True}, "order"),
        ({"shares": [0.5]}, "shares"),
        ({"shares": [0.5, 1.5]}, r"shares\[1\]"),
        ({"shares": [0.5, True]}, r"shares\[1\]"),
        ({"shares": 0.5}, "shares"),
        ({"begun_rounds": None}, "begun_rounds"),
        ({"begun_rounds": [0, 2]}, r"begun_rounds\[1\]"),
        ({"begun_rounds": [0, 0.5]}, r"begun_rounds\[1\]"),
        ({"releases": [LINMIX_30 | {"round": 2, "share": 0.5}]}, r"releases\[0\]\.round"),
        ({"releases": [LINMIX_30 | {"round": True, "share": 0.5}]}, r"releases\[0\]\.round"),
        ({"releases": [LINMIX_30 | {"round": 0}]}, r"releases\[0\]\.share"),
        ({"releases": [LINMIX_30 | {"round": 0, "share": 0}]}, r"releases\[0\]\.share"),
        ({"releases": [LINMIX_30 | {"round": 0, "share": 10**400}]}, r"releases\[0\]\.share"),
    ],
)
def test_choices_that_no_filter_made_are_refused(written, change, place):
    with pytest.raises(InputFileError, match=place):
        read_recorded(written(FILTERED | change))


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"epsilon": None}, "epsilon"),
        ({"epsilon": "1"}, "epsilon"),
        ({"delta": -1e-6}, "delta"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": 10**400}, "epsilon"),
        ({"delta": True}, "delta"),
        ({"delta": 0.0}, "delta"),
        ({"delta": 1}, "delta"),
        ({"delta": 10**400}, "delta"),
        ({"private": None}, "private"),
        ({"private": 1}, "private"),
        ({"n": -1}, "n to be"),
        ({"n": True}, "n to be"),
        ({"n": 10**400}, "n to be"),
        ({"n": 2.5}, "n to be"),
        ({"draws": None}, "draws"),
        ({"releases": [LINMIX_30] * 2, "draws_per_round": 0}, "draws_per_round"),
        ({"releases": [LINMIX_30] * 2, "draws_per_round": [30, True]}, r"draws_per_round\[1\]"),
        ({"draws": 10**12}, "draws"),
        ({"mixing_weight": 1.5}, "mixing_weight"),
        ({"floor": 0.75}, "floor"),
        ({"mechanism": "magic"}, "mechanism"),
        ({"mechanism": 3}, "mechanism"),
        ({"mechanism": "gaussian"}, "stddev"),
        ({"mechanism": "gaussian", "stddev": 0}, "stddev"),
        ({"mechanism": "gaussian", "stddev": 2.0, "rounds": 0}, "rounds"),
        ({"mechanism": "gaussian", "stddev": 2.0, "rounds": 10**9}, "rounds"),
        ({"rounds": None}, "rounds"),
        ({"mechanism": "laplace", "scale": 0.0}, "scale"),
        ({"mechanism": "laplace", "scale": 10**400}, "scale"),
        ({"accountant": "magic"}, "accountant"),
        ({"accountant": 3}, "accountant"),
        ({"accountant": "renyi"}, "releases"),
        ({"adjacency": "add-remove"}, "adjacency"),
        ({"releases": []}, "releases"),
        ({"releases": "three"}, "releases"),
        ({"releases": [3]}, "releases"),
        ({"releases": [{"mechanism": "linmix", "draws": 4, "mixing_weight": 0.5}]}, r"releases\[0\]\.floor"),
        ({"releases": [{}]}, r"releases\[0\]\.mechanism"),
    ],
)
def test_figures_that_no_run_would_write_are_refused(written, change, place):
    with pytest.raises(InputFileError, match=place) as refusal:
        read_recorded(written(MIXTURE | change))
    assert "privacy.json" in str(refusal.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[1]",
        "null",
        "3",
        pytest.param("[" * 100_000 + "]" * 100_000, id="deep"),
        pytest.param(f'{{"n": {"9" * 5000}}}', id="long"),
        '{"seed": NaN}',
        '{"seed": -Infinity}',
        '{"seed": 1e999}',
    ],
)
def test_damaged_files_are_refused(written, text):
    with pytest.raises(InputFileError, match="damaged"):
        read_recorded(written(text))


def test_a_file_of_bytes_is_refused(tmp_path):
    (tmp_path / "privacy.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputFileError, match="damaged"):
        read_recorded(tmp_path)


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(InputFileError, match="folder of a finished run"):
        read_recorded(tmp_path)
    with pytest.raises(InputFileError, match="folder of a finished run"):
        read_recorded(tmp_path / "nowhere")
