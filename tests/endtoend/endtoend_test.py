#!/usr/bin/env python3
"""From the question to the program and back: `tquel serve`, `tquel collect` and programs with sensors.

Every scenario starts all of them anew. Accounts are exact: what a program generated while its sensor was on
is stored, late, rejected, or counted as lost. Prints TAP.

    endtoend_test.py TQUEL TICKER [SCENARIO...]
"""
import calendar
import os
import re
import signal
import subprocess
import sys
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from world import LIMIT, Failed, Ledger, Skipped, World, apart, called, wait_for  # noqa: E402


def start(world, *names, count=1000, pause_ns=0, threads=1):
    world.serve()
    world.collect()
    tickers = [world.ticker(name, count, pause_ns, threads) for name in names]
    world.known('Tick')
    return tickers


def sensors(world):
    """What \\ds shows, as lists of cells."""
    return [line.split() for line in world.run('\\ds').splitlines()]


def enabled(world, event, process):
    """Is EVENT on in PROCESS? By the lines of \\ds."""
    for line in world.run('\\ds').splitlines():
        if re.search(r'\b%s\b' % event, line) and ':' + process + '#' in line:
            return ' on ' in line.replace(',', ' ') + ' '
    return None


def switched_objects(world, process):
    """The minor names of the doors that are on by themselves in PROCESS."""
    return sorted(re.findall(r':%s#\S+ .*\bDoor:(\d+)#\S+ +on\b' % process, world.run('\\ds')))


def cells(world, relation, process, object_):
    """The row of \\ds of a sensor, as text between its columns."""
    heading, *lines = world.run('\\ds').splitlines()
    starts = [heading.index(name) for name in ('process', 'relation', 'object', 'state')]
    for line in lines:
        row = [line[a:b].strip() for a, b in zip(starts, starts[1:])] if 'object' in heading else []
        if row and ':%s#' % process in row[0] and row[1] == relation and \
                (row[2].startswith(object_ + '#') if object_ else row[2] == ''):
            return row + re.split(r' {2,}', line[starts[3]:].strip())
    return ['', '', '', '', '', '', '', '']


def askers(world, relation, process, object_):
    return cells(world, relation, process, object_)[-1]


def processes(world):
    """The names of all that \\ds shows, sorted."""
    return sorted(set(re.findall(r'Worker:\w+#\d+(?:@[-\w]+:[0-9a-f]{8})?', world.run('\\ds'))))


def expect(what, condition):
    if not condition:
        raise Failed(what)


def equal(what, got, wanted):
    if got != wanted:
        raise Failed('%s: %r instead of %r' % (what, got, wanted))


def settled(world, relation, total, limit=LIMIT):
    wait_for(lambda: '%d records of %s (there are %d, lost %d)' %
             (total, relation, world.count(relation), world.lost()),
             lambda: world.accounted(relation) >= total, limit)
    equal('records of ' + relation, world.accounted(relation), total)


# --- scenarios


def nobody_asks(world):
    """Nothing is collected as long as nobody asks."""
    a, = start(world, 'a')
    a.go()
    a.done()
    a.end()
    world.run('range of t is Tick retrieve into Ticks (t.Number)')
    equal('rows', world.count('Tick'), 0)
    equal('lost', world.lost(), 0)


def a_question(world):
    """A standing query gets all that happens from then on."""
    a, = start(world, 'a', count=2000)
    world.run('range of t is Tick retrieve into Ticks (t.Number, t.Thread)')
    wait_for('Tick is on', lambda: enabled(world, 'Tick', 'a'))
    a.go()
    a.done()
    settled(world, 'Tick', 2000)
    wait_for('2000 rows of Ticks', lambda: world.count('Ticks') == 2000)
    equal('numbers', [row[0] for row in world.sql('select Number from Ticks order by Number')],
          list(range(2000)))
    equal('nothing of Phase', world.count('Phase'), 0)
    a.end()


def only_what_is_asked(world):
    """The selection goes to the sensors: of other processes nothing is generated."""
    a, b = start(world, 'a', 'b')
    world.run('range of t is Tick retrieve into Ticks (t.Number) where t.Process = "Worker:a#*"')
    wait_for('Tick is on in a', lambda: enabled(world, 'Tick', 'a'))
    wait_for('Tick is off in b', lambda: enabled(world, 'Tick', 'b') is False)
    a.go()
    b.go()
    a.done()
    b.done()
    settled(world, 'Tick', 1000)
    equal('rows of b', world.count('Tick', "Process like 'Worker:b#%'"), 0)


def later_processes(world):
    """A program that starts after the question is asked from its beginning."""
    world.serve()
    world.collect()
    first = world.ticker('first', 10)
    world.known('Tick')
    world.run('range of t is Tick retrieve into Ticks (t.Number) where t.Process = "Worker:later#*"')
    first.go()
    later = world.ticker('later', 500)
    wait_for('Tick is on in later', lambda: enabled(world, 'Tick', 'later'))
    later.go()
    later.done()
    first.done()
    settled(world, 'Tick', 500)


def on_and_off(world):
    """A sensor is on as long as somebody asks; two who ask share it."""
    a, = start(world, 'a')
    world.run('range of t is Tick retrieve into One (t.Number) retrieve into Two (t.Thread)')
    wait_for('Tick is on', lambda: enabled(world, 'Tick', 'a'))
    world.run('destroy One')
    a.go()
    a.done()
    settled(world, 'Tick', 1000)
    world.run('destroy Two')
    wait_for('Tick is off', lambda: enabled(world, 'Tick', 'a') is False)
    a.end()
    wait_for('a is gone', lambda: enabled(world, 'Tick', 'a') is None)
    world.run('range of t is Tick retrieve into Three (t.Number)')
    wait_for('it is said', lambda: 'watched: Tick (1): no such process is there' in world.run('\\ds'))
    world.kill(world.collector)
    wait_for('that is said', lambda: 'no collector is connected' in world.run('\\ds'))


def checkpoints(world):
    """`set checkpoint every` tells collectors how often to say what is past."""
    world.serve()
    world.collect('--checkpoint', '1h')
    a = world.ticker('a', count=1000)
    world.known('Tick')
    world.run('range of t is Tick retrieve into Ticks (t.Number)')
    wait_for('Tick is on', lambda: enabled(world, 'Tick', 'a'))
    a.go()
    a.done()
    world.run('set checkpoint every 2 ms')
    wait_for('the answer', lambda: world.count('Ticks') == 1000)
    wrong = world.shell('set checkpoint every 0 ms', check=False)
    expect('0 is refused: ' + wrong.stderr.decode(), b'TQ-0321' in wrong.stderr)


def held(world, relation, process):
    """What \\dr shows of it: by object, a dictionary by the names of the columns."""
    lines = []

    def answered():
        lines[:] = world.run('\\dr ' + relation).splitlines()
        return not any('did not answer' in line for line in lines)
    wait_for('the collector answers in time', answered)
    rows = {}
    for line in lines[1:]:
        if ':' + process + '#' not in line:
            continue
        cells = line.split()
        name = cells.pop(2).split('#')[0] if ':' in cells[2] else ''
        names = [word for word in lines[0].split() if word != 'object']
        rows[name] = dict(zip(names, cells))
    return rows


def counting(world):
    """\\count: receptacles count, whatever is asked for, and \\dr shows what they hold."""
    a, = start(world, 'a', count=1000)
    world.known('Opened')
    for relation in ('Opened', 'phase', 'Tick'):
        world.run('\\count %s on' % relation)
    world.run('range of o is Opened retrieve into Twos (o.Times) where o.Door = "Door:2#*"')
    b = world.ticker('b', count=500)
    for name in 'ab':
        wait_for('Door:2 is on',
                 lambda: held(world, 'Opened', name).get('Door:2', {}).get('records') == 'on')

    def counts(name):
        rows = [row for relation in ('Opened', 'Phase', 'Tick')
                for row in held(world, relation, name).values()]
        return len(rows) == 6 and all(row['counting'] == 'on' for row in rows)
    for name in 'ab':
        wait_for(name + ' counts', lambda: counts(name))
    a.go()
    a.done()
    b.go()
    b.done()
    wait_for('rows', lambda: world.count('Opened') == a.ledger.opened(1) + b.ledger.opened(1))
    equal('ticks', [held(world, 'Tick', name)['']['count'] for name in 'ab'], ['1000', '500'])
    phases = held(world, 'Phase', 'a')['']
    equal('phases', (phases['count'], phases['sum'], phases['mean']), ('100', '4950', '49.5'))
    for ticker in (a, b):
        doors = held(world, 'Opened', ticker.name)
        for door in range(3):
            equal('door %d of %s' % (door + 1, ticker.name), int(doors['Door:%d' % (door + 1)]['count']),
                  ticker.ledger.opened(door))
    equal('records', [held(world, 'Opened', 'a')['Door:%d' % (i + 1)]['records'] for i in range(3)],
          ['off', 'on', 'off'])
    expect('buckets: ' + world.run('\\dr Phase'),
           '(-1,1):1 [1,2):1 [2,4):2 [4,8):4 [8,16):8 [16,32):16 [32,64):32 [64,128):36'
           in world.run('\\dr Phase'))
    world.run('\\count Tick off')
    wait_for('off', lambda: held(world, 'Tick', 'a')['']['counting'] == 'off')
    world.kill(world.collector)  # the next one is told
    world.collect()
    wait_for('phases are counted again',
             lambda: held(world, 'Phase', 'b').get('', {}).get('counting') == 'on')
    wait_for('what was counted before',
             lambda: held(world, 'Phase', 'a').get('', {}).get('count') == '100')
    equal('still off', held(world, 'Tick', 'a')['']['counting'], 'off')
    world.kill(world.server)  # the wish was its
    world.serve()
    wait_for('nothing is counted',
             lambda: held(world, 'Phase', 'b').get('', {}).get('counting') == 'off')
    for line, number in (('\\count Nothing on', b'TQ-0101'), ('\\count Twos on', b'TQ-0851'),
                         ('\\count Tick', b'TQ-0001'), ('\\dr Twos', b'TQ-0851')):
        refused = world.shell(line, check=False)
        expect('%s is refused: %s' % (line, refused), number in refused.stderr and refused.returncode)


