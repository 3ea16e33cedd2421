"""Choosing the sentences to answer with."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from eagle_rag_core.models.analyzer import analyze
from eagle_rag_core.query.extractive import best_sentences
from eagle_rag_core.types import Hit


def hit(text: str, *, start: int = 0, path: str = "", title: str = "") -> Hit:
    return Hit(f"n{start}", "d", "default", text, 1.0, start, start + len(text), path, title=title)


def quotes(query: str, *hits: Hit, limit: int = 3) -> list[str]:
    return [quote.text for quote in best_sentences(analyze(query), hits, limit)]


def test_the_sentence_with_the_rare_words_wins() -> None:
    text = (
        "The Panthers won. The Panthers defence gave up just 308 points. "
        "The Panthers came from Carolina."
    )
    assert quotes("how many points did the Panthers give up", hit(text), limit=1) == [
        "The Panthers defence gave up just 308 points."
    ]


def test_a_better_passage_counts_more() -> None:
    first, second = hit("Wings lift planes."), hit("Wings lift kites.", start=100)
    assert quotes("what do wings lift", first, second)[0] == "Wings lift planes."
    assert quotes("what do wings lift", second, first)[0] == "Wings lift kites."


def test_quotes_carry_the_documents_offsets() -> None:
    document = "Intro. " * 20 + "The wing stalls at 14 degrees. End."
    passage = hit(document[100:], start=100)
    (quote,) = best_sentences(analyze("when does the wing stall"), [passage], 1)
    assert document[quote.start : quote.end] == quote.text == "The wing stalls at 14 degrees."


def test_a_heading_or_the_question_itself_is_no_answer() -> None:
    text = "# Wing stall\n\nWhen does the wing stall?\n\nThe wing will stall at 14 degrees."
    assert quotes("when does the wing stall", hit(text)) == ["The wing will stall at 14 degrees."]


def test_a_heading_with_words_of_its_own_is_no_answer() -> None:
    passage = hit("4 Meltwater\n\nThe meltwater peaked in July.", path="Survey > 4 Meltwater")
    assert quotes("when did the meltwater peak", passage) == ["The meltwater peaked in July."]


def test_a_passage_with_no_more_than_the_querys_words_is_still_quoted() -> None:
    assert quotes("wing stall", hit("Wing stall")) == ["Wing stall"]


def test_noise_is_left_out() -> None:
    text = (
        "Boundary layer transition depends on roughness. The layer is thin. "
        "Nothing else matters. Rain fell."
    )
    assert quotes("boundary layer transition roughness", hit(text)) == [
        "Boundary layer transition depends on roughness."
    ]


def test_a_sentence_with_a_word_of_the_query_in_another_sense_is_left_out() -> None:
    survey = hit(
        "Discharge of meltwater peaked at 14.8 cubic metres on 27 July. "
        "The peak arrived 11 days early. Rain was rare. The ice is thin."
    )
    report = hit("He was discharged on aspirin. He felt well.", start=500)
    assert quotes("when did the discharge peak", survey, report) == [
        "Discharge of meltwater peaked at 14.8 cubic metres on 27 July.",
        "The peak arrived 11 days early.",
    ]


def test_the_same_words_are_quoted_once() -> None:
    one, two = hit("Wings create\nlift."), hit("Wings create lift.", start=50)
    assert quotes("what do wings create", one, two) == ["Wings create\nlift."]


def test_without_a_shared_word_the_best_passages_begin_the_answer() -> None:
    one, two = hit("Planes fly. They do."), hit("Birds too. Yes.", start=50)
    assert quotes("aviation", one, two, limit=2) == ["Planes fly.", "Birds too."]


def test_chinese_sentences_are_found() -> None:
    text = "黑豹队来自卡罗来纳。黑豹队的防守只丢了308分。他们赢了比赛。"
    assert quotes("黑豹队的防守丢了多少分？", hit(text), limit=1) == ["黑豹队的防守只丢了308分。"]


SENTENCES = st.lists(
    st.sampled_from(
        ["Wings lift. ", "Tails steady!\n\n", "机翼产生升力。", "- item one\n", "Dr. No. "]
    ),
    max_size=8,
).map("".join)


@given(st.lists(SENTENCES, max_size=4), st.integers(1, 5), st.sampled_from(["wings", "升力", "no"]))
def test_quotes_are_always_exact_and_never_too_many(
    texts: list[str], limit: int, query: str
) -> None:
    hits = [hit(text, start=1000 * number) for number, text in enumerate(texts)]
    found = best_sentences(analyze(query), hits, limit)
    assert len(found) <= limit
    assert all(quote.text and quote.text in quote.hit.text for quote in found)
    assert bool(found) == any(text.strip() for text in texts)
