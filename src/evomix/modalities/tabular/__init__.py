"""Tables: schema, codec, distance, and the generator of candidate rows."""
