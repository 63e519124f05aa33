#!/usr/bin/env python3
"""What is kept for an age is enough: derived relations are those of a database that kept everything.

The same records of three relations, one traced, one of events, one of periods, come by files that grow, to a process
that follows them and is killed at a random moment or ended, again and again; once with everything kept, and once with
`modify ... to keep` of ages down to nothing. Every derived relation must have the same rows at the end, and each of the
relations that are kept must have lost some. With everything kept they are what their definitions compute from all that is
stored (`tquel check-database`), though no restart has read all of it.

The times are large: what is shorter than 10000 chronons is kept so much longer (storage/keep.c). Prints TAP.

    keep_test.py TQUEL [FIRST-SEED [COUNT]]
"""
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

CREATE = '''create traced R (p = c5, n = i4) by p
create event E (k = i4, v = i4)
create period P (k = i4, s = text)
'''
RANGES = 'range of r is R range of e is E range of e2 is E range of p is P range of p2 is P '
DEFINE = [
    'retrieve {} (r.p, r.n, p.s) where r.n = p.k',
    'retrieve {} (c = count(r), d = count(r by r.p), pp = r.p)',
    'retrieve {} (e.k, r.n) where e.k = r.n',
    'retrieve {} (e.v, p.k) when e , p at e',
    'retrieve {} (a = e.v, b = e2.v) where e.k = e2.k at e2 when e ; within {span} e2',
    'retrieve {} (a = e.v, p.s) at p.start when e ; within {span} p.start',
    'retrieve {} (a = e.v, p.s) at p.stop when e ; within {span} p.start',
    'retrieve {} (n = count(e by e.k for each {span}), e.k) at e',
    'retrieve {} (m = max(e.v for each {span}), q = count(p))',
    'retrieve coalesced {} (p.k)',
    'retrieve coalesced {} (r.n)',
    'retrieve {} (p.k, x = e.v) start e stop p.stop when e , p',
    'retrieve {} (a = p.s, b = p2.s) where p.k = p2.k when p , p2 and p.start ; within {span} p2.start',
    'retrieve {} (p.s) where p.k = 2 at p.start + {span}',
    'retrieve {} (dd = duration(r), r.p)',
    'retrieve {} (n = any(p.k by p.k), p.k, w = sum(e.v for each {span}))',
    'retrieve {} (e.v) where count(p) > 1 when e , p at e',
    'retrieve {} (a = e.v, b = p.k) when (e ; within {span} p.start) or (p.start ; within {span} e) at e',
    'retrieve {} (f = first(p.s), l = last(e.v for each {span}))',
    'retrieve unique {} (p.k) when e , p',
    'retrieve {} (p.k, c = count(p by p.k))',
    'retrieve {} (r.p, r.n) unless p where p.k = r.n',
    'retrieve {} (e.v) at e + {span} unless e2 where e2.k = e.k when e ; within {span} e2',
    'retrieve {} (p.s) unless e where e.k = p.k',
    'retrieve {} (p.k) unless r where r.n = p.k when p , r',
    'retrieve {} (e.k) unless p where p.k = e.k',
]
OVER = [
    'range of d is {0} retrieve {1} (x = any(d for each {span}))',
    'range of d is {0} retrieve {1} (x = count(d for each {span}))',
    'range of d is {0} retrieve {1} (e.v) when e , d at e',
    'range of d is {0} range of g is {2} retrieve {1} (e.k) when e , d and e , g at e',
]
UNIT = 4000


