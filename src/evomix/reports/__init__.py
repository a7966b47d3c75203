"""Pages for people: the run report, the evaluation report, the privacy statement."""
