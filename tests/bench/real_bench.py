#!/usr/bin/env python3
"""Benchmark: a program that everybody knows, with sensors: memcached, of Debian's sources.

    real_bench.py TQUEL LIBRARY INCLUDE DIRECTORY [--seconds N] [--runs N]

Fetches the sources into DIRECTORY, where they stay, and builds memcached as it is, and with sensors: its
own probes for DTrace (real/probes.h), nothing of it is changed. Then

- two of them run for N seconds (600), one asked a little all the time, the other one in bursts, with the
  collector halted in some of them, so that records are lost. What memcached counts itself (its command
  stats) must be what is stored and what is counted as lost, exactly, of each sensor;
- requests a second and the processor time of one, of memcached as it is, with sensors off, and with all on,
  interleaved, N times (20): medians.

Ends with 77, and the reason, where the sources cannot be had. """
import argparse
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'endtoend'))
from world import World, wait_for  # noqa: E402

RELATIONS = ('Command', 'Get', 'Store', 'Link', 'Unlink', 'Open')
ALL_ON = ' '.join('create persistent %s' % text for text in (
    'event Command (Process = name, Conn = i4, Line = text)',
    'event Get (Process = name, Conn = i4, Key = text, Bytes = i8)',
    'event Store (Process = name, Conn = i4, How = text, KeyLength = i4, Bytes = i8)',
    'event Link (Process = name, KeyLength = i4, Bytes = i8)',
    'event Unlink (Process = name, KeyLength = i4, Bytes = i8)',
    'traced Open (Process = name, Ticket = i8, Conn = i4) by Ticket'))
# A burst begins so often, and lasts so long; the collector is halted in every third for a while. Seconds.
EVERY, BURST, HALT = 10, 1, 0.3
RUN = 3  # seconds of load for one measurement


def fail(text, code=1):
    print('real_bench: ' + text, file=sys.stderr)
    sys.exit(code)


def do(arguments, directory, log):
    with open(log, 'ab') as file:
        if subprocess.run(arguments, cwd=directory, stdout=file, stderr=file, check=False).returncode:
            fail('%s failed: see %s' % (' '.join(arguments[:3]), log))


# --- memcached -------------------------------------------------------------------------------------

