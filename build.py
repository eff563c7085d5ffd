"""Everything one does with a checkout of Troupe, with nothing but Python 3.11 or 3.13 installed.

python build.py demo [NAME] [--all]     build, install in Blender, run the demos, write dist/demo.{blend,png,gif}
python build.py run JOB.toml [...]      run a job file in Blender with the built extension; see docs/batch.md
python build.py test [--blender X]      core tests, then the tests inside Blender (4.2, 4.5, 5.0, 5.2 or all)
python build.py check                   ruff and mypy
python build.py build [--platform X]    dist/troupe-VERSION-PLATFORM.zip, ready to install; default: every platform
python build.py docs                    docs/reference, from the parameters and operators of the built extension
python build.py bench                   speed, as ratios to peers
python build.py requirements            which requirements of docs/spec have a test
"""

import sys

if sys.version_info[:2] not in ((3, 11), (3, 13)):
    sys.exit("build.py: Troupe is built with Python 3.11 or 3.13; this is Python " + sys.version.split()[0] + ".")

import argparse
import errno
import os
import subprocess
from collections.abc import Callable

from tools import DIST, ROOT, Stop, clean_environ, envs, package, pythons, requirements, say, testing, wheels


def demo(arguments: argparse.Namespace) -> bool:
    environment = envs.newest_blender()
    archive = package.build_zip(environment)
    command = [str(environment.executable), "-m", "tools.demo", str(archive), str(DIST)]
    if arguments.name or arguments.all:
        command.append(arguments.name or "--all")
    command += [f"--{option}" for option in ("eyes", "sides", "rigify") if getattr(arguments, option)]
    return stream(command)


def run_job(arguments: argparse.Namespace) -> bool:
    """Run a job file in the user's own folder; the exit code is the job's."""
    environment = envs.newest_blender()
    archive = package.build_zip(environment)
    command = [str(environment.executable), "-m", "tools.run_job", str(archive), *arguments.job]
    with subprocess.Popen(command, env=clean_environ(PYTHONPATH=str(ROOT))) as child:
        try:
            code = child.wait()
        except KeyboardInterrupt:
            # The terminal has interrupted the child too; it cleans up and says so.
            code = child.wait()
    raise SystemExit(code)


