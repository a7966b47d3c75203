import json
import unicodedata
from pathlib import Path

import pytest

from evomix.modalities.text.hygiene import Dropped, HygieneCounts, Kept, Seen, Wanted, examine, folded

CASES = Path(__file__).parents[5] / "shared" / "cases" / "inputs" / "70-llm-refusals" / "outputs.jsonl"

UNCHANGED = [
    "I'm sorry to say the food was cold.",
    "I'm sorry, but I can't eat here again.",
    "Sure, here in Rome we eat late.",
    "Sure, the chairs are old, but who cares.",
    "Here is the thing: I loved it.",
    "I can't help but smile when I think of it.",
    "I cannot praise the staff enough.",
    "I cannot provide enough praise for this place.",
    "I won't write another review until this is fixed.",
    "I'm unable to log in to the portal since Monday.",
    "I'm unable to complete the order.",
    "I couldn't complete the form because it kept crashing.",
    "They said they can't help with this request.",
    "As an AI engineer, I found my laptop slow.",
    "As an AI lab we rented the hall for a day; great acoustics.",
    "I am an AI researcher and liked the talk.",
    "Note: the shop closes at five.",
    "New phone, old version: don't buy.",
    "This review is for the blue version.",
    'He said "wow" and left.',
    "'Tis the season, and the lights' glow was fine.",
    "- 5 stars",
    "5 stars. Would go again.",
    "BACKGROUND: We studied 12 patients. RESULTS: All lived.",
    "Line one.\n\nLine two.",
    "Great!\nWould go again.",
    "My order [#4411] is late.",
    "It costs {too much}.",
    "<3 this place",
    "👩🏽‍🚀 flew 🏳️‍🌈",
    "שלום עולם 123 abc",
    "مرحبا \u200f(test)\u200f",
    "東京タワー、とても高い。",
    "𠀀 rare plane",
    "🙂",
    "nothing ends this sentence",
    "That is what it is",
    "What is it for",
    "I have written to you twice about this ticket.",
    "Please provide a refund.",
    "Could you give me a date for the repair?",
    "Thank you for the quick answer.",
]
STRIPPED = [
    ("Sure! Here is a review:\n\nThe tea was hot.", "The tea was hot."),
    ("Sure, here's a short review of the café: The tea was hot.", "The tea was hot."),
    ("Certainly!\n\nThe tea was hot.", "The tea was hot."),
    ('Here\'s a rephrased version:\n"The tea was hot."', "The tea was hot."),
    ("Here is a rephrased version of the text:\n\nThe tea was hot.", "The tea was hot."),
    ("Sure, I can help with that. Here is the text: The tea was hot.", "The tea was hot."),
    ("Rephrased review: The tea was hot.", "The tea was hot."),
    ("The review can be rewritten as: The tea was hot.", "The tea was hot."),
    ("```\nThe tea was hot.\n```", "The tea was hot."),
    ("```text\nThe tea was hot.\nTwice.\n```", "The tea was hot.\nTwice."),
    ('"""The tea was hot."""', "The tea was hot."),
    ('"The tea was hot."', "The tea was hot."),
    ("“The tea was hot.”", "The tea was hot."),
    ("«The tea was hot.»", "The tea was hot."),
    ("「お茶は熱い。」", "お茶は熱い。"),
    ('"The tea was hot.', "The tea was hot."),
    ("Review: The tea was hot.", "The tea was hot."),
    ("**Review 2 (positive):** The tea was hot.", "The tea was hot."),
    ("**The tea was hot.**", "The tea was hot."),
    ("1. The tea was hot.\n2. The tea was cold.", "The tea was hot."),
    ("<text>The tea was hot.</text>", "The tea was hot."),
    ("The tea was hot.</text>", "The tea was hot."),
    ("The tea was hot.\n\nI hope this helps!", "The tea was hot."),
    ("The tea was hot.\n\nNote: I've kept the tone of the original text.", "The tea was hot."),
    ("The tea was hot.\n\nThis change makes the sentence shorter.", "The tea was hot."),
    ("The tea was hot. (4 words)", "The tea was hot."),
    ("The tea was hot.<|im_end|>\n<|im_start|>user\nMore!", "The tea was hot."),
    ("<|im_start|>The tea was hot.", "The tea was hot."),
    ("  The tea\r\nwas\x00 hot.\n", "The tea\nwas hot."),
    ('Sure! Here is it, a text:\n\n"Review: The tea was hot."', "The tea was hot."),
    ("cafe\u0301", "café"),
]
DROPPED = [
    ("I'm sorry, but I can't help with that request.", "refusal"),
    ("I’m sorry, I can’t assist with that.", "refusal"),
    ("I cannot fulfill this request as it may involve personal data.", "refusal"),
    ("As an AI language model, I do not have personal experiences.", "refusal"),
    ("Unfortunately, I'm unable to write that.", "refusal"),
    ("I am only an AI and never ate there.", "refusal"),
    ("Sorry, I cannot provide such content.", "refusal"),
    ("This request goes against my guidelines.", "refusal"),
    ("Please provide the text that I should rephrase.", "refusal"),
    ("Could you please provide more context?", "refusal"),
    ("Lo siento, pero no puedo ayudar con eso.", "refusal"),
    ("Es tut mir leid, aber ich kann dabei nicht helfen.", "refusal"),
    ("Je suis désolé, mais je ne peux pas vous aider.", "refusal"),
    ("抱歉，我无法满足这个请求。", "refusal"),
    ("申し訳ありませんが、お手伝いできません。", "refusal"),
    ("Here is the text:\n\nI'm sorry, but I can't write that.", "refusal"),
    ("", "empty"),
    (" \n ", "empty"),
    ("...", "empty"),
    ("\x00", "empty"),
    ('""', "empty"),
    ("Note: this is a fictional review.", "comment"),
    ("This is an example of a positive review.", "comment"),
    ("I've rephrased it as you asked.", "comment"),
    ("The rephrased sentence keeps the tone of the original sentence.", "comment"),
    ("[Your name here]", "no prose"),
    ("Dear [Customer Name], the tea is hot.", "no prose"),
    ('{"age": 41, "region": "nor', "no prose"),
    ('[{"text": "The tea was hot."}]', "no prose"),
    ('```json\n{"text": 1}\n```', "no prose"),
    ("The tea was ___.", "unfilled"),
    ("The tea \ufffd was hot.", "damaged"),
    ("The tea \ud83d was hot.", "damaged"),
    ("<|im_end|>", "control token"),
    ("We came for lunch, stayed and", "truncated"),
    ("We came for lunch,", "truncated"),
]  # fmt: skip