def collector_stopped(world):
    """A collector that does not answer is said to be missing, and holds nobody up but who asks."""
    start(world, 'a')
    wait_for('it answers', lambda: held(world, 'Tick', 'a'))
    world.collector.send_signal(signal.SIGSTOP)
    asked = world.spawn([world.tquel, '--connect', world.socket, '-c', '\\dr Tick'],
                        subprocess.PIPE)
    world.run('create event Mine (a = i4)')
    equal('the answer', asked.communicate(timeout=LIMIT)[0],
          b'1 of 1 collectors did not answer\n')
    world.collector.send_signal(signal.SIGCONT)
    wait_for('it answers again', lambda: held(world, 'Tick', 'a'))


def a_display(world):
    """A display of an announced relation turns it on, and off when the shell leaves."""
    a, = start(world, 'a', count=300)
    shell = world.spawn([world.tquel, '--connect', world.socket, '--format', 'ndjson', '-c',
                         'display Tick'], output=subprocess.PIPE)
    wait_for('Tick is on', lambda: enabled(world, 'Tick', 'a'))
    a.go()
    a.done()
    lines = [shell.stdout.readline() for _ in range(300)]
    expect('the last one: %r' % lines[-1], b'299' in lines[-1])
    shell.send_signal(signal.SIGINT)
    equal('exit status', shell.wait(LIMIT), 0)
    wait_for('Tick is off', lambda: enabled(world, 'Tick', 'a') is False)


def objects(world):
    """Objects are switched one by one, and what their sensor costs is known."""
    a, = start(world, 'a', count=3000)
    world.run('range of o is Opened retrieve into Times (o.Door, o.Times) where o.Door = "Door:2#*"')
    wait_for('Opened is on', lambda: 'Door:2#' in world.run('\\ds'))
    wait_for('the switch', lambda: any(' on' in line for line in world.run('\\ds').splitlines()
                                       if 'Opened' in line))
    wait_for('of one object', lambda: any('objects: 1 ' in line for line in world.run('\\ds').splitlines()
                                          if 'Opened' in line))
    expect('it is there', 'no such' not in world.run('\\ds'))
    a.go()
    a.done()
    wait_for('rows', lambda: world.count('Opened') >= 1)
    equal('doors', [row[0].split('#')[0] for row in
                    world.sql('select distinct Door from Opened')], ['Door:2'])
    wait_for('the cost', lambda: world.sql("select * from SensorCost where Relation = 'Opened'"))
    expect('a note about costs', 'TQ-0792' not in world.shell(
        'set compensate on range of o is Opened retrieve into Corrected (o.Times)').stderr.decode())


def objects_of_a_process(world):
    """Of objects that are named by their process alone, those of other processes are left alone."""
    a, b = start(world, 'a', 'b', count=300)
    world.run('range of o is Opened retrieve into Two (o.Times) '
              'where o.Process = "Worker:a#*" and o.Door = "Door:2#*"')
    wait_for('Door:2 is on in a', lambda: switched_objects(world, 'a') == ['2'])
    equal('who asks for it', [askers(world, *what) for what in (
        ('Opened', 'a', ''), ('Opened', 'a', 'Door:2'), ('Opened', 'b', ''))], ['Two', 'Two', '-'])
    world.run('range of o is Opened retrieve into All (o.Times) where o.Process = "Worker:a#*"')
    wait_for('all doors are on in a', lambda: switched_objects(world, 'a') == ['1', '2', '3'] or
             enabled(world, 'Opened', 'a'))
    equal('doors of b', switched_objects(world, 'b'), [])
    wait_for('Opened is off in b', lambda: enabled(world, 'Opened', 'b') is False)
    a.go()
    b.go()
    a.done()
    b.done()
    settled(world, 'Opened', 30)
    equal('generated by b', b.generated(), 0)
    wait_for('rows of All', lambda: world.count('All') == 30)
    wait_for('rows of Two', lambda: world.count('Two') == 10)
    world.run('destroy All')
    wait_for('what Door:2 has made', lambda: cells(world, 'Opened', 'a', 'Door:2')[4:6] == ['10', '0'])
    wait_for('Door:2 alone is on', lambda: switched_objects(world, 'a') == ['2'] and
             enabled(world, 'Opened', 'a') is False)


def names(world):
    """No two processes have the same epoch, and a new collector calls them as the old one did."""
    world.serve()
    a, b = world.ticker('a', 10), world.ticker('b', 10)
    for ticker in (a, b):
        ticker.give_epoch(1700000000000)
    world.collect()
    wait_for('two names', lambda: len(processes(world)) == 2)
    named = processes(world)
    equal('epochs', sorted(name.split('#')[1] for name in named), ['1700000000000', '1700000000001'])
    world.kill(world.collector)
    c = world.ticker('c', 10)
    c.give_epoch(1700000000000)
    world.collect()
    wait_for('three names', lambda: len(processes(world)) == 3)
    again = processes(world)
    equal('the same', [name for name in again if ':c#' not in name], named)
    equal('that of c', [name for name in again if ':c#' in name], ['Worker:c#1700000000002'])


def clockwork(world, name, count=1000):
    """A process of the other task force."""
    ticker = world.ticker_path
    world.ticker_path = os.path.join(os.path.dirname(ticker), 'clockwork')
    process = world.ticker(name, count)
    world.ticker_path = ticker
    return process


def task_forces(world):
    """Events of one name in two task forces are two relations, with all that goes with them."""
    a, = start(world, 'a')
    b = clockwork(world, 'b')
    world.known('Clockwork_Tick')
    shown = world.run('\\d Clockwork_Tick')
    expect('its domains: ' + shown, 'Count = i8' in shown and 'Number' not in shown)
    expect('whose it is: ' + shown, 'task force: Clockwork, its event Tick' in shown)
    expect('whose Tick is', 'task force: Ticker, its event Tick' in world.run('\\d Tick'))
    world.run('range of c is Clockwork_Tick retrieve into Counts (c.Count)')
    wait_for('Clockwork_Tick is on in b', lambda: enabled(world, 'Clockwork_Tick', 'b'))
    expect('Tick is off in a', enabled(world, 'Tick', 'a') is False)
    a.go()
    a.done()
    b.go()
    b.done()
    settled(world, 'Clockwork_Tick', 1000)
    equal('nothing of Tick', world.accounted('Tick'), 0)
    world.run('range of t is Tick retrieve into Ticks (t.Number) destroy Counts')
    wait_for('Tick is on in a', lambda: enabled(world, 'Tick', 'a'))
    wait_for('Clockwork_Tick is off in b', lambda: enabled(world, 'Clockwork_Tick', 'b') is False)
    more = [clockwork(world, 'c', 500), world.ticker('d', 500)]
    for process in more:
        process.go()
        process.done()
    settled(world, 'Tick', 500)
    equal('nothing more of Clockwork_Tick', world.count('Clockwork_Tick'), 1000)
    equal('rejected', world.count('Rejected'), 0)
    world.run('\\count Clockwork_Tick on')
    last = clockwork(world, 'e', 300)
    last.go()
    last.done()
    wait_for('e has counted 300', lambda: re.search(
        r'Worker:e#\S+ +Clockwork_Tick .*\b300\b', world.run('\\dr Clockwork_Tick')))
    expect('no others are counted', 'Worker:d#' not in world.run('\\dr Clockwork_Tick'))
    world.end(world.server)
    world.serve()
    b = clockwork(world, 'f', 200)
    world.run('range of c is Clockwork_Tick retrieve into Counts (c.Count)')
    wait_for('Clockwork_Tick is on in f', lambda: enabled(world, 'Clockwork_Tick', 'f'))
    b.go()
    b.done()
    settled(world, 'Clockwork_Tick', 1200)
    expect('the note: ' + world.said(), 'TQ-0778' in world.said())


