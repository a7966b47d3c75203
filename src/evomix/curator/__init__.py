"""The only code that touches private records: they vote here, and only privatised votes leave."""
