"""Texts, alone or with a label: language models that propose them, an encoder that places them."""
