"""Pages of documents that have none of their own: PDF renditions by programs that are installed."""
