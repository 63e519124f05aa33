"""Writes the seed corpus of a fuzzer: seeds.py parse|session|sdf|wire|server DIRECTORY TESTS.

The seeds are the statements of the tests: the inputs of tests/lang/*.lang, the scripts of the .tqt
cases (for the session fuzzer behind the statements that create their relations), and each statement
of a script by itself; for sdf the descriptions and formats of tests/sdf, and a small program. One file per distinct text, named by its hash, so that running it again adds
only what is new.
"""
import hashlib
import pathlib
import re
import struct
import sys

SIZE_MAX = 4096


def lang_inputs(path):
    for case in path.read_text(encoding='utf-8').split('\n----\n'):
        yield case.split('\n=>\n')[0]


def tqt_steps(path):
    """(command, argument, body) of all steps of a file."""
    command, body = None, []
    for line in path.read_text(encoding='utf-8').splitlines():
        if line.startswith('#'):
            continue
        head = re.match(r'(---|===) *(.*)', line)
        if not head:
            body.append(line)
            continue
        if command:
            yield command[0], command[1], '\n'.join(body).strip()
        words = head.group(2).split(None, 1) if head.group(1) == '---' else ['===']
        command = (words[0] if words else '', words[1] if len(words) > 1 else '')
        body = []
    if command:
        yield command[0], command[1], '\n'.join(body).strip()


OPENERS = ('append checkpoint copy create define delete destroy display explain help index modify '
           'print range replace retrieve save set').split()


def statements_of(text):
    start = []
    for line in text.splitlines():
        word = re.match(r'[a-z]*', line.lower()).group(0)
        if word in OPENERS and start:
            yield '\n'.join(start)
            start = []
        start.append(line)
    if start:
        yield '\n'.join(start)


def literal(value, kind):
    if kind.startswith('c') or kind in ('text', 'name'):
        return '"' + value.replace('\\', '\\\\').replace('"', '\\"') + '"'
    if kind == 'bytes':
        return "x'%s'" % value.removeprefix('\\x')
    return value


def appends(argument, body):
    """`relation KIND NAME (d = type, ...)` and its CSV as append statements, where that is simple."""
    head = re.match(r'(?:event|period|traced|snapshot|)\s*(\w+)\s*\((.*?)\)', argument)
    lines = body.splitlines()
    if not head or not lines:
        return
    types = {name.strip().lower(): kind.strip() for name, _, kind in
             (part.partition('=') for part in head.group(2).split(','))}
    columns = [column.strip().lower() for column in lines[0].split(',')]
    for line in lines[1:]:
        row = dict(zip(columns, line.split(',')))
        targets = [f'{name} = {literal(value, types[name])}' for name, value in row.items()
                   if name in types and value]
        times = [f'{word} {row[column]}' for word, column in
                 (('at', 'at'), ('at', 'at_lo'), ('start', 'start'), ('start', 'start_lo'),
                  ('stop', 'stop'), ('stop', 'stop_hi')) if row.get(column)]
        yield f"append to {head.group(1)} ({', '.join(targets)}) {' '.join(times)}\n"


def texts(kind, tests):
    if kind == 'parse':
        for path in sorted((tests / 'lang').glob('*.lang')):
            yield from lang_inputs(path)
    for path in sorted((tests / 'tqt').rglob('*.tqt')):
        creates = ''
        for command, argument, body in tqt_steps(path):
            if command == '===':
                creates = ''
            elif command == 'relation' and '(' in argument:
                creates += 'create ' + argument.replace('snapshot ', '') + '\n'
                creates += ''.join(appends(argument, body))
            elif command in ('run', 'query') and body:
                if kind == 'parse':
                    yield from statements_of(body)
                yield (creates if kind == 'session' else '') + body
    for path in sorted((tests / 'tqt').rglob('*.tq')):
        yield path.read_text(encoding='utf-8')


def program(text):
    """An ELF file of 64 bits with one segment: a note with a remote description."""
    note = struct.pack('<3I', 6, len(text), 1) + b'tquel\0\0\0' + text + b'\0' * (-len(text) % 4)
    header = b'\x7fELF' + bytes([2, 1, 1]) + bytes(9)
    header += struct.pack('<HHIQQQIHHHHHH', 2, 62, 1, 0, 64, 0, 0, 64, 56, 1, 64, 0, 0)
    return header + struct.pack('<IIQQQQQQ', 4, 4, 120, 0, 0, len(note), len(note), 4) + note


def descriptions(tests):
    for folder in ('sdf/good', 'sdf/bad', 'sdf/formats', 'sdf/diff', 'sdf/golden'):
        for path in sorted((tests / folder).iterdir()):
            if path.suffix in ('.sdf', '.dff', '.sensors', '.remote'):
                yield path.read_bytes()
            if path.suffix == '.remote':
                yield program(path.read_bytes())
    yield (tests.parent / 'sensors/sdf/tquel.dff').read_bytes()


def text(value):
    return struct.pack('<I', len(value)) + value


def frame(kind, body, number=0):
    return struct.pack('<IHHQ', len(body), kind, 0, number) + body


