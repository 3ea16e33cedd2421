"""Backups: one archive with all that a deployment keeps, for any database and vector backend."""
