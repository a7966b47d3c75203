"""Which benchmarks there are. Says what each needs; the code that reads it is elsewhere."""

from dataclasses import dataclass
from typing import Final

from evomix.core.errors import SpecError


@dataclass(frozen=True, slots=True)
class Entry:
    """A benchmark.

    Attributes:
        name: how it is called.
        what: private against public records, and the task, in a line.
        files: what the folder of data must hold, the private table first.
        rows: synthetic records of a method by default; None for as many as private ones, within reason.
        kind: what records are.
    """

    name: str
    what: str
    files: tuple[str, ...]
    rows: int | None = 200
    kind: str = "text"


_TEXTS: Final = (
    Entry(
        "text-sentiment",
        "Yelp sentences, public Amazon and IMDb ones; is it positive",
        ("uci_sentiment.parquet",),
    ),
    Entry(
        "text-medical",
        "medical abstracts, public PubMedQA ones without labels; which of 5 conditions",
        ("medical_abstracts.parquet", "pubmedqa_abstracts.parquet"),
    ),
    Entry(
        "text-instruments",
        "reviews of instruments, protected by user, public film snippets; which rating of 1 to 5",
        ("amazon_instruments.parquet", "rt_polarity.parquet"),
    ),
    Entry(
        "text-sms",
        "text messages, public news without labels; is it spam",
        ("sms_spam.parquet", "ag_news_7600.parquet"),
    ),
)


def _table(name: str, what: str, *files: str) -> Entry:
    return Entry(name, what, files, rows=None, kind="table")


_ACS: Final = "acs2018_14states.parquet"
_TABLES: Final = (
    _table(
        "person-activity",
        "body sensors of people 1, 2 and 4, public 3 and 5; which of 11 activities",
        "ldpa_30pct.parquet",
    ),
    _table(
        "artificial-characters", "strokes of drawn letters, no public; which of 10", "artificial_characters.parquet"
    ),
    _table("adult", "census records, no public; is income above 50K", "adult_train.parquet", "adult_test.parquet"),
    _table(
        "adult-wrong-public",
        "the same beside a misleading public table; is income above 50K",
        "adult_train.parquet",
        "adult_test.parquet",
    ),
    _table("bank", "calls of a bank, no public; does the client subscribe", "bank_additional_full.parquet"),
    _table("acs-hawaii", "7 census columns of Hawaii, public New Mexico; how well is English spoken", _ACS),
    _table("acs-hawaii-wide", "35 census columns of Hawaii, public New Mexico; is health insurance public", _ACS),
    _table("acs-rhode-island", "7 census columns of Rhode Island, public Delaware; how well is English spoken", _ACS),
    _table(
        "acs-rhode-island-wide", "35 census columns of Rhode Island, public Delaware; is health insurance public", _ACS
    ),
    _table(
        "nist", "census excerpts of Texas, public Massachusetts; income to poverty ratio", "nist_acs_2018_2019.parquet"
    ),
    _table("brfss-diabetes", "a health survey, no public; diabetes or not", "brfss2015_diabetes.parquet"),
    _table(
        "readmission",
        "hospital stays, protected by patient, no public; is one readmitted",
        "diabetes_readmission.parquet",
    ),
    _table("xor", "made: the label is the parity of 3 of 10 columns, no public"),
    _table("scm", "made: 12 mixed columns of a causal model, public of a shifted one; which label"),
)
CATALOG: Final = (*_TEXTS, *_TABLES)


def entry(name: str) -> Entry:
    """Return the benchmark called ``name``.

    Raises:
        SpecError: there is none.
    """
    for one in CATALOG:
        if one.name == name:
            return one
    raise SpecError(f"expected a benchmark among {', '.join(one.name for one in CATALOG)}; found name={name!r}")
