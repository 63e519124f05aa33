#!/usr/bin/env python3
"""A summary is what SQL's GROUP BY says of the same rows.

    relations of random rows ──▶ retrieve summary ──▶ rows ─┐
              │                                             compare, as sets
              └──────▶ SQLite: SELECT ... GROUP BY ─────────┘

Values are few, so that groups have several tuples, and some are at the limits of 64 bits. What SQL does otherwise is taken
into account: NULL for what has no value (here there is no row), floats for sums beyond 64 bits (here an error).

    summaries.py TQUEL [--count N] [--seed S] [--selftest] [--verbose]
"""
import argparse
import csv
import io
import math
import os
import random
import sqlite3
import subprocess
import sys
import tempfile

DOMAINS = [('g', 'c5'), ('h', 'i4'), ('x', 'i8'), ('y', 'f8')]
LIMITS = [-2**63, 2**63 - 1, 2**62]


def rows_of(draw, event):
    rows = set()
    large = draw.random() < 0.1
    for _ in range(draw.choice([0, 1, 5, 40])):
        start = draw.randrange(20)
        times = (start,) if event else (start, start + draw.randrange(1, 9))
        x = draw.choice(LIMITS) if large and draw.random() < 0.3 else draw.randrange(-3, 9)
        rows.add(times + (draw.choice('ab'), draw.randrange(3), x, draw.randrange(-8, 9) / 4))
    return sorted(rows)


CONDITIONS = [None, ('r.x > 3', 'x > 3'), ('r.g = "a"', "g = 'a'"), ('r.y < r.x', 'y < x'), ('r.h = 7', 'h = 7')]
FUNCTIONS = [('count(r', 'count({})', '1'), ('sum(r.x', 'coalesce(total_of({}), 0)', 'x'), ('sum(r.y', 'coalesce(sum({}), 0.0)', 'y'),
             ('min(r.x', 'min({})', 'x'), ('max(r.y', 'max({})', 'y'), ('avg(r.y', 'avg({})', 'y'), ('any(r', 'min(count({}), 1)', '1'),
             ('median(r.y', 'median_of({})', 'y'), ('quantile(0.9, r.y', 'ninth_of({})', 'y'), ('quantile_of(0.25, r.x', 'quarter_of({})', 'x'),
             ('quantile_of(0.25, r.h', 'quarter_of({})', 'h'), ('max(r.g', 'max({})', 'g'), ('countu(r.h', 'count(distinct {})', 'h'), ('sumu(r.h', 'coalesce(sum(distinct {}), 0)', 'h')]


class Total:
    """An exact sum; the text is that of an error."""

    def __init__(self):
        self.total = 0

    def step(self, value):
        self.total += value or 0

    def finalize(self):
        return self.total if -2**63 <= self.total < 2**63 else 'overflow'


class Quantile:
    """SQL's percentile_cont, or with DISCRETE percentile_disc."""
    fraction, discrete = 0.5, False

    def __init__(self):
        self.values = []

    def step(self, value):
        if value is not None:
            self.values.append(value)

    def finalize(self):
        values = sorted(self.values)
        if not values:
            return None
        if self.discrete:
            return values[max(math.ceil(self.fraction * len(values)) - 1, 0)]
        place = self.fraction * (len(values) - 1)
        low = math.floor(place)
        high = min(low + 1, len(values) - 1)
        return float(values[low] + (place - low) * (values[high] - values[low]))


class Ninth(Quantile):
    fraction = 0.9


class Quarter(Quantile):
    fraction, discrete = 0.25, True


