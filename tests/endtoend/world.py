"""A server, a collector and instrumented programs, in a directory of their own, for scenario tests.

    with World(tquel, ticker) as world:
        world.serve(); world.collect()
        a = world.ticker('a', count=1000)
        world.run('range of t is Tick retrieve into Ticks (t.Number)')
        a.go(); ...

Everything that was started is killed at the end. Waiting is always for a condition, with a limit, never for
a time. The standard error of all is kept, and shown when a scenario fails. """
import fcntl
import mmap
import os
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

# Who was started with SIGINT ignored (in the background, by a shell) would start all others so, too.
signal.signal(signal.SIGINT, signal.default_int_handler)

LIMIT = 120.0 * float(os.environ.get('TEST_PATIENCE', '1'))


class Failed(Exception):
    pass


class Skipped(Exception):
    """The machine does not allow what the scenario needs."""


def apart(*options):
    """What to start a program with that is to have namespaces of its own, by the OPTIONS of unshare(1)."""
    command = ['unshare', *options]
    try:
        allowed = subprocess.run([*command, 'true'], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, timeout=LIMIT).returncode == 0
    except FileNotFoundError:
        allowed = False
    if not allowed:
        raise Skipped(' '.join(command) + ' is not allowed here')
    return command


def called(host):
    """What to start a program with whose machine is to be called HOST, behind `apart`."""
    return [sys.executable, '-c', 'import os, socket, sys; socket.sethostname(sys.argv[1]); '
            'os.execv(sys.argv[2], sys.argv[2:])', host]


def wait_for(what, condition, limit=LIMIT):
    """Returns what CONDITION answers once that is true. WHAT is a text, or says one."""
    end = time.monotonic() + limit
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > end:
            raise Failed('waited in vain for: ' + (what() if callable(what) else what))
        time.sleep(0.01)


class Ledger:
    """The words of ticker.c's struct ledger."""
    THREADS, DOORS = 16, 3
    WORDS = 4 + 2 * THREADS + 1 + DOORS + 1 + 2

    def __init__(self, path):
        with open(path, 'wb') as file:
            file.truncate(8 * self.WORDS)
        self.file = open(path, 'r+b')
        self.map = mmap.mmap(self.file.fileno(), 8 * self.WORDS)

    def __getitem__(self, index):
        return struct.unpack_from('<Q', self.map, 8 * index)[0]

    def __setitem__(self, index, value):
        struct.pack_into('<Q', self.map, 8 * index, value)

    def before(self):
        return sum(self[4 + i] for i in range(self.THREADS))

    def after(self):
        return sum(self[4 + self.THREADS + i] for i in range(self.THREADS))

    def each(self):
        """How often each thread has passed."""
        return [self[4 + self.THREADS + i] for i in range(self.THREADS)]

    def phases(self):
        return self[4 + 2 * self.THREADS]

    def opened(self, door):
        return self[5 + 2 * self.THREADS + door]

    def rounds(self):
        return self[5 + 2 * self.THREADS + self.DOORS]

    def unweighed(self, doors):
        """From now on DOORS (bits) are not weighed."""
        self[6 + 2 * self.THREADS + self.DOORS] = doors

    def away(self, doors):
        """DOORS (bits) are not there."""
        self[7 + 2 * self.THREADS + self.DOORS] = doors


class Ticker:
    def __init__(self, world, name, count, pause_ns, threads, within=()):
        """WITHIN: the command that starts it, in a pid namespace of its own, where it is process 1."""
        self.name, self.world = name, world
        before = self.announcements('1-')
        path = os.path.join(world.directory, 'ledger-%s-%d' % (name, len(world.processes)))
        self.ledger = Ledger(path)
        self.process = world.spawn([*within, world.ticker_path, name, path, str(count), str(pause_ns),
                                    str(threads)])
        wait_for('%s is ready' % name, lambda: self.ledger[2])
        self.apart = self.announcements('1-') - before

    def go(self):
        self.ledger[0] = 1

    def enough(self):
        """Passes no more sensors, but stays."""
        self.ledger[0] = 2

    def done(self):
        wait_for('%s is done' % self.name, lambda: self.ledger[3])

    def announcement(self):
        """The path of what the program shares with collectors."""
        name, = self.apart or self.announcements('%d-' % self.process.pid)
        return os.path.join(self.world.directory, 'tquel', name)

    def announcements(self, prefix):
        return {name for name in os.listdir(os.path.join(self.world.directory, 'tquel'))
                if name.startswith(prefix)}

    def give_epoch(self, epoch, naming=0):
        """As a collector does, or, with NAMING 0, as those of earlier versions did."""
        with open(self.announcement(), 'r+b') as file:
            file.seek(280)
            file.write(struct.pack('<QI', epoch, naming))

    def generated(self, announcement=None):
        """What the program itself has counted: records that its sensors made while they were on. Once it has
        ended, by its announcement that was opened before."""
        with announcement or open(self.announcement(), 'rb') as file:
            data = file.read()
        head, total = os.sysconf('SC_PAGESIZE'), struct.unpack_from('<Q', data, 144)[0]
        end = struct.unpack_from('<Q', data, 128)[0]
        while head < end:
            kind, length, unit_bytes, units = struct.unpack_from('<4I', data, head)
            if length == 0:
                raise Failed('an announcement with an empty chunk at %d' % head)
            if kind == 3:  # slots of rings
                total += sum(struct.unpack_from('<Q', data, head + 64 + unit_bytes * unit + 72)[0]
                             for unit in range(units))
            head += length
        return total

    def end(self):
        self.ledger[1] = 1
        self.process.wait(LIMIT)

    def kill(self):
        self.process.kill()
        self.process.wait(LIMIT)


