"""States of the catalogs at different times, and what changed between two of them."""
