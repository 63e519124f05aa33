"""`tquel serve` and who connects to it, from outside. Prints TAP.

    serve_test.py TQUEL [NAME]...     all tests, or those of these names
"""
import contextlib
import fcntl
import os
import pty
import random
import resource
import select
import signal
import socket
import sqlite3
import struct
import subprocess
import termios
import time

from world import (PATIENCE, Failure, check, equal, frame, hello, main, message, seconds, text, until)

AS_NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
PAIRS = 'range of p is P range of q is P retrieve (p.v, w = q.v) where p.v + q.v + 0 * p.v '
LONG = 'range of p is P range of q is P range of r is P ' \
       'retrieve (p.v) where p.v + q.v + r.v = 0 - 1'


def two_shells(world):
    """two shells: relations are everybody's, variables one's own"""
    world.serve()
    world.good('create event E (a = i4) append to E (a = 1) at 5')
    equal(world.good('range of e is E retrieve (e.a)'), 'at_lo,at_hi,definite,a\n5,5,true,1\n')
    result = world.shell('retrieve (e.a)')
    check(result.code == 2 and 'TQ-0102' in result.err, result.err)
    check('<command 1>:1:11' in result.err and '^' in result.err, result.err)
    result = world.shell('range of e is E retrieve (e.a)\nretrieve (e.b) destroy E')
    equal(result.code, 2)
    check(result.out.startswith('at_lo'), 'what came before the error was done')
    check(':2:' in result.err, 'the line of the error: ' + result.err)
    equal(world.count('E'), 1, 'what came behind it was not')
    equal(world.stop(), 0, 'an end in order')
    check(not os.path.exists(world.socket), 'the socket is gone')


def as_without(world):
    """the same results, formats and exit codes as without a server"""
    world.write('rows.csv', 'at,a\n1,10\n2,20\n')
    script = ('create event E (a = i4)\ncopy E from "rows.csv"\nrange of e is E\nretrieve (e.all)\n'
              'retrieve (e.a) where e.a = 10\nhelp E\nexplain retrieve (e.a)\n')
    world.write('script.tq', script)
    world.write('wrong.tq', 'create event F ()\nretrieve (\n')
    world.serve()
    first = True
    for arguments in (['--format', name] for name in ('csv', 'json', 'ndjson', 'table', 'line',
                                                      'markdown', 'timeline', 'count')):
        end = [] if first else ['-c', 'destroy E']
        remote = world.run('--connect', world.socket, *arguments, *end, '-f', 'script.tq')
        own = world.run('--timeline', 'abstract', *arguments, '-f', 'script.tq')
        equal((remote.code, remote.out, remote.err), (own.code, own.out, own.err), str(arguments))
        first = False
    remote = world.run('--connect', world.socket, text='retrieve (1)')
    own = world.run('--timeline', 'abstract', text='retrieve (1)')
    equal((remote.code, remote.err), (own.code, own.err), 'standard input')
    remote = world.run('--connect', world.socket, '-f', 'wrong.tq')
    own = world.run('--timeline', 'abstract', '-f', 'wrong.tq')
    equal((remote.code, remote.out, remote.err), (own.code, own.out, own.err), 'an error')
    remote = world.run('--connect', world.socket, '--single-transaction', '-c',
                       'create event G () retrieve (')
    equal(remote.code, 2)
    check('TQ-0101' in world.shell('range of g is G').err, 'nothing of the transaction')
    timing = world.shell('create event H ()', '--timing').err
    check(timing.startswith('timing: create H total_us='), timing)
    readonly = world.shell('create event J ()', '--readonly')
    check(readonly.code != 0 and 'TQ-0101' in world.shell('range of j is J').err,
          f'--readonly changes nothing: {readonly.code} {readonly.err}')


def taken_back(world):
    """what a failed transaction had written is seen by nobody, also not through a view that it looked at"""
    world.serve()
    world.good('create event E (a = i4) append to E (a = 1) at 5 range of e is E define view V (e.a)')
    view = 'range of v is V retrieve (v.a)'
    for _ in range(2):
        result = world.run('--connect', world.socket, '--single-transaction', '-c',
                           'append to E (a = 2) at 6 ' + view + ' retrieve (v.b)')
        equal(result.code, 2, result.err)
        equal(world.good(view), 'at_lo,at_hi,definite,a\n5,5,true,1\n')
        equal(world.good(view), 'at_lo,at_hi,definite,a\n5,5,true,1\n', 'and so again')
    equal(world.count('E'), 1)


def paths(world):
    """paths are those of the shell's directory"""
    (world.directory / 'there').mkdir()
    world.write('there/rows.csv', 'at,a\n1,10\n')
    world.serve()
    world.good('create event E (a = i4)')
    statements = 'copy E from "rows.csv" range of e is E copy E into "out.csv"'
    result = world.run('--connect', world.socket, '-c', statements, cwd=world.directory / 'there')
    equal(result.code, 0, result.err)
    equal(world.count('E'), 1)
    check((world.directory / 'there/out.csv').exists(), 'written there')


def feeds(world):
    """a feed: rows, rejected and late records, the counts at the end"""
    world.serve()
    world.good('create event E (a = i4, s = text)')
    fed = world.run('feed', 'E', '--connect', world.socket,
                    text='at,a,s\n1,5,x\n3,6,"y z"\nbad\n2,7,q\n9,8,\n')
    equal((fed.code, fed.out), (0, 'E: 4 records, 1 unreadable\n'), fed.err)
    equal(world.good('range of e is E retrieve (e.all)'),
          'at_lo,at_hi,definite,a,s\n1,1,true,5,x\n3,3,true,6,y z\n9,9,true,8,\n')
    equal(world.count('Late'), 1)
    equal(world.count('Rejected'), 1)
    check('\nrejected:   1, which are in Rejected\n' in world.good('\\d E'), world.good('\\d E'))
    check('rejected:' not in world.good('\\d Rejected'), 'of another relation')
    fed = world.run('feed', 'E', '--connect', world.socket, '--within', '5 ns',
                    text='{"at": 20, "a": 1, "s": ""}\n{"at": 17, "a": 2, "s": "\\u00e9"}\n')
    equal(fed.code, 0, fed.err)
    equal(world.count('E'), 5, 'within')
    world.good('create period P (p = text, n = i4) create traced T (p = text, f = f8, k = i8) by p, k')
    for relation, text in (('P', '{"start": 3, "p": "a", "n": 1}\n{"end": 5, "p": "z\\"", "n": 0}\n'),
                           ('T', '{"end": 7, "p": "a", "f": 0.5}\n'), ('E', '{"end": 9, "a": 1}\n'),
                           ('E', '{"round": 10}\n')):
        fed = world.run('feed', relation, '--connect', world.socket, text=text)
        equal(fed.code, 0, fed.err)
    found = world.good('range of r is Rejected retrieve (r.relation, r.reason, r.record)')
    for row in ('P,the end record names no open period,"{""end"": 5, ""p"": ""z\\"""", ""n"": 0}"',
                'T,the end record does not name the entity,"{""end"": 7, ""p"": ""a"", ""f"": 0.5}"',
                'E,an event has no end,"{""end"": 9, ""a"": 1}"', 'E,rounds are for sampled relations,"{""round"": 10}"'):
        check(row in found, f'{row} in {found}')
    fed = world.run('feed', 'Nobody', '--connect', world.socket, text='at\n1\n')
    check(fed.code == 2 and 'TQ-0101' in fed.err, f'{fed.code} {fed.err}')
    fed = world.run('feed', 'E', '--connect', world.socket, text='at,b\n1,1\n')
    check(fed.code != 0 and 'TQ-' in fed.err, f'a wrong header: {fed.code} {fed.err}')


def stored_beside_live(world):
    """a standing query over what is fed and what is stored follows whoever changes what is stored"""
    world.serve()
    world.good('create event E (x = i4, n = text) create period F (n = text) range of e is E range of f is F '
               'retrieve into X (e.x, f.n) where e.n = f.n')
    feed = world.start('feed', 'E', '--connect', world.socket, stdin=subprocess.PIPE)
    feed.stdin.write(b'at,x,n\n')

    def send(first, last, name):
        feed.stdin.write(''.join(f'{i},{i},{name}\n' for i in range(first, last + 1)).encode())
        feed.stdin.flush()

    def has(count):  # the last record waits for the checkpoint
        until(lambda: world.count('X') == count, f'X has {count}')
    send(1, 50, 'a')
    until(lambda: world.count('E') >= 49, 'they come')
    equal(world.count('X'), 0)
    world.good('append to F (n = "a") valid from 0 to forever')
    has(49)
    send(51, 100, 'a')
    has(99)
    world.good('range of f is F replace f (n = "b")')
    equal(world.count('X'), 0)
    send(101, 120, 'b')
    has(19)
    world.good('range of f is F delete f')
    send(121, 130, 'b')
    until(lambda: world.count('E') >= 129, 'they come')
    equal(world.count('X'), 0)
    world.write('f.csv', 'start,stop,n\n0,forever,b\n')
    world.good('copy F from "f.csv"')
    has(29)
    feed.stdin.close()
    feed.wait(PATIENCE)
    has(30)
    equal(world.stop(), 0)
    equal(world.run('check-database', world.database).out, 'consistent\n')


