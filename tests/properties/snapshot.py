#!/usr/bin/env python3
"""Snapshot reducibility: at every instant, the result of a statement is what SQL says of the relations as
they are at that instant.

    database ──▶ session: retrieve ... ──▶ rows, restricted to t ─┐
        │                                                          compare, for every t of change, t - 1, t + 1
        └──────▶ SQLite: views restricted to t, SELECT ... ───────┘

Statements have the default `when` and delimiters, one to three variables over determinate relations, `where`,
targets with arithmetic and strings, aggregates with `by` and inner `where`, and derived relations, which are
views in SQL. The SQL is made together with the statement, from the same random choices, and knows nothing of
the session. Beyond the property itself: cumulative aggregates, which SQL sees as aggregates of all that
started by t, and windows.

What SQL does otherwise is taken into account: aggregates of nothing (sum is 0 here; min, max and avg of
nothing give no row), sums beyond 64 bits and overflow (SQLite turns to floats: here an error of the
statement), division by zero (NULL: here an error, unless another conjunct is false), NULL (there is none here).

    snapshot.py DRIVER [--count N] [--seed S] [--selftest] [--verbose]
"""
import sqlite3
import sys

sys.dont_write_bytecode = True

import world
from scalars import Generator, Source, draw_statements, is_event, parts_of, where
from world import BOOL, FLOAT, FOREVER, INT, Crash, Maker, Program, Result

STATEMENTS = 12  # to a database
LIMITS = [-2**63, -2**63 + 1, -1, 0, 1, 2**62, 2**63 - 1]


class ExactSum:
    """sum() that is tested at its final value; 0 for nothing. A text says: overflow."""

    def __init__(self):
        self.total = 0

    def step(self, value):
        if value is not None:
            self.total += value

    def finalize(self):
        fits = isinstance(self.total, float) or -2**63 <= self.total < 2**63
        return self.total if fits else 'overflow'


# --- SQL


def select(statement, sources, origin, targets=None, extra=None):
    """The statement as SQL over relations restricted to t."""
    parts = parts_of(statement)
    outside = sorted(set().union(*[e.variables for e in parts]))
    used = [i for i, a in enumerate(statement.aggregates)
            if any('\x05%d\x06' % i in e.sql for e in parts)]
    tables = ['%s_t AS %s' % (sources[v].relation.name, v) for v in outside]
    conditions = ['(%s)' % e.sql for e in statement.where]
    if extra:
        conditions = extra
    values, groups = {}, {}
    for i in used:
        aggregate = statement.aggregates[i]
        if aggregate.by and aggregate.source.name not in outside:
            tables.append('%s AS g%d' % (aggregate.groups(), i))
            key = aggregate.source.name, tuple(aggregate.by)
            if key in groups:
                conditions += ['g%d.%s = g%d.%s' % (i, n, groups[key], n) for n in aggregate.by]
            groups.setdefault(key, i)
            values[i] = 'g%d.value_' % i
        else:
            values[i] = aggregate.scalar()
        if aggregate.nothing:
            conditions.append('%s IS NOT NULL' % values[i])
    if used or not outside:
        conditions.append('t >= %d' % origin)
    columns = targets or ['%s AS %s' % (e.sql, name) for name, e in statement.targets] or ['1 AS nothing_']
    sql = 'SELECT DISTINCT %s FROM %s%s' % (', '.join(columns), ', '.join(['instant'] + tables),
                                            where(conditions))
    for i, value in values.items():
        sql = sql.replace('\x05%d\x06' % i, value)
    return sql


def literal(value):
    return int(value) if isinstance(value, bool) else value


