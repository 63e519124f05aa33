#!/usr/bin/env python3
"""Feeds of a session of its own, while the disk is full: nothing is lost, doubled or counted wrongly.

The limit on the size of files that the program may write is taken away and given back while it runs. Prints TAP.
    full_disk_test.py TQUEL
"""
import os
import random
import resource
import subprocess
import sys
import tempfile
import time

FULL, PATIENCE = 150000, 300
COUNT = 20000


def records(first, behind):
    """Of texts that nothing can be packed of: they are not all logged where there is no room."""
    digits = random.Random(first)
    return ''.join(f'{i},{i},{digits.getrandbits(160):040x}\n' for i in range(first, behind))


class World:
    """A database in FOLDER that is fed from SOURCE, by a program that can be given no room."""

    def __init__(self, tquel, folder, source):
        self.tquel, self.folder = tquel, folder
        self.path, self.errors = os.path.join(folder, 'a.db'), os.path.join(folder, 'errors')
        self.look('create event E (x = i4, s = text)', '--timeline', 'abstract')
        with open(self.errors, 'w') as errors:
            self.session = subprocess.Popen(
                [tquel, self.path, '-c', f'copy E from "{source}" following'],
                stdin=subprocess.PIPE, stderr=errors, cwd=folder)

    def look(self, text, *options):
        ran = subprocess.run([self.tquel, self.path, *options, '--format', 'csv',
                              '-c', text], capture_output=True, text=True)
        return ran.stdout if ran.returncode == 0 else ran.stderr

    def room(self, there):
        size = resource.RLIM_INFINITY if there else FULL
        resource.prlimit(self.session.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    def said(self):
        with open(self.errors) as errors:
            return errors.read()

    def until(self, condition, what):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.session.poll() in (None, 0):
            if condition():
                return
            time.sleep(0.05)
        if condition():
            return
        raise AssertionError(f'{what}: {self.said()}')

    def until_said(self, word):
        self.until(lambda: word in self.said(), f'says {word}')

    def send(self, text, last=False):
        """As much as goes into the pipe may have to wait for the reader."""
        def feed():
            self.session.stdin.write(text.encode())
            self.session.stdin.flush()
            if last:
                self.session.stdin.close()
        if os.fork() == 0:
            try:
                feed()
            except BrokenPipeError:
                pass
            os._exit(0)
        if last:
            os.close(os.dup2(os.open(os.devnull, os.O_WRONLY), self.session.stdin.fileno()))

    def count(self):
        """Tuples, and what did not become one."""
        self.look('checkpoint 1000000 for E')
        return [self.look(f'print {name}').count('\n') - 1
                for name in ('E', 'Late', 'Rejected', 'Lost')]


def equal(value, wanted, what=''):
    if value != wanted:
        raise AssertionError(f'{value!r}, where {wanted!r} was expected; {what}')


def pipe(world):
    """standard input: reading stops, goes on by itself, and everything is there at its end"""
    world.room(False)
    world.send('at,x,s\n' + records(1, COUNT), last=True)
    world.until_said('warning TQ-0626')
    world.room(True)
    equal(world.session.wait(PATIENCE), 0, world.said())
    said = world.said()
    equal((said.count('TQ-0626'), said.count('TQ-0627'), said.count('error TQ')), (1, 1, 0), said)
    equal(world.count(), [COUNT - 1, 0, 0, 0], said)


def ended(world):
    """one that is ended while there is no room: what it has read and not stored is counted"""
    world.room(False)
    world.send('at,x,s\n' + records(1, 1001))
    world.send(records(1001, COUNT))
    world.until_said('warning TQ-0626')
    world.session.terminate()
    world.session.wait(PATIENCE)
    said = world.said()
    lost = [int(line.split()[5]) for line in said.split('\n') if 'TQ-0628' in line]
    stored = world.count()[0]
    equal(len(lost), 1, said)
    equal(0 < lost[0] < COUNT - stored, True, f'{stored} stored, {said}')
    equal(world.look('print E').count('\n'), stored + 1, 'without a gap')


def rotated(world):
    """a file that is rotated while there is no room: the old one is read to its end, then the new one"""
    path = os.path.join(world.folder, 'e.csv')
    world.room(False)
    with open(path, 'a') as file:
        file.write(records(1, COUNT))
    world.until_said('warning TQ-0626')
    os.rename(path, path + '.1')
    with open(path, 'w') as file:
        file.write('at,x,s\n' + records(COUNT, COUNT + 5000))
    world.room(True)
    world.until(lambda: f'{COUNT + 4998},' in world.look('print E', '--readonly')[-200:], 'all of the new file')
    world.session.terminate()
    world.session.wait(PATIENCE)
    equal('error TQ' in world.said(), False, world.said())
    equal(world.count(), [COUNT + 4999, 0, 0, 0], world.said())


def main():
    cases = [(pipe, '-'), (ended, '-'), (rotated, 'e.csv')]
    print(f'1..{len(cases)}')
    for number, (case, source) in enumerate(cases, 1):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, 'e.csv'), 'w') as file:
                file.write('at,x,s\n')
            world = World(os.path.abspath(sys.argv[1]), folder, source)
            try:
                case(world)
                print(f'ok {number} - {case.__doc__}')
            except AssertionError as error:
                print(f'not ok {number} - {case.__doc__}')
                print('# ' + str(error).replace('\n', '\n# '))
            if world.session.poll() is None:
                world.session.kill()


main()
