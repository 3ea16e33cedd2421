"""Make an ONNX model with stored int8 weights also *compute* in int8.

Some models are shipped with int8 weights and float arithmetic: every weight is written as
``Mul(Cast(quantised), scale)``. ONNX Runtime folds that into a float32 matrix at load, four times
the size of the file. Using the quantised weights directly halves the latency on one thread and
saves the float copies:

* ``MatMul(x, W)`` becomes ``com.microsoft.DynamicQuantizeMatMul(x, quantised, scale)``, which
  quantises ``x`` per tensor at run time;
* ``Gather(W, ids)`` gathers quantised rows and their scales, and multiplies only those.

The rewrite works on the protobuf wire format (field numbers from ``onnx.proto``), because the
``onnx`` package is large and needed for nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_MODEL_GRAPH, _MODEL_OPSET_IMPORT = 7, 8
_OPSET_DOMAIN, _OPSET_VERSION = 1, 2
_GRAPH_NODE, _GRAPH_INITIALIZER = 1, 5
_NODE_INPUT, _NODE_OUTPUT, _NODE_OP_TYPE, _NODE_ATTRIBUTE, _NODE_DOMAIN = 1, 2, 4, 5, 7
_ATTRIBUTE_NAME, _ATTRIBUTE_INT, _ATTRIBUTE_TYPE = 1, 3, 20
_TENSOR_DIMS, _TENSOR_NAME = 1, 8
_ATTRIBUTE_IS_INT, _TENSOR_IS_FLOAT = 2, 1

_CONTRIB_DOMAIN, _CONTRIB_VERSION = "com.microsoft", 1
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


@dataclass(frozen=True, slots=True)
class _Field:
    """A field of a protobuf message: its value, and its bytes with tag and length."""

    number: int
    value: int | memoryview
    raw: memoryview


@dataclass(frozen=True, slots=True)
class _Node:
    op: str
    inputs: list[str]
    output: str


@dataclass(frozen=True, slots=True)
class _Weight:
    """Names of the two initializers a weight is stored in."""

    quantised: str
    scale: str


def compute_in_int8(model: bytes) -> bytes:
    """The model with its stored int8 weights used as they are.

    :param model: a serialized ``ModelProto`` whose weights are ``Mul(Cast(int8), scale)``, the
        scale of shape (1, columns) for a matrix product and (rows, 1) for a lookup table.
    """
    parts: list[bytes | memoryview] = []
    for field in _fields(memoryview(model)):
        if field.number == _MODEL_GRAPH:
            parts.append(_message(_MODEL_GRAPH, _rewrite_graph(_view(field))))
        else:
            parts.append(field.raw)
    contrib = _string(_OPSET_DOMAIN, _CONTRIB_DOMAIN) + _integer(_OPSET_VERSION, _CONTRIB_VERSION)
    parts.append(_message(_MODEL_OPSET_IMPORT, contrib))
    return b"".join(parts)


def _rewrite_graph(graph: memoryview) -> bytes:
    fields = list(_fields(graph))
    nodes = {id(field): _node(_view(field)) for field in fields if field.number == _GRAPH_NODE}
    weights, unpacking = _stored_weights(list(nodes.values()))
    factors = {
        weights[node.inputs[1]].scale
        for node in nodes.values()
        if node.op == "MatMul" and node.inputs[1] in weights
    }
    parts: list[bytes | memoryview] = []
    for field in fields:
        node = nodes.get(id(field))
        if node is None:
            is_factor = field.number == _GRAPH_INITIALIZER and _name(_view(field)) in factors
            parts.append(_flat_tensor(_view(field)) if is_factor else field.raw)
        elif node.output not in unpacking:
            parts.append(_rewrite_node(node, weights) or field.raw)
    return b"".join(parts)


def _stored_weights(nodes: Sequence[_Node]) -> tuple[dict[str, _Weight], set[str]]:
    """Weights by the name the graph uses, and the outputs of all nodes that unpack them."""
    casts = {node.output: node.inputs[0] for node in nodes if node.op == "Cast"}
    used_as_weight = {
        node.inputs[{"MatMul": 1, "Gather": 0}[node.op]]
        for node in nodes
        if node.op in ("MatMul", "Gather")
    }
    weights, unpacking = {}, set[str]()
    for node in nodes:
        if node.op == "Mul" and node.output in used_as_weight and node.inputs[0] in casts:
            weights[node.output] = _Weight(casts[node.inputs[0]], node.inputs[1])
            unpacking |= {node.output, node.inputs[0]}
    return weights, unpacking
