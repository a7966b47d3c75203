import json
from dataclasses import replace

import numpy as np
import pytest
from experiment_tables import file_spec

from evomix.core.errors import InputFileError, SpecError
from evomix.evolution import state as states
from evomix.experiment import engine
from evomix.experiment.run import dry_run, synthesize_to_file
from evomix.privacy import Ledger

ADAPTIVE = {"mechanism": "linmix,gaussian,linmix,linmix", "rounds": 4, "candidates": 20, "accounting": "renyi"}
FIXED = {"rounds": 4}


@pytest.fixture(params=[ADAPTIVE, FIXED], ids=["renyi", "draws"])
def spec(request, tmp_path, monkeypatch):
    """A run that was stopped in its third round, with two saved."""
    spec = file_spec(tmp_path, seed=1, **request.param)
    _stop_before(monkeypatch, spec, 2)
    assert Ledger().entries()[0].rounds_begun == 2
    return replace(spec, resume=True)


def _stop_before(monkeypatch, spec, index):
    real = engine.Curator.release

    def stopping(self, round_index, *arguments):
        if round_index == index:
            raise KeyboardInterrupt
        return real(self, round_index, *arguments)

    with monkeypatch.context() as patched:
        patched.setattr(engine.Curator, "release", stopping)
        with pytest.raises(KeyboardInterrupt):
            synthesize_to_file(spec)


def _edit(folder, change):
    """Change the header of the saved state."""
    path = folder / "made.run" / "checkpoint" / states.STATE_FILE
    with np.load(path) as saved:
        arrays = dict(saved)
    header = json.loads(arrays["header"].tobytes())
    change(header)
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez_compressed(path, **arrays)


def _first(**changes):
    return lambda header: header["told"][0].update(changes)


def _last(**changes):
    return lambda header: header["told"][-1].update(changes)


TOLD = {
    "a round twice": _first(round=1),
    "a round to come": _last(round=3),
    "a round that is none": _first(round="0"),
    "rounds out of order": lambda header: header["told"].reverse(),
    "a round too many": lambda header: header["told"].insert(0, header["told"][0]),
    "no rounds": lambda header: header["told"].clear(),
    "last round lost": lambda header: header["told"].pop(),
    "another mechanism": _first(mechanism="gaussian"),
    "no mechanism": lambda header: header["told"][0].pop("mechanism"),
    "no weight": lambda header: header["told"][0].pop("mixing_weight"),
    "no number": _first(mixing_weight=float("nan")),
    "a weight above 1": _first(mixing_weight=1.5),
    "a list": _first(floor=[0.1]),
    "no floor": _first(floor=0.0),
    "other draws": _first(draws=1),
    "no candidates": _first(candidates=0),
    "too many candidates": _first(candidates=21),
    "less noise than was released": _last(stddev=1e-3),
    "nothing": lambda header: header.pop("told"),
}
ANY = {
    "a round to come": lambda header: header.update(next_round=4),
    "a round before": lambda header: header.update(next_round=1),
    "no round": lambda header: header.update(next_round=0),
    "a round that is none": lambda header: header.update(next_round=2.5),
    "more rounds than there are": lambda header: header.update(next_round=99),
    "no release": lambda header: header.update(release=None),
    "other units": lambda header: header["release"].update(units=61),
    "no units": lambda header: header["release"].update(units=None),
    "generator of another kind": lambda header: header["rng_state"].update(bit_generator="MT19937"),
    "generator without state": lambda header: header["rng_state"].pop("state"),
    "generator state too large": lambda header: header["rng_state"]["state"].update(state=2**200),
    "generator state no integer": lambda header: header["rng_state"]["state"].update(state=1.5),
    "generator is a list": lambda header: header.update(rng_state=[1]),
}


def _cases():
    for name, change in TOLD.items():
        yield pytest.param(ADAPTIVE, change, id=f"renyi, told: {name}")
    for name, change in ANY.items():
        yield pytest.param(ADAPTIVE, change, id=f"renyi: {name}")
        if name != "a round before":  # like a round that was lost, where rounds were fixed in advance
            yield pytest.param(FIXED, change, id=f"draws: {name}")


@pytest.mark.parametrize(("spec", "change"), list(_cases()), indirect=["spec"])
def test_a_damaged_state_is_refused_before_anything_more_is_released(spec, tmp_path, change):
    _edit(tmp_path, change)
    with pytest.raises(InputFileError, match="damaged"):
        synthesize_to_file(spec)
    assert Ledger().entries()[0].rounds_begun == 2
    assert not spec.out.exists()


def test_an_undamaged_one_goes_on(spec):
    made = synthesize_to_file(spec)
    assert [told.get("round", index) for index, told in enumerate(made.privacy["releases"])] == [0, 1, 2, 3]
    assert Ledger().entries()[0].rounds_begun == 4


def test_rows_are_drawn_from_what_was_released_so_a_resumed_run_may_make_fewer(spec):
    assert synthesize_to_file(replace(spec, rows=3)).rows == 3


@pytest.mark.parametrize("change", [{"candidates": (20, 10**6)}, {"rows": 10**9}])
def test_what_would_not_fit_into_memory_is_refused_before_it_is_charged(tmp_path, monkeypatch, change):
    monkeypatch.setattr("evomix.experiment.design.MOST_CELLS", 10**6)
    spec = file_spec(tmp_path, **change)
    for stage in (dry_run, synthesize_to_file):
        with pytest.raises(SpecError, match=f"{next(iter(change))}=.* of 3 columns .*at most 333333"):
            stage(spec)
    assert Ledger().entries() == ()


@pytest.mark.parametrize(("epsilon", "delta"), [(1e-6, 1e-310), (700.0, 5e-324), (1e-6, 0.999), (1e300, 1e-6)])
@pytest.mark.parametrize("mechanism", ["linmix", "linmix,linmix"])
def test_no_budget_fails_a_run_in_its_report(tmp_path, epsilon, delta, mechanism):
    accounting = "renyi" if "," in mechanism and epsilon < 1e3 else "auto"
    spec = file_spec(tmp_path, epsilon=epsilon, delta=delta, mechanism=mechanism, accounting=accounting)
    made = synthesize_to_file(spec)
    assert (made.privacy["epsilon"], made.privacy["delta"]) == (epsilon, delta)
    assert "at most 1 in " in (made.run_dir / "report.html").read_text(encoding="utf-8")
