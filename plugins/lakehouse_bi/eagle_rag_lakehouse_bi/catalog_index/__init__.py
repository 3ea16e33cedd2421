"""The catalogs of one scope in memory: what questions are ranked by."""
