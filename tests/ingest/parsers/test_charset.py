"""Decoding of text in unknown encodings."""

from __future__ import annotations

import random

import pytest

from eagle_rag_core.ingest.parsers.charset import decode, looks_binary

GERMAN = "Die Größe der Straße wurde geändert. Über den Wolken muss die Freiheit grenzenlos sein."
FRENCH = "L'été dernier, nous avons visité la forêt près de chez nous où les élèves étaient."
POLISH = "Zażółć gęślą jaźń, w szczególności źródło jest ważne."
RUSSIAN = "Съешь же ещё этих мягких французских булок, да выпей чаю."
GREEK = "Η γρήγορη καφέ αλεπού πηδάει πάνω από τον τεμπέλη σκύλο."
CHINESE = "检索增强生成系统将文档切分为段落,并为每个段落建立索引。"
TRADITIONAL = "檢索增強生成系統將文件切分為段落,並為每個段落建立索引。"
JAPANESE = "検索拡張生成システムは文書を段落に分割し、索引を作成します。"
KOREAN = "검색 증강 생성 시스템은 문서를 단락으로 나누고 색인을 만듭니다."


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-be"])
@pytest.mark.parametrize("text", [GERMAN, "Plain English."])
def test_unicode_with_and_without_a_mark(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (GERMAN, "cp1252"),
        (FRENCH, "cp1252"),
        ("José Müller, Zürich", "cp1252"),
        (POLISH, "cp1250"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (GREEK, "cp1253"),
        (CHINESE, "gb18030"),
        (TRADITIONAL, "big5"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"),
        (KOREAN, "euc_kr"),
    ],
)
def test_older_encodings_are_recognised(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == text


def test_utf8_cut_inside_a_character_is_still_utf8() -> None:
    assert decode((JAPANESE * 4).encode()[:-1]) == (JAPANESE * 4)[:-1] + "\ufffd"


def test_a_declared_encoding_is_believed_when_it_fits() -> None:
    assert decode("Größe".encode("cp850"), declared="cp850") == "Größe"


def test_utf8_wins_over_a_wrong_declaration() -> None:
    assert decode(GERMAN.encode(), declared="cp1252") == GERMAN


def test_an_unknown_declaration_is_ignored() -> None:
    assert decode(GERMAN.encode("cp1252"), declared="x-no-such-charset") == GERMAN


@pytest.mark.parametrize("size", [64, 500, 5_000])
def test_random_bytes_are_no_text(size: int) -> None:
    noise = random.Random(size).randbytes(size)
    assert decode(noise) is None
    assert looks_binary(noise)


def test_a_single_stray_nul_does_not_make_a_text_binary() -> None:
    assert decode(b"A log line\x00 and more text, much more text.") is not None
