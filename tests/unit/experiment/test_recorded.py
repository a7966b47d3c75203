"""What a run's privacy.json says was released is read back, or refused with the place and the reason."""

import json
import math

import pytest

from evomix.core.errors import InputFileError
from evomix.experiment.recorded import read_recorded
from evomix.privacy.rounds import GaussianRound, LaplaceRound, MixingRound

MIXTURE = {
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
    laplace = MIXTURE | {"mechanism": "laplace", "scale": 2.5, "rounds": 3}
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
    }
    found = read_recorded(written(content | {"accountant": "pld"}))
    assert found.rounds == (MixingRound(100, 0.5, 30, 0.01), GaussianRound(4.0), LaplaceRound(5.0))
    assert found.accountant == "pld"


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"epsilon": None}, "epsilon"),
        ({"epsilon": "1"}, "epsilon"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"delta": -1e-6}, "delta"),
        ({"delta": True}, "delta"),
        ({"n": 0}, "n to be"),
        ({"n": 2.5}, "n to be"),
        ({"draws": None}, "draws"),
        ({"draws": 10**12}, "draws"),
        ({"mixing_weight": 1.5}, "mixing_weight"),
        ({"floor": 0.75}, "floor"),
        ({"mechanism": "magic"}, "mechanism"),
        ({"mechanism": 3}, "mechanism"),
        ({"mechanism": "gaussian"}, "stddev"),
        ({"mechanism": "gaussian", "stddev": 0}, "stddev"),
        ({"mechanism": "gaussian", "stddev": 2.0, "rounds": 0}, "rounds"),
        ({"mechanism": "laplace", "scale": 0.0}, "scale"),
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


@pytest.mark.parametrize("text", ["", "{", "[1]", "null", "3"])
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
