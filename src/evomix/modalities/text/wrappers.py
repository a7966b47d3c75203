"""What models put around a text: greetings, labels, quotation marks, fences, list numbers, remarks at the end."""

import re
from typing import Final

_NOUNS: Final = (
    r"(?:reviews?|abstracts?|texts?|posts?|tickets?|messages?|versions?|rephras\w+|rewrit\w+|reword\w+|paraphras\w+|"
    r"sentences?|paragraphs?|examples?|responses?|answers?|outputs?|variations?|alternatives?|comments?|passages?|"
    r"emails?|statements?|summar\w+|article|template)"
)
_LINE: Final = r"[^\n:]{0,160}?"
_BLANK: Final = r"[^\S\n]"
_AGREED: Final = r"(?:sure(?: thing)?|certainly|of course|absolutely)"
_GREETING: Final = rf"(?:{_AGREED}|okay|ok|great|alright|no problem|gladly|happy to help|thank you|thanks)"
_CHANGED: Final = (
    r"(?:rephrased|rewritten|reworded|paraphrased|revised|modified|new|changed|updated|edited|final|completed|"
    r"filled(?:-in)?)"
)
_SORTS: Final = rf"(?:(?:customer|product|movie|medical|forum|support|sample){_BLANK})?"
_LABELS: Final = (
    r"(?:review|abstract|text|post|ticket|message|output|answer|response|variation|example|rephrased|rewritten|"
    r"completion|assistant|version|paraphrase)"
)
_WRAPPED: Final = (
    # "Sure!" on a line of its own
    rf"{_AGREED}{_BLANK}*[,.!:]*{_BLANK}*\n+(?=\S)",
    # "Sure, I can help you with that." before another wrapper
    rf"{_GREETING}[,.!]?{_BLANK}+(?:i (?:can|will|would)|i['’](?:ll|d)){_LINE}[.!:]\s+(?=here|below|\n|\S+:)",
    # "Sure, here is a review that …:"
    (
        rf"(?:{_GREETING}[,.!]*{_BLANK}*)?(?:here(?:['’]s| is| are)|below (?:is|are)|the following (?:is|are)) "
        rf"{_LINE}\b{_NOUNS}\b{_LINE}:\s*"
    ),
    # "The rephrased version of the text:"
    rf"(?:the |a |an |my |your )?{_CHANGED}{_BLANK}+[^\n:,.]{{0,40}}?\b{_NOUNS}\b[^\n:,.]{{0,40}}:\s*",
    # "The sentence can be rephrased to:"
    (
        rf"(?:the |this |your )?(?:\w+ )?{_NOUNS} (?:can|could|should|may) (?:also )?"
        rf"(?:be \w+ (?:to|as)|read)(?: follows)?{_BLANK}*:\s*"
    ),
    # "**Review 2 (positive):**"
    (
        rf"(?:\*\*|__|\#{{1,4}}{_BLANK}*)?(?:the )?{_SORTS}{_LABELS}(?:{_BLANK}*\#?\d{{1,2}})?"
        rf"(?:{_BLANK}*\([^)\n]{{1,40}}\))?{_BLANK}*:(?:\*\*|__)?\s*"
    ),
)
_OPENING: Final = re.compile(f"^(?:{'|'.join(_WRAPPED)})", re.IGNORECASE)
_REMARK: Final = (
    r"\b(?:reviews?|texts?|rephras\w+|rewr\w+|versions?|generated|fictional|fictitious|example|original|tone|meaning|"
    r"placeholders?|i(?:['’]ve| have) (?:kept|made|changed|used|tried|added|replaced))\b"
)
_CLOSING: Final = re.compile(
    r"(?:^|\n)[^\S\n]*(?:"
    r"(?:i hope (?:this|that|it) (?:helps|works|meets|is what)|let me know (?:if|how|whether)|"
    r"(?:please )?feel free to (?:ask|modify|adjust|let)|would you like me to|is there anything else)[^\n]*|"
    r"[(\[*_]*word count\b[^\n]*|"
    r"(?<=\n)[^\n]*\b(?:(?:original|rephras\w+|reword\w+|rewritten|revised) (?:sentence|review|text|version)|"
    r"(?:this|the|these) (?:change|edit|revision|rewording)s?|"
    r"i (?:removed|changed|replaced|made (?:a|an|some|several|the)))\b[^\n]*|"
    rf"[(\[*_]*(?:(?:please )?note\b|disclaimer|explanation|changes made)[^\n]*?:?[^\n]*{_REMARK}[^\n]*|"
    r"[(\[](?:about |approx\w*\.? )?\d+ words?[)\]]\.?"
    r")\s*$",
    re.IGNORECASE,
)
_WORDS_SAID: Final = re.compile(
    r"\s*[(\[](?:word count:? ?|about |approx\w*\.? )?\d+ words?[)\]]\.?\s*$", re.IGNORECASE
)
_FENCE: Final = re.compile(r"^(?:```|~~~)[^\n`]*\n(.*?)\n?(?:```|~~~)\s*$", re.DOTALL)
_TRIPLE: Final = re.compile(r'^"{3}\s*(.*?)\s*(?:"{3})?$', re.DOTALL)
_TAGS: Final = re.compile(
    r"^<(text|example|review)>\s*(.*?)\s*(?:</\1>\s*)?$|^(.*?)\s*</(?:text|example|review)>$", re.DOTALL
)
_ITEM: Final = re.compile(r"^(?:\d{1,2}[.)]|[-*•])\s+(?=\S)")
_NEXT_ITEM: Final = re.compile(r"\n\s*(?:\d{1,2}[.)]|[-*•])\s+")
_BOLD: Final = re.compile(r"^(\*\*|__)(?=\S)([^*_]+)\1$", re.DOTALL)
_QUOTES: Final = {
    '"': '"', "“": "”", "”": "”", "«": "»", "»": "«", "„": "“", "‘": "’", "「": "」", "『": "』", "'": "'", "‟": "”",
}  # fmt: skip
_MOST_LAYERS: Final = 6


