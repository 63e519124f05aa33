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
from world import BOOL, FLOAT, FOREVER, INT, STRING, Crash, Maker, Program, Result, Statement, string

STATEMENTS = 12  # to a database
LIMITS = [-2**63, -2**63 + 1, -1, 0, 1, 2**62, 2**63 - 1]


class E:
    """An expression as statement text and as SQL, in which \x05i\x06 stands for aggregate i."""

    def __init__(self, text, sql, type, variables=(), kept=False):
        self.text, self.sql, self.type, self.kept = text, sql, type, kept
        self.variables = frozenset(variables)


class Source:
    """A tuple variable; BASE: not a derived relation."""

    def __init__(self, name, relation, base):
        self.name, self.relation, self.base = name, relation, base

    def domains(self, *types):
        return [(name, type) for name, type, _ in self.relation.domains if type in types]


class Aggregate:
    def __init__(self, source, function, argument, by, inner, view, text):
        self.source, self.function, self.argument = source, function, argument
        self.by, self.inner, self.view, self.text = by, inner, view, text

    def value(self):
        argument = self.argument or '*'
        return {'count': 'count(%s)' % argument, 'any': 'count(%s) > 0' % argument,
                'countu': 'count(DISTINCT %s)' % argument,
                'sum': 'exact_sum(%s)' % argument, 'sumu': 'exact_sum(DISTINCT %s)' % argument,
                'avg': 'avg(%s)' % argument, 'avgu': 'avg(DISTINCT %s)' % argument,
                'min': 'min(%s)' % argument, 'max': 'max(%s)' % argument}[self.function]

    @property
    def nothing(self):
        """Has no value for no tuples."""
        return self.function in ('min', 'max', 'avg', 'avgu')

    def scalar(self):
        """As a subquery in which the outer variable is in sight."""
        conditions = ['g.%s = %s.%s' % (name, self.source.name, name) for name in self.by]
        return '(SELECT %s FROM %s AS g%s)' % (self.value(), self.view, where(conditions + self.inner))

    def groups(self):
        columns = ', '.join('g.%s AS %s' % (name, name) for name in self.by)
        names = ', '.join('g.' + name for name in self.by)
        return '(SELECT %s, %s AS value_ FROM %s AS g%s GROUP BY %s)' % (
            columns, self.value(), self.view, where(self.inner), names)


def where(conditions):
    return ' WHERE ' + ' AND '.join(conditions) if conditions else ''


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


