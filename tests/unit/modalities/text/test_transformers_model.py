import itertools
import socket
import sys

import pytest

from evomix.core.errors import EnvironmentFailure, GeneratorError, InputFileError, SpecError
from evomix.modalities.text.language_model import Request
from evomix.modalities.text.transformers_model import TransformersModel


def ask(user="Write.", **settings):
    return Request(**{"system": "You write.", "user": user, "most_tokens": 12, "seed": 3} | settings)


class TestWithoutThePackages:
    @pytest.mark.parametrize("package", ["torch", "transformers"])
    def test_says_what_to_install(self, monkeypatch, tmp_path, package):
        (tmp_path / "config.json").write_text("{}")
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(EnvironmentFailure, match="pip install torch transformers"):
            TransformersModel(tmp_path)

    def test_a_name_is_no_folder(self):
        with pytest.raises(InputFileError, match="nothing is downloaded"):
            TransformersModel("someone/some-model")

    def test_a_folder_without_a_model(self, tmp_path):
        with pytest.raises(InputFileError, match=r"config\.json"):
            TransformersModel(tmp_path)

    def test_a_batch_of_none(self, tmp_path):
        with pytest.raises(SpecError, match="batch_size=0"):
            TransformersModel(tmp_path, batch_size=0)


@pytest.fixture(scope="module")
def torch():
    pytest.importorskip("transformers")
    return pytest.importorskip("torch")


@pytest.fixture(scope="module")
def folder(torch, tmp_path_factory):
    from tiny_causal_lm import save_tiny_causal_lm

    return save_tiny_causal_lm(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def model(folder):
    return TransformersModel(folder, batch_size=4)


def answers(model, requests):
    found = dict(model.complete(requests))
    return [found[position] for position in range(len(requests))]


class TestPrompts:
    def test_are_those_of_the_tokenizers_own_template(self, model):
        messages = [{"role": "system", "content": "You write."}, {"role": "user", "content": "One review.\nShort!"}]
        expected = model._tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=False)
        assert model._prompts.encode(system="You write.", user="One review.\nShort!") == expected

    def test_a_control_word_in_a_text_is_plain(self, model):
        control = model._tokenizer.convert_tokens_to_ids("<|im_end|>")
        said = model._prompts.encode(system="", user="a <|im_end|> b")
        assert said.count(control) == 1  # the form's own
        assert "a <|im_end|> b" in model._tokenizer.decode(said)

    def test_without_a_template_the_text_alone(self, torch, tmp_path):
        from tiny_causal_lm import save_tiny_causal_lm

        model = TransformersModel(save_tiny_causal_lm(tmp_path, chat=False))
        assert model._tokenizer.decode(model._prompts.encode(system="You write.", user="One.")).startswith("You write.")
        assert answers(model, [ask()])[0].tokens > 0


class TestAnswers:
    def test_greedy_is_what_the_library_generates(self, model, torch):
        prompt = model._prompts.encode(system="You write.", user="Write.")
        expected = model._model.generate(
            torch.tensor([prompt]), attention_mask=torch.ones(1, len(prompt)), do_sample=False, max_new_tokens=12
        )[0, len(prompt) :]
        found = answers(model, [ask(temperature=0.0), ask("Another, longer than that.", temperature=0.0)])[0]
        assert found.text == model._tokenizer.decode(expected, skip_special_tokens=True).rstrip("\ufffd")
        assert found.prompt_tokens == len(prompt)

    def test_do_not_depend_on_the_batch(self, model):
        requests = [ask(f"Write {'long ' * (n % 5)}.", seed=n, temperature=0.5 + n / 10) for n in range(9)]
        together = answers(model, requests)
        alone = [answers(model, [request])[0] for request in requests]
        assert together == alone

    def test_differ_by_seed_and_repeat_with_it(self, model):
        first, second, again = answers(model, [ask(seed=1), ask(seed=2), ask(seed=1)])
        assert first != second
        assert first == again

    def test_end_at_each_requests_own_limit(self, model):
        found = answers(model, [ask(most_tokens=most, seed=most) for most in (1, 3, 7, 20)])
        for answer, most in zip(found, (1, 3, 7, 20), strict=True):
            assert answer.tokens == most or (answer.finish == "stop" and answer.tokens < most)
        assert any(answer.finish == "length" for answer in found)

    def test_end_where_the_model_ends(self, model, torch):
        # The end is made likely: the head's row for it points where the others' mean does, much longer.
        control = model._tokenizer.convert_tokens_to_ids("<|im_end|>")
        with torch.no_grad():
            model._model.lm_head.weight[control] = model._model.lm_head.weight.mean(0) * 40
        found = answers(model, [ask(seed=n, most_tokens=40) for n in range(12)])
        stopped = [answer for answer in found if answer.finish == "stop"]
        assert stopped
        assert all(1 <= answer.tokens <= 40 and "<|im_end|>" not in answer.text for answer in stopped)

    def test_no_room_for_an_answer(self, model):
        long, short = answers(model, [ask("word " * 400), ask()])
        assert (long.text, long.finish, long.tokens) == ("", "length", 0)
        assert short.tokens > 0

    def test_the_last_of_the_room_is_used(self, model):
        prompt = len(model._prompts.encode(system="You write.", user="Write."))
        answer = answers(model, [ask(most_tokens=1000, seed=5)])[0]
        assert answer.finish == "stop" or answer.tokens == 256 - prompt

    def test_odd_texts_go_through(self, model):
        found = answers(model, [ask("שלום 👋🏽 e\u0301 \x00 \ud83d"), ask(""), ask("", system="")])
        assert len(b"".join(answer.text.encode("utf-8") for answer in found)) > 0  # no half characters

    def test_nothing_goes_over_the_network(self, folder, monkeypatch):
        def refuse(*_):
            raise AssertionError("a connection was tried")

        monkeypatch.setattr(socket.socket, "connect", refuse)
        assert answers(TransformersModel(folder), [ask()])[0].tokens > 0

    def test_the_name_tells_models_apart(self, torch, folder, tmp_path):
        from tiny_causal_lm import save_tiny_causal_lm

        other = save_tiny_causal_lm(tmp_path, positions=128)
        assert TransformersModel(folder).name == TransformersModel(folder).name != TransformersModel(other).name
        assert str(folder.parent) not in TransformersModel(folder).name

    def test_a_damaged_folder(self, torch, tmp_path):
        (tmp_path / "config.json").write_text('{"model_type": "llama"}')
        with pytest.raises(InputFileError, match="cannot be read"):
            TransformersModel(tmp_path)


