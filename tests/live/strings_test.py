"""Strings that come and go: a feed of ever new ones gives what one copy of all gives.

    strings_test.py TQUEL

The table of strings is swept again and again while standing queries of every kind hold some of the
strings: open periods, records of traced relations, groups of aggregates, tuples that wait for a
partner or a decision. A node that forgets to mark what it holds would show another string, or none.
The records of two feeds are copied into a second database as a whole; both must print the same.
Prints TAP.
"""
import json
import os
import subprocess
import sys
import tempfile
import threading

COUNT = 12000
PAD = 'x' * 400

DEFINITIONS = '''
range of t is T range of t2 is T range of p is P range of e is E
retrieve into All (e.s)
retrieve into Traced (t.who, t.what)
retrieve into Least (n = count(t))
retrieve into Each (t.who, n = count(t by t.what))
retrieve into Ever (n = countc(e.s))
retrieve into Pairs (t.what, other = t2.what) where t.who = "w1" and t2.who = "w2"
retrieve into During (p.s, e.s2) where p.k = e.k when p , e
retrieve into Before (p.s, e.s2) where p.k = e.k and e.k < 1 when p.start ; e at e
retrieve into Long (p.s, d = span(p)) where p.k < 3
retrieve into Glued coalesced (p.k)
'''.replace('into Glued coalesced', 'coalesced into Glued')
DERIVED = 'All Traced Least Each Ever Pairs During Before Long Glued'.split()

CREATES = '''
create event E (s = text, s2 = text, k = i4)
create traced T (who = text, what = text) by who
create period P (s = text, k = i4)
'''


def name(kind, i):
    return f'{kind}{i * 7919 % COUNT:05d}{PAD}'


def records():
    """(relation, record) in the order of their times."""
    for i in range(COUNT):
        if i % 3 == 0:
            yield 'E', {'at': i, 's': name('e', i), 's2': name('f', i), 'k': i % 5}
        elif i % 3 == 1:
            yield 'T', {'at': i, 'who': f'w{i % 4}', 'what': name('t', i)}
        else:
            yield 'P', {'start': i, 'stop': i + 1 + i % 40, 's': name('p', i), 'k': i % 50}


def run(tquel, arguments, directory, **options):
    return subprocess.run([tquel] + arguments, cwd=directory, capture_output=True, timeout=300,
                          check=False, **options)


def write_records(directory):
    files = {}
    for relation, record in records():
        files.setdefault(relation, []).append(json.dumps(record))
    for relation, lines in files.items():
        with open(os.path.join(directory, f'{relation}.ndjson'), 'w', encoding='utf-8') as file:
            file.write('\n'.join(lines) + '\n')


def feed(directory):
    """Writes the records into the FIFOs of the feeds, in turn."""
    fifos = {relation: open(os.path.join(directory, f'{relation}.fifo'), 'w', encoding='utf-8')
             for relation in 'ETP'}
    for relation, record in records():
        fifos[relation].write(json.dumps(record) + '\n')
    for fifo in fifos.values():
        fifo.close()


def live(tquel, directory):
    script = CREATES + DEFINITIONS + ''.join(
        f'copy {relation} from "{relation}.fifo" following within 50\n' for relation in 'ETP')
    with open(os.path.join(directory, 'live.tq'), 'w', encoding='utf-8') as file:
        file.write('set unbounded allowed\n' + script)
    for relation in 'ETP':
        os.mkfifo(os.path.join(directory, f'{relation}.fifo'))
    writer = threading.Thread(target=feed, args=(directory,), daemon=True)
    writer.start()
    done = run(tquel, ['--timeline', 'abstract', 'live.db', '-f', 'live.tq'], directory)
    return done


def batch(tquel, directory):
    script = CREATES + ''.join(f'copy {relation} from "{relation}.ndjson"\n' for relation in 'ETP')
    return run(tquel, ['--timeline', 'abstract', 'batch.db', '-c', script + DEFINITIONS], directory)


def tuples(tquel, directory, database, relation):
    """What is printed of RELATION, without what only the end of the input decides: a feed's end leaves
    the last tuples open."""
    done = run(tquel, [database, '-c', f'print {relation}'], directory)
    rows = done.stdout.decode().splitlines()
    starts = [row for row in rows[1:] if not row.startswith('beginning')]
    return rows[:1] + sorted(row for row in starts if int(row.split(',')[0]) < COUNT - 500 and
                             'forever' not in row)


def main():
    tquel = os.path.realpath(sys.argv[1])
    failed = 0
    with tempfile.TemporaryDirectory(prefix='tquel-strings.') as directory:
        write_records(directory)
        for number, (what, done) in enumerate((('live', live(tquel, directory)),
                                               ('batch', batch(tquel, directory))), 1):
            ok = done.returncode == 0
            failed += not ok
            print(f"{'ok' if ok else 'not ok'} {number} - {what}")
            if done.stderr:
                print('# ' + done.stderr.decode().replace('\n', '\n# ')[:2000])
        for number, relation in enumerate(DERIVED, 3):
            a = tuples(tquel, directory, 'live.db', relation)
            b = tuples(tquel, directory, 'batch.db', relation)
            ok = a == b and (len(a) > 1 or relation in ('Least', 'Glued'))
            failed += not ok
            print(f"{'ok' if ok else 'not ok'} {number} - {relation}: {len(a) - 1} tuples")
            if not ok:
                only_live, only_batch = set(a) - set(b), set(b) - set(a)
                for mark, rows in (('live', only_live), ('batch', only_batch)):
                    for row in sorted(rows)[:3]:
                        print(f'# {mark} only ({len(rows)}): {row[:150]}')
    print(f'1..{2 + len(DERIVED)}')
    return 1 if failed else 0


sys.exit(main())
