"""Any server that speaks the OpenAI protocol, near or far, through the maintained ``openai`` client."""

import ipaddress
import os
import ssl
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

from evomix.core.errors import EnvironmentFailure, SpecError
from evomix.modalities.text.as_answered import as_answered
from evomix.modalities.text.bounded_replies import bounded
from evomix.modalities.text.http_replies import Api, Reply, UnusableAnswer, completion_of, tokens_told
from evomix.modalities.text.language_model import Completion, Form, Request
from evomix.modalities.text.pacing import Pace
from evomix.modalities.text.patience import Patience
from evomix.modalities.text.request_bodies import Wording
from evomix.modalities.text.retrying import Fault, Server, fault_of, is_withheld, rejected_parameter, wait_s
from evomix.modalities.text.spending import Account, Bill, Caps, Spent, estimated_tokens, worst_case

OPENAI = "https://api.openai.com/v1"
_LOADING_POLL_S = 1.0
LONGEST_LOADING_S = 120.0
"""How long a server may answer that it is still loading its model."""


class OpenAIEndpoint:
    """A language model behind an OpenAI-compatible server (OpenAI, vLLM, llama.cpp, Ollama, gateways …).

    What is sent may leave this machine: prompts, which are made of templates, *public* texts and released candidates.
    It is for nothing else; a private text must never be part of a request.

    Nothing goes anywhere but to ``base_url``: redirects are not followed, and for an address of this machine the proxy
    settings of the environment are not used (for a far one they are, as a company's network may need them).

    Faults that pass are tried again: rate limits, 408, 409, 5xx, time-outs, lost connections and answers that cannot be
    read, after the wait that the server asks for, or 1, 2, 4 … s and a little more at random. A wait holds all workers.
    Wrong keys, addresses and requests and empty accounts are never tried again. A request that gave no usable answer in
    all its attempts is answered by an empty text and counted in `spent`; too many of them end the run.

    Costs are counted as the server tells them. Where it tells nothing, a prompt or an answer counts one token for every
    three bytes, and a request that timed out or was answered by something unreadable counts what it may have cost at
    most.
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        api: Api = "chat",
        concurrency: int = 8,
        timeout_s: float = 120.0,
        most_retries: int = 3,
        first_wait_s: float = 1.0,
        most_cost: float | None = None,
        price_in: float = 0.0,
        price_out: float = 0.0,
        most_tokens_total: int | None = None,
        already_spent: Spent | None = None,
    ) -> None:
        """Set up; nothing is sent yet.

        Args:
            model: as the server names it.
            base_url: address up to and with ``/v1``; by default the environment's OPENAI_BASE_URL, else OpenAI's.
            api_key: the environment variable OPENAI_API_KEY by default; local servers need none.
            api: ``chat`` (messages), or ``completion``: system and user text as one, for models without a chat form.
            concurrency: requests at once at most.
            timeout_s: seconds after which an attempt is given up: for a byte of the headers, and to the body's end.
            most_retries: further attempts for one request.
            first_wait_s: first wait in seconds where the server names none; doubles with each attempt.
            most_cost: cap in currency units; a request that could exceed it is not sent.
            price_in: currency units per million tokens of prompts.
            price_out: currency units per million tokens of answers.
            most_tokens_total: cap on the tokens of prompts and answers together.
            already_spent: what an interrupted run spent; counts against the caps.

        Raises:
            SpecError: an argument is out of range.
            EnvironmentFailure: the ``openai`` package is not installed.
        """
        _check(model, api, concurrency=concurrency, timeout_s=timeout_s, retries=most_retries, wait_s=first_wait_s)
        key = (api_key if api_key is not None else os.environ.get("OPENAI_API_KEY", "")).strip()
        if not (key.isascii() and key.isprintable()):
            raise SpecError("the API key (OPENAI_API_KEY) holds characters that no key has; give it as it was issued")
        address = base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI
        self._server = Server(model, shown_address(address), key)
        self._wording = Wording(model, api)
        self._account = Account(Caps(price_in, price_out, most_cost, most_tokens_total), already_spent or Spent())
        self._concurrency, self._most_retries, self._first_wait_s = concurrency, most_retries, first_wait_s
        self._pace = Pace(concurrency)
        self._openai = _library()
        self._client = _client(self._openai, address, key, timeout_s)
        self._close = weakref.finalize(self, self._client.close)

    @property
    def name(self) -> str:
        """Model and protocol, without address and key."""
        return f"openai-{self._wording.api}:{self._server.model}"

    @property
    def form(self) -> Form:
        """How it is asked best: as its protocol is."""
        return "continue" if self._wording.api == "completion" else "chat"

    @property
    def spent(self) -> Spent:
        """What was sent, tried again, given up and paid so far; of the run that was taken up as well."""
        return self._account.spent

    @property
    def unsupported(self) -> tuple[str, ...]:
        """Settings that the server said it does not know, and that are no longer sent; in alphabetical order."""
        return self._wording.dropped

    def __repr__(self) -> str:
        """Show model and address; never the key."""
        return f"OpenAIEndpoint(model={self._server.model!r}, base_url={self._server.address!r})"

    def close(self) -> None:
        """Close the connections; happens by itself when the object goes."""
        self._close()

    def complete(self, requests: Sequence[Request]) -> Iterator[tuple[int, Completion]]:
        """Answer all requests, each as soon as its answer is there; see `LanguageModel.complete`.

        Raises:
            GeneratorError: the server refuses for good, too many requests fail, or the next could exceed a cap; what
                was on its way is still yielded before.
        """
        stopped, patience = threading.Event(), Patience(self._server)
        loading_until = time.monotonic() + LONGEST_LOADING_S

        def answer(position: int) -> Completion:
            return self._answer(requests[position], stopped, patience, loading_until)

        def stop() -> None:
            stopped.set()
            self._pace.wake()

        return as_answered(answer, len(requests), workers=self._concurrency, stop=stop)

    def _answer(
        self, request: Request, stopped: threading.Event, patience: Patience, loading_until: float
    ) -> Completion:
        attempt = 1
        while True:
            with self._account.reserved(request) as bill, self._pace.turn(stopped) as began:
                found = self._attempt(request, bill)
                if isinstance(found, Fault) and found.trouble == "rate limit":
                    self._pace.narrow(began)
            if isinstance(found, Completion):
                patience.answered()
                self._pace.widen()
                return found
            if found.trouble == "loading model" and time.monotonic() < loading_until:
                self._pace.hold(found.asked_wait_s or _LOADING_POLL_S)
            elif attempt > self._most_retries or found.trouble == "loading model":
                self._account.failed(found.trouble)
                patience.given_up(found, attempt)
                return Completion("", "stop")
            else:
                self._pace.hold(wait_s(found, attempt, first_s=self._first_wait_s))
                attempt += 1
            self._account.retried(found.trouble)

    def _attempt(self, request: Request, bill: Bill) -> Completion | Fault:
        """Ask once, and again only to leave out a setting that the server does not know."""
        most_prompt, most_tokens = worst_case(request)
        while True:
            body = self._wording.body(request)
            reply = self._send(body, bill)
            if isinstance(reply, Fault):
                if reply.may_be_billed:
                    bill.take(0, 0, else_prompt=most_prompt, else_tokens=most_tokens)
                return reply
            if 200 <= reply.status < 300:
                return self._read(reply, request, bill)
            rejected = rejected_parameter(reply, self._wording.optional(body))
            if rejected is None:
                return Completion("", "filtered") if is_withheld(reply) else fault_of(reply, self._server)
            self._wording.drop(rejected)

    def _read(self, reply: Reply, request: Request, bill: Bill) -> Completion | Fault:
        most_prompt, most_tokens = worst_case(request)
        try:
            completion = completion_of(reply.body, request, self._wording.api)
        except UnusableAnswer as error:
            bill.take(*tokens_told(reply.body), else_prompt=most_prompt, else_tokens=most_tokens)
            return Fault("unusable answer", f"status 200 with {error}", may_be_billed=True)
        bill.take(
            completion.prompt_tokens,
            completion.tokens,
            else_prompt=estimated_tokens(request.system + request.user),
            else_tokens=estimated_tokens(completion.text),
        )
        return completion

    def _send(self, body: dict[str, Any], bill: Bill) -> Reply | Fault:
        openai = self._openai
        bill.requests += 1
        resource: Any = self._client.chat.completions if self._wording.api == "chat" else self._client.completions
        try:
            raw = resource.with_raw_response.create(**body)
        except openai.APIStatusError as error:
            return Reply(error.status_code, error.response.content, dict(error.response.headers))
        except openai.APITimeoutError:
            return Fault("timeout", "no answer in time", may_be_billed=True)
        except openai.APIConnectionError as error:
            return Fault("connection", f"no connection ({type(error.__cause__).__name__})")
        return Reply(raw.status_code, raw.content, dict(raw.headers))


def shown_address(base_url: str) -> str:
    """Return an address without what may be secret in it.

    Raises:
        SpecError: it is no http(s) address, or holds a user name or password.
    """
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    if parts.scheme not in {"http", "https"} or not host:
        raise SpecError("base_url must be an address like http://127.0.0.1:8080/v1 or https://host/v1")
    if parts.username is not None or parts.password is not None:
        raise SpecError("base_url must hold no user name or password; give a key as OPENAI_API_KEY")
    shown_host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown_host}{f':{port}' if port else ''}{parts.path}"


def is_loopback(base_url: str) -> bool:
    """Whether an address is of this machine."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _library() -> Any:
    try:
        import openai  # noqa: PLC0415  (optional)
    except ImportError as error:
        raise EnvironmentFailure('a model endpoint needs the openai package: pip install "evomix[text]"') from error
    return openai


