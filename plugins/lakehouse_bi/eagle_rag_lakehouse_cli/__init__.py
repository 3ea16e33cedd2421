"""The command ``eagle-rag-lakehouse``: measures a library of catalogs, and keeps its state."""
