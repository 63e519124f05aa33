#!/usr/bin/env python3
"""Refinement: who knows more, knows no less.

The bounds of indeterminate tuples are narrowed at random, omega tuples become definite, vanish or stay. Then no
combination that gave a definite result tuple gives none or an omega one, none appears that was impossible
before, and the bounds of every result lie within those it had.

Statements have where, when and delimiters, over relations and derived relations, no aggregates. Every tuple has
a number, and every target list the numbers of all tuples that take part, so that one sees which combination
a result tuple comes from.

    refinement.py DRIVER [--count N] [--seed S] [--selftest] [--verbose]
"""
import sys

sys.dont_write_bytecode = True

import world
from clauses import Clauses, result_is_event
from scalars import E, draw_statements
from world import FOREVER, INT, Maker, Program, Result, Row

STATEMENTS = 12


def is_key(name):
    return name == 'id' or name.startswith('k')


class Combinations(Clauses):
    def from_time(self):
        return None

    def make(self, name):
        self.with_aggregates, self.used = False, self.used or [self.sources[0]]
        statement = super().make(name)
        statement.coalesced = False
        keys = [E('%s.%s' % (v.name, n), None, INT, [v.name], kept=True)
                for v in self.used for n, _ in v.domains(INT) if is_key(n)]
        statement.targets = [('k%d' % i, e) for i, e in enumerate(keys)]
        return statement


def draw(session, folder, choose):
    database = Maker(choose, sure=False).database([('id', INT, 'i4')])
    relations = [r for r in database.relations if r.kind != 'traced']
    if not relations:
        return None
    for relation in relations:
        for i, row in enumerate(relation.rows):
            row.values = (i,) + tuple(row.values[1:])
    database = world.Database(relations)
    coverage = choose.random() < 0.2
    if coverage:
        database.settings.append('set parallel coverage')
    database.load(session, folder)

    def make(sources, name):
        generator = Combinations(choose, sources, coverage, False)
        return generator.make(name if choose.random() < 0.25 else None)

    return database, draw_statements(session, database, STATEMENTS, make, result_is_event)


# --- narrowing


def within(choose, bounds):
    lo, hi = bounds
    if lo == hi or choose.random() < 0.25:
        return lo, hi
    if hi == FOREVER:
        ends = [FOREVER, lo, lo + 1, lo + 5]
        a, b = choose.choice(ends), choose.choice(ends)
    else:
        a, b = choose.randint(lo, hi), choose.randint(lo, hi)
    return min(a, b), max(a, b)


def is_period(start, stop):
    return (start[0] <= stop[0] and start[1] <= stop[1] and
            (start[0] < start[1] or stop[0] < stop[1] or start[0] < stop[0]))


def narrower_times(choose, times):
    if len(times) == 2:
        return within(choose, times)
    for _ in range(20):
        start, stop = within(choose, times[:2]), within(choose, times[2:])
        if is_period(start, stop):
            return start + stop
    return times


def narrowed(choose, database):
    relations = []
    for relation in database.relations:
        rows = []
        for row in relation.rows:
            fate = 0.0 if row.definite else choose.random()
            if fate < 0.7:  # it is there, for sure or perhaps
                rows.append(Row(narrower_times(choose, row.times), row.values,
                                row.definite or fate < 0.35))
        relations.append(relation.with_rows(rows))
    return world.Database(relations, database.settings)


# --- judging


def by_combination(answer, statement):
    result = Result(answer.results[-1], [INT] * len(statement.targets))
    rows = {row.values: row for row in result.rows}
    return rows if len(rows) == len(result.rows) else None


def lies_within(inner, outer):
    return all(outer[i] <= inner[i] and inner[i + 1] <= outer[i + 1] for i in range(0, len(inner), 2))


def describe(row):
    return '%s %s %s' % (row.values, row.times, 'definite' if row.definite else 'omega')


def compare(before, after):
    if before is None or after is None:
        return 'two result tuples for one combination'
    for key, row in before.items():
        narrow = after.get(key)
        if row.definite and (narrow is None or not narrow.definite):
            return '%s is definite, but with more known %s' % (
                describe(row), 'absent' if narrow is None else 'omega')
        if narrow and not lies_within(narrow.times, row.times):
            return '%s becomes %s: not within its bounds' % (describe(row), describe(narrow))
    for key, row in after.items():
        if key not in before:
            return '%s was impossible before' % describe(row)
    return None


def ask(session, statement):
    answer = session.run(world.render(statement.text()))
    if answer.status == world.OK and statement.name:
        session.must('range of a%s is %s range of b%s is %s' % ((statement.name,) * 4))
        answer = session.must('print ' + statement.name)
    return answer


def run_case(program, other, database, statements, seed, options, count=False):
    """The first statement that differs: (index, why), or None."""
    narrow = narrowed(world.random.Random(seed), database)
    database.load(program.session, program.folder)
    narrow.load(other, program.folder, **options)
    for i, statement in enumerate(statements):
        one, two = ask(program.session, statement), ask(other, statement)
        if count:
            program.add('statements')
            program.add('refused', one.status != world.OK)
            program.say(world.render(statement.text()))
        if (one.status, one.number) != (two.status, two.number):
            return i, 'TQ-%04d %s; with more known TQ-%04d %s' % (one.number, one.message, two.number,
                                                                two.message)
        if one.status != world.OK:
            continue
        before, after = by_combination(one, statement), by_combination(two, statement)
        if program.selftest and after:
            after.popitem()
        if count:
            program.add('rows', len(before or ()))
            program.add('omega', sum(not row.definite for row in (before or {}).values()))
        why = compare(before, after)
        if why:
            return i, why + '\nthe narrower relations:\n' + narrow.script()
    return None


def main():
    program = Program('refinement')
    other = world.Session(program.driver)

    def one(seed, choose):
        drawn = draw(program.session, program.folder, choose)
        if not drawn:
            return
        database, statements = drawn
        options = {'rules_off': choose.random() < 0.3, 'batch': choose.choice([0, 1])}
        for narrowing in range(3):
            own = seed * 3 + narrowing
            found = run_case(program, other, database, statements, own, options, True)
            if found:
                break
        if not found:
            return
        statements = statements[:found[0] + 1]
        if not program.selftest:
            def differs(d, s):
                again = run_case(program, other, d, s, own, options)
                return again is not None and again[0] == len(s) - 1
            database, statements = world.shrink(database, statements, differs)
            found = run_case(program, other, database, statements, own, options) or found
        program.report(seed, 'differs', world.script(database, statements), found[1])

    status = program.run(one)
    other.quit()
    return status


if __name__ == '__main__':
    sys.exit(main())
