"""`tquel serve` and the files of its database: the write-ahead log is bounded, whoever reads one state for long; what is not
needed is given back; disks are full; and readers end with their server. Prints TAP.

    files_test.py TQUEL [NAME]...     all tests, or those of these names
"""
import contextlib
import os
import random
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import time

from world import PATIENCE, check, equal, main, seconds, until

MIB = 1 << 20
LOG_LIMIT_16 = ['--log-limit', '16']
# The text, which is not asked for, keeps P from being read into memory as a whole.
PAIRS = 'range of p is P range of q is P retrieve (p.v) where p.v + q.v < 0'


def size_of_log(world):
    return os.path.getsize(world.database + '-wal')


def rows(first, behind):
    """Events that no packing makes much smaller."""
    text = random.Random(first)
    return ''.join(f'{i},{i},{text.getrandbits(400):0100x}\n' for i in range(first, behind)).encode()


class Feed:
    """Brings so many records to E."""

    def __init__(self, world):
        self.world, self.sent = world, 0
        world.good('create event E (x = i8, s = text) set durable every 10 ms')
        self.process = world.start('feed', 'E', '--connect', world.socket, stdin=subprocess.PIPE,
                                   stderr=open(world.directory / 'feed.log', 'wb'))
        self.process.stdin.write(b'at,x,s\n')

    def send(self, count):
        self.process.stdin.write(rows(self.sent + 1, self.sent + count + 1))
        self.process.stdin.flush()
        self.sent += count

    def end_without_a_count(self):
        self.process.stdin.close()
        self.process.wait(PATIENCE)
        equal(self.process.returncode, 0)

    def end(self):
        self.end_without_a_count()
        equal((self.count('E'), self.count('Late')), (self.sent, 0))

    def count(self, relation):
        """What is in the log goes into its table meanwhile: with a small limit it may end who reads slowly, who asks again."""
        done = None
        def counted():
            nonlocal done
            done = self.world.shell(f'range of x is {relation} retrieve (x.all)', '--format', 'count')
            return 'error TQ-0516' not in done.err
        until(counted, 'it is counted')
        equal((done.code, done.err), (0, ''))
        return int(done.out)


@contextlib.contextmanager
def snapshot(world):
    """Another program reads one state of the database."""
    database = sqlite3.connect(world.database, isolation_level=None)
    database.execute('BEGIN')
    database.execute('SELECT count(*) FROM "E"').fetchall()
    yield database
    database.close()


def until_written(feed, condition, what):
    """Sends groups until CONDITION holds, each when the one before is there: no limit bounds a transaction."""
    def more():
        if condition():
            return True
        if feed.sent < 400000 and feed.count('E') >= feed.sent - 1:  # the last one waits for the checkpoint
            feed.send(4000)
        return False
    until(more, what)


def held(world):
    """another program that reads one state for long: it is named, records wait at the limit, statements that write are refused"""
    world.serve('--log-limit', '4')
    world.good('create event Small (x = i4) append to Small (x = 1) at 1')
    feed = Feed(world)
    feed.send(1)
    with snapshot(world):
        until_written(feed, lambda: 'warning TQ-0626' in world.log(), 'the server says that it waits')
        me = f'process {os.getpid()} (python3'
        for number in ('warning TQ-0872', 'warning TQ-0626'):
            line = [line for line in world.log().splitlines() if number in line]
            check(len(line) == 1 and me in line[0], world.log())
        result = world.shell('create event F (x = i4)')
        equal((result.code, 'error TQ-0517' in result.err and me in result.err), (3, True), result.err)
        check(size_of_log(world) < 6 * MIB, f'{size_of_log(world)} bytes of log')
        equal(feed.count('Small'), 1, 'who reads goes on')
    feed.end()
    until(lambda: 'note TQ-0627' in world.log(), 'the server says that it goes on')
    world.good('create event F (x = i4)')
    equal(world.stop(), 0)


def prepare_pairs(world, count, name='P'):
    """Of 3500 a reader has all pairs in half a second, of 12000 or more not before it is ended."""
    world.write('pairs.csv', 'start,stop,v,t\n' + ''.join(f'0,forever,{i},x\n' for i in range(count)))
    world.good(f'create period {name} (v = i4, t = text) copy {name} from "pairs.csv"')


