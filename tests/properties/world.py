"""What the property programs share: sessions, random databases, statements with holes, comparing, shrinking.

A session is a child process (session_driver.c). A database is a list of relations with literal rows, small
domains and short times, so that ties, touching, nested and equal periods come up all the time.

Texts of statements have holes for times and strings, so that the same statement can be said of a shifted or
renamed database: `time(5)`, `duration(5)` and `string("a")` make them, `As.render` fills them in.

Nothing here knows what a statement means.
"""
import copy
import csv
import datetime
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

BEGINNING, FOREVER = -2**63, 2**63 - 1
OK, USER, SYSTEM, AGAIN, END, CANCEL = range(6)
# A domain's place in CSV; the types the programs make.
INT, FLOAT, STRING, BOOL, TEMPORAL, CHRONON, SPAN = (
    'int', 'float', 'string', 'bool', 'temporal', 'chronon', 'span')


class Crash(Exception):
    """The session's process died."""


class Answer:
    def __init__(self, status, number, message, results):
        self.status, self.number, self.message, self.results = status, number, message, results

    @property
    def skipped(self):
        """A part of the language that is not executed yet."""
        return self.number >= 900

    @property
    def failed_at_run_time(self):
        return 400 <= self.number < 500


class Session:
    """Statements to a session in a process of its own."""

    def __init__(self, driver):
        self.driver, self.process = driver, None

    def start(self):
        self.process = subprocess.Popen([self.driver], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def open(self, path='-', timeline='abstract', rules_off=False, batch=0):
        if not self.process or self.process.poll() is not None:
            self.start()
        answer = self.ask('open %s %s %d %d' % (path, timeline, rules_off, batch))
        if answer.status != OK:
            raise Crash('cannot open %s: %s' % (path, answer.message))

    def ask(self, line, payload=b''):
        try:
            self.process.stdin.write(line.encode() + b'\n' + payload)
            self.process.stdin.flush()
            words = self.process.stdout.readline().split()
            status, number, count, length = (int(word) for word in words)
            message = self.process.stdout.read(length).decode()
            results = []
            for _ in range(count):
                size = int(self.process.stdout.readline())
                results.append(parse_csv(self.process.stdout.read(size).decode()))
        except (BrokenPipeError, ValueError) as error:
            code = self.process.wait()
            self.process = None
            raise Crash('the session died (%d)' % code) from error
        return Answer(status, number, message, results)

    def run(self, text):
        payload = text.encode()
        return self.ask('run %d' % len(payload), payload)

    def must(self, text):
        answer = self.run(text)
        if answer.status != OK:
            raise Crash('%s\n  TQ-%04d %s' % (text, answer.number, answer.message))
        return answer

    def follow(self, milliseconds):
        return self.ask('follow %d' % milliseconds)

    def close(self):
        return self.ask('close')

    def kill(self):
        """As if the machine lost power."""
        self.process.kill()
        self.process.wait()
        self.process = None

    def quit(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()
            self.process = None


def parse_csv(text):
    rows = list(csv.reader(io.StringIO(text, newline='')))
    return rows[0], rows[1:]


def chronon(text):
    return BEGINNING if text == 'beginning' else FOREVER if text == 'forever' else int(text)


def chronon_text(time):
    return 'beginning' if time == BEGINNING else 'forever' if time == FOREVER else str(time)


# --- holes


def time(value):
    return '\x01%d\x02' % value


def iso(ns):
    """A time of the real timeline as statements have it"""
    if ns in (BEGINNING, FOREVER):
        return 'beginning' if ns == BEGINNING else 'forever'
    seconds, rest = divmod(ns, 10**9)
    date = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)
    return f'{date.isoformat()}.{rest:09d}Z'


def string(value):
    return '\x03%s\x04' % value


def duration(value):
    return '\x07%d\x08' % value


def quoted(text):
    return '"%s"' % text.replace('\\', '\\\\').replace('"', '\\"').replace('\n', '\\n')


class As:
    """How a database and statements are said: times multiplied by SCALE and moved by SHIFT, strings renamed;
    on the real timeline times are in quotes and durations in seconds."""

    def __init__(self, shift=0, rename=None, scale=1, timeline='abstract'):
        self.shift, self.rename, self.scale, self.timeline = shift, rename, scale, timeline

    def time(self, t):
        return t if t in (BEGINNING, FOREVER) else t * self.scale + self.shift

    def string(self, text):
        return self.rename[text] if self.rename else text

    def hole(self, match):
        kind, text = match.group(0)[0], match.group(0)[1:-1]
        if kind == '\x03':
            return quoted(self.string(text))
        if kind == '\x07':
            return text if self.timeline == 'abstract' else text + ' s'
        moved = self.time(int(text))
        return str(moved) if self.timeline == 'abstract' else '"%s"' % iso(moved)

    def render(self, text):
        return re.sub('[\x01\x03\x07][^\x02\x04\x08]*[\x02\x04\x08]', self.hole, text)


AS_IT_IS = As()


def render(text):
    return AS_IT_IS.render(text)


# --- databases


class Row:
    def __init__(self, times, values, definite=True):
        self.times, self.values, self.definite = tuple(times), tuple(values), definite


class Relation:
    def __init__(self, name, kind, domains, rows, by=None):
        self.name, self.kind, self.domains, self.rows, self.by = name, kind, domains, rows, by

    def with_rows(self, rows):
        return Relation(self.name, self.kind, self.domains, rows, self.by)

    @property
    def event(self):
        return self.kind == 'event'

    def type_of(self, domain):
        return next(type for name, type, _ in self.domains if name == domain)

    def create(self):
        domains = ', '.join('%s = %s' % (name, declared) for name, _, declared in self.domains)
        return 'create %s %s (%s)%s' % (self.kind, self.name, domains,
                                        ' by ' + self.by if self.by else '')

    def ranges(self):
        return 'range of a%s is %s range of b%s is %s' % ((self.name,) * 4)

    def header(self):
        times = {'period': ['start_lo', 'start_hi', 'stop_lo', 'stop_hi', 'definite'],
                 'event': ['at_lo', 'at_hi', 'definite'], 'traced': ['at']}[self.kind]
        return times + [name for name, _, _ in self.domains]

    def csv(self, said=AS_IT_IS):
        lines = [self.header()] + [self.fields(row, said) for row in self.rows]
        return ''.join(','.join(csv_field(f) for f in fields) + '\n' for fields in lines)

    def fields(self, row, said=AS_IT_IS):
        times = row.times[:1] if self.kind == 'traced' else row.times
        fields = [chronon_text(said.time(t)) for t in times]
        if self.kind != 'traced':
            fields.append('true' if row.definite else 'false')
        for (_, type, _), value in zip(self.domains, row.values):
            fields.append(value_text(type, said.string(value) if type == STRING else value))
        return fields

    def records(self):
        """Rows as NDJSON records: (time, object), traced ones in their sequence."""
        for row in self.rows:
            record = dict(zip(self.header(), self.fields(row)))
            yield row.times[0], record


def csv_field(text):
    """Python's own writer leaves a carriage return without quotation marks."""
    if any(c in text for c in ',"\r\n') or text != text.strip():
        return '"%s"' % text.replace('"', '""')
    return text


def value_text(type, value):
    if type == BOOL:
        return 'true' if value else 'false'
    return repr(value) if type == FLOAT else str(value)


class Database:
    def __init__(self, relations, settings=()):
        self.relations, self.settings = relations, list(settings)

    def find(self, name):
        return next(relation for relation in self.relations if relation.name == name)

    def with_relation(self, changed):
        return Database([changed if r.name == changed.name else r for r in self.relations],
                        self.settings)

    def load(self, session, folder, said=AS_IT_IS, path='-', rules_off=False, batch=0):
        session.open(path, said.timeline, rules_off, batch)
        for relation in self.relations:
            session.must(relation.create())
            if relation.rows:
                file = os.path.join(folder, relation.name + '.csv')
                with open(file, 'w', newline='') as out:
                    out.write(relation.csv(said))
                session.must('copy %s from "%s"' % (relation.name, file))
        self.greet(session, said)

    def greet(self, session, said=AS_IT_IS):
        """What a session forgets."""
        for relation in self.relations:
            session.must(relation.ranges())
        for setting in self.settings:
            session.must(said.render(setting))

    def script(self):
        lines = []
        for relation in self.relations:
            by = ' by ' + relation.by if relation.by else ''
            domains = ', '.join('%s = %s' % (name, declared) for name, _, declared in relation.domains)
            lines.append('--- relation %s %s (%s)%s' % (relation.kind, relation.name, domains, by))
            lines.append(relation.csv().rstrip('\n'))
        lines.append('--- query')
        lines += [relation.ranges() for relation in self.relations]
        lines += [render(setting) for setting in self.settings]
        return '\n'.join(lines)


X, Y, S, B = ('x', INT, 'i4'), ('y', FLOAT, 'f8'), ('s', STRING, 'text'), ('b', BOOL, 'bool')


class Maker:
    """Random databases. SURE: bounds determinate, everything definite."""

    def __init__(self, choose, sure, first=0, last=12):
        self.choose, self.sure, self.first, self.last = choose, sure, first, last

    def time(self):
        return self.choose.randint(self.first, self.last)

    def event_time(self):
        at = self.time()
        return at, at if self.sure or self.choose.random() < 0.5 else at + self.choose.randrange(4)

    def period_time(self):
        choose = self.choose
        a, b, c, d = sorted(self.time() for _ in range(4))
        if self.sure or a == d or choose.random() < 0.5:
            times = [a, a, max(d, a + 1), max(d, a + 1)]
        elif choose.random() < 0.3:
            times = [a, c, b, d]
        else:
            times = [a, a if choose.random() < 0.6 else b, c, c if choose.random() < 0.6 else d]
            if times[1] == times[0] >= times[2] == times[3]:
                times[2] = times[3] = times[3] + 1
        if choose.random() < 0.08:
            times[3] = FOREVER
            if self.sure or choose.random() < 0.7:
                times[2] = FOREVER
        return tuple(times)

    def value(self, type):
        choose = self.choose
        if type == INT:
            return choose.randrange(4)
        if type == FLOAT:
            return choose.choice([0.0, 0.5, 1.0, 1.5, 2.0, 0.1, -2.25])
        if type == BOOL:
            return choose.random() < 0.5
        return choose.choice('abc')

    def rows(self, kind, domains, most=7):
        choose, rows = self.choose, []
        for _ in range(choose.randrange(5 if choose.random() < 0.6 else most)):
            if kind == 'period':
                times = self.period_time()
            elif kind == 'event':
                times = self.event_time()
            else:
                times = (self.time(),) * 2
            definite = self.sure or kind == 'traced' or choose.random() > 0.15
            values = [self.value(type) for _, type, _ in domains]
            if rows and choose.random() < 0.25:  # much the same as the one before
                values = rows[-1].values
                if choose.random() < 0.3:
                    times = rows[-1].times
            rows.append(Row(times, values, definite))
        return rows

    def database(self, extra=()):
        kinds = [('P', 'period', [X, Y, S, B], None), ('Q', 'period', [X, S], None),
                 ('E', 'event', [X, S], None), ('F', 'event', [X, Y, S], None),
                 ('R', 'traced', [X, S], 's')]
        relations = []
        for name, kind, domains, by in kinds:
            if relations and self.choose.random() < 0.45:
                continue
            domains = list(extra) + domains
            relations.append(Relation(name, kind, domains, self.rows(kind, domains), by))
        return Database(relations)


# --- statements


class Statement:
    """A retrieve in parts that shrinking can leave out. Expressions are objects with .text."""

    def __init__(self, name=None):
        self.name, self.targets, self.where, self.when = name, [], [], []
        self.start = self.stop = self.at = None
        self.unique = self.coalesced = False

    def copy(self):
        other = copy.copy(self)
        other.targets, other.where, other.when = self.targets[:], self.where[:], self.when[:]
        return other

    def text(self):
        words = ['retrieve', 'coalesced' if self.coalesced else 'unique' if self.unique else '',
                 self.name or '']
        head = ' '.join(word for word in words if word)
        text = '%s (%s)' % (head, ', '.join('%s = %s' % (name, e.text) for name, e in self.targets))
        for word, parts in ('where', self.where), ('when', self.when):
            if parts:
                text += ' %s %s' % (word, ' and '.join(
                    '(%s)' % e.text if len(parts) > 1 else e.text for e in parts))
        for word, e in ('start', self.start), ('stop', self.stop), ('at', self.at):
            if e:
                text += ' %s %s' % (word, e.text)
        return text

    def smaller(self):
        """Statements with one part less."""
        for parts in 'targets', 'where', 'when':
            for i in range(len(getattr(self, parts))):
                if parts == 'targets' and self.targets[i][1].kept:
                    continue
                other = self.copy()
                del getattr(other, parts)[i]
                yield other
        for clause in 'start', 'stop', 'at':
            if getattr(self, clause):
                other = self.copy()
                setattr(other, clause, None)
                yield other


def smaller(database, statements):
    """(database, statements) with something left out."""
    for i in range(len(statements) - 1):
        yield database, statements[:i] + statements[i + 1:]
    for relation in database.relations:
        if len(database.relations) > 1:
            yield (Database([r for r in database.relations if r is not relation], database.settings),
                   statements)
        for i in range(len(relation.rows)):
            rows = relation.rows[:i] + relation.rows[i + 1:]
            yield database.with_relation(relation.with_rows(rows)), statements
    for i in [i for i, s in enumerate(database.settings) if 'origin' not in s]:
        yield Database(database.relations, database.settings[:i] + database.settings[i + 1:]), statements
    for i, statement in enumerate(statements):
        for other in statement.smaller():
            yield database, statements[:i] + [other] + statements[i + 1:]


def shrink(database, statements, differs, most=400):
    """Leaves out whatever can be with the difference still there."""
    progress = True
    while progress and most > 0:
        progress = False
        for candidate in smaller(database, statements):
            most -= 1
            try:
                found = differs(*candidate)
            except Crash:
                found = None
            if found:
                database, statements = candidate
                progress = True
                break
            if most <= 0:
                break
    return database, statements


def shrink_crash(database, statements, run):
    """RUN(database, statements) kills the session; the smallest that still does."""
    def breaks(d, s):
        try:
            run(d, s)
        except Crash:
            return True
        return False

    last = next((i for i in range(1, len(statements)) if breaks(database, statements[:i])), len(statements))
    return shrink(database, statements[:last], breaks)


# --- comparing


def close(a, b):
    return a == b or abs(a - b) <= 1e-9 * max(1, abs(a), abs(b))


def same_value(a, b):
    if isinstance(a, float) or isinstance(b, float):
        return close(float(a), float(b))
    return a == b


def same_values(a, b):
    return len(a) == len(b) and all(same_value(x, y) for x, y in zip(a, b))


def set_difference(a, b):
    """Tuples of A that have no equal in B."""
    exact = set(b)
    return [x for x in a if x not in exact and not any(same_values(x, y) for y in b)]


class Result:
    """Rows of an answer: times, definite, values by type."""

    def __init__(self, parsed, types):
        header, lines = parsed
        self.event = header[0] == 'at_lo'
        times = 2 if self.event else 4
        self.names = header[times + 1:]
        self.rows = []
        for line in lines:
            values = values_of(types, line[times + 1:])
            self.rows.append(Row([chronon(t) for t in line[:times]], values, line[times] == 'true'))

    def at(self, t):
        """Values at instant T, as a set."""
        if self.event:
            return {row.values for row in self.rows if row.times[0] == t}
        return {row.values for row in self.rows if row.times[0] <= t < row.times[2]}

    def as_tuples(self):
        return [row.times + (row.definite,) + row.values for row in self.rows]


def values_of(types, fields):
    values, place = [], 0
    for type in types:
        if type == TEMPORAL:
            values += [float(f) for f in fields[place:place + 4]]
            place += 4
            continue
        field = fields[place]
        place += 1
        if type in (INT, CHRONON, SPAN):
            values.append(chronon(field))
        elif type == FLOAT:
            values.append(float(field))
        elif type == BOOL:
            values.append(field == 'true')
        else:
            values.append(field)
    return tuple(values)


# --- programs


def scratch():
    """A folder that costs nothing."""
    return tempfile.mkdtemp(dir='/dev/shm' if os.access('/dev/shm', os.W_OK) else None)


class Program:
    """seeds, counting, reporting. Usage: PROGRAM DRIVER [--count N] [--seed S] [--selftest] [--verbose]"""

    def __init__(self, what):
        self.what, self.count, self.seed, self.selftest, self.verbose = what, 100, 1, False, False
        arguments = sys.argv[1:]
        if not arguments:
            sys.exit('usage: %s DRIVER [--count N] [--seed S] [--selftest] [--verbose]' % sys.argv[0])
        self.driver = os.path.realpath(arguments.pop(0))
        while arguments:
            word = arguments.pop(0)
            if word == '--count':
                self.count = int(arguments.pop(0))
            elif word == '--seed':
                self.seed = int(arguments.pop(0))
            elif word == '--selftest':
                self.selftest = True
            elif word == '--verbose':
                self.verbose = True
            else:
                sys.exit('what is %s?' % word)
        self.session, self.folder = Session(self.driver), scratch()
        self.differences, self.counters = 0, {}

    def add(self, counter, count=1):
        self.counters[counter] = self.counters.get(counter, 0) + count

    def say(self, text):
        if self.verbose:
            print(text, flush=True)

    def report(self, seed, title, script, why):
        self.differences += 1
        if self.selftest:
            return
        print('# %s: %s, seed %d\n=== seed %d\n%s\n%s' % (self.what, title, seed, seed, script, why),
              flush=True)

    def finish(self):
        self.session.quit()
        shutil.rmtree(self.folder, ignore_errors=True)
        counters = ', '.join('%d %s' % (n, name) for name, n in sorted(self.counters.items()))
        print('# %s: seeds %d to %d: %s; %d differences' %
              (self.what, self.seed, self.seed + self.count - 1, counters, self.differences))
        if self.selftest:
            return 0 if self.differences > 0 else 1
        return 1 if self.differences else 0

    def run(self, one):
        """Calls ONE(seed, random) for every seed; ten differences are enough."""
        for seed in range(self.seed, self.seed + self.count):
            try:
                one(seed, random.Random(seed))
            except Crash as crash:
                self.report(seed, 'broken', '', str(crash))
            if self.differences >= (1 if self.selftest else 10):
                break
        return self.finish()


def script(database, statements):
    return database.script() + '\n' + '\n'.join(render(s.text()) for s in statements)


def record_line(record):
    return json.dumps(record, ensure_ascii=False)
