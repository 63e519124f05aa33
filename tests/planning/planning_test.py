#!/usr/bin/env python3
"""What statements cost before the first tuple flows (statements.py), in TAP.

Each runs in a process that may have 1 GB of addresses: it ends with its result or with the error of a limit, and is
never killed. The processor time that a process may have bounds what goes on for ever; nothing is measured.

    planning_test.py TQUEL
"""
import os
import resource
import subprocess
import sys
import tempfile

import statements

TQUEL = sys.argv[1]
ADDRESSES = 1 << 30
SECONDS = 60  # of the processor: what is exponential takes for ever

# Shape, size, what comes of it: None the result, else the error's number.
CASES = [
    ("variables", 100, None), ("variables", 500, "TQ-0419"), ("variables_equal", 60, None),
    ("variables_when", 30, None), ("variables_when", 110, "TQ-0421"), ("variables_pairs", 60, "TQ-0421"),
    ("variables_events", 40, None), ("standing_chain", 20, None), ("standing_star", 14, None), ("targets", 1000, None), ("targets", 4000, "TQ-0418"),
    ("targets_computed", 200, None), ("targets_computed", 950, "TQ-0421"), ("targets_same", 300, None),
    ("domains", 1000, None), ("domains", 2000, "TQ-0418"), ("domains_joined", 1000, None),
    ("domains_appended", 400, None), ("domains_derived", 1000, None), ("views", 60, None),
    ("views_two", 60, None), ("views_counted", 16, None), ("views_two_counted", 16, None),
    ("derived_two_counted", 30, None), ("parentheses", 1900, None), ("parentheses", 10000, "TQ-0204"),
    ("nots", 1900, None), ("sums", 1900, None), ("ands", 400, None), ("ands", 10000, "TQ-0204"), ("ors", 1900, None),
    ("and_ors", 400, None), ("when_ors", 200, None), ("when_bars", 10, "TQ-0320"), ("when_commas", 200, None),
    ("lengths", 600, None), ("truths", 600, None), ("aggregates", 100, None), ("aggregates", 1000, "TQ-0419"),
    ("aggregates_by", 100, None), ("script", 1000, None), ("constant", 1000000, None), ("pattern", 1000, None),
    ("concats", 600, None), ("standing", 20, None),
]
# On the real timeline the origin of an aggregate is looked for in all that it is computed from.
REAL = {"views_counted", "views_two_counted", "derived_two_counted"}


def bounded():
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(shape, size, error, directory):
    script, base = os.path.join(directory, "case.tq"), os.path.join(directory, "case.db")
    with open(script, "w") as out:
        out.write(statements.BASE + statements.SHAPES[shape](size))
    if os.path.exists(base):
        os.unlink(base)
    timeline = [] if shape in REAL else ["--timeline", "abstract"]
    done = subprocess.run([TQUEL, *timeline, base, "-f", script], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          preexec_fn=bounded)
    said = done.stderr.decode(errors="replace")
    if error is None:
        return (done.returncode == 0 and " error " not in said), said
    return (done.returncode == 2 and f"error {error}" in said), said


def main():
    failed = 0
    print(f"1..{len(CASES)}")
    with tempfile.TemporaryDirectory() as directory:
        for number, (shape, size, error) in enumerate(CASES, 1):
            well, said = run(shape, size, error, directory)
            failed += not well
            print(f"{'ok' if well else 'not ok'} {number} - {shape} {size}: {error or 'the result'}", flush=True)
            if not well:
                print("# " + said[:300].replace("\n", "\n# "))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