class Scenario:
    def __init__(self, tquel, seed, directory):
        self.tquel, self.random, self.directory = tquel, random.Random(seed), directory
        self.problems = []
        self.lines = self.make_lines(self.random.choice([60, 150]))
        self.queries = self.make_queries()
        # What a replay reads in one piece opens nothing that it closes.
        self.batches = ['--batch-rows', self.random.choice(['1', '2', '5', '1024'])]
        self.ages = {name: self.random.choice(['nothing', str(10 * UNIT), str(40 * UNIT)])
                     for name in 'REP' if self.random.randrange(5)} or {'E': 'nothing'}

    def make_lines(self, count):
        choose, at, lines, still = self.random, 100 * UNIT, [], {}
        for i in range(count):
            at += choose.choice([0, 1, 1, 2, 5, 12]) * UNIT
            for k in [k for k, stop in still.items() if stop <= at]:
                lines.append(('P', {'end': still.pop(k), 'k': k}))
            kind = choose.choice('REEP')
            if kind == 'R' and choose.randrange(4) == 0:
                lines.append((kind, {'end': at, 'p': choose.choice('abc')}))
            elif kind == 'R':
                lines.append((kind, {'at': at, 'p': choose.choice('abc'), 'n': choose.randrange(4)}))
            elif kind == 'E':
                lines.append((kind, {'at': at, 'k': choose.randrange(4), 'v': choose.randrange(5)}))
            else:
                stop = at + choose.choice([1, 2, 7, 30]) * UNIT
                record = {'start': at, 'k': choose.randrange(4), 's': choose.choice('xy') + str(i)}
                if choose.randrange(3):
                    record['stop'] = stop
                elif record['k'] not in still and stop < at + 20 * UNIT:
                    record['k'] += 10 * (i + 1)
                    still[record['k']] = stop
                else:
                    record['stop'] = stop
                lines.append((kind, record))
        for name in 'REP':
            lines.append((name, {'checkpoint': at + choose.randrange(10) * UNIT}))
        lines.sort(key=lambda line: next(line[1][key] for key in ('at', 'start', 'end', 'checkpoint')
                                         if key in line[1]))
        return lines

    def make_queries(self):
        names, text = [], []
        for number, query in enumerate(self.random.sample(DEFINE, 6)):
            names.append('D%d' % number)
            span = self.random.choice([2, 8, 20]) * UNIT
            text.append(query.format(names[-1], span=span))
        for number, query in enumerate(self.random.sample(OVER, 2)):
            below, other = self.random.choice(names), self.random.choice(names)
            names.append('O%d' % number)
            text.append(query.format(below, names[-1], other, span=self.random.choice([2, 8]) * UNIT))
        self.names = names
        return text

    def portions(self):
        """The same for each way: so many lines each time, how the process ends, and when."""
        left, parts = len(self.lines), []
        while left > 0:
            count = min(left, self.random.choice([3, 10, 25]))
            left -= count
            parts.append((count, self.random.choice(['kill', 'end', 'end']),
                          self.random.choice([0.005, 0.03, 0.1])))
        return parts

    def run(self, *arguments, quiet=('-q',)):
        done = subprocess.run([self.tquel, *quiet, *arguments], capture_output=True, text=True,
                              timeout=300, check=False)
        if done.returncode:
            self.problems.append('exit %d: %s' % (done.returncode, done.stderr.strip()[:400]))

    def follow(self, way, database, how, after):
        files = ' '.join(f'copy {name} from "{self.file(way, name)}" following' for name in 'REP')
        with subprocess.Popen([self.tquel, '-q', *self.batches, database, '-c', 'set durable every 1 ms ' + files],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True) as process:
            if how == 'kill':
                time.sleep(after)
                process.kill()
            else:
                self.wait(way, database, process)
                process.send_signal(signal.SIGINT)
            said = process.stderr.read()
        if how != 'kill' and process.returncode not in (0, -signal.SIGINT):
            self.problems.append('%s: exit %d: %s' % (way, process.returncode, said[:400]))

    def file(self, way, name):
        return os.path.join(self.directory, f'{way}-{name}.ndjson')

    def wait(self, way, database, process):
        """Until all that is in the files is durable."""
        sizes = {name: os.path.getsize(self.file(way, name)) for name in 'REP'}
        until = time.monotonic() + 300
        while process.poll() is None and time.monotonic() < until:
            with sqlite3.connect(f'file:{database}?mode=ro', uri=True, timeout=30) as connection:
                seen = dict(connection.execute('select relation, position from tq_feed').fetchall())
            connection.close()
            if all(seen.get(name, 0) >= size for name, size in sizes.items()):
                return
            time.sleep(0.005)
        self.problems.append('%s: not all was read' % way)

    def make(self, way, parts):
        database = os.path.join(self.directory, way + '.db')
        script = CREATE + RANGES + '\n'.join(self.queries)
        keeps = [f'modify {name} to keep {age}' for name, age in self.ages.items()]
        if way != 'all':
            keeps.append('modify %s to keep %d' % (self.names[-1], 1000 * UNIT))
            script = CREATE + RANGES + '\n'.join(keeps[:1] + self.queries + keeps[1:])
        self.run('--timeline', 'abstract', database, '-c', script)
        for name in 'REP':
            open(self.file(way, name), 'w', encoding='utf-8').close()
        lines = iter(self.lines)
        for count, how, after in parts:
            for _ in range(count):
                name, record = next(lines)
                with open(self.file(way, name), 'a', encoding='utf-8') as file:
                    file.write(json.dumps(record) + '\n')
            self.follow(way, database, how, after)
        self.follow(way, database, 'end', 0)
        return database

    def rows(self, database, name):
        connection = sqlite3.connect(database)
        rows = sorted(connection.execute(f'select * from "{name}"').fetchall(), key=repr)
        connection.close()
        return rows

    def check(self):
        parts = self.portions()
        everything, some = self.make('all', parts), self.make('some', parts)
        if self.problems:
            return self.problems, 0
        self.run('check-database', everything, quiet=())
        for name in self.names:
            expected, found = self.rows(everything, name), self.rows(some, name)
            if expected == found:
                continue
            query = next(text for text in self.queries if f' {name} (' in text)
            missing = [row for row in expected if row not in found]
            added = [row for row in found if row not in expected]
            self.problems.append('%s\n  keeps %s\n  missing %s\n  added %s' %
                                 (query, self.ages, missing[:3], added[:3]))
        connection = sqlite3.connect(some)
        gone = sum(removed for removed, in connection.execute('select removed from tq_keep'))
        connection.close()
        if self.names and os.environ.get('KEEP_TEST_VERBOSE'):
            print('# gone %d of %d' % (gone, len(self.lines)))
        return self.problems, gone


def main():
    # Who was started with SIGINT ignored (in the background, by a shell) would start all others so, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    tquel = os.path.abspath(sys.argv[1])
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 101
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    failed, all_gone = False, 0
    print(f'1..{count + 1}')
    for number in range(count):
        with tempfile.TemporaryDirectory() as directory:
            problems, gone = Scenario(tquel, first + number, directory).check()
        all_gone += gone
        failed |= bool(problems)
        print('%sok %d - seed %d' % ('not ' if problems else '', number + 1, first + number), flush=True)
        for problem in problems[:4]:
            print('# ' + problem.replace('\n', '\n# '))
    print('%sok %d - %d tuples are gone' % ('' if all_gone > count else 'not ', count + 1, all_gone))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