def clock_alone(world):
    """what is derived from a clock alone goes on as time does, and no tick is missed by a server that was killed"""
    world.serve(timeline='real')
    world.good('range of c is Clock(100 ms) retrieve T (n = count(c)) at c')
    until(lambda: world.count('T') >= 5, 'it ticks')
    display = world.start('--connect', world.socket, '--format', 'csv', '-c', 'display T')
    lines = [display.stdout.readline()]
    while lines[-1] and b'T,whole' not in lines[-1]:  # behind what is there when it begins
        lines.append(display.stdout.readline())
    display.send_signal(signal.SIGINT)
    display.communicate(timeout=PATIENCE)
    check(b'T,whole' in lines[-1], f'the display goes on: {lines}')
    world.kill()
    world.serve(timeline='real')
    before = world.count('T')
    until(lambda: world.count('T') > before, 'it ticks again')
    rows = world.good('range of t is T retrieve (t.n)', '--format', 'csv').split()[1:]
    counts = [int(row.split(',')[-1]) for row in rows]
    equal(counts, list(range(1, len(counts) + 1)))
    equal(world.stop(), 0)
    # A shell goes on to now by itself.
    before = len(world.run(world.database, '-c', 'print T').out.splitlines())
    until(lambda: len(world.run(world.database, '-c', 'print T').out.splitlines()) > before, 'read, it has gone on')
    equal(world.run('check-database', world.database).out, 'consistent\n')


def clock_too_fast(world):
    """a clock that nobody can keep up with is late, which is said, and keeps nobody from an answer"""
    world.serve(timeline='real')
    world.good('range of c is Clock(20 ns) retrieve into Fast (k = 1) when c overlap c')

    def ticks():
        with contextlib.closing(sqlite3.connect(world.database)) as rows:
            return rows.execute('select count(*) from Fast').fetchone()[0]

    until(lambda: ticks() >= 100000, 'it ticks')
    for _ in range(5):
        equal(world.good('retrieve (x = 1)', '--format', 'csv').split()[-1], 'beginning,beginning,forever,forever,true,1')
    # A statement that is short runs in the server, others in a reader, which may hold up the log for too long.
    for _ in range(5):
        said = world.run('--connect', world.socket, '-c', 'range of f is Fast retrieve (f.k) when f overlap "2020-01-01"')
        check('tick faster than can be computed' in said.err and (said.code == 0 or 'TQ-0516' in said.err), f'it is late: {said.code} {said.err}')
    log = os.path.getsize(world.database + '-wal') >> 20
    check(log <= 256, f'the write-ahead log has {log} MiB')
    world.good('destroy Fast')
    equal(world.stop(), 0)
    equal(world.run('check-database', world.database).out, 'consistent\n')


def unread_errors(world):
    """a server whose messages nobody reads goes on, and says how many those were once somebody does"""
    reads, writes = os.pipe()
    os.set_blocking(writes, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writes, b'x')
    os.set_blocking(writes, True)
    world.server = world.start('serve', world.database, '--socket', world.socket, '--timeline', 'abstract', stderr=writes)
    check(world.server.stdout.readline().startswith(b'serving '), 'it begins')
    world.good('create event E (x = i4)')

    def reject(at):
        feed = world.start('feed', 'E', '--connect', world.socket, stdin=subprocess.PIPE)
        feed.communicate(b'at,x\n%d,none\n' % at, timeout=PATIENCE)

    for at in (1, 2):
        reject(at)
    equal(world.good('retrieve (x = 1)', '--format', 'csv').split()[-1], '0,0,forever,forever,true,1')
    equal(os.read(reads, 1 << 20).strip(b'x'), b'')
    said = b''
    for at in range(3, 2000):  # the first, the tenth, the hundredth ... are said
        if b'TQ-0629' in said:
            break
        reject(at)
        while select.select([reads], [], [], 0)[0]:
            said += os.read(reads, 1 << 20)
    check(b'TQ-0870' in said and b'1 message was not shown: nobody took' in said, f'it is said: {said}')
    equal(world.stop(), 0)
    os.close(reads)
    os.close(writes)


def full_output(world):
    """what a feed or the server would say, and cannot, is an error or at least said"""
    if not os.path.exists('/dev/full'):
        return 'no /dev/full'
    with open('/dev/full', 'wb') as full:
        server = world.start('serve', world.database, '--socket', world.socket, '--timeline',
                             'abstract', stdout=full)
        until(lambda: world.shell('').code == 0, 'it serves')
        world.good('create E (a = i4)')
        fed = world.start('feed', 'E', '--connect', world.socket, stdin=subprocess.PIPE, stdout=full)
        said = fed.communicate(b'a\n5\n')[1].decode()
    equal(fed.returncode, 3, said)
    check('TQ-0651' in said, said)
    check(world.good('print E').endswith(',5\n'), 'the record is there')
    server.terminate()
    said = server.communicate()[1].decode()
    equal((server.returncode, 'TQ-0651' in said), (0, True), said)


def feed_beside_change(world):
    """a request that begins a feed and changes another relation that a network reads"""
    world.write('e.ndjson', '{"at":30,"x":4}\n{"at":40,"x":5}\n')
    world.serve()
    world.good('set checkpoint manual create event E (x = i4) create event F (x = i4) range of f is F '
               'copy E from "e.ndjson" following within 3 delete f print E')
    until(lambda: world.count('E') == 1, 'the feed is read up to what can still be late')


def samples_before_commit(world):
    """what a sampled relation shows between two commits is what a relation derived from it does"""
    def grow(text):
        with open(world.directory / 'm.ndjson', 'a', encoding='utf-8') as file:
            file.write(text)

    def same(wanted):
        both = world.good('print M print K').split('\n\n')
        return wanted in both[1] and sorted(both[0].split()) == sorted(both[1].split())

    world.write('m.ndjson', '')
    world.serve()
    world.good('create sampled M (who = text, st = text) by who set durable every 600 s '
               'copy M from "m.ndjson" following range of m is M retrieve K (m.who, m.st)')
    for time, state, wanted in ((10, 'd', ''), (20, 'u', 'beginning,10,11,forever,true,b,d'),
                                (30, 'u', '11,20,21,forever,true,b,u'),
                                (40, 'd', '11,20,31,forever,true,b,u'),
                                (50, 'd', '31,40,41,forever,true,b,d')):
        grow(f'{{"at":{time},"who":"b","st":"{state}"}}\n{{"round":{time}}}\n')
        until(lambda wanted=wanted: same(wanted), f'{wanted} is there')


def unbounded(world):
    """a query that was allowed memory without bound may be fed ever after; else the feed hears what to do"""
    join = 'range of s is Send range of v is Recv retrieve P (s.id) where s.id = v.id when s ; v at v '
    records = {'Send': 'at,id\n%d,1\n', 'Recv': 'at,id\n%d,1\n'}

    def feed(name, at):
        return world.run('feed', name, '--connect', world.socket, text=records[name] % at)

    world.serve()
    world.good('create event Send (id = i4) create event Recv (id = i4)')
    defined = world.shell(join)
    check(defined.code == 0 and 'warning TQ-0417' in defined.err, defined.err)
    for name in records:
        refused = feed(name, 1)
        check(refused.code == 2 and 'error TQ-0416' in refused.err, refused.err)
        check('\nhint: define P anew' in refused.err, refused.err)
    world.good('range of v is Recv define view W (v.id) destroy P')
    world.good('set unbounded allowed ' + join + 'range of w is W range of p is P '
               'retrieve OverView (s.id) where s.id = w.id when s ; w at w retrieve OverP (p.id)')
    for at in (10, 20, 30):
        for name in records:
            fed = feed(name, at + (name == 'Recv'))
            equal(fed.code, 0, fed.err)
        equal(world.stop(), 0)
        world.serve()
    for name in ('P', 'OverView', 'OverP'):
        equal(world.count(name), 2, f'{name}, as far as it is final')
    check('set unbounded allowed' in world.good('help P'), 'the definition says so')


