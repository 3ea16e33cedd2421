"""Which columns may hold what is personal or secret; the values of these are never shown."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Final

from eagle_rag_lakehouse_bi.identifiers import readable, runs
from eagle_rag_lakehouse_bi.readers.lenient import Node, at, names

#: Words that name personal or secret data wherever they stand in the name of a column.
_PERSONAL: Final = frozenset(
    "address addresses bic biometric birth birthdate birthday birthplace cvc cvv diagnosis dob"
    " email emails ethnicity fax fingerprint firstname forename fullname geolocation iban imei"
    " ip ipaddress landline lastname lat latitude license lng lon longitude maiden mail medical"
    " mobile mrn nationality nickname nino passphrase passport passwd password patient phone"
    " phones pin postcode race religion salary secret sexuality sin socialsecurity ssn street"
    " surname swift telephone tin token username vin zip zipcode".split()
)
#: Pairs of words that do so side by side.
_PAIRS: Final = frozenset(
    {
        ("account", "number"),
        ("api", "key"),
        ("card", "number"),
        ("card", "no"),
        ("credit", "card"),
        ("date", "birth"),
        ("display", "name"),
        ("driver", "name"),
        ("employee", "name"),
        ("family", "name"),
        ("first", "name"),
        ("full", "name"),
        ("given", "name"),
        ("holder", "name"),
        ("last", "name"),
        ("legal", "name"),
        ("middle", "name"),
        ("national", "id"),
        ("patient", "name"),
        ("person", "name"),
        ("customer", "name"),
        ("contact", "name"),
        ("social", "security"),
        ("tax", "id"),
        ("user", "name"),
    }
)
_MARKS: Final = frozenset(
    "pii phi pci gdpr personal sensitive confidential restricted secret private".split()
)
#: Keys of metadata that hold the class of a column's data, and those that are true or false.
_CLASSES: Final = ("classification", "sensitivity", "data_classification", "privacy")
_FLAGS: Final = (
    *_MARKS,
    "is_pii",
    "contains_pii",
    "has_pii",
    "is_sensitive",
    "masked",
)
_NOT_MARKED: Final = (None, False, "", "false", "no", 0)
_HOLDERS: Final = ((), ("meta",), ("config",), ("config", "meta"))


def names_personal_data(name: str) -> bool:
    """Whether the name of a column says that its values are personal or secret.

    >>> names_personal_data("custEmailAddr"), names_personal_data("order_status")
    (True, False)
    """
    words = [*runs(name)]
    spelled = readable(name).split()
    pairs = {*pairwise(words), *pairwise(spelled)}
    return bool(_PERSONAL & {*words, *spelled, "".join(words)} or _PAIRS & pairs)


def is_sensitive(names: Iterable[str]) -> bool:
    """Whether one of the names of a column says so."""
    return any(map(names_personal_data, names))


def marked_sensitive(node: Node) -> bool:
    """Whether the description of a column in a file marks it as personal or confidential, by a
    tag or in its metadata."""
    for holder in _HOLDERS:
        if any(_is_mark(tag) for tag in names(node, *holder, "tags")):
            return True
        if any(_is_mark(text) for key in _CLASSES for text in names(node, *holder, key)):
            return True
        if holder and any(at(node, *holder, key) not in _NOT_MARKED for key in _FLAGS):
            return True
    return False


def _is_mark(text: str) -> bool:
    return bool(_MARKS & set(runs(text)))