def unwrap(text: str) -> str:
    r"""Return an answer without what is around its text; what has no wrapper comes back as it is, stripped.

    >>> unwrap('Sure! Here is a review:\n\n"The tea was hot."')
    'The tea was hot.'
    """
    bare = text.strip()
    for _ in range(_MOST_LAYERS):
        inner = _peel(bare)
        if inner == bare:
            break
        bare = inner
    return bare


def _peel(text: str) -> str:
    for pattern in (_FENCE, _TRIPLE, _BOLD):
        if found := pattern.match(text):
            return str(found.groups()[-1]).strip()
    if found := _TAGS.match(text):
        return str(found[2] if found[1] else found[3]).strip()
    text = _OPENING.sub("", text, count=1)
    text = _WORDS_SAID.sub("", _CLOSING.sub("", text))
    return _without_quotes(_first_item(text.strip()))


def _first_item(text: str) -> str:
    """Return the first item of a list, as one text was asked for."""
    if not (found := _ITEM.match(text)):
        return text
    rest = text[found.end() :]
    if found.group().strip() in "-*•" and not _NEXT_ITEM.search(rest):
        return text  # a dash can begin a text; numbers and lists do not
    return _NEXT_ITEM.split(rest, maxsplit=1)[0].strip()


def _without_quotes(text: str) -> str:
    """Strip quotation marks around the whole text, or a mark at one end that has no partner."""
    closing = _QUOTES.get(text[:1])
    if closing is None:
        return text[:-1].rstrip() if text[-1:] == '"' and text.count('"') == 1 else text
    inner = text[1:-1]
    if len(text) > 2 and text[-1] == closing and not ({text[0], closing} - {"’", "'"}) & set(inner):
        return text if text[0] == "'" and re.search(r"(?:^|\s)'|'(?:\s|$)", inner) else inner.strip()
    lonely = text[0] in '"“' and not ({'"', "”"} & set(text[1:]))
    return text[1:].lstrip() if lonely else text