def feeds_of_all_kinds(world):
    """feeds of traced, period and snapshot relations give what copy gives"""
    kinds = {
        'traced T (k = i4, v = f8) by k': '{"at": 1, "k": 1, "v": 0.5}\n{"at": 2, "k": 2, "v": 1}\n'
                                          '{"at": 4, "k": 1, "v": 2}\n{"end": 6, "k": 2}\n',
        'traced U (k = i4, l = text, v = f8) by l, k': '{"at": 1, "k": 1, "l": "a", "v": 0.5}\n'
                                                       '{"at": 2, "k": 1, "l": "b", "v": 1}\n{"at": 4, "k": 1, "l": "a", "v": 2}\n'
                                                       '{"end": 6, "k": 1, "l": "b"}\n',
        'period R (a = i4, s = text, b = bool)': 'start,stop,a,s,b\n1,4,1,x,true\n2,3,2,"a,b",false\n'
                                                 '5,forever,3,,true\n',
        'S (a = i2)': 'a\n1\n2\n',
    }
    world.serve()
    for kind, records in kinds.items():
        name = kind.split(' (')[0].split()[-1]
        asked = f'range of x is {name} retrieve (x.all)'
        database = str(world.directory / f'{name}.db')
        own = world.run('--timeline', 'abstract', database, '-c',
                        f'create {kind} copy {name} from "-" following', text=records)
        equal(own.code, 0, own.err)
        wanted = world.run(database, '-c', asked)
        world.good(f'create {kind}')
        fed = world.run('feed', name, '--connect', world.socket, text=records)
        equal((fed.code, fed.err), (0, ''), kind)
        equal(world.good(asked), wanted.out, kind)


def killed_server(world):
    """kill -9 of the server, twice, while a feed goes on: nothing is lost, nothing comes twice"""
    world.serve()
    world.good('create event E (a = i8) range of e is E retrieve into D (n = e.a) where e.a >= 0')
    feed = world.start('feed', 'E', '--connect', world.socket, stdin=subprocess.PIPE)
    sent = 0
    feed.stdin.write(b'at,a\n')
    for _ in range(3):
        for _ in range(60):
            lines = ''.join(f'{sent + i},{sent + i}\n' for i in range(200))
            sent += 200
            feed.stdin.write(lines.encode())
            feed.stdin.flush()
            time.sleep(0.002)
        if sent < 30000:
            world.kill()
            world.serve()
    feed.stdin.close()
    until(lambda: feed.poll() is not None, 'the feed ends')
    equal(feed.returncode, 0, feed.stderr.read())
    equal(feed.stdout.read().decode(), f'E: {sent} records, 0 unreadable\n')
    for relation, domain in (('E', 'a'), ('D', 'n')):
        rows = world.good(f'range of x is {relation} retrieve (x.{domain})').split('\n')[1:-1]
        equal(len(rows), sent, relation)
        equal([int(row.split(',')[-1]) for row in rows], list(range(sent)), relation)
    for name in ('Late', 'Rejected', 'Lost'):
        equal(world.count(name), 0, name)


def hung_server(world):
    """Ctrl-C of a feed whose server does not answer: it says what it waits for, the second one ends it"""
    world.serve()
    world.good('create event E (a = i8)')
    feed = world.start('feed', 'E', '--connect', world.socket, stdin=subprocess.PIPE)
    feed.stdin.write(b'at,a\n1,1\n2,2\n')
    feed.stdin.flush()
    until(lambda: world.count('E') == 1, 'a row comes')
    os.kill(world.server.pid, signal.SIGSTOP)
    try:
        feed.stdin.write(b'3,3\n')
        feed.stdin.flush()
        time.sleep(0.5)
        feed.send_signal(signal.SIGINT)
        line = feed.stderr.readline().decode()
        check('TQ-0847' in line and 'Ctrl-C' in line, line)
        feed.send_signal(signal.SIGINT)
        feed.wait(PATIENCE)
        error = feed.stderr.read().decode()
        equal(feed.returncode, 3, error)
        check('has not confirmed' in error, error)
    finally:
        os.kill(world.server.pid, signal.SIGCONT)


def killed_feed(world):
    """kill -9 of a feed: what was acknowledged stays, and others go on"""
    world.serve()
    world.good('create event E (a = i8) set source grace 200 ms')
    feed = world.start('feed', 'E', '--connect', world.socket, stdin=subprocess.PIPE)
    feed.stdin.write(b'at,a\n' + b''.join(b'%d,%d\n' % (i, i) for i in range(1000)))
    feed.stdin.flush()
    until(lambda: world.count('E') == 999, 'rows come: all but the last, behind which others may come')
    feed.kill()
    feed.wait()
    other = world.start('feed', 'E', '--connect', world.socket, stdin=subprocess.PIPE)
    other.stdin.write(b'at,a\n5000,1\n')
    other.stdin.flush()
    until(lambda: world.count('E') == 1000, 'all rows, once the one that is gone holds nothing up')
    other.stdin.close()
    until(lambda: world.count('E') == 1001, 'the end makes the last one final')


def nobody_can(world):
    """Whether another user can run the program here, as root lets him."""
    done = subprocess.run([*AS_NOBODY, world.tquel, '--version'], capture_output=True,
                          timeout=PATIENCE, check=False)
    return done.returncode == 0


def prepare_long(world):
    world.write('rows.csv', 'start,stop,v\n' + ''.join(f'0,forever,{i}\n' for i in range(2000)))
    world.good('create period P (v = i4) copy P from "rows.csv"')


def prepare_pairs(world):
    """What PAIRS, with a comparison behind it, asks of takes half a second, and then there is a result."""
    world.write('pairs.csv', 'start,stop,v\n' + ''.join(f'0,forever,{i}\n' for i in range(3500)))
    world.good('create period P (v = i4) copy P from "pairs.csv"')


def begin_long(world):
    """A shell whose statement runs for long: a reader has it."""
    before = len(world.readers())
    shell = world.start('--connect', world.socket, '-c', LONG)
    until(lambda: len(world.readers()) > before, 'it runs')
    check(shell.poll() is None, 'it runs')
    return shell


def no_readers(world):
    until(lambda: not world.readers(), 'readers end')


def long_statement(world):
    """a statement that takes long holds nobody up"""
    world.serve()
    prepare_long(world)
    world.good('create event E (a = i4)')
    shells = [begin_long(world) for _ in range(3)]
    world.good('create event F (a = i4) append to F (a = 1) at 5')
    feed = begin_feed(world, 'E', b'at,a\n1,71\n2,72\n')
    display = world.start('--connect', world.socket, '--format', 'csv', '-c', 'display E')
    see(display, b'71')
    feed.stdin.write(b'3,73\n4,74\n')
    feed.stdin.flush()
    see(display, b'73')
    for shell in shells:
        check(shell.poll() is None, 'they run')
    shells[0].send_signal(signal.SIGINT)
    shells[1].kill()
    for shell in shells[:2]:
        shell.wait(PATIENCE)
    until(lambda: len(world.readers()) == 1, 'two readers end')
    check(shells[2].poll() is None, 'the third runs')
    feed.stdin.close()
    display.kill()
    equal(world.stop(), 0, 'an end in order')
    shells[2].wait(PATIENCE)
    equal(shells[2].returncode, 3)
    no_readers(world)


def planned_elsewhere(world):
    """what takes long to plan is planned by a reader, and its limit fails it alone"""
    world.serve()
    world.good('create period P (a = i8)')
    world.write('pairs.tq', ''.join(f'range of v{i} is P\n' for i in range(60)) + 'retrieve (v0.a) when '
                + ' and '.join(f'v{i} , v{j}' for i in range(60) for j in range(i)))
    ended = []

    def is_read():
        shell = world.start('--connect', world.socket, '-f', 'pairs.tq')
        seen = False
        while shell.poll() is None and not seen:
            seen = bool(world.readers())
        world.good('range of v is P retrieve (v.a)')  # meanwhile
        ended.append((shell.communicate(timeout=PATIENCE)[1], shell.returncode))
        return seen
    until(is_read, 'a reader plans it')
    for err, code in ended:
        check(b'error TQ-0421' in err and code == 2, err)
    no_readers(world)


def read_live(world):
    """a long statement finds what has come just now, as a short one does"""
    world.serve()
    prepare_long(world)
    world.good('create event E (a = i4) set durable every 1 hour')
    rows = ''.join(f'{i},{i}\n' for i in range(1, 20001))
    feed = begin_feed(world, 'E', b'at,a\n' + rows.encode())
    until(lambda: world.count('E') == 19999, 'all come but the last, which waits')
    result = world.good('range of e is E range of p is P '
                        'retrieve (e.a) where e.a + p.v + 0 * e.a * p.v = 20001')
    equal(result.count('\n'), 1 + 1998)
    check(result.endswith('19999,19999,true,19999\n'), result[-60:])
    feed.stdin.close()


