#!/usr/bin/env python3
"""What each test takes when it runs alone: seconds by the clock, and of CPU, of it the kernel's, with all that it starts,
also what is nobody's child (prctl(2), PR_SET_CHILD_SUBREAPER).

    times.py BUILD-DIRECTORY [--suite SUITE]... [NAME]...      as `./dev test --times`; without, those of no suite
"""
import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import time


PR_SET_CHILD_SUBREAPER = 36
LINGER_S = 20  # for what a test leaves behind to end


def used():
    """Seconds of CPU of all children that have ended, and of these the kernel's."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime, usage.ru_stime


def reap():
    """Waits for what was left to us."""
    end = time.monotonic() + LINGER_S
    while time.monotonic() < end:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.01)
        except ChildProcessError:
            return


def main():
    # Who was started with SIGINT ignored (in the background, by a shell) would start all tests so, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
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
        (cpu, kernel), begin = used(), time.monotonic()
        done = subprocess.run(test['cmd'], env=dict(os.environ, **test['env']), cwd=test['workdir'] or directory,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        wall = time.monotonic() - begin
        reap()
        cpu_after, kernel_after = used()
        rows.append((cpu_after - cpu, kernel_after - kernel, wall, test['name']))
        print(line(*rows[-1]) + (f' ended with {done.returncode}' if done.returncode else ''), flush=True)
    if not rows:
        sys.exit('times.py: there is no such test')
    print(line(*(sum(column) for column in list(zip(*rows))[:3]), 'in all; most CPU:'))
    for row in sorted(rows, reverse=True)[:30]:
        print(line(*row))


def line(cpu, kernel, wall, name):
    return f'{wall:8.2f} s  {cpu:8.2f} s CPU  {kernel:8.2f} s kernel  {name}'


if __name__ == '__main__':
    main()
