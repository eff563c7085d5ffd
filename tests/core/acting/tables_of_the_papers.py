"""Tables of Perlin 1995 and Perlin, Goldberg 1996 with values computed by hand."""

RHUMBA = {  # phase [deg]: joint: x, y, z
    0: {
        "Rchest": (-15, 0, 0), "Relbow": (-80, 0, 0), "Rhip": (-12.5, -7.5, -2.5), "Rknee": (25, 0, 0),
        "Waist": (0, 0, 0), "Lchest": (15, 0, 0), "Lelbow": (-80, 0, 0), "Lhip": (-5, -12.5, 0), "Lknee": (10, 0, 0),
    },
    90: {
        "Rchest": (0, 0, -5), "Relbow": (-70, 0, 0), "Rhip": (0, 0, -10), "Rknee": (0, 0, 0),
        "Waist": (0, 0, -10), "Lchest": (0, 0, 5), "Lelbow": (-90, 0, 0), "Lhip": (-10, -25, 20), "Lknee": (20, 0, 0),
    },
    180: {
        "Rchest": (15, 0, 0), "Relbow": (-80, 0, 0), "Rhip": (-12.5, -7.5, -2.5), "Rknee": (25, 0, 0),
        "Waist": (0, 0, 0), "Lchest": (-15, 0, 0), "Lelbow": (-80, 0, 0), "Lhip": (-5, -12.5, 0), "Lknee": (10, 0, 0),
    },
    270: {
        "Rchest": (0, 0, 5), "Relbow": (-90, 0, 0), "Rhip": (-25, -15, 5), "Rknee": (50, 0, 0),
        "Waist": (0, 0, 10), "Lchest": (0, 0, -5), "Lelbow": (-70, 0, 0), "Lhip": (0, 0, -20), "Lknee": (0, 0, 0),
    },
}  # fmt: skip
RUNNING = {  # phase: waist x, y; right chest y, z; shoulder x; elbow x, z; wrist x; pelvis y; hip, knee, ankle x
    0: (5, -15, -10, 0, 22.5, -120, -10, -10, 10, 28, 26, -45),
    45: (2.5, -10.607, -7.071, -3.536, 6.590, -102.426, -5, -7.071, 7.071, 7.799, 90.005, -11.509),
    90: (0, 0, 0, -5, 0, -60, 0, 0, 0, -24, 130, 18),
    135: (2.5, 10.607, 7.071, -3.536, 6.590, -17.574, -5, 7.071, -7.071, -48.770, 90.005, 37.958),
    180: (5, 15, 10, 0, 22.5, 0, -10, 10, -10, -52, 26, 45),
    225: (2.5, 10.607, 7.071, 3.536, 38.410, -17.574, -5, 7.071, -7.071, -31.799, 1.502, 37.958),
    270: (0, 0, 0, 5, 45, -60, 0, 0, 0, 0, 0, 18),
    315: (2.5, -10.607, -7.071, 3.536, 38.410, -102.426, -5, -7.071, 7.071, 24.770, 1.502, -11.509),
}
RUNNING_COLUMNS = (
    ("Waist", "x"), ("Waist", "y"), ("Rchest", "y"), ("Rchest", "z"), ("Rshoulder", "x"), ("Relbow", "x"),
    ("Relbow", "z"), ("Rwrist", "x"), ("Rpelvis", "y"), ("Rhip", "x"), ("Rknee", "x"), ("Rankle", "x"),
)  # fmt: skip
STAND_STILL = {  # static rows, and those with noise at its middle
    "Nod": (20, 0, 0), "Lchest": (0, 0, -5), "Rchest": (0, 0, 0), "Lshoulder": (-10, 0, 0), "Rshoulder": (-10, 0, 0),
    "Lelbow": (0, 0, -10),
    "Waist": (0, 0, 5), "Lhip": (0, 0, -14), "Rhip": (-10, 25, 12), "Lknee": (-5, 0, 0), "Rknee": (25, 0, 0),
    "Neck": (0, 0, 0), "Relbow": (0, 0, -7.5), "Lpelvis": (0, 0, 0), "Rpelvis": (0, 0, 0),
}  # fmt: skip
STAND_NOISE = {  # rows with noise, at both ends of it
    "Neck": ((0, 15, 0), (0, -15, 0)), "Relbow": ((0, 0, -10), (0, 0, -5)),
    "Lpelvis": ((-2, 0, 2), (2, 0, -2)), "Rpelvis": ((-2, 0, -2), (2, 0, 2)),
}  # fmt: skip
TALK_COLONS = """
define ACTION Talk_Gesture1 { R_UP_ARM 25:55 0 -35:65 { N0 0 N0 }  R_LO_ARM 55:95 0 0 { N1 0 0 }
  R_HAND -40:25 75:-25 120 { N1 N2 0 } }
define ACTION Talk_Gesture2 { R_UP_ARM 10:47 0 -10:45 { N0 0 N0 }  R_LO_ARM 35:77 0 0 { N1 0 0 }
  R_HAND -53:55 -40:15 120 { N1 N2 0 } }
define ACTION Talk_Gesture3 { R_UP_ARM 45 20:15 0 { 0 N0 N0 }  R_LO_ARM 70:120 0 0 { N1 0 0 }
  R_HAND 40:15 0 120 { N2 0 0 } }
"""
TALK_PLAIN = """
define ACTION Talk_Gesture1 { R_UP_ARM 25 55 0 -35 65 {N0 0 N0}  R_LO_ARM 55 95 0 0 {N1 0 0}
  R_HAND -40 25 75 -25 120 {N1 N2 0} }
define ACTION Talk_Gesture2 { R_UP_ARM 10 47 0 -10 45 {N0 0 N0}  R_LO_ARM 35 77 0 0 {N1 0 0}
  R_HAND -53 55 -40 15 120 {N1 N2 0} }
define ACTION Talk_Gesture3 { R_UP_ARM 45 20 15 0 {0 N0 N0}  R_LO_ARM 70 120 0 0 {N1 0 0}
  R_HAND 40 15 0 120 {N2 0 0} }
"""
TALK = {  # pitch, roll, yaw of upper arm, lower arm, hand, all noise at its middle
    "Talk_Gesture1": ((40, 0, 15), (75, 0, 0), (-7.5, 25, 120)),
    "Talk_Gesture2": ((28.5, 0, 17.5), (56, 0, 0), (1, -12.5, 120)),
    "Talk_Gesture3": ((45, 17.5, 0), (95, 0, 0), (27.5, 0, 120)),
}
