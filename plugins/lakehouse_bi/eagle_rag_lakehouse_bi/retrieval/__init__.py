"""Ranks the tables and columns of the catalogs in scope for a question."""
