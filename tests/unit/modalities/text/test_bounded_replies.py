"""Servers that trickle or never end do not hold a run."""

import socket
import threading
import time

import pytest

from evomix.core.errors import EnvironmentFailure, GeneratorError
from evomix.modalities.text.language_model import Request

pytest.importorskip("openai")

HEAD = b"HTTP/1.1 %d OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.fixture
def server():
    """Start a server that sends ``piece`` for ever after a head, each ``pause_s`` seconds; yields a starter."""
    stopped = threading.Event()
    listening = []

    def start(status, piece, pause_s):
        listener = socket.socket()
        listening.append(listener)
        listener.bind(("127.0.0.1", 0))
        listener.listen(8)

        def send(connection):
            with connection:
                try:
                    connection.recv(65536)
                    connection.sendall(HEAD % status)
                    while not stopped.wait(pause_s):
                        connection.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
                except OSError:
                    pass

        def listen():
            while not stopped.is_set():
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=send, args=(connection,), daemon=True).start()

        threading.Thread(target=listen, daemon=True).start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}/v1"

    yield start
    stopped.set()
    for listener in listening:
        listener.close()


@pytest.mark.parametrize(
    ("status", "piece", "pause_s", "told"),
    [(200, b" ", 0.1, "timeout"), (500, b" ", 0.1, "timeout"), (200, b" " * (1 << 20), 0.0, "connection")],
    ids=["trickle", "error that trickles", "endless"],
)
def test_an_answer_that_does_not_end_is_given_up(server, status, piece, pause_s, told):
    from evomix.modalities.text.openai_endpoint import OpenAIEndpoint

    model = OpenAIEndpoint(
        model="any", base_url=server(status, piece, pause_s), timeout_s=1.0, most_retries=1, first_wait_s=0.05
    )
    began = time.monotonic()
    with pytest.raises(GeneratorError, match=told):
        list(model.complete([Request("", "hi", 5)]))
    assert time.monotonic() - began < 8.0


@pytest.mark.parametrize(
    ("name", "value"), [("ALL_PROXY", "nonsense://127.0.0.1:9"), ("SSL_CERT_FILE", "/nonexistent/file")]
)
def test_settings_of_the_environment_that_cannot_be_used_are_named(monkeypatch, name, value):
    from evomix.modalities.text.openai_endpoint import OpenAIEndpoint

    monkeypatch.setenv(name, value)
    with pytest.raises(EnvironmentFailure, match=name):
        OpenAIEndpoint(model="any", base_url="https://far.example/v1")
