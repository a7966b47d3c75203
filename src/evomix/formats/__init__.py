"""Tables as files: reading and writing, with errors that never quote a cell."""
