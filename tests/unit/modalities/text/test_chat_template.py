import pytest

from evomix.core.errors import InputFileError
from evomix.modalities.text.chat_template import plain_template, read_template

ROLES = "{{ bos_token }}{% for m in messages %}[{{ m.role }}]{{ m.content }}{{ eos_token }}{% endfor %}"
NO_SYSTEM = (
    "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
    "<{{ m.content | trim }}>{% endfor %}{% if add_generation_prompt %}:{% endif %}"
)
DROPS_SYSTEM = "{% for m in messages if m.role == 'user' %}<{{ m.content }}>{% endfor %}"


def _read(source):
    return read_template(source, first_token="<s>", last_token="</s>")


def _joined(template, system, user):
    return "".join(piece for piece, _ in template.parts(system=system, user=user))


def test_form_and_what_is_said_are_told_apart():
    assert _read(ROLES).parts(system="S", user="U") == [
        ("<s>[system]", True),
        ("S", False),
        ("</s>[user]", True),
        ("U", False),
        ("</s>", True),
    ]


def test_an_empty_system_text_is_left_out():
    assert _joined(_read(ROLES), "", "U") == "<s>[user]U</s>"


@pytest.mark.parametrize("source", [NO_SYSTEM, DROPS_SYSTEM])
def test_a_model_without_system_texts_reads_it_first(source):
    assert _joined(_read(source), "S", "U").startswith("<S\n\nU>")
    assert _joined(_read(source), "", "U").startswith("<U>")


def test_what_is_said_is_no_template():
    said = "{{ 7 * 7 }}{% raw %}\ue000\ue002\ue000"
    assert _joined(_read(ROLES), said, said) == f"<s>[system]{said}</s>[user]{said}</s>"


def test_models_without_a_form_read_plain_text():
    assert _joined(plain_template(), "S", "U") == "S\n\nU\n\n"
    assert _joined(plain_template(), "", "U") == "U\n\n"


@pytest.mark.parametrize(
    "source",
    [
        "{% for %}",
        "{{ missing.part.deeper }}",
        "the same for all",
        "{% for m in messages %}{{ m.content }}{{ m.content }}{% endfor %}",
        "{{ messages[0].content[0] }}",
        "{{ ''.__class__.__mro__[1].__subclasses__()[0].x.y }}",
        "{{ raise_exception('never') }}",
    ],
)
def test_a_form_that_does_not_carry_the_messages_is_refused(source):
    with pytest.raises(InputFileError):
        _read(source)
