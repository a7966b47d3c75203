"""Private Evolution: one pure round, the fold over it, and its resumable public state."""
