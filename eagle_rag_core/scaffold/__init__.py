"""A new pack, written out as a distribution that works: for ``eagle-rag packs new``."""
