"""Which troubles with a server are tried again, after what wait, and which end the run at once."""

import random
import re
from dataclasses import dataclass, field
from typing import Literal

from evomix.core.errors import GeneratorError
from evomix.modalities.text.http_replies import Complaint, Reply

Trouble = Literal["rate limit", "server error", "timeout", "connection", "unusable answer", "loading model"]

LONGEST_BACKOFF_S = 60.0
LONGEST_ASKED_WAIT_S = 600.0
"""Longer waits that a server asks for end the run: it can be taken up again later."""

_EMPTY_ACCOUNT_CODE = re.compile(r"insufficient|quota|billing|credit|balance|payment")
_EMPTY_ACCOUNT = re.compile(r"insufficient_quota|current quota|billing|credit|balance|payment")
_RATE = re.compile(r"rate[ _-]?limit|too many requests|requests per|tokens per")
_UNSUPPORTED = re.compile(
    r"unsupported|not support|n't support|unrecogni[sz]ed|unknown|unexpected|extra (?:field|input)|"
    r"not permitted|not allowed"
)


@dataclass(frozen=True, slots=True)
class Fault:
    """One attempt that gave no answer and may be tried again.

    Attributes:
        trouble: its kind, as it is counted.
        reason: for messages.
        asked_wait_s: seconds the server asks to wait, None if it does not.
        may_be_billed: whether the server may have made tokens before it failed.
    """

    trouble: Trouble
    reason: str
    asked_wait_s: float | None = None
    may_be_billed: bool = False


@dataclass(frozen=True, slots=True)
class Server:
    """What messages about a server name: the model and the address; the key only so that it is never quoted."""

    model: str
    address: str
    key: str = field(default="", repr=False)


def backoff_s(attempt: int, *, first_s: float) -> float:
    """Return seconds before attempt + 1: ``first_s`` · 2^(attempt − 1), up to half more at random, at most 60 s."""
    doubled: float = first_s * 2.0 ** min(attempt - 1, 30)
    return min(LONGEST_BACKOFF_S / 1.5, doubled) * random.uniform(1.0, 1.5)  # noqa: S311  (spreads load, hides nothing)


def wait_s(fault: Fault, attempt: int, *, first_s: float) -> float:
    """Return seconds to wait after a fault in the attempt-th try, counted from 1.

    The server's own hint is kept the first time; where it proved too short, the wait grows beyond it.

    Raises:
        GeneratorError: the server asks for more than ten minutes.
    """
    asked = fault.asked_wait_s
    if asked is None:
        return backoff_s(attempt, first_s=first_s)
    if asked > LONGEST_ASKED_WAIT_S:
        raise GeneratorError(
            f"the server asks to wait {asked:.0f} s ({fault.trouble}: {fault.reason}), more than the "
            f"{LONGEST_ASKED_WAIT_S:.0f} s a run waits at most; what was answered is kept: resume the run then"
        )
    return asked if attempt == 1 else max(asked, backoff_s(attempt, first_s=first_s))


def fault_of(reply: Reply, server: Server) -> Fault:
    """Return the fault that a reply other than 200 stands for, where trying again may help.

    Raises:
        GeneratorError: it cannot help: key, address, model or request are wrong, or the account is empty.
    """
    complaint, status = reply.complaint(), reply.status
    reason = complaint.quoted(without=server.key)
    if status == 402 or (status == 429 and _is_empty_account(complaint)):
        raise GeneratorError(
            f"the account has no quota or credit left: HTTP {status} from {server.address}: {reason}; "
            "what was answered is kept: add credit, then resume the run"
        )
    if status == 503 and "loading model" in complaint.message.lower():
        return Fault("loading model", reason, reply.wait_s())
    if status == 429:
        return Fault("rate limit", reason, reply.wait_s())
    if status in {408, 409} or status >= 500:
        return Fault("server error", f"HTTP {status}: {reason}", reply.wait_s())
    raise GeneratorError(_hopeless(status, reason, server))


def rejected_parameter(reply: Reply, sent: set[str]) -> str | None:
    """Return which of the optional parameters in ``sent`` a 400 or 422 says that the server does not know, or None."""
    if reply.status not in {400, 422}:
        return None
    complaint = reply.complaint()
    words = f"{complaint.message} {complaint.code} {complaint.type}".lower().replace("_", " ")
    if not _UNSUPPORTED.search(words):
        return None
    if complaint.parameter:
        return complaint.parameter if complaint.parameter in sent else None
    # The first one named is meant: "'max_tokens' is not supported, use 'max_completion_tokens'".
    named = {match.start(): name for name in sent if (match := re.search(rf"\b{name}\b", complaint.message))}
    return named[min(named)] if named else None


def is_withheld(reply: Reply) -> bool:
    """Whether a 400 or 403 says that a content filter refused this prompt, which is an answer and not an error."""
    complaint = reply.complaint()
    told = f"{complaint.code} {complaint.type}".lower()
    return reply.status in {400, 403} and bool(re.search(r"content[ _-]?(filter|policy)|moderation", told))


def _is_empty_account(complaint: Complaint) -> bool:
    told, words = f"{complaint.code} {complaint.type}".lower(), complaint.message.lower()
    if _EMPTY_ACCOUNT_CODE.search(told):
        return True
    # Rate limits may point to a billing page too; what calls itself a rate limit is one.
    return not _RATE.search(told) and not _RATE.search(words) and bool(_EMPTY_ACCOUNT.search(words))


def _hopeless(status: int, reason: str, server: Server) -> str:
    if status in {401, 403}:  # the reason is not quoted: servers repeat parts of the key
        return (
            f"authentication failed: HTTP {status} from {server.address}; give a valid API key for "
            f"model={server.model!r} (environment variable OPENAI_API_KEY)"
        )
    if status == 404:
        return (
            f"nothing found at the address: HTTP 404 from {server.address} for model={server.model!r}: {reason}; "
            "check the model's name and the address, which often ends in /v1"
        )
    if 300 <= status < 400:
        return f"{server.address} sends requests on to another address (HTTP {status}); give that address itself"
    return f"the server refuses the request: HTTP {status} from {server.address}: {reason}"