def the_system(world):
    """The collector tells of the processes that it watches, to those who ask: periods, open as long as they are there."""
    a, = start(world, 'a')
    equal('nobody asks', world.count('SensorProcess'), 0)
    world.run('range of s is SensorProcess retrieve into Watched (s.Watched, s.TaskForce) where s.TaskForce = "Ticker"')

    def periods(where='1'):
        return sorted(name.split(':')[1].split('#')[0] for name, in
                      world.sql('select Watched from Watched where ' + where))
    wait_for('a is there', lambda: periods('stop_lo is null') == ['a'])
    b = clockwork(world, 'b')
    c = world.ticker('c', 1000)
    wait_for('c is there', lambda: periods('stop_lo is null') == ['a', 'c'])
    wait_for('all are told', lambda: world.sql(
        'select count(*) from SensorProcess where stop_lo is null') == [(4,)])
    a.kill()
    wait_for('a has ended', lambda: periods('stop_lo is null') == ['c'])
    # Before it has said who it is, a process is called by its number.
    equal('both', [name for name in periods() if not name.isdigit()], ['a', 'c'])
    pids = world.sql("select Pid from SensorProcess where Watched like 'Worker:c#%'")
    equal('its number', pids, [(c.process.pid,)])
    # Who was there while Tick had rows of him: joined by the name.
    world.run('range of s is SensorProcess range of t is Tick '
              'retrieve into Seen (s.Pid, t.Number) where s.Watched = t.Process')
    wait_for('Tick is on', lambda: enabled(world, 'Tick', 'c'))
    c.go()
    c.done()
    wait_for('all of c', lambda: world.count('Seen', 'Pid = %d' % c.process.pid) == 1000)
    # Programs that were there while records of them were lost.
    world.run('range of s is SensorProcess range of l is Lost retrieve into Losers '
              '(s.Watched, s.TaskForce, l.relation, l.count) where s.Watched = l.source when s overlap l')
    e = world.ticker('e', 200000)
    wait_for('Tick is on', lambda: enabled(world, 'Tick', 'e'))
    world.collector.send_signal(signal.SIGSTOP)
    e.go()
    e.done()
    world.collector.send_signal(signal.SIGCONT)
    wait_for('e has lost records', lambda: world.sql(
        "select distinct TaskForce, relation from Losers where Watched like 'Worker:e#%'") == [('Ticker', 'Tick')])
    world.run('destroy Losers destroy Seen destroy Watched')
    wait_for('it is off', lambda: 'SensorProcess' in world.run('\\ds') and
             world.sql('select count(*) from SensorProcess where stop_lo is null') == [(0,)])
    told = world.count('SensorProcess')
    b.kill()
    world.ticker('d', 1)
    wait_for('d is there', lambda: enabled(world, 'Tick', 'd') is not None)
    equal('nothing more', world.count('SensorProcess'), told)


def own_names(world):
    """A name says on which machine, and of which of its boots; it is the same whoever collects."""
    host = re.sub(r'[^-\w]', '_', os.uname().nodename.split('.')[0][:39], flags=re.ASCII)
    a, = start(world, 'a', count=300)
    first, = wait_for('a name', lambda: processes(world))
    expect(first, re.fullmatch(r'Worker:a#\d+@%s:[0-9a-f]{8}' % re.escape(host), first))
    world.end(world.collector)
    world.collect()
    wait_for('an old name', lambda: processes(world) == [first] and enabled(world, 'Tick', 'a') is False)
    world.run('range of o is Opened retrieve into Times (o.Door, o.Times) where o.Process = "%s"' % first)
    wait_for('Opened is on', lambda: enabled(world, 'Opened', 'a'))
    a.go()
    a.done()
    wait_for('30 times', lambda: world.count('Times') == 30)
    equal('names of objects', sorted({re.sub(r'\.\d+@', '@', door) for door, in world.sql('select Door from Times')}),
          ['Door:%d%s' % (door, first[len('Worker:a'):]) for door in (1, 2, 3)])
    boot = os.path.join(world.directory, 'boot')
    with open(boot, 'w') as file:
        file.write('01234567-89ab-cdef-0123-456789abcdef\n')
    elsewhere = [*apart('--mount'), 'sh', '-c',
                 'mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"', boot]
    world.end(world.collector)
    world.collect(within=elsewhere)
    other, = wait_for('another name', lambda: [n for n in processes(world) if n != first])
    equal('but for its mark', other.split(':')[:2], first.split(':')[:2])


def two_hosts(world):
    """Machines whose processes are called alike and began at the same time: each has its own periods."""
    a = start(world, 'a', count=300)[0]
    with World(world.tquel, world.ticker_path) as there:
        world.end(world.collector)
        b = there.ticker('a', 100)
        a.give_epoch(1700000000000, 1)
        b.give_epoch(1700000000000, 1)
        world.collect()
        there.collect('--connect', world.socket)
        named = wait_for('two names', lambda: len(processes(world)) == 2 and processes(world))
        equal('equal parts', len({name.split('@')[0] for name in named}), 1)
        world.run('range of p is Phase retrieve into Steps (p.Process, p.Step)')
        for name in named:
            wait_for('Phase is on', lambda: re.search(re.escape(name) + r' .*\bPhase .* on ', world.run('\\ds')))
        a.go()
        b.go()
        a.done()
        b.done()
        settled(world, 'Phase', a.generated() + b.generated())
        equal('phases', sorted(world.sql('select count(*) from Phase group by Process')), [(10,), (30,)])
        equal('open', world.count('Phase', 'stop_lo is null'), 2)
        b.end()
        wait_for('one is open', lambda: world.count('Phase', 'stop_lo is null') == 1)
        equal('lost', world.lost(), 0)
        a.end()


FIRST_PROCESS_SPACE = 0xEFFFFFFC  # sees all others
CONTAINER = ['--user', '--map-root-user', '--pid', '--fork', '--kill-child', '--mount-proc', '--uts']


def namespaces(world):
    """Programs in pid and user namespaces of their own are watched as others are, and their end is seen."""
    container = [*apart(*CONTAINER), *called('box.example.org')]
    unmapped = apart('--user')
    world.serve()
    unseen = world.ticker('unseen', 10, within=container)
    left = unseen.announcement()
    unseen.kill()
    if os.stat('/proc/self/ns/pid').st_ino != FIRST_PROCESS_SPACE:
        os.unlink(left)  # nobody could tell that it has ended
    world.collect()
    wait_for('what the dead has left is gone', lambda: not os.path.exists(left))
    tickers = [world.ticker('a', 300, within=container), world.ticker('b', 300, within=container),
               world.ticker('c', 300, within=unmapped)]
    world.known('Tick')
    world.run('range of t is Tick retrieve into Ticks (t.Number) range of p is Phase retrieve into Steps (p.Step)')
    for ticker in tickers:
        wait_for('Tick is on', lambda: enabled(world, 'Tick', ticker.name) and enabled(world, 'Phase', ticker.name))
        ticker.go()
        ticker.done()
    settled(world, 'Tick', 900)
    wait_for('phases', lambda: world.count('Phase') == 90)
    names = dict(world.sql('select Process, count(*) from Phase group by 1'))
    equal('phases', sorted(names.values()), [30, 30, 30])
    equal('hosts', sorted(re.sub(r'.*@(\w+):.*', r'\1', name) for name in names if ':c#' not in name), ['box', 'box'])
    equal('open', world.count('Phase', 'stop_lo is null'), 3)
    for number, ticker in enumerate(tickers):
        path = ticker.announcement()
        expect('a foreign announcement is there', os.path.exists(path))
        ticker.end() if number else ticker.kill()
        wait_for('it is gone', lambda: not os.path.exists(path))
        wait_for('the end', lambda: world.count('Phase', 'stop_lo is null') == len(tickers) - number - 1)
    equal('lost', world.lost(), 0)
    equal('said', [line for line in world.said().splitlines() if 'TQ-0' in line], [])


def left_alone(world, ticker, announcement):
    """The collector says once that it does not watch TICKER; the next one does."""
    wait_for('it is said', lambda: 'TQ-0883' in world.said())
    expect('by its name: ' + world.said(), os.path.basename(announcement) in world.said())
    expect('it is there', os.path.exists(announcement))
    equal('how often', world.said().count('TQ-0883'), 1)
    world.kill(world.collector)
    wait_for('it has gone', world.collector_gone)
    world.collect()
    world.known('Tick')
    world.run('range of t is Tick retrieve into Ticks (t.Number)')
    wait_for('Tick is on', lambda: enabled(world, 'Tick', ticker.name))
    ticker.go()
    ticker.done()
    settled(world, 'Tick', 1000)


def out_of_sight(world):
    """A program that the collector cannot see is said to be one, and left alone for who can."""
    within = apart(*CONTAINER)
    world.serve()
    a = world.ticker('a', 1000)
    announcement = a.announcement()
    world.collect(within=apart(*[option for option in CONTAINER if option != '--mount-proc']))
    expect('it collects without a /proc of its own', world.collector.wait(LIMIT) == 3)
    expect('said: ' + world.said(), 'TQ-0861' in world.said() and '/proc is not' in world.said())
    world.collect(within=within)
    wait_for('the collector knows itself', lambda: 'TquelCollector' in world.run('\\ds'))
    left_alone(world, a, announcement)


def not_to_be_read(world):
    """A program that the collector may not look at is said to be one, and left alone for who may."""
    within = apart('--user', '--map-root-user')
    world.serve()
    a = world.ticker('a', 1000)
    announcement = a.announcement()
    world.collect(within=within)
    left_alone(world, a, announcement)


def periods(world):
    """A traced event gives periods, and the last one ends with its process."""
    a, = start(world, 'a', count=300, pause_ns=100000)
    world.run('range of p is Phase retrieve into Phases (p.Step)')
    wait_for('Phase is on', lambda: enabled(world, 'Phase', 'a'))
    a.go()
    a.done()
    wait_for('30 phases', lambda: world.count('Phase') == 30)
    equal('open', world.count('Phase', 'stop_lo is null'), 1)
    a.end()
    wait_for('none is open', lambda: world.count('Phase', 'stop_lo is null') == 0)
    equal('gaps', world.sql('select count(*) from Phase a join Phase b on b.Step = a.Step + 1 '
                            'where a.stop_lo <> b.start_lo')[0][0], 0)
    wait_for('30 rows of the query', lambda: world.count('Phases') == 30)


