"""Answers that speak about the text that was asked for, instead of being it."""

import re
from typing import Final

_TEXT: Final = r"(?:review|text|abstract|post|ticket|message|sentence|passage|prompt)"
_NOTE: Final = r"(?:(?:please )?note|disclaimer|reminder)\b"
_REMARK: Final = re.compile(
    r"^\W*(?:"
    rf"{_NOTE}.{{0,50}}\b(?:fictional|fictitious|generated|ai|hypothetical|(?:is|as) an? example)\b|"
    rf"(?:this|the|your) (?:\w+ )?{_TEXT} above\b|"
    rf"(?:this|the|your) (?:\w+ )?{_TEXT} "
    r"(?:is an? (?:\w+ )?example|should read|praises|conveys|(?:is|was) rephrased)\b|"
    rf"(?:this|here) is an? (?:\w+ )?(?:example|sample|version) of (?:an? |the |your )?(?:\w+ )?{_TEXT}\b|"
    r"(?:i['’]d be|i would be|i am|i['’]m) (?:happy|glad) to "
    rf"(?:help you|assist|rephrase|(?:write|provide) (?:you with )?(?:an? |the )(?:\w+ )?{_TEXT})\b|"
    rf"i(?:['’]ve| have) (?:rephrased|rewritten|reworded|paraphrased)\b"
    r")",
    re.IGNORECASE | re.DOTALL,
)


_ABOUT_IT: Final = (
    r"(?:highlights?|praises|conveys|describes|expresses|contains|emphasi[sz]es|provides|mentions|focuses|includes|"
    r"suggests|ends with|has a|reads|lacks|uses|should|could|is (?:an?|too|very|not|more|well)|was rephrased)\b"
)
_CHANGES: Final = re.compile(
    r"\b(?:rephrased|reworded|rewritten|paraphrased) (?:sentence|review|text|post|ticket|abstract|version)\b|"
    r"\boriginal (?:sentence|review|text)\b",
    re.IGNORECASE,
)


def is_remark(text: str, kind: str = "") -> bool:
    """Return whether an answer is a remark on its text; ``kind`` is the noun for what was asked for, if any.

    >>> is_remark("Note: this is a fictional review."), is_remark("Note: the shop closes at five.")
    (True, False)
    """
    if _REMARK.match(text) or _CHANGES.search(text):
        return True
    noun = re.escape(kind)
    about = rf"\W*(?:this|the|your|one|a|this customer['’]s) (?:\w+ )?{noun} (?:that )?(?:also )?{_ABOUT_IT}"
    return bool(kind) and re.match(about, text, re.IGNORECASE) is not None
