#!/usr/bin/env python3
"""The pairs of tquel-sql(7): what a page says in SQL and in TQuel gives the same values. Prints TAP.

    pairs_test.py TQUEL PAGE

The page is marked as man_test.py explains, with these marks besides:

    .\\" sql                     SQL, which sqlite3 runs over the same file as the TQuel behind it
    .\\" pair [OPTION]...        that TQuel; its values are compared with those of the SQL
    .\\" shown REASON            no block: SQL cannot say it; behind it stand statements and their output,
                                which man_test.py checks
    .\\" alone                   TQuel that stands for another language: it runs, and finds something

Every pair has a fresh copy of web.db, as the files of the page make it, and the variables of vars.tq.
The columns are compared in their order, whatever their names. Of TQuel's result they are the domains;
its times only where the mark says so, before the domains:

    at, start, stop             at_lo, start_lo, stop_lo are compared; bounds differ in no pair
    ordered                     the rows have to come in the same order; else they are a bag
    table NAME                  not what is printed: what the table NAME holds afterwards, in the copy
                                that TQuel changed and in the one that sqlite3 changed; columns of times
                                that the latter has not are left out

A time is the integer of nanoseconds that the file has: ISO 8601 is made one, forever and beginning are
the greatest and the least, true and false 1 and 0; floats are compared in nine digits.
"""
import csv
import datetime
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import man_test

LEAST_PAIRS, LEAST_ALONE = 40, 8
WORDS = {'true': '1', 'false': '0', 'forever': str(2**63 - 1), 'beginning': str(-2**63)}
TIMES = ('at_lo', 'at_hi', 'start_lo', 'start_hi', 'stop_lo', 'stop_hi', 'definite')
INSTANT = re.compile(r'(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?Z$')


def normal(value):
    """The text that stands for VALUE, the same one for whatever is the same in both languages."""
    text = str(value)
    if text in WORDS:
        return WORDS[text]
    instant = INSTANT.match(text)
    if instant:
        moment = datetime.datetime.fromisoformat(instant.group(1) + '+00:00')
        return '%d%s' % (moment.timestamp(), (instant.group(2) or '').ljust(9, '0'))
    if re.match(r'-?\d+$', text):
        return str(int(text))
    if re.match(r'-?\d+\.?\d*(e[+-]?\d+)?$', text):
        return '%.9g' % float(text)
    return text


class Pair:
    def __init__(self, title, line, sql, tquel, options):
        self.title, self.line, self.sql, self.tquel = title, line, sql, tquel
        self.options = options.split()
        self.table = self.options[1] if self.options[:1] == ['table'] else None


def pairs_of(path):
    """The pairs of the page, those that are only shown and the statements that stand alone."""
    with open(path, encoding='ascii') as file:
        lines = file.read().split('\n')
    problems, pairs, shown, alone = [], [], [], []
    blocks = man_test.read_page(lines, lambda line, what: problems.append((line, what)))
    for index, block in enumerate(blocks):
        following = [other.kind for other in blocks[index + 1:index + 3]]
        headings = [line for line in lines[:block.line] if line.startswith(('.SS', '.SH'))]
        title = man_test.plain(headings[-1][4:].strip('"')) if headings else ''
        if block.kind == 'sql' and following[:1] != ['pair']:
            problems.append((block.line, 'SQL without its pair'))
        elif block.kind == 'pair' and (index == 0 or blocks[index - 1].kind != 'sql'):
            problems.append((block.line, 'a pair without SQL'))
        elif block.kind == 'pair':
            pairs.append(Pair(title, block.line, blocks[index - 1].text(), block.text(), block.argument))
        elif block.kind == 'shown' and (following != ['statements', 'output'] or not block.argument):
            problems.append((block.line, 'shown without a reason, statements or output'))
        elif block.kind == 'shown':
            shown.append(block.line)
        elif block.kind == 'alone':
            alone.append(Pair(title, block.line, None, block.text(), ''))
    files = [(block.argument, block.text()) for block in blocks if block.kind == 'file']
    return pairs, shown, alone, files, problems


