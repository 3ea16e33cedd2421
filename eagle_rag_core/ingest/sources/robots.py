"""What a site asks of robots: RFC 9309, and the widespread ``Crawl-delay``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import unquote

#: Bytes of a robots.txt that are read (RFC 9309 §2.5).
MAX_BYTES = 500 * 1024
_LONGEST_DELAY = 60.0
_LINE = re.compile(r"\s*([A-Za-z-]+)\s*:\s*([^#]*)")
_PRODUCT = re.compile(r"[A-Za-z_-]+")
_DELAY = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,6})?")


@dataclass(slots=True)
class Robots:
    """The rules for one robot.

    :param rules: (path pattern, whether it allows).
    :param delay: seconds between two requests.
    """

    rules: list[tuple[str, bool]] = field(default_factory=list)
    delay: float = 0.0

    def allows(self, target: str) -> bool:
        """Whether a path with its query may be asked for.

        The longest rule that matches decides; between equals the one that allows.
        """
        target = _decoded(target)
        found = [(len(rule), allowed) for rule, allowed in self.rules if _matches(rule, target)]
        return max(found)[1] if found else True


def parse_robots(data: bytes, product: str) -> Robots:
    """The rules in a robots.txt for the robot named ``product``, else those for all (``*``)."""
    groups: dict[str, Robots] = {}
    names: list[str] = []
    in_rules = False
    for line in data[:MAX_BYTES].decode("utf-8-sig", "replace").splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        key, value = match[1].lower(), match[2].strip()
        if key == "user-agent":
            names = [] if in_rules else names
            in_rules = False
            names.append(_name(value))
            groups.setdefault(names[-1], Robots())
        elif key in ("allow", "disallow", "crawl-delay"):
            in_rules = True
            for name in names:
                _add(groups[name], key, value)
    return groups.get(product.lower()) or groups.get("*") or Robots()


def _name(value: str) -> str:
    product = _PRODUCT.match(value)
    return product[0].lower() if product else "*"


def _add(group: Robots, key: str, value: str) -> None:
    if key == "crawl-delay":
        if _DELAY.fullmatch(value):
            group.delay = min(float(value), _LONGEST_DELAY)
    elif value:  # an empty one means nothing
        group.rules.append((_decoded(value), key == "allow"))


def _decoded(text: str) -> str:
    """Percent-encoding taken off, but for what would mean something else without it."""
    return unquote(text.replace("%2F", "%252F").replace("%2f", "%252F"), errors="replace")


def _matches(rule: str, target: str) -> bool:
    """Whether a rule applies: ``*`` stands for anything, a final ``$`` for the end.

    Piece by piece and leftmost first, so that no rule takes long.
    """
    to_the_end = rule.endswith("$")
    first, *rest = rule.removesuffix("$").split("*")
    if not target.startswith(first):
        return False
    position = len(first)
    for piece in rest:
        position = target.find(piece, position)
        if position < 0:
            return False
        position += len(piece)
    if not to_the_end or position == len(target):
        return True
    return bool(rest) and target.endswith(rest[-1])
