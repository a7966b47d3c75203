"""One form for texts that look the same, so that they are one text: for prompts, votes, doubles and files alike."""

import unicodedata

_BREAKS = ("\r\n", "\r")


def normal_form(text: str) -> str:
    r"""Return a text in Unicode's form NFC, without NUL, lone surrogates and space around it; line ends are ``\n``.

    Total. Emoji sequences, combining marks, marks of direction and line breaks inside stay as they are.

    >>> normal_form(" cafe\u0301\r\nopen\x00 ")
    'café\nopen'
    """
    for mark in _BREAKS:
        text = text.replace(mark, "\n")
    whole = text.replace("\x00", "").encode("utf-8", "ignore").decode("utf-8")
    return unicodedata.normalize("NFC", whole).strip()