class World:
    def __init__(self, tquel, ticker):
        self.tquel, self.ticker_path = tquel, ticker
        self.directory = tempfile.mkdtemp(prefix='tquel-world-')
        self.database = os.path.join(self.directory, 'm.db')
        self.socket = os.path.join(self.directory, 'tquel', 'server')
        os.mkdir(os.path.join(self.directory, 'tquel'), 0o700)
        self.environment = dict(os.environ, XDG_RUNTIME_DIR=self.directory)
        self.processes = []
        self.errors = open(os.path.join(self.directory, 'errors'), 'w+b')
        self.server = self.collector = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
                process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def spawn(self, arguments, output=subprocess.DEVNULL):
        process = subprocess.Popen(arguments, env=self.environment, stdin=subprocess.DEVNULL,
                                   stdout=output, stderr=self.errors, cwd=self.directory)
        self.processes.append(process)
        return process

    def said(self):
        self.errors.seek(0)
        return self.errors.read().decode('utf-8', 'replace')

    def serve(self, *options):
        self.server = self.spawn([self.tquel, 'serve', self.database, *options])
        wait_for('the server answers', self.answers)

    def answers(self):
        if self.server.poll() is not None:
            raise Failed('the server ended with %s' % self.server.returncode)
        return self.shell('help', check=False).returncode == 0

    def collect(self, *options, within=()):
        self.collector = self.spawn([*within, self.tquel, 'collect', *options])

    def collector_gone(self):
        """Nobody collects in the directory, nor somebody whom who was started last has started."""
        with open(os.path.join(self.directory, 'tquel', 'collector.lock'), 'rb') as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
        return True

    @staticmethod
    def kill(process):
        process.send_signal(signal.SIGKILL)
        process.wait(LIMIT)

    @staticmethod
    def end(process):
        process.send_signal(signal.SIGTERM)
        if process.wait(LIMIT) != 0:
            raise Failed('a process that was ended in order ended with %d' % process.returncode)

    def shell(self, text, *options, check=True):
        done = subprocess.run([self.tquel, '--connect', self.socket, *options, '-c', text],
                              env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT,
                              cwd=self.directory)
        if check and done.returncode != 0:
            raise Failed('%s\nended with %d: %s' % (text, done.returncode, done.stderr.decode()))
        return done

    def run(self, text):
        return self.shell(text, '--format', 'csv').stdout.decode()

    def known(self, relation):
        """Waits until RELATION has been announced."""
        wait_for(relation + ' is announced',
                 lambda: self.shell('range of x is ' + relation, check=False).returncode == 0)

    def ticker(self, name, count, pause_ns=0, threads=1, within=()):
        return Ticker(self, name, count, pause_ns, threads, within)

    def sql(self, query):
        """All rows; none while the table is not there."""
        if not os.path.exists(self.database):
            return []
        connection = sqlite3.connect('file:%s?mode=ro' % self.database, uri=True, timeout=LIMIT)
        try:
            return connection.execute(query).fetchall()
        except sqlite3.OperationalError as error:
            if 'no such table' in str(error):
                return []
            raise
        finally:
            connection.close()

    def count(self, relation, where='1'):
        rows = self.sql('select count(*) from "%s" where %s' % (relation, where))
        return rows[0][0] if rows else 0

    def lost(self, relation=None):
        where = "relation = '%s'" % relation if relation else '1'
        rows = self.sql('select coalesce(sum(count), 0) from "Lost" where ' + where)
        return rows[0][0] if rows else 0

    def filtered(self, relation):
        """Records of RELATION that were left out, as nobody asked for them."""
        rows = self.sql("select coalesce(sum(count), 0) from tq_filtered where relation = '%s'" % relation)
        return rows[0][0] if rows else 0

    def sampled(self):
        rows = self.sql("select coalesce(sum(count), 0) from \"Lost\" where cause = 'sampled'")
        return rows[0][0] if rows else 0

    def accounted(self, relation):
        """Records of RELATION that are somewhere: stored, late, rejected, left out, waiting or counted as lost. Those that
        were passed over in overload are in no ring's account, nor in this one."""
        rows = self.count(relation) + self.filtered(relation)
        for other in ('Late', 'Rejected'):
            rows += self.count(other, "relation = '%s'" % relation)
        return rows + self.lost() - self.sampled()
