"""Every edit with settings that ask for nothing leaves every recording as it is."""

import pytest
from troupe.core.figure import acts
from troupe.core.figure.mannequin import mannequin
from troupe.core.filters.bands import BandParams, bands
from troupe.core.filters.blend import BlendParams, combine
from troupe.core.filters.displace import displace
from troupe.core.filters.emotion import EmotionParams, emote
from troupe.core.filters.feeling import extract
from troupe.core.filters.timewarp import TimewarpParams, retimed, timewarp
from troupe.core.filters.waveshape import WaveshapeParams, waveshape

from .clips import CLIPS, alike, recorded

KNOCK = acts.knock(mannequin(), fps=30.0)
NO_FEELING = extract(KNOCK, KNOCK, "none")


def retimed_by_itself(motion):
    return retimed(motion, TimewarpParams(curve=((0.0, 0.0), (motion.duration, motion.duration))))


EDITS = {
    "bands": lambda m: bands(m, BandParams()),
    "waveshape": lambda m: waveshape(m, WaveshapeParams(shape="identity")),
    "displace": lambda m: displace(m, {len(m) // 2: m.pose(len(m) // 2)}),
    "emotion": lambda m: emote(m, NO_FEELING, EmotionParams()),
    "timewarp": lambda m: timewarp(m, m, TimewarpParams(pace=0.0)),
    "retiming": retimed_by_itself,
    "blend": lambda m: combine((m, m), BlendParams(amount=0.0)),
    "blend with itself": lambda m: combine((m, m), BlendParams(amount=0.5, plant=False)),
}


@pytest.mark.parametrize("name", CLIPS)
def test_settings_that_ask_for_nothing_change_nothing(data, name):
    motion = recorded(data, name)
    for edit, apply in EDITS.items():
        done = apply(motion)
        assert len(done) == len(motion), edit
        assert alike(done, motion) < 1e-6, edit
