"""How a computed motion lands in the timeline."""

from __future__ import annotations

from dataclasses import dataclass

from .params import Params, param


@dataclass(frozen=True)
class LandingParams(Params):
    """Where the keys of a result go; every feature that writes keys has these beside its own parameters."""

    landing: str = param(
        "track",
        choices=(
            ("track", "A strip on the actor's Troupe track; whatever was there before stays below"),
            ("replace", "The actor's active action; the action before it is kept with a fake user"),
            ("layer", "A strip on a track of its own above everything, only while it lasts"),
        ),
        help="Where the keys of the result go",
        basic=False,
    )
    blend: float = param(
        0.3,
        lo=0.0,
        hi=5.0,
        unit="s",
        help="Time over which the actor goes over into the result from what it was doing, and out of a layer again",
        basic=False,
    )
    keys: str = param(
        "every_frame",
        choices=(
            ("every_frame", "A key on every frame"),
            ("reduced", "Keys only where they are needed, with handles in between, planted feet still planted"),
            ("blocking", "Keys at the contact, down, passing and up pose of each step, eased in between"),
        ),
        help="On which frames the result has keys",
        basic=False,
    )
    tolerance: float = param(
        0.01,
        lo=0.0,
        hi=0.2,
        unit="rad",
        help="For reduced keys: no bone turns away by more than this from what it does with a key on every frame",
        basic=False,
        only=("keys", "reduced"),
    )
    markers: bool = param(False, help="Put the motion's events on the timeline as markers", basic=False)
    contacts: bool = param(
        False,
        help="Key custom properties of the armature that are 1 while a heel or ball is planted and 0 while it is free",
        basic=False,
    )


@dataclass(frozen=True)
class RegenerateParams(Params):
    """Which result is made again, and what becomes of keys that were edited by hand."""

    result: str = param("", ref="action", help="Action of the result; empty for the one chosen in the list")
    edits: str = param(
        "keep",
        choices=(
            ("keep", "Change nothing when keys of the result were edited, and say so"),
            ("discard", "Throw the edits away"),
            ("layer", "Keep the edits as an offset layer above the result"),
            ("take", "Leave the edited result as it is, muted, and put the new one on a track above"),
        ),
        help="What to do when keys of the result were edited since",
    )


@dataclass(frozen=True)
class RemoveParams(Params):
    """Which result is taken away."""

    result: str = param("", ref="action", help="Action of the result; empty for the chosen one")
    every: bool = param(False, help="Take all results of this actor away")


@dataclass(frozen=True)
class FootprintsParams(Params):
    """Which result has its footprints in the scene."""

    result: str = param("", ref="action", help="Action of the result; empty for the chosen one")
    hide: bool = param(False, help="Take the footprints of this actor away instead")
