"""The backend for scale: a Milvus server or cluster, or an embedded Milvus Lite file."""
