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
    aggregate analyse analyze annotate answer assemble browse calculate check cite classify
    cluster collect compare compute convert correlate count describe detect diff disambiguate
    discover estimate expand explain explore extract fetch filter find gather get group identify
    infer inspect interpret list locate look lookup map match measure normalise normalize outline
    parse preview profile query quote rank read recall recommend resolve retrieve sample score
    search show suggest summarise summarize trace translate validate verify view
    """
)

#: Verbs that change something and are no nouns.
ACTING_VERBS: Final = _words(
    """
    activate allocate alter append approve assign attach authorize cancel chmod configure create
    deactivate deallocate delete demote deploy destroy detach disable disconnect dismiss dispatch
    downvote enable encrypt enqueue enroll erase evict exec execute expunge impersonate inject
    install invoke modify mutate notify nuke obliterate overwrite persist prepend promote provision
    publish purge reassign reboot redeploy reindex reingest remove rename reopen replicate resend
    revert revoke rewrite rm rollback send spawn submit subscribe sudo suspend terminate throttle
    toggle truncate unarchive unassign unfollow uninstall unlink unlock unmount unpin unpublish
    unregister unset unstar unsubscribe untag upsert upvote whitelist wipe write
    """
)

#: Verbs that are too common as nouns or adjectives to be refused beside a noun, but are commands
#: where a command stands: after a conjunction, or before a pronoun (``get_and_archive_it``).
COMMANDS: Final = _words(
    """
    accept adjust apply archive backup broadcast build bump change clean cleanup clone compile
    connect debit decrement deduct discard donate download dump eject elevate empty enforce expire
    fire flag follow forget fork format freeze generate halt hire increment kick label like log
    login logout manage mark mint mount open park pause pin prune quarantine react rebuild register
    reject release reload reply report reprocess request rerun resize resume retry review rotate
    scale seed share shred shutdown sign star subtract swap switch tag trash tweet type undo upgrade
    vacuum void vote watch zip
    """
)

#: Words that join a second command to the first.
CONJUNCTIONS: Final = _words("also and n or plus then to")
#: What a command acts on without naming it.
PRONOUNS: Final = _words("it them all everything these those")

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

_DATA_TO_CLOSE: Final = _words(
    "alert alerts case cases dispute incident incidents issue issues problem ticket tickets"
)

#: Reading verbs that act on these objects.
ACTING_READS: Final[Mapping[str, frozenset[str]]] = {
    "annotate": _words("dashboard dashboards page pages issue issues"),
    "answer": _words("call calls phone ticket tickets email emails message messages"),
    "check": _words("in out box checkbox off"),
    "collect": _words("payment payments fee fees"),
    "convert": _words("draft lead leads file files"),
    "extract": _words("archive zip"),
    "find": _words("replace"),
    "match": _words("transactions payments"),
    "query": _words("sql statement"),
    "quote": _words("tweet post"),
    "recall": _words("email emails message messages product products order orders"),
    "resolve": _DATA_TO_CLOSE
    | _words("thread threads comment comments review reviews conversation discussion conflict"),
    "search": _words("replace"),
    "verify": _words("email account user payment domain"),
}

#: Verbs that act on data also when they come after it (``table_drop``).
TRAILING_VERBS: Final = _words("del drop insert kill")

#: What acting verbs are glued to in names without separators (``sqlexec``, ``deletedoc``).
GLUED_OBJECTS: Final = (
    _DATA
    | _SERVICES
    | PRONOUNS
    | _words("sql query queue cache command cmd code script email mail message order user")
)

#: Digits and signs that stand for letters (``d3lete``).
LEET: Final[Mapping[str, str]] = {"0": "o", "3": "e", "4": "a", "5": "s", "7": "t", "8": "b"}

#: What a tool's name may not end in: there is nothing to retrieve but secrets.
SECRETS: Final = _words(
    """
    apikey apikeys cookies credential credentials dotenv env environ keychain passphrase password
    passwords passwd secret secrets
    """
)
#: Secrets of two words.
SECRET_PAIRS: Final = frozenset(
    (left, right)
    for left in _words("api access private secret ssh signing env environment auth bearer session")
    for right in _words("key keys token tokens vars variables")
    if (left in _words("env environment")) == (right in _words("vars variables"))
)

#: Names of parameters that ask for a secret.
SECRET_NAMES: Final = SECRETS | _words(
    """
    access_token api_key api_keys auth auth_header auth_token authorization bearer bearer_token
    card_number client_secret cookie cvc cvv env_vars environment_variables pin private_key
    secret_key security_code session_token ssh_key ssn
    """
)
#: Names of parameters that ask for the conversation a tool is called from.
CONVERSATION_NAMES: Final = _words(
    """
    chain_of_thought chat_context chat_history conversation conversation_context
    conversation_history full_context full_conversation message_history other_tools
    previous_messages previous_results prior_messages scratchpad session_context side_note sidenote
    system_prompt thoughts tool_results user_message user_messages user_prompt
    """
)
