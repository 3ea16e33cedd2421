"""Chemical structures: found in documents as they are written down, compared by RDKit."""
