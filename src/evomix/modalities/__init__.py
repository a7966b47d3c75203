"""What a record is: tables now; each modality brings a codec, a generator and an embedder."""
