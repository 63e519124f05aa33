#!/usr/bin/env python3
"""The examples of the manual pages are run, and must print what the pages say. Prints TAP.

    man_test.py TQUEL PAGE...             checks
    man_test.py --update TQUEL PAGE...    writes what the program prints into the pages: read the
                                          difference before you believe it

Every .EX block of a page is introduced by a comment that says what it is:

    .\\" world NAME [abstract]   no block: the database for what follows; ranges and settings of the
                                statements run in it hold for the later ones, as in a session
    .\\" | STATEMENT             no block: a line of statements that the reader does not see
    .\\" file NAME               the block is written into the file NAME
    .\\" statements [fails]      the block is run with --format table and must succeed (or fail) and
    .\\" output [filled]         print what the block after it shows (standard error, too), if any;
                                filled: long lines are broken in the page
    .\\" console                 lines after "$ " are commands, "> " continues one, others are output
    .\\" syntax                  the block is a form and is not run
    .\\" sql, pair, alone, shown what pairs_test.py runs or counts; shown has no block

tquel.1 and tquel.7 are also held to be complete: every word of the grammar, every option and every
optimiser rule is mentioned. No line of an example is wider than a terminal. With groff or mandoc at
hand, they must find nothing to say about the pages.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap

MARK = re.compile(r'^\.\\" (world|\||file|statements|output|console|syntax|sql|pair|alone|shown)'
                  r'( .*)?$')
BARE = ('world', '|', 'shown')
WIDEST = 69  # of 80 columns 7 are the page's margin and 4 that of an example
ESCAPES = [('\\-', '-'), ('\\(aq', "'"), ('\\(dq', '"'), ('\\(ga', '`'), ('\\(ha', '^'),
           ('\\(ti', '~'), ('\\(*W', '\u03a9'), ('\\&', ''), ('\\e', '\\')]


def unescape(line):
    out, i = [], 0
    while i < len(line):
        for code, plain in ESCAPES:
            if line.startswith(code, i):
                out.append(plain)
                i += len(code)
                break
        else:
            if line[i] == '\\':
                raise ValueError('an escape that examples may not use: ' + line)
            out.append(line[i])
            i += 1
    return ''.join(out)


def escape(line):
    line = line.replace('\\', '\\e').replace('-', '\\-').replace("'", '\\(aq')
    line = line.replace('\u03a9', '\\(*W').replace('`', '\\(ga').replace('^', '\\(ha').replace('~', '\\(ti')
    return '\\&' + line if line.startswith('.') else line


def filled(line):
    if len(line) <= WIDEST:
        return line
    return '\n'.join(textwrap.wrap(line, WIDEST, subsequent_indent='    ', break_on_hyphens=False))


class Block:
    """A mark and the lines of its .EX block, of which the page's lines first..last are the body."""

    def __init__(self, kind, argument, line):
        self.kind, self.argument, self.line = kind, argument, line
        self.body, self.first, self.last = [], None, None

    def text(self):
        return ''.join(line + '\n' for line in self.body)


def read_page(lines, complain):
    blocks, mark, inside = [], None, None
    for number, line in enumerate(lines, 1):
        found = MARK.match(line)
        if found and inside is None:
            mark = Block(found.group(1), (found.group(2) or '').strip(), number)
            if mark.kind in BARE:
                blocks.append(mark)
                mark = None
        elif line == '.EX':
            if mark is None:
                complain(number, 'an .EX block without a mark')
                mark = Block('syntax', '', number)
            inside, mark = mark, None
            inside.first = number + 1
        elif line == '.EE' and inside is not None:
            inside.last = number - 1
            blocks.append(inside)
            inside = None
        elif inside is not None:
            if line.startswith('.') or (inside.kind == 'syntax' and '\\f' in line):
                inside.body.append(line)
            else:
                inside.body.append(unescape(line))
    return blocks