def begin_reading(world, feed):
    """A shell whose statement a reader runs, which holds a state from the beginning of the log: (shell, reader)."""
    # What was copied has filled the log: whoever began to read in it would be ended with the next record.
    until(lambda: not in_the_way(world), 'the log can begin anew')
    until(lambda: feed.send(10) or frames_of_log(world) < 256, 'it does')
    shell = world.start('--connect', world.socket, '-c', PAIRS)
    until(world.readers, 'a reader runs it')
    reader = world.readers()[0]
    until(lambda: reads_a_state(world, reader), 'it reads')
    return shell, reader


def own(world):
    """a long statement of the server's own that reads one state: it is ended, and nobody waits"""
    world.serve('--log-limit', '4')
    prepare_pairs(world, 40000)
    feed = Feed(world)
    shell, reader = begin_reading(world, feed)

    def ran():
        try:
            return seconds(reader)
        except OSError:  # it has ended
            return float('inf')
    while shell.poll() is None and feed.sent < 400000:
        feed.send(2000)
        until(lambda: feed.count('E') >= feed.sent - 1, 'they come')
        # Who is kept from running cannot look at the log and end before somebody has to wait for him.
        enough = ran() + 0.05
        until(lambda: shell.poll() is not None or ran() >= enough, 'it runs meanwhile')
    shell.wait(PATIENCE)
    error = shell.stderr.read().decode()
    equal((shell.returncode, 'error TQ-0516' in error), (3, True), error)
    wanted = feed.sent + 20000
    until_written(feed, lambda: feed.sent >= wanted, 'it goes on')
    feed.end()
    check('TQ-0626' not in world.log() and 'TQ-0872' not in world.log(), world.log())
    check(size_of_log(world) < 6 * MIB, f'{size_of_log(world)} bytes of log')


def stopped(world):
    """a reader of the server's own that cannot end is not to be ended by the user, until records wait for it"""
    world.serve('--log-limit', '4')
    prepare_pairs(world, 40000)
    feed = Feed(world)
    shell, reader = begin_reading(world, feed)
    os.kill(reader, signal.SIGSTOP)
    feed.send(100000)
    until(lambda: 'warning TQ-0626' in world.log(), 'the server says that it waits')
    check(f'process {reader} (tquel-reader)' in world.log() and 'TQ-0872' not in world.log(), world.log())
    os.kill(reader, signal.SIGCONT)
    feed.end()
    shell.wait(PATIENCE)
    check('error TQ-0516' in shell.stderr.read().decode(), 'it is ended')


def frames_of_log(world):
    """Of what is written since the log began anew; the file keeps its size."""
    with contextlib.closing(sqlite3.connect(world.database, timeout=0)) as database:
        return database.execute('PRAGMA wal_checkpoint(PASSIVE)').fetchone()[1]


def in_the_way(world):
    """Whether somebody reads a state that keeps the log from beginning anew, or writes just now."""
    with contextlib.closing(sqlite3.connect(world.database, timeout=0)) as database:
        return database.execute('PRAGMA wal_checkpoint(RESTART)').fetchone()[0] != 0


def reads_a_state(world, process):
    """Whether PROCESS holds one of the five locks of who reads (of the wal-index: bytes 123 to 127)."""
    inode = os.stat(world.database + '-shm').st_ino
    with open('/proc/locks', encoding='ascii') as file:
        locks = [line.split() for line in file if 'POSIX' in line and '->' not in line]
    return any(int(lock[4]) == process and lock[5].endswith(f':{inode}') and 123 <= int(lock[6]) <= 127 for lock in locks)


def in_memory(world):
    """a long statement whose relations are in memory keeps no state, and goes on"""
    world.serve()
    world.write('pairs.csv', 'start,stop,v\n' + ''.join(f'0,forever,{i}\n' for i in range(40000)))
    world.good('create event E (x = i4) create period P (v = i4) copy P from "pairs.csv"')
    shell = world.start('--connect', world.socket, '-c', PAIRS)
    until(world.readers, 'a reader runs it')
    world.good('append to E (x = 1) at 1')
    until(lambda: not in_the_way(world), 'it keeps no state')
    equal((bool(world.readers()), shell.poll()), (True, None), 'it goes on')


SHORT_READERS = """
import sqlite3, sys, time
pair = [sqlite3.connect(sys.argv[1], isolation_level=None) for _ in range(2)]
pair[0].execute('BEGIN')
while True:
    pair[0].execute('SELECT count(*) FROM sqlite_schema').fetchall()
    time.sleep(0.005)
    pair[1].execute('BEGIN')
    pair[1].execute('SELECT count(*) FROM sqlite_schema').fetchall()
    pair[0].execute('ROLLBACK')
    pair.reverse()
"""


