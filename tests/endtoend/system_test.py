#!/usr/bin/env python3
"""What the system says of itself as relations: what there is to watch, what is on, what receptacles and records have come
to. At an instant they say what \\ds and \\dr show then. Prints TAP.

    system_test.py TQUEL TICKER [SCENARIO...]
"""
import os
import re
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from endtoend_test import enabled, equal, expect, held, main, start, switched_objects  # noqa: E402
from world import wait_for  # noqa: E402

PERIODS = ('SensorTaskForce', 'SensorEvent', 'SensorObject', 'SensorOn')


def ask(world, relation, *domains, name=None):
    """A standing query of all that RELATION says."""
    world.run('range of s is %s retrieve into %s (%s)' % (
        relation, name or 'The' + relation, ', '.join('s.' + domain for domain in domains)))


def now(world, relation, columns, where='1'):
    """The tuples that are open, sorted."""
    return sorted(world.sql('select %s from %s where stop_lo is null and definite and %s' %
                            (columns, relation, where)))


def listed(world):
    """The rows of \\ds, by process, relation and object: a dictionary by the names of the columns."""
    heading, *lines = world.run('\\ds').splitlines()
    names = [name for name in ('process', 'relation', 'object', 'state', 'records', 'lost', 'per s', 'ns each',
                               'escaped', 'asked for by') if re.search(r'(^|  )%s(  |$)' % name, heading)]
    rows = {}
    for line in lines:
        if '#' not in line.split('  ')[0] or line.startswith('watched:'):
            continue
        if not re.match(r'\w+:\S+#\S+ +\w', line):
            continue
        ends = {name: heading.index(name) for name in names}
        row = {name: line[ends[name]:min(end for end in ends.values() if end > ends[name])].strip()
               for name in ('process', 'relation', 'object') if name in ends}
        row['state'] = re.match(r'(\S+( \S+)*)', line[ends['state']:]).group(1)
        if row['relation']:
            row['records'], row['lost'] = line[ends['state'] + len(row['state']):].split()[:2]
            rows[row['process'], row['relation'], row.get('object', '')] = row
    return rows


def what_is_there(world):
    """Task forces, sensors and objects are periods, from when somebody asks until they are gone."""
    a, = start(world, 'a')
    for relation in PERIODS:
        equal('nobody asks for ' + relation, world.count(relation), 0)
    ask(world, 'SensorTaskForce', 'TaskForce', 'Version', 'Description')
    ask(world, 'SensorEvent', 'Watched', 'Relation', 'TaskForce', 'Kind', 'Key', 'Domains')
    ask(world, 'SensorObject', 'Watched', 'Type', 'Object')

    def forces():
        return [name for name, in now(world, 'TheSensorTaskForce', 'TaskForce')]
    wait_for('two task forces', lambda: forces() == ['Collector', 'Ticker'])
    wait_for('all sensors of \\ds', lambda: sorted({key[:2] for key in listed(world)}) ==
             (now(world, 'TheSensorEvent', 'Watched, Relation') or None))
    described = [
        ('Beat', 'event', '', 'Process name, Number i8'),
        ('Load', 'sampled', 'Door', 'Process name, Door name, Waiting i4'),
        ('Opened', 'traced', 'Door', 'Process name, Door name, Times i4'),
        ('Pair', 'traced', 'Side, Thread', 'Process name, Thread i4, Side i4, Times i4'),
        ('Phase', 'traced', 'Process', 'Process name, Step i4'),
        ('Tick', 'event', '', 'Process name, Number i8, Thread i4'),
        ('Turn', 'traced', 'Door, Side', 'Process name, Door name, Side i4, Times i4'),
        ('Weight', 'sampled', 'Door', 'Process name, Door name, Grams i4'),
        ('Work', 'traced', 'Thread', 'Process name, Thread i4, Times i4')]
    equal('what they are', now(world, 'TheSensorEvent', 'Relation, Kind, Key, Domains', "TaskForce = 'Ticker'"),
          described)

    def doors(process='a', where='stop_lo is null'):
        return [re.sub('#.*', '', name) for name, in world.sql(
            "select Object from TheSensorObject where Type = 'Door' and Watched like 'Worker:%s#%%' and %s "
            'order by Object' % (process, where))]
    wait_for('three doors', lambda: doors() == ['Door:1', 'Door:2', 'Door:3'])
    a.ledger.away(2)
    wait_for('the second is away', lambda: doors() == ['Door:1', 'Door:3'])
    a.ledger.away(0)
    wait_for('and there again', lambda: doors() == ['Door:1', 'Door:2', 'Door:3'])
    equal('which is another one', len(doors(where='1')), 4)
    b = world.ticker('b', 1000)
    wait_for('the doors of b', lambda: len(doors('b')) == 3)
    a.kill()
    wait_for('a has no doors', lambda: doors() == [])
    wait_for('a has no sensors', lambda: not now(
        world, 'TheSensorEvent', 'Relation', "Watched like 'Worker:a#%'"))
    equal('b has', len(now(world, 'TheSensorEvent', 'Relation', "Watched like 'Worker:b#%'")), len(described))
    equal('the task force is there', forces(), ['Collector', 'Ticker'])
    b.kill()
    wait_for('no task force', lambda: forces() == ['Collector'])
    for relation in PERIODS[:3]:
        world.run('destroy The' + relation)
    for relation in PERIODS[:3]:
        wait_for(relation + ' has ended', lambda: not now(world, relation, '1'))


