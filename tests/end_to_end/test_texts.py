"""Texts from the command line: a model behind an address proposes, private texts vote and never leave."""

import csv
import json
import random
import re
import socket

import pytest

from model_server import ModelServer, failed, said

pytest.importorskip("openai")

NOUNS = [
    "soup",
    "bread",
    "view",
    "staff",
    "waiter",
    "room",
    "bed",
    "shower",
    "lake",
    "garden",
    "music",
    "coffee",
    "wine",
]
GOOD = ["lovely", "warm", "kind", "fresh", "quick", "clean", "quiet", "generous", "bright", "sweet"]
BAD = ["cold", "rude", "slow", "stale", "dirty", "loud", "stingy", "dark", "bitter", "late"]
CANARY = "zebra-7741 umbrella"


def _sentence(rng, words):
    one, two = rng.sample(NOUNS, 2)
    return f"The {one} was {rng.choice(words)} and the {two} was {rng.choice(words)}."


def _reviews(size, seed):
    rng = random.Random(seed)
    return [{"text": _sentence(rng, GOOD if k % 3 else BAD), "mood": "good" if k % 3 else "bad"} for k in range(size)]


def _writer(_path, body, _headers):
    """A model that writes what it is asked for: another sentence for each request."""
    rng = random.Random(body)
    asked = json.loads(body)
    prompt = " ".join(message["content"] for message in asked["messages"])
    return said(_sentence(rng, BAD if " bad" in prompt else GOOD), usage=(20, 12))


@pytest.fixture
def texts(desk):
    """A steward's folder with texts: private ones, of which one is a canary, and public ones."""
    desk.write("private.csv", [*_reviews(300, 1), {"text": f"The {CANARY} was here.", "mood": "good"}])
    desk.write("public.csv", _reviews(120, 2))
    return desk


def _options(server, *more):
    return ("--base-url", server.address, "--model", "any", "--embedder", "tfidf", "--prompts", "reviews",
            "--rounds", "2", "--candidates", "40", "--seed", "3", *more)  # fmt: skip


def _texts_in(path):
    return {row["text"] for row in csv.DictReader(path.read_text().splitlines())}


@pytest.mark.parametrize("preset", [None, "pe", "aug-pe", "gape", "pubmix", "pubmix-gape"])
def test_texts_with_a_label_come_out_whole(texts, preset):
    with ModelServer(_writer) as server:
        more = () if preset is None else ("--preset", preset)
        rows = texts.done(*_options(server, *more), epsilon=4, rows=30)
    assert list(rows[0]) == ["text", "mood"]
    assert len(rows) == 30
    assert {row["mood"] for row in rows} <= {"good", "bad"}
    assert all(re.fullmatch(r"The \w+ was \w+ and the \w+ was \w+\.", row["text"]) for row in rows)
    run = texts.folder / "out.run"
    privacy = json.loads((run / "privacy.json").read_text())
    assert (privacy["modality"], privacy["epsilon"]) == ("text", 4.0)
    report = (run / "report.html").read_text()
    for told in ("Examples", rows[0]["text"], "openai-chat:any", "Answers of the model", "tfidf"):
        assert told in report


def test_by_default_there_is_one_round_of_four_candidates_a_text_and_no_text_comes_twice(texts):
    with ModelServer(_writer) as server:
        given = ("--base-url", server.address, "--model", "any", "--embedder", "tfidf", "--prompts", "reviews")
        rows = texts.done(*given, "--seed", "3", epsilon=4, rows=25)
    assert len({row["text"] for row in rows}) == 25
    run = texts.folder / "out.run"
    (round_one,) = map(json.loads, (run / "events.jsonl").read_text().splitlines())
    assert 50 < round_one["candidates"] <= 100


def test_no_private_text_is_sent_or_left(texts):
    with ModelServer(_writer) as server:
        texts.done(*_options(server), epsilon=4, rows=30)
        sent = b"\n".join(hit.content for hit in server.hits).decode()
    private, public = (_texts_in(texts.folder / "in" / name) for name in ("private.csv", "public.csv"))
    journal = (texts.folder / "out.run/checkpoint/answers.jsonl").read_text()
    answered = {json.loads(line)["text"] for line in journal.splitlines()}
    left = texts.traces().decode("utf-8", "replace")
    for text in private - public - answered:
        assert text not in sent
        assert text not in left
    for word in CANARY.split():
        assert word not in sent + left


