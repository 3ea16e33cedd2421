"""Stable names of objects: ``lh://<source>/<kind>/<qualified name>``.

The source is the project, model or file that describes an object; two files that describe one
table give it two names.
"""

from __future__ import annotations

from urllib.parse import quote

#: An indexed value is at most so long; longer names are cut alike wherever they stand.
_LONGEST = 300


def urn(source: str, kind: str, name: str) -> str:
    """The URN of an object.

    >>> urn("corner shop", "table", "warehouse.marts.orders")
    'lh://corner%20shop/table/warehouse.marts.orders'
    """
    return f"lh://{quote(source, safe='.-_')}/{kind}/{quote(name, safe='.-_')}"[:_LONGEST]
