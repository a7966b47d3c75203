"""From the bytes of a text file to UTF-8, in memory: no temporary file ever holds what was read."""

import codecs
import re
from pathlib import Path

from evomix.core.errors import InputFileError, SpecError

HOW_TO_DECLARE = "--encoding for the private table, --public-encoding for the public one"
"""The next step for a file in another encoding."""

LINE_END = re.compile(rb"\r\n|\n|\r")
"""What ends a physical line, wherever a line number is counted."""


def read_utf8(path: Path, *, encoding: str = "utf-8") -> bytes:
    """Return the whole text of ``path`` as UTF-8 bytes without a byte-order mark.

    Args:
        path: a text file.
        encoding: its declared encoding, any that Python knows; nothing is guessed.

    Raises:
        SpecError: for an encoding that Python does not know.
        InputFileError: when the file cannot be opened, or holds bytes that are not text in that encoding; the
            message has the first bad line and says how to declare another encoding, and no text of the file.
    """
    codec = _codec_name(encoding)
    raw = _read_bytes(path)
    text, failed_at = _decode(raw, codec)
    if failed_at is not None:
        raise InputFileError(_not_decodable(path, raw, failed_at, codec))
    if codec == "utf-8":
        return raw.removeprefix(codecs.BOM_UTF8)
    return text.removeprefix("\ufeff").encode("utf-8")


def _codec_name(encoding: str) -> str:
    try:
        name = codecs.lookup(encoding).name
        "a".encode(name)  # refuses codecs that are not of text, such as base64
    except (LookupError, ValueError):
        pass
    else:
        return name
    raise SpecError(f"encoding={encoding!r} is not a text encoding that Python knows; try utf-8, cp1252 or utf-16")


def _read_bytes(path: Path) -> bytes:
    reason = "it cannot be read"
    try:
        return path.read_bytes()
    except FileNotFoundError:
        reason = "no such file"
    except IsADirectoryError:
        reason = "it is a folder, not a file"
    except PermissionError:
        reason = "permission to read it is missing"
    except OSError as error:
        reason = f"it cannot be read ({error.strerror})"
    raise InputFileError(f"{path}: {reason}")


def _decode(raw: bytes, codec: str) -> tuple[str, int | None]:
    """Return the text and None, or "" and the offset of the first bad byte.

    The offset leaves here instead of the exception, which holds the bytes it failed on.
    """
    try:
        text = raw.decode(codec)
        if codec != "utf-8":
            text.encode("utf-8")  # some codecs produce halves of characters, which are not text
    except UnicodeDecodeError as error:
        return "", error.start
    except UnicodeError:
        return "", 0
    return text, None


def _not_decodable(path: Path, raw: bytes, failed_at: int, codec: str) -> str:
    before = raw[:failed_at]
    if codec != "utf-8":
        before = before.decode(codec, "ignore").encode("utf-8", "ignore")
    line = len(LINE_END.findall(before)) + 1
    shown = "UTF-8" if codec == "utf-8" else codec
    return (
        f"{path}, line {line}: not valid {shown} text. If the file has another encoding, for example "
        f"cp1252, declare it: {HOW_TO_DECLARE}"
    )
