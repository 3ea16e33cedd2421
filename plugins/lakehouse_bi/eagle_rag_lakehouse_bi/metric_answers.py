"""What the tools about metrics return. Absent text is empty."""

from __future__ import annotations

from dataclasses import dataclass

from eagle_rag_lakehouse_bi.answers import Answer


@dataclass(frozen=True, slots=True)
class MetricSummary:
    """A metric in short.

    :param conflicts: URNs of metrics of its name that mean something else.
    """

    urn: str
    name: str
    label: str
    description: str
    type: str
    status: str
    tables: list[str]
    conflicts: list[str]
    document_id: str
    kb_name: str


@dataclass(frozen=True, slots=True)
class MetricPage(Answer):
    """A page of metrics: with words to look for the best first, else by name.

    :param total: of all pages.
    """

    items: list[MetricSummary]
    total: int
    next_cursor: str


@dataclass(frozen=True, slots=True)
class MetricPart:
    """A metric of the tree under the one asked for.

    :param depth: 0 for that metric itself.
    :param inputs: names of the metrics it is made of, which follow one deeper.
    """

    name: str
    depth: int
    type: str
    formula: str
    filter: str
    inputs: list[str]
    tables: list[str]


@dataclass(frozen=True, slots=True)
class MetricDimension:
    """What a metric can be grouped by.

    :param through: ids of the tables joined on the way, none for the metric's own.
    """

    name: str
    table: str
    type: str
    description: str
    through: list[str]


@dataclass(frozen=True, slots=True)
class MetricDifference:
    """:param aspect: ``formula``, ``filter``, ``time_dimension``, ``grain``, ``unit`` (also
        currencies), ``tables``, ``non_additive`` or ``type``.
    :param this: what the metric asked for states; "" for nothing.
    :param other: what the conflicting one states.
    """

    aspect: str
    this: str
    other: str


@dataclass(frozen=True, slots=True)
class MetricConflict:
    """Another metric of the same or nearly the same name that means something else.

    :param match: ``same name``, or ``near name``: the same words otherwise put, or a synonym.
    """

    urn: str
    name: str
    match: str
    differences: list[MetricDifference]
    formula: str
    filter: str
    status: str
    file: str
    line: int
    node_id: str
    document_id: str
    kb_name: str


@dataclass(frozen=True, slots=True)
class MetricDefinition(Answer):
    """A metric, down to its columns.

    :param parts: the metric and those it is made of, each before its inputs.
    :param non_additive: the dimension it must not be summed over.
    :param omitted_dimensions: dimensions left out because they are too many.
    """

    urn: str
    name: str
    label: str
    description: str
    status: str
    synonyms: list[str]
    time_dimension: str
    non_additive: str
    parts: list[MetricPart]
    dimensions: list[MetricDimension]
    omitted_dimensions: int
    rules: list[str]
    conflicts: list[MetricConflict]
    file: str
    line: int
    node_id: str
    document_id: str
    kb_name: str
