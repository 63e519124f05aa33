#!/usr/bin/env python3
"""Incremental = batch, through files, with a restart after every portion.

The same records of three relations, one traced (in every second run several of its entities are alike but for
their key), one of events, one of periods, come to a set of standing queries in different ways, and every relation
must have the same rows at the end:

  after     all at once, before the queries are defined
  before    all at once, after they are defined
  portions  in random portions, each brought by a process of its own, now as a feed, now by statements
            under `set checkpoint manual`, a little out of order; the relations' checkpoints differ in
            between
  appends   one statement after the other, in any order, the relations closed after each; compared with
            plain copies of the files

Prints TAP.   restart_test.py TQUEL [FIRST-SEED [COUNT]]
"""
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile

# R by p and q; or by k, several of which have one p and q, so that tuples of what leaves k out are equal, and open together.
TRACED = ('create traced R (p = c5, q = i4, n = i4) by p, q\n', 'create traced R (p = c5, q = i4, k = c5, n = i4) by k\n')
CREATE = '''create event E (k = i4, v = i4)
create period P (k = i4, s = text)
'''
DEFINE = '''set unbounded allowed range of r is R range of e is E range of p is P range of r2 is R
retrieve D1 (r.p, r.q, r.n, p.s) where r.n = p.k
retrieve D2 (c = count(r), d = count(r by r.p), pp = r.p)
retrieve D3 (e.k, r.n) where e.k = r.n
range of d is D1
retrieve D4 (x = count(d), a = avgc(d) * 100)
retrieve D5 (e.v, p.k) when e , p at e
retrieve D6 (a = r.p, b = r2.p) where r.n = r2.n and r.p != r2.p
retrieve D7 (a = r.p) where r.n = 3 when r.start ; p start r.start stop p.stop
retrieve D8 (y = any(p), q = count(e.k where e.v > 2))
retrieve D9 (r.p, r.n, e.v) when r ; e at e
retrieve D10 (z = count(e by e.k), k = e.k)
retrieve D11 (dd = duration(r), r.p, r.q)
retrieve D12 (x = countc(d), y = sumc(d.n by d.p), p = d.p)
range of e2 is E
retrieve D13 (r.p, r.n) unless p where p.k = r.n
retrieve D14 (e.k, e.v) at e + 3 unless e2 where e2.k = e.k when e ; within 3 e2
retrieve D15 (p.s, d = duration(p)) unless r where r.n = p.k unless e where e.k = p.k
retrieve D16 (r.p) where r.n > 0 unless p where p.k = r.n when p , r.start
retrieve D17 (e.v) unless r where r.n = e.k
'''
NAMES = ['R', 'E', 'P'] + ['D%d' % i for i in range(1, 18)]


