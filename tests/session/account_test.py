"""The account of records, whoever is killed: rows + Late + Rejected + the sum of Lost.count = generated.

    account_test.py SESSION-SCRIPT [--count N] [--seed S]

A model of rings, collectors and a server: programs write numbered records into pipes; a collector reads some,
sends them in numbered messages, and releases them; it is killed with what it had read, and the next one
goes on where the pipe was released, perhaps repeating what its predecessor had not released yet; the
server is killed, and gets again what it had not acknowledged; sources close and come again. Rows are
sometimes late, sometimes bad. Prints TAP.
"""
import argparse
import pathlib
import random
import subprocess
import tempfile

SDF = """(taskforce (name PDE))
(event (name Note) (timestamp true) (relation event) (domains (domain (name N) (type doubleinteger))))
"""


class Server:
    def __init__(self, program, directory):
        self.program, self.directory, self.process = program, directory, None

    def start(self):
        self.process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        cwd=self.directory, text=True)
        self.say('open db real sensor')
        self.say('run 0 set source grace 1 ms')

    def say(self, line):
        self.process.stdin.write(line + '\nmark\n')
        self.process.stdin.flush()
        printed = []
        while (out := self.process.stdout.readline()) not in ('', '=\n'):
            printed.append(out.rstrip('\n'))
        return printed

    def kill(self):
        self.process.stdin.write('die\n')
        self.process.stdin.close()
        self.process.wait(300)


class World:
    def __init__(self, server, rng):
        self.server, self.rng = server, rng
        self.generated = self.at = 0
        self.pipes = {77 + i: {'written': 0, 'read': 0, 'released': 0, 'times': []} for i in range(3)}
        self.identity = 0
        self.dropped = {}  # declared losses, by pipe
        server.start()
        server.say('run 0 create persistent event Note (Process = name, N = i8)')
        self.new_collector()

    def connect(self):
        self.server.say(f'source c inc{self.identity}')
        self.server.say('describe c note.sdf')
        self.server.say('stream n c Note note.sdf')
        durable = self.server.say('durable c')[0]
        return int(durable.split()[1])

    def new_collector(self):
        self.identity += 1
        self.number, self.unacknowledged = 0, []
        for pipe in self.pipes.values():
            pipe['read'] = pipe['released']
        self.connect()
        for name, pipe in self.pipes.items():
            self.send([f'pipe c {name} P:p#{name} {pipe["released"]}'])

    def send(self, lines):
        self.number += 1
        message = (self.number, lines + [f'number c {self.number}'])
        self.unacknowledged.append(message)
        self.transmit(message)

    def transmit(self, message):
        """What a server does with a message."""
        known = 0
        for line in message[1]:
            if line.startswith('sequence'):
                known = int(self.server.say(line)[0].split()[1])
            elif line.startswith('row '):
                index, row = line.split(' ', 2)[1:]
                if int(index) >= known:
                    self.server.say('row n ' + row)
            else:
                self.server.say(line)

    def write(self):
        name = self.rng.choice(list(self.pipes))
        for _ in range(self.rng.randint(1, 5)):
            self.at += 1000
            self.generated += 1
            self.pipes[name]['written'] += 1
            self.pipes[name]['times'].append(self.at)

    def read(self):
        name = self.rng.choice(list(self.pipes))
        pipe = self.pipes[name]
        first = pipe['read']
        count = min(pipe['written'] - first, self.rng.randint(1, 8))
        if count == 0:
            return
        lines = [f'sequence c {name} {first} {count}']
        for i in range(count):
            process = 'bad' if self.rng.random() < 0.1 else f'P:p#{name}'
            lines.append(f'row {i} d {pipe["times"][first + i]} {process} {name * 100000 + first + i}')
        pipe['read'] += count
        self.send(lines)
        if self.rng.random() < 0.7:
            pipe['released'] = pipe['read']

    def drop(self):
        """The program finds its ring full: the record is counted, and has no number in the pipe."""
        name = self.rng.choice(list(self.pipes))
        self.generated += 1
        self.dropped[name] = self.dropped.get(name, 0) + 1
        self.send([f'loss c P:p#{name} Note full {self.dropped[name]} {self.at} {self.at + 10}'])

    def check(self):
        self.send([f'check c all {max(0, self.at - self.rng.randint(0, 9000))}'])
        self.server.say('turn')

    def acknowledge(self):
        durable = int(self.server.say('durable c')[0].split()[1])
        self.unacknowledged = [m for m in self.unacknowledged if m[0] > durable]

    def reconnect(self):
        durable = self.connect()
        for message in self.unacknowledged:
            if message[0] > durable:
                self.transmit(message)

    def kill_server(self):
        self.server.kill()
        self.server.start()
        self.reconnect()

    def break_connection(self):
        self.server.say('close c')
        self.reconnect()

    def kill_collector(self):
        self.server.say('close c')
        self.new_collector()

    def step(self):
        action = self.rng.choices(
            [self.write, self.read, self.drop, self.check, self.acknowledge, self.commit,
             self.kill_server, self.break_connection, self.kill_collector],
            [8, 10, 1, 4, 2, 1, 0.7, 0.5, 0.7])[0]
        action()

    def commit(self):
        self.server.say('commit')

    def counts(self):
        for name in self.pipes:
            while self.pipes[name]['read'] < self.pipes[name]['written']:
                self.read()
        self.send([f'check c all {self.at + 1000000}'])
        self.server.say('sleep 3')  # nobody is waited for any more
        self.server.say('turn')
        self.server.say('commit')
        result = {}
        for relation in ('Note', 'Late', 'Rejected', 'Lost'):
            rows = self.server.say(f'run 0 print {relation}')[1:]
            result[relation] = (sum(int(row.rsplit(',', 1)[1]) for row in rows)
                                if relation == 'Lost' else len(rows))
        return result


def run(program, seed, steps):
    with tempfile.TemporaryDirectory(prefix='tquel-account.') as directory:
        (pathlib.Path(directory) / 'note.sdf').write_text(SDF, encoding='utf-8')
        server = Server(program, directory)
        world = World(server, random.Random(seed))
        for _ in range(steps):
            world.step()
        counts = world.counts()
        server.kill()
        return world.generated, counts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('program')
    parser.add_argument('--count', type=int, default=4)
    parser.add_argument('--seed', type=int, default=1)
    arguments = parser.parse_args()
    program, failed = pathlib.Path(arguments.program).resolve(), 0
    print(f'1..{arguments.count}')
    for i in range(arguments.count):
        seed = arguments.seed + i
        generated, counts = run(program, seed, 150)
        good = generated == sum(counts.values())
        failed += not good
        print(f"{'ok' if good else 'not ok'} {i + 1} - seed {seed}: {generated} = {counts}")
    return 1 if failed else 0


if __name__ == '__main__':
    raise SystemExit(main())
