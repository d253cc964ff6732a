"""No speed is printed unless the tests of what is measured pass."""
import subprocess
import sys


def require_tests(build, suites):
    """suites: pairs of a test program and a filter."""
    for program, tests in suites:
        run = subprocess.run([build / "tests" / program, f"--gtest_filter={tests}", "--gtest_brief=1"],
                             capture_output=True, text=True)
        if run.returncode != 0 or "PASSED  ] 0 tests" in run.stdout:
            sys.exit(f"script/bench: tests fail or do not exist ({program} {tests}), so no speed is printed\n{run.stdout}")
