"""Says what SQL asks for, by reading it and the catalogs: no database is involved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from eagle_rag_core.plugins import PackContext
from eagle_rag_lakehouse_bi.joins import cardinality_of, hint_of
from eagle_rag_lakehouse_bi.object_search import shortened
from eagle_rag_lakehouse_bi.objects import Cardinality
from eagle_rag_lakehouse_bi.reading import CatalogReader, Scope, TableKey, leaf_of
from eagle_rag_lakehouse_bi.sql_answers import (
    ExplainedStatement,
    LikeQuery,
    ReadJoin,
    ReadTable,
    ResembledMetric,
    SqlExplanation,
)
from eagle_rag_lakehouse_bi.sql_check import many_sides
from eagle_rag_lakehouse_bi.sql_parsing import parsed
from eagle_rag_lakehouse_bi.sql_tables import StatementTables
from eagle_rag_lakehouse_bi.table_names import TableNames

if TYPE_CHECKING:
    from sqlglot import exp

_MOST_STATEMENTS: Final = 10
_MOST_PARTS: Final = 50
_MOST_QUERIES: Final = 500
_TURNED: Final[dict[Cardinality, Cardinality]] = {
    "many_to_one": "one_to_many",
    "one_to_many": "many_to_one",
}


class SqlExplainer:
    """Explains SQL by the records of the ingested catalogs."""

    def __init__(self, ctx: PackContext) -> None:
        self._ctx = ctx

    def explain(self, sql: str, dialect: str, scope: Scope) -> SqlExplanation:
        """What each statement asks for.

        :param dialect: of sqlglot; "" to find out.
        :raises InvalidArgument: the dialect is not known.
        """
        read = parsed(sql, dialect)
        names = TableNames(self._ctx, scope)
        reader = CatalogReader(self._ctx, scope)
        explained = [
            _Statement(tree, StatementTables(tree, names, reader), reader, read.dialect).explained()
            for tree in read.statements[:_MOST_STATEMENTS]
        ]
        return SqlExplanation(
            parses=bool(read.statements),
            dialect=read.dialect,
            error=read.error,
            statements=explained,
        )


class _Statement:
    """One statement; its query is made to name the table of each column."""

    def __init__(
        self, tree: exp.Expr, tables: StatementTables, reader: CatalogReader, dialect: str
    ) -> None:
        from sqlglot import exp

        self._tree = tree
        self._written = tree.copy()
        self._tables = tables
        self._reader = reader
        self._dialect = dialect
        self._query = tree if isinstance(tree, exp.Query) else tree.find(exp.Query)
        self._used: dict[str, list[str]] = {}
        self._joins: list[ReadJoin] = []
        self._warnings: list[str] = []

    def explained(self) -> ExplainedStatement:
        from sqlglot.errors import SqlglotError

        try:
            self._resolve()
        except (SqlglotError, RecursionError, ValueError):
            self._warnings.append("Names are ambiguous; joins and columns could not be told.")
        metrics = self._metrics()
        return ExplainedStatement(
            kind=self._tree.key.upper(),
            tables=list(self._read_tables())[:_MOST_PARTS],
            joins=self._joins[:_MOST_PARTS],
            filters=list(self._conditions())[:_MOST_PARTS],
            group_by=self._group_by(),
            aggregates=self._aggregates(),
            grain=self._grain(),
            metrics=metrics,
            queries=self._alike(),
            rules=self._rules(),
            warnings=[*self._warnings, *self._metric_warnings(metrics), *self._table_warnings()],
        )

    def _resolve(self) -> None:
        """Find out the columns and joins of the query, and which sums count rows twice."""
        if self._query is None:
            return
        from eagle_rag_lakehouse_bi.readers.query_joins import joins_of
        from eagle_rag_lakehouse_bi.sql_products import products, ungrouped
        from eagle_rag_lakehouse_bi.sql_scopes import QueryNames
        from eagle_rag_lakehouse_bi.sql_sums import repeated_sums

        names = QueryNames(
            self._query, self._tables.known_columns, lenient_quotes=self._dialect == "sqlite"
        )
        used: defaultdict[str, list[str]] = defaultdict(list)
        for table, column in names.used():
            used[table].append(column)
        self._used = used
        names.qualify()
        for join in dict.fromkeys(joins_of(self._query)):
            followed, _ = self._tables.between(join)
            condition = " AND ".join(f"{join.left}.{a} = {join.right}.{b}" for a, b in join.columns)
            cardinality: Cardinality = ""
            if followed:
                cardinality = cardinality_of(followed, self._tables.unique)
                if followed.left not in self._tables.meanings[join.left]:
                    cardinality = _TURNED.get(cardinality, cardinality)
            evidence = hint_of(followed, self._tables.unique).evidence if followed else ""
            self._joins.append(ReadJoin(join.left, join.right, condition, evidence, cardinality))
        self._warnings += repeated_sums(self._query, many_sides(self._tables))
        self._warnings += dict.fromkeys([*products(self._query), *ungrouped(self._query)])

    def _read_tables(self) -> Iterator[ReadTable]:
        for name, keys in self._tables.meanings.items():
            records = [self._tables.records[key] for key in keys if key in self._tables.records]
            data = records[0].data if records else {}
            yield ReadTable(
                id=min(keys).id if keys else name,
                known=bool(keys),
                description=shortened(data.get("description", "")),
                status=records[0].fields["status"] if records else "",
                primary_key=list(data.get("primary_key", ())),
                columns=self._used.get(name, []),
            )

    def _conditions(self) -> Iterator[str]:
        """What rows and groups must meet, without joins."""
        from sqlglot import exp

        for clause in self._tree.find_all(exp.Where, exp.Having, exp.Qualify):
            condition = clause.this
            for part in condition.flatten() if isinstance(condition, exp.And) else (condition,):
                inner = part.unnest()
                sides = isinstance(inner, exp.EQ) and (inner.this, inner.expression)
                if not (sides and all(isinstance(side, exp.Column) for side in sides)):
                    yield self._sql(inner)

    def _group_by(self) -> list[str]:
        """What the outermost query groups by; numbers stand for what it returns there."""
        from sqlglot import exp

        query = self._query
        group = query.args.get("group") if isinstance(query, exp.Select) else None
        if group is None or query is None:
            return []
        returned = query.selects
        found = []
        for key in group.expressions:
            place = int(key.name) if isinstance(key, exp.Literal) and key.is_int else 0
            shown = returned[place - 1].unalias() if 0 < place <= len(returned) else key
            found.append(self._sql(shown))
        return found

    def _aggregates(self) -> list[str]:
        from eagle_rag_lakehouse_bi.sql_metrics import aggregates

        if self._query is None:
            return []
        return [self._sql(function) for function in aggregates(self._query)][:_MOST_PARTS]

    def _grain(self) -> str:
        """What a row of the result stands for."""
        from sqlglot import exp

        query = self._query
        if not isinstance(query, exp.Select):
            return ""
        if groups := self._group_by():
            return f"one row per {', '.join(groups)}"
        if self._aggregates():
            return "one row for everything"
        if query.args.get("distinct"):
            return f"one row per different {', '.join(self._sql(s) for s in query.selects)}"
        if query.find(exp.SetOperation) or query.find(exp.Subquery, exp.CTE):
            return ""
        return self._row_of()

    def _row_of(self) -> str:
        """The table each row of a plain query is a row of: one whose rows meet at most one row of
        every other."""
        names = list(self._tables.meanings)
        one: defaultdict[str, set[str]] = defaultdict(set)
        for join in self._joins:
            if join.cardinality in ("many_to_one", "one_to_one"):
                one[join.left].add(join.right)
            if join.cardinality in ("one_to_many", "one_to_one"):
                one[join.right].add(join.left)
        for name in names:
            if _reached(name, one) >= set(names):
                keys = self._tables.meanings[name]
                record = self._tables.records.get(min(keys)) if keys else None
                key = ", ".join(record.data["primary_key"]) if record else ""
                return f"one row per row of {leaf_of(name)}{f' ({key})' if key else ''}"
        return ""

    def _metrics(self) -> list[ResembledMetric]:
        from eagle_rag_lakehouse_bi.sql_metrics import resembled

        if self._query is None or not self._tables.keys:
            return []
        metrics = self._reader.metrics("tables", sorted({key.id for key in self._tables.keys}))
        return list(resembled(self._query, metrics))[:_MOST_PARTS]

    def _alike(self) -> list[LikeQuery]:
        from eagle_rag_lakehouse_bi.sql_metrics import alike

        ids = {key.id for key in self._tables.keys}
        names = {*self._tables.meanings, *ids, *map(leaf_of, ids)}
        found = self._reader.find("query", "tables", sorted(names), limit=_MOST_QUERIES)
        leaves = set(map(leaf_of, self._tables.meanings))
        saved = [r for r in found if set(map(leaf_of, r.fields["tables"])) == leaves]
        return list(alike(self._written, saved))[:_MOST_PARTS] if saved else []

    def _rules(self) -> list[str]:
        ids = sorted({key.id for key in self._tables.keys})
        found = self._reader.find("rule", "table", ids) if ids else []
        return list(dict.fromkeys(r.data["text"] for r in found))[:_MOST_PARTS]

    def _table_warnings(self) -> Iterator[str]:
        for name, keys in self._tables.meanings.items():
            if not keys:
                yield f"No catalog describes {name}."
            elif any(self._is_deprecated(key) for key in keys):
                yield f"{leaf_of(name)} is deprecated."
        for join in self._joins:
            if not join.evidence:
                yield f"No catalog knows the join {join.condition}."

    def _metric_warnings(self, metrics: Sequence[ResembledMetric]) -> Iterator[str]:
        """Conditions of a metric that the statement does not have by the names of their columns."""
        conditions = " ".join(self._conditions()).lower()
        for metric in metrics:
            words = metric.filter.lower().replace("(", " ").split()
            if metric.filter and (not words or words[0].rpartition(".")[2] not in conditions):
                yield f"Metric {metric.name} also asks for {metric.filter}."

    def _is_deprecated(self, key: TableKey) -> bool:
        record = self._tables.records.get(key)
        return record is not None and record.fields["status"] == "deprecated"

    def _sql(self, node: exp.Expr) -> str:
        return shortened(node.sql(dialect=self._dialect or None, comments=False), 300)


def _reached(start: str, one: Mapping[str, set[str]]) -> set[str]:
    """Tables of which a row of ``start`` meets one row at most, over any number of joins."""
    reached, waiting = {start}, [start]
    while waiting:
        more = one.get(waiting.pop(), set()) - reached
        reached |= more
        waiting += sorted(more)
    return reached
