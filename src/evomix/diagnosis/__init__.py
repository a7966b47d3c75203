"""What a generator can reach, from its variations and public points alone. Costs nothing."""
