"""Looking through a pack without running any of it: for ``eagle-rag packs check``."""
