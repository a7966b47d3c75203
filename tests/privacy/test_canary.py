"""A canary in every private cell appears in no file, message, log or traceback, whatever goes right or wrong."""

import json
import tempfile

import numpy as np
import pyarrow as pa
import pytest
from planted import SCHEMA, WORD, bytes_under, call, found_in, plant, private_table, public_table, texts_of

import evomix
from evomix.core.errors import EvomixError
from evomix.curator.records import PrivateRecords
from evomix.evolution import loop
from evomix.formats.row_source import MemoryRows
from evomix.modalities.tabular.codec import TableCodec
from evomix.privacy.mechanisms.gaussian import GaussianHistogram

MECHANISMS = ("pubmix", "linmix", "gaussian", "laplace")
DIFFERING = {
    "pld": ("pubmix,gaussian", ("--candidates", "20,40")),
    "draws": ("linmix,pubmix", ("--candidates", "20,40", "--accounting", "draws")),
    "renyi": ("laplace,pubmix", ("--candidates", "20,40", "--accounting", "renyi")),
}


@pytest.fixture
def house(tmp_path, monkeypatch):
    """Return a folder with the inputs, and make all of HOME, TMPDIR, ledger and run folder lie beside it."""
    inputs, outside = tmp_path / "inputs", tmp_path / "outside"
    for folder in (inputs, outside / "home", outside / "tmp"):
        folder.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(outside / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(outside / "home" / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(outside / "home" / "cache"))
    monkeypatch.setenv("TMPDIR", str(outside / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.delenv("EVOMIX_LEDGER")
    monkeypatch.chdir(outside)
    return inputs


def _synth(house, *more, suffix="csv", mechanism="pubmix", out="s.csv"):
    words = {
        "--public": house / f"public.{suffix}",
        "--schema": house / "schema.json",
        "--epsilon": 1,
        "--rows": 40,
        "--rounds": 2,
        "--candidates": 30,
        "--mechanism": mechanism,
        "--out": out,
    }
    options = [word for pair in words.items() for word in pair]
    return call(["synth", house / f"private.{suffix}", *options, "--debug", *more])


def _assert_clean(house, *texts):
    for text in texts:
        assert found_in(text) == []
    for path, content in bytes_under(house.parent / "outside"):
        assert found_in(content) == [], path


def test_the_search_finds_what_is_planted(house):
    plant(house, unit=True)
    plant(house, suffix="parquet")
    for name in ("private.csv", "private.parquet"):
        assert len(found_in((house / name).read_bytes())) > 3, name
    for name in ("public.csv", "public.parquet", "schema.json"):
        assert found_in((house / name).read_bytes()) == [], name
    np.savez_compressed(house / "x.npz", income=np.array([1.0, 73519.8642]))
    assert any(found_in(content) for path, content in bytes_under(house) if "x.npz" in str(path))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_no_canary_in_anything_a_run_leaves(house, mechanism):
    plant(house)
    code, printed = _synth(house, "--json", mechanism=mechanism)
    assert code == 0, printed
    assert '"private": true' in printed
    assert {"s.csv", "checkpoint", "privacy.json", "report.html", "events.jsonl", "spec.toml", "ledger.sqlite"} <= {
        path.name for path in (house.parent / "outside").rglob("*")
    }
    _assert_clean(house, printed)


@pytest.mark.parametrize("accountant", DIFFERING)
def test_no_canary_in_anything_that_a_run_of_differing_rounds_leaves(house, accountant):
    mechanism, options = DIFFERING[accountant]
    plant(house)
    code, printed = _synth(house, "--json", *options, mechanism=mechanism)
    assert code == 0, printed
    assert f'"accountant": "{accountant}"' in printed
    _assert_clean(house, printed)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("mechanism", ["linmix", "gaussian"])
def test_no_canary_of_people_with_several_rows(house, mechanism, suffix):
    plant(house, suffix=suffix, unit=True)
    code, printed = _synth(house, "--unit", "person", mechanism=mechanism, suffix=suffix)
    assert code == 0, printed
    _assert_clean(house, printed)


def test_neither_the_number_of_rows_nor_exact_statistics_come_out(house):
    """Units are public; how many rows they have is not, nor are minima, maxima, means and counts."""
    rows = [0.123456789, 987.654321, 555.111222333]
    columns = {"age": np.full(997, 41), "income": np.resize(rows, 997), "region": ["north"] * 997}
    rest = {"colour": ["red"] * 997, "born": ["2005-05-05"] * 997, "seen": ["2021-02-03T00:00:00"] * 997}
    ids = {"smokes": ["yes"] * 997, "key": [f"k{n}" for n in range(997)], "person": np.arange(997) // 10}
    plant(house)
    pa.csv.write_csv(pa.table(columns | rest | ids), house / "private.csv")
    code, printed = _synth(house, "--unit", "person", mechanism="gaussian", out="s.jsonl")
    assert code == 0, printed
    secrets = ["997", "0.123456789", "987.654321", "555.111222", f"{np.mean(columns['income']):.6f}"]
    privacy = (house.parent / "outside" / "s.run" / "privacy.json").read_text()
    assert json.loads(privacy)["n"] == 100
    for name in ("spec.toml", "events.jsonl"):
        text = (house.parent / "outside" / "s.run" / name).read_text()
        assert [secret for secret in secrets if secret in text] == [], name
    numbers = {str(value) for value in json.loads(privacy).values()}
    assert numbers.isdisjoint(secrets)
    assert not any(secret in printed for secret in secrets[1:])


def _quoting(*_arguments, **_settings):
    raise ValueError(f"cannot convert '{WORD}-cell' and 73519.8642")


class _Quoter:
    """Fails as libraries do: with the cell in the message, in a chain of errors and in a note."""

    def __init__(self, kind):
        self._kind = kind

    def __call__(self, *_arguments, **_settings):
        try:
            _quoting()
        except ValueError as error:
            quoted = self._kind(f"while reading {WORD}-cell")
            quoted.add_note(f"{WORD}-note")
            raise quoted from error


PLACES = {
    "encoding": (TableCodec, "encode"),
    "voting": ("evomix.curator.curator", "vote"),
    "drawing": (PrivateRecords, "draw_rows"),
    "reading": (MemoryRows, "_take"),
    "opening": ("evomix.experiment.inputs", "open_rows"),
    "checking": ("evomix.experiment.inputs", "type_clash"),
    "fingerprint": ("evomix.experiment.engine", "fingerprint"),
}


@pytest.mark.parametrize("kind", [ValueError, pa.ArrowInvalid, OSError, MemoryError])
@pytest.mark.parametrize("place", PLACES)
def test_a_library_that_quotes_a_cell_is_silenced(house, monkeypatch, place, kind):
    plant(house)
    owner, name = PLACES[place]
    target = f"{owner}.{name}" if isinstance(owner, str) else owner
    # Encoding serves public rows too; only private ones are told here by the error that follows the charge.
    if place == "encoding":
        real, calls = TableCodec.encode, []

        def encode(self, table):
            calls.append(table)
            return real(self, table) if len(calls) < 2 else _Quoter(kind)()

        monkeypatch.setattr(TableCodec, "encode", encode)
    elif isinstance(target, str):
        monkeypatch.setattr(target, _Quoter(kind))
    else:
        monkeypatch.setattr(owner, name, _Quoter(kind))
    code, printed = _synth(house, mechanism="linmix")
    assert code == 4, printed
    _assert_clean(house, printed)
    assert not (house.parent / "outside" / "s.csv").exists()


def test_a_noise_library_that_quotes_votes_is_silenced(house, monkeypatch):
    plant(house)
    monkeypatch.setattr(GaussianHistogram, "privatise", _Quoter(RuntimeError))
    code, printed = _synth(house, mechanism="gaussian")
    assert code == 4
    _assert_clean(house, printed)


def test_ctrl_c_while_voting_leaves_the_charge_and_no_cell(house, monkeypatch):
    plant(house)

    def stop(*_):
        raise KeyboardInterrupt(f"{WORD}-cell")

    monkeypatch.setattr("evomix.curator.curator.vote", stop)
    code, printed = _synth(house, mechanism="linmix")
    assert code == 130
    _assert_clean(house, printed)
    assert not (house.parent / "outside" / "s.csv").exists()
    code, printed = call(["ledger", "show", "--json"])
    assert code == 0
    assert "1.0" in printed


@pytest.mark.parametrize("when", ["checkpoint", "output"])
def test_a_full_disk_leaves_the_charge_and_no_cell(house, monkeypatch, when):
    plant(house)

    def full(*_arguments, **_settings):
        raise OSError(28, f"No space left on device while writing {WORD}-cell")

    if when == "checkpoint":
        monkeypatch.setattr(loop, "save_state", full)
    else:
        monkeypatch.setattr("evomix.experiment.run.write_table", full)
    code, printed = _synth(house, mechanism="linmix")
    assert code == 4
    _assert_clean(house, printed)
    assert not (house.parent / "outside" / "s.csv").exists()


@pytest.mark.parametrize(
    "damage",
    [
        b"age,income\n1," + WORD.encode() + b"\n",
        WORD.encode() + b",73519.8642\nx,2\n",
        b"age,age\n" + WORD.encode() + b",2\n",
        b'age,income\n"' + WORD.encode(),
        b"age,income\n" + WORD.encode() + b",2,3,4\n",
        b"age,income\n" + WORD.encode() + b"\xff,2\n",
        b"age,income\n" + WORD.encode() + b"\x00,2\n",
    ],
    ids=["names", "no header", "repeated", "quote", "ragged", "encoding", "nul"],
)
def test_a_damaged_private_file_is_refused_without_a_cell(house, damage):
    plant(house)
    (house / "private.csv").write_bytes(damage)
    code, printed = _synth(house)
    assert code == 2
    assert found_in(printed) == []


def _frames():
    strings = private_table().drop_columns(["person"])
    mixed = strings.to_pandas()
    mixed["age"] = mixed["age"].astype(object)
    mixed.loc[0, "age"] = 918273645
    mixed["region"] = [{"region": cell} if row % 2 else cell for row, cell in enumerate(mixed["region"])]
    return {"arrow": strings, "pandas": strings.to_pandas(), "mixed": mixed}


@pytest.mark.parametrize(("method", "more"), [("votes", {"rounds": 2, "candidates": 20}), ("marginals", {})])
@pytest.mark.parametrize("frame", ["arrow", "pandas", "mixed"])
def test_frames_and_results_show_no_cell(house, frame, method, more):
    result = evomix.synthesize(_frames()[frame], schema=SCHEMA, public=public_table(), epsilon=1.0, rows=30, **more)
    assert result.privacy["method"] == method
    result.report(house.parent / "outside" / "report.html")
    shown = [repr(result), str(result), repr(result._finished), repr(result.privacy), repr(result.table)]
    _assert_clean(house, *shown)


@pytest.mark.parametrize("method", ["votes", "marginals"])
def test_errors_of_the_python_api_lead_to_no_cell(house, monkeypatch, method):
    real, calls = TableCodec.encode, []

    def encode(self, table):
        calls.append(table)
        return real(self, table) if len(calls) < 2 else _Quoter(ValueError)()

    monkeypatch.setattr(TableCodec, "encode", encode)
    with pytest.raises(EvomixError) as caught:
        evomix.synthesize(_frames()["arrow"], schema=SCHEMA, public=public_table(), epsilon=1.0, method=method)
    for text in texts_of(caught.value):
        assert found_in(text) == []