class World:
    """A folder with web.db, of which every question gets a copy."""

    def __init__(self, directory, tquel, files):
        self.directory, self.tquel = directory, tquel
        for name, text in files:
            with open(os.path.join(directory, name), 'w', encoding='utf-8') as file:
                file.write(text)
        self.run([tquel, '-q', 'web.db', '-f', 'web.tq'])

    def run(self, command, text=''):
        done = subprocess.run(command, input=text.encode(), cwd=self.directory, timeout=300,
                              env=dict(os.environ, TZ='UTC', LC_ALL='C.UTF-8'),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode != 0:
            raise ValueError('%s fails: %s' % (command[0], done.stderr.decode('utf-8')))
        return done.stdout.decode('utf-8')

    def copy(self, name):
        shutil.copy(os.path.join(self.directory, 'web.db'), os.path.join(self.directory, name))
        return name

    def ask_tquel(self, text, name='mine.db'):
        """The results, each a list of rows, of which the first is the header."""
        with open(os.path.join(self.directory, 'pair.tq'), 'w', encoding='utf-8') as file:
            file.write(text)
        output = self.run([self.tquel, '-q', '--format', 'csv', self.copy(name), '-f', 'vars.tq', '-f', 'pair.tq'])
        return [list(csv.reader(io.StringIO(part))) for part in output.split('\n\n') if part.strip()]

    def ask_sqlite(self, text, name=None):
        """The rows, each a list of pairs of a column's name and a value."""
        name = name or self.copy('other.db')
        output, rows = self.run(['sqlite3', '-batch', '-bail', '-json', name], text), []
        decoder = json.JSONDecoder(object_pairs_hook=list)
        while output.strip():
            output = output.lstrip()
            result, end = decoder.raw_decode(output)
            rows += result
            output = output[end:]
        return rows


def tquel_rows(results, options):
    rows = []
    for header, *result in results:
        wanted = [header.index(word + '_lo') for word in options if word != 'ordered']
        wanted += [index for index, name in enumerate(header) if name not in TIMES]
        for row in result:
            if 'definite' in header and row[header.index('definite')] != 'true':
                raise ValueError('an uncertain row: %s' % row)
            rows.append([normal(row[index]) for index in wanted])
    return rows


def table_rows(world, pair):
    world.ask_tquel(pair.tquel)
    world.ask_sqlite(pair.sql)
    columns = [[name for ((_, name),) in world.ask_sqlite(
        "SELECT name FROM pragma_table_info('%s');" % pair.table, file)] for file in ('mine.db', 'other.db')]
    mine = [name for name in columns[0] if name in columns[1] or name not in TIMES]
    both = []
    for file, names in (('mine.db', mine), ('other.db', columns[1])):
        rows = world.ask_sqlite('SELECT %s FROM %s;' % (', '.join(names), pair.table), file)
        both.append([names] + sorted([normal(value) for _, value in row] for row in rows))
    return both


def both_rows(world, pair):
    if pair.table is not None:
        return table_rows(world, pair)
    mine = tquel_rows(world.ask_tquel(pair.tquel), pair.options)
    other = [[normal(value) for _, value in row] for row in world.ask_sqlite(pair.sql)]
    return (mine, other) if 'ordered' in pair.options else (sorted(mine), sorted(other))


def check(world, pair):
    """What is wrong with the pair, or None."""
    try:
        mine, other = both_rows(world, pair)
    except ValueError as error:
        return str(error)
    if not mine:
        return 'finds nothing'
    if mine == other:
        return None
    return '\n'.join(['TQuel:', *(' | '.join(row) for row in mine), 'sqlite3:', *(' | '.join(row) for row in other)])


def check_alone(world, pair):
    try:
        results = world.ask_tquel(pair.tquel)
    except ValueError as error:
        return str(error)
    return None if results and all(len(result) > 1 for result in results) else 'finds nothing'


def wrong_pairs(pair):
    """Pairs that are made of a right one, and are wrong."""
    sql = pair.sql.rstrip().rstrip(';')
    for wrong in ('SELECT * FROM (%s) LIMIT 1 OFFSET 1;', 'SELECT * FROM (%s) UNION ALL SELECT 1, 2;'):
        yield Pair(pair.title, pair.line, wrong % sql, pair.tquel, '')
    yield Pair(pair.title, pair.line, 'SELECT FROM', pair.tquel, '')
    yield Pair(pair.title, pair.line, pair.sql, 'retrieve (r.nothing)', '')


def main():
    tquel, path = sys.argv[1:]
    pairs, shown, alone, files, problems = pairs_of(path)
    results = [('line %d is well marked' % line, what) for line, what in problems]
    with tempfile.TemporaryDirectory(prefix='tquel-pairs-') as directory:
        world = World(directory, os.path.abspath(tquel), files)
        results += [('%d %s' % (pair.line, pair.title), check(world, pair)) for pair in pairs]
        results += [('%d %s' % (pair.line, pair.title), check_alone(world, pair)) for pair in alone]
        two_columns = [pair for pair in pairs if pair.sql.startswith('SELECT host, path FROM Request;')]
        found = [check(world, pair) for right in two_columns for pair in wrong_pairs(right)]
        results.append(('wrong pairs are found', None if len(found) == 4 and all(found) else str(found)))
    results.append(('there are %d pairs, and %d that SQL cannot say' % (len(pairs), len(shown)),
                    None if len(pairs) >= LEAST_PAIRS else 'fewer than %d' % LEAST_PAIRS))
    results.append(('%d for other languages' % len(alone),
                    None if len(alone) >= LEAST_ALONE else 'fewer than %d' % LEAST_ALONE))
    print('1..%d' % len(results))
    for number, (title, wrong) in enumerate(results, 1):
        print('%sok %d - %s' % ('' if wrong is None else 'not ', number, title.replace('#', '')))
        for line in (wrong or '').rstrip('\n').split('\n'):
            if line:
                print('# ' + line)
    return any(wrong is not None for _, wrong in results)


if __name__ == '__main__':
    sys.exit(main())
