#!/usr/bin/env python3
"""Databases that somebody has edited with sqlite3: what is wrong is named, when they are opened, when it is used and by
`tquel check-database`; the rest works, and what is unusable can be destroyed. Prints TAP.

    damage_test.py TQUEL

Each case is SQL on a copy of one database that has everything in it, what check-database must say of it (its lines, or
beginnings of them; all of them), and statements with what must come of them: an exit status and a part of the output.
Random edits are tests/fuzz/edits.c."""
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

TQUEL = os.path.abspath(sys.argv[1])

WORLD = '''
create event E (x = i4, s = text) create period P (n = c20, k = i4, f = f8, b = bool)
create traced T (who = text, v = i4) by who create S (n = text)
create sampled M (who = name, v = i2) by who
append to E (x = 1, s = "a") at 5 append to E (x = 2, s = "b") at 5
append to P (n = "a", k = 1, f = 0.5, b = true) start 2 stop 6 append to P (n = "b", k = 2) start 3
append to T (who = "a", v = 1) at 1 append to T (who = "a", v = 2) at 7 append to S (n = "a")
append to M (who = "cpu:0#0", v = 1) at 4 append to M (who = "cpu:0#0", v = 2) at 9
range of e is E range of p is P
retrieve into A (p.n, d = duration(p)) where p.k > 0
range of a is A retrieve into B (c = count(a))
define view V (e.x, p.n) when e , p
range of v is V retrieve into W (v.n, c = countc(v by v.n))
define integrity on e is e.x > 0 define permit retrieve on E to bob
index on P is pk (k) modify T to hash on who
range of l is Late retrieve into C (l.relation, n = countc(l by l.relation))
set checkpoint manual append to E (x = 9, s = "z") at 50 checkpoint 40 append to E (x = 9, s = "late") at 30
'''

LOOSE = ("pragma writable_schema = on; update sqlite_schema set sql = replace(replace(sql, ' NOT NULL', ''), ' STRICT', '')"
         " where name = '{0}'; update sqlite_schema set sql = replace(sql, ')STRICT', ')') where name = '{0}';"
         " pragma writable_schema = reset; ")

