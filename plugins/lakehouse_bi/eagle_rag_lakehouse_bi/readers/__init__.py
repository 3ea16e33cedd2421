"""Readers of catalog files: bytes in, a :class:`Catalog` of objects out."""
