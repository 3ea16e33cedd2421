"""Folders, web sites and buckets: what they hold, one item after another."""