def add_tables(connection, database):
    connection.execute('CREATE TABLE instant (t)')
    connection.execute('INSERT INTO instant VALUES (0)')
    for relation in database.relations:
        names = [name for name, _, _ in relation.domains]
        times = ['at_'] if relation.event else ['start_', 'stop_']
        connection.execute('CREATE TABLE %s_all (%s)' % (relation.name, ', '.join(names + times)))
        for row, period in periods_of(relation):
            values = [literal(v) for v in row.values] + list(period)
            connection.execute('INSERT INTO %s_all VALUES (%s)' % (
                relation.name, ', '.join('?' * len(values))), values)
        now = 'at_ = t' if relation.event else 'start_ <= t AND t < stop_'
        connection.execute('CREATE VIEW %s_t AS SELECT DISTINCT %s FROM %s_all, instant WHERE %s' % (
            relation.name, ', '.join(names), relation.name, now))
        connection.execute('CREATE VIEW %s_c AS SELECT DISTINCT %s FROM %s_all, instant WHERE %s <= t' % (
            relation.name, ', '.join(names + times + ['t']), relation.name, times[0]))


def periods_of(relation):
    """Rows with (at) or (start, stop); traced records become periods."""
    if relation.kind == 'event':
        return [(row, row.times[:1]) for row in relation.rows]
    if relation.kind == 'period':
        return [(row, (row.times[0], row.times[2])) for row in relation.rows]
    entity = [name for name, _, _ in relation.domains].index(relation.by)
    last = {}  # of several records of one entity at one time the last counts
    for row in relation.rows:
        last[row.values[entity], row.times[0]] = row
    result = []
    for (name, time), row in last.items():
        later = [t for n, t in last if n == name and t > time]
        result.append((row, (time, min(later, default=FOREVER))))
    return result


def instants_of(database, origin, windows):
    points = {origin, -3, 100}
    for relation in database.relations:
        for _, period in periods_of(relation):
            for p in period:
                points.update([p] + [p + w for w in windows] + [p + w - 1 for w in windows])
    near = {q for p in points for q in (p - 1, p, p + 1)}
    return sorted(t for t in near if -2**63 < t < FOREVER)


# --- judging


class Case:
    def __init__(self, program, database, statements, falsify):
        self.program, self.database, self.statements, self.falsify = program, database, statements, falsify
        self.origin = 0
        for setting in database.settings:
            self.origin = int(setting.split('\x01')[1].rstrip('\x02'))
        self.sources = {}
        self.add_sources(database.relations, True)
        self.connection = sqlite3.connect(':memory:')
        self.connection.create_aggregate('exact_sum', 1, ExactSum)
        add_tables(self.connection, database)

    def add_sources(self, relations, base):
        for relation in relations:
            for copy in 'ab':
                name = copy + relation.name
                self.sources[name] = Source(name, relation, base)

    def add_derived(self, statement):
        kind = 'event' if is_event(statement, self.sources) else 'period'
        domains = [(name, e.type, None) for name, e in statement.targets]
        derived = world.Relation(statement.name, kind, domains, [])
        self.connection.execute('CREATE VIEW %s_t AS %s' % (
            statement.name, select(statement, self.sources, self.origin)))
        self.add_sources([derived], False)
        return derived

    def expected_error(self, statement, instants):
        """402 or 401 if some combination of tuples must fail, else 0."""
        for t in instants:
            self.connection.execute('UPDATE instant SET t = ?', (t,))
            for divisor in statement.divisors:
                rest = ['(%s)' % e.sql for e in statement.where if '/ %s >' % divisor not in e.sql]
                sql = select(statement, self.sources, self.origin, ['1'], rest + ['%s = 0' % divisor])
                if self.connection.execute(sql).fetchone():
                    return 402
            for row in self.connection.execute(select(statement, self.sources, self.origin)):
                for value, (_, e) in zip(row, statement.targets):
                    if e.type == INT and not isinstance(value, int):
                        return 401
        return 0

    def judge(self, statement, answer):
        """None, or what differs."""
        instants = instants_of(self.database, self.origin, statement.windows)
        error = self.expected_error(statement, instants)
        if answer.status != world.OK:
            if error and answer.number == error:
                return None
            return 'refused with TQ-%04d %s' % (answer.number, answer.message)
        if error:
            return 'rows, but TQ-%04d was expected' % error
        types = [e.type for _, e in statement.targets]
        result = Result(answer.results[-1], types)
        for row in result.rows:
            if not row.definite or row.times[0] != row.times[1] or row.times[-2] != row.times[-1]:
                return 'indeterminate, of determinate relations: %s' % (row.times + row.values,)
        sql = select(statement, self.sources, self.origin)
        if self.falsify:
            sql += ' LIMIT 1'
        for t in instants:
            self.connection.execute('UPDATE instant SET t = ?', (t,))
            wanted = {self.typed(row, types) for row in self.connection.execute(sql)}
            got = result.at(t)
            missing, more = world.set_difference(wanted, got), world.set_difference(got, wanted)
            if missing or more:
                return 'at %d: SQL alone has %s, the result alone %s\n%s' % (
                    t, sorted(missing), sorted(more), sql)
        return None

    @staticmethod
    def typed(row, types):
        if not types:
            return ()
        return tuple(bool(v) if type == BOOL else float(v) if type == FLOAT else v
                     for v, type in zip(row, types))