class Page:
    def __init__(self, path, tquel, update):
        self.path, self.tquel, self.update = path, tquel, update
        self.name = os.path.basename(path)
        self.results = []
        with open(path, encoding='ascii') as file:
            self.lines = file.read().split('\n')
        self.changes = []

    def result(self, good, line, what, wanted=None, found=None):
        self.results.append((good, '%s:%d %s' % (self.name, line, what), wanted, found))

    def run(self):
        blocks = read_page(self.lines, lambda line, what: self.result(False, line, what))
        with tempfile.TemporaryDirectory(prefix='tquel-man-') as self.directory:
            os.mkdir(os.path.join(self.directory, 'bin'))
            os.symlink(self.tquel, os.path.join(self.directory, 'bin', 'tquel'))
            self.environment = dict(os.environ, TZ='UTC', LC_ALL='C.UTF-8', PATH=os.path.join(
                self.directory, 'bin') + ':' + os.environ['PATH'])
            self.world, self.preludes = 'none', {}
            for block in blocks:
                self.measure(block)
            for index, block in enumerate(blocks):
                self.run_block(block, blocks[index + 1] if index + 1 < len(blocks) else None)
        if self.update:
            self.write()

    def run_block(self, block, following):
        if block.kind == 'world':
            self.world = block.argument
        elif block.kind == 'file':
            with open(os.path.join(self.directory, block.argument), 'w', encoding='utf-8') as file:
                file.write(block.text())
            self.normalise(block)
        elif block.kind in ('statements', '|'):
            body = block.argument + '\n' if block.kind == '|' else block.text()
            found = self.run_statements(body)
            shown = following if following is not None and following.kind == 'output' else None
            self.result(self.failed == (block.argument == 'fails' and block.kind != '|'), block.line,
                        'fails' if block.argument == 'fails' else 'succeeds', '', found)
            self.compare(block, shown, body.split('\n')[0], shown.text() if shown else '', found)
            self.normalise(block)
        elif block.kind == 'console':
            self.run_console(block)
        elif block.kind in ('sql', 'pair', 'alone'):
            self.normalise(block)

    def measure(self, block):
        """A terminal of 80 columns shows each line of an example as one line."""
        wide = [line for line in block.body if len(plain(line)) > WIDEST]
        if wide:
            self.result(False, block.line, 'fits in 80 columns', '', '\n'.join(wide))

    def run_statements(self, text):
        name, *rest = self.world.split()
        command = [self.tquel, '--format', 'table']
        if rest:
            command += ['--timeline', rest[0]]
        command.append(name + '.db')
        prelude = self.preludes.setdefault(name, [])
        for file, content in (('ranges.tq', '\n'.join(prelude)), ('example.tq', text)):
            with open(os.path.join(self.directory, file), 'w', encoding='utf-8') as out:
                out.write(content)
            command += ['-f', file]
        prelude += [line for line in text.split('\n') if re.match(r'(range|set) ', line)]
        return self.shell(command)

    def shell(self, command):
        done = subprocess.run(command, shell=isinstance(command, str), cwd=self.directory,
                              env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
                              check=False)
        self.failed = done.returncode != 0
        lines = done.stdout.decode('utf-8').split('\n')
        return '\n'.join(line.rstrip() for line in lines)

    def run_console(self, block):
        commands = []
        for line in block.body:
            if line.startswith('$ '):
                commands.append(([line[2:]], []))
            elif line.startswith('> ') and commands and not commands[-1][1]:
                commands[-1][0].append(line[2:])
            elif commands:
                commands[-1][1].append(line)
        body = []
        for command, wanted in commands:
            if command[0].startswith('cat ') and ' ' not in command[0][4:]:
                with open(os.path.join(self.directory, command[0][4:]), 'w',
                          encoding='utf-8') as file:
                    file.write('\n'.join(wanted) + '\n')
            found = self.shell('\n'.join(command))
            text = ''.join(line + '\n' for line in wanted)
            self.result(text.rstrip() == found.rstrip(), block.line, command[0], text, found)
            body += ['$ ' + command[0]] + ['> ' + more for more in command[1:]]
            body += found.rstrip('\n').split('\n') if found.strip() else []
        self.changes.append((block, body))

    def compare(self, block, shown, what, wanted, found):
        if shown is not None and shown.argument == 'filled':
            found = '\n'.join(filled(line) for line in found.split('\n'))
        if shown is not None:
            self.changes.append((shown, found.rstrip('\n').split('\n')))
        self.result(wanted.rstrip() == found.rstrip(), block.line, what, wanted, found)

    def normalise(self, block):
        if block.first is not None:
            self.changes.append((block, block.body))

    def write(self):
        for block, body in sorted(self.changes, key=lambda change: -change[0].first):
            self.lines[block.first - 1:block.last] = [escape(line) for line in body]
        content = '\n'.join(self.lines).encode('ascii')
        with open(self.path, 'wb') as file:
            file.write(content)

    def lint(self):
        for tool, command in (('groff', ['groff', '-man', '-ww', '-rCHECKSTYLE=3', '-Tutf8', '-z']),
                              ('mandoc', ['mandoc', '-Tlint', '-Wstyle'])):
            if shutil.which(tool) is None:
                continue
            done = subprocess.run(command + [self.path], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, check=False)
            said = [line for line in done.stdout.decode('utf-8', 'replace').split('\n')
                    if line and 'referenced manual not found' not in line]
            self.result(not said, 1, tool + ' has nothing to say', '', '\n'.join(said))


