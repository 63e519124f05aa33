"""Every message of the registry: produced, with its place, its line and its hint.

    messages_test.py TQUEL MESSAGES.DEF CASE-FILE... [--update] [--only TQ-nnnn] [--slow]

A case file (tests/messages/*.cases) holds one case or more for each number of
engine/base/messages.def; this program prints one line of TAP for each case, each example and each
help page, and fails when a number has no case, or a case has no number. The format:

    === TQ-nnnn what the case is about
    --- file NAME            written before anything runs; {n spaces} at a line's end are kept
    --- root                 skipped unless the test runs as root (it becomes another user)
    --- prepare              a shell script that must succeed, with $tquel
    --- script [ARGUMENTS]   statements, run as `tquel ARGUMENTS -f case.tq`
    --- shell                in their place: a shell script whose last command is the one in question
    --- exit N               the exit code; that of the registry unless given, 0 for warnings
    --- expect               standard error, exactly; `...` stands for anything within a line
    --- slow                 only with --slow
    --- example              the registry's example at @ of these statements produces the number
    --- example-shell        likewise a shell script
    --- example-none REASON  the example is a description, nothing that one could run

--slow runs these cases, the examples and the help pages; without, all other cases are run. --update writes what comes out into `expect`: read the difference before you believe it. A message
that speaks of the statements' text must say FILE:LINE:COL, show the line and mark it; only cases of
the command line, of databases that cannot be opened, and of feeds have nothing to show, and those
say `--- placeless`. `--- elsewhere TEST` names the program of tests/ that has a message come and looks for its number.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

TIMEOUT = 300
KNOWN = {'file', 'slow', 'prepare', 'script', 'shell', 'exit', 'expect', 'example', 'example-shell',
         'example-none', 'placeless', 'root', 'elsewhere'}


class Registry:
    """The rows of messages.def, read with the eyes of the preprocessor."""

    TOKEN = re.compile(r'/\*.*?\*/|"((?:[^"\\]|\\.)*)"|([A-Za-z_]\w*|\d+)|([(),])|\s+', re.S)

    def __init__(self, path):
        self.rows = {}
        fields, field, depth = [], None, 0
        for token in self.TOKEN.finditer(pathlib.Path(path).read_text(encoding='utf-8')):
            string, word, sign = token.group(1), token.group(2), token.group(3)
            if string is not None:
                field = (field or '') + re.sub(r'\\(.)', lambda m: {'n': '\n', 't': '\t'}.get(
                    m.group(1), m.group(1)), string)
            elif word == 'MESSAGE' and depth == 0:
                fields = []
            elif word:
                field = word
            elif sign == '(':
                depth += 1
            elif sign:
                fields.append(field)
                field = None
                if sign == ')':
                    depth -= 1
                    number, name, severity, code, template, meaning, example, fix = fields
                    self.rows[int(number)] = dict(name=name, severity=severity, code=int(code),
                                                  template=template, meaning=meaning,
                                                  example=example, fix=fix)


class Case:
    def __init__(self, path, line, number, title):
        self.path, self.line, self.number, self.title = path, line, number, title
        self.sections = []

    def all(self, command):
        return [(argument, body) for name, argument, body in self.sections if name == command]

    def first(self, command):
        found = self.all(command)
        return found[0] if found else None


def read_cases(path):
    cases, lines = [], path.read_text(encoding='utf-8').split('\n')
    body = None
    for at, line in enumerate(lines, 1):
        head = re.match(r'=== TQ-(\d{4})\s*(.*)', line)
        if head:
            cases.append(Case(path, at, int(head.group(1)), head.group(2)))
            body = None
            continue
        command = re.match(r'--- ([a-z-]+) ?(.*)', line)
        if command and command.group(1) in KNOWN:
            body = []
            cases[-1].sections.append((command.group(1), command.group(2), body))
        elif line.startswith('--- '):
            raise SystemExit(f'{path}:{at}: there is no command {line}')
        elif body is not None and not line.startswith('#'):
            body.append(line)
    for case in cases:
        case.sections = [(name, argument, '\n'.join(body).strip('\n'))
                         for name, argument, body in case.sections]
    return cases


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def skip(self, name, reason):
        self.count += 1
        print(f'ok {self.count} - {name} # SKIP {reason}')

    def point(self, name, problems):
        self.count += 1
        print(f"{'not ok' if problems else 'ok'} {self.count} - {name}")
        for problem in problems:
            for line in problem.split('\n'):
                print('# ' + line)
        self.failed += bool(problems)

    def plan(self):
        print(f'1..{self.count}')


def unpack(text):
    return text + '\n' if text else ''


def run(directory, tquel, arguments, shell=None):
    environment = dict(os.environ, tquel=tquel, TZ='UTC', LC_ALL='C.UTF-8')
    environment.pop('TQUEL_DB', None)
    # `python3` of the cases: the interpreter itself, not a script that looks for it.
    environment['PATH'] = os.path.dirname(sys.executable) + os.pathsep + environment['PATH']
    command = ['bash', '-c', shell] if shell is not None else [tquel] + arguments
    # A session of its own: what does not end in time is ended with all that it started.
    child = subprocess.Popen(command, cwd=directory, env=environment, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    try:
        output, errors = child.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        return 124, 'timed out', ''
    # What a build for coverage says when another user may not write its counts.
    errors = re.sub(rb'profiling:.*\n', b'', errors)
    return (child.returncode, errors.decode('utf-8', 'backslashreplace'),
            output.decode('utf-8', 'backslashreplace'))


def in_directory(tquel, case, act):
    directory = pathlib.Path(tempfile.mkdtemp(prefix='tquel-messages.'))
    os.chmod(directory, 0o777)
    try:
        for name, body in case.all('file'):
            (directory / name).write_text(unpack(body), encoding='utf-8')
        for _, body in case.all('prepare'):
            code, errors, output = run(directory, tquel, [], shell='set -e\n' + body)
            if code != 0:
                return [f'prepare ended with {code}: {errors}{output}']
        return act(directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def like(expected, got):
    wanted = [re.escape(line).replace(re.escape('...'), '.*') for line in expected.split('\n')]
    return re.fullmatch('\n'.join(wanted), got) is not None


def check_place(case, errors):
    """Place, source line and carets of what says the case's number."""
    lines = errors.split('\n')
    for at, line in enumerate(lines):
        if f' TQ-{case.number:04d}: ' not in line:
            continue
        if not re.match(r'[^:]+:\d+(:\d+)?: ', line):
            return [f'no FILE:LINE:COL: {line}']
        own = re.match(r'(case\.tq|<command \d+>|<stdin>):\d+:\d+: ', line)
        if own and not (at + 2 < len(lines) and re.match(r'\s+\^+$', lines[at + 2])):
            return ['the line is not shown and marked']
    return []