def test_there_are_labelled_answers_enough():
    assert len(UNCHANGED) + len(STRIPPED) + len(DROPPED) >= 100


@pytest.mark.parametrize("text", UNCHANGED)
def test_texts_stay(text):
    assert examine(text) == Kept(unicodedata.normalize("NFC", text))


@pytest.mark.parametrize(("answer", "text"), STRIPPED)
def test_wrappers_go(answer, text):
    assert examine(answer) == Kept(text)
    assert examine(text) == Kept(text)


@pytest.mark.parametrize(("answer", "reason"), DROPPED)
def test_what_is_no_text_is_dropped_for_its_reason(answer, reason):
    assert examine(answer) == Dropped(reason)


@pytest.mark.skipif(not CASES.exists(), reason="the labelled answers are not here")
def test_the_labelled_answers_of_the_field():
    for line in CASES.read_text("utf-8").splitlines():
        case = json.loads(line)
        outcome = examine(case["text"])
        if case["keep"]:
            assert outcome == Kept(case["text"])
        elif case["keep"] is None:
            assert outcome == Kept("The tea was hot.")
        else:
            assert isinstance(outcome, Dropped), case


def test_an_answer_that_did_not_finish_is_none():
    assert examine("The tea was hot.", finish="length") == Dropped("truncated")
    assert examine("The tea was hot.", finish="filtered") == Dropped("filtered")
    cut = "The harbour view was splendid but then the wai"
    assert examine(cut) == Kept(cut)  # nothing tells
    assert examine(cut, Wanted(at_limit=True)) == Dropped("truncated")
    assert examine(cut + "t was long.", Wanted(at_limit=True)) == Kept(cut + "t was long.")
    assert examine("很高", Wanted(at_limit=True)) == Dropped("truncated")


def test_lengths_are_held_against_the_target():
    wanted = Wanted(words=40)
    assert examine("Fine. " * 200, wanted) == Dropped("too long")
    assert examine("Fine. " * 3, wanted) == Dropped("too short")
    for words in (10, 40, 100):
        assert isinstance(examine("Fine. " * words, wanted), Kept)
    assert isinstance(examine("Fine. " * 14, Wanted(words=1)), Kept)  # short targets are no strict ones


def test_echoes_and_copies():
    told = "Write a review of a café that praises it, in plain words. Use one sentence."
    wanted = Wanted(instructions=told, quoted=("The tea was hot.",))
    assert examine("the  TEA was hot.", wanted) == Dropped("copy")
    assert examine("Okay: write a review of a café that praises it!", wanted) == Dropped("echo")
    assert examine("Use one sentence.", wanted) == Dropped("echo")
    assert examine("The tea was hot. I will write a review.", wanted) == Kept("The tea was hot. I will write a review.")
    assert examine("Café", wanted) == Kept("Café")


def test_what_stands_in_the_quoted_texts_is_plain_text():
    wanted = Wanted(quoted=("Stop here <|endoftext|> or not, ___ and [name] too",))
    for text in ("Halt <|endoftext|> or go.", "Fill ___ here.", "Say [name] now."):
        assert examine(text, wanted) == Kept(text)
    assert examine("Halt <|im_end|> or go.", wanted) == Kept("Halt")


def test_speaking_about_the_text_is_a_remark_where_that_was_asked_for():
    said = "This review highlights the role of sleep in children."
    assert examine(said, Wanted(kind="review")) == Dropped("comment")
    assert examine(said, Wanted(kind="abstract")) == Kept(said)


def test_duplicates_are_alike_but_for_case_and_space():
    assert folded("The  Tea\nwas hot") == folded("the tea was HOT ")
    seen = Seen([(0, "The tea was hot.")])
    assert not seen.add(0, "the tea  was hot.")
    assert seen.add(1, "the tea was hot.")
    assert not seen.add(1, "The tea was hot.")
    assert seen.add(0, "The tea was cold.")


def test_counts_add_up():
    counts, other = HygieneCounts(), HygieneCounts()
    for outcome in (Kept("a"), Dropped("refusal"), Dropped("refusal"), Dropped("empty")):
        counts.note(outcome)
    other.note(Dropped("empty"))
    other.given_up = 2
    counts.add(other)
    assert counts.answers == 5
    assert counts.reasons() == "2 refusal, 2 empty"
    assert counts.figures() == {"answers": 5, "kept": 1, "given_up": 2, "dropped": {"refusal": 2, "empty": 2}}
    assert HygieneCounts().reasons() == "none dropped"