def plain(text):
    for code, letter in ESCAPES:
        text = text.replace(code, letter)
    return re.sub(r'\\f[BIRP]', '', text)


def words_to_find(tquel, root):
    """What the pages have to mention: pairs of a page's section and a text."""
    for line in open(os.path.join(root, 'tquel/lang/keywords.def'), encoding='utf-8'):
        found = re.match(r'(?:RESERVED|CONTEXTUAL)\("(\w+)"', line)
        if found:
            yield '7', found.group(1)
    for line in open(os.path.join(root, 'netgen/rules.def'), encoding='utf-8'):
        found = re.match(r'RULE\(\w+, \w+, "([\w-]+)"', line)
        if found:
            yield '7', found.group(1)
    for file, start in (('function.c', 'functions[] = {'), ('aggregate.c', 'names[] = {')):
        source = open(os.path.join(root, 'tquel/analyse', file), encoding='utf-8').read()
        table = source.partition(start)[2].partition('};')[0]
        for found in re.finditer(r'\{"(\w+)",(?!.*NOT_EXECUTED)', table):
            yield '7', found.group(1)
    source = open(os.path.join(root, 'tquel/session/catalogue/settings.c'), encoding='utf-8').read()
    table = source.partition('names[] = {')[2].partition('};')[0]
    for found in re.finditer(r'"([\w ]+)"', table):
        yield '7', 'set ' + found.group(1)
    help_text = subprocess.run([tquel, '--help'], stdout=subprocess.PIPE, check=True).stdout
    for found in re.finditer(r'^  (-\w|--[\w-]+|\w+)', help_text.decode(), re.M):
        yield '1', found.group(1)
    source = open(os.path.join(root, 'tquel/shell/commands.c'), encoding='utf-8').read()
    for found in re.finditer(r'^    \{"\\\\([\w?]+)"', source, re.M):
        yield '1', '\\' + found.group(1)


def complete(pages, tquel):
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    for page in pages:
        if page.name not in ('tquel.1', 'tquel.7'):
            continue
        text = plain(open(page.path, encoding='ascii').read())
        missing = [word for section, word in words_to_find(tquel, root)
                   if page.name.endswith('.' + section)
                   and not re.search(r'(?<![\w-])' + re.escape(word) + r'(?!\w)', text, re.I)]
        page.result(not missing, 1, 'mentions all that there is', '', ', '.join(missing))


def check_help(page, tquel):
    """Each topic of the page, by each of its names, is shown with its heading by the program, and all tags."""
    heading = text = None
    tag_next = False
    for number, line in enumerate(page.lines, 1):
        found = re.match(r'\.S[HS] (.*)', line)
        if found:
            heading, text = plain(found.group(1).strip('"')), None
        found = re.match(r'\.\\" topic: (.*)', line)
        if found:
            names = found.group(1).split()
            statements = ' '.join('help "%s"' % name for name in names)
            shown = subprocess.run([tquel, '-c', statements], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, check=False)
            text = shown.stdout.decode('utf-8')
            page.result(shown.returncode == 0 and text.count(heading + '\n\n') >= len(names),
                        number, 'help ' + found.group(1), heading, text)
        if tag_next and text is not None:
            bold = line.startswith('.B ')
            tag = plain(re.sub(r'^\.[BI]+ ', '', line)).replace('\\ ', ' ').replace('"', '')
            wanted = re.escape(tag) + '(  |$)' if bold else re.escape(tag.split()[0])
            shown = re.sub('"', '', text)
            page.result(re.search('^ *' + wanted, shown, re.M) is not None, number,
                        'the tag %s is shown' % tag, tag, text)
        tag_next = line.startswith(('.TP', '.TQ'))


def main():
    arguments = sys.argv[1:]
    update = arguments[:1] == ['--update']
    tquel, *paths = arguments[update:]
    pages = [Page(path, os.path.abspath(tquel), update) for path in paths]
    for page in pages:
        page.run()
        page.lint()
        if page.name.endswith('.7'):
            check_help(page, os.path.abspath(tquel))
    complete(pages, os.path.abspath(tquel))
    count = failures = 0
    for page in pages:
        if len(page.results) < 10:
            page.result(False, 1, 'has too few examples')
        for good, what, wanted, found in page.results:
            count += 1
            failures += not good
            print('%sok %d - %s' % ('' if good else 'not ', count, what.replace('#', '')))
            if not good:
                for title, text in (('wanted', wanted), ('found', found)):
                    for line in (text or '').rstrip('\n').split('\n'):
                        print('# %s: %s' % (title, line))
    print('1..%d' % count)
    return failures > 0


if __name__ == '__main__':
    sys.exit(main())
