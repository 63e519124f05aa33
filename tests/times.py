#!/usr/bin/env python3
"""What each test takes when it runs alone: seconds by the clock, and of CPU with all that it starts.

    times.py BUILD-DIRECTORY [--suite SUITE]... [NAME]...      as `./dev test --times`; without, those of no suite
"""
import json
import os
import resource
import signal
import subprocess
import sys
import time


def used():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main():
    # Who was started with SIGINT ignored (in the background, by a shell) would start all tests so, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    directory, names = os.path.abspath(sys.argv[1]), sys.argv[2:]
    chosen = set()
    while names[:1] == ['--suite']:
        chosen.add(names[1])
        names = names[2:]
    tests = json.loads(subprocess.check_output(['meson', 'introspect', '--tests', directory]))
    rows = []
    for test in tests:
        if names and test['name'] not in names:
            continue
        suites = {suite.split(':')[-1] for suite in test['suite'] if ':' in suite}
        if not names and not (suites & chosen if chosen else not suites):
            continue
        cpu, begin = used(), time.monotonic()
        done = subprocess.run(test['cmd'], env=dict(os.environ, **test['env']), cwd=test['workdir'] or directory,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        rows.append((used() - cpu, time.monotonic() - begin, test['name'], done.returncode))
        print(f"{rows[-1][1]:8.2f} s  {rows[-1][0]:8.2f} s CPU  {test['name']}"
              + (f' ended with {done.returncode}' if done.returncode else ''), flush=True)
    print(f'{sum(row[1] for row in rows):8.2f} s  {sum(row[0] for row in rows):8.2f} s CPU  in all; most CPU:')
    for cpu, wall, name, _ in sorted(rows, reverse=True)[:30]:
        print(f'{wall:8.2f} s  {cpu:8.2f} s CPU  {name}')


if __name__ == '__main__':
    main()
