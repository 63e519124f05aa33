"""Random statements with `when`, delimiters, and what SQL has no word for: temporal values, scalars from time.

Whether an operand is an event or a period is kept track of, so that nearly all statements bind: `,` between two
events stands in conditions only, and a delimiter is an event.
"""
from scalars import E, Generator
from world import BOOL, CHRONON, FLOAT, INT, SPAN, STRING, TEMPORAL, duration, time


class T:
    """A temporal expression."""

    def __init__(self, text, event, variables=()):
        self.text, self.event, self.variables = text, event, frozenset(variables)


class Clauses(Generator):
    """COVERAGE: the reading of `,`. SURE: the database is determinate. GRAIN: the size of a chronon shows."""

    def __init__(self, choose, sources, coverage, sure, patterns=False):
        super().__init__(choose, sources, False, patterns)
        self.coverage, self.sure = coverage, sure

    # --- temporal expressions

    def leaf(self):
        if not self.used or self.chance(8):
            return T(time(self.choose.randrange(13)), True)
        v = self.choose.choice(self.used)
        if self.chance(35):
            return T('%s.%s' % (v.name, self.choose.choice(['start', 'stop'])), True, [v.name])
        return T(v.name, v.relation.event, [v.name])

    def temporal(self, depth, clause):
        if depth == 0 or self.chance(45):
            return self.leaf()
        a, b = self.temporal(depth - 1, clause), self.temporal(depth - 1, clause)
        variables = a.variables | b.variables
        two_events = a.event and b.event and not self.coverage
        end = self.choose.choice(['start', 'stop'])
        if self.chance(30):
            sign = ' ;' if two_events or self.chance(30) else ','
            return T('(%s%s %s).%s' % (a.text, sign, b.text, end), True, variables)
        kind = self.choose.randrange(4 if clause else 6)
        if kind in (1, 3) and a.event and b.event and clause and (two_events or kind == 3):
            kind = 0
        if kind == 0:
            return T('(%s ; %s)' % (a.text, b.text), False, variables)
        if kind == 1:
            return T('(%s, %s)' % (a.text, b.text), (a.event or b.event) and not self.coverage, variables)
        if kind == 2:
            return T('((%s) extend (%s))' % (a.text, b.text), False, variables)
        if kind == 3:
            return T('((%s) overlap (%s))' % (a.text, b.text), a.event or b.event, variables)
        if kind == 4:
            n = self.choose.randrange(6)
            return T('(%s ; within %s %s)' % (a.text, duration(n), b.text), False, variables)
        return T('(%s | %s)' % (a.text, b.text), a.event and b.event, variables)

    def event_expression(self):
        t = self.temporal(2, True)
        if t.event:
            return t
        return T('(%s).%s' % (t.text, self.choose.choice(['start', 'stop'])), True, t.variables)

    def when(self, depth=1):
        if depth > 0 and self.chance(20):
            a, b = self.when(depth - 1), self.when(depth - 1)
            if self.chance(30):
                return T('not (%s)' % a.text, False, a.variables)
            word = self.choose.choice(['and', 'or'])
            return T('(%s %s %s)' % (a.text, word, b.text), False, a.variables | b.variables)
        a, b = self.temporal(2, False), self.temporal(1, False)
        word = self.choose.choice([' precede ', ' equal ', ' contain ', ' ; ', ', ', None])
        if not word:
            return a
        parts = (a.text, b.text) if word in (' ; ', ', ') else ('(%s)' % a.text, '(%s)' % b.text)
        return T(word.join(parts), False, a.variables | b.variables)

    # --- values from time

    def from_time(self):
        v = self.choose.choice(self.used)
        kind = self.choose.randrange(3)
        if kind == 0 and not v.relation.event:
            factor = self.choose.choice(['', ' * 2', ' + 1', ' / 4'])
            return E('duration(%s)%s' % (v.name, factor), None, TEMPORAL, [v.name])
        if kind == 1 and self.sure:
            return E('chronon(%s.start)' % v.name, None, CHRONON, [v.name])
        starts = [w for w in self.used if w.base]
        if kind == 2 and self.sure and len(starts) > 1:
            a, b = self.choose.sample(starts, 2)
            return E('span(%s.start ; %s.start)' % (a.name, b.name), None, SPAN, [a.name, b.name])
        return None

    def average(self):
        """avgc, first, last, stdev, varts, avgti, extendc over any variable."""
        choose = self.choose
        v = choose.choice(self.used if self.used and self.chance(40) else self.sources)
        x = self.domain(INT, source=v)
        names = [n for n, _ in v.domains(INT, STRING)]
        by = ' by %s.%s' % (v.name, choose.choice(names)) if names and self.chance(35) else ''
        if not x or self.chance(60):
            type = FLOAT if v.relation.event else TEMPORAL
            return E('avgc(%s%s)' % (v.name if not x or self.chance(50) else x.text, by), None, type)
        tails = ['', '', ' for ever']
        if self.grain:
            tails += [' for each instant', ' for each ' + duration(3)]
        function = choose.choice(['first', 'last', 'stdev', 'varts', 'avgti', 'extendc'])
        if function == 'extendc':
            return E('extendc(%s%s)' % (x.text, by), None, INT) if v.relation.event and self.grain else None
        type = INT if function in ('first', 'last') else FLOAT
        return E('%s(%s%s%s)' % (function, v.name if function == 'varts' else x.text, by,
                                 choose.choice(tails)), None, type)

    def cut(self):
        periods = [v for v in self.used if not v.relation.event]
        if not periods or not self.sure or not self.grain:
            return None
        v = self.choose.choice(periods)
        sign = self.choose.choice(['<', '>', '<=', '>=', '=', '!='])
        return E('duration(%s) %s %d' % (v.name, sign, self.choose.randrange(7)), None, BOOL, [v.name])

    # --- the statement

    def make(self, name):
        statement = super().make(name)
        statement.divisors = []
        statement.where = [e for e in statement.where if '/ ' not in e.text]
        more = []
        if self.used and self.chance(20):
            more.append(self.from_time())
        if self.with_aggregates and self.chance(40):
            more.append(self.average())
        for e in more:
            if e:
                statement.targets.append((e.type[0] + str(len(statement.targets)), e))
        if self.used and self.chance(4):
            statement.where += [e for e in [self.cut()] if e]
        statement.coalesced = self.chance(4)
        self.clauses(statement)
        return statement

    def clauses(self, statement):
        events = any(v.relation.event for v in self.used)
        if self.used and self.chance(50):
            statement.when.append(self.when())
            if self.chance(20):
                statement.when.append(self.when(0))
        kind = self.choose.randrange(100)
        if kind < 25 or (events and len(self.used) > 1 and statement.when and kind < 70):
            statement.at = self.event_expression() if self.used or self.chance(50) else None
        elif kind < 45 and self.used:
            if events or self.chance(70):
                statement.start, statement.stop = self.event_expression(), self.event_expression()
            elif self.chance(50):
                statement.start = self.event_expression()
            else:
                statement.stop = self.event_expression()
            if not events and self.chance(25):  # one tuple's own period
                v = self.choose.choice(self.used)
                statement.start = T(v.name + '.start', True, [v.name])
                statement.stop = T(v.name + '.stop', True, [v.name])


def result_is_event(statement, sources):
    """As the language says it: `at`, or an event variable by default."""
    parts = [e for _, e in statement.targets] + statement.where + statement.when
    variables = set().union(*[e.variables for e in parts])
    if statement.at:
        return True
    if statement.start or statement.stop:
        return False
    return any(sources[v].relation.event for v in variables)