def what_is_on(world):
    """A sensor is on for a process or for objects: periods, and they are what \\ds shows."""
    a, b = start(world, 'a', 'b', count=300)

    def agrees():
        return now(world, 'SensorOn', 'Watched, Relation, Object') == sorted(
            key for key, row in listed(world).items() if row['state'] in ('on', 'going off'))
    ask(world, 'SensorOn', 'Watched', 'Relation', 'Object')
    wait_for('its own', lambda: [r for r, in now(world, 'SensorOn', 'Relation')] == ['SensorOn'])
    world.run('range of t is Tick retrieve into Ticks (t.Number) where t.Process = "Worker:a#*"')
    world.run('range of o is Opened retrieve into Twos (o.Times) where o.Door = "Door:2#*"')
    wait_for('the same as \\ds', lambda: len(now(world, 'SensorOn', '1')) == 4 and agrees())
    equal('objects', [re.sub('#.*', '', name) for name, in now(world, 'SensorOn', 'Object', "Object != ''")],
          ['Door:2', 'Door:2'])
    # All records of a sensor lie in the time that it was on.
    a.go()
    a.done()
    wait_for('all ticks', lambda: world.accounted('Tick') >= 300)
    world.run('destroy Ticks')
    wait_for('Tick is off', lambda: not now(world, 'SensorOn', '1', "Relation = 'Tick'"))
    equal('ticks while it was on', world.sql(
        'select count(*) from Tick t join SensorOn s on s.Watched = t.Process and s.Relation = \'Tick\' and '
        't.at_lo >= s.start_lo and t.at_hi < s.stop_lo'), [(world.count('Tick'),)])
    world.run('range of o is Opened retrieve into All (o.Times)')
    wait_for('for the processes now', lambda: [o for o, in now(
        world, 'SensorOn', 'Object', "Relation = 'Opened'")] == ['', ''] and agrees())
    world.run('destroy All')
    wait_for('and for the doors again', lambda: switched_objects(world, 'b') == ['2'] and agrees())
    b.ledger.away(2)
    wait_for('the door of b is away', lambda: len(now(world, 'SensorOn', '1', "Relation = 'Opened'")) == 1)
    b.ledger.away(0)
    wait_for('a new one', lambda: len(now(world, 'SensorOn', '1', "Relation = 'Opened'")) == 2 and agrees())
    # Nobody asks; then what is on is told anew.
    world.run('destroy TheSensorOn')
    wait_for('nothing is known', lambda: not now(world, 'SensorOn', '1'))
    rows = world.count('SensorOn')
    world.run('range of t is Tick retrieve into Ticks (t.Number)')
    wait_for('Tick is on', lambda: enabled(world, 'Tick', 'a'))
    equal('nothing is told', world.count('SensorOn'), rows)
    ask(world, 'SensorOn', 'Watched', 'Relation', 'Object')
    wait_for('all that is on', lambda: len(now(world, 'SensorOn', '1')) == 5 and agrees())


