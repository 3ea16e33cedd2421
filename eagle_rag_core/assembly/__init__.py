"""Putting the engine together: the rooms, each built from settings and what packs contribute."""
