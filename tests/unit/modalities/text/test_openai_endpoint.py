import inspect
import sys
import threading
import time

import pytest

from evomix.core.errors import EnvironmentFailure, GeneratorError, SpecError
from evomix.modalities.text.language_model import Completion, Request
from evomix.modalities.text.spending import Spent
from model_server import ModelServer, Reply, failed, said

pytest.importorskip("openai")

from evomix.modalities.text.openai_endpoint import OpenAIEndpoint, is_loopback, shown_address

KEY = "sk-planted-key-4711"


@pytest.fixture(autouse=True)
def no_key_around(monkeypatch):
    for name in ("OPENAI_API_KEY", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


def endpoint(server, **settings):
    return OpenAIEndpoint(
        **{"model": "m", "base_url": server.address, "concurrency": 1, "timeout_s": 5, "first_wait_s": 0.01} | settings
    )


def ask(text="Write a remark.", **settings):
    return Request(**{"system": "You write.", "user": text, "most_tokens": 50} | settings)


def asked(script, count=1, requests=None, **settings):
    """Return what a scripted server made of requests: the answers in order of arrival, the error, endpoint, server."""
    found, error = [], None
    with ModelServer(script) as server:
        model = endpoint(server, **settings)
        try:
            found.extend(model.complete(requests or [ask(seed=number) for number in range(count)]))
        except GeneratorError as raised:
            error = raised
        model.close()
    return found, error, model, server


class TestAnswers:
    def test_a_chat_request_says_what_is_asked_and_no_more(self):
        found, _, model, server = asked(
            [said("Fine.", usage=(12, 7))], requests=[ask("Hi", temperature=0.7, top_p=0.9, seed=5)], api_key=KEY
        )
        assert found == [(0, Completion("Fine.", "stop", 12, 7))]
        assert server.hits[0].body == {
            "model": "m",
            "messages": [{"role": "system", "content": "You write."}, {"role": "user", "content": "Hi"}],
            "seed": 5,
            "temperature": 0.7,
            "top_p": 0.9,
            "max_tokens": 50,
        }
        assert server.hits[0].path == "/v1/chat/completions"
        assert server.hits[0].headers["authorization"] == f"Bearer {KEY}"
        assert model.spent == Spent(requests=1, prompt_tokens=12, tokens=7)

    def test_without_a_system_text_there_is_no_system_message(self):
        *_, server = asked([said("x")], requests=[ask("Hi", system="")])
        assert server.hits[0].body["messages"] == [{"role": "user", "content": "Hi"}]

    def test_completion_sends_one_text(self):
        found, _, model, server = asked([said("Fine.")], requests=[ask("Hi"), ask("Ho", system="")], api="completion")
        assert [hit.body["prompt"] for hit in server.hits] == ["You write.\n\nHi", "Ho"]
        assert server.hits[0].path == "/v1/completions"
        assert dict(found)[0].text == "Fine."
        assert model.name == "openai-completion:m"

    @pytest.mark.parametrize(
        ("reply", "expected"),
        [
            (said("The soup needed", finish="length"), ("The soup needed", "length")),
            (said("The soup needed", finish="max_tokens"), ("The soup needed", "length")),
            (said("The soup needed", finish=None, usage=(10, 50)), ("The soup needed", "length")),
            (said("Done.", finish=None, usage=(10, 49)), ("Done.", "stop")),
            (said("Done.", finish="stop", usage=(10, 50)), ("Done.", "stop")),
            (said(None, finish="length"), ("", "length")),
            (said(None, finish="content_filter"), ("", "filtered")),
            (said("Par", finish="content_filter"), ("Par", "filtered")),
            (said(None, refusal="I can't."), ("", "filtered")),
            (said(""), ("", "stop")),
            (said("A", choices=2), ("A", "stop")),
            (said([{"type": "text", "text": "in "}, {"type": "text", "text": "parts"}]), ("in parts", "stop")),
            (said("שלום 👋🏽 e\u0301\n<|im_end|>\ud83d"), ("שלום 👋🏽 e\u0301\n<|im_end|>", "stop")),
            (failed(400, "policy", code="content_filter"), ("", "filtered")),
        ],
    )
    def test_how_an_answer_ended(self, reply, expected):
        found, error, _, server = asked([reply])
        assert error is None
        assert [(answer.text, answer.finish) for _, answer in found] == [expected]
        assert len(server.hits) == 1

    def test_half_characters_are_never_sent(self):
        *_, server = asked([said("x")], requests=[ask("caf\udce9 é")])
        assert server.hits[0].body["messages"][1]["content"] == "caf é"

    def test_several_at_once_each_yielded_when_it_is_there(self):
        def reply(path, content, headers):
            slow = b'"slow"' in content
            return said("slow" if slow else "quick", delay_s=0.4 if slow else 0.0)

        requests = [ask("slow")] + [ask(f"quick {n}") for n in range(6)]
        found, *_, server = asked(reply, requests=requests, concurrency=3)
        assert [position for position, _ in found][-1] == 0
        assert sorted(position for position, _ in found) == list(range(7))
        assert dict(found)[0].text == "slow"
        assert 2 <= server.most_at_once <= 3

    def test_no_request_is_put_before_the_caller_kept_an_answer(self):
        with ModelServer([said("x")]) as server:
            answers = endpoint(server, concurrency=2).complete([ask(seed=n) for n in range(9)])
            next(answers)
            time.sleep(0.2)
            assert len(server.hits) == 2
            answers.close()
            time.sleep(0.1)
            assert len(server.hits) == 2

    def test_nothing_asked_sends_nothing(self):
        found, error, _, server = asked([said("x")], requests=[], count=0)
        assert (found, error) == ([], None)
        assert server.hits == []


class TestTryingAgain:
    def test_the_servers_wait_is_kept(self):
        _, error, model, server = asked(
            [failed(429, code="rate_limit_exceeded", headers={"Retry-After": 1}), said("x")]
        )
        assert error is None
        assert 1.0 <= server.waits[0] < 2.0
        assert model.spent.retries == {"rate limit": 1}
        assert model.spent.requests == 2

    def test_milliseconds_come_before_seconds(self):
        *_, server = asked([failed(429, headers={"retry-after-ms": 150, "Retry-After": 30}), said("x")])
        assert 0.15 <= server.waits[0] < 1.0

    def test_without_a_hint_the_wait_doubles_from_the_first(self):
        *_, server = asked([failed(503), failed(500), failed(502), said("x")], first_wait_s=0.1)
        for number, wait in enumerate(server.waits):
            assert 0.1 * 2**number <= wait < 0.1 * 2**number * 1.5 + 0.15

    def test_the_default_first_wait_is_a_second(self):
        default = inspect.signature(OpenAIEndpoint).parameters["first_wait_s"].default
        assert default == 1.0

    @pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
    def test_what_passes_is_tried_again(self, status):
        found, error, model, _ = asked([failed(status), said("x")])
        assert error is None
        assert dict(found)[0].text == "x"
        assert model.spent.retries == {"rate limit" if status == 429 else "server error": 1}

    def test_a_server_that_hangs(self):
        found, error, model, _ = asked([said("late", delay_s=1.5), said("x")], timeout_s=0.3)
        assert error is None
        assert dict(found)[0].text == "x"
        assert model.spent.retries == {"timeout": 1}
        # It may have been billed: 50 tokens at most were asked for, and 5 were told of the second.
        assert model.spent.tokens == 55
        assert model.spent.estimated == 1

    def test_nobody_listens(self):
        with ModelServer([said("x")]) as server:
            pass
        model = endpoint(server, most_retries=1)
        with pytest.raises(GeneratorError, match=r"connection: 1.*no connection"):
            list(model.complete([ask()]))
        assert model.spent.requests == 2
        assert model.spent.tokens == 0

    def test_a_limit_for_each_request(self):
        _, error, model, server = asked([failed(500)], count=5)
        assert len(server.hits) == 4
        assert "server error: 1" in str(error)
        assert model.spent.failures == {"server error": 1}

    def test_no_retries_where_none_are_wanted(self):
        _, error, _, server = asked([failed(500)], most_retries=0)
        assert error is not None
        assert len(server.hits) == 1

    def test_a_server_that_still_loads_is_waited_for(self, monkeypatch):
        loading = failed(503, "Loading model", code="unavailable_error", headers={"retry-after-ms": 10})
        found, error, model, _ = asked([loading] * 8 + [said("x")])
        assert error is None
        assert dict(found)[0].text == "x"
        assert model.spent.retries == {"loading model": 8}

    def test_but_not_for_ever(self, monkeypatch):
        monkeypatch.setattr("evomix.modalities.text.openai_endpoint.LONGEST_LOADING_S", 0.1)
        _, error, _, server = asked([failed(503, "Loading model", headers={"retry-after-ms": 30})])
        assert "loading model: 1" in str(error)
        assert len(server.hits) < 8

    def test_a_wait_of_one_holds_all(self):
        lock, first = threading.Lock(), []

        def reply(path, content, headers):
            with lock:
                if not first:
                    first.append(True)
                    return failed(429, headers={"retry-after-ms": 600})
            return said("x", delay_s=0.2)

        _, error, _, server = asked(reply, count=12, concurrency=4)
        assert error is None
        held = max(server.waits)
        assert held >= 0.3

    def test_a_wait_beyond_all_measure_ends_the_run(self):
        _, error, _, server = asked([failed(429, headers={"Retry-After": 7200})])
        assert "asks to wait 7200 s" in str(error)
        assert len(server.hits) == 1


BROKEN = [
    Reply(200, b'{"choices": [{"message": {"content": "cut'),
    Reply(200, b"<html><body>gateway</body></html>", {"Content-Type": "text/html"}),
    Reply(200, b""),
    Reply(200, {"choices": []}),
    Reply(200, {"id": "x"}),
    Reply(200, ["list"]),
    Reply(200, {"choices": [{"finish_reason": "stop"}]}),
    Reply(200, {"error": {"message": "upstream"}}),
    said(None),
]


class TestUnusableAnswers:
    @pytest.mark.parametrize("broken", BROKEN)
    def test_tried_again(self, broken):
        found, error, model, _ = asked([broken, said("x")])
        assert error is None
        assert dict(found)[0].text == "x"
        assert model.spent.retries == {"unusable answer": 1}

    def test_one_request_alone_is_given_up_and_counted(self):
        script = [said("x")] + [Reply(200, b"{")] * 4 + [said("y")]
        found, error, model, _ = asked(script, count=3)
        assert error is None
        assert [answer.text for _, answer in found] == ["x", "", "y"]
        assert model.spent.failures == {"unusable answer": 1}

    def test_too_many_end_the_run_and_are_named(self):
        found, error, _, _ = asked([said("x"), Reply(200, b"<html>")], count=50, most_retries=1)
        assert "unusable answer: 4" in str(error)
        assert "HTML" in str(error)
        assert len(found) == 1 + 3
        assert error.exit_code == 4

    def test_a_server_that_never_answered_is_left_at_once(self):
        found, _, *_, server = asked([Reply(200, b"<html>")], count=50)
        assert (found, len(server.hits)) == ([], 4)

    def test_an_answer_between_two_failures_forgives_the_first(self):
        found, error, *_ = asked([said("x"), failed(500), said("y"), failed(500), said("z")], count=5, most_retries=0)
        assert error is None
        assert [answer.text for _, answer in found] == ["x", "", "y", "", "z"]

    def test_two_in_a_row_without_a_server_end_the_run(self):
        found, error, _, server = asked([said("x"), failed(500)], count=50, most_retries=1)
        assert [answer.text for _, answer in found] == ["x", ""]
        assert "server error: 2" in str(error)
        assert len(server.hits) == 1 + 2 + 2


class TestNeverAgain:
    @pytest.mark.parametrize("status", [401, 403])
    def test_a_wrong_key(self, status):
        _, error, model, server = asked(
            [failed(status, f"Incorrect key {KEY}", code="invalid_api_key")], 5, api_key=KEY
        )
        assert len(server.hits) == 1
        assert "authentication" in str(error)
        assert "key" in str(error)
        assert (
            KEY not in f"{error!r} {error} {error.__cause__} {error.__context__} {model!r} {model.name} {vars(model)}"
        )

    @pytest.mark.parametrize(
        "reply",
        [
            failed(429, "You have no credit left.", code="insufficient_quota"),
            failed(429, "You exceeded your current quota, please check your plan and billing details."),
            failed(402, "Payment required"),
        ],
    )
    def test_an_empty_account(self, reply):
        found, error, _, server = asked([said("x"), said("y"), reply], 9)
        assert [answer.text for _, answer in found] == ["x", "y"]
        assert len(server.hits) == 3
        assert "quota or credit" in str(error)
        assert "rate limit" not in str(error).lower()

    def test_a_rate_limit_that_points_to_billing_is_none(self):
        message = "Rate limit reached for requests per min. Add a payment method at the billing page."
        _, error, model, _ = asked([failed(429, message, code="rate_limit_exceeded"), said("x")])
        assert error is None
        assert model.spent.retries == {"rate limit": 1}

    def test_an_address_where_nothing_is(self):
        _, error, _, server = asked([failed(404, "no such model")])
        assert len(server.hits) == 1
        assert "model='m'" in str(error)
        assert server.address in str(error)

    def test_a_bad_request_quotes_the_server_without_the_key(self):
        _, error, _, server = asked([failed(400, f"unknown parameter\x1b[31m by {KEY}")], api_key=KEY)
        assert len(server.hits) == 1
        assert "unknown parameter" in str(error)
        assert KEY not in str(error)
        assert "\x1b" not in str(error)

    def test_a_redirect_is_not_followed(self):
        with ModelServer([said("stolen")]) as other:
            _, error, _, _ = asked([Reply(307, {}, {"Location": f"{other.address}/chat/completions"})])
            assert other.hits == []
        assert "another address" in str(error)

    def test_others_on_their_way_are_still_yielded(self):
        def reply(path, content, headers):
            return failed(400, "no") if b"bad" in content else said("good", delay_s=0.3)

        found, error, _, server = asked(
            reply, requests=[ask("good"), ask("bad"), ask("good")] + [ask("late")] * 5, concurrency=3
        )
        assert sorted(position for position, _ in found) == [0, 2]
        assert "HTTP 400" in str(error)
        assert len(server.hits) == 3


class TestSettingsAServerDoesNotKnow:
    @pytest.mark.parametrize("name", ["seed", "top_p", "temperature"])
    @pytest.mark.parametrize("named_in", ["param", "message"])
    def test_left_out_once_and_for_all(self, name, named_in):
        message = f"Unsupported parameter: '{name}' is not supported with this model."
        refusal = failed(400, message, param=name) if named_in == "param" else failed(400, message)
        _, error, model, server = asked([refusal, said("x")], 2)
        assert error is None
        assert [name in hit.body for hit in server.hits] == [True, False, False]
        assert model.unsupported == (name,)
        assert model.spent.retries == {}
        assert model.spent.requests == 3

    def test_the_token_limit_is_said_in_the_newer_word(self):
        message = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
        _, _, model, server = asked([failed(400, message, code="unsupported_parameter"), said("x")])
        assert server.hits[1].body["max_completion_tokens"] == 50
        assert "max_tokens" not in server.hits[1].body
        assert model.unsupported == ()

    def test_a_token_limit_is_never_left_out(self):
        refusals = [failed(400, "unsupported", param=name) for name in ("max_tokens", "max_completion_tokens")]
        _, error, _, server = asked([*refusals, said("x")])
        assert error is not None
        assert len(server.hits) == 2

    def test_a_wrong_value_is_no_unknown_setting(self):
        _, error, _, server = asked([failed(400, "top_p must be above 0", param="top_p"), said("x")])
        assert "top_p must be above 0" in str(error)
        assert len(server.hits) == 1


class TestCaps:
    def test_a_request_that_could_exceed_the_cost_is_not_sent(self):
        # Each answer costs 10 · 1 + 40 · 2 = 90 millionths; the next could cost 100 bytes or so and 50 tokens.
        found, error, model, server = asked([said("x", usage=(10, 40))], 99, price_in=1, price_out=2, most_cost=0.0005)
        assert "most_cost=0.0005" in str(error)
        assert error.exit_code == 4
        assert 0 < len(found) == len(server.hits)
        assert model.spent.cost == pytest.approx(len(found) * 90e-6)
        assert model.spent.cost <= 0.0005 < model.spent.cost + 90e-6 + 200e-6

    @pytest.mark.parametrize("concurrency", [1, 4])
    def test_tokens_never_exceed_their_cap(self, concurrency):
        found, error, model, _ = asked(
            [said("x", usage=(30, 10), delay_s=0.01)], 99, most_tokens_total=1000, concurrency=concurrency
        )
        assert "most_tokens_total=1000" in str(error)
        assert model.spent.prompt_tokens + model.spent.tokens == 40 * len(found) <= 1000
        # As many as fit, however many run at once: what is set aside and not used comes back.
        # A request may take 25 bytes, 64 for the template and 50 new tokens: 21 · 40 + 139 fits, 22 · 40 + 139 not.
        assert len(found) == 22

    def test_what_an_interrupted_run_spent_counts(self):
        _, error, _, server = asked(
            [said("x")], most_tokens_total=500, already_spent=Spent(prompt_tokens=300, tokens=190)
        )
        assert error is not None
        assert server.hits == []

    def test_tokens_that_nobody_told_are_estimated(self):
        *_, model, _ = asked([said("seven by", usage=None)], requests=[ask("12345", system="")])
        assert (model.spent.prompt_tokens, model.spent.tokens, model.spent.estimated) == (2, 3, 1)

    def test_an_unreadable_answer_counts_the_worst(self):
        *_, model, _ = asked([Reply(200, b"{"), said("x", usage=(1, 1))], requests=[ask("12345", system="")])
        assert (model.spent.prompt_tokens, model.spent.tokens) == (5 + 64 + 1, 50 + 1)

    def test_a_cap_on_cost_needs_prices(self):
        with pytest.raises(SpecError, match="price_in"):
            OpenAIEndpoint(model="m", base_url="http://127.0.0.1:1/v1", most_cost=1)


class TestSettings:
    def test_without_the_client_says_what_to_install(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "openai", None)
        with pytest.raises(EnvironmentFailure, match=r"evomix\[text\]"):
            OpenAIEndpoint(model="m", base_url="http://127.0.0.1:1/v1")

    def test_the_address_of_the_environment_and_the_clients_own(self, monkeypatch):
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
        assert "https://api.openai.com/v1" in repr(OpenAIEndpoint(model="m"))
        monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
        assert "http://127.0.0.1:9/v1" in repr(OpenAIEndpoint(model="m"))

    @pytest.mark.parametrize(
        "wrong",
        [
            {"model": " "},
            {"api": "edit"},
            {"concurrency": 0},
            {"timeout_s": 0},
            {"timeout_s": float("nan")},
            {"most_retries": -1},
            {"first_wait_s": -1},
            {"price_in": -1},
            {"most_tokens_total": -5},
            {"base_url": "127.0.0.1:8080"},
            {"base_url": "ftp://127.0.0.1"},
            {"base_url": "http://user:secret@127.0.0.1/v1"},
            {"base_url": "http://[::1"},
        ],
    )
    def test_refused(self, wrong):
        with pytest.raises(SpecError) as caught:
            OpenAIEndpoint(**{"model": "m", "base_url": "http://127.0.0.1:1/v1"} | wrong)
        assert "secret" not in str(caught.value)

    def test_a_key_from_the_environment(self, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
        *_, server = asked([said("x")])
        assert server.hits[0].headers["authorization"] == f"Bearer {KEY}"

    def test_a_key_that_is_none_is_refused_unquoted(self):
        with pytest.raises(SpecError) as caught:
            OpenAIEndpoint(model="m", base_url="http://127.0.0.1:1/v1", api_key="sk-\nä-planted")
        assert "planted" not in str(caught.value)

    def test_a_proxy_never_sees_what_stays_on_this_machine(self, monkeypatch):
        with ModelServer([said("through the proxy")]) as proxy:
            monkeypatch.setenv("HTTP_PROXY", proxy.address)
            found, *_ = asked([said("direct")])
            assert proxy.hits == []
        assert dict(found)[0].text == "direct"

    def test_addresses(self):
        assert shown_address("https://host:8443/v1?key=secret") == "https://host:8443/v1"
        assert shown_address("http://[::1]:80/v1") == "http://[::1]:80/v1"
        assert all(map(is_loopback, ["http://localhost/v1", "http://127.8.0.1:1/", "http://[::1]:80/"]))
        assert not any(map(is_loopback, ["http://localhost.example/v1", "http://10.0.0.1/", "https://api.example/"]))