def statement_of(draw):
    """The statement, and the SQL that means the same."""
    groups = draw.sample(['g', 'h', 'y'], draw.randrange(3))
    by = ' by ' + ', '.join('r.' + g for g in groups) if groups else ''
    targets, columns = ['r.' + g for g in groups], list(groups)
    for i in range(draw.randrange(1, 4)):
        call, sql, value = draw.choice(FUNCTIONS)
        condition = draw.choice(CONDITIONS) if draw.random() < 0.5 else None
        targets.append(f'm{i} = {call}{by}{" where " + condition[0] if condition else ""})')
        columns.append(sql.format(f'case when {condition[1]} then {value} end' if condition else value) + f' as m{i}')
    sql = f'select {", ".join(columns)} from R' + (' group by ' + ', '.join(groups) if groups else '')
    where = draw.random() < 0.3 and 'r.g' not in targets[len(groups)].split(' by ')[0].split(' where ')[0]
    if where:
        sql = f'select * from ({sql}) where m0 > 1'
    return f'retrieve summary ({", ".join(targets)}){" where m0 > 1" if where else ""}', sql


def cell(value):
    if isinstance(value, float) and value == math.floor(value) and abs(value) < 2**53:
        return str(int(value))
    return repr(value) if isinstance(value, float) else str(value)


def normal(text):
    try:
        return cell(float(text)) if any(c in text for c in '.e') else text
    except ValueError:
        return text


def close(a, b):
    if a == b:
        return True
    try:
        return math.isclose(float(a), float(b), rel_tol=1e-12)
    except ValueError:
        return False


def scenario(tquel, directory, seed, selftest, verbose):
    """None, or what differs."""
    draw = random.Random(seed)
    event = draw.random() < 0.5
    rows = rows_of(draw, event)
    names = (['at'] if event else ['start', 'stop']) + [d[0] for d in DOMAINS]
    path = os.path.join(directory, 'rows.csv')
    with open(path, 'w', newline='') as file:
        csv.writer(file).writerows([names] + rows)
    database = sqlite3.connect(':memory:')
    for name, function in (('total_of', Total), ('median_of', Quantile), ('ninth_of', Ninth), ('quarter_of', Quarter)):
        database.create_aggregate(name, 1, function)
    database.execute(f'create table R ({", ".join(names)})')
    database.executemany(f'insert into R values ({", ".join("?" * len(names))})', rows)
    declared = ', '.join(f'{name} = {kind}' for name, kind in DOMAINS)
    begin = f'create {"event" if event else "period"} R ({declared}) copy R from "{path}" range of r is R '
    for _ in range(8):
        text, sql = statement_of(draw)
        wanted = database.execute(sql).fetchall()
        whole = sql.split(') where m0')[0].replace('select * from (', '')
        fails = any('overflow' in row for row in database.execute(whole))
        wanted = sorted([cell(value) for value in row] for row in wanted if None not in row)
        done = subprocess.run([tquel, '--timeline', 'abstract', '--format', 'csv', '-c', begin + text], capture_output=True, text=True)
        if verbose:
            print(f'# {text}\n# {sql}\n# {done.stdout!r} {done.stderr!r}')
        if fails and 'TQ-0401' in done.stderr:
            continue
        if done.returncode != 0:
            return f'seed {seed}: {text}: {done.stderr}'
        found = sorted([normal(value) for value in row[1:]] for row in list(csv.reader(io.StringIO(done.stdout)))[1:])
        if selftest and found:
            found = found[1:]
        same = len(found) == len(wanted) and all(all(map(close, a, b)) for a, b in zip(found, wanted))
        if not same:
            return f'seed {seed}: {text}\n{sql}\nfound {found}\nwanted {wanted}'
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('tquel')
    parser.add_argument('--count', type=int, default=60)
    parser.add_argument('--seed', type=int, default=random.randrange(10**6))
    parser.add_argument('--selftest', action='store_true')
    parser.add_argument('--verbose', action='store_true')
    given = parser.parse_args()
    print(f'# seeds {given.seed} to {given.seed + given.count - 1}')
    differences = []
    with tempfile.TemporaryDirectory() as directory:
        for seed in range(given.seed, given.seed + given.count):
            found = scenario(os.path.abspath(given.tquel), directory, seed, given.selftest, given.verbose)
            if found and not given.selftest:
                print('# ' + found.replace('\n', '\n# '))
            differences += [found] if found else []
    good = bool(differences) if given.selftest else not differences
    print(f'1..1\n{"ok" if good else "not ok"} 1 - {len(differences)} of {given.count} relations differ')
    return 0 if good else 1


sys.exit(main())