def objects_tell(world):
    """A join with SensorObject switches on the sensors of those processes that have such an object, while they do."""
    a, b = start(world, 'a', 'b', count=10)
    a.ledger.away(7)
    world.run('range of o is SensorObject range of t is Tick retrieve into Ticks (t.Number) '
              'where o.Type = "Door" and o.Watched = t.Process when t overlap o')
    wait_for('b is watched', lambda: enabled(world, 'Tick', 'b'))
    wait_for('a is not', lambda: enabled(world, 'Tick', 'a') is False)
    a.ledger.away(6)
    wait_for('a has a door', lambda: enabled(world, 'Tick', 'a'))
    b.ledger.away(7)
    wait_for('b has none', lambda: enabled(world, 'Tick', 'b') is False)
    a.go()
    b.go()
    a.done()
    b.done()
    wait_for('all of a', lambda: world.accounted('Tick') >= 10)
    equal('nothing of b', world.count('Tick', "Process like 'Worker:b#%'"), 0)


def switches_tell_nobody(world):
    """What SensorOn says, itself or through other queries, switches nothing: there is no circle."""
    start(world, 'a', 'b')
    ask(world, 'SensorOn', 'Watched', 'Relation', 'Object', name='Here')
    world.run('range of p is Phase retrieve into Phases (p.Step) where p.Process = "Worker:a#*"')
    world.run('range of h is Here range of t is Tick retrieve into Ticks (t.Number) '
              'where h.Relation = "Phase" and h.Watched = t.Process when t overlap h')
    world.run('range of s is SensorOn range of b is Beat retrieve into Beats (b.Number) '
              'where s.Relation = "Phase" and s.Watched = b.Process when b overlap s')
    for event in ('Tick', 'Beat'):
        for process in 'ab':
            wait_for('%s is on in %s' % (event, process), lambda: enabled(world, event, process))
    c = world.ticker('c', 1)

    def told(process):
        return [relation for relation, in world.sql("select Relation from SensorOn where Watched like 'Worker:%s#%%' "
                                                    'order by Relation' % process)]
    for process, relations in (('a', ['Beat', 'Phase', 'Tick']), ('b', ['Beat', 'Tick']), ('c', ['Beat', 'Tick'])):
        wait_for(lambda: 'what is on in %s: %r' % (process, told(process)), lambda: told(process) == relations)
    c.kill()
    world.kill(world.server)  # definitions are read again
    world.serve()
    d = world.ticker('d', 1)
    for event in ('Tick', 'Beat'):
        wait_for(event + ' is on in d', lambda: enabled(world, event, 'd'))
    d.kill()


