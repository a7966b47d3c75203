"""How close a synthetic table is to a real one, and what it may give away."""
