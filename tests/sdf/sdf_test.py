"""Sensor descriptions: what is made of good ones, and what is said of bad ones.

    sdf_test.py TQUEL SOURCE-ROOT [--update]

  good/NAME.sdf, and the example's pde.sdf: all outputs are compared with golden/NAME.* byte by byte;
      the create statements must run, and the remote description must give the same outputs again
  formats/NAME.dff: descriptions in formats other than the program's own
  bad/bad-*.sdf, bad-*.dff: standard error, exactly, is in the file of the same name with .err behind
  diff/NAME-old.sdf and -new.sdf: the report is in diff/NAME.out

--update writes what comes out: read the difference before you believe it. Prints TAP.
"""
import pathlib
import struct
import subprocess
import sys
import tempfile

TIMEOUT = 300
OUTPUTS = {'header': 'h', 'tquel': 'tq', 'doc': 'md', 'remote': 'remote'}


def note(order, name, kind, text):
    pad = lambda data: data + b'\0' * (-len(data) % 4)
    return struct.pack(order + 'III', len(name), len(text), kind) + pad(name) + pad(text)


def program(wide, order, segment, *notes):
    """An ELF file whose notes stand in a segment, or in a section."""
    body = b''.join(note(order, *one) for one in notes)
    word, header, entry = ('Q', 64, 56 if segment else 64) if wide else ('I', 52, 32 if segment else 40)
    first = header + entry
    if segment and wide:
        table = struct.pack(order + 'IIQQQQQQ', 4, 4, first, 0, 0, len(body), len(body), 4)
    elif segment:
        table = struct.pack(order + 'IIIIIIII', 4, first, 0, 0, len(body), len(body), 4, 4)
    else:
        table = struct.pack(order + 'II' + word * 4 + 'II' + word * 2, 0, 7, 2, 0, first, len(body),
                            0, 0, 4, 0)
    head = b'\x7fELF' + bytes([2 if wide else 1, 1 if order == '<' else 2, 1]) + bytes(9)
    head += struct.pack(order + 'HHI' + word * 3 + 'IHHHHHH', 2, 62, 1, 0, header if segment else 0,
                        0 if segment else header, 0, header, entry if segment else 0, int(segment),
                        0 if segment else entry, 0 if segment else 1, 0)
    return head + table + body


