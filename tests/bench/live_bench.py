#!/usr/bin/env python3
"""Benchmark: from a sensor to an answer, over collector, server and network.

    live_bench.py TQUEL TICKER SENSORS_BENCH

How many records a second come from a program that waits for room into a standing query's count, beside what
goes through a ring from process to process, and a bare ring, in the same run (sensors_bench); and how long
it takes from an event to the line of a display, at 10,000 events a second with a checkpoint every
millisecond. Medians of several runs. Nothing may be lost. """
import json
import os
import re
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'endtoend'))
from world import World, wait_for  # noqa: E402

RUNS = 5
RECORDS = 5000000
LONG = 20000000  # more than the log has room for, so that the table has to follow
EVENTS, EVERY_NS = 30000, 100000


def median(values):
    values = sorted(values)
    return values[len(values) // 2]


def fail(text):
    print('live_bench: ' + text, file=sys.stderr)
    sys.exit(1)


def rings(bench):
    """Millions of records a second: to a reader, and through a bare ring."""
    output = subprocess.run([bench, '3'], stdout=subprocess.PIPE, check=True).stdout.decode()
    found = re.search(r'process to process: ([0-9.]+) M/s; bare ring ([0-9.]+) M/s', output)
    if not found:
        fail('sensors_bench says nothing of rings')
    return float(found.group(1)), float(found.group(2))


def throughput(tquel, ticker, records):
    """Seconds for so many records into an answer that is displayed; processor seconds of collector and server."""
    with World(tquel, ticker) as world:
        world.serve()
        world.collect()
        a = world.ticker('a', records, -1)
        a.ledger.unweighed(7)  # it does nothing but pass the sensor, as who writes to the bare ring
        world.known('Beat')
        world.run('range of b is Beat '
                  'retrieve into Thousands (n = count(b for ever)) where mod(b.Number, 1000) = 999 at b')
        shell = world.spawn([tquel, '--connect', world.socket, '--format', 'ndjson', '-c',
                             'display Thousands'], output=subprocess.PIPE)
        wait_for('Beat is on', lambda: re.search('Worker:a#.* Beat .* on ', world.run('\\ds')))
        time.sleep(0.5)  # the display has no other sign that it is there
        before = [processor(p) for p in (world.collector, world.server)]
        began = time.monotonic()
        a.go()
        lines = 0
        while lines < records // 1000:
            chunk = os.read(shell.stdout.fileno(), 1 << 20)
            if not chunk:
                fail('the display has ended')
            lines += chunk.count(b'\n')
        took = time.monotonic() - began
        used = [processor(p) - b for p, b in zip((world.collector, world.server), before)]
        wait_for('the last thousand', lambda: world.count('Thousands') == records // 1000, 600)
        if world.lost() or world.count('Late') or world.count('Rejected'):
            fail('records were lost')
        return took, used


def processor(process):
    """Processor seconds of a process, all of its threads."""
    used = 0
    for thread in os.listdir('/proc/%d/task' % process.pid):
        with open('/proc/%d/task/%s/schedstat' % (process.pid, thread)) as file:
            used += int(file.read().split()[0])
    return used / 1e9


def latencies(tquel, ticker):
    """Milliseconds from each event to its line."""
    with World(tquel, ticker) as world:
        world.serve()
        world.collect('--checkpoint', '1 ms')
        a = world.ticker('a', EVENTS, -EVERY_NS)
        world.known('Beat')
        world.run('range of b is Beat retrieve into Beats (b.Number)')
        shell = world.spawn([tquel, '--connect', world.socket, '--format', 'ndjson', '-c',
                             'display Beats'], output=subprocess.PIPE)
        wait_for('Beat is on', lambda: re.search('Worker:a#.* Beat .* on ', world.run('\\ds')))
        time.sleep(0.5)  # the display has no other sign that it is there
        chunks = []

        def read():
            while True:
                bytes_ = os.read(shell.stdout.fileno(), 1 << 20)
                chunks.append((time.time_ns(), bytes_))
                if not bytes_:
                    return
        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        a.go()
        wait_for('all lines', lambda: sum(c[1].count(b'\n') for c in chunks) >= EVENTS)
        rest, found = b'', []
        for arrived, bytes_ in chunks:
            lines = (rest + bytes_).split(b'\n')
            rest = lines.pop()
            for line in lines:
                found.append((arrived - json.loads(line)['at_lo']) / 1e6)
        return found


def main():
    tquel, ticker, bench = (os.path.abspath(path) for path in sys.argv[1:4])
    ring, bare = rings(bench)
    runs = [throughput(tquel, ticker, RECORDS) for _ in range(RUNS)]
    rate = RECORDS / median([took for took, _ in runs]) / 1e6
    collector = RECORDS / median([used[0] for _, used in runs]) / 1e6
    server = RECORDS / median([used[1] for _, used in runs]) / 1e6
    print('records from program to reader               %7.2f M/s' % ring)
    print('records through a bare ring                  %7.2f M/s' % bare)
    print('records from program to count                %7.2f M/s; of the reader %.2f, of the bare ring '
          '%.2f (at least 0.1)' % (rate, rate / ring, rate / bare))
    print('  a second of processor time of the collector %6.2f M, of the server %.2f M' %
          (collector, server))
    took, _ = throughput(tquel, ticker, LONG)
    print('  for long: %d million records at              %6.2f M/s' % (LONG // 1000000, LONG / took / 1e6))
    found = sorted(latencies(tquel, ticker))
    print('from event to displayed result, %d events/s, checkpoint 1 ms: median %.2f ms (below 5), '
          '99 %% %.2f ms, longest %.2f ms' % (10**9 // EVERY_NS, median(found),
                                              found[len(found) * 99 // 100], found[-1]))


main()
