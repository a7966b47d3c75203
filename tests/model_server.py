"""Loopback servers for tests of language models over HTTP: one that plays a script, one that passes on; both keep all.

with ModelServer([failed(429, headers={"Retry-After": 1}), said("Fine.")]) as server:
    OpenAIEndpoint(model="any", base_url=server.address)
server.bodies   # every request body that came in, as bytes: a test looks there for what must never be sent

with ModelServer(passed_on("http://127.0.0.1:8080")) as proxy: ...
"""

import http.client
import itertools
import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Reply:
    """What the server sends for one request: ``body`` as JSON, or raw bytes."""

    status: int = 200
    body: object = None
    headers: dict = field(default_factory=dict)
    delay_s: float = 0.0

    def content(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass(frozen=True)
class Hit:
    """One request that came in."""

    at: float
    path: str
    headers: dict
    content: bytes

    @property
    def body(self) -> dict:
        return json.loads(self.content)


def said(text, *, finish="stop", usage=(10, 5), delay_s=0.0, refusal=None, choices=1, **more) -> Reply:
    """Return a good reply that serves as a chat answer and as a completion."""
    message = {"role": "assistant", "content": text} | ({"refusal": refusal} if refusal else {})
    choice = {"index": 0, "finish_reason": finish, "message": message, "text": text}
    body = {
        "id": "x",
        "object": "chat.completion",
        "choices": [choice] + [choice | {"message": {"content": "B"}}] * (choices - 1),
    }
    if usage is not None:
        body["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    return Reply(200, body | more, delay_s=delay_s)


def failed(status, message="scripted fault", *, code=None, headers=None, param=None) -> Reply:
    """Return an error in the protocol's form."""
    return Reply(status, {"error": {"message": message, "type": code, "code": code, "param": param}}, headers or {})


class ModelServer:
    """Answers POSTs from a script, the last reply for ever, or by a function of (path, body, headers)."""

    def __init__(self, script: Sequence[Reply] | Callable[[str, bytes, dict], Reply]) -> None:
        self.hits: list[Hit] = []
        self.most_at_once = 0
        self._at_once = 0
        self._script = script
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def bodies(self) -> list[bytes]:
        return [hit.content for hit in self.hits]

    @property
    def waits(self) -> list[float]:
        """Seconds from each request to the next."""
        times = [hit.at for hit in self.hits]
        return [later - earlier for earlier, later in itertools.pairwise(times)]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def reply(self, path: str, content: bytes, headers: dict) -> Reply:
        with self._lock:
            number = len(self.hits)
            self.hits.append(Hit(time.monotonic(), path, headers, content))
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            found = self._script(path, content, headers) if callable(self._script) else self._next(number)
            time.sleep(found.delay_s)
            return found
        finally:
            with self._lock:
                self._at_once -= 1

    def _next(self, number: int) -> Reply:
        return self._script[min(number, len(self._script) - 1)]


def passed_on(address: str) -> Callable[[str, bytes, dict], Reply]:
    """Return what makes a `ModelServer` a proxy of another server on this machine."""

    def reply(path: str, content: bytes, headers: dict) -> Reply:
        upstream = http.client.HTTPConnection(urlsplit(address).netloc, timeout=300)
        try:
            kept = {name: headers[name] for name in ("content-type", "authorization") if name in headers}
            upstream.request("POST", path, content, kept)
            answer = upstream.getresponse()
            return Reply(answer.status, answer.read())
        finally:
            upstream.close()

    return reply


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def do_GET(self) -> None:
            self._send(Reply(200, {"object": "list", "data": [{"id": "scripted", "object": "model"}]}))

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            self._send(server.reply(self.path, content, headers))

        def _send(self, reply: Reply) -> None:
            content = reply.content()
            try:
                self.send_response(reply.status)
                sent = {"Content-Type": "application/json", "Content-Length": len(content)} | reply.headers
                for name, value in sent.items():
                    self.send_header(name, str(value))
                self.end_headers()
                self.wfile.write(content)
            except ConnectionError:
                self.close_connection = True

    return Handler