def bodies():
    """A body of each message that there is, by its number."""
    hello = struct.pack('<IB', 2, 1) + text(b'tquel') + text(b'me') + text(b'') + text(b'0' * 32)
    hello += text(b'here') + text(b'/') + b'\0'
    welcome = struct.pack('<I', 2) + text(b'tquel') + struct.pack('<QIqB', 0, 10, 0, 0)
    record = struct.pack('<Bqq', 3, 1, 7) + text(b'x') + struct.pack('<Id', 0x80000001, 0.5) + b'\1'
    skip = struct.pack('<BI', 16, 3)
    ends = struct.pack('<BIqqB', 37, 3, 5, 6, 2) + text(b'T:m#1')
    event = struct.pack('<IQQI', 5, 9, 100, 3) + record + skip + ends
    loss = struct.pack('<I', 1) + text(b'R') + text(b'full') + struct.pack('<Qqq', 3, 1, 2)
    report = struct.pack('<I', 1) + text(b'sensors') + struct.pack('<BII', 0, 2, 1) + text(b'a') * 2
    adjust = struct.pack('<IB', 1, 1) + text(b'R') + struct.pack('<Bqq', 0, 0, 0) + text(b'\1\0\1\0\4\1\1\0x\5\0\0\0\0\0\0\0') + struct.pack('<I', 1)
    adjust += b'\1' + text(b'Process') + b'\5' + text(b'P:*#*')
    info = struct.pack('<I', 1) + text(b'R') + struct.pack('<BI', 1, 1) + text(b'n') + b'\1\4\0\0\0\0'
    return {1: hello, 2: welcome, 3: struct.pack('<I', 1) + text(b'why'), 4: bytes(8), 5: bytes(24),
              16: adjust, 17: bytes(8), 18: bytes(4) + text(b'sensors'), 19: text(b'a') + text(b'b'),
              20: bytes(4), 21: bytes(12), 22: info, 32: bytes(8) + text(b'(a)'),
              33: bytes(4) + text(b'P:1#2') + bytes(4) + text(b'T') + b'\1', 34: bytes(4) + text(b'R') + bytes(8),
              35: bytes(4) + text(b'n'), 36: bytes(4), 37: bytes(20), 38: event, 39: bytes(12),
              40: bytes(12) + text(b'why') + text(b'what'), 41: loss, 42: report,
              43: bytes(4) + text(b'what'), 44: b'', 65: b'', 83: bytes(2), 85: b'\0abc'}


def messages():
    """The protocol: messages alone (0), what a server (1) and a client (2) receive, an outbox (3)."""
    known = bodies()
    for kind, body in known.items():
        yield bytes([0, kind]) + body
    record = struct.pack('<Bqq', 3, 1, 7) + text(b'x') + struct.pack('<Id', 0x80000001, 0.5) + b'\1'
    yield bytes([0, 38]) + struct.pack('<IQQI', 6, 9, 100, 1) + record + text(bytes(range(256)))
    data = b''.join(frame(kind, known[kind], number) for number, kind in
                    ((0, 32), (0, 33), (0, 34), (0, 35), (0, 37), (1, 38), (2, 39), (3, 41), (0, 4), (0, 3)))
    answers = b''.join(frame(kind, known[kind]) for kind in (16, 17, 18, 19, 20, 21, 22, 5, 3))
    for piece in (0, 1, 7, 100):
        yield bytes([1, piece]) + frame(1, known[1]) + data
        yield bytes([2, piece]) + frame(2, known[2]) + answers
    yield bytes([3]) + bytes(range(200)) + bytes([6, 1, 2, 5, 0, 1, 4, 0, 5, 2, 3, 5, 6, 9]) * 9


def step(who, kind, body):
    return struct.pack('<BBH', who, kind, len(body)) + body


def statements(source):
    return text(b'x') + struct.pack('<IBBBBI', 1, 0, 0, 2, 0, 80) + source


def served():
    """Steps of server_fuzz: each message alone, questions, statements, and feeds that bring records."""
    known = bodies()
    for who in range(4):
        for kind in (3, 4, 5, 21, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 65):
            yield step(who, kind, known[kind])
    for what in ('relations', 'variables', 'domains', 'describe', 'nodes', 'sensors', 'displays', 'stop displays',
                 'seat', 'receptacles', 'count', 'zone'):
        for argument in (b'', b'E', b'D on', b'UTC0'):
            for who in (0, 3):
                yield step(who, 66, text(what.encode()) + text(argument))
    record = struct.pack('<Bqq', 1, 5, 7) + text(b'x')
    for source in (b'display E', b'print E', b'range of e is E retrieve (e.a)', b'checkpoint 9', b'display D',
                   b'append to E (a = 1, s = "x") at 4', b'destroy D', b'delete e where e.a = 1',
                   b'set checkpoint every 1 ms', b'retrieve (n = count(t)) at 5', b'explain retrieve (e.a)'):
        for who in (0, 3):
            yield step(who, 64, statements(source)) + step(1, 38, struct.pack('<IQQI', 1, 0, 1, 1) + record) + \
                step(1, 39, struct.pack('<Iq', 1, 20)) + step(2, 38, struct.pack('<IQQI', 2, 9, 1, 1) + record) + \
                step(2, 41, struct.pack('<I', 1) + text(b'T') + text(b'full') + struct.pack('<Qqq', 3, 1, 2)) + \
                step(who | 128, 64, statements(source))


def main():
    kind, directory, tests = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    directory.mkdir(parents=True, exist_ok=True)
    for data in (descriptions(tests) if kind == 'sdf' else messages() if kind == 'wire' else
                 served() if kind == 'server' else
                 (source.encode() for source in texts(kind, tests))):
        if 0 < len(data) <= SIZE_MAX:
            (directory / hashlib.sha1(data).hexdigest()).write_bytes(data)


main()
