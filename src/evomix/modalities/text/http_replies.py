"""What an OpenAI-compatible server sent back, and what it says: an error's fields, an answer, a hint to wait."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal

from evomix.modalities.text.language_model import Completion, Finish, Request

Api = Literal["chat", "completion"]

_LONGEST_REASON = 300
_SHORTEST_PIECE = 8
_MOST_TOKENS = 1 << 40
_FINISHES: dict[str, Finish] = {
    "stop": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "content_filter": "filtered",
    "content_filtered": "filtered",
    "safety": "filtered",
    "refusal": "filtered",
}


class UnusableAnswer(Exception):  # noqa: N818  (what was received, not a fault of ours)
    """A reply that says it went well and holds no answer; the message says what it holds instead."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A server's reply, read to its end.

    Attributes:
        status: of HTTP.
        body: bytes as sent.
        headers: names in lower case.
    """

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)

    def wait_s(self) -> float | None:
        """Return the seconds the server asks to wait (``retry-after-ms``, ``Retry-After``), None if it does not."""
        milliseconds = _positive(self.headers.get("retry-after-ms"))
        if milliseconds is not None:
            return milliseconds / 1000
        after = self.headers.get("retry-after")
        seconds = _positive(after)
        return seconds if seconds is not None or after is None else _until(after)

    def complaint(self) -> "Complaint":
        """Return the error the body tells of, with empty fields where it tells nothing."""
        try:
            told = json.loads(self.body)
        except (ValueError, RecursionError):
            return Complaint(message=_unparsed(self.body))
        inner = told.get("error", told) if isinstance(told, dict) else told
        if not isinstance(inner, dict):
            return Complaint(message=str(inner))
        message = inner.get("message") or inner.get("detail") or ""
        return Complaint(
            message=message if isinstance(message, str) else json.dumps(message),
            code=str(inner.get("code") or ""),
            type=str(inner.get("type") or ""),
            parameter=str(inner.get("param") or ""),
        )


@dataclass(frozen=True, slots=True)
class Complaint:
    """An error in the server's own words."""

    message: str
    code: str = ""
    type: str = ""
    parameter: str = ""

    def quoted(self, *, without: str = "") -> str:
        """Return the words on one short line, for an error message; ``without`` is a secret that is blotted out."""
        words = self.message or self.code or self.type or "no reason given"
        words = _blotted(words, without)
        words = " ".join("".join(c if c.isprintable() else " " for c in words).split())
        return words if len(words) <= _LONGEST_REASON else words[: _LONGEST_REASON - 1] + "…"


def _blotted(words: str, secret: str) -> str:
    """Return words without a secret, and without pieces of it that are long enough to tell something."""
    if secret:
        words = words.replace(secret, "[key]")
    for start in range(len(secret) - _SHORTEST_PIECE + 1):
        end = start + _SHORTEST_PIECE
        while secret[start:end] in words:
            while end < len(secret) and secret[start : end + 1] in words:
                end += 1
            words = words.replace(secret[start:end], "[key]")
            end = start + _SHORTEST_PIECE
    return words


def completion_of(body: bytes, request: Request, api: Api) -> Completion:
    """Return the answer in the body of a good reply.

    Raises:
        UnusableAnswer: there is none: no JSON, no choice, no text (null) though the model came to an end.
    """
    payload = _payload(body)
    choice = _first_choice(payload)
    content, refused = _content(choice, api)
    prompt_tokens, tokens = usage_of(payload)
    finish = _finish(choice.get("finish_reason"), tokens, request)
    if refused:
        finish = "filtered"
    if content is None and finish == "stop":
        raise UnusableAnswer("null instead of text")
    return Completion(whole(content or ""), finish, prompt_tokens, tokens)


def tokens_told(body: bytes) -> tuple[int, int]:
    """Return the tokens (prompt, answer) that a reply tells of, also one that holds no answer; 0 where unknown."""
    try:
        return usage_of(_payload(body))
    except UnusableAnswer:
        return 0, 0


def usage_of(payload: Mapping[str, Any]) -> tuple[int, int]:
    """Return the tokens (prompt, answer) of a payload, 0 where unknown."""
    usage = payload.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    return _count(counts.get("prompt_tokens")), _count(counts.get("completion_tokens"))


def whole(text: str) -> str:
    r"""Return a text without lone surrogates: half a character that no UTF-8 can hold.

    >>> whole("caf\u00e9 \ud83d")
    'café '
    """
    return text.encode("utf-8", "ignore").decode("utf-8")


def _payload(body: bytes) -> dict[str, Any]:
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError):
        raise UnusableAnswer(_unparsed(body)) from None
    if not isinstance(payload, dict):
        raise UnusableAnswer("JSON that is not an object")
    return payload


def _first_choice(payload: dict[str, Any]) -> dict[str, Any]:
    choices = payload.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise UnusableAnswer("an error with status 200" if payload.get("error") else "no choices")
    return choices[0]


def _content(choice: dict[str, Any], api: Api) -> tuple[str | None, bool]:
    """Return the text, None if there is none, and whether the model's server withheld it."""
    if api == "completion":
        text = choice.get("text")
        return (text if isinstance(text, str) else None), False
    message = choice.get("message")
    if not isinstance(message, dict):
        raise UnusableAnswer("a choice without a message")
    content = message.get("content")
    if isinstance(content, list):  # parts, as some servers send them
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(text for text in texts if isinstance(text, str)) or None
    return (content if isinstance(content, str) else None), bool(message.get("refusal"))


def _finish(told: Any, tokens: int, request: Request) -> Finish:
    known = _FINISHES.get(told.lower()) if isinstance(told, str) else None
    if known is not None:
        return known
    return "length" if tokens >= request.most_tokens else "stop"  # some servers hide the reason


def _count(found: Any) -> int:
    plain = isinstance(found, int) and not isinstance(found, bool)
    return found if plain and 0 < found <= _MOST_TOKENS else 0  # no answer has more: the server errs


def _unparsed(body: bytes) -> str:
    if not body.strip():
        return "an empty body"
    return "an HTML page" if body.lstrip()[:1] == b"<" else "malformed JSON"


def _positive(told: str | None) -> float | None:
    try:
        number = float(told) if told is not None else math.nan
    except ValueError:
        return None
    return number if 0 < number < math.inf else None


def _until(date: str) -> float | None:
    """Return the seconds until an HTTP date, None if it is none or has passed."""
    try:
        then = parsedate_to_datetime(date)
    except ValueError:
        return None
    seconds = ((then if then.tzinfo else then.replace(tzinfo=UTC)) - datetime.now(UTC)).total_seconds()
    return seconds if seconds > 0 else None
