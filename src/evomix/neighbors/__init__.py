"""Exact nearest-neighbour search and its votes; an answer depends on one record and the candidates alone."""
