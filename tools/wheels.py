"""The wheels inside the zips: SciPy for the Pythons of the official Blenders, and a stand-in for all other Pythons."""

import base64
import hashlib
import os
import subprocess
import tempfile
import zipfile
from pathlib import Path

from . import Stop, clean_environ, envs, say

# The newest SciPy that can be imported with the NumPy 1.24 of Blender 4.2; it also runs with NumPy 2.
SCIPY = "1.15.3"

PYTHONS = ("3.11", "3.13")
"""Of the official Blenders: 4.2 to 5.0, and 5.1 or later."""

OTHER_PYTHONS = ("3.12", "3.14", "3.15", "3.16", "3.17")
"""Of Blenders that distributions build against their own Python, which have a SciPy of their own."""

PLATFORMS = {
    "linux-x64": "manylinux_2_17_x86_64.manylinux2014_x86_64",
    "windows-x64": "win_amd64",
    "macos-arm64": "macosx_12_0_arm64",
    "macos-x64": "macosx_10_13_x86_64",
}
"""Blender's name of a platform, and the platform tag of the SciPy wheel that runs on its oldest system."""

_SHA256 = {
    ("linux-x64", "3.11"): "39cb9c62e471b1bb3750066ecc3a3f3052b37751c7c3dfd0fd7e48900ed52982",
    ("linux-x64", "3.13"): "c9deabd6d547aee2c9a81dee6cc96c6d7e9a9b1953f74850c179f91fdc729cb7",
    ("windows-x64", "3.11"): "ae48a786a28412d744c62fd7816a4118ef97e5be0bee968ce8f0a2fba7acf3bb",
    ("windows-x64", "3.13"): "b90ab29d0c37ec9bf55424c064312930ca5f4bde15ee8619ee44e69319aab163",
    ("macos-arm64", "3.11"): "34716e281f181a02341ddeaad584205bd2fd3c242063bd3423d61ac259ca7eba",
    ("macos-arm64", "3.13"): "7e11270a000969409d37ed399585ee530b9ef6aa99d50c019de4cb01e8e54e62",
    ("macos-x64", "3.11"): "993439ce220d25e3696d1b23b233dd010169b62f6456488567e830654ee37a6b",
    ("macos-x64", "3.13"): "2c620736bcc334782e24d173c0fdbb7590a0a436d2fdf39310a8902505008759",
}


def collect(platform: str, python: Path) -> list[Path]:
    """Return the wheels of a platform's zip, downloading what the cache lacks with the pip of ``python``.

    Raises:
        Stop: A wheel can not be had, or is not the one that is pinned.
    """
    folder = envs.VENVS / "wheels"
    folder.mkdir(parents=True, exist_ok=True)
    return [*(_scipy(platform, version, folder, python) for version in PYTHONS), stand_in(folder)]


def scipy_name(platform: str, version: str) -> str:
    tag = _tag(version)
    return f"scipy-{SCIPY}-{tag}-{tag}-{PLATFORMS[platform]}.whl"


def _scipy(platform: str, version: str, folder: Path, python: Path) -> Path:
    wheel = folder / scipy_name(platform, version)
    pinned = _SHA256[platform, version]
    if wheel.is_file() and _sha256(wheel) == pinned:
        return wheel
    say(f"downloading {wheel.name}")
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        target = ["--python-version", version, "--implementation", "cp", "--abi", _tag(version)]
        target += ["--platform", PLATFORMS[platform].partition(".")[0], "--only-binary", ":all:"]
        options = ["--no-deps", "--no-input", "--disable-pip-version-check", "--retries", "2", "--dest", scratch]
        command = [str(python), "-m", "pip", "download", *target, *options, f"scipy=={SCIPY}"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=clean_environ())
        found = Path(scratch) / wheel.name
        if done.returncode != 0 or not found.is_file():
            raise Stop(explain(wheel.name, done.stdout))
        if _sha256(found) != pinned:
            raise Stop(f"{wheel.name} as downloaded is not the pinned file; the package index serves something else.")
        # Moved when it is whole, so that an interrupted download or a second build at the same time does no harm.
        os.replace(found, wheel)
    return wheel


def explain(name: str, output: str) -> str:
    """Turn the output of a failed download into one sentence; unknown troubles keep pip's last lines."""
    if envs.NO_DISK.search(output):
        return f"The disk is full: {name} could not be kept in {envs.VENVS}."
    if envs.NO_NETWORK.search(output):
        return f"No network: {name}, which goes into the zip, could not be downloaded; connect and run this again."
    if "No matching distribution" in output:
        return f"The package index has no {name}, which goes into the zip."
    tail = "\n".join(output.strip().splitlines()[-12:])
    return f"{name} could not be downloaded; pip's last lines were:\n{tail}"


def stand_in(folder: Path) -> Path:
    """Write a wheel with nothing in it for every other Python, byte for byte the same each time, and return its path.

    Blender refuses to enable an extension whose wheels name other Pythons than its own; this one names them.
    """
    tags = [_tag(version) for version in OTHER_PYTHONS]
    wheel = folder / f"troupe_other_pythons-1.0-{'.'.join(tags)}-none-any.whl"
    info = "troupe_other_pythons-1.0.dist-info"
    summary = "Summary: Nothing; lets Troupe be enabled in a Blender whose Python it brings no SciPy for"
    lines = {
        f"{info}/METADATA": ["Metadata-Version: 2.1", "Name: troupe-other-pythons", "Version: 1.0", summary],
        f"{info}/WHEEL": [
            "Wheel-Version: 1.0",
            "Generator: troupe",
            "Root-Is-Purelib: true",
            *(f"Tag: {tag}-none-any" for tag in tags),
        ],
    }
    files = {name: "".join(f"{line}\n" for line in text).encode() for name, text in lines.items()}
    record = [f"{name},sha256={_urlsafe(data)},{len(data)}\n" for name, data in files.items()]
    files[f"{info}/RECORD"] = "".join([*record, f"{info}/RECORD,,\n"]).encode()
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        made = Path(scratch) / wheel.name
        with zipfile.ZipFile(made, "w") as archive:
            for name, data in files.items():
                archive.writestr(entry(name), data)
        os.replace(made, wheel)
    return wheel


def entry(name: str, compress: int = zipfile.ZIP_STORED) -> zipfile.ZipInfo:
    """Return a zip entry without anything of this machine or moment in it."""
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    info.compress_type = compress
    info.create_system = 3  # Unix, also when built on Windows
    info.external_attr = 0o100644 << 16
    return info


def _tag(version: str) -> str:
    return "cp" + version.replace(".", "")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _urlsafe(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
