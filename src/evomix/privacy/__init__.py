"""DP mathematics on numbers and vectors: knows no file, row, modality or machine-learning library."""
