"""Arguments for tools made from their input schemas: valid ones, and ones that are not.

Made from a random generator, which Hypothesis seeds: drawing every value from a strategy of its own
would cost more than the calls.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

Schema = Mapping[str, Any]
Arguments = dict[str, Any]

#: Longer texts cost time and find nothing more; those at a bound are made on purpose.
_LONG = 60
_ODD = (
    "",
    " ",
    "\x00",
    "\ud800",
    "\u202e",
    "ａ",
    "'; DROP TABLE kbs; --",
    '" or kb_name like "%',
    "../../etc/passwd",
    "{}[]",
    "%s%n",
    "缓存预热",
    "سلام",
    "e\u0301" * 5,
    "\N{OTTER}",
)
_LETTERS = string.ascii_letters + string.digits + " .,:-_/\\\n\t'\"éß中\N{OTTER}\x07"


class ArgumentMaker:
    """Makes arguments for one tool.

    :param known: values that mean something, by the name of the parameter.
    """

    def __init__(self, schema: Schema, known: Mapping[str, Sequence[str]], random: Random) -> None:
        self._schema = schema
        self._known = known
        self._random = random

    def make(self) -> Arguments:
        """Arguments: most of them valid, the others broken in one place."""
        made = self._object(self._schema)
        return self._broken(made) if self._random.random() < 0.3 else made

    def _object(self, node: Schema) -> Arguments:
        required = node.get("required", ())
        return {
            name: self._value(field, name)
            for name, field in node["properties"].items()
            if name in required or self._random.random() < 0.4
        }

    def _value(self, node: Schema, name: str) -> Any:
        random = self._random
        if "enum" in node:
            return random.choice(node["enum"])
        match node["type"]:
            case "string":
                return self._text(node, name)
            case "integer":
                low, high = node["minimum"], node["maximum"]
                return random.choice((low, high, random.randint(low, min(low + 9, high))))
            case "number":
                return random.uniform(node["minimum"], node["maximum"])
            case "boolean":
                return random.random() < 0.5
            case "array":
                count = random.randint(node.get("minItems", 0), min(node["maxItems"], 3))
                return [self._value(node["items"], name) for _ in range(count)]
            case _ if "properties" in node:
                return self._object(node)
            case _:
                keys = random.sample(("year", "a.b", "n_1", "no key"), random.randint(0, 2))
                return {key: self._value(node["additionalProperties"], name) for key in keys}

    def _text(self, node: Schema, name: str) -> str:
        random, low, high = self._random, node.get("minLength", 0), node["maxLength"]
        known = self._known.get(name, ())
        if known and random.random() < 0.8:
            return random.choice(known)
        if random.random() < 0.02:
            return "x" * high
        made = "".join(random.choices(_LETTERS, k=random.randint(low, min(high, _LONG))))
        odd = random.choice(_ODD)
        return odd if low <= len(odd) <= high and random.random() < 0.5 else made

    def _broken(self, made: Arguments) -> Arguments:
        """``made`` without an argument, with another, or with one of another type or size."""
        random = self._random
        names = list(self._schema["properties"]) or ["x"]
        name = random.choice(names)
        node = self._schema["properties"].get(name, {})
        match random.choice(("drop", "add", "replace", "exceed")):
            case "drop":
                return {key: value for key, value in made.items() if key != name}
            case "add":
                added = random.choice(("x", f"{name}s", "__class__", ""))
                return {**made, added: self._anything()}
            case "exceed" if "maxLength" in node:
                return {**made, name: "x" * (node["maxLength"] + 1)}
            case "exceed" if "maximum" in node:
                return {**made, name: node["maximum"] + 1}
        return {**made, name: self._anything()}

    def _anything(self) -> Any:
        """A value of any JSON type, and some that JSON has not."""
        random = self._random
        return random.choice(
            (
                None,
                True,
                random.randint(-(2**70), 2**70),
                random.uniform(-1e300, 1e300),
                float("nan"),
                random.choice(_ODD),
                [1, [2, {"a": None}]],
                {"kb_names": 5, "a": {}},
            )
        )
