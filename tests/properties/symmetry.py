#!/usr/bin/env python3
"""Symmetry: what is said otherwise means the same.

The same database and statements are given to two sessions, to the second one with

  - all times, origins and constants shifted by k, also to just before the ends of the time line;
  - strings renamed injectively (in any order where no statement compares their order);
  - tuples in another order (records of one entity at one time keep theirs);
  - another configuration: rules off, batches of one row;
  - or on the real timeline, a second for each chronon.

Its results must be those of the first one with the same done to them; where one refuses, the other must as
well, with the same number. Statements have all clauses, aggregates and temporal values.

On the way: determinate databases give determinate results (open periods and extendc excepted).

    symmetry.py DRIVER [--count N] [--seed S] [--selftest] [--verbose]
"""
import re
import sys

sys.dont_write_bytecode = True

import world
from clauses import Clauses, result_is_event
from scalars import draw_statements
from world import As, CHRONON, Crash, FOREVER, Maker, Program, Result, SPAN, STRING, TEMPORAL

STATEMENTS = 12
SECOND = 10**9
NAMES = ['', ' ', 'A b', 'Zz', 'a', "it's", 'say "so"', 'two\nlines', 'x' * 300, 'é', 'ÿ', '日本', '😀,;', 'null',
         '-1', 'forever']


def draw(session, folder, choose):
    sure = choose.random() < 0.4
    maker = Maker(choose, sure)
    database = maker.database()
    database.settings.append('set origin ' + world.time(choose.choice([0, 0, 0, -2, 5])))
    if choose.random() < 0.15:
        database.settings.append('set averaging origin ' + world.time(choose.randrange(8)))
    coverage = choose.random() < 0.15
    if coverage:
        database.settings.append('set parallel coverage')
    plan = Plan(choose, sure)
    database.load(session, folder)

    def make(sources, name):
        generator = Clauses(choose, sources, coverage, sure)
        generator.string_functions = not plan.renames
        generator.string_order = plan.order_kept
        generator.grain = not plan.real
        return generator.make(name if choose.random() < 0.25 else None)

    statements = draw_statements(session, database, STATEMENTS, make, result_is_event)
    if any(e.type == TEMPORAL for statement in statements for _, e in statement.targets):
        plan.stay_near(choose)
    return database, statements, plan


class Plan:
    """What is done to the second session."""

    def __init__(self, choose, sure):
        self.real = choose.random() < 0.15
        self.renames = choose.random() < 0.4
        self.order_kept = not self.renames or choose.random() < 0.5
        self.permutes = choose.random() < 0.5
        self.sure = sure
        shift = choose.choice([0, 1, -1, 7, -10**6, 10**12 + 7, FOREVER - 64, -FOREVER + 64,
                               choose.randrange(-2**40, 2**40)])
        if self.real:
            shift = choose.choice([0, 1, -SECOND, 1795172523 * SECOND, -2**62])
        self.said = As(shift, self.naming(choose), SECOND if self.real else 1,
                       'real' if self.real else 'abstract')
        self.options = {'rules_off': choose.random() < 0.3, 'batch': choose.choice([0, 1])}
        self.order = choose.randrange(2**32)

    def stay_near(self, choose):
        """Whether two temporal values are one is told by doubles, which have no chronons far from 0."""
        if not self.real and abs(self.said.shift) > 2**50:
            self.said = As(choose.randrange(-2**40, 2**40), self.said.rename, 1, 'abstract')

    def naming(self, choose):
        if not self.renames:
            return None
        names = choose.sample(NAMES, 3)
        if self.order_kept:
            names.sort(key=lambda name: name.encode())
        return dict(zip('abc', names))

    def permuted(self, database):
        if not self.permutes:
            return database
        return world.Database([self.shuffled(r) for r in database.relations], database.settings)

    def shuffled(self, relation):
        places = list(range(len(relation.rows)))
        world.random.Random(self.order).shuffle(places)
        if relation.kind == 'traced':  # of one time: as they were
            times = {}
            for i in sorted(places):
                times.setdefault(relation.rows[i].times, []).append(i)
            places = [times[relation.rows[i].times].pop(0) for i in places]
        return relation.with_rows([relation.rows[i] for i in places])

    def __str__(self):
        return 'shift %d, %s%s, renamed %s, %s' % (
            self.said.shift, self.said.timeline, ', permuted' if self.permutes else '',
            self.said.rename, self.options)