def _client(openai: Any, base_url: str, key: str, timeout_s: float) -> Any:
    near = is_loopback(base_url)
    settings: dict[str, Any] = {
        "trust_env": not near,
        "follow_redirects": False,
        "timeout": timeout_s,
        "event_hooks": bounded(openai, timeout_s),
        # Plain HTTP on this machine needs no certificates, which take long to load; without any, nobody is trusted.
        "verify": ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if near and base_url.startswith("http:") else True,
    }
    try:
        transport = openai.DefaultHttpxClient(**settings)
    except (ImportError, ValueError, OSError) as error:  # proxies and certificates that the environment names
        raise EnvironmentFailure(
            f"the proxy or certificate settings of the environment cannot be used ({type(error).__name__}): check "
            "HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE and SSL_CERT_DIR, or install what a socks proxy needs"
        ) from None
    return openai.OpenAI(
        base_url=base_url,
        api_key=key or "none",  # the client insists on one
        timeout=timeout_s,
        max_retries=0,  # retries are counted, paced and paid for here
        http_client=transport,
    )


def _check(model: str, api: str, *, concurrency: int, timeout_s: float, retries: int, wait_s: float) -> None:
    if not model.strip():
        raise SpecError("model must name the model as the server does, found model=''")
    if api not in {"chat", "completion"}:
        raise SpecError(f"api must be chat or completion, found api={api}")
    if not 1 <= concurrency <= 256:
        raise SpecError(f"concurrency must be from 1 to 256, found concurrency={concurrency}")
    if not 0 < timeout_s < threading.TIMEOUT_MAX:
        raise SpecError(f"timeout_s must be a number of seconds above 0, found timeout_s={timeout_s}")
    if retries < 0:
        raise SpecError(f"most_retries must be 0 or more, found most_retries={retries}")
    if not 0 <= wait_s <= 60:
        raise SpecError(f"first_wait_s must be from 0 to 60, found first_wait_s={wait_s}")
