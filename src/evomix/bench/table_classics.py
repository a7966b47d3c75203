"""Four small tables that others measure on: Person Activity, Artificial Characters, Adult and Bank Marketing.

Bounds are round numbers around what the publishers document; categories are theirs.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np
import pyarrow as pa

from evomix.bench.splitting import split_groups
from evomix.bench.table_set import (
    SPLIT_SEED,
    TEST_SHARE,
    TableSet,
    codes,
    pick,
    real,
    rows_at,
    rows_where,
    whole,
    words,
)
from evomix.modalities.tabular.column import Column
from evomix.modalities.tabular.schema import Schema

_RECORDS: Final = 164_860
"""Records of the whole Person Activity data: numbers are ranks among them."""
_ACTIVITY: Final = Schema(
    (
        codes("tag", range(1, 5)),
        *(whole(name, 0, _RECORDS) for name in ("timestamp_rank", "date_rank", "x_rank", "y_rank", "z_rank")),
        codes("activity", range(1, 12)),
    )
)
_CHARACTERS: Final = Schema(
    (
        whole("V1", 0, 10),
        *(whole(name, -5, 70) for name in ("V2", "V3", "V4", "V5")),
        real("V6", 0.0, 60.0, multiple_of=0.01),
        real("V7", 0.0, 90.0, multiple_of=0.01),
        codes("Class", range(1, 11)),
    )
)
_ADULT: Final = Schema(
    (
        whole("age", 17, 90),
        words(
            "workclass",
            "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay Never-worked",
            missing=True,
        ),
        whole("fnlwgt", 0, 1_500_000),
        words(
            "education",
            "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th 12th Masters 1st-4th "
            "10th Doctorate 5th-6th Preschool",
        ),
        whole("education_num", 1, 16),
        words(
            "marital_status",
            "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent Married-AF-spouse",
        ),
        words(
            "occupation",
            "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty Handlers-cleaners "
            "Machine-op-inspct Adm-clerical Farming-fishing Transport-moving Priv-house-serv Protective-serv "
            "Armed-Forces",
            missing=True,
        ),
        words("relationship", "Wife Own-child Husband Not-in-family Other-relative Unmarried"),
        words("race", "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black"),
        words("sex", "Female Male"),
        whole("capital_gain", 0, 99_999),
        whole("capital_loss", 0, 5_000),
        whole("hours_per_week", 1, 99),
        words(
            "native_country",
            "United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc) India Japan Greece "
            "South China Cuba Iran Honduras Philippines Italy Poland Jamaica Vietnam Mexico Portugal Ireland France "
            "Dominican-Republic Laos Ecuador Taiwan Haiti Columbia Hungary Guatemala Nicaragua Scotland Thailand "
            "Yugoslavia El-Salvador Trinadad&Tobago Peru Hong Holand-Netherlands",
            missing=True,
        ),
        words("income", "<=50K >50K"),
    )
)
_BANK: Final = Schema(
    (
        whole("age", 16, 100),
        words(
            "job",
            "admin. blue-collar entrepreneur housemaid management retired self-employed services student technician "
            "unemployed unknown",
        ),
        words("marital", "divorced married single unknown"),
        words(
            "education",
            "basic.4y basic.6y basic.9y high.school illiterate professional.course university.degree unknown",
        ),
        *(words(name, "no yes unknown") for name in ("default", "housing", "loan")),
        words("contact", "cellular telephone"),
        words("month", "jan feb mar apr may jun jul aug sep oct nov dec"),
        words("day_of_week", "mon tue wed thu fri"),
        whole("campaign", 1, 60),
        Column("pdays", "integer", min=0, max=30, missing_codes=(999,)),
        whole("previous", 0, 10),
        words("poutcome", "failure nonexistent success"),
        real("emp_var_rate", -4.0, 2.0, multiple_of=0.1),
        real("cons_price_idx", 92.0, 95.0, multiple_of=0.001),
        real("cons_conf_idx", -55.0, -25.0, multiple_of=0.1),
        real("euribor3m", 0.0, 6.0, multiple_of=0.001),
        real("nr_employed", 4_900.0, 5_300.0, multiple_of=0.1),
        words("y", "no yes"),
    )
)


def read_activity(tables: Mapping[str, pa.Table]) -> TableSet:
    """Split Person Activity by person, as the PubMix paper does; rows of people 1, 2 and 4 are private or test."""
    file = "ldpa_30pct.parquet"
    table = pick(tables[file], (*_ACTIVITY.names, "part"), file)
    private, test, public = (rows_where(table, "part", part) for part in ("private", "test", "public"))
    sample = (
        "Person Activity is a 30 % sample of the data that the papers measure on, with every number replaced by its "
        "rank; each record is a private unit, as in the papers, though a person has many."
    )
    ranks = "TV cuts each rank into 32 equal bins; W1 sees the ranks as they are."
    return TableSet(private, test, public, _ACTIVITY, "activity", notes=(sample, ranks))


def read_characters(tables: Mapping[str, pa.Table]) -> TableSet:
    """Split Artificial Characters as the Tab-PE paper does; the validation part is left alone."""
    file = "artificial_characters.parquet"
    table = pick(tables[file], (*_CHARACTERS.names, "part"), file)
    private, test = (rows_where(table, "part", part) for part in ("private", "test"))
    return TableSet(private, test, None, _CHARACTERS, "Class")


def read_adult(tables: Mapping[str, pa.Table]) -> TableSet:
    """Split Adult as its publisher does."""
    private, test = (pick(tables[file], _ADULT.names, file) for file in ("adult_train.parquet", "adult_test.parquet"))
    return TableSet(private, test, None, _ADULT, "income")


def read_adult_with_wrong_public(tables: Mapping[str, pa.Table]) -> TableSet:
    """Split Adult, with a public table that misleads: half of the test part, columns shuffled and the label flipped."""
    whole_set = read_adult(tables)
    rng = np.random.default_rng(SPLIT_SEED)
    order = rng.permutation(whole_set.test.num_rows)
    test, apart = (rows_at(whole_set.test, np.sort(half)) for half in np.array_split(order, 2))
    columns = {name: apart.column(name).take(pa.array(rng.permutation(apart.num_rows))) for name in _ADULT.names}
    income = _ADULT.column("income").values
    columns["income"] = pa.array([income[label == income[0]] for label in columns["income"].to_pylist()])
    note = (
        "The public table is wrong on purpose: rows that nothing else uses, every column shuffled by itself, and the "
        "label flipped. Compare default, which has it, with schema-only, which has not."
    )
    return TableSet(whole_set.private, test, pa.table(columns), _ADULT, "income", notes=(note,))


def read_bank(tables: Mapping[str, pa.Table]) -> TableSet:
    """Split Bank Marketing at random; the call's duration is left out."""
    file = "bank_additional_full.parquet"
    table = pick(tables[file], _BANK.names, file)
    test, private = (
        rows_at(table, rows) for rows in split_groups(range(table.num_rows), (TEST_SHARE,), seed=SPLIT_SEED)
    )
    note = (
        "The duration of the call is left out: it is known only once the call has ended, as the label is, and predicts "
        "it so well that no other column would matter. 999 days since the last contact mean that there was none."
    )
    return TableSet(private, test, None, _BANK, "y", notes=(note,))
