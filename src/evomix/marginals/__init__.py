"""Rows that agree with noisy counts of column sets: low-order marginals released once, then a search for the rows.

Sees releases and public values only. Rows are codes here: int64 (n, columns), a small whole number a value.
"""
