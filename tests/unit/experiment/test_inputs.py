from pathlib import Path

import pandas as pd
import pytest
from experiment_tables import SCHEMA, people, ready

from evomix.core.errors import SchemaError, SpecError
from evomix.experiment.inputs import open_inputs
from evomix.experiment.spec import RunSpec
from evomix.formats.table import write_table


def test_something_public_is_needed():
    with pytest.raises(SpecError, match=r"--public PUBLIC, or --schema.*cannot be read off the private table"):
        ready(people(10))


def test_the_schema_comes_from_the_public_table_alone():
    private = people(50).set_column(0, "age", [[200 + age for age in range(50)]])
    _, inputs = ready(private, public=people(900, seed=1))
    age = inputs.schema.columns[0]
    assert age.max < 100
    assert inputs.records.units == 50


def test_a_given_schema_wins_over_the_public_table():
    _, inputs = ready(people(10), public=people(300, seed=1), schema=SCHEMA)
    assert [column.max for column in inputs.schema.columns[:2]] == [99, 1000]
    assert len(inputs.modality.public) == 300


@pytest.mark.parametrize("change", ["missing", "more", "renamed"])
def test_private_columns_must_be_those_of_the_schema(change):
    frame = people(10).to_pandas()
    wrong = {
        "missing": frame.drop(columns="age"),
        "more": frame.assign(weight=1.0),
        "renamed": frame.rename(columns={"age": "years"}),
    }[change]
    with pytest.raises(SchemaError, match={"missing": "age", "more": "weight", "renamed": "age"}[change]):
        ready(wrong, schema=SCHEMA)


def test_the_unit_column_is_never_modelled_wherever_it_stands():
    frame = people(12).to_pandas().assign(person=list("aabbccddeeff"))
    public = people(300, seed=1).to_pandas().assign(person=range(300))
    for settings in ({"public": public}, {"schema": SCHEMA}, {"public": public.drop(columns="person")}):
        _, inputs = ready(frame, unit="person", **settings)
        assert inputs.records.units == 6
        assert inputs.schema.names == ("age", "income", "job")
        assert not any("person" in warning for warning in inputs.warnings)


def test_a_unit_that_is_no_column_is_refused():
    with pytest.raises(SchemaError, match="unit='person'"):
        ready(people(10), schema=SCHEMA, unit="person")


def test_ids_and_units_alone_leave_nothing_to_model():
    only = {"columns": [{"name": "key", "type": "id"}]}
    with pytest.raises(SchemaError, match="ids only"):
        ready(pd.DataFrame({"key": ["x"]}), schema=only)
    with pytest.raises(SchemaError, match="no other column"):
        ready(pd.DataFrame({"key": ["x"]}), schema=only, unit="key")


def test_a_target_must_be_a_column():
    with pytest.raises(SchemaError, match="target='wage'"):
        ready(people(10), schema=SCHEMA, target="wage")


def test_order_of_columns_does_not_matter():
    table = people(10)
    turned = open_inputs(RunSpec(private=table.select(["job", "income", "age"]), epsilon=1.0, schema=SCHEMA))
    assert turned.schema.names == ("age", "income", "job")


def test_a_public_table_that_is_the_private_one_is_refused(tmp_path):
    table = people(50)
    path, copy = tmp_path / "private.csv", tmp_path / "renamed.csv"
    write_table(table, path)
    copy.write_bytes(path.read_bytes())
    pairs = [(path, path), (path, copy), (str(path), Path(copy)), (table, table), (table, people(50))]
    for private, public in pairs:
        with pytest.raises(SpecError, match="is the private table"):
            open_inputs(RunSpec(private=private, public=public, epsilon=1.0))
    open_inputs(RunSpec(private=path, public=people(50, seed=9), epsilon=1.0))
