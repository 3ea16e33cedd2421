"""The embedded backend: rows in the catalog, searched in memory.

The catalog holds every vector and token list and is the only truth. Each process derives an
index per collection from it (:mod:`.index`), kept fresh by a feed of changes (:mod:`.feed`):
no owner, nothing to repair after a crash. A large index is saved (:mod:`.bases`), so that processes
start quickly and share it; what is saved may be lost at any time.
"""
