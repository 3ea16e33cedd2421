"""Tiles: which regions of a document can be shown, and where on its pages words stand."""