def one_behind_the_other(world):
    """short readers, one of whom is always there: the log begins anew all the same"""
    world.serve(*LOG_LIMIT_16)
    feed = Feed(world)
    feed.send(1)
    readers = world.start('-c', SHORT_READERS, world.database, program=sys.executable)
    for _ in range(10):
        feed.send(10000)
    feed.end()
    check(readers.poll() is None, 'they read')
    readers.kill()
    check(size_of_log(world) < 16 * MIB, f'{size_of_log(world)} bytes of log')  # half of its limit
    equal(world.log(), '')


def slow_client(world):
    """a shell that does not take its result keeps no state"""
    world.serve()
    prepare_pairs(world, 3500)
    world.good('create event E (x = i4)')
    read, write = os.pipe()
    shell = world.start('--connect', world.socket, '--format', 'csv', '-c',
                        PAIRS.replace('(p.v)', '(p.v, w = q.v)').replace('< 0', '+ 0 * p.v < 1200'), stdout=write)
    os.close(write)
    os.read(read, 1)
    check(world.readers(), 'a reader runs it')
    world.good('append to E (x = 1) at 1')
    until(lambda: not in_the_way(world), 'it keeps no state')
    equal((bool(world.readers()), shell.poll()), (True, None), 'it waits')
    os.close(read)


def stopped_beside_readers(world):
    """a server that ends while readers run is the last to close its database: all is in the file, and they are gone"""
    prepare = True
    for number in range(4):
        world.serve()
        if prepare:
            prepare_pairs(world, 3500)
        prepare = False
        shells = [world.start('--connect', world.socket, '-c', PAIRS) for _ in range(3)]
        until(lambda: len(world.readers()) == 3, 'readers run')
        world.good(f'create event E{number} (x = i4) append to E{number} (x = 1) at 1')
        equal(world.stop(), 0)
        equal(world.readers(), [])
        check(not os.path.exists(world.database + '-wal'), 'all of it is in the file')
        for shell in shells:
            shell.communicate(timeout=PATIENCE)


def keeper_of(world):
    with open(f'/proc/{world.server.pid}/task/{world.server.pid}/children', encoding='ascii') as file:
        return int(file.read().split()[0])


def brought_in_elsewhere(world):
    """a long log is brought into the file by another process, and the server goes on meanwhile"""
    world.serve()
    os.kill(keeper_of(world), signal.SIGSTOP)
    prepare_much(world, world.good)
    before = size(world)
    check(before < MIB < 16 * MIB < size_of_log(world), f'{before} bytes, {size_of_log(world)} of log')
    world.good('append to F (x = 2) at 2')
    equal(size(world), before)
    os.kill(keeper_of(world), signal.SIGCONT)
    until(lambda: size(world) > 20 * MIB, 'the file has it')
    world.good('append to F (x = 3) at 3')
    world.good('append to F (x = 4) at 4')
    check(size_of_log(world) <= 64 * MIB, size_of_log(world))
    equal((world.count('E'), world.stop(), world.log()), (130000, 0, ''))
    check(not os.path.exists(world.database + '-wal'), 'all of it is in the file')


def ends_without(world):
    """a server that ends with a long log, its keeper killed just before, makes no other one"""
    world.serve()
    keeper = keeper_of(world)
    os.kill(keeper, signal.SIGSTOP)
    prepare_much(world, world.good)
    check(size_of_log(world) > 16 * MIB, f'{size_of_log(world)} of log')
    world.good('create event G (x = i4) set durable every 1 h')
    feed = world.start('feed', 'G', '--connect', world.socket, stdin=subprocess.PIPE)
    feed.stdin.write(b'at,x\n' + b''.join(b'%d,%d\n' % (i, i) for i in range(100)))
    feed.stdin.flush()
    # Not asked with retrieve: what takes long is for a reader, and the keeper is stopped.
    until(lambda: re.search(r'tuples: +99\n', world.shell(r'\d G').out), 'they come')
    os.kill(world.server.pid, signal.SIGSTOP)
    os.kill(keeper, signal.SIGKILL)
    world.server.send_signal(signal.SIGTERM)
    os.kill(world.server.pid, signal.SIGCONT)
    world.server.wait(PATIENCE)
    equal((world.server.returncode, world.log()), (0, ''))


