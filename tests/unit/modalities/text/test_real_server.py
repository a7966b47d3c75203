"""The endpoint against llama.cpp with the packaged model: a real server, and its proxy that keeps what was sent."""

import pytest

from evomix.modalities.text.language_model import Request
from model_server import ModelServer, passed_on

pytest.importorskip("openai")

from evomix.modalities.text.openai_endpoint import OpenAIEndpoint

pytestmark = pytest.mark.slow


def ask(seed, **settings):
    wanted = {"system": "", "user": "Write one short sentence about soup.", "most_tokens": 24, "seed": seed}
    return Request(**wanted | settings)


def test_eight_at_once(llama_address):
    model = OpenAIEndpoint(model="smollm2", base_url=llama_address, concurrency=8)
    found = dict(model.complete([ask(seed) for seed in range(8)]))
    assert sorted(found) == list(range(8))
    assert len({answer.text for answer in found.values()}) > 4
    for answer in found.values():
        assert answer.text.strip()
        assert answer.prompt_tokens > 0
        assert 0 < answer.tokens <= 24
        assert answer.finish == "stop" or answer.tokens == 24
    assert model.spent.requests == 8
    assert model.spent.tokens == sum(answer.tokens for answer in found.values())
    assert model.spent.retries == model.spent.failures == {}
    assert model.unsupported == ()


def test_seeds_repeat_and_temperature_zero_ignores_them(llama_address):
    model = OpenAIEndpoint(model="smollm2", base_url=llama_address, concurrency=1)
    one, again, other = (dict(model.complete([ask(seed)]))[0].text for seed in (1, 1, 2))
    assert one == again != other
    cold = {dict(model.complete([ask(seed, temperature=0.0)]))[0].text for seed in (1, 2)}
    assert len(cold) == 1


def test_completion_and_the_proxy_that_keeps_what_was_sent(llama_address):
    with ModelServer(passed_on(llama_address)) as proxy:
        model = OpenAIEndpoint(model="smollm2", base_url=proxy.address, api="completion")
        (found,) = dict(model.complete([ask(1, user="The soup was")])).values()
        model.close()
    assert found.text.strip()
    assert [hit.path for hit in proxy.hits] == ["/v1/completions"]
    assert b"The soup was" in proxy.bodies[0]