def run_case(tquel, row, case, update):
    argument, body = case.first('script') or case.first('shell') or ('', '')
    is_script = case.first('script') is not None
    code_wanted = case.first('exit')
    code_wanted = int(code_wanted[0]) if code_wanted else (
        row['code'] if row['severity'] == 'BASE_ERROR' else 0)

    def act(directory):
        if is_script:
            (directory / 'case.tq').write_text(unpack(body), encoding='utf-8')
            code, errors, _ = run(directory, tquel, argument.split() + ['-f', 'case.tq'])
        else:
            code, errors, _ = run(directory, tquel, [], shell=body)
        expected = case.first('expect')
        errors = errors.strip('\n')
        if update is not None:
            update.append((case, errors))
            expected = ('', errors)
        problems = []
        if code != code_wanted:
            problems.append(f'exit code {code}, not {code_wanted}')
        if f' TQ-{case.number:04d}: ' not in ' ' + errors:
            problems.append(f'no TQ-{case.number:04d} in:\n{errors}')
        if expected is None or not like(expected[1], errors):
            problems.append(f'standard error was\n{errors}')
        if case.first('placeless') is None:
            problems += check_place(case, errors)
        return problems

    return in_directory(tquel, case, act)


def run_example(tquel, row, case):
    shell = case.first('example-shell')
    argument, body = shell or case.first('example')
    text = body.replace('@', row['example']) if '@' in body else (
        (body + '\n' if body else '') + row['example'])

    def act(directory):
        if shell is not None:
            text_run = text.replace('tquel ', '"$tquel" ') if '$tquel' not in text else text
            _, errors, output = run(directory, tquel, [], shell=text_run)
        else:
            (directory / 'case.tq').write_text(text + '\n', encoding='utf-8')
            _, errors, output = run(directory, tquel, argument.split() + ['-f', 'case.tq'])
        if f' TQ-{case.number:04d}: ' in ' ' + errors:
            return []
        return [f'the example does not produce the message:\n{text}\n{errors}{output}']

    return in_directory(tquel, case, act)


def check_help(tquel, number, row):
    """tquel help TQ-nnnn shows every part of the row."""
    problems = []
    # The number alone is asked for of one in ten.
    for name in (f'TQ-{number:04d}', str(number))[:2 if number % 10 == 1 else 1]:
        code, errors, output = run('.', tquel, ['help', name])
        said = ' '.join(output.split())
        if code != 0 or errors:
            problems.append(f'help {name} ended with {code}: {errors}')
        if not output.startswith(f"TQ-{number:04d} {row['name'].lower().replace('_', '-')} "):
            problems.append('the first line is not number and name')
        template = re.sub(r'%(\.\*)?(l*[sdu]|zu)', '...', row['template']).replace('%%', '%')
        for part in (template if template != '...' else '', row['meaning'], row['example'], row['fix']):
            if ' '.join(part.split()) not in said:
                problems.append(f'missing: {part}')
    return problems