class Generator:
    """One statement over SOURCES."""

    def __init__(self, choose, sources, big, patterns):
        self.choose, self.sources, self.big, self.patterns = choose, sources, big, patterns
        count = choose.choices([0, 1, 2, 3], [8, 42, 38, 12])[0]
        self.used = choose.sample(sources, min(count, len(sources)))
        self.aggregates, self.divisors = [], []
        self.with_aggregates = not self.used or choose.random() < 0.45

    def chance(self, percent):
        return self.choose.random() * 100 < percent

    def domain(self, *types, source=None):
        """A domain of these types of a used variable (or of SOURCE), or None."""
        choices = [(v, name, type) for v in ([source] if source else self.used)
                   for name, type in v.domains(*types)]
        if not choices:
            return None
        v, name, type = self.choose.choice(choices)
        if source:
            return E('%s.%s' % (v.name, name), 'g.' + name, type, [v.name])
        return E('%s.%s' % (v.name, name), '%s.%s' % (v.name, name), type, [v.name])

    def integer(self, source=None, depth=1):
        e = self.domain(INT, source=source)
        if not e or self.chance(12):
            n = str(self.choose.randrange(4))
            return E(n, n, INT)
        if depth == 0 or self.chance(55):
            return e
        if self.big:
            return self.both(e, self.choose.choice('+-*'), self.integer(source, 0), INT)
        kind = self.choose.randrange(6)
        if kind == 0:
            n = self.choose.randrange(1, 4)
            return E('(%s / %d)' % (e.text, n), '(%s / %d)' % (e.sql, n), INT, e.variables)
        if kind == 1:
            n = self.choose.randrange(2, 4)
            return E('mod(%s - 2, %d)' % (e.text, n), '((%s - 2) %% %d)' % (e.sql, n), INT, e.variables)
        if kind == 2:
            return E('abs(%s - 2)' % e.text, 'abs(%s - 2)' % e.sql, INT, e.variables)
        if kind == 3 and self.chance(20):
            s = self.domain(STRING, source=source)
            if s:
                return E('length(%s)' % s.text, 'length(%s)' % s.sql, INT, s.variables)
        return self.both(e, self.choose.choice('+-*'), self.integer(source, 0), INT)

    @staticmethod
    def both(a, sign, b, type):
        return E('(%s %s %s)' % (a.text, sign, b.text), '(%s %s %s)' % (a.sql, sign, b.sql), type,
                 a.variables | b.variables)

    def real(self, source=None):
        e = self.domain(FLOAT, source=source)
        if not e:
            return None
        if self.chance(50):
            return e
        other = self.integer(source, 0) if self.chance(50) and not self.big else E('0.5', '0.5', FLOAT)
        return self.both(e, self.choose.choice('+-*'), other, FLOAT)

    def text(self, source=None):
        e = self.domain(STRING, source=source)
        if not e or self.chance(85):
            return e
        kind, n = self.choose.randrange(4), self.choose.randrange(3)
        if kind == 0:
            other = self.domain(STRING, source=source)
            return E('concat(%s, %s)' % (e.text, other.text), '(%s || %s)' % (e.sql, other.sql), STRING,
                     e.variables | other.variables)
        if kind == 1:
            return E('left(%s, %d)' % (e.text, n), 'substr(%s, 1, %d)' % (e.sql, n), STRING, e.variables)
        if kind == 2:
            return E('right(%s, %d)' % (e.text, n), 'substr(%s, -%d, %d)' % (e.sql, n, n), STRING,
                     e.variables)
        i = self.integer(source)
        return E('ascii(%s)' % i.text, 'CAST(%s AS TEXT)' % i.sql, STRING, i.variables)

    def comparison(self, source=None):
        choose = self.choose
        kind = choose.randrange(10)
        sign = choose.choice(['=', '!=', '<', '<=', '>', '>=', '='])
        if kind < 3:
            a = self.domain(STRING, source=source)
            if a and self.patterns and self.chance(8):
                pattern = choose.choice(['a*', '*b', '?', '[ab]', '*', '[a-b]'])
                return E('%s = %s' % (a.text, world.quoted(pattern)),
                         "%s GLOB '%s'" % (a.sql, pattern), BOOL, a.variables)
            if a:
                c = choose.choice('abc')
                b = (self.domain(STRING, source=source) if self.chance(50)
                     else E(string(c), "'%s'" % c, STRING))
                return self.compare(a, sign, b)
        elif kind == 3:
            a = self.domain(FLOAT, source=source)
            if a:
                c = choose.choice(['0.5', '1', '1.5', '-2.25'])
                return self.compare(a, sign, E(c, c, FLOAT))
        elif kind == 4:
            a = self.domain(BOOL, source=source)
            if a:
                return E(a.text, a.sql, BOOL, a.variables)
        depth = 0 if self.big else 1
        return self.compare(self.integer(source, depth), sign, self.integer(source, depth))

    def compare(self, a, sign, b):
        return E('%s %s %s' % (a.text, sign, b.text), '%s %s %s' % (a.sql, sign, b.sql), BOOL,
                 a.variables | b.variables)

    def condition(self, depth=1, source=None):
        if depth == 0 or self.chance(70):
            return self.comparison(source)
        a = self.condition(depth - 1, source)
        if self.chance(25):
            return E('not (%s)' % a.text, 'NOT (%s)' % a.sql, BOOL, a.variables)
        b = self.condition(depth - 1, source)
        word = self.choose.choice(['and', 'or'])
        return E('(%s %s %s)' % (a.text, word, b.text), '(%s %s %s)' % (a.sql, word, b.sql), BOOL,
                 a.variables | b.variables)

    # --- aggregates

    def aggregate(self):
        choose = self.choose
        source = choose.choice(self.used if self.used and self.chance(40) else self.sources)
        name, tail, view = self.reading(source)
        function = name[:-1] if name.endswith('c') else name
        argument, type = self.argument(source, function)
        if not argument and function not in ('count', 'any'):
            function, name = 'count', 'countc' if name.endswith('c') else 'count'
        by = []
        if self.chance(40):
            names = [n for n, _ in source.domains(INT, STRING)]
            by = choose.sample(names, min(len(names), choose.choice([1, 1, 1, 2])))
        inner = self.condition(1, source) if self.chance(35) else None
        text = '%s(%s%s%s%s)' % (
            name, argument.text if argument else source.name,
            ' by ' + ', '.join('%s.%s' % (source.name, n) for n in by) if by else '', tail,
            ' where ' + inner.text if inner else '')
        for i, known in enumerate(self.aggregates):
            if known.text == text:
                return self.reference(i, type)
        self.aggregates.append(Aggregate(source, function, argument.sql if argument else None, by,
                                         ['(%s)' % inner.sql] if inner else [], view, text))
        return self.reference(len(self.aggregates) - 1, type)

    def reference(self, i, type):
        aggregate = self.aggregates[i]
        return E(aggregate.text, '\x05%d\x06' % i, type)

    def argument(self, source, function):
        if function in ('count', 'any') and self.chance(70):
            return None, INT
        kinds = [self.integer, self.integer, self.real]
        if function in ('min', 'max', 'countu', 'count'):
            kinds.append(self.text)
        argument = self.choose.choice(kinds)(source)
        if argument and not argument.variables:
            argument = self.domain(INT, source=source)
        if argument and function in ('count', 'any', 'countu'):
            return argument, INT
        if argument and function in ('avg', 'avgu'):
            return argument, FLOAT
        return argument, argument.type if argument else INT

    def reading(self, source):
        """(name, tail, view): which tuples count."""
        name = self.choose.choice(['count', 'count', 'any', 'sum', 'avg', 'min', 'max',
                                   'countu', 'sumu', 'avgu'])
        relation, event = source.relation.name, source.relation.event
        now, started = relation + '_t', relation + '_c'
        tails = not name.endswith('u') and self.chance(15)
        if tails and self.chance(30):
            return name, ' for each instant', now
        if not source.base:
            return name, ' for each instant' if event else '', now
        if tails and self.chance(40):
            return name, ' for ever', started
        if tails:
            w = self.choose.randrange(1, 6)
            self.windows.add(w)
            last = 'at_ + %d > t' % w if event else 'stop_ + %d > t' % (w - 1)
            return name, ' for each %d' % w, '(SELECT * FROM %s WHERE %s)' % (started, last)
        if event:
            return name, '', started
        if name in ('count', 'any', 'sum', 'min', 'max') and self.chance(20):
            return name + 'c', '', started
        return name, '', now

    # --- the statement

    def make(self, name):
        self.windows = set()
        statement = Statement(name)
        statement.unique = self.chance(5)
        for _ in range(self.choose.randrange(4 if self.used else 1)):
            kind = self.choose.randrange(10)
            e = (self.text() if kind < 3 else self.real() if kind < 5 else
                 self.domain(BOOL) if kind < 6 else self.integer())
            if e:
                statement.targets.append((e.type[0] + str(len(statement.targets)), e))
        if self.with_aggregates:
            for _ in range(self.choose.choice([1, 1, 1, 2])):
                e = self.aggregate()
                if e.type == INT and self.chance(20) and not self.big:
                    e = E('%s * 2' % e.text, '%s * 2' % e.sql, INT)
                statement.targets.append((e.type[0] + str(len(statement.targets)), e))
        for percent in 50, 25:
            if self.used and self.chance(percent):
                statement.where.append(self.condition())
        if self.with_aggregates and self.chance(15):
            e = self.aggregate()
            if e.type == INT:
                statement.where.append(self.compare(e, '>', E('0', '0', INT)))
        if self.chance(6) and not self.aggregates and not self.big:
            e = self.domain(INT)
            if e:
                self.divisors.append(e.sql)
                condition = E('6 / %s > 2' % e.text, '6 / %s > 2' % e.sql, BOOL, e.variables)
                statement.where.insert(self.choose.randrange(len(statement.where) + 1), condition)
        statement.aggregates, statement.divisors = self.aggregates, self.divisors
        statement.windows = self.windows
        return statement


