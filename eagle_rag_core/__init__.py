"""eagle-rag-core: a plugin framework for retrieval-augmented generation over MCP."""

__version__ = "0.1.0"
