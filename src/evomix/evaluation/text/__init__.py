"""How good synthetic texts are and what they repeat; pure functions of texts, labels and vectors."""
