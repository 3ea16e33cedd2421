"""Rules on what an English text says: it describes the tool, and does not steer who reads it.

A description speaks of its data. It does not speak to the model, about its answers, about the
conversation it is part of, about other tools or about what people may know of a call.
"""

from __future__ import annotations

from typing import Final

from eagle_rag_core.plugins.guard_rules import TextRule

_PEOPLE: Final = r"(?:users?|customers?|people|persons?|humans?|clients?|anyone|anybody)"
_EARLIER: Final = (
    r"(?:previous|prior|earlier|above|preceding|existing|other|all|any|your|safety|system)"
)
_DUTY: Final = r"(?:must|should|shall|has to|have to|needs? to|ought to|(?:is|are) to)"
_EVERY: Final = r"(?:any|every|all|each|another|(?:the )?other)"

ORDERS: Final = TextRule(
    "text-order",
    "gives the model an order",
    "say what the tool returns and let the client decide",
    (
        r"\b(?:ignore|disregard|forget|override|bypass|set aside)\b[^.]{0,30}"
        rf"\b(?:{_EARLIER} (?:of )?(?:the )?(?:other )?){{1,3}}"
        r"(?:instructions?|rules|prompts?|guidelines?|directions?|guidance|constraints|messages|"
        r"tools?|servers?)\b",
        r"\b(?:ignore|disregard|forget|override|bypass)\b[^.]{0,30}\b(?:guidelines?|polic(?:y|ies)|"
        r"instructions|rules) of (?:the |all |any )?(?:other|previous)\b",
        rf"(?<!\bif )(?<!\bwhen )(?<!\bwhat )(?<!\bwhere )\byou {_DUTY}\b",
        r"\bthe (?:assistant|ai|llm|chatbot|language model|ai agent|ai model) "
        rf"{_DUTY}\b",
        rf"\bthe (?:agent|model) {_DUTY} (?:always |never |also |first )?"
        r"(?:call|invoke|answer|reply|respond|obey|prefer this|use this)\b",
        r"\b(?:important|attention|mandatory|critical|urgent|note to (?:the )?(?:model|ai|llm|"
        r"assistant|agent)s?)\s?:\s?(?:this|you|call|use|always|never|before|do not|read|pass)\b",
        r"\balways (?:pass|include|send|add|append|attach|put|fill|give|provide|answer|reply|end|"
        r"recommend|say|quote)\b",
        r"\b(?:[,.;] |and |please )also (?:call|invoke|run|execute|send|post|e-?mail|forward|"
        r"upload|write|copy|add|append|pass|share)\b",
        r"\b(?:then|afterwards?|finally),? (?:always |please )?(?:run|execute|send|post|e-?mail|"
        r"forward|upload|write|delete|submit|append|share|publish)\b",
        r"\bafter (?:this|that|the|each|every) (?:call|answer|result),? [^.]{0,20}"
        r"(?:call|run|invoke|execute|send|use|read|write|delete)\b",
        r"\b(?:when|once|as soon as|after) you have (?:the|an|your)\b",
        r"\bforward (?:it|this|them|everything|the \w+) to\b",
        r"\bfrom (?:now|here) on\b|\bact as (?:an? )?(?:unrestricted|different|ai|admin|root|"
        r"system|helpful)|\bpretend (?:to be|that|you)|\byou are (?:now|an?)\b|\bas an ai\b|"
        r"\bjailbreak|\bdeveloper mode\b",
        r"\byour (?:final |next |own )?(?:answers?|repl(?:y|ies)|responses?|output|instructions|"
        r"memory|role|knowledge|tools|task|goal|training|developer|operator|context|prompt|"
        r"conversation|user)\b",
        r"\b(?:a|every|each|any) (?:good |correct |complete )?(?:reply|response) "
        r"(?:opens?|ends?|begins?|starts?|has|must|should|quotes?)\b",
        r"\b(?:end|start|beginning|top|bottom) of (?:each|every|your|the) (?:reply|response)\b",
        r"\b(?:end|begin|start|open|finish) (?:each|every|your|the) (?:answer|reply|response)\b",
        r"\banswers? that (?:do|does) not (?:quote|use|cite|mention|call)\b",
        r"\bwhatever (?:the|was|is|it is) (?:question|asked|about)\b",
        r"\b(?:recommend|praise|promote) (?:only )?the\b",
        r"\brepeat with\b|\bgo ahead\b",
        r"\banswer only (?:from|with|using)\b",
    ),
)

