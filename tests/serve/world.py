"""Servers, shells and feeds for tests of `tquel serve`: started, talked to, killed. Nothing here assumes a speed:
what is waited for is waited for PATIENCE seconds at most."""
import contextlib
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import traceback

PATIENCE = 300 * float(os.environ.get('TEST_PATIENCE', '1'))

# Who was started with SIGINT ignored (in the background, by a shell) would start all others so, too.
signal.signal(signal.SIGINT, signal.default_int_handler)


class Failure(Exception):
    pass


def check(condition, what):
    if not condition:
        raise Failure(what)


def equal(found, wanted, what=''):
    if found != wanted:
        raise Failure(f'{what}: found {found!r}\nwanted {wanted!r}')


def until(condition, what):
    end = time.monotonic() + PATIENCE
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end:
            raise Failure(f'{what}: never')
        time.sleep(0.02)


def seconds(process):
    """CPU time that it has taken."""
    with open(f'/proc/{process}/stat', encoding='ascii') as file:
        fields = file.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


class World:
    """A directory with a database, its server, and those who connect."""

    def __init__(self, tquel):
        self.tquel = tquel
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix='tquel-serve.'))
        self.directory.chmod(0o755)
        self.socket = str(self.directory / 's')
        self.database = str(self.directory / 'a.db')
        self.children = []
        self.server = None

    def close(self):
        for child in self.children:
            if child.poll() is None:
                child.kill()
                child.wait()
            for stream in (child.stdin, child.stdout, child.stderr):
                if stream:
                    with contextlib.suppress(OSError):
                        stream.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def start(self, *arguments, **options):
        child = subprocess.Popen([options.pop('program', self.tquel), *arguments], cwd=options.pop('cwd', self.directory),
                                 stdin=options.pop('stdin', subprocess.DEVNULL),
                                 stdout=options.pop('stdout', subprocess.PIPE),
                                 stderr=options.pop('stderr', subprocess.PIPE), **options)
        self.children.append(child)
        return child

    def serve(self, *arguments, timeline='abstract', **options):
        """Starts the server and returns when it is ready."""
        log = open(self.directory / 'server.log', 'ab')
        self.server = self.start('serve', self.database, '--socket', self.socket, '--timeline',
                                 timeline, *arguments, stderr=log, **options)
        line = self.server.stdout.readline().decode()
        check(line.startswith('serving '), f'the server said {line!r}: {self.log()}')

    def readers(self):
        """Processes that run statements for the server."""
        found = []
        for name in os.listdir('/proc'):
            try:
                with open(f'/proc/{name}/comm', encoding='ascii') as file:
                    if not name.isdigit() or file.read() != 'tquel-reader\n':
                        continue
                with open(f'/proc/{name}/cmdline', 'rb') as file:
                    if self.database.encode() in file.read():
                        found.append(int(name))
            except OSError:  # it has ended meanwhile
                pass
        return found

    def log(self):
        return (self.directory / 'server.log').read_text(errors='replace')

    def stop(self, number=signal.SIGTERM):
        self.server.send_signal(number)
        self.server.wait(PATIENCE)
        return self.server.returncode

    def kill(self):
        self.stop(signal.SIGKILL)

    def run(self, *arguments, text=None, cwd=None, program=None):
        """One who connects, from beginning to end."""
        done = subprocess.run([program or self.tquel, *arguments], cwd=cwd or self.directory,
                              input=None if text is None else text.encode(),
                              stdin=subprocess.DEVNULL if text is None else None,
                              capture_output=True, timeout=PATIENCE, check=False)
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    def shell(self, statements, *arguments):
        return self.run('--connect', self.socket, *arguments, '-c', statements)

    def good(self, statements, *arguments):
        result = self.shell(statements, *arguments)
        equal((result.code, result.err), (0, ''), statements)
        return result.out

    def count(self, relation):
        return int(self.good(f'range of x is {relation} retrieve (x.all)', '--format', 'count'))

    def write(self, name, text):
        (self.directory / name).write_text(text, encoding='utf-8')

    def raw(self):
        """A connection that says what it likes."""
        peer = socket.socket(socket.AF_UNIX)
        peer.settimeout(PATIENCE)
        peer.connect(self.socket)
        return peer


# --- the protocol, as far as the tests speak it

def text(value):
    value = value if isinstance(value, bytes) else value.encode()
    return struct.pack('<I', len(value)) + value


def frame(kind, body=b'', number=0):
    return struct.pack('<IHHQ', len(body), kind, 0, number) + body


def hello(role=0, identity='', version=2):
    return frame(1, struct.pack('<IB', version, role) + text('test') + text('') + text('') +
                 text(identity) + text('here') + text('/') + b'\0')


def receive(peer, count):
    data = b''
    while len(data) < count:
        more = peer.recv(count - len(data))
        if not more:
            return None
        data += more
    return data


def message(peer):
    """(type, number, body) of the next message; None at the end."""
    head = receive(peer, 16)
    if head is None:
        return None
    length, kind, _, number = struct.unpack('<IHHQ', head)
    return kind, number, receive(peer, length) if length else b''


def main(tests, slow=()):
    """Runs TESTS, functions of a world, as TAP: those that are named; otherwise all but SLOW, with --slow these alone."""
    tquel = os.path.abspath(sys.argv[1])
    only = sys.argv[2:]
    if only in ([], ['--slow']):
        chosen = [test for test in tests if (test in slow) == (only != [])]
    else:
        chosen = [test for test in tests if test.__name__ in only]
    print(f'1..{len(chosen)}')
    failures = 0
    for number, test in enumerate(chosen, 1):
        world = World(tquel)
        name = f'{number} - {test.__doc__.splitlines()[0]}'
        try:
            skipped = test(world)
            print(f'ok {name}' + (f' # SKIP {skipped}' if skipped else ''), flush=True)
        except Exception as error:  # whatever it is: the test has failed
            failures += 1
            print(f'not ok {name}')
            details = str(error) if isinstance(error, Failure) else traceback.format_exc()
            with contextlib.suppress(OSError):
                details += '\nserver: ' + world.log()[-2000:]
            print('\n'.join('# ' + line for line in details.splitlines()), flush=True)
        finally:
            world.close()
    sys.exit(1 if failures else 0)
