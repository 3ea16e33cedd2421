"""The embedded backend: rows in the catalog, searched in memory.

The catalog holds every vector and token list and is the only truth. Each process derives an
index per collection from it (:mod:`.index`), kept fresh by a feed of changes (:mod:`.feed`):
no owner, no lock file, nothing to repair after a crash.
"""