def gaps(world):
    """What nobody looked at belongs to no period: they end where the sensor goes off."""
    a, = start(world, 'a', count=10**9, pause_ns=500000)
    a.go()
    for name in ('First', 'Second', 'Third'):
        rows = world.count('Phase')
        world.run('range of p is Phase retrieve into %s (p.Step)' % name)
        wait_for('phases', lambda: world.count('Phase') > rows + 3)
        wait_for('rows of ' + name, lambda: world.count(name) > 0)
        world.run('destroy ' + name)
        wait_for('Phase is off', lambda: enabled(world, 'Phase', 'a') is False)
        wait_for('no phase is open', lambda: world.count('Phase', 'stop_lo is null') == 0)
        passed = a.ledger.phases()
        wait_for('a gap', lambda: a.ledger.phases() > passed + 3)
    world.run('range of p is Phase retrieve into Fourth (p.Step)')
    rows = world.count('Phase')
    wait_for('phases', lambda: world.count('Phase') > rows)
    phases = world.sql('select Step, start_lo, stop_lo from Phase order by start_lo')
    pairs = list(zip(phases, phases[1:]))
    equal('gaps', sum(b[0] != a[0] + 1 for a, b in pairs), 3)
    equal('spanned', [a for a, b in pairs if b[0] != a[0] + 1 and not a[2] < b[1]], [])
    equal('torn', [a for a, b in pairs if b[0] == a[0] + 1 and a[2] != b[1]], [])
    wait_for('rows of Fourth', lambda: world.count('Fourth') >= len(phases))
    equal('differences', world.sql('select count(*) from Fourth f left join Phase p on '
                                   'p.start_lo = f.start_lo where p.stop_lo <> f.stop_lo')[0][0], 0)
    equal('late', world.count('Late'), 0)


def keys_of_their_own(world):
    """Two processes whose entities have equal keys: neither closes what the other one has open."""
    a = start(world, 'a', count=200, threads=3)[0]
    b = world.ticker('b', 200, 0, 2)
    world.run('range of x is Work retrieve into Times (x.Thread, x.Times)')
    wait_for('Work is on', lambda: enabled(world, 'Work', 'a') and enabled(world, 'Work', 'b'))

    def open_():
        return [(row[0], row[1].split('#')[0]) for row in
                world.sql('select Thread, Process from Work where stop_lo is null order by Process, Thread')]
    of_a = [(0, 'Worker:a'), (1, 'Worker:a'), (2, 'Worker:a')]
    of_b = [(0, 'Worker:b'), (1, 'Worker:b')]
    a.go()
    a.done()
    wait_for('all that a said', lambda: world.count('Work') == 60)
    equal('open', open_(), of_a)
    b.go()
    b.done()
    wait_for('all that b said', lambda: world.count('Work') == 100)
    wait_for('b has its own: %s' % open_(), lambda: open_() == of_a + of_b)
    mixed = 'select count(*) from Work x join Work y on x.Thread = y.Thread and x.Process = y.Process ' \
            'and x.start_lo < y.start_lo where x.stop_lo is null or x.stop_lo > y.start_lo'
    equal('periods of one entity that overlap', world.sql(mixed)[0][0], 0)
    a.end()
    wait_for('a is over: %s' % open_(), lambda: open_() == of_b)
    world.run('destroy Times')
    wait_for('b is off: %s' % open_(), lambda: open_() == [])
    equal('late', world.count('Late'), 0)


def keys_of_several(world):
    """Entities that several domains tell together, of two processes in which they are equal."""
    a = start(world, 'a', count=200, threads=2)[0]
    b = world.ticker('b', 200, 0, 1)
    world.run('range of x is Pair retrieve into Sides (x.Thread, x.Side, x.Times)')
    wait_for('Pair is on', lambda: enabled(world, 'Pair', 'a') and enabled(world, 'Pair', 'b'))

    def open_():
        return [(row[0].split('#')[0], *row[1:]) for row in
                world.sql('select Process, Thread, Side from Pair where stop_lo is null order by 1, 2, 3')]
    of_a = [('Worker:a', thread, side) for thread in range(2) for side in range(2)]
    of_b = [('Worker:b', 0, side) for side in range(2)]
    a.go()
    a.done()
    wait_for('all that a said', lambda: world.count('Pair') == 40)
    wait_for('a has what it said: %s' % open_(), lambda: open_() == of_a)
    b.go()
    b.done()
    wait_for('all that b said', lambda: world.count('Pair') == 60)
    wait_for('b has its own: %s' % open_(), lambda: open_() == of_a + of_b)
    torn = 'select count(*) from Pair x join Pair y on x.Thread = y.Thread and x.Side = y.Side and ' \
           'x.Process = y.Process and y.Times = x.Times + 1 where x.stop_lo is not y.start_lo'
    equal('periods that are not followed by the next one of their entity', world.sql(torn)[0][0], 0)
    a.end()
    wait_for('a is over: %s' % open_(), lambda: open_() == of_b)
    world.run('destroy Sides')
    wait_for('b is off: %s' % open_(), lambda: open_() == [])
    equal('late', world.count('Late'), 0)
    expect('it is said by what', 'by Side, Thread' in world.run('help Pair'))


def keys_filtered(world):
    """Of entities that several domains tell apart, those are left out that nobody asks for; none is left behind open."""
    a, = start(world, 'a', count=10**9, pause_ns=100000, threads=2)
    world.run('range of x is Pair retrieve into Zero (x.Thread, x.Times) where x.Side = 0 and x.Times >= 0')
    wait_for('Pair is on', lambda: enabled(world, 'Pair', 'a'))

    def stored(side):
        return world.sql('select count(*) from Pair where Side = %d' % side)[0][0]

    a.go()
    wait_for('one side alone', lambda: world.filtered('Pair') > 5 and stored(0) > 5)
    equal('of the other side', stored(1), 0)
    expect('it is said', 'filtered: Side = 0' in world.run('\\ds') and 'TQ-0370' in
           world.shell('range of x is Pair retrieve (x.Times)').stderr.decode())
    world.run('range of x is Pair retrieve into Sides (x.Thread, x.Side)')
    wait_for('both sides', lambda: stored(1) > 5)
    world.run('destroy Sides')
    before = stored(0)
    wait_for('it goes on', lambda: stored(0) > before + 20)
    a.enough()
    a.done()
    wait_for(lambda: 'the account (%d, %d)' % (a.generated(), world.accounted('Pair')),
             lambda: a.generated() == world.accounted('Pair'))
    last = 'select Thread, Side, max(Times), max(Times) filter (where stop_lo is null) from Pair group by 1, 2'
    latest = {(thread, side): times for thread, side, times, _ in world.sql(last)}
    expect('the last of each side: %s' % world.sql(last), all(latest[thread, 0] - latest[thread, 1] <= 1 for thread in range(2)))
    torn = 'select count(*) from Pair x join Pair y on x.Thread = y.Thread and x.Side = y.Side and ' \
           'x.Process = y.Process and y.Times = x.Times + 1 where x.stop_lo is not y.start_lo'
    equal('periods that are not followed by the next one of their entity', world.sql(torn)[0][0], 0)
    world.run('destroy Zero')
    wait_for('Pair is off', lambda: world.sql('select count(*) from Pair where stop_lo is null') == [(0,)])


def keys_with_objects(world):
    """An object of the key is switched off: all that it has open ends, and what others have goes on."""
    a, = start(world, 'a', count=600)
    for door in (1, 2, 3):
        world.run('range of x is Turn retrieve into Of%d (x.Side, x.Times) where x.Door = "Door:%d#*"' % (door, door))
    wait_for('the doors are on', lambda: switched_objects(world, 'a') == ['1', '2', '3'] or enabled(world, 'Turn', 'a'))
    a.go()
    a.done()
    wait_for('all turns', lambda: world.count('Turn') == 60)

    def open_():
        return [(row[0].split('#')[0], row[1]) for row in
                world.sql('select Door, Side from Turn where stop_lo is null order by 1, 2')]
    sides = [('Door:%d' % door, side) for door in (1, 2, 3) for side in range(2)]
    wait_for('each side of each door: %s' % open_(), lambda: open_() == sides)
    world.run('destroy Of2')
    wait_for('Door:2 is off: %s' % open_(), lambda: open_() == [x for x in sides if x[0] != 'Door:2'])
    a.ledger.away(1)
    wait_for('Door:1 is gone: %s' % open_(), lambda: open_() == [x for x in sides if x[0] == 'Door:3'])
    a.end()
    wait_for('a is over: %s' % open_(), lambda: open_() == [])
    torn = 'select count(*) from Turn x join Turn y on x.Door = y.Door and x.Side = y.Side and ' \
           'y.Times = x.Times + 2 where x.stop_lo <> y.start_lo'
    equal('periods that are not followed by the next one of their entity', world.sql(torn)[0][0], 0)
    equal('late', world.count('Late'), 0)