def could_stop(process):
    try:
        os.kill(process, signal.SIGSTOP)
        return True
    except ProcessLookupError:  # it has done what it was to do
        return False


def with_its_server(world):
    """kill -9 of the server: its keeper and readers end, also one that is stopped and one that waits for its shell"""
    world.serve()
    prepare_pairs(world, 12000)
    prepare_pairs(world, 3500, 'S')
    read, write = os.pipe()
    several = PAIRS.replace('(p.v)', '(p.v, w = q.v)')
    for statement in (several, several.replace('< 0', '< 0 - 1'),
                      several.replace('is P', 'is S').replace('< 0', '+ 0 * p.v < 1200')):
        before = len(world.readers())
        world.start('--connect', world.socket, '-c', statement, stdout=write)
        until(lambda before=before: len(world.readers()) > before, 'a reader runs it')
    os.close(write)
    os.read(read, 1)
    check(any(could_stop(reader) for reader in sorted(world.readers())), 'a reader is stopped')
    keeper = keeper_of(world)
    world.kill()
    until(lambda: not world.readers() and not os.path.exists(f'/proc/{keeper}'), 'they end')
    os.close(read)


# --- what is not needed

def size(world):
    return os.path.getsize(world.database)


def prepare_much(world, run, name='E'):
    """30 MiB, and a little that stays."""
    with open(world.directory / 'rows.csv', 'wb') as file:
        file.write(b'at,x,s\n' + rows(1, 130001))
    run(f'create event {name} (x = i8, s = text) copy {name} from "rows.csv" create event F (x = i4) append to F (x = 1) at 1')


def given_back(world):
    """what was deleted is given back while a server has nothing else to do"""
    world.serve()
    prepare_much(world, world.good)
    world.good('destroy E')
    until(lambda: size(world) < 18 * MIB, 'the file becomes shorter')
    equal((world.count('F'), world.stop(), world.log()), (1, 0, ''))
    equal(world.run('check-database', world.database).out, 'consistent\n')


def tables(world, like):
    with contextlib.closing(sqlite3.connect(world.database)) as database:
        return [name for name, in database.execute(f"SELECT name FROM sqlite_schema WHERE name GLOB '{like}'")]


def destroyed(world):
    """what is destroyed is not there any more, though most of it is in the file: another program reads an old state, so that
    no more can go; its name is free; the next server goes on, also after kill -9"""
    world.serve('--log-limit', '1')
    prepare_much(world, world.good)
    with snapshot(world):
        world.good('destroy E')
        equal((tables(world, 'tq_gone_1'), tables(world, '*E*')), (['tq_gone_1'], []))
        equal(world.shell('print E').code, 2)
        check('event          E' not in world.good('\\d'), 'it is shown')
        world.kill()
    world.serve()
    world.good('create event E (x = i4) append to E (x = 1) at 1')
    until(lambda: not tables(world, 'tq_gone*'), 'the next server goes on')
    until(lambda: size(world) < 18 * MIB, 'the file becomes shorter')
    equal((world.count('E'), world.count('F'), world.stop(), 'error' in world.log()), (1, 1, 0, False), world.log())
    equal(world.run('check-database', world.database).out, 'consistent\n')


def said(world, number):
    return [line for line in world.log().splitlines() if number in line]


def waits(world, what):
    """Removal of WHAT has stopped, says so once, and has left room for others."""
    until(lambda: said(world, 'warning TQ-0518'), 'the server says that it waits')
    line, = said(world, 'warning TQ-0518')
    check(f'{what} stays for now' in line and f'process {os.getpid()} (python3' in line, line)
    world.good('create event G (x = i4) create event H (x = i4)')
    check('TQ-0517' not in world.log(), world.log())


def accounts(world, relation):
    """(tuples there, gone, behind) of RELATION."""
    text = world.good(f'\\d {relation}')
    return [int((re.search(rf'^{name}: +(\d+)', text, re.M) or [0, 0])[1]) for name in ('tuples', 'gone', 'behind')]


