"""Figures of published papers, made anew from data declared public: our numbers beside what the papers say."""