def taken_over(world):
    """What a killed collector had told of ends when the next one comes: nobody looked in between."""
    a, = start(world, 'a', count=10**9, pause_ns=500000)
    world.run('range of p is Phase range of o is Opened '
              'retrieve into Phases (p.Step) retrieve into Doors (o.Door, o.Times)')
    wait_for('Phase is on', lambda: enabled(world, 'Phase', 'a'))
    a.go()
    for round_ in range(2):
        rows = world.count('Opened'), world.count('Phase')
        wait_for('more rows', lambda: world.count('Opened') > rows[0] + 6 and world.count('Phase') > rows[1] + 6)
        world.kill(world.collector)
        passed = a.ledger.phases()
        wait_for('phases that nobody sees', lambda: a.ledger.phases() > passed + 3)
        world.collect()
    rows = world.count('Opened'), world.count('Phase')
    wait_for('more rows', lambda: world.count('Opened') > rows[0] + 6 and world.count('Phase') > rows[1] + 6)
    a.kill()
    wait_for('no phase is open', lambda: world.count('Phase', 'stop_lo is null') == 0)
    wait_for('no door is', lambda: world.count('Opened', 'stop_lo is null') == 0)
    for table, key, number in (('Phase', 'Process', 'Step'), ('Opened', 'Door', 'Times')):
        rows = world.sql('select %s, %s, start_lo, stop_lo from %s order by 1, 3' % (key, number, table))
        pairs = [(x, y) for x, y in zip(rows, rows[1:]) if x[0] == y[0]]
        spanned = [(x, y) for x, y in pairs if y[1] != x[1] + 1 and not x[3] < y[2]]
        # of what the dead one had taken and not passed on, Lost tells
        lost = world.sql("select start_lo, stop_hi from Lost where cause = 'collector'")
        equal('spanned', [(x, y) for x, y in spanned if not any(lo <= y[2] and x[2] <= hi for lo, hi in lost)], [])


def machine_lost(world):
    """Of a machine that nothing is heard of any more, nothing goes on; the others do."""
    a, = start(world, 'a', count=10**9, pause_ns=500000)
    world.run('set source grace 500 ms')
    here, there = world.environment, os.path.join(world.directory, 'there')
    os.makedirs(os.path.join(there, 'tquel'), 0o700)
    world.environment = dict(here, XDG_RUNTIME_DIR=there)
    far = world.spawn([world.tquel, 'collect', '--connect', world.socket])
    b = world.ticker('b', 10**9, 500000)
    world.environment = here
    wait_for('b is known', lambda: enabled(world, 'Phase', 'b') is not None)
    world.run('range of p is Phase retrieve into Phases (p.Process, p.Step)')
    wait_for('Phase is on', lambda: enabled(world, 'Phase', 'a') and enabled(world, 'Phase', 'b'))
    a.go()
    b.go()

    def of(name, where='1'):
        return world.count('Phase', "Process like 'Worker:%s#%%' and %s" % (name, where))
    wait_for('both', lambda: of('a') > 5 and of('b') > 5)
    world.kill(far)
    wait_for('b is given up', lambda: of('b', 'stop_lo is null') == 0)
    # What comes of a next may be from before the end of b, if its collector is behind.
    wait_for('a goes on, behind the end of b', lambda: world.sql(
        "select max(start_lo) > (select max(stop_lo) from Phase where Process like 'Worker:b#%') from Phase "
        "where Process like 'Worker:a#%'") == [(1,)])
    equal('periods of b that go on', of('b', 'stop_lo is null'), 0)


def sampled(world):
    """A sampled relation is sampled by the clock of the question."""
    a, = start(world, 'a', count=10)
    world.run('range of l is Load range of c is Clock(100 ms) '
              'retrieve into Waiting (l.Door, l.Waiting) when l overlap c at c')
    wait_for('three rounds', lambda: a.ledger.rounds() >= 3)
    wait_for('rows of three doors', lambda: world.sql('select count(distinct Door) from Load') == [(3,)])
    world.run('destroy Waiting')
    wait_for('Load is off', lambda: enabled(world, 'Load', 'a') is False)


EVERY = 100000000


def weigh(world, every='100 ms'):
    world.run('range of w is Weight range of c is Clock(' + every + ') '
              'retrieve into Weights (w.Process, w.Door, w.Grams) at c')


def weighed(world, after, doors='%'):
    """The ticks later than AFTER at which the weight of any of DOORS is certain, and of which doors it is then."""
    ticks = {}
    for at, door in world.sql("select at_lo, Door from Weights where definite and at_lo > %d and "
                              "Door like '%s'" % (after, doors)):
        ticks.setdefault(at, set()).add(door)
    return ticks


def weighs(world, count, doors='%', ticks=3):
    """Waits for some ticks, from now on, at which so many doors are certain. Returns the last one's."""
    after = time.time_ns()

    def found():
        good = [item for item in weighed(world, after, doors).items() if len(item[1]) == count]
        return len(good) >= ticks and max(good)
    return wait_for('%d ticks with %d doors' % (ticks, count), found)


def checkpoint(world, relation):
    """In ns since 1970; 0: there is none as yet."""
    text = re.search(r'checkpoint: *(\S*)', world.run('\\d ' + relation)).group(1)
    if text == 'beginning':
        return 0
    date, fraction = re.match(r'([-0-9T:]*)\.?(\d*)Z', text).groups()
    seconds = calendar.timegm(time.strptime(date, '%Y-%m-%dT%H:%M:%S'))
    return seconds * 10**9 + int((fraction + '0' * 9)[:9])


def goes_on(world, relation):
    """What happens now is complete in RELATION, sooner or later."""
    now = time.time_ns()
    wait_for('%s goes on behind %d (it is at %d)' % (relation, now, checkpoint(world, relation)),
             lambda: checkpoint(world, relation) > now)


def before(world, statement, cut):
    """What it retrieves, as far as it is over before CUT."""
    rows = [line.split(',') for line in world.run(statement).split()[1:]]
    return sorted(row for row in rows if row[3] != 'forever' and int(row[3]) < cut)


def sampled_objects(world):
    """Each object answers at each tick, for certain; what stands is what is found afterwards."""
    start(world, 'a')
    weigh(world)
    world.run('range of w is Weight retrieve into Plain (w.Door, w.Grams) '
              'retrieve into Number (n = count(w.Grams)) '
              'retrieve into Heavy (w.Door) where w.Grams >= 0')
    weighs(world, 3, ticks=10)
    goes_on(world, 'Number')
    equal('doors that weigh this and that', world.sql(
        'select at_lo, Door from Weights where definite group by 1, 2 having count(*) > 1'), [])
    equal('between ticks', world.sql('select count(distinct at_lo % 100000000) from Weights'), [(1,)])
    cut = time.time_ns()
    for relation in ('Plain', 'Number', 'Heavy'):
        goes_on(world, relation)
    weighs(world, 3)
    for relation, question in (('Plain', '(w.Door, w.Grams)'), ('Number', '(n = count(w.Grams))'),
                               ('Heavy', '(w.Door) where w.Grams >= 0')):
        stands = before(world, 'print ' + relation, cut)
        expect('rows of %s: %d' % (relation, len(stands)), len(stands) > 9)
        equal(relation, stands, before(world, 'range of w is Weight retrieve ' + question, cut))
    equal('weights at ticks', world.sql(
        'select count(*) from Weights a where definite and at_lo < %d and not exists (select 1 from Weight w '
        'where w.Door = a.Door and w.Grams = a.Grams and w.start_hi <= a.at_lo and w.stop_lo > a.at_lo)' % cut),
        [(0,)])
    equal('late', world.count('Late'), 0)
    world.run('destroy Weights destroy Plain destroy Number destroy Heavy')


def sampled_comings(world):
    """Objects that come and go, and one that does not come to its sensor, while the others go on."""
    a, = start(world, 'a')
    weigh(world)
    world.run('range of w is Weight retrieve into Number (n = count(w.Grams))')
    first, = [door for door in weighs(world, 3)[1] if door.startswith('Door:2#')]
    a.ledger.away(2)
    weighs(world, 2)
    goes_on(world, 'Number')
    weighs(world, 2)
    a.ledger.away(0)
    second, = [door for door in weighs(world, 3)[1] if door.startswith('Door:2#')]
    expect('another epoch: ' + second, second != first)
    a.ledger.unweighed(1)
    weighs(world, 2)
    goes_on(world, 'Weights')
    goes_on(world, 'Number')
    a.ledger.unweighed(7)
    goes_on(world, 'Weights')
    goes_on(world, 'Number')
    a.ledger.unweighed(0)
    weighs(world, 3)
    equal('late', world.count('Late'), 0)


