"""Programs that are refused memory: an error with a number or no effect at all, never a crash, and a database that is
whole afterwards. Prints TAP.

    starve_test.py TQUEL STARVE SAMPLES

STARVE is the library of starve.c. Each script runs SAMPLES times in each way of refusing (one allocation, several in a
row, all that needs more address space), at places spread over all of its allocations; and so does a server, whose
statements may fail and which may not."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / 'serve'))
from world import World, check, equal  # noqa: E402

TQUEL, STARVE, SAMPLES = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), int(sys.argv[3])
# Two in a row are absorbed by the reserve; more end a process in good order.
WAYS = ('fail:{}:1', 'fail:{}:2', 'fail:{}:3', 'fail:{}:50', 'limit:{}')

BEGIN = 'create period P (v = i4, s = text) copy P from "rows.csv" range of p is P range of q is P\n'
QUERY = '(p.v, w = q.v) where p.v = q.v + 1'
SCRIPTS = {
    'what is wrong': BEGIN + 'retrieve (p.x)',
    'what does not parse': 'retrieve (p.v where\nretrieve ((p.v)',
    'reading a file': BEGIN + 'copy P into "out.csv" copy P from "rows.csv"',
    'a file with errors': 'create event E (a = i4) copy E from "bad.csv" skipping errors print E',
    'a join and its order': BEGIN + f'retrieve {QUERY} retrieve (p.s) when p overlap q and p.v < 30',
    'aggregates': BEGIN + 'retrieve (n = count(p.v by p.s), m = max(p.v by p.s), p.s) '
                          'retrieve (a = avg(p.v for each 10))',
    'standing queries': BEGIN + f'retrieve D {QUERY} append to P (v = 200, s = "z") start 1 stop 9 '
                                'delete p where p.v = 3 replace p (v = 500) where p.v = 7 print D',
    'views and rules': BEGIN + 'define view V (p.v) where p.v > 3 define integrity p is p.v < 900 '
                               'print V explain retrieve (p.v) help P index on P is I (v) print V',
    'a feed': 'create traced T (k = i4, v = i4) by k range of t is T copy T from "-" following '
              'retrieve D (t.k, t.v) where t.v > 5 display D display T',
}
# What is derived is what its query gives.
CHECK = f'range of p is P range of q is P range of d is D retrieve {QUERY}'


def prepare(directory):
    rows = [f'{i * 7 % 101},{i * 7 % 101 + 5},{i},s{i % 7}' for i in range(120)]
    (directory / 'rows.csv').write_text('start,stop,v,s\n' + '\n'.join(rows) + '\n')
    (directory / 'bad.csv').write_text('at,a\n1,2\nx,y\n3,"\n4,5\n' * 5)
    feed = [f'{i},{i % 5},{i % 11}' for i in range(300)]
    (directory / 'feed.csv').write_text('at,k,v\n' + '\n'.join(feed) + '\n')


def run(directory, text, starve=None):
    environment = dict(os.environ)
    if starve:
        environment.update(STARVE=starve, LD_PRELOAD=STARVE)
    (directory / 'script.tq').write_text(text)
    with open(directory / 'feed.csv', 'rb') as feed:
        return subprocess.run([TQUEL, 'a.db', '--timeline', 'abstract', '--format', 'csv', '-f', 'script.tq'],
                              cwd=directory, stdin=feed, env=environment, capture_output=True,
                              timeout=300, check=False)


def remove_database(directory):
    for name in directory.glob('a.db*'):
        name.unlink()


def allocations(directory, text):
    """How many there are, and what comes out where none fails."""
    remove_database(directory)
    result = run(directory, text, 'count:count')
    return int((directory / 'count').read_text()), result


def places(count, way):
    """Spread over all, for each way others."""
    return [1 + (count * (5 * i + WAYS.index(way))) // (5 * SAMPLES) for i in range(SAMPLES)]


def is_whole(directory):
    """Does the database open, and say the same by what is stored and by what it was derived from?"""
    if not (directory / 'a.db').exists():
        return
    result = run(directory, CHECK)
    if b'TQ-0101' in result.stderr:  # what was not made is not there
        return
    equal(result.returncode, 0, result.stderr.decode())
    equal(run(directory, 'print D').stdout, result.stdout, 'what is derived')


def starve_script(directory, text):
    count, good = allocations(directory, text)
    check(good.returncode in (0, 2), good.stderr.decode())
    for way in WAYS:
        for place in places(count, way):
            remove_database(directory)
            starve = way.format(place)
            result = run(directory, text, starve)
            said = result.stderr.decode()
            if result.returncode == 127 and 'shared librar' in said:
                continue  # the program was not even loaded
            check(result.returncode in (0, 2, 3), f'{starve}: ended with {result.returncode}: {said}')
            if result.returncode == good.returncode and 'TQ-0514' not in said:
                equal(result.stdout, good.stdout, starve)
            else:
                check('error TQ-' in said, f'{starve}: status {result.returncode} without a reason: {said}')
            is_whole(directory)


def starve_server(world):
    """One that lives on, and whose next statement works."""
    prepare(world.directory)
    library = dict(os.environ, LD_PRELOAD=STARVE)
    asked = [BEGIN + f'retrieve D {QUERY}', f'range of p is P range of q is P retrieve {QUERY}',
             'print D', 'retrieve (', 'append to P (v = 1000, s = "new") start 5 stop 6', 'print P']
    count_file = world.directory / 'count'

    def serve(starve):
        for name in world.directory.glob('a.db*'):
            name.unlink()
        try:
            world.serve(env=dict(library, STARVE=starve))
            return True
        except Exception:  # memory was short before there was a server
            equal(world.server.wait(300), 3, world.log())
            check('TQ-0514' in world.log() or 'TQ-0' in world.log(), world.log())
            return False

    def allocations_of(*statements):
        check(serve(f'count:{count_file}'), 'a server')
        for text in statements:
            world.run('--connect', world.socket, '-c', text)
        equal(world.stop(), 0)
        return int(count_file.read_text())

    # From the beginning of a connection to its end, each.
    for place in range(allocations_of() - 40, allocations_of('') + 10):
        if serve(f'fail:{place}:1'):
            world.run('--connect', world.socket, '-c', '')
            equal((world.shell('print P').code, world.stop()), (2, 0), f'fail:{place}:1: {world.log()}')
    before = None
    count = allocations_of(*asked)
    for way in ('fail:{}:1', 'fail:{}:2', 'limit:{}'):
        for place in places(count, way):
            starve = way.format(place)
            if not serve(starve):
                continue
            for text in asked:
                result = world.run('--connect', world.socket, '-c', text)
                check(result.code in (0, 2, 3), f'{starve}: {result.code} {result.err}')
                check(result.code == 0 or 'error TQ-' in result.err, f'{starve}: {result.err}')
            before = world.run('--connect', world.socket, '--format', 'count', '-c',
                               'create event Last (a = i4) append to Last (a = 1) at 5 print Last')
            if before.code != 0 and way.startswith('limit') and 'out of memory' in world.log():
                equal(world.server.wait(300), 3, starve)  # not even the reserve was enough: it said so
                continue
            equal((before.code, before.out), (0, '1\n'), f'{starve}: {before.err} {world.log()}')
            equal(world.stop(), 0, f'{starve}: {world.log()}')


def main():
    tests = [(name, lambda text=text: in_directory(starve_script, text))
             for name, text in SCRIPTS.items()] + [('a server', in_world)]
    print(f'1..{len(tests)}')
    failed = 0
    for number, (name, test) in enumerate(tests, 1):
        try:
            test()
            print(f'ok {number} - {name}', flush=True)
        except Exception as error:  # pylint: disable=broad-except
            failed += 1
            print(f'not ok {number} - {name}\n# ' + str(error).replace('\n', '\n# '), flush=True)
    sys.exit(failed > 0)


def in_directory(test, text):
    directory = pathlib.Path(tempfile.mkdtemp(prefix='tquel-starve.'))
    try:
        prepare(directory)
        test(directory, text)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def in_world():
    world = World(TQUEL)
    try:
        starve_server(world)
    finally:
        world.close()


main()
