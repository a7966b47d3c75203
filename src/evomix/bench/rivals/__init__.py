"""Other methods for private tables, written from their published descriptions, to be measured beside evomix.

They serve benchmarks alone: their noise comes from a seeded generator of floating-point numbers, which protects nobody,
and their data are taken as public.
"""