def killed_reader(world):
    """kill -9 of the process that runs a long statement: the shell is told, the server goes on"""
    world.serve()
    prepare_long(world)
    shell = begin_long(world)
    os.kill(world.readers()[0], signal.SIGKILL)
    shell.wait(PATIENCE)
    equal(shell.returncode, 3)
    error = shell.stderr.read().decode()
    check('TQ-0852' in error, error)
    equal(world.count('P'), 2000)


def slow_and_dead(world):
    """the end of a reader whose shell takes nothing keeps nobody busy"""
    world.serve()
    prepare_pairs(world)
    read, write = os.pipe()
    shell = world.start('--connect', world.socket, '--format', 'csv', '-c', PAIRS + '< 1200', stdout=write)
    os.close(write)
    until(world.readers, 'it runs')
    reader = world.readers()[0]

    def waits():
        before = seconds(reader)
        time.sleep(1)
        with open(f'/proc/{reader}/stat', encoding='ascii') as file:
            return file.read().rsplit(')', 1)[1].split()[0] == 'S' and seconds(reader) == before > 0
    until(waits, 'the reader waits for the shell')
    os.kill(reader, signal.SIGKILL)
    no_readers(world)

    def rests():
        before = seconds(world.server.pid)
        time.sleep(1)
        return seconds(world.server.pid) - before < 0.05
    until(rests, 'the server has nothing to do')
    with os.fdopen(read, 'rb') as file:
        file.read()
    shell.wait(PATIENCE)
    error = shell.stderr.read().decode()
    check(shell.returncode == 3 and 'TQ-0852' in error, error)


def display_beside(world):
    """rows of a display come behind a long result of the same shell, not in the midst of it"""
    world.serve()
    prepare_pairs(world)
    world.good('create event E (a = i4)')
    pairs = PAIRS + '< 700'
    wanted = world.good(pairs, '--format', 'csv').encode().splitlines()
    feed = begin_feed(world, 'E', b'at,a\n1,77000\n2,77000\n')
    read, write = os.pipe()
    shell = world.start('--connect', world.socket, '--format', 'csv', '-c', 'display E ' + pairs, stdout=write)
    os.close(write)
    until(world.readers, 'a reader runs it')
    got, time_ = b'', 3
    while got.count(b'\n') < len(wanted) + 20:
        got += os.read(read, 1 << 16)
        feed.stdin.write(b'%d,77000\n' % time_)
        feed.stdin.flush()
        time_ += 1
        time.sleep(0.005)
    os.close(read)
    lines = got.splitlines()
    begin = lines.index(wanted[0])
    equal(lines[begin:begin + len(wanted)] == wanted, True, 'the result is whole')
    check(any(b',77000' in line for line in lines[begin + len(wanted):]), 'the display goes on behind it')
    shell.kill()


def sockets(world):
    """How many the server has open."""
    count, place = 0, f'/proc/{world.server.pid}/fd'
    for name in os.listdir(place):
        try:
            count += os.readlink(f'{place}/{name}').startswith('socket:')
        except OSError:  # it was closed meanwhile
            pass
    return count


def begin_unread(world, alone):
    """A shell whose statement the keeper has been asked to have read, and does not: the server, which had ALONE sockets before
    anybody came, has one for the shell and one for the reader to be."""
    until(lambda: sockets(world) == alone, 'who was there before has gone')
    shell = world.start('--connect', world.socket, '-c', LONG)
    until(lambda: sockets(world) == alone + 2 or shell.poll() is not None, 'the keeper is asked')
    check(shell.poll() is None and not world.readers(), 'nobody reads it')
    return shell


def stopped_keeper(world):
    """a keeper that does not answer: its statements can be cancelled; where it is killed there is another one"""
    world.serve()
    alone = sockets(world)
    prepare_long(world)
    with open(f'/proc/{world.server.pid}/task/{world.server.pid}/children', encoding='ascii') as file:
        keeper = int(file.read().split()[0])
    os.kill(keeper, signal.SIGSTOP)
    shell = begin_unread(world, alone)
    shell.send_signal(signal.SIGINT)
    shell.wait(PATIENCE)
    error = shell.stderr.read().decode()
    check('TQ-0406' in error, error)
    shell = begin_unread(world, alone)
    os.kill(keeper, signal.SIGKILL)
    shell.wait(PATIENCE)
    error = shell.stderr.read().decode()
    check(shell.returncode == 3 and 'TQ-0852' in error, error)
    equal(world.count('P'), 2000)
    short = 'range of p is P range of q is P retrieve (p.v) where p.v + q.v + 0 * p.v = 3'
    equal(world.good(short, '--format', 'csv').count('\n'), 5)
    shell = world.start('--connect', world.socket, '-c', LONG)
    until(world.readers, 'another keeper makes readers')
    check('TQ-0869' in world.log() and 'TQ-0864' not in world.log(), world.log())
    world.kill()
    until(lambda: not world.readers(), 'they end with the server')


def read_as_here(world):
    """long statements: the same results, errors and exit codes as short ones; those behind them are run"""
    # A quarter of a second each, so that readers run them.
    rows = ''.join(f'{i % 90},{i % 90 + i % 17 + 1},{i}\n' for i in range(5000))
    world.write('rows.csv', 'start,stop,v\n' + rows)
    world.serve()
    world.good('create period P (v = i4) copy P from "rows.csv" create event E (a = i4) '
               'create event D (Process = text) append to E (a = 3) at 40 create traced R (k = c1) by k '
               'append to R (k = "a") at 1 append to R (k = "a") at 90 append to Lost (relation = "R") start 4 stop 5')
    long = 'p.v + q.v + 0 * p.v = 5000'
    script = f"""range of p is P range of q is P set unit 7 range of c is Clock(3) set unit 5
set sequence closest set parallel coverage set origin 3 set averaging origin 5 set rule self-joins off
range of e is E with credibility 100 set compensate "D 1" retrieve (n = count(q)) where q.v = 1
retrieve (p.v, w = q.v, e.a) where {long} and p.v < 4999 when p overlap q
  retrieve (p.v, c = avgc(q)) where {long} retrieve (p.v, w = q.v) where {long} when p ; within 3 q
range of r is R set losses ignored retrieve (p.v, w = q.v, r.k) where {long}
retrieve (a = avg(p.v for ever)) where {long} when p overlap q and p overlap c set compensate on
explain retrieve (p.v) where {long} retrieve (p.v) where p.v < 3 retrieve (d = span(p)) where {long}
  retrieve (x = 1 / (p.v - 2500)) where {long} retrieve (p.v)
"""
    world.write('script.tq', script)
    world.write('cut.tq', script.replace('1 / (p', '1 + (p') + ' retrieve (p.')
    for name, form in (('script.tq', 'csv'), ('script.tq', 'table'), ('cut.tq', 'csv')):
        own = world.run('--readonly', world.database, '--format', form, '-f', name)
        check(own.code == 2 and len(own.out) > 100, own.err)
        remote = world.run('--connect', world.socket, '--format', form, '-f', name)
        equal((remote.code, remote.out, remote.err), (own.code, own.out, own.err), form)


def cancelled(world):
    """Ctrl-C of a script cancels its statement, and the server goes on"""
    world.serve()
    prepare_long(world)
    shell = begin_long(world)
    shell.send_signal(signal.SIGINT)
    shell.wait(PATIENCE)
    equal(shell.returncode, -signal.SIGINT)
    error = shell.stderr.read().decode()
    check('TQ-0401' in error or 'interrupted' in error, error)
    equal(world.count('P'), 2000)
    no_readers(world)


def cut_output(world):
    """Ctrl-C ends a shell whose output nobody takes, with and without a server, and it says so"""
    rows = ''.join(f'{i},{i}\n' for i in range(60000))
    world.write('rows.csv', 'at,a\n' + rows)
    world.serve()
    world.good('create event E (a = i4) copy E from "rows.csv"')
    script = 'create event E (a = i4) copy E from "rows.csv" print E create event F (a = i4)'
    for arguments in (['--connect', world.socket, '-c', 'print E create event F (a = i4)'],
                      ['--timeline', 'abstract', '-c', script]):
        shell = world.start('--format', 'csv', *arguments)
        equal(shell.stdout.readline(), b'at_lo,at_hi,definite,a\n')
        time.sleep(0.1)
        shell.send_signal(signal.SIGINT)
        shell.wait(PATIENCE)
        error = shell.stderr.read().decode()
        equal((shell.returncode, 'TQ-0406' in error), (-signal.SIGINT, True), error)
    equal(world.count('E'), 60000)


