"""Random expressions, conditions, aggregates and statements with default clauses, each as statement text and as
SQL over views restricted to an instant (snapshot.py says which).

What is drawn has types; integer arithmetic stays small unless BIG. `clauses.py` adds temporal expressions.
"""
import world
from world import BOOL, FLOAT, INT, STRING, Statement, duration, string


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
                'sum': 'coalesce(exact_sum(%s), 0)' % argument,
                'sumu': 'coalesce(exact_sum(DISTINCT %s), 0)' % argument,
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


class Generator:
    """One statement over SOURCES."""

    def __init__(self, choose, sources, big, patterns):
        self.choose, self.sources, self.big, self.patterns = choose, sources, big, patterns
        count = choose.choices([0, 1, 2, 3], [8, 42, 38, 12])[0]
        self.used = choose.sample(sources, min(count, len(sources)))
        self.string_functions = self.string_order = self.grain = True
        self.aggregates, self.divisors = [], []
        self.with_aggregates = not self.used or choose.random() < 0.45
        if big and self.with_aggregates:  # whether an overflow counts where no combination holds is open
            self.used = []

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
        if kind == 3 and self.string_functions and self.chance(20):
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
        if not e or not self.string_functions or self.chance(85):
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
        i = self.integer(source, 0 if self.big else 1)
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
                sign = sign if self.string_order else choose.choice(['=', '!='])
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
        while self.big and name.startswith('avg'):  # SQLite rounds on the way
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
        if self.big:  # overflow in an argument: SQL would not say for which tuples
            argument = self.domain(INT, source=source)
            return argument, FLOAT if function in ('avg', 'avgu') else INT
        kinds = [self.integer, self.integer, self.real]
        if function in ('countu', 'count') or self.string_order and function in ('min', 'max'):
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
        if tails and self.chance(30) and (self.grain or not event):
            return name, ' for each instant', now
        if not source.base:
            return name, ' for each instant' if event and self.grain else '', now
        if tails and self.chance(40):
            return name, ' for ever', started
        if tails and self.grain:
            w = self.choose.randrange(1, 6)
            self.windows.add(w)
            last = 'at_ + %d > t' % w if event else 'stop_ + %d > t' % (w - 1)
            return name, ' for each ' + duration(w), '(SELECT * FROM %s WHERE %s)' % (started, last)
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
            for _ in range(1 if self.big else self.choose.choice([1, 1, 1, 2])):
                e = self.aggregate()
                if e.type == INT and self.chance(20) and not self.big:
                    e = E('%s * 2' % e.text, '%s * 2' % e.sql, INT)
                statement.targets.append((e.type[0] + str(len(statement.targets)), e))
        for percent in 50, 25:
            if self.used and self.chance(percent):
                statement.where.append(self.condition())
        if self.with_aggregates and not self.big and self.chance(15):
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


def parts_of(statement):
    return [e for _, e in statement.targets] + statement.where


def is_event(statement, sources):
    variables = set().union(*[e.variables for e in parts_of(statement)])
    return any(sources[v].relation.event for v in variables)


def sources_of(database):
    return [Source(c + r.name, r, True) for r in database.relations for c in 'ab']


def draw_statements(session, database, count, make, event_of):
    """COUNT statements, MAKE(sources, name) each; a later one may use what an earlier one defines, if the session
    accepts that one. The database is loaded."""
    sources, statements = sources_of(database), []
    for i in range(count):
        statement = make(sources, 'D%d' % i)
        if not parts_of(statement) + statement.when:
            continue
        statements.append(statement)
        if not statement.name or session.run(world.render(statement.text())).status != world.OK:
            continue
        kind = 'event' if event_of(statement, {s.name: s for s in sources}) else 'period'
        domains = [(n, e.type, None) for n, e in statement.targets]
        derived = world.Relation(statement.name, kind, domains, [])
        session.must(derived.ranges())
        sources = sources + [Source(c + derived.name, derived, False) for c in 'ab']
    return statements