class Scenario:
    def __init__(self, tquel, seed):
        self.tquel, self.random = tquel, random.Random(seed)
        self.by_k = seed % 2 == 0
        self.create = TRACED[self.by_k] + CREATE
        self.records = self.make_records(60)
        self.end = self.records[-1][1] + 1
        self.problems = []

    def make_records(self, count):
        choose, time, records = self.random, 0, []
        for _ in range(count):
            time += choose.choice([0, 1, 1, 2, 5])
            kind = choose.choice('REP')
            if kind == 'R':
                record = {'at': time, 'p': choose.choice('abc'), 'q': choose.randrange(2), 'n': choose.randrange(4)}
                if self.by_k:
                    record.update(k=record['p'] + str(choose.randrange(3)), n=choose.randrange(2))
            elif kind == 'E':
                record = {'at': time, 'k': choose.randrange(4), 'v': choose.randrange(5)}
            else:
                record = {'start': time, 'stop': time + choose.randrange(1, 12),
                          'k': choose.randrange(4), 's': choose.choice('xy')}
            records.append((kind, time, record))
        return records

    def run(self, *arguments, feed=None):
        done = subprocess.run([self.tquel, *arguments], input=feed, capture_output=True, text=True,
                              timeout=600)
        if done.returncode:
            self.problems.append('exit %d: %s' % (done.returncode, done.stderr.strip()[:300]))

    def of(self, kind):
        return [record for k, _, record in self.records if k == kind]

    @staticmethod
    def append(kind, record):
        values = ', '.join('%s = %s' % (name, json.dumps(value)) for name, value in record.items()
                           if name not in ('at', 'start', 'stop'))
        times = ('at %d' % record['at'] if 'at' in record
                 else 'start %d stop %d' % (record['start'], record['stop']))
        return 'append to %s (%s) %s' % (kind, values, times)

    def checkpoints(self):
        return ' '.join('checkpoint %d for %s' % (self.end, kind) for kind in 'REP')

    def copies(self):
        return ' '.join('copy %s from "%s.ndjson"' % (kind, kind) for kind in 'REP')

    def at_once(self, database, define_first):
        load = 'set checkpoint manual %s %s' % (self.copies(), self.checkpoints())
        steps = [self.create + DEFINE, load] if define_first else [self.create + load, DEFINE]
        self.run('--timeline', 'abstract', database, '-c', steps[0], '-c', steps[1])

    def in_portions(self, database):
        choose, start = self.random, 0
        self.run('--timeline', 'abstract', database, '-c', self.create + DEFINE)
        while start < len(self.records):
            stop = min(len(self.records), start + choose.randrange(1, 25))
            while stop < len(self.records) and self.records[stop][1] == self.records[stop - 1][1]:
                stop += 1
            portion = self.records[start:stop]
            for kind in choose.sample('REP', 3):
                self.bring(database, kind, portion)
            start = stop
        self.run(database, '-c', 'set checkpoint manual ' + self.checkpoints())

    def bring(self, database, kind, portion):
        records, last = [r for k, _, r in portion if k == kind], portion[-1][1]
        if kind != 'R':
            records.sort(key=lambda r: r.get('at', r.get('start')) + self.random.randrange(0, 4))
        if self.random.random() < 0.5:
            lines = [json.dumps(record) for record in records + [{'checkpoint': last + 1}]]
            self.run(database, '-c', 'copy %s from "-" following within 4' % kind,
                     feed='\n'.join(lines) + '\n')
        else:
            self.run(database, '-c', '\n'.join(
                ['set checkpoint manual'] + [self.append(kind, record) for record in records] +
                ['checkpoint %d for %s' % (last + 1, kind)]))

    def by_appends(self, database):
        shuffled = self.records[:]
        self.random.shuffle(shuffled)
        # Records of one entity at one time count in their sequence: R keeps its own.
        traced = iter([record for record in self.records if record[0] == 'R'])
        shuffled = [next(traced) if record[0] == 'R' else record for record in shuffled]
        self.run('--timeline', 'abstract', database, '-c', self.create + DEFINE, '-c',
                 '\n'.join(self.append(kind, record) for kind, _, record in shuffled))

    def compare(self, one, other):
        for name in NAMES:
            rows = []
            for database in one, other:
                connection = sqlite3.connect(database)
                rows.append(sorted(connection.execute('select * from "%s"' % name), key=repr))
                connection.close()
            if rows[0] != rows[1]:
                self.problems.append('%s: %s only %s: %s; only %s: %s' % (
                    name, 'differ,', one, [r for r in rows[0] if r not in rows[1]][:3], other,
                    [r for r in rows[1] if r not in rows[0]][:3]))

    def judge(self):
        for kind in 'REP':
            with open(kind + '.ndjson', 'w') as file:
                file.writelines(json.dumps(record) + '\n' for record in self.of(kind))
        self.at_once('after.db', False)
        self.at_once('before.db', True)
        self.in_portions('portions.db')
        self.by_appends('appends.db')
        self.run('--timeline', 'abstract', 'closed.db', '-c', self.create + self.copies(), '-c', DEFINE)
        self.compare('after.db', 'before.db')
        self.compare('after.db', 'portions.db')
        self.compare('closed.db', 'appends.db')
        return self.problems


def main():
    tquel = os.path.realpath(sys.argv[1])
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 12
    print('1..%d' % count, flush=True)
    failed = 0
    for number, seed in enumerate(range(first, first + count), 1):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            problems = Scenario(tquel, seed).judge()
            os.chdir('/')
        failed += bool(problems)
        print('%sok %d - seed %d' % ('not ' if problems else '', number, seed), flush=True)
        for problem in problems:
            print('# ' + problem, flush=True)
    return 1 if failed else 0


sys.exit(main())