# name, SQL, findings, [(statement, exit status, part of the output)]
CASES = [
    ('nothing', '', [], [('print A print W', 0, '')]),
    ('a table that is said to be a view', "update tq_view set name = 'E'",
     ['E: unusable: tq_view has it, and it is not derived',
      'V: unusable: it is computed from E, which is unusable', 'W: unusable: it is computed from V, which is unusable'],
     [('print E', 2, 'TQ-0636: E is unusable: tq_view has it'), ('print V', 2, 'TQ-0636'), ('print A', 0, 'forever'),
      ('append to P (n = "c", k = 3) start 1 stop 9 print B', 0, 'warning TQ-0637: W is unusable'),
      ('range of e is E', 2, 'TQ-0636'), ('append to E (x = 1, s = "q") at 70', 2, 'TQ-0636'),
      ('create event E (x = i4)', 2, 'TQ-0104'), ('help E', 0, 'unusable       E: tq_view'),
      ('destroy E, V, W create event E (x = i4) append to E (x = 3) at 80 print E', 0, '80,80,true,3')]),
    ('a definition that is gone', "delete from tq_query where name = 'A'",
     ['A: unusable: it is derived, by no definition', 'B: unusable: it is computed from A'],
     [('print B', 2, 'TQ-0636'), ('destroy P', 2, 'P is used by V, W, A'), ('destroy B destroy A', 0, '')]),
    ('a definition of another', "update tq_query set text = 'range of e is E retrieve into A (e.x)' where name = 'A'",
     ['A: unusable: its definition does not give its tuples', 'B: unusable: it is computed from A'],
     [('print A', 2, 'TQ-0636'), ('append to P (n = "d", k = 4) start 1 stop 2', 0, '')]),
    ('a definition that is none', "update tq_query set text = 'nonsense' where name = 'B'",
     ['B: unusable: its definition is refused: '], [('print B', 2, 'TQ-0636'), ('print A', 0, 'forever')]),
    ('a circle', "update tq_query_input set relation = 'B' where query = 'A'",
     ['A: unusable: it is computed from B, which was made after it', 'B: unusable: it is computed from A'],
     [('destroy A, B', 0, '')]),
    ('a kind that is none', LOOSE.format('tq_relation') +
     "pragma ignore_check_constraints = on; update tq_relation set kind = 'heap' where name = 'S'",
     ['tq_relation: the table is ', 'file: CHECK', 'S: unusable: "heap" is no kind of relation'], [('print S', 2, 'TQ-0636'), ('destroy S', 0, '')]),
    ('a name that is none', "update tq_relation set name = 'tq_domain' where name = 'S'",
     ['tq_relation, row 4: unusable: "tq_domain" is no name of a relation', 'tq_domain: speaks of "S"',
      'tq_checkpoint: speaks of "S"', 'tq_node_stats: speaks of "S"', 'S: a table like that of a relation', 'tq_S_set: ', 'tq_S_long: ', 'S_readable: '],
     [('destroy tq_domain', 2, 'TQ-0101'), ('print P', 0, '')]),
    ('a type that is none', "update tq_domain set type = 'c0x' where relation = 'P' and name = 'n'",
     ['P: unusable: domain 0 has the type "c0x", which is none', 'A: unusable', 'B: unusable', 'V: unusable', 'W: unusable'],
     [('print P', 2, 'TQ-0636'), ('destroy P, A, B, V, W', 0, '')]),
    ('a domain less', "delete from tq_domain where relation = 'P' and position = 1",
     ['P: unusable: tq_domain has no domain 1 of it', 'A: unusable', 'B: unusable', 'V: unusable', 'W: unusable',
      'pk: the index'], []),
    ('by a domain that is none', "update tq_domain set key_place = 7 where relation = 'T' and key_place = 0",
     ['T: unusable: tq_domain has no domain 0 of its key'], [('print T', 2, 'TQ-0636'), ('destroy T', 0, '')]),
    ('by one domain twice', "update tq_domain set key_place = 0 where relation = 'T'",
     ['T: unusable: tq_domain has no domain 1 of its key'], [('print T', 2, 'TQ-0636'), ('destroy T', 0, '')]),
    ('by nothing', "update tq_domain set key_place = null where relation = 'T'",
     ['T: unusable: it does not say by which of its domains it is'], [('print T', 2, 'TQ-0636'), ('destroy T', 0, '')]),
    ('a table that is gone', 'drop table S', ['S: unusable: its table is not as tquel makes it: no such table'],
     [('print S', 2, 'TQ-0636'), ('destroy S create S (q = text) print S', 0, '')]),
    ('an endless view in its place', 'drop table S; create view S as with recursive r (x) as (select 1 union all select x + 1'
     ' from r) select x as start_lo, x as start_hi, x as stop_lo, x as stop_hi, 1 as definite, \'\' as n from r',
     ['S: unusable: its table is not as tquel makes it: '], [('print S', 2, 'TQ-0636'), ('destroy S', 0, '')]),
    ('no checkpoint', "delete from tq_checkpoint where relation = 'S'", ['S: unusable: tq_checkpoint has no checkpoint of it'], []),
    ('another Late', 'alter table Late rename column reason to because; update tq_domain set name = \'because\''
     ' where name = \'reason\' and relation = \'Late\'',
     ['Late: unusable: it is not as tquel makes it', 'C: unusable: it is computed from Late'],
     [('set checkpoint manual append to E (x = 4, s = "late") at 20', 2, 'TQ-0636: Late is unusable')]),
    ('a rule that is none', "update tq_rule set text = 'x' where kind = 'integrity'",
     ['E: ', 'E: the database is damaged: rule 1 of E cannot be read'],
     [('append to E (x = 1, s = "r") at 90', 2, 'rule 1 of E cannot be read'), ('print E', 0, '5,5,true,1,a'),
      ('destroy integrity E all append to E (x = 1, s = "r") at 90', 0, '')]),
    ('rules of no kind', LOOSE.format('tq_rule') + LOOSE.format('tq_structure') +
     'pragma ignore_check_constraints = on; update tq_rule set kind = NULL; update tq_structure set structure = 7',
     None, [('help E', 0, ''), ('help T', 0, '')]),
    ('a period that ends before it starts', 'update P set stop_lo = start_lo - 5 where rowid = 1',
     ['P: row 1 is no tuple: stop_lo is before start_lo', 'A: row 1 of P is no tuple', 'W: row 1 of P is no tuple'],
     [('print P', 3, 'TQ-0638: row 1 of P is no tuple: stop_lo is before start_lo'),
      ('range of p is P retrieve (p.n) where p.k = 2', 3, 'TQ-0638'), ('print A', 0, 'forever')]),
    ('a mark of seven', 'update E set definite = 7 where rowid = 2', ['E: row 2 is no tuple: definite is neither 0 nor 1',
     'W: row 2 of E is no tuple'], [('print E', 3, 'TQ-0638: row 2 of E'), ('print V', 3, 'TQ-0638')]),
    ('a string too long', "update P set n = 'abcdefghijklmnopqrstuvw' where rowid = 2",
     ['P: row 2 is no tuple: n is longer than its type allows', 'A: ', 'W: '], [('print P', 3, 'n is longer than')]),
    ('no UTF-8', "update S set n = cast(x'61ff' as text)", ['S: row 1 is no tuple: n is not valid UTF-8'],
     [('print S', 3, 'TQ-0638')]),
    ('an integer too large', 'update T set v = 3000000000 where rowid = 1', ['T: row 1 is no tuple: v is out of the range of i4'],
     [('print T', 3, 'TQ-0638')]),
    ('no finite number', 'update P set f = 9e999', ['P: row 1 is no tuple: f is not a finite number', 'P: row 2', 'A: ', 'W: '],
     [('range of p is P retrieve (s = sum(p.f))', 3, 'TQ-0638')]),
    ('a value of another type', LOOSE.format('P') + "update P set k = 'many' where rowid = 1",
     ['P: the table is ', 'P: row 1 is no tuple: k is of another type', 'A: ', 'W: '], [('print P', 3, 'TQ-0638')]),
    ('no value', LOOSE.format('E') + 'update E set at_lo = NULL', ['E: the table is ', 'E: row 1 is no tuple: its times are no',
     'E: row 2', 'W: '], [('print E', 3, 'TQ-0638')]),
    ('records that are none', "update tq_sample set row = x'00'; update tq_pending set row = x'01'",
     ['E: ', 'M: '], [('range of m is M delete m', 3, 'TQ-0613')]),
    ('open tuples that are none', "insert into tq_alike values ('A', 0, 1, x'01'), ('Gone', 0, 1, x'01')",
     ['A: ', 'B: ', 'tq_alike: speaks of "Gone", a relation that is not there: 1 row'], [('print A', 0, '')]),
    ('results that are others', 'delete from A where rowid = 1; insert into B values (1, 1, 2, 2, 1, 77)',
     ['A: 1 tuple is missing that its definition computes from what is stored; the first: {"start_lo": 2',
      'B: 2 tuples are missing', 'B: '], [('print A', 0, '')]),
    ('what belongs to nothing', 'create table tq_more (x); create table Old (at_lo, at_hi, definite); create trigger t after'
     " insert on E begin select 1; end; insert into tq_feed values ('Gone', '-', 1, 1); drop view S_readable",
     ['S_readable: there is no view', 'tq_more: a table that belongs to nothing', 'Old: a table like that of a relation',
      't: a trigger on E', 'tq_feed: speaks of "Gone", a relation that is not there: 1 row'],
     [('append to E (x = 8, s = "t") at 95', 0, '')]),
    ('a version before its time', 'alter table tq_relation add column by_domain integer; update tq_relation set by_domain ='
     ' (select position from tq_domain as d where d.relation = tq_relation.name and key_place = 0); pragma user_version = 4', ['tq_announced: is there, though', 'tq_log: is there, though',
                                                               'tq_keep: is there, though', 'tq_alike: is there, though', 'tq_filtered: is there, though'],
     [('print P', 3, 'TQ-06')]),
    ('an index that is not there', 'drop index pk', ['pk: the index on "P" is not there'], [('print P', 0, '')]),
]