def stream(command: list[str]) -> bool:
    """Run a child that prints Blender's chatter among its own lines; show only the latter unless it fails."""
    chatter: list[str] = []
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=clean_environ(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as child:
        for line in child.stdout or ():
            if line.startswith("demo: "):
                say(line.rstrip().removeprefix("demo: "))
            else:
                chatter.append(line)
    # 2 is a failure that the child has put into a sentence itself.
    if child.returncode not in (0, 2):
        say("".join(chatter[-40:]).rstrip())
    return child.returncode == 0


def test(arguments: argparse.Namespace) -> bool:
    if arguments.blender == "all":
        for version in envs.CORES:
            pythons.find_python(version)
        environments = [*envs.CORES.values(), *envs.BLENDERS.values()]
    elif arguments.blender:
        environments = [envs.core(), envs.BLENDERS[arguments.blender]]
    else:
        environments = [envs.core(), envs.newest_blender()]
    suites = [suite for environment in environments for suite in suites_of(environment, arguments.pytest)]
    options = [argument for argument in arguments.pytest if not is_test_path(argument)]
    # suites run side by side: threads of linear algebra would wait for each other
    environ = {"OPENBLAS_NUM_THREADS": "1"} | ({"TROUPE_REQUIRE_DATA": "1"} if arguments.require_data else {})
    blenders = [suite.environment for suite in suites if suite.environment.has_blender]
    if blenders:
        environ["TROUPE_ZIP"] = str(package.build_zip(blenders[0]))
    results = testing.run_all(suites, options, environ)
    say(testing.summary(results))
    return testing.succeeded(results)


def is_test_path(argument: str) -> bool:
    return argument.startswith("tests/") and (ROOT / argument.partition("::")[0]).exists()


def suites_of(environment: envs.Environment, arguments: list[str]) -> list[testing.Suite]:
    """Return what to run in ``environment``: everything, or what the user's pytest arguments name of it."""
    named = [argument for argument in arguments if is_test_path(argument)]
    inside = tuple(path for path in named if path.startswith("tests/blender") == environment.has_blender)
    if named:
        return [testing.Suite(environment, inside)] if inside else []
    outside = ("tests/core", "tests/test_build.py", "tests/test_package.py")
    return [testing.Suite(environment, ("tests/blender",) if environment.has_blender else outside)]


def check(arguments: argparse.Namespace) -> bool:
    environment = envs.check()
    python = envs.ensure(environment)
    package_parent = envs.package_parent().relative_to(ROOT)
    passed = True
    for command in ("ruff check .", "mypy -p troupe.core -p troupe.addon -p tools -m build"):
        say(f"{environment.name}: {command}")
        words = [str(python), "-m", *command.split()]
        done = subprocess.run(words, cwd=ROOT, env=clean_environ(), stdout=subprocess.PIPE, text=True)
        say(done.stdout.replace(f"{package_parent / 'troupe'}{os.sep}", "").rstrip())
        passed &= done.returncode == 0
    return passed


def build(arguments: argparse.Namespace) -> bool:
    platforms = [arguments.platform] if arguments.platform else wheels.PLATFORMS
    archives = [package.build_zip(envs.newest_blender(), platform) for platform in platforms]
    if not arguments.platform:
        package.check_grid(archives)
        say(f"SciPy {wheels.SCIPY} for Python {' and '.join(wheels.PYTHONS)} on every platform")
    return True


def docs(arguments: argparse.Namespace) -> bool:
    environment = envs.newest_blender()
    archive = package.build_zip(environment)
    return stream([str(environment.executable), "-m", "tools.docs", str(archive), str(ROOT / "docs" / "reference")])


def bench(arguments: argparse.Namespace) -> bool:
    suites = [testing.Suite(environment, ("tests/bench",)) for environment in (envs.bench(), envs.newest_blender())]
    # one thread of linear algebra, ours and the peers': several wait for each other on a busy machine
    environ = {"TROUPE_ZIP": str(package.build_zip(suites[-1].environment)), "OPENBLAS_NUM_THREADS": "1"}
    results = [result for suite in suites for result in testing.run_all([suite], ["-s"], environ)]
    say(testing.summary(results))
    return testing.succeeded(results)


def show_requirements(arguments: argparse.Namespace) -> bool:
    say(requirements.report(ROOT / "docs" / "spec", ROOT / "tests"))
    return True


def parse(arguments: list[str]) -> argparse.Namespace:
    raw = argparse.RawTextHelpFormatter
    parser = argparse.ArgumentParser("build.py", "build.py COMMAND ...", __doc__, formatter_class=raw)
    commands = parser.add_subparsers(prog="build.py", required=True, metavar="COMMAND")

    def add(name: str, run: Callable[[argparse.Namespace], bool]) -> argparse.ArgumentParser:
        command = commands.add_parser(name)
        command.set_defaults(run=run)
        return command

    demo_command = add("demo", demo)
    demo_command.add_argument("name", nargs="?", metavar="NAME", help="one demo; default: a tour")
    demo_command.add_argument("--all", action="store_true", help="every demo")
    demo_command.add_argument("--eyes", action="store_true", help="as an actor of the scene sees it")
    demo_command.add_argument("--sides", action="store_true", help="from the front and the left, close to the figures")
    demo_command.add_argument("--rigify", action="store_true", help="with generated Rigify humans for mannequins")
    add("run", run_job).add_argument("job", nargs=argparse.REMAINDER, metavar="JOB.toml [OPTIONS]")
    test_command = add("test", test)
    test_command.add_argument("--blender", choices=[*envs.BLENDERS, "all"], help="default: the newest for this Python")
    test_command.add_argument("--require-data", action="store_true", help="fail tests that find no test data")
    test_command.add_argument("pytest", nargs="*", metavar="-- PYTEST ARGUMENTS", help="such as: -- -k walk")
    add("check", check)
    build_command = add("build", build)
    build_command.add_argument("--platform", choices=wheels.PLATFORMS, help="default: all")
    add("docs", docs)
    add("bench", bench)
    add("requirements", show_requirements)
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    parsed = parse(arguments)
    try:
        return 0 if parsed.run(parsed) else 1
    except Stop as stop:
        print(f"build.py: {stop}", file=sys.stderr)
    except KeyboardInterrupt:
        print("build.py: interrupted", file=sys.stderr)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        print("build.py: The disk is full.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