def aged_beside_a_reader(world):
    """what is old goes until half of the log is taken, beside somebody who reads one state; the rest with his end, and all is counted"""
    world.serve('--log-limit', '1')
    feed = Feed(world)
    feed.send(40000)
    feed.end_without_a_count()
    until(lambda: feed.count('E') == 40000, 'they come')
    until(lambda: not in_the_way(world), 'the log can begin anew')
    with snapshot(world):
        world.good('modify E to keep nothing')
        waits(world, 'what is old')
        there, gone, behind = accounts(world, 'E')
        equal((there + gone, behind > 0), (40000, True), (there, gone, behind))
    until(lambda: said(world, 'note TQ-0519'), 'the server says that it goes on')
    there, gone, behind = accounts(world, 'E')
    equal((there + gone, there <= 10001, behind), (40000, True, 0), (there, gone, behind))
    equal((world.stop(), 'error' in world.log()), (0, False), world.log())


def destroyed_beside_a_reader(world):
    """of what was destroyed the rest goes with the end of somebody who read one state, though nothing else happens"""
    world.serve('--log-limit', '1')
    prepare_much(world, world.good)
    until(lambda: not in_the_way(world), 'the log can begin anew')
    with snapshot(world):
        world.good('destroy E')
        waits(world, 'what was destroyed')
        check(tables(world, 'tq_gone*'), 'it is there')
    until(lambda: not tables(world, 'tq_gone*'), 'it goes')
    until(lambda: said(world, 'note TQ-0519'), 'the server says so')
    equal((world.count('F'), world.stop(), 'error' in world.log()), (1, 0, False), world.log())


def saved_beside_a_reader(world):
    """what is saved until a time goes as far as there is room; kill -9, and the next server counts what went before it"""
    world.serve('--log-limit', '1', timeline='real')
    world.write('old.csv', 'at,x,s\n' + rows(1, 130001).decode())
    equal(world.shell('create event E (x = i8, s = text) copy E from "old.csv"').code, 0)
    until(lambda: not in_the_way(world), 'the log can begin anew')
    with snapshot(world):
        world.shell('save E until "2020-01-01"')
        waits(world, 'what is old')
        there, gone, _ = accounts(world, 'E')
        equal((there + gone, there > 0, gone > 0), (130000, True, True), (there, gone))
        world.kill()
    world.serve(timeline='real')
    check('is gone now, with 130000 tuples' in world.log(), world.log())
    equal(world.stop(), 0)
    equal(world.run('check-database', world.database).out, 'consistent\n')


def aged_and_killed(world):
    """kill -9 while what is old goes, again and again: all is there or counted as gone, once"""
    world.serve()
    feed = Feed(world)
    feed.send(40000)
    feed.end_without_a_count()
    until(lambda: feed.count('E') == 40000, 'they come')
    world.good('modify E to keep nothing')
    for delay in (0, 0.02, 0.05, 0.1):
        time.sleep(delay)
        world.kill()
        world.serve()
        there, gone, _ = accounts(world, 'E')
        equal(there + gone, 40000, (there, gone))
    until(lambda: accounts(world, 'E')[0] <= 10001, 'it goes')
    there, gone, behind = accounts(world, 'E')
    equal((there + gone, behind, world.stop()), (40000, 0, 0), (there, gone, behind))
    equal(world.run('check-database', world.database).out, 'consistent\n')


