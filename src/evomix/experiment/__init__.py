"""From options to a finished run: specification, plan, and the place where parts are put together."""