def sampled_at_events(world):
    """Events of one relation have samples of another one taken: of all, of a process, and of an object that they name."""
    a, b = start(world, 'a', 'b', count=60, pause_ns=10**7)
    world.run('range of l is Load range of w is Weight range of o is Opened '
              'retrieve into Loads (l.Process, l.Door, o.Times) where l.Process = o.Process '
              'when l , o.start at o.start '
              'retrieve into Weights (w.Door, w.Grams, o.Times) where w.Door = o.Door when w , o.start at o.start')
    wait_for('Opened is on', lambda: enabled(world, 'Opened', 'a'))
    wait_for('Load is on', lambda: enabled(world, 'Load', 'a') and enabled(world, 'Load', 'b'))
    a.go()
    a.done()
    wait_for('all of a are there', lambda: world.count('Loads', 'definite') >= 15 and
             world.sql('select count(distinct at_lo) from Loads') == [(6,)])
    equal('what b has opened', world.count('Loads', "Process like 'Worker:b#%'"), 0)
    # What is known for sure of an event is what the samples around it say.
    equal('doors at the events', world.sql('select count(*) from Loads group by at_lo'), [(3,)] * 6)
    equal('samples not behind an event', world.sql(
        'select count(*) from Loads e where definite and not exists (select 1 from Load l where '
        'l.Door = e.Door and l.start_hi <= e.at_lo and e.at_lo < l.stop_lo)'), [(0,)])
    text = world.run('\\ds')
    expect(text, 'triggered: Load by 6 tuples' in text and 'triggered: Weight by 6 tuples' in text)
    # Each weight that an event had taken is a certain point behind it.
    equal('events without a weight behind them', world.sql(
        'select count(*) from (select distinct at_lo, Door from Weights) e where not exists (select 1 from Weight w '
        'where w.Door = e.Door and w.start_hi > e.at_lo)'), [(0,)])
    # A network that is built anew, and a server that begins anew, ask for nothing that has been asked for.
    world.run('range of o is Opened retrieve into More (o.Times)')
    wait_for('all is there once more', lambda: world.count('More') == 6)
    text = world.run('\\ds')
    expect(text, 'triggered: Load by 6 tuples' in text and 'triggered: Weight by 6 tuples' in text)
    world.kill(world.server)
    world.serve()
    wait_for('the collector is there', lambda: enabled(world, 'Load', 'a'))
    text = world.run('\\ds')
    expect(text, 'triggered:' not in text)
    b.go()
    b.done()
    wait_for('all of b are there', lambda: world.sql("select count(distinct at_lo) from Loads where "
                                                     "Process like 'Worker:b#%'") == [(6,)])
    # An event that a user writes is one, too; what it finds does not wait for another one.
    world.run('create event Look (Why = text) range of k is Look range of w is Weight '
              'retrieve into Looks (w.Door, k.Why) when w , k at k')
    world.run('append to Look (Why = "now") at now')
    wait_for('all doors', lambda: world.sql('select count(distinct Door) from Looks') == [(6,)])
    equal('late', world.count('Late'), 0)
    equal('rejected', world.count('Rejected'), 0)


