"""Sampled states: what a verdict may count on besides the text."""

from __future__ import annotations

from attrs import frozen

from engine.worlds.protocol import View


@frozen
class SampledViews:
    """Program views of sampled states; every leaf carries one leading batch axis.

    ``resets`` holds first states of episodes, shape ``(r, ...)``. ``previous`` and ``current`` hold the two ends of
    ``v`` transitions inside one episode each, shape ``(v, ...)``.
    """

    resets: View
    previous: View
    current: View
