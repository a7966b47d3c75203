"""A transformer of random weights, a few thousand of them, made here: it can learn which word means good."""

import numpy as np
import pytest
from text_sets import reviews, stars

from evomix.core.errors import EnvironmentFailure, SpecError
from evomix.evaluation.text import fine_tuning
from evomix.evaluation.text.downstream import text_downstream
from evomix.evaluation.text.fine_tuning import FineTunedLearner
from evomix.evaluation.text.text_set import TextSet


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    place = tmp_path_factory.mktemp("bert")
    tokenizers = pytest.importorskip("tokenizers")
    marks = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3}
    known = sorted({word for text in reviews(300, 1).texts for word in text.lower().split() if not word.isdigit()})
    rule = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({**marks, **{word: 4 + k for k, word in enumerate(known)}}, unk_token="[UNK]")
    )
    rule.normalizer, rule.pre_tokenizer = tokenizers.normalizers.Lowercase(), tokenizers.pre_tokenizers.Whitespace()
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=rule, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", model_max_length=64
    ).save_pretrained(place)
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    config = transformers.BertConfig(vocab_size=len(known) + 4, max_position_embeddings=64, **sizes)
    transformers.BertModel(config).save_pretrained(place)
    return str(place)


@pytest.fixture
def fast(monkeypatch):
    monkeypatch.setattr(fine_tuning, "_LEARNING_RATE", 5e-3)  # random weights are far from any solution


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # those of other libraries
def test_it_learns_classes_and_forgets_between_sets(folder, fast):
    blind = [TextSet(some.texts, np.zeros((len(some), 1)), some.targets) for some in (reviews(150, 1), reviews(100, 2))]
    learner = FineTunedLearner(folder, epochs=4)
    found = text_downstream(*blind, target="opinion", task="classification", learner=learner, seeds=1)
    by_arm = {arm.name: arm.scores["accuracy"].mean for arm in found.arms}
    assert by_arm["synthetic"] > 0.9
    labels = (blind[0].targets == "good").astype(np.int64)
    again = [learner.predict_classes(blind[0], labels * 2, blind[1], classes=3, seed=5) for _ in range(2)]
    np.testing.assert_array_equal(again[0], again[1])
    assert (again[0][:, 1] == 0.0).all(), "a class that is not in training"
    assert again[0].sum(axis=1) == pytest.approx(1.0)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_it_learns_numbers(folder, fast):
    train, test = reviews(150, 3, noise=0.05), reviews(60, 4, noise=0.05)
    predicted = FineTunedLearner(folder, epochs=4).predict_numbers(train, stars(train).targets, test, seed=0)
    assert np.corrcoef(predicted, stars(test).targets)[0, 1] > 0.9
    same = FineTunedLearner(folder).predict_numbers(train, np.full(150, 4.0), test, seed=0)
    assert (same == 4.0).all()


def test_a_folder_without_a_model_is_refused(tmp_path):
    with pytest.raises(SpecError, match="expected a folder with a model"):
        FineTunedLearner(str(tmp_path / "none"))
    pytest.importorskip("transformers")
    with pytest.raises(SpecError, match="a model and its tokenizer"):
        FineTunedLearner(str(tmp_path)).predict_classes(
            reviews(10, 1), np.arange(10) % 2, reviews(2, 2), classes=2, seed=0
        )


def test_what_is_missing_is_said(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(EnvironmentFailure, match="pip install torch transformers"):
        FineTunedLearner(str(tmp_path))