class Test:
    def __init__(self, tquel, root, update):
        self.tquel, self.root, self.update = tquel, root, update
        self.here = root / 'tests/sdf'
        self.count = self.failed = 0

    def ok(self, good, what, detail=''):
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {what}")
        if not good:
            for line in detail.splitlines():
                print('#   ' + line)

    def run(self, *arguments, cwd=None, stdin=b''):
        return subprocess.run([self.tquel, *map(str, arguments)], input=stdin, cwd=cwd or self.here,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT,
                              check=False)

    def compare(self, found, path, what):
        if self.update:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(found)
        wanted = path.read_bytes() if path.exists() else b''
        self.ok(found == wanted and path.exists(), what,
                f'{path.name} has\n{wanted.decode(errors="replace")}\nand this came out\n'
                f'{found.decode(errors="replace")}')

    # --- good ones

    def good(self, path, *options, name=None):
        name = name or path.stem
        summary = self.run('sdf', path.name, *options, cwd=path.parent)
        self.ok(summary.returncode == 0 and not summary.stderr, f'{name} is right',
                summary.stderr.decode())
        self.compare(summary.stdout, self.here / f'golden/{name}.summary', f'{name}: summary')
        with tempfile.TemporaryDirectory(prefix='tquel-sdf-') as directory:
            directory = pathlib.Path(directory)
            asked = [f'--{output}={directory / ("out." + ending)}'
                     for output, ending in OUTPUTS.items()]
            made = self.run('sdf', path.name, *options, *asked, cwd=path.parent)
            self.ok(made.returncode == 0 and not made.stderr and not made.stdout,
                    f'{name}: everything is written', made.stderr.decode())
            for output, ending in OUTPUTS.items():
                self.compare((directory / f'out.{ending}').read_bytes(),
                             self.here / f'golden/{name}.{ending}', f'{name}: {output}')
            created = self.run('-f', directory / 'out.tq', directory / 'new.db')
            self.ok(created.returncode == 0 and not created.stderr,
                    f'{name}: the create statements run', created.stderr.decode())

    def formats(self):
        directory = self.here / 'formats'
        self.good(directory / 'own.sensors', '--dff', 'own.dff')
        again = self.run('sdf', '--dff', 'own.dff', 'own', cwd=directory)
        self.ok(again.returncode == 0, 'the ending of file names is the format\'s',
                again.stderr.decode())
        strict = self.run('sdf', '--dff', '../formats/own.dff', 'files.sdf', cwd=self.here / 'good')
        self.ok(strict.returncode == 2 and b'TQ-0804' in strict.stderr,
                'a format forbids what it does not have', strict.stderr.decode())
        text = (self.here / 'good/measure.sdf').read_bytes()
        star = subprocess.run([self.tquel, 'sdf', '-', '--dff', str(directory / 'staros.dff'),
                               '--remote', '-'], input=text, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=TIMEOUT, check=False,
                              env={'SOURCE_DATE_EPOCH': '396376320'})
        self.ok(star.returncode == 0, 'figure D-7 in the format of figure E-4', star.stderr.decode())
        self.compare(star.stdout, self.here / 'golden/staros.remote', 'staros: remote description')
        own = self.run('sdf', '--dff', self.root / 'sensors/sdf/tquel.dff',
                       self.here / 'good/files.sdf', '--remote', '-')
        self.ok(own.stdout == (self.here / 'golden/files.remote').read_bytes(),
                'tquel.dff is the format that the program brings along')

    # --- bad ones

    def bad(self, path):
        if path.suffix == '.dff':
            result = self.run('sdf', '--dff', path.name, '../good/empty.sdf', cwd=path.parent)
        else:
            result = self.run('sdf', path.name, cwd=path.parent)
        self.ok(result.returncode == 2 and not result.stdout, f'{path.name} is refused')
        self.compare(result.stderr, path.with_name(path.name + '.err'), f'{path.name}: messages')

    def nothing_written(self):
        with tempfile.TemporaryDirectory(prefix='tquel-sdf-') as directory:
            out = pathlib.Path(directory) / 'out.h'
            out.write_text('before')
            result = self.run('sdf', 'bad/bad-class.sdf', '--header', out)
            self.ok(result.returncode == 2 and out.read_text() == 'before' and
                    len(list(out.parent.iterdir())) == 1, 'a bad description writes nothing')
            result = self.run('sdf', 'good/empty.sdf', '--header', f'{directory}/no/where.h')
            self.ok(result.returncode == 3 and b'TQ-0651' in result.stderr,
                    'an output that cannot be written', result.stderr.decode())
            result = self.run('sdf', 'good/empty.sdf', '--header', out)
            self.ok(result.returncode == 0 and out.read_text().startswith('/* The sensors') and
                    len(list(out.parent.iterdir())) == 1, 'an output takes the place of what was there')

    # --- programs

    def programs(self):
        text = (self.here / 'golden/files.remote').read_bytes()
        ours, other = (b'tquel\0', 1, text), (b'GNU\0', 3, b'12345678901234567890')
        stranger, wrong = (b'tquel\0', 2, b'(future)'), (b'tquex\0', 1, b'(taskforce)')
        with tempfile.TemporaryDirectory(prefix='tquel-sdf-') as directory:
            path = pathlib.Path(directory) / 'program'

            def read(data, *options):
                path.write_bytes(data)
                return self.run('sdf', path, *options)

            for wide in (True, False):
                for order in '<>':
                    for segment in (True, False):
                        what = f'{64 if wide else 32} bits, {order}, {segment}'
                        found = read(program(wide, order, segment, other, stranger, ours, wrong, ours),
                                     '--remote', '-')
                        self.ok(found.stdout == text and found.returncode == 0,
                                f'a program carries its description ({what})', found.stderr.decode())
                        none = read(program(wide, order, segment, other, wrong))
                        self.ok(none.returncode == 3 and b'TQ-0814' in none.stderr,
                                f'a program without sensors ({what})', none.stderr.decode())
            second = (b'tquel\0', 1, b'(taskforce (name Second) (later 1)) (future (name x))')
            both = program(True, '<', True, ours, second)
            found = read(both)
            self.ok(found.returncode == 0 and found.stdout.count(b'task force') == 2,
                    'two descriptions; what a later version says is passed over', found.stderr.decode())
            found = read(both, '--taskforce', 'filesystem', '--remote', '-')
            self.ok(found.stdout == text, 'one of two descriptions is chosen', found.stderr.decode())
            bad = read(program(True, '<', True, (b'tquel\0', 1, b'(taskforce')))
            self.ok(bad.returncode == 2 and b'TQ-0801' in bad.stderr, 'a description that is damaged')
            whole = program(True, '<', True, ours)
            for length in (4, 20, 63, 64, 100, 121, 140, len(whole) - 1):
                bad = read(whole[:length])
                self.ok(bad.returncode == 3 and b'TQ-0814' in bad.stderr,
                        f'a program cut off after {length} bytes', bad.stderr.decode())

    # --- the command line

    def command_line(self):
        good = 'good/empty.sdf'
        for arguments, words in (
                (['--heder', 'x', good], 'did you mean --header?'), ([], 'which description?'),
                ([good, good], 'one file too many'), ([''], 'one file too many'),
                (['--header', '-', '--header', '-', good], 'is given twice'),
                ([good, '--header'], '--header needs a value'), (['--diff', good], '--diff OLD NEW'),
                (['--header='], '--header needs a value'), (['--help=x'], '--help takes no value'),
                (['--diff', good, good, good], '--diff stands alone'),
                (['--diff', good, good, '--doc', '-'], '--diff stands alone')):
            found = self.run('sdf', *arguments)
            self.ok(found.returncode == 1 and words.encode() in found.stderr and
                    b'TQ-0001' in found.stderr and not found.stdout,
                    f'wrong usage: {" ".join(arguments)}', found.stderr.decode())
        found = self.run('sdf', '--tquel=-', '--', good)
        self.ok(found.stdout == (self.here / 'golden/empty.tq').read_bytes(), 'to standard output')
        found = self.run('sdf', '-q', '-', stdin=(self.here / good).read_bytes())
        self.ok(found.returncode == 0 and not found.stdout, 'from standard input',
                found.stderr.decode())
        found = self.run('sdf', 'good/none.sdf')
        self.ok(found.returncode == 3 and b'TQ-0650' in found.stderr, 'no such file')
        found = self.run('sdf', '--help')
        self.ok(found.returncode == 0 and b'--taskforce NAME' in found.stdout, '--help')
        found = self.run('help', 'sdf')
        self.ok(found.returncode == 0 and b'--taskforce NAME' in found.stdout, 'tquel help sdf')

    # --- differences

    def difference(self, older):
        name = older.name[:-len('-old.sdf')]
        newer = older.with_name(f'{name}-new.sdf')
        result = self.run('sdf', '--diff', older.name, newer.name, cwd=older.parent)
        self.compare(result.stdout, older.with_name(f'{name}.out'), f'{name}: differences')
        compatible = b'incompatible' not in result.stdout
        self.ok(result.returncode == (0 if compatible else 2) and
                (b'TQ-0816' in result.stderr) != compatible, f'{name}: exit code',
                result.stderr.decode())
        for path in (older, newer):
            self.ok(self.run('sdf', '--diff', path, path).stdout == b'', f'{path.name} is itself')

    def all(self):
        self.good(self.root / 'sensors/examples/pde/pde.sdf')
        for path in sorted((self.here / 'good').glob('*.sdf')):
            self.good(path)
        self.formats()
        for path in sorted((self.here / 'bad').glob('bad-*')):
            if path.suffix != '.err':
                self.bad(path)
        self.nothing_written()
        self.programs()
        self.command_line()
        for path in sorted((self.here / 'diff').glob('*-old.sdf')):
            self.difference(path)
        print(f'1..{self.count}')
        return self.failed


if __name__ == '__main__':
    update = '--update' in sys.argv
    words = [word for word in sys.argv[1:] if word != '--update']
    test = Test(str(pathlib.Path(words[0]).resolve()), pathlib.Path(words[1]).resolve(), update)
    sys.exit(1 if test.all() else 0)
