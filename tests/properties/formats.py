#!/usr/bin/env python3
"""Formats: what goes out comes in again, bit by bit.

Relations with random values of all types, hostile strings and times up to the ends of the time line go in as
CSV or NDJSON; what the session prints must be what went in. Then `copy into` as CSV and as NDJSON: other
programs (Python's csv and json) read the same values in the files, and a relation that is filled from a file
is the same relation. Temporal domains of derived relations are read by other programs only. Some trips are on
disk, closed and opened in between.

    formats.py DRIVER [--count N] [--seed S] [--selftest] [--verbose]
"""
import csv
import json
import os
import struct
import sys

sys.dont_write_bytecode = True

import world
from world import BEGINNING, BOOL, FLOAT, FOREVER, INT, Program, Relation, Result, Row, STRING, TEMPORAL

HOSTILE = ['', ' ', '  a  ', ',', '"', '""', '",', "'", '\n', '\r\n', '\r', 'a\nb', '\t', '\\', '\\n', '\\u0041',
           'null', 'true', '0', '-0', '1e5', 'forever', 'beginning', 'NaN', '\x01', '\x1b[31m', '\x7f', '\ufeff',
           '\u2028', '\u0085', 'é', 'e\u0301', '日本語', '😀', '\U0010ffff', '{"a": 1}', '[', '*?[a]', '--', '/*',
           'x' * 5000, '%s%n', '$(x)', ';', 'start_lo,definite']
BYTES = [b'', b'\0', bytes(range(256)), b'\xff' * 300, b'caf\xc3\xa9', b'\xed\xa0\x80', b'\\x00', b',"\r\n', b'\0' * 9]
INTS = {'i1': 8, 'i2': 16, 'i4': 32, 'i8': 64}


def some_int(choose, bits):
    edge = 1 << (bits - 1)
    return choose.choice([0, 1, -1, edge - 1, -edge, choose.randrange(-edge, edge), choose.randrange(-9, 10)])


def some_float(choose, declared):
    if declared == 'f4':
        value = choose.choice([0.0, 0.1, 3.4028234663852886e38, 1e-45, choose.uniform(-1e6, 1e6)])
        return struct.unpack('f', struct.pack('f', value))[0]
    values = [0.0, 0.1, -1 / 3, 5e-324, 1.7976931348623157e308, 2.0**53 + 2, 1e22, 1e-7, 123456789012345680.0,
              choose.uniform(-1, 1), struct.unpack('d', struct.pack('Q', choose.getrandbits(64)))[0]]
    value = choose.choice(values)
    return 0.5 if value != value or value in (float('inf'), float('-inf')) else value + 0.0


def some_string(choose, most):
    text = choose.choice(HOSTILE)
    if choose.random() < 0.3:
        text += choose.choice(HOSTILE)
    if choose.random() < 0.1:
        text = ''.join(chr(choose.choice([choose.randrange(1, 128), choose.randrange(0xa0, 0xd7ff)]))
                       for _ in range(choose.randrange(1, 30)))
    return text[:most] if most else text


def some_domains(choose):
    domains = []
    for i in range(choose.randrange(1, 6)):
        declared = choose.choice(['i1', 'i2', 'i4', 'i8', 'f4', 'f8', 'bool', 'text', 'text', 'c7', 'bytes'])
        type = {'i': INT, 'f': FLOAT, 'bool': BOOL}.get(declared if declared == 'bool' else declared[0], STRING)
        domains.append(('d%d' % i, type, declared))
    return domains


def some_value(choose, type, declared):
    if type == INT:
        return some_int(choose, INTS[declared])
    if type == FLOAT:
        return some_float(choose, declared)
    if type == BOOL:
        return choose.random() < 0.5
    if declared == 'bytes':
        some = choose.choice(BYTES) if choose.random() < 0.6 else choose.randbytes(choose.randrange(40))
        return '\\x' + some.hex()
    return some_string(choose, 7 if declared == 'c7' else 0)


def some_time(choose):
    return choose.choice([0, 1, -1, FOREVER - 1, BEGINNING + 2, choose.randrange(-2**63 + 2, 2**63 - 1),
                          choose.randrange(-20, 20), choose.randrange(10**18, 2 * 10**18)])


def some_times(choose, kind):
    while True:
        if kind != 'period':
            at = some_time(choose)
            later = max(at, some_time(choose)) if kind == 'event' and choose.random() < 0.3 else at
            return at, later
        a, b = some_time(choose), some_time(choose)
        c, d = some_time(choose), some_time(choose)
        start, stop = [min(a, b), max(a, b)], [min(c, d), max(c, d)]
        if choose.random() < 0.5:
            start[1], stop[1] = start[0], stop[0]
        if choose.random() < 0.1:
            start[0] = BEGINNING
        if choose.random() < 0.15:
            stop[1] = FOREVER
        if start[0] < stop[0] and start[1] <= stop[1]:
            return tuple(start + stop)


def some_relation(choose):
    kind = choose.choice(['period', 'event', 'traced'])
    domains = some_domains(choose)
    rows, seen = [], set()
    for _ in range(choose.randrange(9)):
        values = tuple(some_value(choose, type, declared) for _, type, declared in domains)
        times = some_times(choose, kind)
        definite = kind == 'traced' or choose.random() < 0.8
        key = values[:1] + times[:1] if kind == 'traced' else values + times
        if key not in seen:  # a relation is a set; of one entity one record at a time
            seen.add(key)
            rows.append(Row(times, values, definite))
    return Relation('R', kind, domains, rows, 'd0' if kind == 'traced' else None)


