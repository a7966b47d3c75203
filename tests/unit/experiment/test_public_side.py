"""Several public tables: put together by name, never counted twice, and each heard when γ is taken between them."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from experiment_tables import SCHEMA, file_spec, jobs, people, ready

from evomix.core.errors import SchemaError, SpecError
from evomix.experiment.design import design
from evomix.experiment.inputs import open_inputs
from evomix.experiment.public_side import open_public
from evomix.experiment.resuming import deciding_settings
from evomix.experiment.run import synthesize_to_file
from evomix.experiment.spec import RunSpec
from evomix.formats.table import write_table

PRIVATE = people(200)


def test_rows_are_put_together_by_name_in_the_order_given():
    first, second = people(40, seed=1), people(30, seed=2).select(["job", "income", "age"])
    side = open_public([first, second], SCHEMA)
    assert side.sets == (40, 30)
    assert side.schema.names == ("age", "income", "job")
    alone = [open_public([table], SCHEMA).modality.public for table in (first, second)]
    np.testing.assert_array_equal(side.modality.public, np.concatenate(alone))


def test_the_schema_spans_all_tables():
    young, old = people(50, seed=1), people(50, seed=2)
    old = old.set_column(0, "age", pa.array(np.arange(50) + 100))
    side = open_public([young, old])
    assert side.schema.columns[0].max == 149
    assert open_public([young]).schema.columns[0].max < 100


def test_a_column_in_two_types_is_read_as_text_as_from_a_csv(tmp_path):
    typed, text = tmp_path / "typed.parquet", tmp_path / "text.csv"
    write_table(people(60, seed=1), typed)
    write_table(people(60, seed=2), text)
    mixed, plain = open_public([typed, text]), open_public([people(60, seed=1), people(60, seed=2)])
    assert [column.type for column in mixed.schema.columns] == ["integer", "number", "category"]
    assert sorted(map(str, mixed.modality.public[:, 0])) == sorted(map(str, plain.modality.public[:, 0]))


def test_a_column_without_any_value_takes_the_other_tables_type():
    empty = people(30, seed=1).set_column(1, "income", pa.nulls(30))
    side = open_public([empty, people(30, seed=2)])
    assert side.schema.columns[1].type == "number"
    assert np.isnan(side.modality.public[:30, 1]).all()


def test_columns_that_have_no_common_form_are_refused():
    lists = pa.table({"job": [["a"], ["b"]]})
    with pytest.raises(SchemaError, match=r"column 'job' is stored as list<.*> and string"):
        open_public([lists, jobs(3)])


@pytest.mark.parametrize("schema", [None, SCHEMA])
def test_names_must_agree_and_the_table_that_does_not_is_named(schema, tmp_path):
    odd = tmp_path / "odd.csv"
    write_table(people(30, seed=2).rename_columns(["age", "wage", "job"]), odd)
    with pytest.raises(SchemaError, match=r"odd\.csv.*'income'|'income'.*odd\.csv") as refused:
        open_public([people(30, seed=1), odd], schema)
    assert "'wage'" in str(refused.value)


def test_an_empty_one_of_several_is_refused_and_a_single_one_is_no_public_data():
    with pytest.raises(SchemaError, match="public table 2 has no rows"):
        open_public([people(30, seed=1), people(0)], SCHEMA)
    side = open_public([people(0)], SCHEMA)
    assert side.modality.public is None
    assert side.sets == ()


def test_one_table_twice_is_refused(tmp_path):
    path, copy = tmp_path / "a.csv", tmp_path / "b.csv"
    write_table(people(30, seed=1), path)
    copy.write_bytes(path.read_bytes())
    for pair in ([path, copy], [path, str(path)], [people(30, seed=1), people(30, seed=1)], [jobs(9), people(9)] * 2):
        with pytest.raises(SpecError, match="the same table"):
            open_public(pair)


@pytest.mark.parametrize("place", [0, 1])
def test_the_private_table_is_refused_wherever_it_stands(place):
    tables = [people(40, seed=1)]
    tables.insert(place, PRIVATE)
    with pytest.raises(SpecError, match="is the private table"):
        open_inputs(RunSpec(private=PRIVATE, public=tables, epsilon=1.0))


def test_the_unit_column_may_be_in_some_of_them():
    frame = people(12).to_pandas().assign(person=list("aabbccddeeff"))
    with_unit = people(40, seed=1).to_pandas().assign(person=range(40))
    _, inputs = ready(frame, unit="person", public=[with_unit, people(30, seed=2)])
    assert inputs.schema.names == ("age", "income", "job")
    assert inputs.sets == (40, 30)
    with pytest.raises(SchemaError, match="no other column"):
        open_public([pd.DataFrame({"person": [1]})], unit="person")


def test_a_list_of_one_is_that_one_and_an_empty_list_is_refused(tmp_path):
    spec = RunSpec(private="p.csv", epsilon=1.0, public=["a.csv"])
    assert (spec.public, spec.public_tables) == ("a.csv", ("a.csv",))
    assert RunSpec(private="p.csv", epsilon=1.0).public_tables == ()
    for nothing in ([], [None], ["a.csv", None]):
        with pytest.raises(SpecError, match="at least one table"):
            RunSpec(private="p.csv", epsilon=1.0, public=nothing)
    several = RunSpec(private="p.csv", epsilon=1.0, public=[Path("a.csv"), jobs(3)])
    assert several.public_settings()["public"] == ["a.csv", "<in memory: Table>"]


def test_resuming_tells_every_public_table_by_its_content(tmp_path):
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for seed, path in enumerate(paths):
        write_table(people(30, seed=seed), path)
    spec = RunSpec(private="p.csv", epsilon=1.0, public=paths)
    before = deciding_settings(spec)["public"]
    assert deciding_settings(RunSpec(private="p.csv", epsilon=1.0, public=paths[0]))["public"] == before.split(",")[0]
    write_table(people(30, seed=9), paths[1])
    assert deciding_settings(spec)["public"] != before


def _gamma(public, **settings):
    asked = {"mechanism": "pubmix", "denoising": "shrunk", "candidates": 30, "delta": 1e-6}
    spec, inputs = ready(PRIVATE, public=public, **asked, **settings)
    return design(spec, inputs, np.random.default_rng(3)).proximity


def test_gamma_is_taken_between_the_tables_and_between_folds_of_one():
    alike = [people(2000, seed=1), people(2000, seed=2)]
    moved = [alike[0], alike[1].set_column(0, "age", pa.array(np.full(2000, 79)))]
    assert _gamma(alike, schema=SCHEMA) < 0.15
    assert _gamma(moved, schema=SCHEMA) > 0.5
    assert _gamma(pa.concat_tables(moved), schema=SCHEMA) < 0.15  # folds cannot see it
    assert _gamma(moved, schema=SCHEMA, proximity=0.25) == 0.25


def test_gamma_of_three_tables_is_the_mean_over_pairs():
    tables = [jobs(30, values=("a",)), jobs(40, values=("a", "b")), jobs(50, values=("c",))]
    spec, inputs = ready(jobs(100), public=tables, mechanism="pubmix", delta=1e-6)
    assert design(spec, inputs, np.random.default_rng(0)).proximity == pytest.approx((0.5 + 1.0 + 1.0) / 3)


def test_a_run_takes_several_files_from_start_to_end(tmp_path):
    for seed in (1, 2):
        write_table(people(300, seed=seed), tmp_path / f"public{seed}.csv")
    public = [tmp_path / "public1.csv", tmp_path / "public2.csv"]
    outcome = synthesize_to_file(file_spec(tmp_path, public=public, mechanism="pubmix", seed=1))
    assert outcome.rows == 5
    assert 0.0 < outcome.privacy["proximity"] < 1.0
    toml = (outcome.run_dir / "spec.toml").read_text()
    assert f"public = {json.dumps(list(map(str, public)))}" in toml