def fetch(directory):
    """The directory of the sources, from Debian's archive; apt looks at their signature."""
    top = os.path.join(directory, 'sources')
    if not os.path.exists(os.path.join(top, 'there')):
        shutil.rmtree(top, ignore_errors=True)
        os.makedirs(os.path.join(top, 'lists', 'partial'))
        with open(os.path.join(top, 'debian.sources'), 'w', encoding='ascii') as file:
            file.write('Types: deb-src\nURIs: http://deb.debian.org/debian\nSuites: bookworm\nComponents: main\n'
                       'Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n')
        apt = ['apt-get', '-q']
        for name, value in (('Dir::Etc::sourcelist', 'debian.sources'), ('Dir::Etc::sourceparts', '/dev/null'),
                            ('Dir::State::lists', 'lists'), ('Dir::Cache', 'cache'),
                            ('APT::Sandbox::User', 'root')):
            path = value if '/' in value or value == 'root' else os.path.join(top, value)
            apt += ['-o', '%s=%s' % (name, path)]
        for verb in (['update'], ['source', '--download-only', 'memcached']):
            done = subprocess.run(apt + verb, cwd=top, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            if done.returncode:
                print(done.stdout.decode('utf-8', 'replace'))
                fail('the sources of memcached cannot be had', 77)
        archive, = [name for name in os.listdir(top) if '.orig.tar' in name]
        do(['tar', 'xf', archive], top, os.path.join(directory, 'log'))
        with open(os.path.join(top, 'there'), 'w', encoding='ascii'):
            pass
    name, = [n for n in os.listdir(top) if n.startswith('memcached-') and os.path.isdir(os.path.join(top, n))]
    return os.path.join(top, name)


def probes(directory):
    """memcached_dtrace.h: our sensors, and nothing for the probes that have none."""
    with open(os.path.join(directory, 'trace.h'), encoding='utf-8') as file:
        names = re.findall(r'#define (MEMCACHED_\w+)\(([^)]*)\)', file.read())
    with open(os.path.join(directory, 'memcached_dtrace.h'), 'w', encoding='utf-8') as file:
        file.write('#include "probes.h"\n')
        for name, parameters in names:
            file.write('#ifndef %s\n#define %s(%s)%s\n#endif\n' %
                       (name, name, parameters, ' (0)' if name.endswith('_ENABLED') else ''))


def build(tquel, library, include, directory):
    """The paths of memcached as it is, and with sensors."""
    log = os.path.join(directory, 'log')
    sources = fetch(directory)
    plain, own = os.path.join(directory, 'plain'), os.path.join(directory, 'instrumented')
    if not os.path.exists(os.path.join(plain, 'memcached')):
        shutil.rmtree(plain, ignore_errors=True)
        shutil.copytree(sources, plain, copy_function=shutil.copy2)
        do(['./configure', '--disable-docs'], plain, log)
        do(['make', '-j2', 'memcached'], plain, log)
    shutil.rmtree(own, ignore_errors=True)
    shutil.copytree(plain, own, copy_function=shutil.copy2)
    for name in os.listdir(own):
        if name.endswith('.o') or name == 'memcached':
            os.remove(os.path.join(own, name))
    real = os.path.join(HERE, 'real')
    do([tquel, 'sdf', os.path.join(real, 'memcached.sdf'), '--header', 'memcached_sensors.h'], own, log)
    probes(own)
    do(['make', '-j2', 'memcached', 'CPPFLAGS=-DENABLE_DTRACE -I%s -I. -I%s' % (real, include),
        'LIBS=-levent %s' % library], own, log)
    return os.path.join(plain, 'memcached'), os.path.join(own, 'memcached')


class Cache:
    """A memcached, and a connection to it."""

    def __init__(self, world, path):
        user = ['-u', 'root'] if os.geteuid() == 0 else []
        for _ in range(20):  # somebody else may take the port meanwhile
            with socket.socket() as free:
                free.bind(('127.0.0.1', 0))
                self.port = free.getsockname()[1]
            self.process = world.spawn([path, *user, '-l', '127.0.0.1', '-p', str(self.port), '-m', '64', '-t', '2'])
            self.socket = wait_for('memcached answers', lambda: self.process.poll() is not None or self.connect())
            if self.process.poll() is None:
                break
        else:
            fail('memcached does not start')
        self.lines = self.socket.makefile('rb')

    def connect(self):
        try:
            return socket.create_connection(('127.0.0.1', self.port))
        except ConnectionRefusedError:
            return None

    def ask(self, request, end=(b'END\r\n', b'STORED\r\n', b'NOT_STORED\r\n', b'DELETED\r\n', b'NOT_FOUND\r\n')):
        self.socket.sendall(request)
        answer = []
        while not answer or answer[-1] not in end:
            line = self.lines.readline()
            if not line:
                fail('memcached has closed the connection')
            answer.append(line)
        return answer

    def stats(self):
        return {line.split()[1].decode(): line.split()[2].decode() for line in self.ask(b'stats\r\n')[:-1]}

    def load(self, seconds):
        """Requests a second by memcached's own load generator."""
        done = subprocess.run(['memcaslap', '-s', '127.0.0.1:%d' % self.port, '-T', '1', '-c', '8', '-t',
                               '%ds' % seconds], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        found = re.search(rb'TPS: (\d+)', done.stdout)
        if not found:
            fail('memcaslap: ' + done.stdout.decode('utf-8', 'replace'))
        return int(found.group(1))

    def processor(self):
        """Seconds, of all threads."""
        used = 0
        for thread in os.listdir('/proc/%d/task' % self.process.pid):
            with open('/proc/%d/task/%s/schedstat' % (self.process.pid, thread), encoding='ascii') as file:
                used += int(file.read().split()[0])
        return used / 1e9


def switch_on(world, *caches):
    """All sensors of all of them, from here on."""
    for relation in RELATIONS:
        world.known(relation)
    world.run(ALL_ON)

    def on():
        listed = world.run('\\ds')
        return all(len(re.findall(r'Cache:%d#\S+ .*\bon\b' % cache.process.pid, listed)) == len(RELATIONS)
                   for cache in caches)
    wait_for('all sensors are on', on)


# --- accounts --------------------------------------------------------------------------------------

def counted(before, after):
    """What memcached says that each sensor has passed, or None."""
    def grown(name):
        return int(after[name]) - int(before[name])
    return {'Get': grown('cmd_get'), 'Hit': grown('get_hits'), 'Miss': grown('get_misses'),
            'Store': grown('cmd_set'), 'Link': grown('total_items'),
            'Unlink': grown('total_items') - grown('curr_items'), 'Opened': grown('total_connections'),
            'Closed': grown('total_connections') - grown('curr_connections')}


# What of which relation is what memcached counts.
STORED = {'Get': ('Get', '1'), 'Hit': ('Get', 'Bytes >= 0'), 'Miss': ('Get', 'Bytes < 0'), 'Store': ('Store', '1'),
          'Link': ('Link', '1'), 'Unlink': ('Unlink', '1'), 'Opened': ('Open', 'start_lo > 0'),
          'Closed': ('Open', 'stop_hi < 9223372036854775807')}
ASKED = {'Get': 'range of g is Get retrieve (n = count(g for ever where g.Process = "%s")) at now',
         'Hit': 'range of g is Get retrieve (n = count(g for ever where g.Process = "%s" and g.Bytes >= 0)) at now',
         'Store': 'range of s is Store retrieve (n = count(s for ever where s.Process = "%s")) at now'}


def ask_a_little(cache, stop, asked):
    number = 0
    while not stop.is_set():
        key = b'key%d' % (number % 1000)
        if number % 3 == 0:
            cache.ask(b'set %s 0 0 5\r\nhello\r\n' % key)
        elif number % 101 == 0:
            cache.ask(b'delete %s\r\n' % key)
        else:
            cache.ask(b'get %s\r\n' % key)
        number += 1
        asked[0] = number
        time.sleep(0.002)


def burst(world, cache, seconds):
    """Bursts until then; the collector is halted in some, so that the rings are full."""
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        began = time.monotonic()
        load = threading.Thread(target=cache.load, args=(BURST,))
        load.start()
        if number % 3 == 0:
            time.sleep(BURST / 3)
            world.collector.send_signal(signal.SIGSTOP)
            time.sleep(HALT)
            world.collector.send_signal(signal.SIGCONT)
        load.join()
        number += 1
        time.sleep(max(0.0, min(began + EVERY, end) - time.monotonic()))


def accounts(tquel, path, seconds):
    with World(tquel, None) as world:
        world.serve()
        world.collect()
        calm, wild = Cache(world, path), Cache(world, path)
        switch_on(world, calm, wild)
        before = {cache: cache.stats() for cache in (calm, wild)}
        stop, asked = threading.Event(), [0]
        little = threading.Thread(target=ask_a_little, args=(calm, stop, asked))
        little.start()
        burst(world, wild, seconds)
        stop.set()
        little.join()
        print('%d s: the calm one was asked %d times' % (seconds, asked[0]))
        wrong = False
        for cache, name in ((calm, 'calm'), (wild, 'bursts')):
            said = counted(before[cache], cache.stats())
            process = re.search(r'Cache:%d#\S+' % cache.process.pid, world.run('\\ds')).group(0)
            for what, sql in STORED.items():
                wrong |= not account(world, name, process, what, sql, said[what])
            for what, text in ASKED.items():
                wrong |= not answer(world, name, process, what, text)
        late = world.count('Late'), world.count('Rejected')
        print('late %d, rejected %d' % late)
        if wrong or any(late):
            fail('the accounts are wrong')


def account(world, name, process, what, sql, said):
    """Is what memcached says what is stored and what is counted as lost? Some time later at most."""
    relation, where = sql
    tuples = [0, 0]

    def adds_up():
        tuples[0] = world.count(relation, '"Process" = \'%s\' and %s' % (process, where))
        rows = world.sql("select coalesce(sum(count), 0) from \"Lost\" where relation = '%s' and source like '%%%s%%'" %
                         (relation, process))
        tuples[1] = rows[0][0] if rows else 0
        # What is lost of a relation is lost of either of its kinds.
        return tuples[0] + tuples[1] == said or (where != '1' and tuples[0] <= said <= sum(tuples))
    end = time.monotonic() + 60
    while not adds_up() and time.monotonic() < end:
        time.sleep(0.2)
    good = adds_up()
    print('%-7s %-7s %10d, stored %10d, lost of %s %8d%s' %
          (name, what, said, tuples[0], relation, tuples[1], '' if good else '  WRONG'))
    return good


def answer(world, name, process, what, text):
    """Does TQuel count what is stored?"""
    relation, where = STORED[what]
    rows = world.run(text % process).splitlines()[1:]
    stored = world.count(relation, '"Process" = \'%s\' and %s' % (process, where))
    good = len(rows) == 1 and rows[0].split(',')[3] == str(stored)
    print('%-7s %-7s asked now: %s%s' % (name, what, ' '.join(rows) or 'no answer', '' if good else '  WRONG'))
    return good


# --- cost ------------------------------------------------------------------------------------------

def measure(cache):
    """Requests a second, and us of memcached's processor time for one."""
    before, asked = cache.processor(), cache.stats()
    rate = cache.load(RUN)
    after = cache.stats()
    requests = sum(int(after[n]) - int(asked[n]) for n in ('cmd_get', 'cmd_set'))
    return rate, (cache.processor() - before) / requests * 1e6


def cost(tquel, plain, path, runs):
    found = {'as it is': [], 'sensors, off': [], 'sensors, all on': []}
    with World(tquel, None) as world, World(tquel, None) as idle:
        world.serve()
        world.collect()
        caches = {'as it is': Cache(world, plain), 'sensors, off': Cache(idle, path),
                  'sensors, all on': Cache(world, path)}
        switch_on(world, caches['sensors, all on'])
        world.run(' '.join('modify %s to keep 1 s' % r for r in RELATIONS))
        for _ in range(runs):
            for name, cache in caches.items():
                found[name].append(measure(cache))
                time.sleep(0.5)
    base = [statistics.median(values) for values in zip(*found['as it is'])]
    for name, values in found.items():
        rate, used = (statistics.median(v) for v in zip(*values))
        lowest, highest = min(v[0] for v in values), max(v[0] for v in values)
        print('%-16s %8.0f requests/s (%d to %d), of as it is %.3f; %.2f us of processor each, %.3f' %
              (name, rate, lowest, highest, rate / base[0], used, used / base[1]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('paths', nargs=4)
    parser.add_argument('--seconds', type=int, default=600)
    parser.add_argument('--runs', type=int, default=20)
    options = parser.parse_args()
    tquel, library, include, directory = (os.path.abspath(path) for path in options.paths)
    for needed in ('memcaslap', 'make', 'apt-get'):
        if not shutil.which(needed):
            fail('there is no %s: ./dev bench real installs what is missing' % needed, 77)
    os.makedirs(directory, exist_ok=True)
    plain, path = build(tquel, library, include, directory)
    accounts(tquel, path, options.seconds)
    cost(tquel, plain, path, options.runs)


main()
