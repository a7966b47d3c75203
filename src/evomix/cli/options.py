"""Every option of ``synth`` and those that other commands share, stated once, in panels for the help text."""

from pathlib import Path
from typing import Annotated

import typer

from evomix.cli.numbers import parse_counts, parse_delta, parse_epsilon, parse_proximity, parse_whole

# Shown in help and tab completion; RunSpec checks them, and a test keeps the two equal.
MECHANISMS = ("auto", "pubmix", "linmix", "gaussian", "laplace")
SELECTIONS = ("auto", "subsample", "rank", "projection", "gape")
SCHEDULES = ("auto", "geometric", "multiscale")
PRESETS = ("pe", "aug-pe", "gape", "pe-theory", "pubmix", "pubmix-gape")
DENOISINGS = ("auto", "none", "signed", "shrunk", "likelihood", "bayes", "pooled")
ACCOUNTINGS = ("auto", "draws", "pld", "renyi")
MODALITIES = ("auto", "table", "text")
METHODS = ("auto", "marginals", "votes")

_INPUT, _PRIVACY, _METHOD, _RUN = "Input", "Privacy", "Method", "Run"

Epsilon = Annotated[
    float | None,
    typer.Option("--epsilon", parser=parse_epsilon, metavar="E", help="Privacy loss of the whole run; above 0."),
]
RequiredEpsilon = Annotated[
    float,
    typer.Option("--epsilon", parser=parse_epsilon, metavar="E", help="Privacy loss of the whole run; above 0."),
]
Delta = Annotated[
    float | None,
    typer.Option(
        "--delta",
        parser=parse_delta,
        metavar="D",
        help="Probability left out of the guarantee; far below 1/n. Default: 1/(n ln n), at most 1e-6.",
    ),
]
Rows = Annotated[
    int | None,
    typer.Option("--rows", parser=parse_whole, metavar="M", help="Synthetic records to make (default 5000)."),
]
Method = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="|".join(METHODS),
        autocompletion=lambda: list(METHODS),
        help="How rows are found: from counts of column sets (marginals) or from votes for candidates. auto: marginals "
        "for tables, votes for texts, and where a setting of votes is given or a round counts all possible records.",
    ),
]
Rounds = Annotated[
    int | None, typer.Option("--rounds", parser=parse_whole, metavar="T", help="Rounds of votes (default: planned).")
]
Candidates = Annotated[
    str | None,  # what is parsed is a number, or one a round
    typer.Option(
        "--candidates",
        parser=parse_counts,
        metavar="d[,d…]",
        help="Most candidates to vote for in a round, or a number for each round (default: planned).",
    ),
]
Mechanism = Annotated[
    str | None,
    typer.Option(
        "--mechanism",
        metavar="|".join(MECHANISMS),
        autocompletion=lambda: list(MECHANISMS),
        help="How votes become a release (commas: one a round); asks for votes. auto: linmix, for texts (and one "
        "round of all possible records) gaussian, or pubmix with a number for --proximity.",
    ),
]
Preset = Annotated[
    str | None,
    typer.Option(
        "--preset",
        metavar="|".join(PRESETS),
        autocompletion=lambda: list(PRESETS),
        help="Settings of a published algorithm, which asks for votes; what else is given wins.",
    ),
]
Accounting = Annotated[
    str | None,
    typer.Option(
        "--accounting",
        metavar="|".join(ACCOUNTINGS),
        autocompletion=lambda: list(ACCOUNTINGS),
        rich_help_panel=_PRIVACY,
        help="How rounds of votes add up. auto: exactly where possible, else pld; renyi: noise is chosen round by "
        "round.",
    ),
]
LedgerPath = Annotated[
    Path | None,
    typer.Option("--ledger", metavar="PATH", help="Ledger file (default: EVOMIX_LEDGER, else one for each user)."),
]
Json = Annotated[bool, typer.Option("--json", help="Print the answer as one JSON object.")]
PublicEncoding = Annotated[
    str | None,
    typer.Option("--public-encoding", metavar="NAME", help="Text encoding of the public file (default utf-8)."),
]
Private = Annotated[
    Path | None,
    typer.Argument(metavar="PRIVATE", help="Private table: CSV, TSV, Parquet (file or folder) or JSON lines."),
]
Public = Annotated[
    list[Path] | None,
    typer.Option(
        "--public",
        metavar="PUBLIC",
        rich_help_panel=_INPUT,
        help="Public table of the same field; again for each further one.",
    ),
]
Schema = Annotated[
    Path | None,
    typer.Option("--schema", metavar="SCHEMA.json", rich_help_panel=_INPUT, help="Columns, types and bounds."),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--out",
        metavar="OUT",
        help="Synthetic table; format by suffix: .csv .tsv .parquet .jsonl. "
        "Default: NAME.synthetic.csv in this folder, for a PRIVATE named NAME.csv.",
    ),
]
Selection = Annotated[
    str | None,
    typer.Option(
        "--selection",
        metavar="|".join(SELECTIONS),
        autocompletion=lambda: list(SELECTIONS),
        rich_help_panel=_METHOD,
        help="Votes: how a release becomes the next parents. auto: subsample for tables, rank for texts.",
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        "--threshold",
        metavar="τ",
        rich_help_panel=_METHOD,
        help="gape: noise standard deviations that a candidate's votes must exceed (default 2).",
    ),
]
Radius = Annotated[
    float | None,
    typer.Option(
        "--radius",
        metavar="R",
        rich_help_panel=_METHOD,
        help="gape: distance between clusters (default: from the candidates of each round).",
    ),
]
Schedule = Annotated[
    str | None,
    typer.Option(
        "--schedule",
        metavar="|".join(SCHEDULES),
        autocompletion=lambda: list(SCHEDULES),
        rich_help_panel=_METHOD,
        help="Votes: how far variations go. auto, geometric: less from round to round; multiscale: all scales in each.",
    ),
]
Denoising = Annotated[
    str | None,
    typer.Option(
        "--denoising",
        metavar="|".join(DENOISINGS),
        autocompletion=lambda: list(DENOISINGS),
        rich_help_panel=_METHOD,
        help="Votes: how the known noise is taken out. pooled: by all releases together. auto: pooled for tables, "
        "signed for texts, gape and projection.",
    ),
]
Variations = Annotated[
    int | None,
    typer.Option(
        "--variations",
        parser=parse_whole,
        metavar="K",
        rich_help_panel=_METHOD,
        help="Votes: variations of a parent (default: planned).",
    ),
]
Draws = Annotated[
    int | None,
    typer.Option(
        "--draws",
        parser=parse_whole,
        metavar="N",
        rich_help_panel=_METHOD,
        help="Draws of a mixing mechanism over all rounds.",
    ),
]
Proximity = Annotated[
    str | None,
    typer.Option(
        "--proximity",
        parser=parse_proximity,
        metavar="auto|γ",
        rich_help_panel=_METHOD,
        help="How far private votes may be from public ones, in [0, 1]; never affects the guarantee.",
    ),
]
Target = Annotated[
    str | None,
    typer.Option("--target", metavar="COLUMN", rich_help_panel=_INPUT, help="Column a later model will predict."),
]
Unit = Annotated[
    str | None,
    typer.Option(
        "--unit",
        metavar="COLUMN",
        rich_help_panel=_PRIVACY,
        help="Whose privacy: rows with one value here are one person's (default: each row is one).",
    ),
]
Modality = Annotated[
    str | None,
    typer.Option(
        "--modality",
        metavar="|".join(MODALITIES),
        autocompletion=lambda: list(MODALITIES),
        rich_help_panel=_INPUT,
        help="What a record is. auto: text where the schema or a public column is free text, with a label at most.",
    ),
]
Config = Annotated[
    Path | None,
    typer.Option("--config", metavar="RUN.toml", rich_help_panel=_RUN, help="Options from a file; flags win."),
]
RunDir = Annotated[
    Path | None,
    typer.Option(
        "--run-dir",
        metavar="DIR",
        rich_help_panel=_RUN,
        help="Report, privacy statement, checkpoints. Default: OUT with suffix .run.",
    ),
]
Resume = Annotated[
    bool,
    typer.Option("--resume", rich_help_panel=_RUN, help="Go on with an interrupted run under its charge."),
]
Overwrite = Annotated[
    bool,
    typer.Option(
        "--overwrite", rich_help_panel=_RUN, help="Replace an earlier table or run; the new run is charged as well."
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        parser=parse_whole,
        metavar="N",
        rich_help_panel=_RUN,
        help="Public randomness only; noise cannot be seeded.",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", rich_help_panel=_RUN, help="Plan only; spends nothing.")]
Dataset = Annotated[
    str | None,
    typer.Option("--dataset", metavar="NAME", rich_help_panel=_PRIVACY, help="Name the ledger keeps the budget under."),
]
Budget = Annotated[
    str | None,
    typer.Option("--budget", metavar="E:D", rich_help_panel=_PRIVACY, help="Budget of the data set over all runs."),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding", metavar="NAME", rich_help_panel=_INPUT, help="Text encoding of PRIVATE (default utf-8)."
    ),
]