def values_said(said, types, values):
    result, place = [], 0
    for type in types:
        if type == TEMPORAL:
            result += values[place:place + 4]
            place += 4
            continue
        value = values[place]
        place += 1
        if type == CHRONON:
            value = said.time(value)
        elif type == SPAN:
            value *= said.scale
        elif type == STRING:
            value = said.rename[value] if said.rename and value in said.rename else value
        result.append(value)
    return tuple(result)


def said_of(said, result, types):
    return [tuple(said.time(t) for t in row.times) + (row.definite,) +
            values_said(said, types, row.values) for row in result.rows]


def ask(session, said, statement):
    answer = session.run(said.render(statement.text()))
    if answer.status == world.OK and statement.name:
        session.must('range of a%s is %s range of b%s is %s' % ((statement.name,) * 4))
        answer = session.must('print ' + statement.name)
    return answer


def is_skipped(*answers):
    return any(answer.skipped or answer.number in (107, 113) for answer in answers)


def at_the_end(statement, one, other):
    """A temporal value counted from `forever`: how far that is depends on where the time line ends."""
    return (TEMPORAL in [e.type for _, e in statement.targets] and 401 in (one.number, other.number) and
            '"forever"' in one.message + other.message)


def judge(program, statement, plan, one, other, tainted):
    types = [e.type for _, e in statement.targets]
    if at_the_end(statement, one, other):
        return None
    if (one.status, one.number) != (other.status, other.number):
        return 'as it is: %d TQ-%04d %s; said otherwise: %d TQ-%04d %s' % (
            one.status, one.number, one.message, other.status, other.number, other.message)
    if one.status != world.OK:
        return None
    result = Result(one.results[-1], types)
    wanted = said_of(plan.said, result, types)
    got = Result(other.results[-1], types).as_tuples()
    if program.selftest and wanted:
        wanted[0] = (wanted[0][0] - 1,) + wanted[0][1:]
    if TEMPORAL in types and any(row[0] == FOREVER for row in wanted + got):
        return None  # how long it takes until then depends on where the time line ends
    missing, more = world.set_difference(wanted, got), world.set_difference(got, wanted)
    if missing or more or len(wanted) != len(got):
        return 'only as it is: %s\nonly said otherwise: %s' % (missing, more)
    if plan.sure and not tainted:
        for row in result.rows:
            if not row.definite or row.times[0] != row.times[1] or row.times[-2] != row.times[-1]:
                return 'indeterminate, of determinate relations: %s' % (row.times + row.values,)
    return None


def run_case(program, other, database, statements, plan, count=False):
    """The first statement that differs: (index, why), or None."""
    database.load(program.session, program.folder)
    plan.permuted(database).load(other, program.folder, plan.said, **plan.options)
    tainted = set()
    for i, statement in enumerate(statements):
        one, two = ask(program.session, world.AS_IT_IS, statement), ask(other, plan.said, statement)
        text = statement.text()
        taint = 'extendc' in text or any(re.search(r'\b[ab]%s\b' % name, text) for name in tainted)
        if taint and statement.name:
            tainted.add(statement.name)
        if is_skipped(one, two):
            program.add('skipped', count)
            continue
        if count:
            program.add('statements')
            program.add('refused', one.status == world.USER and not one.failed_at_run_time)
            program.add('fail when run', one.failed_at_run_time)
            program.add('rows', sum(len(lines) for _, lines in one.results))
            program.say(world.render(statement.text()))
            if one.status != world.OK:
                program.say('  TQ-%04d %s' % (one.number, one.message))
        why = judge(program, statement, plan, one, two, taint)
        if why:
            return i, why
    return None


def main():
    program = Program('symmetry')
    other = world.Session(program.driver)

    def one(seed, choose):
        database, statements, plan = draw(program.session, program.folder, choose)
        try:
            found = run_case(program, other, database, statements, plan, True)
        except Crash as crash:
            smallest = world.shrink_crash(database, statements,
                                          lambda d, s: run_case(program, other, d, s, plan))
            program.report(seed, 'broken (%s)' % plan, world.script(*smallest), str(crash))
            return
        if not found:
            return
        statements = statements[:found[0] + 1]
        if not program.selftest:
            database, statements = world.shrink(
                database, statements, lambda d, s: differs_last(program, other, d, s, plan))
            found = run_case(program, other, database, statements, plan) or found
        program.report(seed, 'differs (%s)' % plan, world.script(database, statements), found[1])

    status = program.run(one)
    other.quit()
    return status


def differs_last(program, other, database, statements, plan):
    try:
        found = run_case(program, other, database, statements, plan)
    except Crash:
        return False
    return found is not None and found[0] == len(statements) - 1


if __name__ == '__main__':
    sys.exit(main())