# SQL or bytes, and what is said when nothing can be opened.
REFUSED = [
    ('a catalogue without a table', 'drop table tq_domain', 'TQ-0613', 'no such table: tq_domain'),
    ('a catalogue without a column', 'alter table tq_query rename column text to words', 'TQ-0613', 'text'),
    ('an endless catalogue', 'drop table tq_view; create view tq_view as with recursive r (x) as (select 1 union all'
     " select x + 1 from r) select 'E' as name from r", 'TQ-0613', 'its catalogue is not'),
    ('an older version than its catalogue is of', 'pragma user_version = 8', 'TQ-061', 'column'),
    ('no version', 'pragma user_version = 0', 'TQ-0613', 'does not say which schema'),
    ('no timeline', 'delete from tq_setting', 'TQ-0613', 'timeline'),
]

number = failed = 0


def ok(good, what, said=''):
    global number, failed
    number += 1
    failed += not good
    print(('ok' if good else 'not ok'), number, '-', what)
    if not good:
        print('\n'.join('# ' + line for line in said.splitlines()))


def run(*arguments):
    child = subprocess.run([TQUEL, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
    return child.returncode, (child.stdout + child.stderr).decode('utf-8', 'replace'), child.stdout.decode('utf-8', 'replace')


def edit(path, sql):
    connection = sqlite3.connect(path)
    connection.executescript(sql)
    connection.close()


def compare(lines, wanted):
    """Each line begins as one that is wanted, and each that is wanted is there."""
    return (all(any(line.startswith(want) for want in wanted) for line in lines)
            and all(any(line.startswith(want) for line in lines) for want in wanted))


def check(path, name, wanted):
    code, said, out = run('check-database', path)
    lines = out.splitlines()
    if wanted is None:
        ok(code == 3, name + ': check-database', said)
        return
    last = 'consistent' if not lines[:-1] else '1 finding' if len(lines) == 2 else f'{len(lines) - 1} findings'
    good = code == (3 if wanted else 0) and lines and lines[-1] == last and compare(lines[:-1], wanted)
    ok(good, name + ': check-database', said)


def damaged(directory, world):
    path = os.path.join(directory, 'edited.db')
    for name, sql, findings, statements in CASES:
        shutil.copyfile(world, path)
        edit(path, sql)
        check(path, name, findings)
        for statement, code, part in statements:
            found, said, _ = run(path, '-c', statement)
            ok(found == code and part in said, f'{name}: {statement}', f'status {found}\n{said}')
    for name, sql, message, part in REFUSED:
        shutil.copyfile(world, path)
        edit(path, sql)
        for arguments in [(path, '-c', '\\d'), ('check-database', path)]:
            code, said, _ = run(*arguments)
            ok(code == 3 and message in said and part in said, f'{name}: {arguments[0][-14:]}', said)
    with open(world, 'rb') as file:
        content = file.read()
    for name, changed in [('a file that is cut', content[:len(content) // 2]),
                          ('pages of zeros', content[:12288] + bytes(8192) + content[20480:])]:
        with open(path, 'wb') as file:
            file.write(changed)
        code, said, _ = run('check-database', path)
        ok(code == 3, name, said)


def beside_a_server(directory, world):
    """Nothing is locked, and what a server has in hand is no finding."""
    path, socket = os.path.join(directory, 'served.db'), os.path.join(directory, 's')
    shutil.copyfile(world, path)
    server = subprocess.Popen([TQUEL, 'serve', path, '--socket', socket], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 300
        while run('--connect', socket, '-c', '')[0] != 0 and time.monotonic() < end:
            time.sleep(0.02)
        code, said, _ = run('--connect', socket, '-c', 'set checkpoint manual append to P (n = "s", k = 5) start 45 stop 60'
                            ' append to E (x = 5, s = "y") at 55 checkpoint 52')
        ok(code == 0, 'a server takes records', said)
        check(path, 'beside a server', [])
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()
    check(path, 'behind a server', [])


def usage():
    for arguments, code, part in [(('--help',), 0, 'Usage: tquel check-database'), ((), 1, 'which database'),
                                  (('a', 'b'), 1, 'one database'), (('--nix', 'a'), 1, 'nix'),
                                  (('nowhere.db',), 3, 'TQ-0602')]:
        found, said, _ = run('check-database', *arguments)
        ok(found == code and part in said, 'check-database ' + ' '.join(arguments), said)


def main():
    directory = tempfile.mkdtemp(prefix='tquel-damage.')
    try:
        world = os.path.join(directory, 'world.db')
        code, said, _ = run('--timeline', 'abstract', world, '-c', WORLD)
        ok(code == 0, 'the world', said)
        damaged(directory, world)
        code, said, out = run('check-database', '-q', world)
        ok(code == 0 and not said, 'quiet', said)
        beside_a_server(directory, world)
        usage()
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    print(f'1..{number}')
    return 1 if failed else 0


sys.exit(main())
