"""No speed is printed unless the tests of what is measured pass."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).parent.parent
MIXERS = ROOT / "bench" / "peer" / "mixers.py"


def require_tests(build, suites):
    """suites: pairs of a test program and a filter."""
    for program, tests in suites:
        run = subprocess.run([build / "tests" / program, f"--gtest_filter={tests}", "--gtest_brief=1"],
                             capture_output=True, text=True)
        if run.returncode != 0 or "PASSED  ] 0 tests" in run.stdout:
            sys.exit(f"script/bench: tests fail or do not exist ({program} {tests}), so no speed is printed\n{run.stdout}")


def require_same_function(mixers, form="careful"):
    """The plain PyTorch versions of these mixers reproduce their golden cases."""
    cases = {mixer: sorted((ROOT / "tests" / "golden").glob(f"{mixer}-*.safetensors")) for mixer in mixers}
    if unknown := [mixer for mixer, found in cases.items() if not found]:
        sys.exit(f"script/bench: --mixers: there is no golden case of {', '.join(unknown)}, expected names of `mneme list mixers`")
    files = [file for found in cases.values() for file in found]
    run = subprocess.run([sys.executable, MIXERS, "--verify", "--form", form, *files], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"script/bench: a plain version does not compute its mixer, so no speed is printed\n{run.stdout}{run.stderr}")
    proven = {line.split(":")[-2].split()[-1] for line in run.stdout.splitlines() if line.startswith("ok")}
    if missing := set(mixers) - proven:
        sys.exit(f"script/bench: no golden case proves the plain version of {', '.join(sorted(missing))}, so no speed is printed")
