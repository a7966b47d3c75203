"""Benchmarks: every method on the same split of the same data, under the same budget, scored alike.

A benchmark takes its data as public: what it writes is read off the real rows without a privacy guarantee.
"""