SECRECY: Final = TextRule(
    "text-secrecy",
    "keeps something from people, an order to the model",
    "a tool has nothing to hide from its user",
    (
        r"(?:^|[.;:!,] ?|\n|\band |\bbut |\bplease )(?:do not|don't|never) (?:tell|inform|mention|"
        r"reveal|warn|notify|ask|disclose|let)\b",
        r"\bwithout (?:asking|telling|informing|notifying|mentioning|(?:any )?confirmation)\b",
        rf"\b{_PEOPLE} (?:need|needs|should|must|shall|may|do|does|can|will|is|are)(?: not|n't) "
        r"(?:to )?(?:be )?(?:know|see|told|aware|notice|shown|informed|learn|hear|asked)\b",
        r"\bkeep (?:this|it|that)\b[^.]{0,20}\b(?:secret|hidden|private|confidential|out of|"
        r"yourself|between us)\b",
        r"\b(?:tell|tells) (?:nobody|no one|no-one)\b",
        rf"\b(?:hidden from|invisible to|unknown to) (?:the )?{_PEOPLE}\b",
        r"\b(?:do|call|run|send|pass|include|use|copy|perform)\b[^.]{0,30}\b(?:silently|secretly|"
        r"covertly|discreetly)\b|\b(?:silently|secretly|covertly|discreetly) (?:call|run|send|"
        r"pass|include|use|copy|add|read)",
        rf"\beven if asked\b|\bif (?:{_PEOPLE}|someone|the user) asks\b",
        r"\b(?:confirmation|permission|consent|approval) (?:dialogs?|prompts?|steps?)\b",
        rf"\basking (?:the )?{_PEOPLE} for\b",
        r"\b(?:user|customer|operator|admin) (?:has|have) (?:already )?"
        r"(?:agreed|approved|consented|confirmed|allowed)\b",
    ),
)

PRIORITY: Final = TextRule(
    "text-priority",
    "puts the tool before others",
    "say what it is good at; the client chooses",
    (
        rf"\bbefore (?:using|calling|running|invoking) {_EVERY}(?: other)? (?:tools?|functions?)"
        r"(?=[,.;:!)\n]|$| (?:call|run|use|look|in|on|here|or|and|from|of)\b)",
        rf"\bbefore {_EVERY} (?:other )?(?:tool|function|call|answer|reply|response|question)s?\b",
        r"\bbefore (?:anything else|answering|replying|responding|you answer|you reply)\b",
        r"\b(?:always|only|must) (?:be )?(?:call|use|invoke|run|prefer|called|used|invoked|"
        r"preferred) (?:this|me|first|before|instead|on every|for every|for all)\b",
        r"\b(?:call|use|invoke|run|prefer|choose|pick) (?:this|me)(?: (?:tool|one|function|source|"
        r"server))?,? (?:first|instead|always|over|rather than|in place of|on every|"
        r"for (?:every|all|any|each)|at the start|before (?:any|every|all|other|each|the))\b",
        r"\b(?:precedence|priority|preference) over (?:all |any |every |the )?(?:others?|tools?|"
        r"servers?|everything)\b|\bbetter than (?:all |any |every |the )?other\b",
        r"\bother (?:search |connected |mcp |ai |retrieval )?(?:tools|servers|apps|plugins|"
        r"agents)\b",
        r"\b(?:tool|tools|search|server|servers) (?:is|are) (?:now )?(?:no longer|not needed|"
        r"unnecessary|obsolete|outdated|deprecated|broken|wrong|slow|unsafe|unreliable)\b",
        r"\bstart of (?:each|every|the|this|any) (?:conversation|chat|session|dialog)",
        r"\bbetter,? from this tool\b|\binstead of (?:the |any )?(?:other|all)\b",
    ),
)

_ASKED_FOR: Final = (
    r"\b(?:give|given|pass|passed|include|included|add|added|send|sent|put|fill|provide|provided|"
    r"attach|attached|supply|insert|paste|copy|append|share|needs?|requires?|contains?|with)\b"
)
_CHAT: Final = (
    r"(?:entire|whole|full|complete|current|ongoing|this|your) (?:\w+ )?"
    r"(?:conversation|chat|dialog(?:ue)?|context window|chat history|message history)\b"
)

