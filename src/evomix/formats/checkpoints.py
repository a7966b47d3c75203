"""What a run says that cannot go on from its checkpoint."""

from pathlib import Path

from evomix.core.errors import InputFileError


def damaged(what: Path | str, why: str = "") -> InputFileError:
    """Return the error about something saved that a run cannot go on from.

    Args:
        what: file of the checkpoint, or a part of it in words.
        why: in a few words; never of a private value.
    """
    name = f"the checkpoint {what}" if isinstance(what, Path) else f"the checkpoint's {what}"
    reason = f" ({why})" if why else ""
    return InputFileError(
        f"{name} is damaged{reason}. What the run spent stays spent; start a new run in another --run-dir"
    )
