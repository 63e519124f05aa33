#!/usr/bin/env python3
"""Incremental = batch, through feeds.

NDJSON records of several relations come through `copy ... following`, to standing queries with all clauses and
aggregates, in two ways:

  once   one file a relation, all records in the order of their times, then a checkpoint; queries defined before
  bits   files that grow in portions, or FIFOs that end and are opened again; records out of order as far as
         `within` allows, checkpoint records in between; queries defined before any portion; the database is
         closed and opened between any two steps, with --kill the process dies of SIGKILL while it follows

In the end all relations, derived ones included, have the same tuples (the last checkpoints are the same). Then
every relation is closed by a checkpoint at `forever`, in the first session, and the same records come by a plain
`copy` to a third one, whose queries are defined afterwards: again the same tuples.

    feeds.py DRIVER [--count N] [--seed S] [--selftest] [--kill] [--verbose]
"""
import fcntl
import os
import sys
import termios
import time as clock

sys.dont_write_bytecode = True

import world
from clauses import Clauses, result_is_event
from scalars import draw_statements
from world import FOREVER, INT, Maker, Program, STRING

STATEMENTS = 6
PATIENCE = 150  # times 20 ms until the last record must have had its effect


class Record:
    """TIME orders arrivals; records of one ENTITY at one time keep their order."""

    def __init__(self, time, entity, fields):
        self.time, self.entity, self.fields = time, entity, fields

    def line(self):
        return world.record_line(self.fields) + '\n'


# --- records


def typed(relation, row):
    return {name: value for (name, _, _), value in zip(relation.domains, row.values)}


def records_of(choose, relation):
    if relation.kind == 'traced':
        return traced_records(choose, relation)
    records = []
    for row in relation.rows:
        fields = dict(zip(relation.header(), row.times + (row.definite,)))
        fields.update(typed(relation, row))
        if relation.kind == 'period' and choose.random() < 0.35:
            records += opened(choose, relation, row, fields)
        else:
            if row.times[-1] == FOREVER:
                for name in 'stop_lo', 'stop_hi':
                    fields[name] = world.chronon_text(fields[name]) if fields[name] == FOREVER else fields[name]
            records.append(Record(row.times[0], None, fields))
    return records


def opened(choose, relation, row, fields):
    """A period whose end comes as a record of its own, or never."""
    fields.pop('stop_lo'), fields.pop('stop_hi')
    records = [Record(row.times[0], row.values, fields)]
    if choose.random() < 0.7:
        end = max(row.times[1], row.times[0]) + choose.randrange(1, 5)
        records.append(Record(end, row.values, dict({'end': end}, **typed(relation, row))))
    return records


def traced_records(choose, relation):
    records = [Record(row.times[0], row.values[-1], dict({'at': row.times[0]}, **typed(relation, row)))
               for row in relation.rows]
    for entity in sorted({record.entity for record in records}):
        times = sorted({record.time for record in records if record.entity == entity})
        for first, following in zip(times, times[1:] + [times[-1] + 5]):
            if following > first + 1 and choose.random() < 0.25:
                end = choose.randrange(first + 1, following)
                records.append(Record(end, entity, {'end': end, relation.by: entity}))
    return records


def draw(program, choose):
    sure = choose.random() < 0.3
    database = Maker(choose, sure).database([('id', INT, 'i4')])
    for relation in database.relations:
        for i, row in enumerate(relation.rows):
            row.values = (i,) + tuple(row.values[1:])
    database.settings.append('set unbounded allowed')
    if choose.random() < 0.2:
        database.settings.append('set origin ' + world.time(choose.randrange(-2, 8)))
    records = {r.name: sorted(records_of(choose, r), key=lambda record: record.time)
               for r in database.relations}
    empty = world.Database([r.with_rows([]) for r in database.relations], database.settings)
    empty.load(program.session, program.folder)

    def make(sources, name):
        generator = Clauses(choose, sources, False, sure)
        statement = generator.make(name)
        statement.where = [e for e in statement.where if 'duration' not in e.text]
        return statement

    drawn = draw_statements(program.session, empty, STATEMENTS, make, result_is_event)
    # Those that are refused, and what uses them, are left out.
    statements = []
    empty.load(program.session, program.folder)
    for statement in drawn:
        if program.session.run(world.render(statement.text())).status == world.OK:
            statements.append(statement)
            program.session.must(ranges(statement.name))
        else:
            program.add('refused or skipped')
    return empty, records, statements


def ranges(name):
    return 'range of a%s is %s range of b%s is %s' % ((name,) * 4)


# --- ways


