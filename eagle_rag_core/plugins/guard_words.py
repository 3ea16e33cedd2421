"""The vocabulary of the tool-name guard.

Names of tools are read as commands: a reading verb, then what is read. Words that always act are
refused wherever they stand; words that are nouns as often as verbs (``order``, ``update``, ``run``)
are refused only where the name uses them as verbs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: A tool's name begins with one of these.
READING_VERBS: Final = _words(
    """
    aggregate analyse analyze annotate answer assemble browse calculate check cite classify cluster
    collect compare compute convert correlate count describe detect diff disambiguate discover
    estimate expand explain explore extract fetch filter find gather get group highlight identify
    infer inspect interpret link list locate look lookup map match measure navigate normalise
    normalize outline parse preview profile query quote rank read recall recommend resolve retrieve
    sample score search show suggest summarise summarize trace translate validate verify view
    """
)

#: Verbs that change something and are no nouns.
ACTING_VERBS: Final = _words(
    """
    activate alter append approve assign cancel chmod create deactivate delete deploy destroy
    disable dispatch enable enqueue erase exec execute install invoke modify mutate notify overwrite
    provision publish purge reindex reingest remove rename revoke rm rollback send spawn submit
    subscribe sudo terminate truncate uninstall unlink unsubscribe upsert wipe write
    """
)

#: Words that join a second command to the first.
CONJUNCTIONS: Final = _words("also and n or plus then to")

_DATA: Final = _words(
    """
    table tables row rows record records column columns collection collections database databases
    db schema index document documents doc docs file files kb entry entries data field fields
    """
)
_FILES: Final = _words("table tables file files csv database db")
_SERVICES: Final = _words(
    "job jobs pipeline workflow workflows service server process task tasks container vm"
)
_PEOPLE: Final = _words("user users customer customers team manager client clients admin")
_ACCESS: Final = _words("access permission permissions role roles privilege privileges")
_GOODS: Final = _words("stock stocks share shares item items ticket tickets product products")

#: Words that are nouns as often as verbs, and the objects that make them verbs.
NOUN_OR_VERB: Final[Mapping[str, frozenset[str]]] = {
    "add": _DATA | _PEOPLE | _words("tag tags note notes comment"),
    "ban": _PEOPLE,
    "block": _PEOPLE,
    "book": _words("flight flights hotel meeting appointment ticket tickets room"),
    "buy": _GOODS,
    "call": _words("api endpoint function tool tools webhook url"),
    "charge": _words("card customer account client"),
    "clear": _DATA | _words("cache queue"),
    "close": _words("ticket tickets issue incident account"),
    "command": frozenset(),
    "commit": _words("transaction change changes"),
    "copy": _FILES,
    "del": _DATA,
    "drop": _DATA,
    "edit": _DATA,
    "email": _PEOPLE,
    "export": _FILES,
    "fix": _words("bug bugs issue document data"),
    "flush": _words("cache queue table"),
    "forward": _words("email mail message"),
    "grant": _ACCESS,
    "import": _FILES,
    "ingest": _DATA | _words("url source text"),
    "insert": _DATA | _words("into"),
    "invite": _PEOPLE,
    "kill": _SERVICES | _words("query session"),
    "launch": _SERVICES,
    "load": _FILES,
    "lock": _PEOPLE | _words("account"),
    "mail": _PEOPLE,
    "merge": _DATA,
    "message": _PEOPLE,
    "migrate": _DATA,
    "move": _FILES | _words("document documents money"),
    "order": frozenset(),
    "patch": frozenset(),
    "pay": _words("invoice bill bills supplier vendor"),
    "place": _words("order orders bid trade"),
    "post": _words("message comment tweet payment invoice webhook"),
    "purchase": _GOODS,
    "push": _words("change changes notification notifications branch"),
    "put": _DATA | _words("object"),
    "refund": _words("customer order payment"),
    "replace": _DATA,
    "reset": _DATA | _words("password account"),
    "restart": _SERVICES,
    "restore": _DATA | _words("backup"),
    "run": _words("query queries sql command commands script code statement shell"),
    "save": _DATA | _words("result results"),
    "schedule": _words("meeting job task call"),
    "sell": _GOODS,
    "set": _words("value flag metadata config password permission permissions status"),
    "start": _SERVICES,
    "stop": _SERVICES,
    "store": frozenset(),
    "sync": _DATA,
    "transfer": _words("money funds file files ownership"),
    "trigger": _SERVICES | _words("webhook build"),
    "update": _DATA | _PEOPLE | _words("metadata settings config status into"),
    "upload": _DATA,
    "withdraw": _words("money funds"),
}

#: Reading verbs that act on these objects.
ACTING_READS: Final[Mapping[str, frozenset[str]]] = {
    "check": _words("in out"),
    "query": _words("sql statement"),
    "resolve": _words("ticket tickets incident incidents issue issues alert alerts dispute"),
}

#: What acting verbs are glued to in names without separators (``sqlexec``, ``deletedoc``).
GLUED_OBJECTS: Final = (
    _DATA | _SERVICES | _words("sql query command cmd code script email mail message order user")
)
