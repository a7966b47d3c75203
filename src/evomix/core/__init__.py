"""The nouns and protocols every other package shares; imports nothing of ours."""
