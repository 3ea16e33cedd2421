"""The rules of ``guard_orders`` in other languages, as far as stems carry them.

Each pattern names the language's words for: forget your instructions, do not tell the user, call
this first, pass the conversation or a password. Other languages pass unread.
"""

from __future__ import annotations

from typing import Final

from eagle_rag_core.plugins.guard_rules import TextRule

_GERMAN: Final = (
    r"\b(?:ignorier|missacht|vergiss|vergesse|übergeh|umgeh)\w*[^.]{0,20}\b(?:alle|vorherig|"
    r"bisherig|früher|vorig|obig)\w*[^.]{0,20}(?:anweisung|regel|vorgabe|instruktion)",
    r"\b(?:benutzer|nutzer|anwender|kunden?)\w*\b[^.]{0,20}\bnichts?\b[^.]{0,20}"
    r"\b(?:sag|mitteil|erwähn|verrat|davon|informier)",
    r"\b(?:sag|verrat|erwähn|informier|teile?)\w*\b[^.]{0,25}\b(?:benutzer|nutzer|anwender|"
    r"niemand)\w*[^.]{0,20}\b(?:nichts?|niemand)",
    r"\bvor (?:jedem|allen|jeder|alle) (?:anderen?)?\b[^.]{0,10}(?:werkzeug|tool|auf\b)",
    r"\b(?:rufe?|nutze|verwende|benutze) (?:immer |stets |zuerst )?(?:dieses|mich)\b[^.]{0,12}",
    r"\b(?:gesamte|ganze|komplette|bisherige)[nsr]? (?:gespräch|unterhaltung|chat|verlauf)",
    r"\b(?:passwort|kennwort|zugangsdaten|geheimschlüssel)\w*[^.]{0,25}(?:angeben|mitgeben|einfüg|"
    r"übergeb|mitsenden)",
)
_FRENCH: Final = (
    r"\b(?:ignor|oubli|néglig|contourn)\w+ [^.]{0,12}(?:consigne|instruction|règle)s? "
    r"(?:précédent|antérieur|ci-dessus)",
    r"\bne (?:l'|le |la |lui |en )?(?:dis|dites|dire|mentionn\w+|révèl\w+|inform\w+|préviens|"
    r"prévenez|parl\w+)\b[^.]{0,10}\b(?:pas|rien|jamais)\b[^.]{0,15}(?:utilisateur|personne|client)",
    r"\bavant (?:tout|tous|toute|chaque|les) (?:les )?autres? outils?",
    r"\b(?:utilis|appel)\w+ (?:toujours|d'abord) cet outil|\bcet outil (?:d'abord|en premier)",
    r"\b(?:inclu|ajout|fourni|transme|insér|indiqu)\w+ [^.]{0,20}(?:mot de passe|identifiants|clé "
    r"privée|clé d'api|jeton|toute la conversation)",
)
_SPANISH: Final = (
    r"\b(?:ignor|olvid|desobede|omit)\w+ [^.]{0,12}(?:instrucci|reglas|indicaci)\w* "
    r"(?:anterior|previ)",
    r"\bno (?:le |lo |se lo )?(?:digas?|menciones?|informes?|reveles?|avises?|cuentes?)\b",
    r"\bantes de (?:usar |llamar )?(?:cualquier |toda )?(?:otra )?herramienta",
    r"\b(?:us|llam|utiliz)\w+ siempre\b|\bsiempre (?:us|llam|utiliz)\w+ esta",
    r"\b(?:incluy|añad|agreg|pas|enví|proporcion|escrib)\w* [^.]{0,20}(?:contraseña|credenciales|"
    r"clave privada|toda la conversación)",
)
_PORTUGUESE: Final = (
    r"\b(?:ignor|esque|desconsider)\w+ [^.]{0,12}(?:instruç|regras)\w* (?:anterior|prévi)",
    r"\bnão (?:conte|diga|mencione|informe|revele|avise)\b[^.]{0,15}(?:usuário|utilizador|"
    r"ninguém|isso|isto)",
    r"\bantes de (?:usar |chamar )?(?:qualquer )?outra ferramenta",
    r"\b(?:inclua|adicione|passe|envie|forneça|escreva) [^.]{0,20}(?:senha|credenciais|chave "
    r"privada|toda a conversa)",
)
_ITALIAN: Final = (
    r"\b(?:ignor|dimentic|trascur)\w+ [^.]{0,12}(?:istruzioni|regole) (?:precedent|anterior)",
    r"\bnon (?:dire|dirlo|menzionare|rivelare|informare|avvisare)\b[^.]{0,15}"
    r"(?:utente|nessuno|cliente)",
    r"\bprima di (?:ogni|qualsiasi|usare|chiamare)[^.]{0,12}strument",
    r"\b(?:inserisci|includi|aggiungi|passa|invia) [^.]{0,20}(?:password|credenziali|chiave "
    r"privata|intera conversazione)",
)
_DUTCH_POLISH_TURKISH: Final = (
    r"\bnegeer\b[^.]{0,20}(?:instructies|regels)",
    r"\bvertel\b[^.]{0,20}gebruiker[^.]{0,12}niet\b",
    r"\b(?:z?ignoruj|zapomnij)\b[^.]{0,25}(?:instrukcj|polece|zasad)",
    r"\bnie (?:mów|informuj|wspominaj)[^.]{0,15}użytkownik",
    r"\b(?:önceki|tüm) [^.]{0,15}(?:talimat|kural)\w*[^.]{0,12}(?:yok say|unut|görmezden)",
    r"\bkullanıcıya [^.]{0,15}(?:söyleme|bildirme|gösterme)",
)
_RUSSIAN: Final = (
    r"(?:игнорируй|игнорировать|забудь|забыть|не учитывай|обойди)\w*[^.]{0,20}"
    r"(?:инструкц|указани|правил|команд)",
    r"не (?:сообщай|говори|упоминай|рассказывай|показывай|уведомляй|раскрывай)\w*",
    r"(?:перед|прежде чем|до) [^.]{0,20}(?:други|люб|кажд)\w*[^.]{0,8}(?:инструмент|вызов)",
    r"(?:всегда|обязательно|сначала) [^.]{0,8}(?:вызывай|используй|вызови)",
    r"(?:включи|передай|укажи|добавь|вставь|введи|отправь)\w* [^.]{0,20}(?:парол|токен|"
    r"ключ доступа|переписк|разговор|диалог)",
)
_ARABIC_HINDI: Final = (
    r"(?:تجاهل|انس|اهمل)[^.]{0,15}(?:التعليمات|الأوامر|القواعد)",
    r"لا (?:تخبر|تذكر|تكشف)",
    r"(?:أدخل|أرسل|ضع|أضف)[^.]{0,15}كلمة (?:المرور|السر)",
    r"निर्देश[^।]{0,15}(?:अनदेखा|नज़रअंदाज़|भूल)",
)
_CHINESE: Final = (
    r"(?:忽略|无视|忽視|忘记|忘記|绕过|不要理会)[^。]{0,10}(?:指令|指示|提示|规则|規則)",
    r"(?:不要|不得|别|勿|无需|切勿|請勿|请勿)[^。]{0,4}(?:告诉|告訴|告知|通知|提及|透露|提醒)",
    r"(?:必须|务必|总是|始终|一定要|只)(?:先)?(?:调用|使用)[^。]{0,4}(?:本|此|这个|該)工具",
    r"(?:其他|任何|别的|所有)[^。]{0,4}工具[^。]{0,6}前",
    r"(?:完整|全部|整个|所有|之前)的?(?:对话|聊天|会话|上下文|聊天记录)",
    r"(?:填入|传入|提供|附上|发送|输入|写入)[^。]{0,8}(?:密码|口令|密钥|令牌|凭证|环境变量|私钥)",
    r"(?:密码|口令|密钥|令牌|凭证|环境变量|私钥)[^。]{0,8}(?:填入|传入|附上|发送|写入)",
)
_JAPANESE_KOREAN: Final = (
    r"(?:指示|命令|ルール|プロンプト)[^。]{0,8}(?:無視|忘れ)",
    r"(?:ユーザー|利用者)[^。]{0,6}(?:知らせ|伝え|教え|言わ|見せ)[^。]{0,3}(?:な|ず)",
    r"(?:他|ほか)の(?:すべての)?ツール[^。]{0,8}(?:前|先)に|(?:必ず|常に|まず)このツール",
    r"(?:パスワード|認証情報|秘密鍵|環境変数)[^。]{0,8}(?:入れ|含め|渡し|送)",
    r"(?:会話|チャット)(?:の)?(?:全体|履歴|全文|すべて)",
    r"(?:지시|명령|규칙|프롬프트)[^.]{0,6}(?:무시|잊)",
    r"사용자[^.]{0,6}(?:알리지|말하지|언급하지|보여주지)",
    r"다른 (?:모든 )?도구[^.]{0,8}(?:전에|먼저)|(?:항상|반드시|먼저) 이 도구",
    r"(?:비밀번호|암호|토큰|인증 정보)[^.]{0,8}(?:포함|입력|전달|넣)",
)

FOREIGN_ORDERS: Final = TextRule(
    "text-order",
    "gives the model an order",
    "say what the tool returns and let the client decide",
    (
        *_GERMAN,
        *_FRENCH,
        *_SPANISH,
        *_PORTUGUESE,
        *_ITALIAN,
        *_DUTCH_POLISH_TURKISH,
        *_RUSSIAN,
        *_ARABIC_HINDI,
        *_CHINESE,
        *_JAPANESE_KOREAN,
    ),
)