def test_a_label_votes_within_its_class(texts):
    """Private texts are two to one good; a class never takes the votes of the other."""
    with ModelServer(_writer) as server:
        rows = texts.done(*_options(server, "--preset", "gape"), epsilon=50, rows=60)
    assert 0.5 < sum(row["mood"] == "good" for row in rows) / 60 < 0.85


def test_shares_of_the_schema_are_kept(texts):
    texts.write("schema.json", json.dumps({"columns": [
        {"name": "text", "type": "text"},
        {"name": "mood", "type": "category", "values": ["good", "bad"], "shares": [0.2, 0.8]},
    ]}))  # fmt: skip
    with ModelServer(_writer) as server:
        rows = texts.done(*_options(server, "--schema", "in/schema.json"), epsilon=50, rows=50)
    assert abs(sum(row["mood"] == "bad" for row in rows) - 40) <= 1


def test_a_run_that_stops_while_it_writes_goes_on_and_pays_for_nothing_twice(texts):
    served = []

    def dying(path, body, headers):
        served.append(body)
        return failed(401) if len(served) in (25, 70) else _writer(path, body, headers)

    with ModelServer(dying) as server:
        first = texts.synth(*_options(server, "--concurrency", "1"), epsilon=4, rows=30)
        assert first.code == 4
        assert "nothing was charged" in first.err
        assert len(served) == 25
        refused = texts.run("synth", "in/private.csv", "--public", "in/public.csv", "--epsilon", 4, "--delta", "1e-6",
                            "--rows", 30, "--out", "out.csv", *_options(server))  # fmt: skip
        assert refused.code == 2
        assert "--resume" in refused.err
        second = texts.synth(*_options(server, "--concurrency", "1", "--resume"), epsilon=4, rows=30)
        assert second.code == 4
        assert "--resume goes on" in second.err
        third = texts.synth(*_options(server, "--resume"), epsilon=4, rows=30)
        assert third.code == 0, third.err
    assert len(texts.rows()) == 30
    paid = [body for number, body in enumerate(served, start=1) if number not in (25, 70)]
    assert len(paid) == len(set(paid))
    assert texts.spent() == [4.0]


def test_a_cap_stops_before_it_is_exceeded_and_a_higher_one_goes_on(texts):
    prices = ("--price-in", "1", "--price-out", "1", "--concurrency", "1")
    with ModelServer(_writer) as server:
        capped = texts.synth(*_options(server, *prices, "--most-cost", "0.002"), epsilon=4, rows=30)
        assert capped.code == 4
        assert "most_cost" in capped.err or "--most-cost" in capped.err
        sent = len(server.hits)
        assert 0 < sent * 32e-6 <= 0.002
        done = texts.synth(*_options(server, *prices, "--most-cost", "1", "--resume"), epsilon=4, rows=30)
        assert done.code == 0, done.err
        bodies = [hit.content for hit in server.hits]
    assert len(bodies) == len(set(bodies))


def test_a_model_that_refuses_nearly_always_ends_the_run_with_that_reason(texts):
    with ModelServer([said("I'm sorry, but I can't help with that request.")]) as server:
        answer = texts.synth(*_options(server), epsilon=4, rows=30)
    assert answer.code == 4
    assert "60 refusal" in answer.err
    assert "nothing was charged" in answer.err
    assert not (texts.folder / "out.csv").exists()
    assert texts.spent() == []


def test_a_dry_run_asks_nothing(texts):
    with ModelServer(_writer) as server:
        answer = texts.synth(*_options(server, "--dry-run"), epsilon=4, rows=30)
        assert answer.code == 0, answer.err
        assert server.hits == []


def test_without_public_texts_a_schema_and_a_domain_will_do(texts, monkeypatch):
    (texts.folder / "in" / "vowels.py").write_text(
        "import numpy as np\n"
        "def place(texts):\n"
        "    counts = np.array([[1.0, *(t.count(v) for v in 'aeiou')] for t in texts]).reshape(-1, 6)\n"
        "    return counts / np.linalg.norm(counts, axis=1, keepdims=True)\n"
    )
    monkeypatch.syspath_prepend(texts.folder / "in")
    texts.write("schema.json", '{"columns": [{"name": "text", "type": "text"}, {"name": "mood", "type": "id"}]}')
    with ModelServer(_writer) as server:
        given = ("--base-url", server.address, "--model", "any", "--embedder", "vowels:place", "--schema",
                 "in/schema.json", "--rounds", "2", "--candidates", "30")  # fmt: skip
        texts.refused("domain", answer=texts.synth(*given, public=None, epsilon=4))
        rows = texts.done(*given, "--domain", "reviews of inns", public=None, epsilon=4, rows=20)
    assert [row["mood"] for row in rows] == [f"id-{k:06d}" for k in range(1, 21)]