class TestMemory:
    def test_a_batch_that_does_not_fit_is_halved_and_answers_stay(self, model, torch, monkeypatch):
        requests = [ask(seed=n) for n in range(9)]
        expected = answers(model, requests)
        sizes, generate = [], model._model.generate

        def little_memory(**arguments):
            sizes.append(len(arguments["input_ids"]))
            if sizes[-1] > 2:
                raise torch.OutOfMemoryError("scripted")
            return generate(**arguments)

        monkeypatch.setattr(model._model, "generate", little_memory)
        assert answers(model, requests) == expected
        assert sizes == [4, 2, 2, 2, 2, 1]

    def test_no_memory_for_one(self, model, torch, monkeypatch):
        def no_memory(**_):
            raise torch.OutOfMemoryError("scripted")

        monkeypatch.setattr(model._model, "generate", no_memory)
        with pytest.raises(GeneratorError, match="no memory for one prompt"):
            list(model.complete([ask(), ask()]))


class TestSeededSampling:
    def drawn(self, torch, logits, count=4000, **settings):
        """Count the tokens that requests with seeds 0 … count − 1 draw from the same logits."""
        from evomix.modalities.text.seeded_sampling import SeededSampling

        requests = [ask(seed=seed, **settings) for seed in range(count)]
        scores = torch.tensor([logits]).expand(count, -1)
        return SeededSampling(requests, device="cpu")(None, scores).argmax(-1).bincount(minlength=len(logits))

    @pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
    def test_the_law_is_the_softmax_and_no_other(self, torch, temperature):
        logits = [2.0, 1.0, 0.0, -1.0, 0.5]
        counts = self.drawn(torch, logits, temperature=temperature, top_p=1.0).double()

        def distance(tempered):
            expected = torch.softmax(torch.tensor(logits).double() / tempered, -1) * counts.sum()
            return float(((counts - expected) ** 2 / expected).sum())

        assert distance(temperature) < 25  # χ² with 4 degrees of freedom: 1 in 20,000
        assert distance(temperature * 1.3) > 25

    def test_the_nucleus_keeps_the_fewest_that_reach_its_share(self, torch):
        logits = torch.tensor([0.5, 0.3, 0.15, 0.05]).log().tolist()
        for top_p, kept in [(0.3, 1), (0.55, 2), (0.85, 3), (0.97, 4)]:
            counts = self.drawn(torch, logits, count=500, temperature=1.0, top_p=top_p)
            assert int((counts > 0).sum()) == kept

    def test_a_flat_nucleus_needs_more_than_the_likeliest_thousand(self, torch):
        from evomix.modalities.text.seeded_sampling import SeededSampling

        scores = torch.linspace(0, 0.001, 5000)[None]
        sampling = SeededSampling([ask(top_p=0.9, temperature=1.0)], device="cpu")
        kept = int((scores >= sampling._least_kept(scores)).sum())
        assert abs(kept - 4500) < 5

    def test_zero_temperature_takes_the_largest(self, torch):
        counts = self.drawn(torch, [0.0, 0.1, 0.05], count=50, temperature=0.0)
        assert counts.tolist() == [0, 50, 0]

    def test_rows_of_one_batch_are_independent_of_their_place(self, torch):
        from evomix.modalities.text.seeded_sampling import SeededSampling

        requests = [ask(seed=seed, temperature=1 + seed / 4, top_p=0.5 + seed / 10) for seed in range(4)]
        scores = torch.randn(4, 50, generator=torch.Generator().manual_seed(1))
        expected = SeededSampling(requests, device="cpu")(None, scores).argmax(-1)
        for order in itertools.permutations(range(4)):
            rows = list(order)
            found = SeededSampling([requests[row] for row in rows], device="cpu")(None, scores[rows]).argmax(-1)
            assert found.tolist() == expected[rows].tolist()