def sampled_again(world):
    """The only program dies; another one comes behind the first tick at which nobody was there, before the next."""
    every = 4 * 10**9
    a, = start(world, 'a')
    weigh(world, '4 s')
    tick = weighs(world, 3, ticks=1)[0]
    a.kill()
    killed = time.time_ns()
    first = tick + ((killed - tick) // every + 1) * every
    time.sleep((first - killed) / 1e9 + 0.5)
    world.ticker('b', 10)
    weighs(world, 3, ticks=1)
    equal('of the dead', world.sql("select count(*) from Weights where definite and at_lo > %d and "
                                   "Process like 'Worker:a#%%'" % (killed + every)), [(0,)])


def sampled_processes(world):
    """Two programs; one is stopped, goes on, and dies; then the other one dies."""
    a, b = start(world, 'a', 'b')
    weigh(world)
    world.run('range of l is Load range of c is Clock(100 ms) retrieve into Loads (l.Process, l.Door) at c '
              'range of w is Weight retrieve into Number (n = count(w.Grams))')

    def loaded(name):
        now = time.time_ns()
        wait_for('loads of ' + name, lambda: world.count(
            'Loads', "definite and at_lo > %d and Process like 'Worker:%s#%%'" % (now, name)) >= 9)
    weighs(world, 6)
    loaded('b')
    b.process.send_signal(signal.SIGSTOP)
    weighs(world, 3)
    for relation in ('Number', 'Weights', 'Loads'):
        goes_on(world, relation)
    weighs(world, 3)
    loaded('a')
    b.process.send_signal(signal.SIGCONT)
    loaded('b')
    weighs(world, 6)
    b.kill()
    weighs(world, 3)
    killed = time.time_ns()
    loaded('a')
    for relation in ('Number', 'Weights', 'Loads'):
        goes_on(world, relation)
    a.kill()
    for relation in ('Number', 'Weights', 'Loads'):
        goes_on(world, relation)
    equal('of the dead', world.sql("select count(*) from Weights where definite and at_lo > %d and "
                                   "Process like 'Worker:b#%%'" % killed), [(0,)])
    c = world.ticker('c', 10)
    weighs(world, 3)
    c.go()
    c.done()
    c.end()
    equal('late', world.count('Late'), 0)


def sampled_in_phase(world):
    """Programs of two collectors are sampled at the same ticks, also after restarts, and by whatever clock."""
    start(world, 'a')
    here, there = world.environment, os.path.join(world.directory, 'there')
    os.makedirs(os.path.join(there, 'tquel'), 0o700)
    world.environment = dict(here, XDG_RUNTIME_DIR=there)
    world.spawn([world.tquel, 'collect', '--connect', world.socket])
    world.ticker('b', 10)
    weigh(world, '500 ms')
    weighs(world, 6, ticks=3)
    world.ticker('c', 10)
    world.environment = here
    weighs(world, 9)
    # On a busy machine the first samples of who comes may be behind a promise that was made while they were under way.
    equal('late, of who was there', world.sql("select * from Late where record not like '%Worker:c#%'"), [])
    expect('late, of who comes', world.count('Late') <= 3)
    world.kill(world.collector)  # for whom nobody waits; its next one may be late
    world.collect()
    weighs(world, 9)
    world.kill(world.server)
    world.serve()
    weighs(world, 9)
    world.run('range of w is Weight range of c is Clock(1 s) '
              'retrieve into Slow (w.Process, w.Door, w.Grams) at c')
    since = time.time_ns()
    wait_for('the slow clock', lambda: world.sql(
        'select count(*) from (select at_lo from Slow where definite and at_lo > %d group by 1 having count(*) = 9)' % since) > [(3,)])
    goes_on(world, 'Weights')
    goes_on(world, 'Slow')
    equal('where they tick', world.sql('select distinct at_lo % 500000000 from Weights'), [(0,)])
    equal('where the slow one ticks', world.sql('select distinct at_lo % 1000000000 from Slow'), [(0,)])
    equal('what only the slow one has seen', world.sql(
        'select count(*) from Slow s where definite and at_lo > %d and not exists (select 1 from Weights w where definite and '
        'w.at_lo = s.at_lo and w.Door = s.Door and w.Grams = s.Grams)' % since), [(0,)])


def computed_objects(world):
    """Objects that another query finds are those that are watched."""
    a, b = start(world, 'a', 'b', count=10**9, pause_ns=2000000)
    world.run('range of p is Phase retrieve into AtWork (p.Process) '
              'where p.Step >= 1 and p.Process = "Worker:a#*" '
              'range of u is AtWork range of t is Tick '
              'retrieve into Ticks (t.Number) where t.Process = u.Process')
    wait_for('Phase is on in a', lambda: enabled(world, 'Phase', 'a'))
    wait_for('Tick is off in a', lambda: enabled(world, 'Tick', 'a') is False)
    a.go()
    b.go()
    wait_for('Tick is on in a', lambda: enabled(world, 'Tick', 'a'))
    wait_for('rows', lambda: world.count('Tick') > 0)
    a.enough()
    b.enough()
    a.done()
    b.done()
    equal('rows of b', world.count('Tick', "Process like 'Worker:b#%'"), 0)


def compensated(world):
    """What the sensors of a process cost is measured, and taken out of its periods."""
    a, = start(world, 'a', count=1000, pause_ns=50000)
    world.run('range of t is Tick range of p is Phase '
              'retrieve into Ticks (t.Number) retrieve into Phases (p.Step)')
    wait_for('Tick is on', lambda: enabled(world, 'Tick', 'a'))
    a.go()
    a.done()
    wait_for('costs', lambda: len(world.sql('select distinct Relation from SensorCost')) == 2)
    world.run('set compensate on range of p is Phase '
              'retrieve into Corrected (p.Step) where p.Process = "Worker:b#*"')
    b = world.ticker('b', 1000, 50000)
    wait_for('Tick is on in b', lambda: enabled(world, 'Tick', 'b'))
    wait_for('Phase is on in b', lambda: enabled(world, 'Phase', 'b'))
    b.go()
    b.done()
    b.end()
    a.end()
    wait_for('all phases', lambda: world.count('Corrected', 'stop_lo is not null') == 100)
    costs = dict(re.findall(r'(Tick|Phase) (\d+)', world.run('\\d Corrected').split('compensate')[1]))
    tick, phase = int(costs['Tick']), int(costs['Phase'])
    expect('costs: %r' % costs, tick > 0 and phase > 0)
    rows = world.sql(
        'select p.Step, (p.stop_lo - p.start_lo) - (c.stop_lo - c.start_lo), (select count(*) from '
        'Tick t where t.Process = p.Process and t.at_lo >= p.start_lo and t.at_lo < p.stop_lo) '
        "from Phase p join Corrected c on c.start_lo = p.start_lo where p.Process like 'Worker:b#%'")
    equal('phases', len(rows), 100)
    for step, taken, ticks in rows:
        equal('ns taken out of phase %d' % step, taken, phase + ticks * tick)


def collector_killed(world):
    """kill -9 of the collector: what it had taken and not passed on is counted."""
    a, = start(world, 'a', count=10**9, pause_ns=50000, threads=2)
    world.run('range of t is Tick retrieve into Ticks (t.Number)')
    wait_for('Tick is on', lambda: enabled(world, 'Tick', 'a'))
    a.go()
    for round_ in range(3):
        rows = world.count('Tick')
        wait_for('more rows', lambda: world.count('Tick') > rows + 1000)
        world.kill(world.collector)
        world.collect()
    rows = world.count('Tick')
    wait_for('more rows', lambda: world.count('Tick') > rows + 1000)
    a.enough()
    a.done()
    generated = a.generated()
    expect('generated: %d' % generated, 3000 < generated <= a.ledger.after())
    a.end()
    settled(world, 'Tick', generated)


def ended_unseen(world):
    """A program that outlives its collector and ends before the next one comes is accounted for."""
    a, = start(world, 'a', count=10**9, pause_ns=50000, threads=2)
    world.run('range of t is Tick retrieve into Ticks (t.Number)')
    wait_for('Tick is on', lambda: enabled(world, 'Tick', 'a'))
    a.go()
    wait_for('rows', lambda: world.count('Tick') > 1000)
    world.kill(world.collector)
    before = a.ledger.after()
    wait_for('more is generated', lambda: a.ledger.after() > before + 100)
    a.enough()
    a.done()
    generated = a.generated()
    a.end()
    world.collect()
    b = world.ticker('b', 10)  # whose collector promises that nothing older will come
    wait_for('Tick is on in b', lambda: enabled(world, 'Tick', 'b'))
    b.go()
    b.done()
    settled(world, 'Tick', generated + 10)
    expect('something is lost', world.lost() > 0)


def server_killed(world):
    """kill -9 of the server: nothing that was acknowledged is lost, nothing comes twice."""
    a, = start(world, 'a', count=10**9, pause_ns=50000, threads=2)
    world.run('range of t is Tick retrieve into Ticks (t.Number, t.Thread)')
    wait_for('Tick is on', lambda: enabled(world, 'Tick', 'a'))
    a.go()
    for round_ in range(3):
        rows = world.count('Tick')
        wait_for('more rows', lambda: world.count('Tick') > rows + 1000)
        world.kill(world.server)
        world.serve()
    a.enough()
    a.done()
    generated = a.ledger.after()
    a.end()
    settled(world, 'Tick', generated)
    equal('twice', world.sql('select count(*) - count(distinct Number * 2 + Thread) from Tick'),
          [(0,)])


def program_killed(world):
    """kill -9 of the program: one record a thread may have been in the making."""
    a, = start(world, 'a', count=10**9, pause_ns=50000, threads=3)
    world.run('range of t is Tick retrieve into Ticks (t.Number)')
    wait_for('Tick is on', lambda: enabled(world, 'Tick', 'a'))
    a.go()
    wait_for('rows', lambda: world.count('Tick') > 5000)
    a.kill()
    low, high = a.ledger.after(), a.ledger.before()
    wait_for(lambda: 'the account (%d to %d; %d, lost %d)' %
             (low, high, world.accounted('Tick'), world.lost()),
             lambda: low <= world.accounted('Tick') <= high)


def overload(world):
    """More than can be taken: what is missing is counted, to the record."""
    a, = start(world, 'a', count=400000, threads=2)
    world.run('range of t is Tick retrieve into Ticks (t.Number) where mod(t.Number, 1000) = 0')
    wait_for('Tick is on', lambda: enabled(world, 'Tick', 'a'))
    a.go()
    a.done()
    a.end()
    settled(world, 'Tick', 800000, 5 * LIMIT)


def lose_some(world, relation, domain, lacks):
    """Of a alone records of RELATION are lost, and LACKS says so. Afterwards it compares the periods with what is
    lost, those of a program and a value of DOMAIN one after the other, and yields those of b, of which nothing is."""
    a, = start(world, 'a', count=10**9, pause_ns=-3000)
    b = world.ticker('b', count=300, pause_ns=100000)  # its ring has room for all
    world.run('range of w is %s retrieve into Times (t = w.Thread, v = w.%s, w.Times)' % (relation, domain))
    wait_for(relation + ' is on', lambda: enabled(world, relation, 'a') and enabled(world, relation, 'b'))
    world.collector.send_signal(signal.SIGSTOP)
    b.go()
    b.done()
    a.go()
    wait_for('more than its ring holds', lambda: a.ledger.after() > 200000)
    world.collector.send_signal(signal.SIGCONT)
    wait_for('records behind what is lost', lambda: world.sql(
        'select max(Times) - min(Times) + 1 > count(*) from %s where %s' % (relation, lacks)) == [(1,)])
    a.enough()
    a.done()
    wait_for(lambda: 'the account (%d, %d)' % (a.generated() + b.generated(), world.accounted(relation)),
             lambda: a.generated() + b.generated() == world.accounted(relation))

    def tuples(setting):
        shown = world.shell('%s range of w is %s retrieve (w.Process, w.%s, w.Times)' % (setting, relation, domain),
                            '--format', 'csv')
        cells = [line.split(',') for line in shown.stdout.decode().splitlines()[1:]]
        # (program, value, number, is its stop certain?), as they follow each other
        return sorted((c[5].split('#')[0], int(c[6]), int(c[7]), c[2] == c[3]) for c in cells), shown.stderr.decode()

    for setting, certain in (('', False), ('set losses ignored', True)):
        found, said = tuples(setting)
        gaps = [x for x, y in zip(found, found[1:]) if x[:2] == y[:2] and y[2] != x[2] + 1]
        expect('there are gaps', gaps)
        equal('those before gaps, %s' % setting, [x for x in gaps if x[3] != certain], [])
        equal('the note, %s' % setting, 'TQ-0351' in said, not certain)
        yield setting, [x for x in found if x[0] == 'Worker:b']


def sampled_in_overload(world):
    """More than can be taken of what holds is sampled, unless somebody counts it or lets it be lost; and is uncertain."""
    world.serve()
    world.collect('--ring', '4')
    a = world.ticker('a', count=10**10, pause_ns=400, threads=2)
    world.known('Work')
    world.run('range of w is Work retrieve into Times (t = w.Thread, w.Times)')
    wait_for('Work is on', lambda: enabled(world, 'Work', 'a'))
    a.go()

    def state(wanted):
        wait_for('Work is %s' % wanted, lambda: cells(world, 'Work', 'a', '')[3].startswith(wanted))
    state('sampled')
    expect('it says since when', re.search(r'sampled .*since 20\S+Z', cells(world, 'Work', 'a', '')[3]))
    world.run('range of w is Work retrieve into Many (n = count(w by w.Thread))')
    state('on')
    world.run('destroy Many')
    state('sampled')
    world.run('set overload lose')
    state('on')
    world.run('set overload always')
    state('sampled')
    wait_for('both are seen', lambda: len(world.sql('select distinct Thread from Work')) == 2)
    a.enough()
    a.done()
    state('on')
    a.end()
    works = sum(-(-count // 10) for count in a.ledger.each())
    wait_for(lambda: 'the account (%d, %d, %d)' % (works, world.accounted('Work'), world.sampled()),
             lambda: works == world.accounted('Work') + world.sampled())
    expect('what was passed over is in Lost', world.sampled() > 0)
    shown = world.shell('range of w is Work retrieve (w.Thread, w.Times)', '--format', 'csv')
    found = sorted((int(c[5]), int(c[6]), c[2] == c[3])
                   for c in (line.split(',') for line in shown.stdout.decode().splitlines()[1:]))
    gaps = [x for x, y in zip(found, found[1:]) if x[0] == y[0] and y[1] != x[1] + 1]
    expect('there are gaps', gaps)
    equal('those before gaps that are certain', [x for x in gaps if x[2]], [])
    expect('the note', re.search(rb'Work: \d+ records lost \(\d+ as sensors were sampled\)', shown.stderr))
    wrong = world.shell('set overload never', check=False)
    expect('never is refused: ' + wrong.stderr.decode(), b'TQ-0321' in wrong.stderr)


def sampled_and_taken_over(world):
    """What a sampled program passes over while nobody reads it is lost from the last promise on, not from the next reader on."""
    world.serve()
    world.collect('--ring', '4')
    a = world.ticker('a', count=10**10, pause_ns=400)
    world.known('Work')
    world.run('range of w is Work retrieve into Times (t = w.Thread, w.Times)')
    wait_for('Work is on', lambda: enabled(world, 'Work', 'a'))
    a.go()
    wait_for('it is sampled', lambda: cells(world, 'Work', 'a', '')[3].startswith('sampled'))
    wait_for('records', lambda: world.count('Work') > 0)
    world.kill(world.collector)
    time.sleep(1.5)
    before = world.count('Work')
    world.collect('--ring', '4')
    wait_for('records again', lambda: world.count('Work') > before)
    wait_for('it is sampled again', lambda: cells(world, 'Work', 'a', '')[3].startswith('sampled'))
    a.enough()
    a.done()
    generated = a.generated()  # but for what was passed over
    a.end()
    wait_for(lambda: 'the account (%d, %d)' % (generated, world.accounted('Work')),
             lambda: generated == world.accounted('Work'))
    times = [row[0] for row in world.sql('select start_lo from Work order by start_lo')]
    gap = max(zip(times, times[1:]), key=lambda pair: pair[1] - pair[0])
    expect('nobody was there for a while: %r' % (gap,), gap[1] - gap[0] > 10**9)
    known = gap[0]
    for low, high in sorted(world.sql('select start_lo, stop_hi from Lost')):
        if low <= known:
            known = max(known, high)
    expect('all of %r is in Lost, not only up to %d' % (gap, known), known >= gap[1] - 10**8)  # it may not have run


def uncertain_where_lost(world):
    """What records that were lost may have ended has no certain stop in what is looked at; that of others has one."""
    for setting, others in lose_some(world, 'Work', 'Thread', 'true'):
        equal('the last of others alone is open, %s' % setting, [x[3] for x in others],
              [True] * (len(others) - 1) + [False])


def uncertain_of_several(world):
    """The same where several domains tell together whose a record is."""
    for setting, others in lose_some(world, 'Pair', 'Side', 'Side = 0'):
        equal('the last of each of others alone is open, %s' % setting, [x for x in others if not x[3]],
              [('Worker:b', 0, 14, False), ('Worker:b', 1, 14, False)])


def all_final(world, what, generated):
    """What waits for others is nowhere to be seen: all is to be stored, late, rejected or lost in the end."""
    wait_for('the account of %s (%d generated, %d found, %d wait)' %
             (what, generated(), world.accounted('Tick'), world.count('tq_pending')),
             lambda: world.accounted('Tick') == generated())
    equal('late, ' + what, world.count('Late'), 0)


def numbers(world):
    """What PerProcess says of each process, by its minor name."""
    rows = world.sql('select Process, n from PerProcess')
    return {re.sub('Worker:|#.*', '', process): n for process, n in rows}


def ask_how_many(world):
    world.run('range of t is Tick retrieve summary into PerProcess (t.Process, n = count(t by t.Process)) '
              'retrieve summary into Whole (n = count(t))')


def left(tickers, world):
    """What each program has generated, less what was lost of it."""
    lost = dict(world.sql('select source, sum("count") from "Lost" group by 1'))
    known = {re.sub('Worker:|#.*', '', source): count for source, count in lost.items()}
    return {ticker.name: ticker.generated() - known.get(ticker.name, 0) for ticker in tickers}


def counted(world):
    """Who asks how many records there are has their number, whoever is killed; who asks for them beside agrees."""
    both = start(world, 'a', 'b', count=10**9, pause_ns=50000, threads=2)
    ask_how_many(world)
    for ticker in both:
        wait_for('Tick is on', lambda: enabled(world, 'Tick', ticker.name))
        ticker.go()
    expect('it is said: ' + world.run('\\ds'), ', counted' in world.run('\\ds'))

    def more(what):
        before = dict(world.sql('select source, count from tq_filtered'))
        wait_for('more is counted, ' + what, lambda: world.sql('select count(*) from tq_filtered where count > 500 + %d' %
                                                               max(before.values(), default=0)) == [(2,)])
    more('at first')
    for _ in range(2):
        world.kill(world.collector)
        world.collect()
        more('by another collector')
        world.kill(world.server)
        world.serve()
        more('by another server')
    equal('records that are stored', world.count('Tick'), 0)
    world.run('range of t is Tick retrieve into Ticks (t.Number)')
    wait_for('records', lambda: world.count('Ticks') > 1000)
    filtered = world.filtered('Tick')
    wait_for('more records', lambda: world.count('Ticks') > 2000)
    equal('what is counted beside them', world.filtered('Tick'), filtered)
    world.run('destroy Ticks')
    more('without records')
    for ticker in both:
        ticker.enough()
        ticker.done()
    generated = sum(ticker.generated() for ticker in both)
    wait_for(lambda: 'the account: %d, %d' % (generated, world.accounted('Tick')),
             lambda: world.accounted('Tick') == generated)
    wait_for(lambda: 'numbers %r are %r' % (numbers(world), left(both, world)),
             lambda: numbers(world) == left(both, world))
    total = str(sum(numbers(world).values()))
    equal('in all', world.sql('select n from Whole'), [(int(total),)])
    once = world.run('range of t is Tick retrieve summary (n = count(t))')
    expect('asked once %s: %r' % (total, once), total in re.split(r'\W+', once))
    said = world.shell('range of t is Tick retrieve (t.Number) where t.Number < 0').stderr.decode()
    expect('who asks for them is told: ' + said, 'TQ-0370' in said)
    for ticker in both:
        ticker.end()
    world.end(world.server)
    checked = subprocess.run([world.tquel, 'check-database', world.database], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    equal('the file is in order: ' + checked.stdout.decode(), checked.returncode, 0)


def counted_off(world):
    """Sensors are off when nobody asks how many any more; a program that is killed, or ends at once, is counted."""
    a, = start(world, 'a', count=10**9, pause_ns=50000, threads=2)
    ask_how_many(world)
    wait_for('Tick is on', lambda: enabled(world, 'Tick', 'a'))
    brief = 0
    for number in range(10):
        path = os.path.join(world.directory, 'brief-%d' % number)
        ledger = Ledger(path)
        ledger[0] = 1  # it does not wait
        process = world.spawn([world.ticker_path, 'brief', path, '5', '0', '1'])
        while not ledger[3]:
            expect('a brief program ends', process.poll() is None)
        ledger[1] = 1
        process.wait(LIMIT)
        equal('passes', ledger.after(), 5)
        brief += 5
    wait_for(lambda: 'brief programs: %r, lost %d' % (world.sql('select n from Whole'), world.lost()),
             lambda: world.accounted('Tick') == brief and world.sql('select n from Whole') == [(brief - world.lost(),)])
    a.go()
    wait_for('it is counted', lambda: numbers(world).get('a', 0) > 1000)
    a.kill()
    low, high = a.ledger.after(), a.ledger.before()
    wait_for(lambda: 'the account (%d to %d; %d, lost %d)' % (low, high, world.accounted('Tick') - brief, world.lost()),
             lambda: low <= world.accounted('Tick') - brief <= high)
    wait_for('the number', lambda: world.sql('select n from Whole') == [(world.filtered('Tick'),)])
    b = world.ticker('b', 10**9, 50000)
    b.go()
    wait_for('b is counted', lambda: numbers(world).get('b', 0) > 100)
    equal('records that are stored', world.count('Tick'), 0)
    world.run('destroy PerProcess destroy Whole')
    wait_for('Tick is off', lambda: enabled(world, 'Tick', 'b') is False)
    generated = b.generated()
    expect('more is passed', wait_for('passes', lambda: b.ledger.after() > generated + 100))
    equal('generated', b.generated(), generated)


def last_records(world):
    """The last records before nobody asks any more become final, whatever ends then."""
    a, = start(world, 'a', count=10**9, pause_ns=200000)
    a.go()

    def ask(name):
        rows = world.count('Tick')
        world.run('range of t is Tick retrieve into %s (t.Number)' % name)
        wait_for('rows of ' + name, lambda: world.count('Tick') > rows + 100)

    def off():
        wait_for('Tick is off', lambda: enabled(world, 'Tick', 'a') is False)

    for number in range(4):
        ask('Q%d' % number)
        world.run('destroy Q%d' % number)
        off()
        all_final(world, 'query %d' % number, a.generated)
    ask('Server')
    world.end(world.server)
    world.serve()
    world.run('destroy Server')
    off()
    all_final(world, 'a server that ended', a.generated)
    ask('Program')
    announcement = open(a.announcement(), 'rb')
    a.end()
    world.run('destroy Program')
    generated = a.generated(announcement)
    all_final(world, 'a program that ended', lambda: generated)
    b = world.ticker('b', 10**9, 200000)
    b.go()
    ask('Both')
    announcement = open(b.announcement(), 'rb')
    world.end(world.collector)
    world.end(world.server)
    generated += b.generated(announcement)
    b.kill()
    world.serve('--quiet')
    all_final(world, 'collector and server that ended', lambda: generated)
    world.collect()
    c = world.ticker('c', 10**9, 200000)
    c.go()
    rows = world.count('Tick')
    wait_for('rows of c', lambda: world.count('Tick') > rows + 100)
    world.kill(world.collector)
    world.end(world.server)
    waiting = world.count('tq_pending')
    world.serve('--quiet')
    wait_for('%d to be final' % waiting, lambda: not world.count('tq_pending'))
    announcement = open(c.announcement(), 'rb')
    c.end()
    generated += c.generated(announcement)
    world.collect()
    settled(world, 'Tick', generated)


SCENARIOS = [nobody_asks, a_question, only_what_is_asked, later_processes, on_and_off, checkpoints,
             counting, collector_stopped, a_display, objects, objects_of_a_process, names,
             periods, gaps, keys_of_their_own,
             counted, counted_off, taken_over, machine_lost, sampled, computed_objects, compensated, collector_killed,
             ended_unseen, server_killed, program_killed, overload, sampled_in_overload, sampled_and_taken_over,
             uncertain_where_lost, last_records]


SCENARIOS += [keys_of_several, keys_filtered, keys_with_objects, uncertain_of_several]


SCENARIOS += [task_forces, the_system, own_names, two_hosts, namespaces, out_of_sight, not_to_be_read]


SCENARIOS += [sampled_at_events, sampled_objects, sampled_comings, sampled_again, sampled_processes, sampled_in_phase]


def main(scenarios):
    tquel, ticker = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    chosen = [s for s in scenarios if not sys.argv[3:] or s.__name__ in sys.argv[3:]]
    print('1..%d' % len(chosen))
    failures = 0
    for number, scenario in enumerate(chosen, 1):
        with World(tquel, ticker) as world:
            try:
                scenario(world)
                print('ok %d - %s' % (number, scenario.__doc__))
            except Skipped as reason:
                print('ok %d - %s # SKIP %s' % (number, scenario.__doc__, reason))
            except Exception as error:  # a scenario may fail in any way; the others run all the same
                failures += 1
                print('not ok %d - %s' % (number, scenario.__doc__))
                text = traceback.format_exc() if not isinstance(error, Failed) else str(error)
                for line in (text + '\n' + world.said()).splitlines():
                    print('# ' + line)
        sys.stdout.flush()
    return failures > 0


if __name__ == '__main__':
    sys.exit(main(SCENARIOS))