def test_public_texts_alone_will_do_without_a_model(texts):
    rows = texts.done("--generator", "recombine", "--embedder", "tfidf", "--candidates", "40", epsilon=4, rows=25)
    assert len(rows) == 25
    assert not any(CANARY.split(maxsplit=1)[0] in row["text"] for row in rows)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--modality", "text", "--text-column", "nothing"), "nothing"),
        (("--generator", "endpoint"), "--model"),
        (("--base-url", "ftp://x", "--model", "any"), "base_url"),
        (("--base-url", "http://me:secret@x/v1", "--model", "any"), "OPENAI_API_KEY"),
        (("--concurrency", "4"), "--base-url"),
        (("--generator", "recombine", "--prompts", "reviews"), "prompts"),
        (("--generator", "transformers"), "--model"),
        (("--base-url", "http://127.0.0.1:9/v1", "--model", "any", "--prompts", "nothing.toml"), "nothing.toml"),
        (("--modality", "table", "--domain", "reviews"), "domain"),
        (("--most-cost", "1", "--base-url", "http://x/v1", "--model", "any"), "--price-in"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_asked(texts, options, named):
    answer = (
        texts.synth(*options, "--embedder", "tfidf", epsilon=4)
        if "table" not in options
        else texts.synth(*options, epsilon=4)
    )
    texts.refused(named, answer=answer)
    assert "secret" not in answer.err


def test_the_key_is_nowhere(texts, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-verysecret-4711")
    with ModelServer(_writer) as server:
        texts.done(*_options(server), epsilon=4, rows=20)
        assert any("sk-verysecret-4711" in str(hit.headers) for hit in server.hits)
    with ModelServer([failed(401, "bad key sk-verysecret-4711")]) as server:
        answer = texts.synth(*_options(server), epsilon=4, rows=20)
    assert answer.code == 4
    assert b"verysecret" not in texts.traces()


@pytest.mark.slow
def test_the_packaged_models_do_the_whole_job_without_a_network(texts, monkeypatch):
    pytest.importorskip("ctranslate2")
    from evomix.modalities.text.packaged import ENCODER, WRITER

    if WRITER.find() is None or ENCODER.find() is None:
        pytest.skip("the packaged models are not installed")

    def refuse(*_):
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    rows = texts.done("--prompts", "reviews", "--rounds", "2", "--candidates", "24", "--seed", "1", epsilon=20, rows=12)
    assert len(rows) == 12
    assert {row["mood"] for row in rows} == {"good", "bad"}
    assert all(row["text"] and "\n" not in row["text"] for row in rows)
    about = sum(
        bool({word.strip(".,!").lower() for word in row["text"].split()} & {*NOUNS, *GOOD, *BAD}) for row in rows
    )
    assert about >= 6  # on topic: they speak of what private and public texts speak of
    report = (texts.folder / "out.run" / "report.html").read_text()
    assert "SmolLM2" in report
    assert "MiniLM" in report
    assert CANARY.split(maxsplit=1)[0].encode() not in texts.traces()


def test_a_cap_holds_over_all_runs_also_where_the_server_tells_no_usage(texts):
    def silent(path, body, headers):
        told = _writer(path, body, headers)
        told.body.pop("usage")
        return told

    prices = ("--price-in", "1", "--price-out", "1", "--concurrency", "1", "--most-cost", "0.003")
    with ModelServer(silent) as server:
        sent = []
        for more in ((), ("--resume",), ("--resume",), ("--resume",)):
            answer = texts.synth(*_options(server, *prices, *more), epsilon=4, rows=30)
            assert answer.code == 4
            assert "most_cost" in answer.err
            sent.append(len(server.hits))
    assert sent[0] > 0
    assert sent[1:] == sent[:1] * 3  # the account of the first run was full


def test_an_encoder_that_would_end_the_run_is_refused_before_the_charge(texts):
    for embedder in ("builtins:len", "os:getcwd"):
        answer = texts.synth("--generator", "recombine", "--embedder", embedder, epsilon=4)
        assert answer.code == 2
        assert texts.spent() == []


def test_other_words_in_a_template_are_another_run(texts):
    template = texts.folder / "in" / "own.toml"
    from evomix.modalities.text import templates

    shipped = templates.resources.files("evomix.modalities.text").joinpath("prompts", "reviews.toml").read_text()
    template.write_text(shipped)
    served = []

    def dying(path, body, headers):
        served.append(body)
        return failed(401) if len(served) == 15 else _writer(path, body, headers)

    with ModelServer(dying) as server:
        given = ("--base-url", server.address, "--model", "any", "--embedder", "tfidf", "--prompts", "in/own.toml",
                 "--candidates", "40", "--seed", "3", "--concurrency", "1")  # fmt: skip
        assert texts.synth(*given, epsilon=4).code == 4
        template.write_text(shipped.replace("You are a customer", "You are a guest"))
        answer = texts.synth(*given, "--resume", epsilon=4)
        assert answer.code == 2
        assert "prompts" in answer.err
        assert len(served) == 15
        template.write_text(shipped)
        assert texts.synth(*given, "--resume", epsilon=4).code == 0


def test_a_password_in_an_address_is_not_repeated(texts):
    for address in ("ftp://u:secretpw@h/v1", "u:secretpw@h:80/v1", "http://u:secretpw@h/v1"):
        answer = texts.synth("--base-url", address, "--model", "any", epsilon=4)
        assert answer.code == 2
        assert "secretpw" not in answer.err


def test_public_texts_may_lack_the_label_of_the_schema(texts):
    texts.write("unlabelled.csv", [{"text": row["text"]} for row in _reviews(120, 2)])
    texts.write("schema.json", json.dumps({"columns": [
        {"name": "text", "type": "text"}, {"name": "mood", "type": "category", "values": ["good", "bad"]},
    ]}))  # fmt: skip
    with ModelServer(_writer) as server:
        given = (*_options(server), "--schema", "in/schema.json")
        answer = texts.synth(*given, public="in/unlabelled.csv", epsilon=4, rows=30)
        assert answer.code == 0, answer.err
        shown = [hit.body["messages"][-1]["content"] for hit in server.hits]
    assert {row["mood"] for row in texts.rows()} == {"good", "bad"}
    assert "nothing checked whether the texts read like theirs" in answer.err
    assert any("full of" in prompt or "class good" in prompt for prompt in shown)
    report = (texts.folder / "out.run" / "report.html").read_text()
    assert "good, bad" in report
    assert "counts as" in report


def test_a_table_with_free_text_among_others_says_what_becomes_of_it(texts):
    rows = [row | {"stars": k % 5, "town": "Rome" if k % 2 else "Oslo"} for k, row in enumerate(_reviews(80, 4))]
    texts.write("wide.csv", rows)
    texts.write("wide_public.csv", rows[::-1])
    answer = texts.synth("--dry-run", private="in/wide.csv", public="in/wide_public.csv", epsilon=1)
    assert answer.code == 0, answer.err
    assert "reads as free text" in answer.err
    assert "--modality text" in answer.err


def test_schema_knows_texts(texts):
    answer = texts.run("schema", "in/public.csv")
    assert {column["name"]: column["type"] for column in answer.json["columns"]} == {"text": "text", "mood": "category"}
    named = texts.run("schema", "in/public.csv", "--text-column", "mood")
    assert {column["name"]: column["type"] for column in named.json["columns"]}["mood"] == "text"


def test_commands_on_tables_say_that_texts_are_none(texts):
    for words in (("diagnose", "generator", "in/public.csv"), ("diagnose", "public", "in/public.csv")):
        answer = texts.run(*words)
        assert answer.code == 2
        assert "set of texts" in answer.err


def test_a_dry_run_tells_who_writes_and_what_rows_are_too_many(texts):
    answer = texts.synth("--generator", "recombine", "--embedder", "tfidf", "--dry-run", epsilon=1, rows=5000)
    assert answer.code == 0
    for told in ("recombination", "tfidf", "labels: good, bad", "counts as: bad"):
        assert told in answer.out
    assert "5000 texts are asked for" in answer.err