class Way:
    """One course from the empty database to the last checkpoint."""

    def __init__(self, program, session, name, database, statements, options):
        self.program, self.session, self.name = program, session, name
        self.database, self.statements, self.options = database, statements, options
        self.path, self.defined, self.feeds, self.fifos, self.log = '-', False, {}, 0, []

    def run(self, text):
        self.log.append('    ' + text)
        return self.session.must(text)

    def open(self, create=False):
        self.log.append('    -- opened')
        self.session.open(self.path, 'abstract', **self.options)
        if create:
            for relation in self.database.relations:
                self.run(relation.create())
        self.database.greet(self.session)
        if not create:
            self.run('set durable every 1 ms')
        for statement in self.statements if self.defined else []:
            self.session.must(ranges(statement.name))
        for feed in self.feeds.values():
            self.run(feed)

    def define(self):
        for statement in self.statements:
            self.run(world.render(statement.text()))
            self.session.must(ranges(statement.name))
        self.defined = True

    def file(self, relation, form='ndjson'):
        return os.path.join(self.program.folder, '%s-%s.%s' % (self.name, relation, form))

    def feed(self, relation, within):
        tail = ' within %d' % within if within else ''
        self.feeds[relation] = 'copy %s from "%s" following%s' % (relation, self.file(relation), tail)
        self.run(self.feeds[relation])

    def write(self, relation, lines):
        self.log.append('    -- %s:\n%s' % (relation, ''.join(lines).rstrip('\n')))
        with open(self.file(relation), 'a', encoding='utf-8') as out:
            out.writelines(lines)

    def follow(self, milliseconds):
        answer = self.session.follow(milliseconds)
        if answer.status not in (world.OK, world.AGAIN, world.END):
            raise world.Crash('%s: follow: TQ-%04d %s' % (self.name, answer.number, answer.message))
        return answer.status

    def results(self):
        names = [r.name for r in self.database.relations] + [s.name for s in self.statements]
        return {name: sorted(map(tuple, self.session.must('print ' + name).results[-1][1]))
                for name in names}


def run_once(way, records, last):
    way.open(create=True)
    way.define()
    for name, list_of in records.items():
        open(way.file(name), 'w', encoding='utf-8').close()
        way.write(name, [record.line() for record in list_of] +
                  [world.record_line({'checkpoint': last}) + '\n'])
        way.feed(name, 0)
    way.follow(20)


class Arrivals:
    """The records of one relation in portions."""

    def __init__(self, choose, records, portions, kill):
        self.within = choose.choice([0, 0, 1, 3])
        # A FIFO ends with its portion, which makes its records final: nothing may be cut there.
        self.fifo = not kill and self.within == 0 and choose.random() < 0.3
        ended = {record.entity for record in records if 'end' in record.fields}
        late = {}
        for record in records:  # an end may come late, but not before what it ends
            delay = (self.within if 'end' in record.fields else
                     0 if record.entity in ended else choose.randrange(self.within + 1))
            late.setdefault((record.entity, record.time), delay)
        if all(record.entity is None for record in records) and not self.within:
            choose.shuffle(records)  # of one time: in any order
        self.records = sorted(records, key=lambda r: r.time + late[r.entity, r.time])
        cuts = sorted(choose.randrange(len(records) + 1) for _ in range(portions - 1))
        self.cuts = [0] + [self.clean(cut) for cut in cuts] + [len(records)]

    def clean(self, cut):
        while self.fifo and 0 < cut < len(self.records) and (
                self.records[cut].time <= self.records[cut - 1].time):
            cut += 1
        return cut

    def portion(self, choose, i):
        part, rest = self.records[self.cuts[i]:self.cuts[i + 1]], self.records[self.cuts[i + 1]:]
        lines = []
        for j, record in enumerate(part):
            lines.append(record.line())
            promise = min([r.time for r in part[j + 1:] + rest], default=None)
            if promise is not None and choose.random() < 0.2:
                promise -= choose.randrange(3)
                lines.append(world.record_line({'checkpoint': promise}) + '\n')
        return lines


def run_bits(way, choose, records, last, kill):
    portions = choose.randrange(1, 6)
    arrivals = {name: Arrivals(choose, list(of), portions, kill) for name, of in records.items()}
    way.path = os.path.join(way.program.folder, 'bits.db')
    for name in os.listdir(way.program.folder):
        if name.startswith('bits'):
            os.unlink(os.path.join(way.program.folder, name))
    way.open(create=True)
    define_before = choose.randrange(portions)
    for i in range(portions):
        if i == define_before:
            way.define()
        for name, arrival in sorted(arrivals.items(), key=lambda _: choose.random()):
            lines = arrival.portion(choose, i)
            if i == portions - 1:
                lines.append(world.record_line({'checkpoint': last}) + '\n')
            bring(way, name, arrival, lines)
            rest(way, choose, kill)
    if not way.defined:
        way.define()


