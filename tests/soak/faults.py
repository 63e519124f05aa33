"""Faults, at random: each is a function of the stage, which leaves all running that ran before."""
import random
import resource
import signal
import socket
import sqlite3
import struct
import subprocess
import threading
import time


class Faults(threading.Thread):
    """Does one after the other until it is stopped; all of them once, in a random order, before any twice."""

    def __init__(self, stage, chance, gap, longest):
        super().__init__(daemon=True)
        self.stage, self.chance = stage, random.Random(chance.random())
        self.gap, self.longest = gap, longest
        self.ended = threading.Event()
        self.counts, self.failure, self.done, self.beside = {}, None, [], []

    def run(self):
        turn = []
        try:
            while not self.ended.wait(min(self.chance.expovariate(1 / self.gap), 5 * self.gap)):
                if not turn:
                    turn = self.chance.sample(ALL, len(ALL))
                fault = turn.pop()
                self.done.append((time.time(), fault.__name__))
                fault(self)
                self.counts[fault.__name__] = self.counts.get(fault.__name__, 0) + 1
        except Exception as error:  # whatever it is, the soak has failed
            self.failure = '%s: %s' % (self.done[-1][1] if self.done else 'faults', error)

    def stop(self):
        self.ended.set()
        self.join()
        for thread in self.beside:
            thread.join()

    def pause(self, most=1.0):
        time.sleep(self.chance.uniform(0, most * self.longest))

    def aside(self, function, *arguments):
        """What lasts, while other faults come."""
        def run():
            try:
                function(*arguments)
            except Exception as error:
                self.failure = '%s: %s' % (function.__name__, error)
        self.beside = [t for t in self.beside if t.is_alive()] + [threading.Thread(target=run, daemon=True)]
        self.beside[-1].start()

    def held(self, process):
        process.send_signal(signal.SIGSTOP)
        try:
            self.pause(0.7)
        finally:
            process.send_signal(signal.SIGCONT)


def server_killed(f):
    f.stage.kill(f.stage.server)
    f.pause(0.3)
    f.stage.serve_again()


def server_ended(f):
    f.stage.end(f.stage.server)
    f.pause(0.3)
    f.stage.serve_again()


def collector_killed(f):
    f.stage.kill(f.stage.collector)
    f.pause(0.3)
    f.stage.collect()


def collector_ended(f):
    f.stage.end(f.stage.collector)
    f.pause(0.3)
    f.stage.collect()


def server_and_collector_killed(f):
    f.stage.kill(f.stage.server)
    f.stage.kill(f.stage.collector)
    f.pause(0.2)
    f.stage.collect()
    f.stage.serve_again()


def kill_one(f):
    kind = f.chance.choice('ab')
    program, = f.stage.running(kind)
    program.killed = True
    program.kill()
    return kind


def program_killed(f):
    kind = kill_one(f)
    f.pause(0.2)
    f.stage.program(kind)


def program_and_collector_killed(f):
    kind = kill_one(f)
    f.stage.kill(f.stage.collector)
    f.pause(0.2)
    f.stage.collect()
    f.stage.program(kind)


def program_ended(f):
    kind = f.chance.choice('ab')
    program, = f.stage.running(kind)
    program.enough()
    program.end()
    f.stage.program(kind)


def server_stopped(f):
    f.held(f.stage.server)


def collector_stopped(f):
    f.held(f.stage.collector)


def program_stopped(f):
    f.held(f.chance.choice(f.stage.running()).process)


def feed_stopped(f):
    f.held(f.stage.feed)


def no_room(f):
    """The disk is full, as far as the server can tell."""
    pid = f.stage.server.pid
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (f.chance.choice((8192, 200000)), resource.RLIM_INFINITY))
    f.pause(0.5)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def frame(kind, body=b'', number=0):
    return struct.pack('<IHHQ', len(body), kind, 0, number) + body


def text(value):
    return struct.pack('<I', len(value)) + value


def hostile_bytes(f):
    """A shell that says hello, or does not, and then anything."""
    hello = frame(1, struct.pack('<IB', 2, 0) + text(b'soak') + 2 * text(b'') + text(b'x') + text(b'here') +
                  text(b'/') + b'\0')
    for _ in range(20):
        kind = f.chance.randrange(4)
        data = (f.chance.randbytes(f.chance.randrange(1, 5000)), hello[:f.chance.randrange(20)],
                b'\xff\xff\xff\xff' + hello,
                hello + b''.join(frame(f.chance.randrange(60, 90), f.chance.randbytes(f.chance.randrange(200)), i)
                                 for i in range(20)))[kind]
        with socket.socket(socket.AF_UNIX) as peer:
            peer.settimeout(5)
            try:
                peer.connect(f.stage.socket)
                peer.sendall(data)
                peer.settimeout(0.05)
                peer.recv(4096)
            except OSError:
                pass


def snapshot_held(f):
    """Somebody reads with SQL and does not end his transaction."""
    seconds = f.chance.uniform(0.5, 3) * f.longest

    def read():
        connection = sqlite3.connect('file:%s?mode=ro' % f.stage.database, uri=True, timeout=60)
        try:
            connection.execute('begin')
            query = 'select (select count(*) from Large), (select max(rowid) from Tick)'
            before = connection.execute(query).fetchall()
            f.ended.wait(seconds)
            after = connection.execute(query).fetchall()
            if before != after:
                raise AssertionError('a snapshot changed: %r, %r' % (before, after))
        finally:
            connection.close()
    f.aside(read)


def deaf_display(f):
    """A shell whose display nobody reads."""
    seconds, kill = f.chance.uniform(0.3, 2) * f.longest, f.chance.random() < 0.5

    def look():
        shell = f.stage.spawn([f.stage.tquel, '--connect', f.stage.socket, '--format', 'ndjson', '-c',
                               'display Tick, Large'], output=subprocess.PIPE, name='shells')
        f.ended.wait(seconds)
        if kill:
            shell.kill()
        else:
            shell.send_signal(signal.SIGINT)
        for _ in iter(lambda: shell.stdout.read(1 << 20), b''):
            pass
        shell.wait(600)
        shell.stdout.close()
    f.aside(look)


ALL = [server_killed, server_ended, collector_killed, collector_ended, server_and_collector_killed, program_killed,
       program_and_collector_killed, program_ended, server_stopped, collector_stopped, program_stopped, feed_stopped,
       no_room, hostile_bytes, snapshot_held, deaf_display]
