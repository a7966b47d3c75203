"""The options of ``synth`` that only texts have."""

from typing import Annotated

import typer

from evomix.cli.numbers import parse_whole

# Shown in help and tab completion; RunSpec checks them, and a test keeps the two equal.
GENERATORS = ("auto", "local", "endpoint", "transformers", "vllm", "recombine")
APIS = ("chat", "completion")
PROMPTS = ("general", "reviews", "medical_abstracts", "forum_posts", "support_tickets")
EMBEDDERS = ("minilm", "tfidf")

_TEXT, _ENDPOINT = "Texts", "Texts from a model behind an address"

TextColumn = Annotated[
    str | None,
    typer.Option(
        "--text-column",
        metavar="COLUMN",
        rich_help_panel=_TEXT,
        help="The column with the texts (default: the schema's, else that of most words in the public table).",
    ),
]
Generator = Annotated[
    str | None,
    typer.Option(
        "--generator",
        metavar="|".join(GENERATORS),
        autocompletion=lambda: list(GENERATORS),
        rich_help_panel=_TEXT,
        help="Who proposes texts. auto: an endpoint with --base-url, transformers with a folder as --model, else the "
        "local model; recombine: public texts, no model.",
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME|PATH",
        rich_help_panel=_TEXT,
        help="local: a .gguf file (default: the packaged one); transformers, vllm: a folder; endpoint: a name.",
    ),
]
Prompts = Annotated[
    str | None,
    typer.Option(
        "--prompts",
        metavar="|".join((*PROMPTS, "FILE.toml")),
        autocompletion=lambda: list(PROMPTS),
        rich_help_panel=_TEXT,
        help="What the model is asked (default: general).",
    ),
]
Domain = Annotated[
    str | None,
    typer.Option(
        "--domain", metavar="LINE", rich_help_panel=_TEXT, help='What the texts are, such as "reviews of hotels".'
    ),
]
Embedder = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        metavar="|".join((*EMBEDDERS, "MODULE:FUNCTION", "PATH")),
        autocompletion=lambda: list(EMBEDDERS),
        rich_help_panel=_TEXT,
        help="Where texts lie: the packaged model (minilm), words of the public texts (tfidf), a function or a folder "
        "of your own. It runs in this process: private texts never leave it.",
    ),
]
BaseUrl = Annotated[
    str | None,
    typer.Option(
        "--base-url",
        metavar="URL",
        rich_help_panel=_ENDPOINT,
        help="An OpenAI-compatible server, up to and with /v1. The key, if any: OPENAI_API_KEY. It is sent prompts, "
        "public texts and released candidates, never a private text.",
    ),
]
Api = Annotated[
    str | None,
    typer.Option(
        "--api",
        metavar="|".join(APIS),
        autocompletion=lambda: list(APIS),
        rich_help_panel=_TEXT,
        help="chat: the model is told what to do; completion: it goes on with a list of texts. Default: completion for "
        "the packaged model and those that know no conversations.",
    ),
]
Concurrency = Annotated[
    int | None,
    typer.Option(
        "--concurrency",
        parser=parse_whole,
        metavar="N",
        rich_help_panel=_ENDPOINT,
        help="Requests at once (default 8).",
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option("--timeout-s", metavar="S", rich_help_panel=_ENDPOINT, help="Seconds to wait for an answer (120)."),
]
PriceIn = Annotated[
    float | None,
    typer.Option("--price-in", metavar="P", rich_help_panel=_ENDPOINT, help="Price of a million tokens read."),
]
PriceOut = Annotated[
    float | None,
    typer.Option("--price-out", metavar="P", rich_help_panel=_ENDPOINT, help="Price of a million tokens written."),
]
MostCost = Annotated[
    float | None,
    typer.Option(
        "--most-cost",
        metavar="C",
        rich_help_panel=_ENDPOINT,
        help="Stop before the answers cost more; --resume with a higher one goes on without paying twice.",
    ),
]
MostTokens = Annotated[
    int | None,
    typer.Option(
        "--most-tokens",
        parser=parse_whole,
        metavar="N",
        rich_help_panel=_ENDPOINT,
        help="Stop before more tokens are read and written.",
    ),
]