def write_updates(updates):
    by_path = {}
    for case, errors in updates:
        by_path.setdefault(case.path, []).append((case, errors))
    for path, changed in by_path.items():
        lines = path.read_text(encoding='utf-8').split('\n')
        starts = [i for i, line in enumerate(lines) if line.startswith('=== ')] + [len(lines)]
        for case, errors in sorted(changed, key=lambda pair: -pair[0].line):
            first = case.line - 1
            last = starts[starts.index(first) + 1]
            block = lines[first:last]
            expected = case.first('expect')
            if expected and like(expected[1], errors):
                continue
            if '--- expect' in block:
                begin = block.index('--- expect') + 1
                end = next((i for i in range(begin, len(block)) if block[i].startswith('--- ')),
                           len(block))
                block[begin:end] = errors.split('\n')
            else:
                spot = next((i for i in range(len(block)) if block[i].startswith('--- example')),
                            len(block))
                block[spot:spot] = ['--- expect'] + errors.split('\n')
            while block and block[-1] == '':
                block.pop()
            lines[first:last] = block + ['']
        path.write_text('\n'.join(lines).rstrip('\n') + '\n', encoding='utf-8')


def selftest():
    """The checks must be able to fail."""
    case = Case(None, 0, 101, '')
    good = 'case.tq:1:2: error TQ-0101: x\n  ab\n   ^'
    assert check_place(case, good) == []
    assert check_place(case, 'error TQ-0101: x')
    assert check_place(case, 'case.tq:1:2: error TQ-0101: x\nhint: y')
    assert like('a...c\nd', 'abbc\nd') and not like('a...c', 'ab\nc') and not like('a', 'b')


def points_of_cases(tquel, registry, cases, only, update, pool):
    """A list of (name, what gives its problems; None: it cannot be tried here)."""
    points = []
    slow = '--slow' in sys.argv
    for case in cases:
        if only not in (None, case.number):
            continue
        wanted = only is not None or (case.first('slow') is not None) == slow
        name = f'TQ-{case.number:04d} {case.title}'.rstrip()
        row = registry.rows.get(case.number)
        if row is None:
            missing = [f'{case.path}:{case.line}: the registry has no such number']
            points.append((name, lambda missing=missing: missing))
            continue
        if wanted and case.first('root') and os.getuid() != 0:
            points.append((name, None))
        elif wanted and (case.first('script') or case.first('shell')):
            points.append((name, pool.submit(run_case, tquel, row, case, update).result))
        if (slow or only is not None) and (case.first('example') or case.first('example-shell')):
            points.append((f'TQ-{case.number:04d} its example',
                           pool.submit(run_example, tquel, row, case).result))
    return points


def is_tried_elsewhere(case):
    named = case.first('elsewhere')
    path = named and pathlib.Path(__file__).parent.parent / named[0]
    return named and path.exists() and f'TQ-{case.number:04d}' in path.read_text(encoding='utf-8')


def points_of_rows(tquel, registry, cases, only, pool):
    """The same: each row of the registry has its cases, and its help."""
    points = []
    cases_of = {case.number for case in cases}
    for number, row in sorted(registry.rows.items()):
        if only not in (None, number):
            continue
        # What says that something is not executed yet comes and goes; only some can be asked for.
        if row['name'].endswith('_NOT_EXECUTED') and number not in cases_of:
            continue
        problems = [] if any(
            case.number == number and (case.first('script') or case.first('shell') or is_tried_elsewhere(case))
            for case in cases) else ['no case produces it']
        if not any(case.number == number and
                   (case.first('example') or case.first('example-shell') or
                    case.first('example-none')) for case in cases):
            problems.append('its example is not tried')
        points.append((f"TQ-{number:04d} {row['name']} has cases", lambda problems=problems: problems))
        if '--slow' in sys.argv or only is not None:
            points.append((f'help TQ-{number:04d}', pool.submit(check_help, tquel, number, row).result))
    return points


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith('--')]
    update = [] if '--update' in sys.argv else None
    only = None
    if '--only' in sys.argv:
        only = sys.argv[sys.argv.index('--only') + 1]
        arguments.remove(only)
        only = int(only.replace('TQ-', ''))
    tquel, registry, files = os.path.realpath(arguments[0]), Registry(arguments[1]), arguments[2:]
    selftest()
    tap = Tap()
    cases = [case for name in files for case in read_cases(pathlib.Path(name))]
    # Cases have a directory each and do not disturb each other; many wait for something.
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        points = points_of_cases(tquel, registry, cases, only, update, pool)
        points += points_of_rows(tquel, registry, cases, only, pool)
        for name, problems in points:
            if problems is None:
                tap.skip(name, 'needs another user')
            else:
                tap.point(name, problems())
    if only is None and '--slow' not in sys.argv:
        code, errors, _ = run('.', tquel, ['help', 'TQ-9999'])
        tap.point('help on a number that there is not',
                  [] if code == 1 and 'there is no message TQ-9999' in errors and
                  'hint: ' in errors else [errors])
    tap.plan()
    if update:
        write_updates(update)
    return 1 if tap.failed else 0


sys.exit(main())
