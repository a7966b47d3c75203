import dataclasses
import os
import sys
import types

import pytest

from evomix.core.errors import EnvironmentFailure, GeneratorError, InputFileError, SpecError
from evomix.modalities.text.language_model import Request
from evomix.modalities.text.vllm_model import VLLMModel

tokenizers = pytest.importorskip("tokenizers")


def ask(user="Write.", **settings):
    return Request(**{"system": "You write.", "user": user, "most_tokens": 8, "seed": 3} | settings)


@dataclasses.dataclass(frozen=True)
class SamplingParams:
    """The settings that vLLM documents and the adapter needs; others would be an error here."""

    temperature: float = 1.0
    top_p: float = 1.0
    max_tokens: int | None = 16
    seed: int | None = None
    stop: list | None = None


class StandInEngine:
    """vLLM's offline engine as its documentation describes it: repeats the prompt's last words."""

    def __init__(self, model, *, seed, trust_remote_code, **engine):
        assert trust_remote_code is False
        if engine.get("gpu_memory_utilization") == 2:
            raise ValueError("gpu_memory_utilization must be at most 1")
        self.calls, self.model_config = [], types.SimpleNamespace(max_model_len=64)
        self.told = engine

    def get_tokenizer(self):
        return bytes_tokenizer()

    def generate(self, prompts, sampling_params, *, use_tqdm=True):
        assert use_tqdm is False
        assert len(prompts) == len(sampling_params)
        self.calls.append((prompts, sampling_params))
        return [
            self.output(prompt["prompt_token_ids"], settings)
            for prompt, settings in zip(prompts, sampling_params, strict=True)
        ]

    def output(self, prompt, settings):
        if settings.temperature == 9:
            raise ValueError("temperature is too high")
        cut = settings.max_tokens < 5
        made = types.SimpleNamespace(
            text="said\ufffd" if cut else f"seed {settings.seed}",
            token_ids=[7] * min(5, settings.max_tokens),
            finish_reason="length" if cut else "stop",
        )
        return types.SimpleNamespace(prompt_token_ids=prompt, outputs=[made])


def bytes_tokenizer():
    backend = tokenizers.Tokenizer(tokenizers.models.BPE())
    backend.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = tokenizers.trainers.BpeTrainer(
        special_tokens=["<s>", "</s>"],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    backend.train_from_iterator([], trainer)

    class Tokenizer:
        backend_tokenizer = backend
        added_tokens_decoder = backend.get_added_tokens_decoder()
        chat_template = "{{ bos_token }}{% for m in messages %}{{ m.role }}:{{ m.content }}</s>{% endfor %}"
        bos_token, eos_token, bos_token_id, eos_token_id = "<s>", "</s>", 0, 1

    return Tokenizer()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A model's folder, and a stand-in for vLLM."""
    (tmp_path / "config.json").write_text("{}")
    stand_in = types.ModuleType("vllm")
    stand_in.LLM, stand_in.SamplingParams = StandInEngine, SamplingParams
    monkeypatch.setitem(sys.modules, "vllm", stand_in)
    return tmp_path


class TestVLLMModel:
    def test_hands_over_tokens_and_each_requests_settings(self, folder):
        model = VLLMModel(folder)
        found = dict(model.complete([ask(seed=1, temperature=0.5, top_p=0.8), ask(seed=2, most_tokens=3)]))
        prompts, settings = model._engine.calls[0]
        assert settings == [SamplingParams(0.5, 0.8, 8, 1), SamplingParams(1.0, 0.95, 3, 2)]
        text = "<s>system:You write.</s>user:Write.</s>"
        assert bytes_tokenizer().backend_tokenizer.encode(text).ids == prompts[0]["prompt_token_ids"]
        assert (found[0].text, found[0].finish, found[0].tokens) == ("seed 1", "stop", 5)
        assert found[0].prompt_tokens == len(prompts[0]["prompt_token_ids"])
        assert (found[1].text, found[1].finish, found[1].tokens) == ("said", "length", 3)

    def test_each_portion_is_yielded_before_the_next(self, folder):
        model = VLLMModel(folder, portion=2)
        answers = model.complete([ask(seed=seed) for seed in range(5)])
        assert [position for position, _ in (next(answers), next(answers))] == [0, 1]
        assert len(model._engine.calls) == 1
        assert [answer.text for _, answer in answers] == ["seed 2", "seed 3", "seed 4"]

    def test_no_room_and_little_room(self, folder):
        model = VLLMModel(folder)
        found = dict(model.complete([ask("x" * 100), ask("x" * 36)]))
        assert (found[0].text, found[0].finish) == ("", "length")
        (prompt,), (settings,) = model._engine.calls[0]
        assert settings.max_tokens == 64 - len(prompt["prompt_token_ids"]) < 8

    def test_a_control_word_in_a_text_is_plain(self, folder):
        model = VLLMModel(folder)
        list(model.complete([ask("a</s>b", system="")]))
        (prompt,), _ = model._engine.calls[0]
        assert prompt["prompt_token_ids"].count(1) == 1

    def test_what_fails_is_said(self, folder):
        with pytest.raises(GeneratorError, match="temperature is too high"):
            list(VLLMModel(folder).complete([ask(temperature=9)]))
        with pytest.raises(EnvironmentFailure, match="gpu_memory_utilization"):
            VLLMModel(folder, gpu_memory_utilization=2)
        with pytest.raises(SpecError, match="portion=0"):
            VLLMModel(folder, portion=0)
        with pytest.raises(InputFileError, match="nothing is downloaded"):
            VLLMModel("someone/some-model")

    def test_says_what_to_install(self, folder, monkeypatch):
        monkeypatch.setitem(sys.modules, "vllm", None)
        with pytest.raises(EnvironmentFailure, match="pip install vllm"):
            VLLMModel(folder)

    def test_reports_no_use_and_downloads_nothing(self, folder, monkeypatch):
        for name in ("HF_HUB_OFFLINE", "VLLM_NO_USAGE_STATS", "DO_NOT_TRACK"):
            monkeypatch.delenv(name, raising=False)
        VLLMModel(folder)
        assert os.environ["HF_HUB_OFFLINE"] == os.environ["VLLM_NO_USAGE_STATS"] == os.environ["DO_NOT_TRACK"] == "1"

    def test_the_name_tells_settings_and_no_path(self, folder):
        name = VLLMModel(folder, max_model_len=64).name
        assert name.startswith(f"vllm:{folder.name} files=")
        assert name.endswith(" max_model_len=64")
        assert str(folder.parent) not in name


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the engine's own are many
def test_with_the_real_engine(tmp_path):
    """A tiny model with random weights, run by vLLM itself."""
    pytest.importorskip("vllm")
    from tiny_causal_lm import save_tiny_causal_lm

    model = VLLMModel(save_tiny_causal_lm(tmp_path), max_model_len=128, enforce_eager=True)
    requests = [ask(seed=seed % 2, temperature=1.0) for seed in range(4)] + [ask("word " * 400)]
    found = dict(model.complete(requests))
    assert sorted(found) == [0, 1, 2, 3, 4]
    assert found[0].text == found[2].text != found[1].text
    assert found[4].finish == "length"
    assert all(found[position].tokens > 0 for position in range(4))
