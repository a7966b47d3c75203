import json
import tomllib

import numpy as np
import pytest

from evomix.core.errors import InputFileError
from evomix.core.release import Draws, NoisyVotes
from evomix.evolution.step import Round
from evomix.experiment import artifacts

ODD = "x\udcff.csv"  # how Python shows a file name whose bytes are no text
CANDIDATES = np.zeros((3, 1))


@pytest.mark.parametrize("text", ["plain", 'quo"te', "back\\slash", "line\nbreak\ttab", "\x00\x7f\x1f", "名前 \u2028"])
def test_settings_come_back_from_toml(text):
    settings = {"text": text, "yes": True, "rows": 5000, "epsilon": 1e-06, "large": 1e300}
    assert tomllib.loads(artifacts.to_toml(settings)) == settings


def test_file_names_that_are_no_text_do_not_stop_a_run(tmp_path):
    assert tomllib.loads(artifacts.to_toml({"out": ODD})) == {"out": "x?.csv"}
    artifacts.write_json(tmp_path / "privacy.json", {"dataset": ODD})
    assert json.loads((tmp_path / "privacy.json").read_text(encoding="utf-8")) == {"dataset": ODD}


def test_settings_with_a_value_for_each_round_come_back():
    settings = {"candidates": [500, 2000], "mechanism": "linmix,gaussian", "names": ["a", 'b"c'], "none": []}
    assert tomllib.loads(artifacts.to_toml(settings)) == settings


def test_rounds_tell_public_figures_only(tmp_path):
    draws = Draws(np.array([5, 0, 2]), 0.3, np.full(3, 1 / 3), 100)
    votes = NoisyVotes(np.array([5.0, -1.0, 2.0]), 7.5, 100)
    for index, release in enumerate((draws, votes)):
        artifacts.append_event(tmp_path, artifacts.round_event(index, Round(CANDIDATES, release, CANDIDATES)))
    artifacts.append_event(tmp_path, {"event": "other"})
    first, second = artifacts.read_rounds(tmp_path)
    assert "time" not in first  # how long a round took may depend on the records
    drawn = {"draws": 7, "distinct_drawn": 2, "share_of_noise": 0.3}
    assert first == {"event": "round", "round": 0, "candidates": 3, **drawn}
    assert second == {"event": "round", "round": 1, "candidates": 3, "stddev": 7.5}


def test_a_line_that_a_crash_cut_is_passed_over(tmp_path):
    artifacts.append_event(tmp_path, {"event": "round", "round": 0})
    with (tmp_path / artifacts.EVENTS_FILE).open("a") as file:
        file.write('7\n["round"]\n{"event": "round", "round": [0]}\n' + "[" * 100_000 + '\n{"event": "rou')
    with (tmp_path / artifacts.EVENTS_FILE).open("ab") as file:
        file.write(b"\xff\xfe")
    assert [event["round"] for event in artifacts.read_rounds(tmp_path)] == [0]
    assert artifacts.read_rounds(tmp_path / "absent") == []


def test_a_folder_without_a_run_has_none(tmp_path):
    assert not artifacts.has_run(tmp_path)
    assert artifacts.load_run(tmp_path) is None


@pytest.mark.parametrize("damage", ["", "[]", "{", "{}", "\udcff"])
def test_a_damaged_run_is_refused(tmp_path, damage):
    artifacts.save_run(tmp_path, {"run_id": "r"})
    (tmp_path / "checkpoint" / "run.json").write_bytes(damage.encode("utf-8", "surrogateescape"))
    assert artifacts.has_run(tmp_path)
    with pytest.raises(InputFileError, match=r"damaged.*stays spent"):
        artifacts.load_run(tmp_path)


def test_versions_of_what_computed_the_result_are_kept():
    assert {"evomix", "python", "numpy", "opendp"} <= set(artifacts.software())