CONVERSATION: Final = TextRule(
    "text-conversation",
    "reaches for the conversation the tool is called from",
    "a tool gets its arguments and nothing else",
    (
        rf"{_ASKED_FOR}[^.]{{0,60}}\b{_CHAT}",
        rf"\b{_CHAT}[^.]{{0,40}}\b(?:as|in|into|is given|are given) ",
        r"\bsystem prompts?\b|\byour system messages?\b",
        r"\b(?:user|person|customer|human)(?:'s|s') (?:\w+ )?(?:earlier|last|previous|recent) "
        r"(?:messages?|questions?|prompts?|words|requests?|answers?)\b",
        r"\b(?:said|told|discussed|asked|written|typed|shared|uploaded|opened|called|talked about|"
        r"story|happened) (?:so far|earlier|before this|previously|until now|at the start)\b",
        r"\bwhat (?:you|was|were|we|they) (?:know|have seen|were told|remember|said|typed|see)\b",
        r"\b(?:you|we) (?:talk|speak|chat) (?:to|with)\b|\bspeak about\b",
        r"\beverything (?:you|said|that was said|known|so far)\b",
        r"\b(?:results?|outputs?|answers?) of (?:the |all |other |earlier )*tools?\b",
        r"\btool (?:results?|outputs?)\b|\btools? called\b",
        r"\bconnected (?:servers?|tools?|apps?)\b",
        r"\bopen (?:editor|file|tab|window|buffer)\b|\bclipboard\b|\bbrowser history\b",
        r"\b(?:previous|current) session\b|\bdocument that was (?:uploaded|opened)\b",
        r"\bnames? of (?:the )?(?:other |connected )+(?:tools|servers)\b",
    ),
)

#: In the description of a parameter no verb is needed: it says what to pass.
CONVERSATION_AS_VALUE: Final = TextRule(
    CONVERSATION.name,
    CONVERSATION.problem,
    CONVERSATION.advice,
    (*CONVERSATION.patterns, _CHAT, r"\bso far\b", r"\bbefore this one\b"),
)

_SECRET: Final = (
    r"(?:pass ?words?|passphrases?|passwd|api[ _-]?keys?|(?:access|bearer|auth|authentication|"
    r"session|refresh) tokens?|(?:session )?cookies|(?:private|ssh|secret|signing) keys?|"
    r"credentials?|secrets|seed phrases?|(?:credit )?card numbers?|(?:card )?security codes?|cvv|"
    r"social security numbers?|passport (?:data|numbers?)|environment variables|env vars|"
    r"environment of the|authorization headers?|request headers?)"
    r"(?! (?:polic|rule|reset|rotation|change|help|guide|length|law|act|protect|manage|that|which))"
)

SECRETS: Final = TextRule(
    "text-secret",
    "reaches for secrets",
    "a tool that reads the library needs none",
    (
        r"\b(?:give|pass|include|includes|add|send|put|fill|provide|attach|supply|insert|paste|"
        r"copy|append|needs?|requires?|reads?|lists?|shows?|returns?|dumps?|prints?|gets?|"
        rf"reveals?|expects?|collects?) (?:[\w'.,]+ ){{0,3}}{_SECRET}",
        r"\bcontents? of (?:the |a |your )?[~./]",
        r"\b(?:tokens|passwords|keys|secrets|credentials) included\b",
        r"\bon this (?:machine|host|computer|laptop)\b",
        rf"\b(?:user|person|customer|traveller|client|owner)(?:'s|s') {_SECRET}",
        rf"\ba message with [^.]{{0,30}}{_SECRET}",
    ),
)

#: In the description of a parameter: the value is the secret.
SECRETS_AS_VALUE: Final = TextRule(
    SECRETS.name,
    SECRETS.problem,
    SECRETS.advice,
    (
        *SECRETS.patterns,
        rf"(?:^|, |\b(?:the|your|a|an|its|their|and|or|by) ){_SECRET}",
        r"\bkey of the user\b|\bsign[- ]in (?:name|data)\b",
    ),
)

_ACTS: Final = (
    r"(?:deletes?|overwrites?|executes?|sends?|creates?|inserts?|modif(?:y|ies)|truncates?|purges?|"
    r"installs?|uploads?|publishes|restarts?)"
)
_ACTS_ON: Final = (
    r"(?:removes?|writes?|updates?|stores?|saves?|posts?|runs?|drops?|renames?|alters?|e-?mails?|"
    r"submits?|cancels?|approves?|orders?|books?|buys?|sells?|moves?|merges?|forwards?|deploys?)"
)
_OBJECT: Final = r"(?:the|an?|it|them|this|that|its|all|every|each|any|given|new|your)\b"

#: For tools that read: what the text says the call does.
EFFECTS: Final = TextRule(
    "text-effect",
    "says that the tool changes something",
    "packs only retrieve; a pack that stores something declares records",
    (
        rf"(?:^|[.;!] ?|\n)(?:it |this tool |the tool |this )?{_ACTS} (?!no\b|nothing|none)"
        r"[a-z0-9]{1,20}",
        rf"(?:^|[.;!] ?|\n)(?:it |this tool |the tool |this )?{_ACTS_ON} {_OBJECT}",
        rf"\b(?:and|then) (?:{_ACTS}|{_ACTS_ON}) (?:it|them|everything|all of)\b",
        rf"\b(?:and|then) {_ACTS} (?:the|all|every|its)\b",
    ),
)
