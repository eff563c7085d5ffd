"""A label for the family of rigs that a set of bone names is known from; nothing is decided by it."""

from __future__ import annotations

import re

KNOWN: tuple[tuple[str, str], ...] = (
    ("Rigify generated", r"^ORG-.*\n(.*\n)*?DEF-|^DEF-.*\n(.*\n)*?ORG-"),
    ("Auto-Rig Pro", r"^(c_traj|thigh_stretch\.l|arm_stretch\.l)$"),
    ("Mixamo", r"^mixamorig"),
    ("Character Creator", r"^CC_Base_"),
    ("VRoid", r"^J_Bip_"),
    ("Valve Biped", r"^ValveBiped"),
    ("3ds Max Biped", r"^Bip0*1\b"),
    ("MakeHuman", r"^upperleg01\.L$"),
    ("MMD", r"^(左ひじ|左ひざ|左腕)$"),
    ("Daz Genesis 9", r"^l_upperarmtwist1$"),
    ("Daz Genesis 3/8", r"^lShldrBend$"),
    ("Poser/Daz", r"^lShldr$"),
    ("Second Life", r"^mPelvis$"),
    ("SMPL", r"^(?i:left_collar|l_collar)$"),
    ("Unreal mannequin", r"^upperarm_l$"),
    ("VRM add-on", r"^upper_leg\.L$"),
    ("Rigify metarig", r"^spine\.003$"),
    ("Quaternius", r"^DEF-upper_arm\.L$"),
    ("Xsens", r"^T12$|^LeftUpperLeg$(.*\n)*?^L5$"),
    ("Unity humanoid", r"^(?i:left ?upper ?leg)$"),
    ("CMU", r"^LHipJoint$"),
    ("HumanIK", r"^LeftUpLeg$"),
)
"""Label to a pattern that the list of names, one a line, must contain; the first that fits counts."""


def convention_of(names: tuple[str, ...]) -> str:
    """The family's name, or "unknown"."""
    listed = "\n".join(names)
    return next((label for label, pattern in KNOWN if re.search(pattern, listed, re.M)), "unknown")


HIDDEN = {"Rigify generated": {"eye_L": "ORG-eye.L", "eye_R": "ORG-eye.R"}}
"""Convention to roles whose bones deform nothing, so that only their names tell."""
