"""Two health tables: the BRFSS 2015 diabetes indicators, and hospital stays of people with diabetes.

Codes and ranges are the publishers'; diagnoses are put into the nine groups of Strack et al. (2014), Table 2.
"""

from collections.abc import Mapping
from typing import Final

import pyarrow as pa

from evomix.bench.splitting import split_groups
from evomix.bench.table_set import SPLIT_SEED, TEST_SHARE, TableSet, codes, pick, rows_at, whole, words
from evomix.modalities.tabular.schema import Schema

BRFSS_FILE: Final = "brfss2015_diabetes.parquet"
STAYS_FILE: Final = "diabetes_readmission.parquet"
PATIENT: Final = "patient_nbr"
_BRFSS: Final = Schema(
    (
        codes("Diabetes_binary", (0, 1)),
        *(codes(name, (0, 1)) for name in ("HighBP", "HighChol", "CholCheck")),
        whole("BMI", 10, 100),
        *(
            codes(name, (0, 1))
            for name in (
                "Smoker",
                "Stroke",
                "HeartDiseaseorAttack",
                "PhysActivity",
                "Fruits",
                "Veggies",
                "HvyAlcoholConsump",
                "AnyHealthcare",
                "NoDocbcCost",
            )
        ),
        whole("GenHlth", 1, 5),
        whole("MentHlth", 0, 30),
        whole("PhysHlth", 0, 30),
        codes("DiffWalk", (0, 1)),
        codes("Sex", (0, 1)),
        whole("Age", 1, 13),
        whole("Education", 1, 6),
        whole("Income", 1, 8),
    )
)
_DRUGS: Final = (
    "metformin",
    "repaglinide",
    "nateglinide",
    "chlorpropamide",
    "glimepiride",
    "acetohexamide",
    "glipizide",
    "glyburide",
    "tolbutamide",
    "pioglitazone",
    "rosiglitazone",
    "acarbose",
    "miglitol",
    "troglitazone",
    "tolazamide",
    "examide",
    "citoglipton",
    "insulin",
    "glyburide-metformin",
    "glipizide-metformin",
    "glimepiride-pioglitazone",
    "metformin-rosiglitazone",
    "metformin-pioglitazone",
)
_DIAGNOSES: Final = ("diag_1", "diag_2", "diag_3")
_GROUPS: Final = (
    ("circulatory", 390, 459, 785),
    ("respiratory", 460, 519, 786),
    ("digestive", 520, 579, 787),
    ("diabetes", 250, 250, 250),
    ("injury", 800, 999, 800),
    ("musculoskeletal", 710, 739, 710),
    ("genitourinary", 580, 629, 788),
    ("neoplasms", 140, 239, 140),
)
"""Name, first and last code of ICD-9, and a symptom's code that belongs there."""
_STAYS: Final = Schema(
    (
        words("race", "AfricanAmerican Asian Caucasian Hispanic Other", missing=True),
        words("gender", "Female Male Unknown/Invalid"),
        words(
            "age",
            "[0-10) [10-20) [20-30) [30-40) [40-50) [50-60) [60-70) [70-80) [80-90) [90-100)",
        ),
        codes("admission_type_id", range(1, 9)),
        codes("discharge_disposition_id", range(1, 31)),
        codes("admission_source_id", range(1, 27)),
        whole("time_in_hospital", 1, 14),
        whole("num_lab_procedures", 0, 150),
        whole("num_procedures", 0, 10),
        whole("num_medications", 0, 100),
        *(whole(name, 0, 50) for name in ("number_outpatient", "number_emergency", "number_inpatient")),
        *(words(name, " ".join([*(one[0] for one in _GROUPS), "rest"]), missing=True) for name in _DIAGNOSES),
        whole("number_diagnoses", 1, 16),
        words("max_glu_serum", "None Norm >200 >300"),
        words("A1Cresult", "None Norm >7 >8"),
        *(words(name, "No Steady Up Down") for name in _DRUGS),
        words("change", "No Ch"),
        words("diabetesMed", "No Yes"),
        words("readmitted", "NO >30 <30"),
    )
)


def read_brfss(tables: Mapping[str, pa.Table]) -> TableSet:
    """Split the survey at random."""
    table = pick(tables[BRFSS_FILE], _BRFSS.names, BRFSS_FILE)
    test, private = (
        rows_at(table, rows) for rows in split_groups(range(table.num_rows), (TEST_SHARE,), seed=SPLIT_SEED)
    )
    return TableSet(private, test, None, _BRFSS, "Diabetes_binary")


def read_stays(tables: Mapping[str, pa.Table]) -> TableSet:
    """Split the stays by patient, the private unit."""
    table = pick(tables[STAYS_FILE], (*_STAYS.names, PATIENT), STAYS_FILE)
    for name in _DIAGNOSES:
        groups = pa.array([_group(code) for code in table.column(name).to_pylist()], pa.string())
        table = table.set_column(table.column_names.index(name), name, groups)
    parts = split_groups(table.column(PATIENT).to_pylist(), (TEST_SHARE,), seed=SPLIT_SEED)
    test, private = (rows_at(table, rows) for rows in parts)
    unit = (
        "A patient is the private unit, with all stays. Rivals, whose unit is a row, are given one random stay of each "
        "patient, so that what they promise for rows holds for patients."
    )
    left_out = (
        "Diagnoses are put into nine groups; weight, payer and specialty, of which most is missing, are left out."
    )
    return TableSet(
        private, test.drop_columns([PATIENT]), None, _STAYS, "readmitted", unit=PATIENT, notes=(unit, left_out)
    )


def _group(code: str | None) -> str | None:
    """Return the group of an ICD-9 code; supplementary codes, which begin with a letter, are of the rest."""
    if code is None:
        return None
    if not code[0].isdigit():
        return "rest"
    number = int(float(code))
    return next((name for name, low, high, more in _GROUPS if low <= number <= high or number == more), "rest")
