"""Segments: runs of first-parent descendants, so that a path is a handful of (segment, last depth) ranges.

A message whose parent ends its segment joins that segment; any other opens a new one that records its origin. Loading a
path is then a scan over a few ranges instead of one step a message (docs/design: 200 times faster).
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field

Origin = tuple[int | None, int]
"""The parent segment and the depth at which it was left; (None, -1) for a segment that starts at a root."""

ROOT: Origin = (None, -1)


def ranges(segment: int, depth: int, origins: Mapping[int, Origin]) -> tuple[list[int], list[int]]:
    """Segments from this one back to the root's, and for each the last depth that is on the path.

    Raises:
        LookupError, ValueError: the origins do not lead to a root; those that Forky wrote do.
    """
    segments, depths = [segment], [depth]
    while True:
        parent, left_at = origins[segments[-1]]
        if parent is None:
            return segments, depths
        if parent >= segments[-1]:
            raise ValueError("A segment was left for one that came later.")
        segments.append(parent)
        depths.append(left_at)


@dataclass(slots=True)
class Places:
    """Where each message of one conversation is stored. Only the writer uses and changes it."""

    numbers: dict[str, int] = field(default_factory=dict)
    """Message id → 1, 2, 3 … in the order they were written."""
    segments: array[int] = field(default_factory=lambda: array("i"))
    depths: array[int] = field(default_factory=lambda: array("i"))
    last: list[int] = field(default_factory=list)
    """Segment 1, 2, 3 … → the depth of its last message."""

    def add(self, id: str, segment: int, depth: int) -> int:
        """Record where a message was placed, and return its number."""
        number = self.numbers[id] = len(self.segments) + 1
        self.segments.append(segment)
        self.depths.append(depth)
        while len(self.last) < segment:
            self.last.append(-1)
        self.last[segment - 1] = max(self.last[segment - 1], depth)
        return number

    def place(self, parent: str | None) -> tuple[int, int, Origin | None]:
        """Segment and depth of the next message below `parent`, and the segment's origin if the segment is new."""
        if parent is None:
            return len(self.last) + 1, 0, ROOT
        at = self.numbers[parent] - 1
        segment, depth = self.segments[at], self.depths[at]
        if self.last[segment - 1] == depth:
            return segment, depth + 1, None
        return len(self.last) + 1, depth + 1, (segment, depth)