def counters(world):
    """What receptacles hold, sampled at the clock of the question; they count while somebody asks."""
    a, b = start(world, 'a', 'b', count=1000)
    equal('nothing is counted', held(world, 'Phase', 'a')['']['counting'], 'off')
    world.run('range of s is SensorCount range of c is Clock(100 ms) retrieve into Counts '
              '(s.Watched, s.Relation, s.Object, s.Count, s.Missed, s.Sum, s.Mean, s.Deviation) '
              'when s overlap c at c')
    for relation in ('Tick', 'Phase', 'Opened'):
        wait_for(relation + ' is counted', lambda: all(
            row['counting'] == 'on' for row in held(world, relation, 'a').values()))
    a.go()
    a.done()

    def counted(relation, process='a'):
        """By object, at the last tick."""
        rows = world.sql(
            "select Object, Count, Missed, Sum, Mean, Deviation from Counts where Relation = '%s' and Watched like "
            "'Worker:%s#%%' and definite and at_lo = (select max(at_lo) from Counts)" % (relation, process))
        return {re.sub('#.*', '', name): cells for name, *cells in rows}

    def shown(relation):
        """The same of \\dr."""
        return {name: [int(row['count']), int(row['missed'])] + [
            float(row.get(column, 0)) for column in ('sum', 'mean', 'deviation')]
                for name, row in held(world, relation, 'a').items()}

    def same(relation):
        got, wanted = counted(relation), shown(relation)
        return got.keys() == wanted.keys() and all(
            got[name][:2] == wanted[name][:2] and
            all(abs(x - y) <= 1e-5 * abs(y) for x, y in zip(got[name][2:], wanted[name][2:])) for name in got)
    wait_for('ticks', lambda: counted('Tick').get('', [0])[0] == 1000)
    wait_for('phases', lambda: counted('Phase').get('') and counted('Phase')[''][2:4] == [4950, 49.5])
    for relation in ('Tick', 'Phase'):
        expect('%s: %r as in \\dr: %r' % (relation, counted(relation), shown(relation)), same(relation))
    wait_for(lambda: 'doors: %r as in \\dr: %r' % (counted('Opened'), shown('Opened')), lambda: same('Opened'))
    for door in range(3):
        equal('door %d' % (door + 1), counted('Opened')['Door:%d' % (door + 1)][0], a.ledger.opened(door))
    equal('no records', world.count('Tick') + world.count('Phase') + world.count('Opened'), 0)
    equal('ticks of the clock', world.sql('select count(distinct at_lo % 100000000) from Counts'), [(1,)])
    b.go()
    b.done()
    wait_for('all of b', lambda: world.sql(
        "select max(Count) from Counts where Relation = 'Tick' and Watched like 'Worker:b#%'") == [(1000,)])
    world.run('destroy Counts')
    for relation in ('Tick', 'Phase', 'Opened'):
        wait_for(relation + ' is counted no more', lambda: all(
            row['counting'] == 'off' for row in held(world, relation, 'a').values()))
    world.run('\\count Tick on')
    wait_for('by hand', lambda: held(world, 'Tick', 'a')['']['counting'] == 'on')
    equal('that alone', held(world, 'Phase', 'a')['']['counting'], 'off')


def records(world):
    """The records of each sensor, lost ones among them, sampled: as \\ds shows them; so rates can be asked for."""
    a, = start(world, 'a', count=200000)
    world.run('range of s is SensorRecords range of c is Clock(100 ms) retrieve into Totals '
              '(s.Watched, s.Relation, s.Object, s.Records, s.Lost, s.Escaped) when s overlap c at c')
    world.run('range of t is Tick retrieve into Ticks (t.Number)')
    world.run('range of o is Opened retrieve into Twos (o.Times) where o.Door = "Door:2#*"')
    wait_for('Tick is on', lambda: enabled(world, 'Tick', 'a'))
    wait_for('Door:2 is on', lambda: switched_objects(world, 'a') == ['2'])
    world.collector.send_signal(signal.SIGSTOP)
    a.go()
    a.done()
    world.collector.send_signal(signal.SIGCONT)

    def totals():
        """By relation and object, at the last tick."""
        return {(process, relation, name): [made, lost] for process, relation, name, made, lost in world.sql(
            'select Watched, Relation, Object, Records, Lost from Totals where definite and '
            "Watched like 'Worker:%' and at_lo = (select max(at_lo) from Totals)")}

    def shown():
        return {key: [int(row['records']), int(row['lost'])] for key, row in listed(world).items()
                if key[0].startswith('Worker:')}
    wait_for('losses', lambda: any(lost for _, lost in totals().values()))
    wait_for(lambda: 'totals as in \\ds: %r' % (sorted(
        [*key, *cells] for key, cells in {*map(lambda i: (i[0], tuple(i[1])), totals().items())} ^
        {*map(lambda i: (i[0], tuple(i[1])), shown().items())}),), lambda: totals() == shown())
    generated = [cells for key, cells in totals().items() if key[1] == 'Tick']
    expect('records and losses: %r' % generated, generated[0][0] == 200000 and generated[0][1] > 0)
    wait_for('lost is what Lost says', lambda: world.lost() == sum(lost for key, (_, lost) in totals().items()
                                                                   if key[2] == ''))
    expect('the door', any(key[2].startswith('Door:2#') for key in totals()))