def deleted_and_killed(world):
    """kill -9 while a statement deletes much: all of that has gone, or nothing"""
    world.serve()
    prepare_much(world, world.good)
    for delay in (0.05, 0.15, 0.3, 0.6):
        world.start('--connect', world.socket, '-c', 'range of e is E delete e where e.x <= 65000',
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(delay)
        world.kill()
        world.serve()
        check(world.count('E') in (130000, 65000), f'{world.count("E")} tuples are there after {delay} s')
    world.good('range of e is E delete e where e.x <= 65000')
    equal((world.count('E'), world.count('F'), world.stop()), (65000, 1, 0))
    equal(world.run('check-database', world.database).out, 'consistent\n')


def given_back_at_the_end(world):
    """a session that ends gives back what it has deleted, for a while"""
    def run(text):
        done = world.run(world.database, '--timeline', 'abstract', '-c', text)
        equal(done.code, 0, done.err)
    prepare_much(world, run)
    before = size(world)
    run('destroy E')
    check(size(world) < before - 4 * MIB, f'{size(world)} of {before} bytes')


def older_file(world):
    """a file that an older tquel has made says how much it does not need, and gives it back when it is asked to"""
    prepare_much(world, lambda text: world.run(world.database, '--timeline', 'abstract', '-c', text))
    with contextlib.closing(sqlite3.connect(world.database, isolation_level=None)) as database:
        database.execute('PRAGMA auto_vacuum=NONE')
        database.execute('PRAGMA journal_mode=DELETE')
        database.execute('VACUUM')
        database.execute('PRAGMA journal_mode=WAL')
    before = size(world)
    equal(world.run(world.database, '-c', 'destroy E').code, 0)
    equal(size(world), before, 'nothing is moved that was not made for it')
    done = world.run('check-database', world.database)
    equal((done.code, done.out, 'note TQ-0874' in done.err), (0, 'consistent\n', True), done.err)
    done = world.run('check-database', '--compact', world.database)
    equal((done.code, done.err, 'given back' in done.out), (0, '', True), done.out)
    check(size(world) < MIB, f'{size(world)} bytes')
    done = world.run('check-database', world.database)
    equal((done.code, done.out, done.err), (0, 'consistent\n', ''))
    equal(world.run('--format', 'count', world.database, '-c', 'print F').out, '1\n')
    with contextlib.closing(sqlite3.connect(world.database)) as database:
        equal(database.execute('PRAGMA auto_vacuum').fetchone()[0], 2)


def nothing_to_compact(world):
    """a database that is not there is not made, one that a server has is not written anew"""
    done = world.run('check-database', '--compact', world.database)
    equal((done.code, 'TQ-0602' in done.err, os.path.exists(world.database)), (3, True, False), done.err)
    world.serve()
    done = world.run('check-database', '--compact', world.database)
    equal((done.code, 'TQ-0607' in done.err), (3, True), done.err)


# --- full disks

def file_cannot_grow(world):
    """a database that cannot grow though its log can: that is said, then records wait; with room all goes on"""
    prepare_much(world, lambda text: world.run(world.database, '--timeline', 'abstract', '-c', text), 'Much')
    most = size(world)
    check(most > 24 * MIB, f'its log of 8 MiB can become as large as {most} bytes')
    world.serve('--log-limit', '8')
    feed = Feed(world)
    resource.prlimit(world.server.pid, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
    until_written(feed, lambda: 'warning TQ-0626' in world.log(), 'the server says that it waits')
    check('warning TQ-0873' in world.log() and 'TQ-0872' not in world.log(), world.log())
    resource.prlimit(world.server.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    feed.end()
    equal(world.stop(), 0)


FULL_DISK = """
tquel=$1
mkdir small && mount -t tmpfs -o size=3m none small || exit 9
(echo at,x; seq 20000 | sed 's/.*/&,&/') >rows.csv
"$tquel" --timeline abstract small/a.db -c 'create event E (x = i8)'
"$tquel" serve small/a.db --quiet --socket s & server=$!
until [ -S s ]; do sleep 0.02; done
"$tquel" --connect s -c 'copy E from "rows.csv"'
kill -9 $server; wait $server 2>/dev/null
rm small/a.db-shm
dd if=/dev/zero of=small/fill bs=4k 2>/dev/null
"$tquel" serve small/a.db --quiet --socket s || echo "ended with $?"
"$tquel" small/a.db --readonly -c 'print E' || echo "ended with $?"
rm small/fill
"$tquel" serve small/a.db --quiet --socket s & server=$!
until "$tquel" --connect s -c 'help' >/dev/null 2>&1; do sleep 0.02; done
"$tquel" --connect s --format count -c 'print E append to E (x = 7) at 1 print E'
kill $server; wait $server && echo done
"""


def opened_full(world):
    """a server that opens its database on a full disk, with a log that was left: it says so, and nothing is lost"""
    done = world.run('-rm', 'bash', '-c', FULL_DISK, 'bash', world.tquel, program='unshare')
    if done.code == 9 or 'unshare' in done.err:
        return 'no small disk here'
    equal(done.out, 'ended with 3\nended with 3\n20000\n20001\ndone\n', done.err)
    equal((done.err.count('error TQ-'), done.err.count('error TQ-0610')), (2, 2), done.err)


if __name__ == '__main__':
    main([held, own, stopped, in_memory, one_behind_the_other, slow_client, with_its_server, stopped_beside_readers, brought_in_elsewhere, ends_without, given_back,
          destroyed, aged_beside_a_reader, destroyed_beside_a_reader, aged_and_killed, deleted_and_killed, saved_beside_a_reader, given_back_at_the_end, older_file, nothing_to_compact, file_cannot_grow, opened_full])