def bring(way, name, arrival, lines):
    if not arrival.fifo:
        way.write(name, lines)
        if name not in way.feeds:
            way.feed(name, arrival.within)
        return
    way.fifos += 1
    path = way.file(name, '%d.ndjson' % way.fifos)
    os.mkfifo(path)
    way.log.append('    -- through a FIFO to %s:\n%s' % (name, ''.join(lines).rstrip('\n')))
    for _ in range(PATIENCE):  # the last feed may not have ended yet
        if way.session.run('copy %s from "%s" following' % (name, path)).status == world.OK:
            break
        way.follow(2)
    else:
        raise world.Crash('the feed of %s does not end' % name)
    pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    os.write(pipe, ''.join(lines).encode())
    for _ in range(PATIENCE):
        if not fcntl.ioctl(pipe, termios.FIONREAD, b'    ').strip(b'\0'):
            break
        way.follow(2)
    os.close(pipe)
    way.follow(2)


def rest(way, choose, kill):
    """Lets the feeds run, or not; closes and opens the database, or lets the process die."""
    fate = choose.random()
    if fate < 0.6:
        way.follow(choose.choice([0, 1, 5, 10]))
    if kill and fate < 0.7:
        way.session.process.stdin.write(b'follow 200\n')
        way.session.process.stdin.flush()
        clock.sleep(choose.random() * 0.02)
        way.log.append('    -- killed')
        way.session.kill()
        way.open()
        way.program.add('kills')
    elif choose.random() < 0.35:
        way.log.append('    -- closed')
        way.session.close()
        way.open()
        way.program.add('reopened')


# --- judging


def differ(title, one, other):
    for name in one:
        if one[name] != other[name]:
            return '  %s, %s: only the first %s\n  only the second %s' % (
                name, title, [row for row in one[name] if row not in other[name]][:4],
                [row for row in other[name] if row not in one[name]][:4])
    return None


def settle(way, wanted):
    """Until the results are those wanted, for a while."""
    for i in range(PATIENCE):
        got = way.results()
        if got == wanted:
            break
        way.follow(5 if i < 20 else 20)
    return got


def without_ends(records):
    """The records for a plain copy, which knows no end records: the ends of periods are put into them."""
    ends = {r.entity: r.fields['end'] for r in records if 'end' in r.fields}
    result = []
    for record in records:
        if record.entity in ends and 'start_lo' in record.fields:
            end = ends[record.entity]
            record = Record(record.time, None, dict(record.fields, stop_lo=end, stop_hi=end))
        if 'end' not in record.fields:
            result.append(record)
    return result


def run_plain(way, records):
    way.open(create=True)
    for name, list_of in records.items():
        open(way.file(name), 'w', encoding='utf-8').close()
        way.write(name, [record.line() for record in list_of])
        if list_of:
            way.run('copy %s from "%s"' % (name, way.file(name)))
    way.define()


def judge(program, others, choose, kill):
    database, records, statements = draw(program, choose)
    options = {'rules_off': choose.random() < 0.3, 'batch': 0}
    once = Way(program, program.session, 'once', database, statements, options)
    bits = Way(program, others[0], 'bits', database, statements, dict(options, batch=choose.choice([0, 1])))
    plain = Way(program, others[1], 'plain', database, statements, options)
    last = max([r.time for of in records.values() for r in of], default=0) + choose.choice([1, 1, 4])
    try:
        run_once(once, records, last)
        run_bits(bits, choose, records, last, kill)
        wanted = settle_once(once, last)
        if program.selftest:
            wanted = {name: rows[1:] for name, rows in wanted.items()}
            return once, bits, differ('selftest', wanted, once.results())
        why = differ('once and bit by bit', wanted, settle(bits, wanted))
        if why:
            return once, bits, why
        once.run('set checkpoint manual')
        for name in records:
            once.run('checkpoint forever for ' + name)
        if any('end' in r.fields for name in records for r in records[name]
               if database.find(name).kind == 'traced'):
            return once, bits, None  # nothing but a feed can end an object
        run_plain(plain, {name: without_ends(of) for name, of in records.items()})
        why = differ('through a feed, closed at forever, and by copy', once.results(), plain.results())
        program.add('relations', len(statements))
        program.add('records', sum(len(of) for of in records.values()))
        program.add('rows', sum(len(rows) for rows in wanted.values()))
        return once, plain, why
    except world.Crash as crash:
        return once, bits, '  ' + str(crash)


def settle_once(way, last):
    """Nothing changes any more."""
    before = None
    for _ in range(PATIENCE):
        way.follow(5)
        now = way.results()
        if now == before:
            return now
        before = now
    return before


def main():
    kill = '--kill' in sys.argv
    sys.argv = [word for word in sys.argv if word != '--kill']
    program = Program('feeds')
    others = world.Session(program.driver), world.Session(program.driver)

    def one(seed, choose):
        first, second, why = judge(program, others, choose, kill)
        if why:
            log = '\n'.join(['  %s:' % first.name] + first.log + ['  %s:' % second.name] + second.log)
            program.report(seed, 'differs (%s)' % second.options, log, why)
        for session in (program.session,) + others:
            session.quit()

    return program.run(one)


if __name__ == '__main__':
    sys.exit(main())
