"""Make an ONNX model with stored int8 weights also *compute* in int8.

Some models are shipped with int8 weights but float arithmetic: every weight is written as
``Mul(Cast(quantised), scale)``. ONNX Runtime folds that into a float32 matrix at load, four times
the size of the file. Using the quantised weights as they are halves the latency on one thread
and saves the float copies:

* ``MatMul(x, weight)`` becomes ``com.microsoft.DynamicQuantizeMatMul(x, quantised, scale)``,
  which quantises ``x`` per tensor at run time;
* ``Gather(weight, ids)`` gathers quantised rows and their scales and multiplies only those.

The rewrite reads and writes the protobuf wire format (field numbers from ``onnx.proto``): the
``onnx`` package would be a large dependency for these two replacements.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# Field numbers of the messages of onnx.proto that are read or written here.
_MODEL_GRAPH, _MODEL_OPSET_IMPORT = 7, 8
_OPSET_DOMAIN, _OPSET_VERSION = 1, 2
_GRAPH_NODE, _GRAPH_INITIALIZER = 1, 5
_NODE_INPUT, _NODE_OUTPUT, _NODE_OP_TYPE, _NODE_ATTRIBUTE, _NODE_DOMAIN = 1, 2, 4, 5, 7
_ATTRIBUTE_NAME, _ATTRIBUTE_INT, _ATTRIBUTE_TYPE = 1, 3, 20
_TENSOR_DIMS, _TENSOR_NAME = 1, 8
# Values of its enumerations.
_ATTRIBUTE_TYPE_INT, _DATA_TYPE_FLOAT = 2, 1
# Wire types.
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5

_CONTRIB_DOMAIN, _CONTRIB_VERSION = "com.microsoft", 1

_Buffer = bytes | memoryview


@dataclass(frozen=True, slots=True)
class _Field:
    """One field of a message.

    :param value: its payload; empty for the fixed-width types, which are only copied.
    :param raw: the field as it stands in the message, tag included.
    """

    number: int
    value: int | memoryview
    raw: memoryview

    @property
    def message(self) -> memoryview:
        assert isinstance(self.value, memoryview)
        return self.value

    @property
    def text(self) -> str:
        return self.message.tobytes().decode()


@dataclass(frozen=True, slots=True)
class _Node:
    op: str
    inputs: tuple[str, ...]
    output: str
    raw: _Buffer


@dataclass(frozen=True, slots=True)
class _Weight:
    """Names of the two initializers a weight is stored in."""

    quantised: str
    scale: str


def compute_in_int8(model: bytes) -> bytes:
    """Rewrite a model so that it uses its stored int8 weights directly.

    :param model: a serialized ``ModelProto`` whose weights are ``Mul(Cast(int8), scale)``, with
        a scale of shape (1, columns) for matrix products and (rows, 1) for lookup tables.
    """
    parts: list[_Buffer] = []
    for field in _fields(memoryview(model)):
        if field.number == _MODEL_GRAPH:
            # Joined once, at the end: the weights are most of the file.
            graph = _rewrite(field.message)
            parts += [_prefix(_MODEL_GRAPH, sum(map(len, graph))), *graph]
        else:
            parts.append(field.raw)
    contrib = _text(_OPSET_DOMAIN, _CONTRIB_DOMAIN) + _integer(_OPSET_VERSION, _CONTRIB_VERSION)
    parts.append(_bytes(_MODEL_OPSET_IMPORT, contrib))
    return b"".join(parts)


def _rewrite(graph: memoryview) -> list[_Buffer]:
    fields = list(_fields(graph))
    nodes = [_parse_node(field) for field in fields if field.number == _GRAPH_NODE]
    weights = _stored_weights(nodes)
    column_scales = {
        weights[node.inputs[1]].scale
        for node in nodes
        if node.op == "MatMul" and node.inputs[1] in weights
    }
    parts = [node.raw for node in _rewrite_nodes(nodes, weights)]
    for field in fields:
        if field.number == _GRAPH_INITIALIZER and _tensor_name(field.message) in column_scales:
            parts.append(_bytes(_GRAPH_INITIALIZER, _without_first_dimension(field.message)))
        elif field.number != _GRAPH_NODE:
            parts.append(field.raw)
    return parts


def _stored_weights(nodes: Iterable[_Node]) -> dict[str, _Weight]:
    """The weights stored in int8, by the name under which the graph uses them."""
    casts = {node.output: node.inputs[0] for node in nodes if node.op == "Cast"}
    return {
        node.output: _Weight(casts[node.inputs[0]], node.inputs[1])
        for node in nodes
        if node.op == "Mul" and node.inputs[0] in casts
    }


def _rewrite_nodes(nodes: Iterable[_Node], weights: dict[str, _Weight]) -> Iterator[_Node]:
    """Replace every use of a stored weight; unpacking nodes lose their readers and fall away."""
    stored = {weight.quantised for weight in weights.values()}
    for node in nodes:
        if node.op == "MatMul" and node.inputs[1] in weights:
            weight = weights[node.inputs[1]]
            inputs = (node.inputs[0], weight.quantised, weight.scale)
            yield _make_node(
                "DynamicQuantizeMatMul", inputs, node.output, _text(_NODE_DOMAIN, _CONTRIB_DOMAIN)
            )
        elif node.op == "Gather" and node.inputs[0] in weights:
            yield from _gather_rows(weights[node.inputs[0]], node.inputs[1], node.output)
        elif node.output not in weights and not (node.op == "Cast" and node.inputs[0] in stored):
            yield node


def _gather_rows(table: _Weight, rows: str, output: str) -> Iterator[_Node]:
    quantised, floats, scales = (f"{output}_{part}" for part in ("int8", "float", "scale"))
    to_float = (
        _text(_ATTRIBUTE_NAME, "to")
        + _integer(_ATTRIBUTE_INT, _DATA_TYPE_FLOAT)
        + _integer(_ATTRIBUTE_TYPE, _ATTRIBUTE_TYPE_INT)
    )
    yield _make_node("Gather", (table.quantised, rows), quantised)
    yield _make_node("Cast", (quantised,), floats, _bytes(_NODE_ATTRIBUTE, to_float))
    yield _make_node("Gather", (table.scale, rows), scales)
    yield _make_node("Mul", (floats, scales), output)


def _make_node(op: str, inputs: tuple[str, ...], output: str, more: bytes = b"") -> _Node:
    body = b"".join(_text(_NODE_INPUT, name) for name in inputs)
    body += _text(_NODE_OUTPUT, output) + _text(_NODE_OP_TYPE, op) + more
    return _Node(op, inputs, output, _bytes(_GRAPH_NODE, body))


def _parse_node(field: _Field) -> _Node:
    names: dict[int, list[str]] = {_NODE_INPUT: [], _NODE_OUTPUT: [], _NODE_OP_TYPE: []}
    for part in _fields(field.message):
        if part.number in names:
            names[part.number].append(part.text)
    (op,) = names[_NODE_OP_TYPE]
    return _Node(op, tuple(names[_NODE_INPUT]), names[_NODE_OUTPUT][0], field.raw)


def _tensor_name(tensor: memoryview) -> str:
    return next(field.text for field in _fields(tensor) if field.number == _TENSOR_NAME)


def _without_first_dimension(tensor: memoryview) -> bytes:
    """A tensor of shape (1, n) as one of shape (n,)."""
    fields = list(_fields(tensor))
    first = next(field for field in fields if field.number == _TENSOR_DIMS)
    return b"".join(field.raw for field in fields if field is not first)


def _fields(message: memoryview) -> Iterator[_Field]:
    position = 0
    while position < len(message):
        start = position
        tag, position = _read_varint(message, position)
        value: int | memoryview = message[:0]
        wire_type = tag & 7
        if wire_type == _VARINT:
            value, position = _read_varint(message, position)
        elif wire_type == _LENGTH:
            length, position = _read_varint(message, position)
            value = message[position : position + length]
            position += length
        else:
            position += {_FIXED64: 8, _FIXED32: 4}[wire_type]
        yield _Field(tag >> 3, value, message[start:position])


def _read_varint(message: memoryview, position: int) -> tuple[int, int]:
    """A base-128 integer, lowest group first, and the position after it."""
    value = shift = 0
    while True:
        byte = message[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _integer(number: int, value: int) -> bytes:
    return _varint(number << 3 | _VARINT) + _varint(value)


def _bytes(number: int, payload: bytes) -> bytes:
    return _prefix(number, len(payload)) + payload


def _prefix(number: int, length: int) -> bytes:
    """What stands before the payload of a message, string or bytes field."""
    return _varint(number << 3 | _LENGTH) + _varint(length)


def _text(number: int, value: str) -> bytes:
    return _bytes(number, value.encode())
