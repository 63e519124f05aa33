"""What is kept for an age takes as much room after MANY records as after FEW: in the file and in memory.

    aging_test.py TQUEL FEW MANY

A record a millisecond through a pipe, by the clock of the records alone, with standing queries, PORTION records for each
process; all relations are kept for some seconds of it, or not at all. The greatest resident memory may differ by as much
as the noise of an allocator, the file by what one portion takes that is kept: on a busy machine what is old goes only at
the end of a process. The accounts must be exact: tuples that are there, and those that are gone, are all that came.
Prints TAP.
"""
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

from peak import greatest

ALLOWED_KIB = 8192
PORTION = 20000

SCRIPT = '''create event E (k = i8, v = i8, s = text)
range of e is E range of f is E
modify E to keep 2 seconds
retrieve into Window (e.k, m = avg(e.v by e.k for each 1 second)) at e
retrieve into Pairs (a = e.k, b = f.v) where e.k = f.k at f when e ; within 20 milliseconds f
retrieve into Most (m = max(e.v for each 10 milliseconds))
range of m is Most
retrieve into During (e.v) at e when e , m
modify Window to keep 3 seconds modify Pairs to keep nothing modify Most to keep nothing
modify During to keep 2 seconds
'''
FEED = 'set cache 0 copy E from "-" following'


def feed(tquel, database, first, last):
    """The greatest resident memory of the session, or None if it failed."""
    with subprocess.Popen([tquel, '-q', database, '-c', FEED], stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL, encoding='utf-8') as session:
        session.stdin.write('at,k,v,s\n')
        for i in range(first, last):
            session.stdin.write(f'{i * 1000000},{i % 7},{i % 100},"the string number {i}"\n')
        session.stdin.close()
        peak = greatest(session)
    return peak if session.returncode == 0 else None


def run(tquel, database, count, keeps=True):
    script = '\n'.join(re.sub(r'modify \w+ to keep (\d seconds|nothing)', '', line) for line in SCRIPT.split('\n'))
    subprocess.run([tquel, '-q', database, '-c', SCRIPT if keeps else script], check=True)
    peaks = [feed(tquel, database, first, min(count, first + PORTION))
             for first in range(0, count, PORTION)]
    connection = sqlite3.connect(database)
    account = {name: (connection.execute(f'select count(*) from "{name}"').fetchone()[0], removed)
               for name, removed in connection.execute('select relation, removed from tq_keep')}
    connection.close()
    return None if None in peaks else max(peaks), os.path.getsize(database), account


def main():
    tquel, counts = os.path.abspath(sys.argv[1]), (int(sys.argv[2]), int(sys.argv[3]))
    failed, number = False, 0

    def ok(good, name):
        nonlocal failed, number
        number += 1
        failed |= not good
        print(f'{"ok" if good else "not ok"} {number} - {name}', flush=True)

    with tempfile.TemporaryDirectory() as directory:
        _, portion, _ = run(tquel, os.path.join(directory, 'kept.db'), PORTION, keeps=False)
    results = []
    for count in counts:
        with tempfile.TemporaryDirectory() as directory:
            peak, size, account = run(tquel, os.path.join(directory, 'aging.db'), count)
        results.append((peak or 0, size or 0))
        for name, most in (('E', 2001), ('Window', 3001), ('During', 2001)):
            there, gone = account.get(name, (0, 0))
            missing = count - there - gone
            # what a clock of the checkpoint's has not reached is yet to come
            ok(there + gone > 0 and 0 <= missing <= 20 and 0 < there <= most,
               f'{count} records: {name} has {there}, and {gone} are gone')
        ok(account.get('Pairs', (1, 0))[0] <= 100 and account.get('Most', (1000, 0))[0] <= 100,
           f'{count} records: of Pairs and Most hardly any is left')
    (few_peak, few_size), (many_peak, many_size) = results
    ok(0 < many_size <= few_size + portion,
       f'the file: {few_size} bytes, then {many_size}; a portion that is kept takes {portion}')
    with open(tquel, 'rb') as program:
        if b'__asan_init' not in program.read():
            ok(many_peak <= few_peak + ALLOWED_KIB, f'memory: {few_peak} KiB, then {many_peak}')
    print(f'1..{number}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