def clock(world):
    """`now` is when the statement begins, of whoever runs it; local times are those of the client, by the rules of
    his zone, at the date in question"""
    world.serve(timeline='real', env=dict(os.environ, TZ='UTC0'))
    berlin = dict(os.environ, TZ='CET-1CEST,M3.5.0,M10.5.0/3')

    def shell(statements):
        child = world.start('--connect', world.socket, '--format', 'csv', '-c', statements, env=berlin)
        out, error = child.communicate()
        return child.returncode, out.decode(), error.decode()

    append = 'append to E (a = 1) at "2026-07-01 12:00" append to E (a = 2) at "2026-01-01 12:00" '
    code, _, error = shell('create event E (a = i4) ' + append + 'append to E (a = 3) at now')
    equal((code, error), (0, ''))
    between = time.time_ns()
    equal(shell('append to E (a = 4) at now')[0], 0)
    rows = dict((line.split(',')[3], int(line.split(',')[0]))
                for line in shell('print E')[1].splitlines()[1:])
    equal((rows['1'], rows['2']), (1782900000 * 10**9, 1767265200 * 10**9), 'summer and winter')
    check(rows['3'] < between < rows['4'], f'{rows} {between}')
    code, _, error = shell('append to E (a = 5) at "2026-10-25 02:30"')
    check(code == 2 and 'TQ-0309' in error and '2026-10-25T00:30:00Z or 2026-10-25T01:30:00Z' in error, error)
    code, _, error = shell('append to E (a = 5) at "2026-03-29 02:30"')
    check(code == 2 and 'TQ-0309' in error and 'put forward at 2026-03-29T01:00:00Z' in error, error)
    # A reader has the same clock and zone.
    prepare_pairs(world)
    before = time.time_ns()
    code, out, error = shell('range of p is P range of q is P retrieve (p.v) at "2026-07-01 12:00" '
                             'where p.v + q.v + 0 * p.v = 0 '
                             'retrieve (p.v) at now where p.v + q.v + 0 * p.v = 0')
    equal((code, error), (0, ''))
    summer, now = (int(line.split(',')[0]) for line in out.splitlines() if line[:1].isdigit())
    equal(summer, 1782900000 * 10**9)
    check(before < now < time.time_ns(), f'{before} {now}')
    before = time.time_ns()
    code, out, error = shell('append to E (a = 6) at 5 s append to E (a = 7) at "3:00pm" print E')
    rows = dict((line.split(',')[3], int(line.split(',')[0])) for line in out.splitlines()[1:])
    check(before < rows['6'] - 5 * 10**9 < time.time_ns(), 'it counts from the start of the session')
    equal(rows['7'] // 10**9 % 3600, 0)
    check(abs(rows['7'] - time.time_ns()) < 2 * 86400 * 10**9, 'a clock time is of this day')
    # A feed reads them alike.
    world.good('create event F (a = i4)')
    feed = world.start('feed', 'F', '--connect', world.socket, stdin=subprocess.PIPE, env=berlin)
    feed.communicate(b'at,a\n2026-01-01 12:00,1\n2026-07-01 12:00,2\n2026-10-25 02:30,3\n2026-12-01 01:00,4\n')
    equal(feed.returncode, 0)
    rows = world.good('print F', '--format', 'csv').splitlines()[1:4]
    equal(rows, ['1767265200000000000,1767265200000000000,true,1',
                 '1782900000000000000,1782900000000000000,true,2',
                 '1792888200000000000,1792891800000000000,true,3'], 'what the clock shows twice is either')
    peer = world.raw()
    peer.sendall(hello())
    equal(message(peer)[0], 2)
    for bytes_ in (b'no zone', b'TZif2' + b'\xff' * 39, b'TZif2' + b'\0' * 39, b'TZif' + b'\0' * 400):
        peer.sendall(frame(66, text('zone') + text(bytes_)))
        equal(message(peer)[0], 43, 'that is refused')
    peer.sendall(frame(66, text('zone') + text(b'')))
    equal(message(peer)[0], 85, 'UTC')
    peer.close()


def back_again(world):
    """a shell at a terminal goes on when its server is there again, with its variables and settings"""
    world.serve()
    world.good('create event E (a = i4) append to E (a = 41) at 3 create event F (a = i4)')
    terminal = Terminal(world)
    terminal.wait('through its server')
    terminal.keys('range of e is E range of f is F set unit 7\n\nretrieve (x = e.a + 1000)\n\n')
    terminal.wait('1041')
    world.kill()
    terminal.wait('TQ-0843')
    terminal.keys('retrieve (x = e.a + 2000)\n\n')
    terminal.wait('TQ-0842')
    world.serve()
    world.good('destroy F')
    terminal.keys('retrieve (x = e.a + 3000)\n\n')
    terminal.wait('TQ-0101')
    terminal.wait('3041')
    check(b'TQ-0865' in terminal.seen, terminal.seen.decode())
    terminal.keys('\\q\n')
    until(lambda: terminal.shell.poll() is not None, 'the shell leaves')
    os.close(terminal.master)


def display_before_feed(world):
    """a display that is there before the first record shows it"""
    world.serve()
    world.good('create event E (a = i4)')
    display = world.start('--connect', world.socket, '--format', 'csv', '-c', 'display E')
    see(display, b'at_lo')
    feed = begin_feed(world, 'E', b'at,a\n1,71\n2,72\n')
    see(display, b'71')
    check(display.poll() is None, 'it goes on')
    feed.stdin.close()
    display.send_signal(signal.SIGINT)
    display.wait(PATIENCE)
    equal(display.returncode, 0)
    # Without a server it is over, and says why; a feed that begins behind it feeds it.
    own = world.run('--timeline', 'abstract', '-c', 'create event E (a = i4) display E')
    equal((own.code, 'TQ-0866' in own.err), (0, True), own.err)
    world.write('e.csv', 'at,a\n1,71\n2,72\n')
    own = world.start('--timeline', 'abstract', '--format', 'csv', '-c',
                      'create event E (a = i4) display E copy E from "e.csv" following')
    see(own, b'71')
    own.send_signal(signal.SIGINT)
    own.wait(PATIENCE)
    equal((own.returncode, own.stderr.read()), (0, b''))


def feed_more(feed, lines):
    feed.stdin.write(lines)
    feed.stdin.flush()


def displays_of_what_was_lost(world):
    """a display says what losses leave uncertain: of what comes then, and again of what it has shown"""
    world.serve()
    world.good('create traced R (k = text, x = i4) by k range of r is R retrieve into D (r.k, r.x) '
               'range of d is D define view V (d.x) retrieve into C (r.k, n = count(r by r.k))')
    feed = begin_feed(world, 'R', b'at,k,x\n1,a,71\n2,b,71\n3,a,72\n4,c,70\n')
    shows = {name: world.start('--connect', world.socket, '--format', 'csv', '-c', f'display {name}')
             for name in ('R', 'D', 'V', 'C')}
    careless = world.start('--connect', world.socket, '--format', 'csv', '-c', 'set losses ignored display D')
    for name, shell in shows.items():
        see(shell, {'C': b',a,1', 'V': b'71'}.get(name, b'a,72'))
    see(careless, b'a,72')
    world.good('append to Lost (relation = "R", count = 7) start 7 stop 8')
    feed_more(feed, b'9,b,72\n11,c,73\n14,d,1\n')  # what begins with the last is not final
    for name in ('R', 'D'):  # b may have ended at 7, a has not been heard of since
        lines = see(shows[name], b'c,73')
        check(b'%s,close,2,2,7,9,true,b,71' % name.encode() in lines, lines)
        check(b'3,3,7,forever,true,a,72' in lines, lines)
    see(shows['V'], b'V,close,2,2,7,9,true,71')
    see(shows['C'], b'C,close,2,2,7,7,true,b,1')
    lines = see(careless, b'c,73')
    check(b'D,close,2,2,9,9,true,b,71' in lines, lines)
    # What is known behind the loss is certain again; what is known late is said again, and that it is.
    feed_more(feed, b'15,a,74\n16,c,75\n17,d,2\n')
    for name in ('R', 'D'):
        lines = see(shows[name], b'c,75')
        check(b'%s,close,3,3,7,15,true,a,72' % name.encode() in lines, lines)
        check(b'%s,close,11,11,16,16,true,c,73' % name.encode() in lines, lines)
    world.good('append to Lost (relation = "R", count = 1) start 12 stop 13')
    for name in ('R', 'D'):
        see(shows[name], b'11,11,12,16,true,c,73')
    # A loss of what nobody asks for changes nothing.
    world.good('create traced Q (k = text) by k append to Lost (relation = "Q", count = 1) start 1 stop 2')
    feed_more(feed, b'20,a,76\n21,a,77\n22,d,3\n')
    for name in ('R', 'D'):
        lines = see(shows[name], b'a,77')
        check(b'20,20,21,21,true,a,76' in lines, lines)
    described = world.good('\\d D')
    check('\nlost:       R: 8 records lost between 7 and 13; print heeds it, the table does not\n' in described,
          described)
    own = world.run('--timeline', 'abstract', '--format', 'csv', '-c',
                    'create traced R (k = text, x = i4) by k range of r is R retrieve into D (r.k, r.x) '
                    'display D copy R from "-" following',
                    text='at,k,x\n1,a,1\n2,b,1\n9,a,2\n3,b,5\n12,b,2\n15,a,3\n')
    check('D,close,1,1,3,9,true,a,1\n' in own.out and 'TQ-0433' in own.err, (own.out, own.err))
    # Who begins behind all that sees what print shows.
    world.kill()
    world.serve()
    late = world.start('--connect', world.socket, '--format', 'csv', '-c', 'display D')
    lines = see(late, b'a,77')
    check(b'1,1,3,3,true,a,71' in lines and b'11,11,12,16,true,c,73' in lines, lines)
    feed.kill()
    for shell in (*shows.values(), careless, late):
        shell.send_signal(signal.SIGINT)
        shell.wait(PATIENCE)
    said = shows['D'].stderr.read()
    for wanted in (b'TQ-0351: D: R: 7 records lost between 7 and 8', b'TQ-0433: D: of what was shown before, '):
        check(wanted in said, said)
    said = careless.stderr.read()
    check(b'TQ-0351' not in said and b'TQ-0433' not in said, said)


def killed_shell(world):
    """kill -9 of a shell in the midst of a statement: the next one has its turn"""
    world.serve()
    prepare_long(world)
    shell = begin_long(world)
    shell.kill()
    equal(world.count('P'), 2000)


def server_gone(world):
    """kill -9 of the server in the midst of a statement: exit 3, and nobody knows"""
    world.serve()
    prepare_long(world)
    shell = begin_long(world)
    world.kill()
    shell.wait(PATIENCE)
    equal(shell.returncode, 3)
    error = shell.stderr.read().decode()
    check('TQ-0843' in error and 'not known' in error, error)
    world.serve()
    equal(world.count('P'), 2000, 'the next server takes the socket over')


def begin_feed(world, relation, records):
    """A feed that goes on, once something of RECORDS has come."""
    feed = world.start('feed', relation, '--connect', world.socket, stdin=subprocess.PIPE)
    feed.stdin.write(records)
    feed.stdin.flush()
    until(lambda: world.count(relation) > 0, 'rows come')
    return feed


def see(shell, wanted):
    """Reads lines until there is one that has WANTED; returns them."""
    lines = [b'x']
    while lines[-1] and wanted not in lines[-1]:
        lines.append(shell.stdout.readline())
    check(lines[-1], f'{wanted} is shown')
    return b''.join(lines)


def displays(world):
    """a display goes on after its script, until Ctrl-C or the end of the server"""
    world.serve()
    world.good('create event E (a = i4)')
    feed = begin_feed(world, 'E', b'at,a\n1,77\n2,88\n')
    shells = [world.start('--connect', world.socket, '--format', 'csv', '-c', 'display E')
              for _ in range(2)]
    for shell in shells:
        see(shell, b'77')
    feed.stdin.write(b'3,99\n4,100\n')
    feed.stdin.flush()
    for shell in shells:
        see(shell, b'99')
    shells[0].send_signal(signal.SIGINT)
    shells[0].wait(PATIENCE)
    equal(shells[0].returncode, 0, 'Ctrl-C: ' + shells[0].stderr.read().decode())
    feed.stdin.close()
    until(lambda: feed.poll() is not None, 'the feed ends')
    world.stop()
    shells[1].wait(PATIENCE)
    equal(shells[1].returncode, 3)
    error = shells[1].stderr.read().decode()
    check('TQ-0843' in error and 'it was ended' in error, error)


def stopped_shell(world):
    """a shell that was stopped holds nobody up, and is told what it missed"""
    world.serve()
    world.good('create event R (text = text)')
    feed = begin_feed(world, 'R', b'at,text\n0,x\n1,x\n')
    read, write = os.pipe()
    shell = world.start('--connect', world.socket, '-c', 'display R', stdout=write)
    os.close(write)
    seen = 0
    while seen < 2:  # the heading, and the first row
        seen += os.read(read, 1 << 20).count(b'\n')
    shell.send_signal(signal.SIGSTOP)
    feed.stdin.write(b''.join(b'%d,%s\n' % (i, b'x' * 100) for i in range(2, 100000)))
    feed.stdin.close()
    until(lambda: feed.poll() is not None, 'the feed ends')
    equal(world.count('R'), 100000)
    shell.send_signal(signal.SIGCONT)
    os.set_blocking(read, False)
    error = b''
    os.set_blocking(shell.stderr.fileno(), False)

    def told():
        nonlocal seen, error
        try:
            seen += os.read(read, 1 << 20).count(b'\n')
        except BlockingIOError:
            pass
        error += shell.stderr.read() or b''
        return b'TQ-0845' in error
    until(told, 'it is told')
    shell.send_signal(signal.SIGINT)
    shell.wait(PATIENCE)
    while True:
        try:
            more = os.read(read, 1 << 20)
        except BlockingIOError:
            continue
        if not more:
            break
        seen += more.count(b'\n')
    os.close(read)
    os.set_blocking(shell.stderr.fileno(), True)
    error += shell.stderr.read()
    dropped = sum(int(said.split()[0]) for said in error.split(b'TQ-0845: ')[1:])
    check(dropped > 10000, f'{dropped} rows were dropped')
    # What there was is a table with its heading; then rows come as they change.
    equal(seen + dropped, 100000 + 3, 'rows seen and rows dropped')


def hostile(world):
    """whatever comes through the socket, the server goes on"""
    world.serve()
    world.good('create event E (a = i4)')
    chance = random.Random(7)
    for attempt in range(60):
        with world.raw() as peer:
            kind = attempt % 6
            if kind == 0:
                data = chance.randbytes(chance.randrange(1, 5000))
            elif kind == 1:
                data = hello(role=chance.randrange(3), identity='x') + frame(
                    chance.randrange(90), chance.randbytes(chance.randrange(200)))
            elif kind == 2:
                data = hello(version=99)
            elif kind == 3:
                data = hello()[:chance.randrange(20)]
            elif kind == 4:
                data = b'\xff\xff\xff\xff' + hello()
            else:
                data = hello(role=2, identity='y') + b''.join(
                    frame(kind, chance.randbytes(chance.randrange(60)), number)
                    for number, kind in enumerate(chance.choices(range(32, 45), k=20), 1))
            try:
                peer.sendall(data)
                peer.settimeout(0.05)
                while peer.recv(4096):
                    pass
            except OSError:
                pass
    with world.raw() as peer:
        peer.sendall(hello(version=99))
        kind, _, body = message(peer)
        equal(kind, 3, 'GOODBYE')
        check(b'version' in body, body)
    check(world.server.poll() is None, 'it lives')
    equal(world.count('E'), 0)


class Records:
    """A message of records of any form, and the rows that they are."""
    NAMES = {1: 'one', 2: 'two', 7: 'seven'}

    def __init__(self, chance, first):
        self.relation, self.count, self.bytes = chance.randrange(1, 3), 0, b''
        self.rows, current = [], self.relation
        for _ in range(chance.choice((0, 1, 3, 40))):
            if chance.randrange(12) == 0:
                places = chance.randrange(3)
                self.bytes += struct.pack('<BI', 16, places)
                self.rows += [None] * places
                self.count += 1
                continue
            marks, lo = (1 if chance.randrange(9) else 0), chance.randrange(1000)
            hi = lo if chance.randrange(9) else lo + 5
            if chance.randrange(9) == 0:
                current = 3 - current
                marks |= 32
            said = struct.pack('<I', current) if marks & 32 else b''
            said += struct.pack('<q', lo) + (b'' if lo == hi else struct.pack('<q', hi))
            number = first + len(self.rows)
            said += struct.pack('<q', number)
            values = (current, lo, hi, marks & 1, number)
            if current == 1:
                name = chance.choice(sorted(self.NAMES))
                said += struct.pack('<dI', number / 4, 1 << 31 | name) if chance.randrange(9) else \
                    struct.pack('<d', number / 4) + text(self.NAMES[name])
                values += (number / 4, self.NAMES[name])
            self.bytes += bytes([marks | (2 if lo == hi else 0)]) + said
            self.rows.append(values)
            self.count += 1

    def send(self, peer, number, pipe, sequence):
        peer.sendall(frame(38, struct.pack('<IQQI', self.relation, pipe, sequence, self.count) + self.bytes,
                           number))


def begin_records(world, identity):
    """A source of E and F, with names; and what the server says it has of it already."""
    peer = world.raw()
    peer.sendall(hello(role=2, identity=identity))
    kind, _, body = message(peer)
    equal(kind, 2)
    durable, = struct.unpack_from('<Q', body, 4 + 4 + struct.unpack_from('<I', body, 4)[0])
    for number, name in ((1, 'E'), (2, 'F')):
        peer.sendall(frame(34, struct.pack('<I', number) + text(name) + struct.pack('<Q', 0)))
    for number, name in Records.NAMES.items():
        peer.sendall(frame(35, struct.pack('<I', number) + text(name)))
    peer.sendall(frame(37, struct.pack('<QIQ', 9, 0, 0)))
    return peer, durable


def records(world):
    """records of all forms, mixed, also such as are known already; nothing of a message that is wrong"""
    world.serve()
    world.good('create event E (a = i8, f = f8, s = text) create event F (a = i8)')
    chance = random.Random(5)
    wrong = [struct.pack('<BqqdI', 3, 1, 5, 0, 1 << 31 | 3), struct.pack('<Bqqd', 3, 1, 5, 0),
             struct.pack('<BqqdI', 3, 1 - 2 ** 63, 5, 0, 1 << 31 | 1), struct.pack('<BqqdI', 131, 1, 5, 0, 1 << 31 | 1)]
    number, sequence, rows, before = 0, 0, [], []
    peer, _ = begin_records(world, 'a')
    for i in range(300):
        if i % 50 == 49:  # simple ones before it, and one too many
            good = struct.pack('<BqqdI', 3, 1, -i, 0, 1 << 31 | 1)
            bad = 5 * good + wrong[i // 50 % len(wrong)]
            peer.sendall(frame(38, struct.pack('<IQQI', 1, 0, 0, 6) + bad, number + 1))
            while (got := message(peer)) is not None and got[0] != 3:
                pass
            peer.close()
            peer, durable = begin_records(world, 'a')
            equal(durable, number, 'the wrong message was not taken')
        number += 1
        some = Records(chance, 1000 * i)
        piped, known = chance.randrange(3) > 0, 0
        if piped and len(before) > 3 and chance.randrange(4) == 0:  # the end of what came before, with others
            known = chance.randrange(1, 4)
        if known and len(some.rows) >= known and None not in some.rows:
            some.send(peer, number, 9, sequence - known)
            rows += some.rows[known:]
            sequence += len(some.rows) - known
        else:
            some.send(peer, number, 9 if piped else 0, sequence if piped else 0)
            rows += [row for row in some.rows if row]
            sequence += len(some.rows) if piped else 0
        before += some.rows if piped else []
    peer.sendall(frame(44, b'', number + 1) + frame(3, struct.pack('<I', 0) + text('')))
    while message(peer) is not None:
        pass
    peer.close()
    for relation, name in ((1, 'E'), (2, 'F')):
        wanted = sorted(row[1:] for row in rows if row[0] == relation)
        until(lambda: world.count(name) >= len(wanted), 'all is there')
        lines = [line.split(',') for line in world.good(f'range of x is {name} retrieve (x.all)').splitlines()[1:]]
        found = sorted((int(lo), int(hi), definite == 'true', int(a), *((float(rest[0]), rest[1]) if rest else ()))
                       for lo, hi, definite, a, *rest in lines)
        check(found == wanted, f'{name}: {set(found) ^ set(wanted)}')
    check(len(rows) > 2000, len(rows))


def half_messages(world):
    """a message that comes byte by byte, and one that never ends"""
    world.serve()
    with world.raw() as slow, world.raw() as idle:
        idle.sendall(hello()[:7])
        statements = text('<t>') + b'\1\0\0\0' + b'\0\0' + b'\1' + b'\0' + b'\0' * 4 + b'help'
        for byte in hello() + frame(64, statements):
            slow.sendall(bytes([byte]))
        kinds = []
        while not kinds or kinds[-1] != 83:
            kind, _, _ = message(slow)
            kinds.append(kind)
        equal(kinds[0], 2, 'WELCOME')
        check(80 in kinds, 'OUTPUT')


def others(world):
    """another user is refused"""
    if os.geteuid() != 0:
        return 'not root'
    if not nobody_can(world):
        return 'another user cannot run the program'
    world.serve()
    os.chmod(world.socket, 0o666)
    refused = subprocess.run([*AS_NOBODY, world.tquel, '--connect', world.socket, '-c', 'help'],
                             capture_output=True, timeout=PATIENCE, check=False)
    equal(refused.returncode, 3, refused.stderr)
    check(b'TQ-0841' in refused.stderr, refused.stderr)
    return None


def group(world):
    """members of the group may do what permits say"""
    if os.geteuid() != 0:
        return 'not root'
    if not nobody_can(world):
        return 'another user cannot run the program'
    world.serve('--group', 'nogroup')
    mode = os.stat(world.socket)
    equal((mode.st_mode & 0o777, mode.st_gid), (0o660, 65534))

    def other(*arguments, text=None):
        done = subprocess.run([*AS_NOBODY, world.tquel, *arguments], input=text, capture_output=True,
                              timeout=PATIENCE, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()
    world.good('create event E (a = i4) create event F (a = i4) append to E (a = 1) at 1 '
               'define permit retrieve, append on E to nobody', '-q')
    shell = ['--connect', world.socket, '-c']
    code, out, error = other(*shell, 'range of e is E retrieve (e.a)')
    equal((code, out), (0, 'at_lo,at_hi,definite,a\n1,1,true,1\n'), error)
    for refused in ('\\dr', '\\count E on', '\\dr E'):
        code, out, error = other(*shell, refused)
        equal((code, out), (2, ''), error)
        check('TQ-0773' in error, error)
    for refused in ('range of f is F retrieve (f.a)', 'create event G ()', 'destroy E'):
        code, out, error = other(*shell, refused)
        check(code == 2 and 'TQ-077' in error, f'{refused}: {error}')
    prepare_pairs(world)
    world.good('range of p is P define permit retrieve on P to nobody where p.v < 2400', '-q')
    pairs = PAIRS + '= 2400'
    code, out, error = other(*shell, pairs, '--format', 'count')
    equal((code, out), (0, '2399\n'), 'of a long statement, too: ' + error)
    code, out, error = other('feed', 'E', '--connect', world.socket, text=b'at,a\n7,7\n')
    equal(code, 0, error)
    equal(world.count('E'), 2)
    code, out, error = other('feed', 'F', '--connect', world.socket, text=b'at,a\n7,7\n')
    check(code == 2 and 'TQ-0772' in error, error)
    return None


def many_shells(world):
    """fifty shells at once"""
    world.serve('--memory', '4096', '--statement-memory', '64')  # for each, where all take long enough for a reader
    world.good('create event E (a = i4)')
    shells = [world.start('--connect', world.socket, '-c',
                          f'create event E{i} (a = i4) append to E{i} (a = {i}) at {i} '
                          f'range of e is E{i} retrieve (e.a)') for i in range(50)]
    for i, shell in enumerate(shells):
        out, error = shell.communicate(timeout=PATIENCE)
        equal((shell.returncode, error), (0, b''), f'shell {i}')
        equal(out.decode().split('\n')[1], f'{i},{i},true,{i}')
    names = world.run('--connect', world.socket, '--format', 'ndjson', '-c', 'help').code
    equal(names, 0)


def restarted(world):
    """standing queries go on after the server was ended and started again"""
    world.serve()
    world.good('create event E (a = i4) range of e is E '
               'retrieve into Big (e.a) where e.a > 10')
    for part in range(3):
        fed = world.run('feed', 'E', '--connect', world.socket, text='at,a\n' + ''.join(
            f'{part * 100 + i},{i}\n' for i in range(20)))
        equal(fed.code, 0, fed.err)
        equal(world.stop(), 0)
        world.serve()
    equal(world.count('E'), 60)
    equal(world.count('Big'), 27)


def second_server(world):
    """a second server on the same database or socket is refused; a dead one's socket is taken"""
    world.serve()
    second = world.run('serve', world.database, '--socket', world.socket + '2')
    check(second.code == 3 and 'TQ-06' in second.err, second.err)
    second = world.run('serve', str(world.directory / 'b.db'), '--socket', world.socket)
    check(second.code == 3 and 'TQ-0844' in second.err, second.err)
    writer = world.run(world.database, '-c', 'create event E ()')
    check(writer.code == 3 and '--connect' in writer.err, writer.err)
    world.kill()
    check(os.path.exists(world.socket), 'the socket of the dead')
    world.serve()
    world.good('create event E ()')


def full_disk(world):
    """a full disk: what was acknowledged stays, the feed goes on when there is room again"""
    world.serve()
    world.good('create event E (a = i8, s = text)')
    resource.prlimit(world.server.pid, resource.RLIMIT_FSIZE, (400000, resource.RLIM_INFINITY))
    feed = world.start('feed', 'E', '--connect', world.socket, stdin=subprocess.PIPE)
    feed.stdin.write(b'at,a,s\n' + b''.join(b'%d,%d,%s\n' % (i, i, b'x' * 60) for i in range(20000)))
    feed.stdin.flush()
    until(lambda: 'TQ-06' in world.log(), 'the server says what is wrong')
    check(world.server.poll() is None, 'it lives')
    resource.prlimit(world.server.pid, resource.RLIMIT_FSIZE,
                     (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    feed.stdin.close()
    until(lambda: feed.poll() is not None, 'the feed ends')
    equal(feed.returncode, 0, feed.stderr.read())
    equal(world.count('E'), 20000)


def limit_files(world, size):
    resource.prlimit(world.server.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def full_disk_and_file(world):
    """a full disk under a feed from a file: what was taken back is read again, whoever noticed"""
    def grow(first, behind):
        with open(world.directory / 'e.ndjson', 'a', encoding='utf-8') as file:
            file.write(''.join(f'{{"at":{i},"x":{i},"s":"{"x" * 60}"}}\n' for i in range(first, behind)))

    world.write('e.ndjson', '')
    world.serve()
    world.good('create event E (x = i8, s = text) create event F (x = i4) set durable every 600 s '
               'copy E from "e.ndjson" following range of e is E retrieve D (e.x) where e.x / 2 * 2 = e.x')
    grow(1, 2001)
    until(lambda: world.count('D') == 999, 'the feed is read')
    limit_files(world, 60000)
    result = world.shell('append to F (x = 1) at 1')
    check(result.code == 3 and 'TQ-06' in result.err, result.err)
    limit_files(world, resource.RLIM_INFINITY)
    grow(2001, 3001)
    until(lambda: world.count('D') == 1499, 'all is there, what came before the full disk, too')
    world.good('set durable every 1 ms')
    limit_files(world, 60000)
    grow(3001, 9001)
    until(lambda: 'warning TQ-0626' in world.log(), 'the server says what is wrong')
    limit_files(world, resource.RLIM_INFINITY)
    until(lambda: world.count('D') == 4499, 'and goes on')
    equal(world.stop(), 0)
    world.serve()
    equal((world.count('E'), world.count('Late')), (8999, 0))


def make_certificate(world):
    """False: there is nobody to make one."""
    try:
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2',
                        '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost',
                        '-keyout', 'key.pem', '-out', 'certificate.pem'], cwd=world.directory,
                       check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def network(world):
    """over the network: TLS and a token, or nothing"""
    if not make_certificate(world):
        return 'there is no openssl'
    world.write('token', 'a secret of many letters\n')
    world.write('other', 'another secret of letters\n')
    os.chmod(world.directory / 'token', 0o600)
    os.chmod(world.directory / 'other', 0o600)
    port = free_port()
    files = ['--certificate', 'certificate.pem', '--key', 'key.pem']
    refused = world.run('serve', world.database, '--socket', world.socket, '--listen',
                        f'tls:127.0.0.1:{port}', *files)
    check(refused.code == 1 and '--token-file' in refused.err, 'nothing said of who may connect')
    for _ in range(10):
        port = free_port()
        server = world.start('serve', world.database, '--socket', world.socket, '--timeline',
                             'abstract', '--listen', f'tls:127.0.0.1:{port}', *files, '--token-file',
                             'token')
        line = server.stdout.readline().decode()
        error = '' if line else server.stderr.read().decode()
        if 'already in use' not in error:  # else somebody has taken the port meanwhile
            break
    if not line:
        check('TLS' in error, error)
        return 'built without TLS'
    address = f'tls:localhost:{port}'
    client = ['--connect', address, '--ca', 'certificate.pem']
    with_token = [*client, '--token-file', 'token']
    done = world.run(*with_token, '-c', 'create event E (a = i4) range of e is E retrieve (e.a)')
    equal((done.code, done.out, done.err), (0, 'at_lo,at_hi,definite,a\n', ''))
    fed = world.run('feed', 'E', *with_token, text='at,a\n1,2\n')
    equal((fed.code, fed.err), (0, ''))
    equal(world.count('E'), 1)
    for arguments in (client, [*client, '--token-file', 'other']):
        done = world.run(*arguments, '-c', 'help')
        check(done.code == 3 and 'TQ-0841' in done.err and 'token' in done.err, done.err)
    done = world.run('--connect', address, '--token-file', 'token', '-c', 'help')
    check(done.code == 3 and 'TQ-0841' in done.err and 'TLS fails' in done.err, f'a server that nobody vouches for: {done.err}')
    world.write('rows.csv', 'at,a\n9,9\n')
    done = world.run(*with_token, '-c', 'copy E from "rows.csv"')
    check(done.code != 0 and 'tquel feed' in done.err, f'files: {done.err}')
    with socket.create_connection(('127.0.0.1', port)) as peer:
        peer.sendall(hello())
        peer.settimeout(PATIENCE)
        try:
            while peer.recv(100):
                pass
        except ConnectionResetError:
            pass
    equal(world.count('E'), 1, 'it lives')
    return None


class Terminal:
    """A shell at a terminal. What looked for is in what came since the last keys."""

    def __init__(self, world, *arguments):
        environment = dict(os.environ, TERM='dumb', XDG_STATE_HOME=str(world.directory),
                           LC_ALL='C.UTF-8', ASAN_OPTIONS='detect_leaks=0')
        self.master, slave = pty.openpty()
        self.shell = world.start('--connect', world.socket, *arguments, stdin=slave, stdout=slave,
                                 stderr=slave, env=environment, start_new_session=True,
                                 preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)
        self.seen = b''

    def keys(self, keys):
        self.seen = b''
        os.write(self.master, keys.encode())

    def insist(self, keys, wanted):
        """The keys, and again if nothing comes of them."""
        end = time.monotonic() + PATIENCE
        while wanted.encode() not in self.seen:
            check(time.monotonic() < end, f'{wanted!r} was to come: {self.seen.decode()}')
            os.write(self.master, keys.encode())
            again = time.monotonic() + 10
            while wanted.encode() not in self.seen and time.monotonic() < again:
                if select.select([self.master], [], [], 0.5)[0]:
                    self.seen += os.read(self.master, 4096)

    def wait(self, wanted):
        end = time.monotonic() + PATIENCE
        while wanted.encode() not in self.seen:
            ready, _, _ = select.select([self.master], [], [], max(0, end - time.monotonic()))
            check(ready, f'{wanted!r} was to come, and this came: {self.seen.decode()}')
            try:
                self.seen += os.read(self.master, 4096)
            except OSError:
                raise Failure(f'the shell has gone before {wanted!r}: {self.seen.decode()}') from None


def interactive(world):
    """at a terminal: questions, completion, Ctrl-C, displays, the end of the server"""
    world.serve()
    prepare_long(world)
    world.good('create event Iteration (number = i4)')
    terminal = Terminal(world)
    terminal.wait('through its server')
    terminal.keys('\\d\n')
    terminal.wait('event          Iteration (number = i4)')
    terminal.keys('\\d Nobody\n')
    terminal.wait('TQ-0101')
    terminal.keys('range of i is Iter\t')
    terminal.wait('Iteration ')
    terminal.keys('\n\nretrieve (i.nu\t')
    terminal.wait('i.number')
    terminal.keys(')\n\n')
    terminal.wait('(0 rows)')
    terminal.keys('\\ds\n')
    terminal.wait('tquel> ')
    terminal.keys(LONG + '\\g\n')
    until(world.readers, 'it runs')
    terminal.insist('\x03', 'TQ-')
    terminal.wait('tquel> ')
    feed = begin_feed(world, 'Iteration', b'at,number\n1,4001\n2,4002\n')
    terminal.keys('display Iteration\n\n')
    terminal.wait('4001')
    feed.stdin.write(b'3,4003\n4,4004\n')
    feed.stdin.flush()
    terminal.wait('4003')
    terminal.keys('\x03')
    terminal.wait('the displays have ended')
    world.stop()
    terminal.wait('TQ-0843')
    terminal.keys('\\q\n')
    until(lambda: terminal.shell.poll() is not None, 'the shell leaves')
    os.close(terminal.master)


if __name__ == '__main__':
    main([two_shells, as_without, taken_back, paths, feeds, stored_beside_live, clock_alone, clock_too_fast, unread_errors, full_output,
          feed_beside_change, samples_before_commit, unbounded, feeds_of_all_kinds,
          killed_server, killed_feed, hung_server, cancelled, long_statement, planned_elsewhere, read_live,
          killed_reader, slow_and_dead, display_beside, stopped_keeper, read_as_here, killed_shell,
          cut_output, clock, back_again, display_before_feed, displays_of_what_was_lost,
          server_gone, displays, stopped_shell, hostile, records, half_messages, others, group,
          many_shells, restarted, second_server, full_disk, full_disk_and_file,
          network, interactive],
         slow=[clock_too_fast, read_as_here, display_beside, slow_and_dead])
