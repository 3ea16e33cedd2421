"""What a pack contributes besides tools: parsers, enrichers, expanders, legs, health checks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any, Final, TypeVar

import pytest

from eagle_rag_core.errors import EagleError, IngestError
from eagle_rag_core.ingest.enrichment import enrich
from eagle_rag_core.plugins.effects.watch import Watch, watching
from eagle_rag_core.testing.conformance.arguments import ODD_TEXTS
from eagle_rag_core.testing.conformance.base import Base
from eagle_rag_core.testing.conformance.odd import ODD_BYTES, odd_documents, plain
from eagle_rag_core.testing.conformance.subject import (
    HIDDEN,
    READABLE,
    READER,
    Subject,
)
from eagle_rag_core.testing.documents import enrichment_input
from eagle_rag_core.types import Enricher, EnrichmentInput, LegRequest, Scope, acting_for

T = TypeVar("T")

#: Seconds a health check may take.
_PATIENCE: Final = 5.0


class PartTests(Base):
    """They pass where a pack has no such parts."""

    def test_enrichers_survive_odd_documents(self, subject: Subject) -> None:
        """Empty ones, foreign scripts, and a passage of 200,000 characters."""
        for name, item in odd_documents().items():
            self._enriched(subject, name, item)

    def test_enrichers_only_add(self, subject: Subject) -> None:
        """The document stays as it was, and the same document gets the same again."""
        items = {
            path.name: self._item(subject, path.name, path.read_bytes())
            for path in subject.corpus()
        }
        for name, item in (items or odd_documents()).items():
            before = repr(item)
            first = self._enriched(subject, name, item)
            assert repr(item) == before, (
                f"An enricher changes the document {name} it is given. Return an Enrichment; "
                "text, passages and metadata are the core's."
            )
            assert first == self._enriched(subject, name, item), (
                f"Enriching {name} twice gives different results. Sort what comes from sets, and "
                "leave out the time and chance: an unchanged document must stay unchanged."
            )

    def test_parsers_survive_odd_sources(self, subject: Subject) -> None:
        """They are confident between 0 and 1 and raise IngestError only."""
        for parser in subject.extensions.parsers:
            for name, data in ODD_BYTES.items():
                what = f"{parser.name}.sniff of {name}"
                confidence = self._run(subject, what, parser.sniff, data, "odd.bin")
                assert 0 <= confidence <= 1, f"{what} gives {confidence}."
                what = f"{parser.name}.parse of {name}"
                with suppress(IngestError):
                    self._run(subject, what, parser.parse, data, "odd.bin", allowed=IngestError)

    def test_parsers_read_the_same_twice(self, subject: Subject) -> None:
        """The same source gives the same text."""
        for path in subject.corpus():
            data = path.read_bytes()
            first = self._item(subject, path.name, data)
            second = self._item(subject, path.name, data)
            assert repr(first) == repr(second), (
                f"Parsing {path.name} twice gives different results."
            )

    def test_expanders_survive_odd_queries(self, subject: Subject) -> None:
        """Every query has an expansion, and always the same."""
        for expander in subject.extensions.expanders:
            for name, query in {**ODD_TEXTS, "nothing": ""}.items():
                what = f"{expander.name} for the query {name!r}"
                first = self._run(subject, what, expander.expand, query)
                second = self._run(subject, what, expander.expand, query)
                assert first == second, f"{what} gives different expansions each time."

    def test_legs_keep_to_the_scope(self, subject: Subject) -> None:
        """They return passages of the scope they are given, and none from elsewhere."""
        hidden = set(subject.hidden_nodes)
        scope = Scope(kbs=frozenset({READABLE}))
        for leg in subject.extensions.legs:
            for query in ("example words", *ODD_TEXTS.values()):
                request = LegRequest(query, scope, 50)
                with acting_for(READER):
                    nodes = self._run(subject, leg.name, leg.retrieve, request)
                strangers = [node.node_id for node in nodes if node.node_id in hidden]
                assert not strangers, (
                    f"The leg {leg.name} returns passages of {HIDDEN!r}, outside of its "
                    "request.scope."
                )

    def test_health_checks_are_quick_and_clear(self, subject: Subject) -> None:
        """Within seconds: ok, degraded or failed, and a sentence."""
        for check in subject.extensions.health:
            work: Future[Any] = Future()
            run = partial(self._run, subject, check.name, check.check)
            threading.Thread(target=_settle, args=(work, run), daemon=True).start()
            try:
                answer = work.result(_PATIENCE)
            except TimeoutError:
                pytest.fail(f"The health check {check.name} takes over {_PATIENCE:g} s.")
            assert _is_health(answer), (
                f"The health check {check.name} gives {answer!r}; return a status (ok, degraded "
                "or failed) and a sentence."
            )

    def _enriched(self, subject: Subject, name: str, item: EnrichmentInput) -> list[dict[str, Any]]:
        return [
            self._run(subject, f"{enricher.name} of {name}", _enrich, subject, enricher, item)
            for _, enricher in subject.extensions.enrichers
        ]

    def _item(self, subject: Subject, name: str, data: bytes) -> EnrichmentInput:
        parse = partial(enrichment_input, parsers=subject.extensions.parsers)
        return self._run(subject, f"Parsing {name}", parse, data, name)

    def _run(
        self,
        subject: Subject,
        what: str,
        call: Callable[..., T],
        *arguments: object,
        allowed: type[Exception] | tuple[()] = (),
    ) -> T:
        """Call code of the pack under the tripwire.

        :param allowed: an exception that it may raise, which passes.
        """
        watch = subject.watch()
        try:
            with watching(watch):
                result = call(*arguments)
        except Exception as error:
            _fail_for_effects(what, watch)
            if isinstance(error, allowed):
                raise
            told = error.message if isinstance(error, EagleError) else repr(error)
            cause = f" ({error.__cause__!r})" if error.__cause__ else ""
            pytest.fail(f"{what} fails: {told}{cause}", pytrace=False)
        _fail_for_effects(what, watch)
        return result


def _fail_for_effects(what: str, watch: Watch) -> None:
    if watch.effects:
        listed = "\n  ".join(map(str, watch.effects))
        pytest.fail(f"{what} tries more than it should:\n  {listed}", pytrace=False)


def _settle(work: Future[Any], run: Callable[[], Any]) -> None:
    try:
        work.set_result(run())
    except BaseException as error:  # pytest's own are no exceptions of the ordinary kind
        work.set_exception(error)


def _is_health(answer: object) -> bool:
    if not (isinstance(answer, tuple) and len(answer) == 2):
        return False
    return answer[0] in ("ok", "degraded", "failed") and isinstance(answer[1], str)


def _enrich(subject: Subject, enricher: Enricher, item: EnrichmentInput) -> dict[str, Any]:
    """What the enricher adds, held to the rules of ingest."""
    rules = subject.extensions.record_rules
    enrich([(subject.namespace, enricher)], rules, item)
    return plain(enricher.enrich(item))