# --- SQL


def parts_of(statement):
    return [e for _, e in statement.targets] + statement.where


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


def is_event(statement, sources):
    variables = set().union(*[e.variables for e in parts_of(statement)])
    return any(sources[v].relation.event for v in variables)


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
            if statement.name:
                break
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
        if statement.name and answer.status != world.OK:
            break
    return None


def draw(choose, patterns):
    """A database and statements. They are drawn without a look at results: derived ones are periods or
    events by what they use."""
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
    sources = [Source(c + r.name, r, True) for r in database.relations for c in 'ab']
    statements = []
    for i in range(STATEMENTS):
        name = 'D%d' % i if choose.random() < 0.2 else None
        statement = Generator(choose, sources, big, patterns).make(name)
        if not parts_of(statement) or (big and name):
            continue
        statements.append(statement)
        if name and not statement.divisors and statement.targets:
            by_name = {s.name: s for s in sources}
            kind = 'event' if is_event(statement, by_name) else 'period'
            domains = [(n, e.type, None) for n, e in statement.targets]
            derived = world.Relation(name, kind, domains, [])
            sources = sources + [Source(c + name, derived, False) for c in 'ab']
    return database, statements


def has_patterns(session):
    session.open()
    session.must('create event E (s = text) range of e is E')
    session.must('append to E (s = "ab") at 1')
    return len(session.must('retrieve (e.s) where e.s = "a*"').results[0][1]) == 1


def main():
    program = Program('snapshot')
    patterns = has_patterns(program.session)

    def one(seed, choose):
        database, statements = draw(choose, patterns)
        options = {'rules_off': choose.random() < 0.3, 'batch': choose.choice([0, 0, 1])}
        found = run_case(program, database, statements, options, program.selftest, True)
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


sys.exit(main())