def restarts(world):
    """Collector and server come again: what is told goes on, and nothing stays open of those that are gone."""
    a, = start(world, 'a')
    ask(world, 'SensorOn', 'Watched', 'Relation', 'Object')
    ask(world, 'SensorObject', 'Watched', 'Type', 'Object')
    world.run('range of p is Phase retrieve into Phases (p.Step)')

    def told():
        return now(world, 'TheSensorOn', 'Relation', "Watched like 'Worker:%'") == [('Phase',)] and \
            len(now(world, 'TheSensorObject', 'Object', "Type = 'Door'")) == 3
    wait_for('all is told', told)
    first = now(world, 'SensorOn', 'Process', "Relation = 'Phase'")
    world.kill(world.server)
    world.serve()
    wait_for('the server is there again', lambda: enabled(world, 'Phase', 'a'))
    b = world.ticker('b', 1)
    wait_for('and b', lambda: len(now(world, 'TheSensorOn', '1', "Relation = 'Phase'")) == 2)
    equal('one period of a', world.count('SensorOn', "Relation = 'Phase' and Watched like 'Worker:a#%'"), 1)
    b.kill()
    wait_for('b is gone', told)
    world.kill(world.collector)
    world.collect()
    wait_for('another collector', lambda: now(world, 'SensorOn', 'Process', "Relation = 'Phase'") not in ([], first))
    wait_for('tells all', told)
    world.end(world.collector)
    wait_for('it ends what it has told', lambda: not now(world, 'SensorOn', '1') and not now(world, 'SensorObject', '1'))
    world.collect()
    wait_for('the third', told)
    a.kill()
    wait_for('nothing is left', lambda: not now(world, 'TheSensorOn', '1', "Watched like 'Worker:%'"))


def counted_is_not_asked(world):
    """Who counts a sensor of the collector does not ask for what it says."""
    start(world, 'a')
    world.known('SensorOn')
    for relation in ('SensorOn', 'SensorProcess', 'SensorCount'):
        world.run('\\count %s on' % relation)

    def counted():
        return '  on  ' in ''.join(line for line in world.run('\\dr SensorCount').splitlines()
                                   if 'SensorCount' in line)
    wait_for('it is counted', counted)
    equal('others are not', held(world, 'Phase', 'a')['']['counting'], 'off')
    ask(world, 'SensorProcess', 'Watched')
    ask(world, 'SensorOn', 'Relation')
    wait_for('both processes', lambda: len(now(world, 'TheSensorProcess', 'Watched')) == 2)
    wait_for('what is on', lambda: now(world, 'TheSensorOn', 'Relation') == [('SensorOn',), ('SensorProcess',)])


def so_far(world):
    """A summary that stands has the value so far of each process, also of those that have gone, and when the server is killed."""
    a, b = start(world, 'a', 'b', count=1000)
    world.run('range of t is Tick retrieve summary into PerProcess (t.Process, n = count(t by t.Process), '
              'most = max(t.Number by t.Process), mean = avg(t.Number by t.Process)) '
              'retrieve summary into All (n = count(t))')
    for name in ('a', 'b'):
        wait_for('Tick is on in ' + name, lambda: enabled(world, 'Tick', name))

    def values():
        rows = world.sql('select Process, n, most, mean from PerProcess')
        return {re.sub('Worker:|#.*', '', process): rest for process, *rest in rows}
    a.go()
    a.done()
    full = [1000, 999, 499.5]
    wait_for(lambda: 'a: %r' % values(), lambda: values() == {'a': full})
    world.kill(world.server)
    world.serve()
    b.go()
    b.done()
    wait_for(lambda: 'a and b: %r' % values(), lambda: values() == {'a': full, 'b': full})
    c = world.ticker('c', 1000)
    wait_for('Tick is on in c', lambda: enabled(world, 'Tick', 'c'))
    c.go()
    c.done()
    for program in (a, b, c):
        program.end()
    wait_for(lambda: 'all: %r' % values(), lambda: values() == {'a': full, 'b': full, 'c': full})
    wait_for('the sum', lambda: world.sql('select n from "All"') == [(3000,)])
    equal('lost', world.lost(), 0)
    once = world.run('range of t is Tick retrieve summary (n = count(t))')
    expect('asked once: %r' % once, '3000' in re.split(r'\W+', once))


SCENARIOS = [so_far, what_is_there, what_is_on, objects_tell, switches_tell_nobody, counters, records, restarts,
             counted_is_not_asked]

if __name__ == '__main__':
    sys.exit(main(SCENARIOS))