def run_case(program, database, statements, options, falsify, count=False):
    """The first statement that differs: (index, why), or None."""
    case = Case(program, database, statements, falsify)
    database.load(program.session, program.folder, **options)
    for i, statement in enumerate(statements):
        if not parts_of(statement):
            continue
        answer = program.session.run(world.render(statement.text()))
        if statement.name and answer.status == world.OK:
            derived = case.add_derived(statement)
            program.session.must(derived.ranges())
            answer = program.session.must('print ' + statement.name)
        if answer.skipped or answer.number in (107, 113):  # not executed yet
            if count:
                program.add('skipped')
            continue
        why = case.judge(statement, answer)
        if count:
            program.add('statements')
            program.add('fail when run', answer.failed_at_run_time)
            program.add('with aggregates', bool(statement.aggregates))
            program.add('rows', sum(len(lines) for _, lines in answer.results))
            program.say(world.render(statement.text()))
        if why:
            return i, why
    return None


def draw(session, folder, choose, patterns):
    """A database and statements."""
    big = choose.random() < 0.1
    maker = Maker(choose, sure=True)
    if big:
        maker.value = lambda type: (choose.choice(LIMITS) if type == INT
                                    else Maker.value(maker, type))
    extra = [('w', INT, 'i8')] if choose.random() < 0.2 else []
    database = maker.database(extra)
    if big:
        for relation in database.relations:
            relation.domains = [(n, t, 'i8' if t == INT else d) for n, t, d in relation.domains]
    if choose.random() < 0.2:
        database.settings.append('set origin ' + world.time(choose.randrange(-2, 8)))
    database.load(session, folder)

    def make(sources, name):
        named = not big and choose.random() < 0.2
        return Generator(choose, sources, big, patterns).make(name if named else None)

    return database, draw_statements(session, database, STATEMENTS, make, is_event)


def has_patterns(session):
    session.open()
    session.must('create event E (s = text) range of e is E')
    session.must('append to E (s = "ab") at 1')
    return len(session.must('retrieve (e.s) where e.s = "a*"').results[0][1]) == 1


def main():
    program = Program('snapshot')
    patterns = has_patterns(program.session)

    def one(seed, choose):
        database, statements = draw(program.session, program.folder, choose, patterns)
        options = {'rules_off': choose.random() < 0.3, 'batch': choose.choice([0, 0, 1])}
        try:
            found = run_case(program, database, statements, options, program.selftest, True)
        except Crash as crash:
            smallest = world.shrink_crash(database, statements,
                                          lambda d, s: run_case(program, d, s, options, False))
            program.report(seed, 'broken (%s)' % options, world.script(*smallest), str(crash))
            return
        if not found:
            return
        statements = statements[:found[0] + 1]
        if not program.selftest:
            database, statements = world.shrink(
                database, statements,
                lambda d, s: differs_last(program, d, s, options))
            found = run_case(program, database, statements, options, program.selftest) or found
        program.report(seed, 'differs from SQL (%s)' % options, world.script(database, statements),
                       found[1])

    return program.run(one)


def differs_last(program, database, statements, options):
    try:
        found = run_case(program, database, statements, options, False)
    except (KeyError, sqlite3.OperationalError, Crash):
        return False
    return found is not None and found[0] == len(statements) - 1


if __name__ == '__main__':
    sys.exit(main())