def expected(relation):
    """As tuples; traced records as periods, closed at forever."""
    result = []
    for row in relation.rows:
        times = row.times
        if relation.kind == 'traced':
            later = [r.times[0] for r in relation.rows
                     if r.values[0] == row.values[0] and r.times[0] > times[0]]
            stop = min(later, default=FOREVER)
            times = times + (stop, stop)
        result.append(times + (row.definite,) + row.values)
    return result


def spelled(choose, relation):
    """The same relation, with bytes in other ways that they may be written in."""
    def value(declared, as_printed):
        if declared != 'bytes' or choose.random() < 0.5:
            return as_printed
        return choose.choice([as_printed[2:], as_printed[2:].upper(), as_printed[:2] + as_printed[2:].upper()])
    return relation.with_rows([Row(row.times, tuple(value(declared, v) for (_, _, declared), v in
                                                    zip(relation.domains, row.values)), row.definite)
                               for row in relation.rows])


def write(path, relation, form):
    with open(path, 'w', newline='', encoding='utf-8') as out:
        if form == 'csv':
            out.write(relation.csv())
            return
        for row in relation.rows:
            record = dict(zip(relation.header(), relation.fields(row)))
            for (name, type, _), value in zip(relation.domains, row.values):
                record[name] = value
            for name in record:
                if name.endswith(('_lo', '_hi')) or name == 'at':
                    record[name] = int(record[name]) if record[name].lstrip('-').isdigit() else record[name]
            if 'definite' in record:
                record['definite'] = row.definite
            out.write(world.record_line(record) + '\n')


def read(path, form, types, event):
    """What another program finds in the file, as tuples."""
    with open(path, newline='', encoding='utf-8') as file:
        if form == 'csv':
            lines = list(csv.reader(file))
            return Result((lines[0], lines[1:]), types).as_tuples()
        objects = [json.loads(line) for line in file.read().split('\n') if line]
    times = ['at_lo', 'at_hi'] if event else ['start_lo', 'start_hi', 'stop_lo', 'stop_hi']
    rows = []
    for record in objects:
        found = tuple(world.chronon(str(record.pop(name))) for name in times)
        definite = record.pop('definite')
        values = tuple(float(v) if isinstance(v, int) and not isinstance(v, bool) and t == FLOAT else v
                       for v, t in zip(record.values(), spread(types)))
        rows.append(found + (definite,) + values)
    return rows


def spread(types):
    return [t for type in types for t in ([FLOAT] * 4 if type == TEMPORAL else [type])]


def differ(title, wanted, got):
    """Exactly, floats too."""
    missing = [row for row in wanted if row not in got]
    more = [row for row in got if row not in wanted]
    if missing or more or len(wanted) != len(got):
        return '%s: missing %s, more %s' % (title, missing[:2], more[:2])
    return None


class Trip:
    def __init__(self, program, choose):
        self.program, self.choose, self.session = program, choose, program.session
        self.timeline = choose.choice(['abstract', 'real'])
        self.path = os.path.join(program.folder, 'trip.db') if choose.random() < 0.3 else '-'
        if os.path.exists(self.path):
            os.unlink(self.path)

    def file(self, name):
        return os.path.join(self.program.folder, name)

    def rows(self, name, types):
        return Result(self.session.must('print ' + name).results[-1], types).as_tuples()

    def reopen(self):
        if self.path != '-':
            self.session.close()
            self.session.open(self.path, self.timeline)

    def run(self, relation):
        types = [type for _, type, _ in relation.domains]
        form = self.choose.choice(['csv', 'ndjson'])
        self.session.open(self.path, self.timeline)
        self.session.must(relation.create())
        if relation.rows:
            write(self.file('in.' + form), spelled(self.choose, relation), form)
            self.session.must('copy R from "%s"' % self.file('in.' + form))
        self.reopen()
        wanted = expected(relation)
        if self.program.selftest and wanted:
            wanted = wanted[1:]
        declared = ', '.join('%s = %s' % (name, text) for name, _, text in relation.domains)
        kind = 'event' if relation.kind == 'event' else 'period'
        return (differ('print after copy from ' + form, wanted, self.rows('R', types)) or
                self.out_and_in('R', kind, declared, types, wanted) or
                (kind == 'period' and self.derived(relation)))

    def out_and_in(self, name, kind, declared, types, wanted):
        for form in 'csv', 'ndjson':
            path, copy = self.file('out.' + form), '%s_%s' % (name, form)
            self.session.must('copy %s into "%s"' % (name, path))
            why = differ('what others find in ' + form, wanted, read(path, form, types, kind == 'event'))
            if why or TEMPORAL in types:
                return why  # only derived relations have temporal domains: they are not copied in
            self.session.must('create %s %s (%s)' % (kind, copy, declared))
            if wanted:
                self.session.must('copy %s from "%s"' % (copy, path))
            self.reopen()
            why = differ('again in from ' + form, wanted, self.rows(copy, types))
            if why:
                return why
        return None

    def derived(self, relation):
        """With temporal domains; those of long periods have many digits."""
        factor = self.choose.choice(['', ' * 0.1', ' / 3.0', ' + 1e15', ' * 1e-300'])
        self.session.must('range of r is R')
        answer = self.session.run('retrieve D (v = duration(r)%s, w = 2, r.d0)' % factor)
        if answer.status != world.OK:
            return None
        types = [TEMPORAL, INT, relation.domains[0][1]]
        return self.out_and_in('D', 'period', '', types, self.rows('D', types))


def main():
    program = Program('formats')

    def one(seed, choose):
        relation = some_relation(choose)
        program.add('relations')
        program.add('rows', len(relation.rows))
        why = Trip(program, choose).run(relation)
        if why:
            program.report(seed, 'not the same', relation.create() + '\n' + relation.csv(), why)

    return program.run(one)


if __name__ == '__main__':
    sys.exit(main())
