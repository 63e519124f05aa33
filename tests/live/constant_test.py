"""A session that follows a feed for long holds no more than one that follows it for a while.

    constant_test.py TQUEL FEW MANY

Stored relations, standing queries of several kinds, a display, strings of which none comes twice, records that
come late and records that are wrong: FEW records and MANY through a database file, in processes whose greatest
resident memory may differ by as much as the noise of an allocator and no more. With `set cache 0`, as else
pages of the file are kept until there are 64 MiB of them, which takes more than a million records; with MANY of
at least three million, FEW of a million and MANY without it, too. In a database in memory the same session must
grow: there is no other place for what it stores. Groups are short (`set durable`), as else a group of FEW records is
smaller than one of MANY: what it holds is what comes in its time. Prints TAP.
"""
import os
import subprocess
import sys
import tempfile
import time

from peak import greatest

# What is read and stored between two commits differs by that much, as a disk keeps one waiting: a longer time has a longer
# wait. What stays of each record, if only 16 bytes, is more than that in the 3 million of the long test.
ALLOWED_KIB = 4096

SCRIPT = '''
set durable every 10 ms
create event E (k = i8, v = i8, s = text)
range of e is E
range of f is E
copy E from "-" following
retrieve into Ever (e.k, n = countc(e by e.k)) at e
retrieve into Window (m = avg(e.v for each 1 second))
retrieve into Pairs (a = e.k, b = f.v) where e.k = f.k at e when e ; within 20 milliseconds f
retrieve into Named (e.s) where e.v = 7
retrieve into Texts (n = countu(e.s for each 20 milliseconds))
display Ever
'''


def feed(pipe, count, halting=False):
    """A record a millisecond; of a thousand one comes late, and one is no record. HALTING: now and then few come for a
    while."""
    pipe.write('at,k,v,s\n')
    for i in range(count):
        at = i * 1000000
        if halting and i % 100000 < 1800 and i % 30 == 0:
            pipe.flush()
            time.sleep(0.004)
        if i % 1000 == 500:
            pipe.write(f'{at - 900000000},0,0,"late"\n')
        elif i % 1000 == 600:
            pipe.write(f'{at},0,much,"wrong"\n')
        else:
            pipe.write(f'{at},{i % 7},{i % 100},"the string number {i}"\n')


def peak_kib(tquel, arguments, script, count, halting=False):
    """The greatest resident memory of a session that follows COUNT records, or None if it failed."""
    with subprocess.Popen([tquel, '-q'] + arguments + ['-c', script], stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL, encoding='utf-8') as session:
        try:
            feed(session.stdin, count, halting)
            session.stdin.close()
        except BrokenPipeError:
            pass
        peak = greatest(session)
    return peak if session.returncode == 0 else None


def rows(tquel, database, name):
    out = subprocess.run([tquel, database, '--readonly', '--format', 'count', '-c', f'print {name}'],
                         capture_output=True, encoding='utf-8', check=False).stdout
    return int(out.strip() or 0)


class Tap:
    def __init__(self):
        self.count = 0
        self.failed = False

    def ok(self, good, name, *reasons):
        self.count += 1
        print(f'{"ok" if good else "not ok"} {self.count} - {name}', flush=True)
        if not good:
            self.failed = True
            for reason in reasons:
                print(f'#   {reason}')


def compare(tap, what, few, many, grows=False):
    known = few is not None and many is not None
    good = known and (many > few + ALLOWED_KIB if grows else many <= few + ALLOWED_KIB)
    tap.ok(good, f'{what}: {few} KiB, then {many} KiB')


def in_file(tap, tquel, what, script, few, many, halting=False):
    peaks = []
    for count in (few, many):
        with tempfile.TemporaryDirectory() as directory:
            database = os.path.join(directory, 'long.db')
            peaks.append(peak_kib(tquel, [database], script, count, halting))
            for name in ('Ever', 'Pairs', 'Named', 'Late', 'Rejected'):
                found = rows(tquel, database, name)
                tap.ok(found >= count // 1001, f'{what}, {count} records: {name} has {found} rows')
    compare(tap, what, *peaks)


def main():
    tquel, few, many = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    with open(tquel, 'rb') as program:
        if b'__asan_init' in program.read():
            print('1..0 # SKIP the address sanitizer keeps what was freed')
            return 0
    tap = Tap()
    in_file(tap, tquel, 'a file, set cache 0', 'set cache 0' + SCRIPT, few, many)
    in_file(tap, tquel, 'a halting feed', 'set cache 0' + SCRIPT, few, 300000, halting=True)
    if many >= 3000000:
        in_file(tap, tquel, 'a file', SCRIPT, 1000000, many)
    else:
        compare(tap, 'in memory', *(peak_kib(tquel, [], 'set cache 0' + SCRIPT, count)
                                    for count in (few, many)), grows=True)
    print(f'1..{tap.count}')
    return 1 if tap.failed else 0


if __name__ == '__main__':
    sys.exit(main())
