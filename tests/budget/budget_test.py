"""What statements may take: memory and time, alone and through a server; and results that are larger than that.
Prints TAP.

    budget_test.py TQUEL [NAME]...
"""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / 'serve'))
from world import check, equal, main  # noqa: E402

# What has been freed is no memory of the statement's, also where the address sanitizer keeps it.
os.environ['ASAN_OPTIONS'] = (os.environ.get('ASAN_OPTIONS', '') +
                              ':quarantine_size_mb=0:thread_local_quarantine_size_kb=0')

ROWS = 600
BEGIN = 'create period P (v = i4) copy P from "rows.csv" '
PAIRS = 'range of p is P range of q is P '
# Many rows, half of them twice; the first is in no order, the second nearly in that of time.
QUERIES = ('retrieve (w = q.v - p.v)', 'retrieve (p.v, w = q.v) start p.start stop q.stop when p overlap q',
           'retrieve (p.v, w = q.v)', 'retrieve (p.v, w = q.v) sort by w descending, v limit 300000',
           'retrieve (p.v, w = q.v) sort by w, v limit 500 by w offset 7')


def rows(world, indefinite=''):
    lines = ''.join(f'{i * 37 % 211},{i * 37 % 211 + 300},{i}\n' for i in range(ROWS))
    world.write('rows.csv', 'start,stop,v\n' + lines + indefinite)


def on_the_disk(world):
    """a result that is larger than its memory is the same, in all formats"""
    rows(world)
    for query in QUERIES:
        for form in ('csv', 'count') if query != QUERIES[0] else ('csv', 'table', 'ndjson', 'markdown'):
            found = []
            for memory in ('0', '10' if 'sort' in query else '16'):
                result = world.run('--timeline', 'abstract', '--format', form, '-c',
                                   BEGIN + PAIRS + f'set memory {memory} ' + query)
                equal((result.code, result.err), (0, ''))
                found.append(result.out)
            check(found[0] == found[1], f'{query} as {form}')
            check(len(found[0]) > 1, 'something')


def fails_alone(world):
    """what exceeds its memory or its time has changed nothing, and the next statement works"""
    rows(world)
    database = ('a.db', '--timeline', 'abstract', '--format', 'count')
    equal(world.run(*database, '-c', BEGIN).code, 0)
    for limit, number in (('set memory 16', 'TQ-0512'), ('set time limit 1 ms', 'TQ-0513')):
        script = f'{PAIRS}\n{limit}\nretrieve R (p.v, w = q.v)\n'
        result = world.run(*database, '-c', script)
        equal(result.code, 3, result.err)
        check(f'<command 1>:3:1: error {number}' in result.err, result.err)
        check('TQ-0101' in world.run(*database, '-c', 'print R').err, 'R was not made')
        equal(world.run(*database, '-c', 'print P').out, f'{ROWS}\n')


def most_memory(world, *arguments):
    """Bytes that it had at most."""
    child = world.start(*arguments)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    equal(child.returncode, 0)
    return usage.ru_maxrss << 10


def into_a_file(world):
    """the text of a relation that is copied into a file is not in memory as a whole; one that finds no room leaves nothing"""
    rows(world)
    result = world.run('a.db', '--timeline', 'abstract', '-q', '-c',
                       BEGIN + PAIRS + 'retrieve R (p.v, w = q.v) where p.v < 400')
    equal((result.code, result.err), (0, ''))
    database = str(world.directory / 'a.db')
    counted = most_memory(world, '--format', 'count', database, '-c', 'print R')
    copied = most_memory(world, database, '-c', f'copy R into "{world.directory}/large.ndjson"')
    large = (world.directory / 'large.ndjson').read_bytes()
    shown = world.run('--format', 'ndjson', 'a.db', '-c', 'print R').out.encode()
    check(large == shown, 'it is what is shown')
    check(len(large) > 12 << 20, f'{len(large)} bytes')
    check(copied < counted + len(large) // 2, f'{copied} bytes instead of {counted}, for {len(large)}')
    before = sorted(os.listdir(world.directory))
    result = world.run('-c', 'ulimit -f 2000; trap "" XFSZ; exec "$0" a.db -c \'copy R into "large.ndjson"\'', world.tquel,
                       program='sh')
    equal(result.code, 3, result.err)
    check('cannot write' in result.err, result.err)
    equal(sorted(os.listdir(world.directory)), before)
    check((world.directory / 'large.ndjson').read_bytes() == large, 'what was there stays')


def through_a_server(world):
    """a server's limits hold for each statement, also for those that take long; nobody else notices"""
    rows(world)
    world.serve('--statement-memory', '16', '--memory', '400')
    equal(world.shell(BEGIN).code, 0)
    result = world.shell(PAIRS + 'retrieve R (p.v, w = q.v)')
    equal(result.code, 3)
    check('TQ-0512' in result.err, result.err)
    plain = world.run('--timeline', 'abstract', '--format', 'csv', '-c',
                      BEGIN + PAIRS + QUERIES[0]).out
    result = world.shell(PAIRS + QUERIES[0], '--format', 'csv')
    equal((result.code, result.err), (0, ''))
    check(result.out == plain, 'a result that is larger, through a server')
    triples = PAIRS + 'range of r is P set memory 300 set time limit 200 ms retrieve (p.v) where p.v + q.v + r.v = 0 - 1'
    result = world.shell(triples)
    equal(result.code, 3)
    check('TQ-0513' in result.err, result.err)
    equal(world.shell(PAIRS + 'set memory 100 retrieve R (p.v, w = q.v)').code, 0)
    equal(world.shell('print P', '--format', 'count').out, f'{ROWS}\n')
    equal(world.stop(), 0)


main([on_the_disk, fails_alone, into_a_file, through_a_server])
