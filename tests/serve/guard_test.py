"""`tquel serve` and who means it harm: messages with hostile counts, users without permits, names that move cursors.
Prints TAP.

    guard_test.py TQUEL [NAME]...     all tests, or those of these names
"""
import contextlib
import os
import pathlib
import re
import signal
import socket
import sqlite3
import struct
import subprocess

from world import (PATIENCE, check, equal, frame, hello, main, message, text, until)

# What has been freed is gone, also where the address sanitizer would keep it.
os.environ['ASAN_OPTIONS'] = (os.environ.get('ASAN_OPTIONS', '') +
                              ':quarantine_size_mb=0:thread_local_quarantine_size_kb=0')

NOBODY = 65534
MESSAGES = pathlib.Path(__file__).parents[2] / 'sensors/wire/messages.def'
SHELL, SOURCE, SERVER = 1, 2, 4


def cpu(process):
    """Seconds of the processor that PROCESS has had."""
    with open(f'/proc/{process.pid}/stat', encoding='ascii') as file:
        fields = file.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def greet(world, role, identity=''):
    """A connection that has been let in."""
    peer = world.raw()
    peer.sendall(hello(role=role, identity=identity))
    kind, _, body = message(peer)
    equal(kind, 2, f'WELCOME, not {body!r}')
    return peer


def drain(peer):
    """Reads what has come; closes."""
    peer.settimeout(PATIENCE)
    with contextlib.suppress(OSError):
        peer.shutdown(socket.SHUT_WR)
        while peer.recv(1 << 16):
            pass
    peer.close()


def relation(number, name):
    return frame(34, struct.pack('<I', number) + text(name) + struct.pack('<Q', 0))


def report(rows, columns, cells, more=0, what='sensors', request=0):
    return frame(42, struct.pack('<I', request) + text(what) + struct.pack('<BII', more, columns, rows) + cells)


# --- every field of every message

def definitions():
    """(number, name, senders, [(kind, field)]) of each message."""
    senders = {'SN_FROM_CLIENT': 3, 'SN_FROM_ALL': 7, 'SN_FROM_SHELL': 1, 'SN_FROM_SOURCE': 2, 'SN_FROM_SERVER': 4,
               'SN_NUMBERED': 8}
    rows = re.findall(r'^MESSAGE\((\d+), (\w+), \w+, ([^)]*)\)\n(.*?)^END\(', MESSAGES.read_text(encoding='utf-8'),
                      re.M | re.S)
    for number, name, sent, body in rows:
        yield int(number), name, sum(senders[one.strip()] for one in sent.split('|')), \
            re.findall(r'FIELD\((\w+), (\w+)\)', body)


WIDTHS = {'u8': 1, 'flag': 1, 'u32': 4, 'u64': 8, 'i64': 8}
PACKS = {1: '<B', 4: '<I', 8: '<Q'}
# What makes sense in a message, so that what is behind a hostile field is reached.
RESTS = {'records': struct.pack('<Bqq', 3, 1, 5), 'cells': text('p') + text('E'), 'text': b'retrieve (1)',
         'objects': struct.pack('<B', 0) + text('a') + b'\1' + struct.pack('<q', 5),
         'domains': text('a') + struct.pack('<BIB', 1, 4, 0)}


def plain(kind, field):
    if kind in WIDTHS:
        # A period of a checkpoint, a digest and the like are 0, numbers of things and counts 1.
        zero = kind == 'flag' or field in ('digest', 'sequence', 'position', 'format', 'request', 'status', 'exit_code')
        return struct.pack(PACKS[WIDTHS[kind]], 2 if field == 'columns' else 0 if zero else 1)
    if kind == 'rest':
        return RESTS.get(field, b'')
    return text({'relation': 'E', 'name': 'E', 'what': 'sensors'}.get(field, 'x'))


def hostile_values(kind, value):
    if kind in WIDTHS:
        bits = 8 * WIDTHS[kind]
        number = int.from_bytes(value, 'little')
        numbers = {0, number - 1, number + 1, 2 ** bits - 1, 2 ** (bits - 1), 2 ** (bits - 1) - 1, 2 ** (bits - 1) + 1}
        return [(one % 2 ** bits).to_bytes(bits // 8, 'little') for one in sorted(numbers)]
    if kind == 'rest':
        return [b'', value[:-1], value + b'\xff', b'\xff' * 64, b'\0' * 64]
    length = len(value) - 4
    lengths = {0, length + 1, max(length - 1, 0), 2 ** 32 - 1, 2 ** 31}
    return [struct.pack('<I', one) + value[4:] for one in sorted(lengths)] + [text(b'\x1b[31m\n\xff'), text('')]


def hostile_messages(side):
    """Bytes of every message that SIDE may send, with one field after the other set to what it should not be."""
    for number, name, senders, fields in definitions():
        if not senders & side or name in ('HELLO', 'GOODBYE'):
            continue
        values = [plain(*field) for field in fields]
        yield name, frame(number, b''.join(values), 1 if senders & 8 else 0)
        for i, (kind, _) in enumerate(fields):
            for value in hostile_values(kind, values[i]):
                body = b''.join(values[:i] + [value] + values[i + 1:])
                yield name, frame(number, body, 1 if senders & 8 else 0)


def every_field(world):
    """whatever a field of a message says, the server goes on"""
    world.serve()
    world.good('create event E (a = i8) create traced T (Process = name, v = i4) by Process')
    cases, before = 0, cpu(world.server)
    for side, role in ((SOURCE, 1), (SOURCE, 2), (SHELL, 0)):
        for name, data in hostile_messages(side):
            cases += 1
            peer = greet(world, role, f'i{cases}' if role else '')
            if role:
                peer.sendall(relation(1, 'E') + relation(2, 'T') +
                             frame(33, struct.pack('<I', 1) + text('p:q#1') + struct.pack('<I', 1) + text('') + b'\1') +
                             frame(35, struct.pack('<I', 1) + text('n')) +
                             (frame(37, struct.pack('<QIQ', 9, 1, 0)) if role == 1 else b''))
            with contextlib.suppress(OSError):
                peer.sendall(data)
            drain(peer)
            check(world.server.poll() is None, f'the server died of {name} {data!r}')
    check(cases > 400, cases)
    equal(world.good('retrieve (a = 1)', '--format', 'count'), '1\n')
    check(cpu(world.server) - before < 60, 'it was held')


def columns(world):
    """a report of 4 billion columns is no report"""
    world.serve()
    before = cpu(world.server)
    for i in range(1):
        peer = greet(world, 1, f'c{i}')
        peer.sendall(report(1, 0xffffffff, b''))
        while (got := message(peer)) is not None and got[0] != 3:
            pass
        check(got is not None and b'REPORT' in got[2], got)
        peer.close()
    equal(world.good('retrieve (a = 1)', '--format', 'count'), '1\n')
    check(cpu(world.server) - before < 6, 'it was held')


def many_rows(world):
    """reports of many processes, and long cells: what is kept is bounded, what is shown is one table"""
    world.serve(timeline='real')
    before = cpu(world.server)
    peer = greet(world, 1, 'c')
    # Every row another process: each of 100,000 rows replaces those of its process.
    names = b''.join(text(f'{i % 50000:x}') for i in range(100000))
    peer.sendall(report(100000, 1, names, more=1) + report(1, 2, text('last') + text('R' * 500000), more=1) +
                 report(1, 2, text('\x1b[31mred\n') + text('E')))
    shown = until(lambda: (out := world.good('', '--format', 'csv') or world.run(
        '--connect', world.socket, '-c', r'\ds').out) and 'x1b[31mred' in out and out, 'the report')
    check('\x1b' not in shown, 'an escape character')
    check(max(len(line) for line in shown.splitlines()) < 2000, 'a line as long as a hostile cell')
    drain(peer)
    check(cpu(world.server) - before < 30, 'it was held')


def endless_report(world):
    """a report that never ends is not kept without end"""
    world.serve(timeline='real')
    peer = greet(world, 1, 'c')
    part = report(2000, 2, (text('p' * 200) + text('E' * 200)) * 2000, more=1)
    for _ in range(100):
        peer.sendall(part)
    peer.sendall(report(1, 2, text('p') + text('F')))
    until(lambda: 'more rows were reported than are kept' in world.run('--connect', world.socket, '-c', r'\ds').out,
          'what is not kept is said')
    with open(f'/proc/{world.server.pid}/status', encoding='ascii') as file:
        kib = int(re.search(r'VmRSS:\s+(\d+)', file.read())[1])
    check(kib < 400000, f'{kib} KiB')
    drain(peer)


def deaf(world):
    """a source that does not read its answers is not read either"""
    world.serve()
    peer = greet(world, 2, 'deaf')
    # Each is answered by an error that has the name in it.
    peer.settimeout(1)
    with contextlib.suppress(TimeoutError):
        for i in range(1, 5000):
            peer.sendall(relation(i, 'x' * 60000))
    with open(f'/proc/{world.server.pid}/status', encoding='ascii') as file:
        kib = int(re.search(r'VmRSS:\s+(\d+)', file.read())[1])
    check(kib < 150000, f'{kib} KiB')
    equal(world.good('retrieve (a = 1)', '--format', 'count'), '1\n')
    peer.close()


def silent(world):
    """connections that say nothing are bounded by their number, are told, and keep nobody out"""
    world.serve()
    peers = []
    for _ in range(200):
        peer = socket.socket(socket.AF_UNIX)
        peer.connect(world.socket)  # waits where the socket's queue is full
        peer.settimeout(PATIENCE)
        peers.append(peer)
    equal(world.good('retrieve (a = 1)', '--format', 'count'), '1\n')
    until(lambda: number_of(world) < 120, 'few are left')
    told = 0
    for peer in peers[:100]:  # some may have been ended for their time, without a word
        data = peer.recv(1 << 16)
        told += b'has not said who it is' in data
    check(told > 0, 'they are told')
    for peer in peers:
        peer.close()
    until(lambda: 'TQ-0643' in world.log(), 'it is said')


def number_of(world):
    return len(os.listdir(f'/proc/{world.server.pid}/fd'))


# --- who connects to a hostile server

class Impostor:
    """A server that sends one message after its WELCOME."""

    def __init__(self, path, data):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(8)
        self.data = data

    def serve(self, client):
        self.listener.settimeout(PATIENCE)
        peer, _ = self.listener.accept()
        peer.settimeout(PATIENCE)
        message(peer)
        with contextlib.suppress(OSError):
            peer.sendall(frame(2, struct.pack('<I', 2) + text('db') + struct.pack('<QIqB', 0, 4096, 0, 1)) + self.data +
                         frame(3, struct.pack('<I', 0) + text('enough')))
            peer.shutdown(socket.SHUT_WR)
            while peer.recv(1 << 16):
                pass
        peer.close()
        self.listener.close()
        client.kill()  # it would come again; who is dying dies of what he was dying of
        return client.wait(PATIENCE)


def impostor(world):
    """whatever a server sends, shells and feeds end by themselves"""
    world.write('rows.csv', 'a\n1\n')
    chosen = [(name, data) for name, data in hostile_messages(SERVER)
              if name in ('RELATION_INFO', 'DIAGNOSTIC', 'DONE', 'ANSWER', 'ERROR', 'ACKNOWLEDGE')]
    for name, data in chosen:
        for arguments in (['feed', 'E', '--connect'], ['-c', 'retrieve (a = 1)', '--connect']):
            if (name == 'RELATION_INFO') != (arguments[0] == 'feed'):
                continue
            path = str(world.directory / 'impostor')
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            server = Impostor(path, data)
            with open(world.directory / 'rows.csv', 'rb') as rows:
                client = world.start(*arguments, path, stdin=rows)
            code = server.serve(client)
            check(code >= 0 or code == -signal.SIGKILL, f'{arguments} died by signal {-code} of {name} {data!r}')


# --- users without permits

def as_nobody(world, identity='', role=0):
    """A connection of another user, and what was said to him."""
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        peer = world.raw()
    finally:
        os.seteuid(0)
        os.setegid(0)
    peer.sendall(hello(role=role, identity=identity))
    kind, _, body = message(peer)
    return kind, peer, body


def nobody(world, *arguments):
    done = subprocess.run(['setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups', world.tquel,
                           '--connect', world.socket, *arguments], capture_output=True, timeout=PATIENCE, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def cannot(world):
    """Why this machine has no other user."""
    if os.geteuid() != 0:
        return 'not root'
    done = subprocess.run(['setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups', world.tquel, 'help'],
                          capture_output=True, check=False)
    return None if done.returncode == 0 else 'another user cannot run the program'


def squatter(world):
    """a server of another user where servers are by default is not taken for one's own; named, it is"""
    if reason := cannot(world):
        return reason
    place = world.directory / 'tquel'
    place.mkdir()
    place.chmod(0o1777)
    base = world.directory / 'theirs'
    base.mkdir()
    os.chown(base, NOBODY, NOBODY)
    where = dict(os.environ, XDG_RUNTIME_DIR=str(world.directory))
    world.server = world.start(f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups', world.tquel, 'serve',
                               str(base / 'a.db'), program='setpriv', env=where)
    world.server.stdout.readline()
    socket_there = str(place / 'server')
    for arguments in (('--connect', '.', '-c', 'create event E (x = i4)'), ('feed', 'E', '--connect', '.')):
        done = subprocess.run([world.tquel, *arguments], env=where, capture_output=True, stdin=subprocess.DEVNULL,
                              timeout=PATIENCE, check=False)
        equal((done.returncode, b'TQ-0842' in done.stderr and b'another user' in done.stderr), (3, True), done.stderr)
    for named, user in ((socket_there, 0), ('.', NOBODY)):
        done = subprocess.run(['setpriv', f'--reuid={user}', f'--regid={user}', '--clear-groups', world.tquel, '--connect',
                               named, '-c', 'help'], env=where, capture_output=True, timeout=PATIENCE, check=False)
        equal(done.returncode, 0, done.stderr)
    os.chown(place, NOBODY, NOBODY)
    done = subprocess.run([world.tquel, '--connect', '.', '-c', 'help'], env=where, capture_output=True, check=False)
    equal(done.returncode, 0, done.stderr)


def prepare(world, timeline='abstract'):
    world.serve('--group', 'nogroup', timeline=timeline)
    world.good('create event Open (seen = i4, hidden = i4) create event Secret (password = i4, salt = text) '
               'create event Fed (a = i4) '
               'append to Open (seen = 1, hidden = 7) at {0} append to Open (seen = 2, hidden = 8) at {0} '
               'append to Secret (password = 4711, salt = "s") at {0} '
               'define permit append on Fed to nobody '
               'define permit retrieve on Open (seen) to nobody'.replace(
                   '{0}', '1' if timeline == 'abstract' else '"2020-01-01"'), '-q')
    world.good('range of s is Secret define view Peek (s.password) where s.password > 4000 '
               'range of s is Secret retrieve into Watched (s.salt) where s.password > 4000', '-q')


def looks(world):
    """of what he has no permit for, a user sees the name alone"""
    if reason := cannot(world):
        return reason
    prepare(world)
    secrets = ('password', 'salt', 'hidden', '4000', '4711')
    listing = nobody(world, '-c', r'\d')[1]
    check('no permit      Secret\n' in listing and 'event          Open (seen = i4)\n' in listing, listing)
    for what in (r'\d', r'\d Open', r'\d Secret', r'\d Peek', r'\d Watched', r'\dn', r'\dn Watched', r'\ds', 'help Secret',
                 'help Open', 'help Peek', 'print Peek', 'print Secret', 'explain print Secret',
                 'range of s is Secret retrieve (s.passwort)', 'range of s is Secret retrieve (n = count(s))',
                 'retrieve (Secret.password)', 'retrieve (x = count(Secret))', 'range of o is Open retrieve (o.hiden)',
                 'range of o is Open retrieve (o.all)', 'range of o is Open retrieve (o.seen) where o.hidde = 1',
                 'range of p is Peek explain retrieve (p.password)', 'copy Secret into "x"', 'display Secret',
                 'append to Secret (pasword = 1)', 'append to Fed (b = 1) at 1',
                 'range of s is Secret delete s where s.pasword = 1', 'range of o is Open retrieve (o.seen, x = o)',
                 'range of o is Open retrieve (o.seen) at o.hiden'):
        _, out, error = nobody(world, '-c', what)
        for secret in secrets:
            said = (out + error).replace(what, '')  # what he has written is shown to him
            said = '\n'.join(line for line in said.splitlines() if line.strip(' ^') and what not in line)
            check(secret not in re.sub(r'nobody may not \w+ \S+', '', said), f'{what}: {secret} in {out}{error}')
    _, peer, _ = as_nobody(world)
    for owner in (b'Secret', b'Open'):
        peer.sendall(frame(66, text('domains') + text(owner)))
        equal(message(peer)[2], b'\0' + (b'seen\n' if owner == b'Open' else b''), 'completion')
    peer.close()
    check('tuples' not in nobody(world, '-c', r'\d Open')[1], 'a count of what he may see in part')
    world.good('define permit retrieve on Open to nobody', '-q')
    check('tuples:     2' in nobody(world, '-c', r'\d Open')[1], 'a count of what he may see')
    return None


def conditions(world):
    """of tuples that a permit's condition hides nothing is told, not even by an error; it is added once"""
    if reason := cannot(world):
        return reason
    prepare(world)
    world.good('create event Part (a = i4, b = i4) append to Part (a = 1, b = 5) at 1 append to Part (a = 2, b = 6) at 2 '
               'range of p is Part define permit retrieve on Part to nobody where p.a = 1', '-q')
    for where in ('1 / (p.b - 6) > 0 or 1 = 1', 'not (1 / (p.b - 6) > 100)'):
        code, out, error = nobody(world, '--format', 'count', '-c', f'range of p is Part retrieve (p.a) where {where}')
        equal((code, out, error), (0, '1\n', ''), where)
    # What a condition hides is absent, and the condition's own domains need no permit.
    world.good('create period Span (k = i4) append to Span (k = 1) start 0 stop 10 append to Span (k = 2) start 0 stop 10 '
               'create period Cover (k = i4, hidden = i4) append to Cover (k = 1, hidden = 0) start 2 stop 4 '
               'append to Cover (k = 2, hidden = 1) start 3 stop 6 define permit retrieve on Span to nobody '
               'range of c is Cover define permit retrieve on Cover (k) to nobody where c.hidden = 0', '-q')
    for where, rows in (('', 4), ('where c.k = s.k', 3), ('where c.k = s.k when c overlap s', 1),
                        ('where c.k = 2', 2)):
        code, out, error = nobody(world, '--format', 'count', '-c',
                                  f'range of s is Span range of c is Cover retrieve (s.k) unless c {where}')
        equal((code, out, error), (0, f'{rows}\n', ''), where)
    targets = ', '.join(f'x{i} = ' + ' + '.join(['p.a'] * 250) for i in range(2))
    code, out, error = nobody(world, '--format', 'count', '-c', f'range of p is Part retrieve ({targets})')
    equal((code, out, error), (0, '1\n', ''), 'many places')
    return None


def strangers(world):
    """who may not append writes nothing, whatever message he says it with"""
    if reason := cannot(world):
        return reason
    prepare(world, timeline='real')
    kind, peer, body = as_nobody(world, 'c', role=1)
    check(kind == 3 and b'only the owner' in body, f'a collector of another user: {kind} {body!r}')
    peer.close()
    _, peer, _ = as_nobody(world, 'f', role=2)
    loss = struct.pack('<I', 0) + text('Secret') + text('full') + struct.pack('<Qqq', 5, 1, 2)
    nowhere = struct.pack('<I', 0) + text('') + text('full') + struct.pack('<Qqq', 5, 1, 2)
    peer.sendall(relation(1, 'Secret') + frame(37, struct.pack('<QIQ', 77, 0, 1000)) +
                 report(1, 9, b''.join(text(cell) for cell in ('p', 'Secret', '', 'on', '1', '0', '1', '99', ''))) +
                 frame(41, loss, 1) + frame(41, nowhere, 2) +
                 frame(40, struct.pack('<Iq', 0, 5) + text('no') + text('record'), 3) +
                 frame(40, struct.pack('<Iq', 1, 5) + text('no') + text('record'), 4) +
                 frame(38, struct.pack('<IQQI', 1, 0, 0, 1) + struct.pack('<Bqq', 3, 5, 6), 5) + frame(44, b'', 6))
    errors = 0
    while (got := message(peer)) is not None and not (got[0] == 21 and struct.unpack_from('<Q', got[2])[0] == 6):
        errors += got[0] == 43
    check(got is not None, 'the feed was dropped')
    check(errors >= 5, f'{errors} errors were said')
    listing = world.good(r'range of l is Lost range of r is Rejected range of c is SensorCost '
                         'retrieve (l.all) retrieve (r.all) retrieve (c.all)', '--format', 'count')
    equal(listing, '0\n0\n0\n')
    equal(world.count('Secret'), 1)
    # What he may append to: rows, and what was lost of it; the places of a pipe of others stay theirs.
    peer.sendall(relation(2, 'Fed') + frame(38, struct.pack('<IQQI', 2, 77, 500, 1) + struct.pack('<Bqq', 3, 5, 6), 7) +
                 frame(41, struct.pack('<I', 0) + text('Fed') + text('full') + struct.pack('<Qqq', 5, 1, 2), 8))
    while (got := message(peer)) is not None and not (got[0] == 21 and struct.unpack_from('<Q', got[2])[0] == 8):
        pass
    check(got is not None, 'the feed was dropped')
    equal(world.good('range of l is Lost retrieve (l.all)', '--format', 'count'), '1\n')
    mine = greet(world, 1, 'mine')
    mine.sendall(frame(37, struct.pack('<QIQ', 77, 0, 0)) + relation(1, 'Fed') +
                 frame(38, struct.pack('<IQQI', 1, 77, 0, 1) + struct.pack('<Bqq', 3, 5, 8), 1) + frame(44, b'', 2))
    while (got := message(mine)) is not None and got[0] != 21:
        pass
    equal(world.good('range of l is Lost retrieve (l.all)', '--format', 'count'), '1\n', 'nothing of the pipe was lost')
    # A permit that is taken away is no permit any more.
    world.good('destroy permit Fed all', '-q')
    number = 9
    while True:
        peer.sendall(frame(38, struct.pack('<IQQI', 2, 0, 0, 1) + struct.pack('<Bqq', 3, 5, 60), number))
        number += 1
        got = message(peer)
        check(got is not None, 'the feed was dropped')
        if got[0] == 43:
            break
    check(b'may not append to Fed' in got[2], got)
    peer.close()
    mine.close()
    return None


def equal_losses(world):
    """the same loss told again and again is counted, and each time as little work"""
    world.serve()
    peer, count, spent = greet(world, 1, 'c'), 300, []
    for first in range(1, 3 * count, count):
        before = cpu(world.server)
        peer.sendall(b''.join(
            frame(41, struct.pack('<I', 0) + text('E') + text('full') + struct.pack('<Qqq', i, 1, 2), i)
            for i in range(first, first + count)))
        while (got := message(peer)) is not None and not (
                got[0] == 21 and struct.unpack_from('<Q', got[2])[0] == first + count - 1):
            pass
        spent.append(cpu(world.server) - before)
    equal(world.good('range of l is Lost retrieve (l.all)', '--format', 'count'), f'{3 * count}\n')
    check(spent[2] < 2.5 * spent[0] + 0.5, spent)
    peer.close()


def noise(world):
    """what sources say is shown without escapes, and not without end"""
    world.serve()
    peer = greet(world, 1, 'c')
    peer.sendall(frame(43, struct.pack('<I', 0) + text('\x1b[2Jgone\u009b31m\u202e')))
    peer.sendall(b''.join(frame(43, struct.pack('<I', 0) + text(f'number {i}')) for i in range(5000)) + frame(44, b'', 1))
    while (got := message(peer)) is not None and got[0] != 21:
        pass
    until(lambda: 'TQ-0870' in world.log(), 'that there is more')
    check('\x1b' not in world.log() and '\u009b' not in world.log() and r'\x1b[2Jgone' in world.log(), world.log()[:200])
    check(world.log().count('number') < 300, 'everything is shown')
    peer.close()


def names(world):
    """names and texts with control characters, also in a file that somebody has edited, are shown as escapes"""
    escape = '\x1b'
    made = world.run('--timeline', 'abstract', world.database, '-q', '-c',
                     f'create event E (s = text, a = i4) append to E (s = "x{escape}[31m", a = 1) at 1 '
                     f'range of e is E define view V (e.s) where e.s = "{escape}c" '
                     f'retrieve into D (e.s) where e.s = "{escape}c" define integrity on E is e.s != "{escape}q"')
    equal(made.code, 0, made.err)
    with contextlib.closing(sqlite3.connect(world.database)) as database:
        database.execute(f"UPDATE tq_domain SET name = 'a{escape}[5m' WHERE relation = 'E' AND name = 'a'")
        database.execute(f'ALTER TABLE E RENAME COLUMN a TO "a{escape}[5m"')
        database.commit()
    for what in (r'\d', r'\d E', r'\d V', r'\d D', r'\dn', 'help E', 'help V', 'print E',
                 f'range of e is E explain retrieve (e.all) where e.s = "{escape}c"', 'range of v is V explain retrieve (v.s)',
                 f'range of e is E retrieve (e.all) where e.s = "{escape}"', 'range of e is E retrieve (e.zzz)',
                 f'range of e is {escape}'):
        for form in ('table', 'line', 'markdown', 'timeline'):
            done = world.run('--format', form, world.database, '-c', what)
            check(escape not in done.out + done.err, f'{what} as {form}: {done.out!r} {done.err!r}')
    shown = world.run('--format', 'table', world.database, '-c', 'print E')
    check(r'a\x1b[5m' in shown.out and r'x\x1b[31m' in shown.out, shown.out)
    exact = world.run('--format', 'csv', world.database, '-c', 'print E')
    check(f'x{escape}[31m' in exact.out, exact.out)


if __name__ == '__main__':
    main([every_field, columns, many_rows, endless_report, deaf, silent, impostor, looks, conditions, strangers, equal_losses, noise, names, squatter],
         slow=[endless_report])
