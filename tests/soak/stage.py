"""What runs in a soak: a server, a collector, two programs, feeds from files and one through `tquel feed`."""
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'endtoend'))
from world import Failed, Ticker, World, wait_for  # noqa: E402
from feeds import Requests, States  # noqa: E402

QUESTIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'questions.tq')
STORED = ('Tick', 'Beat', 'Phase', 'Opened', 'Weight', 'Request', 'Rare', 'State')
DERIVED = ('Beside', 'Soon', 'Recent', 'Ever', 'Busy', 'Follows', 'Large', 'Either', 'Crowd', 'Crowded', 'Ticks',
           'Beats', 'Weighed')
KEPT = ('Tick', 'Beat', 'Phase', 'Opened', 'Request', 'State', 'Beside', 'Recent', 'Busy', 'Crowd', 'Crowded')
THREADS = 2
PATIENCE = 600.0 * float(os.environ.get("TEST_PATIENCE", "1"))  # a server that begins again reads all
NEVER = 4 * 10**18  # a checkpoint beyond says nothing


class Program(Ticker):
    """A ticker whose account can be read when it is gone."""

    def __init__(self, stage, kind, name, pause_ns):
        super().__init__(stage, name, 10**15, pause_ns, THREADS)
        self.kind, self.killed = kind, False
        self.account = open(self.announcement(), 'rb')

    def made(self):
        """Records that it generated, once it has ended."""
        if self.account:
            self.total, self.account = self.generated(self.account), None
        return self.total

    def passed(self):
        return self.ledger.after() + self.ledger.phases() + sum(self.ledger.opened(i) for i in range(3))


class Stage(World):
    def __init__(self, tquel, ticker, rate, chance, age=None):
        super().__init__(tquel, ticker)
        shutil.rmtree(self.directory)
        self.directory = tempfile.mkdtemp(prefix='tquel-soak-')
        self.database = os.path.join(self.directory, 'soak.db')
        self.socket = os.path.join(self.directory, 'tquel', 'server')
        os.mkdir(os.path.join(self.directory, 'tquel'), 0o700)
        self.environment = dict(os.environ, XDG_RUNTIME_DIR=self.directory, TMPDIR=self.directory)
        self.rate, self.keep, self.age = rate, False, age
        self.chance = random.Random(chance.random())
        self.programs, self.numbers, self.refused = [], {}, None
        self.feed = self.states = None
        self.files = []

    def __exit__(self, *_):
        for feed in self.feeds():
            feed.ended.set()
        for process in self.processes:
            if process.poll() is None:
                process.kill()
                process.wait()
        if not self.keep:
            shutil.rmtree(self.directory, ignore_errors=True)

    def log(self, name):
        return os.path.join(self.directory, name + '.log')

    def spawn(self, arguments, output=subprocess.DEVNULL, name='programs', **options):
        with open(self.log(name), 'ab') as errors:
            process = subprocess.Popen(arguments, env=self.environment, stdout=output, stderr=errors,
                                       cwd=self.directory, **dict({'stdin': subprocess.DEVNULL}, **options))
        self.processes = [p for p in self.processes if p.poll() is None] + [process]
        return process

    # --- beginning

    def serve(self, *options):
        self.server = self.spawn([self.tquel, 'serve', self.database, '--memory', '1024', '--statement-memory', '256',
                                  *options], name='server')
        wait_for('the server answers', self.answers, PATIENCE)
        # What a session that reads its relations keeps of them is no growth of what runs.
        self.shell('set cache 8')

    def follow(self):
        for feed in self.files:
            self.shell('copy %s from "%s" following within 100 ms' % (feed.relation, feed.path))

    def serve_again(self):
        self.serve()
        self.follow()

    def collect(self, *options):
        self.collector = self.spawn([self.tquel, 'collect', *options], name='collector')

    def program(self, kind):
        """The next program of KIND: a is one whose sensors discard what finds no room, b one whose sensors wait."""
        self.numbers[kind] = self.numbers.get(kind, 0) + 1
        each = int(1e9 * THREADS / (self.rate * 0.35))
        # What a sleep takes longer than it should is no matter: the rate is what comes of it.
        program = Program(self, kind, '%s%d' % (kind, self.numbers[kind]), -each if kind == 'b' else
                          max(each - 60000, 1))
        self.programs.append(program)
        program.go()

    def running(self, kind=None):
        return [p for p in self.programs if p.process.poll() is None and kind in (None, p.kind)]

    def begin(self):
        self.serve()
        self.collect()
        for kind in 'ab':
            self.program(kind)
        for relation in STORED[:5]:
            self.known(relation)
        self.shell('create event Request (id = i8, client = i4, size = i4) '
                   'create event Rare (id = i8, client = i4, size = i4) '
                   'create traced State (id = i8, client = i4, state = c8) by client')
        done = subprocess.run([self.tquel, '--connect', self.socket, '-f', QUESTIONS], env=self.environment,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)
        if done.returncode or done.stderr:
            raise Failed('the questions: %d, %s' % (done.returncode, done.stderr.decode()))
        self.keep_no_longer()
        for relation, rate in (('Request', self.rate * 0.1), ('Rare', min(20, self.rate * 0.1))):
            self.files.append(Requests(relation, os.path.join(self.directory, relation + '.csv'), rate,
                                       random.Random(self.chance.random())))
        self.follow()
        self.feed = self.spawn([self.tquel, 'feed', 'State', '--within', '100 ms'], name='feed',
                               output=open(self.log('feed-says'), 'wb'), stdin=subprocess.PIPE)
        self.states = States(self.feed.stdin, self.rate * 0.2, random.Random(self.chance.random()))
        for feed in self.feeds():
            feed.start()

    def feeds(self):
        return self.files + ([self.states] if self.states else [])

    # --- looking

    def look(self, query, *arguments):
        """Rows of one query; None while there is no database to be read."""
        try:
            connection = sqlite3.connect('file:%s?mode=ro' % self.database, uri=True, timeout=10)
            try:
                return connection.execute(query, arguments).fetchall()
            finally:
                connection.close()
        except sqlite3.OperationalError as error:
            if 'no such table' in str(error):
                return []
            return None

    def came(self):
        """Records and lines until now."""
        return sum(p.passed() for p in self.programs) + sum(feed.lines for feed in self.feeds())

    def keep_no_longer(self):
        """Else each restart reads more: a network is built anew from what is stored."""
        for name in KEPT if self.age else []:
            done = self.shell('modify %s to keep %s' % (name, self.age), check=False)
            if done.returncode:
                self.refused, self.age = done.stderr.decode().strip(), None
                return

    def removed(self, relation):
        """Tuples that went as they were old."""
        if not self.age:
            return 0
        return (self.look('select removed from tq_keep where relation = ?', relation) or [(0,)])[0][0]

    # --- ending

    def finish(self):
        """Ends all that brings records, waits until all is stored, and ends the rest."""
        for feed in self.feeds():
            feed.stop()
        self.states.pipe.close()
        wait_for('the feed of State to end', lambda: self.feed.poll() is not None, PATIENCE)
        for program in self.running():
            program.enough()
        for program in self.running():
            program.done()
            program.end()
        for feed in self.files:
            wait_for(feed.path + ' to be read', lambda: self.look(
                'select 1 from tq_feed where relation = ? and position = ?', feed.relation, feed.size()), PATIENCE)
        wait_for(lambda: 'nothing to wait: ' + repr(self.look('select relation, count(*) from tq_pending group by 1')),
                 lambda: self.look('select count(*) from tq_pending') == [(0,)],
                 PATIENCE)

    @staticmethod
    def end(process):
        process.send_signal(signal.SIGTERM)
        if process.wait(PATIENCE) != 0:
            raise Failed('a process that was ended in order ended with %d' % process.returncode)

    def end_all(self):
        """The exit statuses of feed, collector and server."""
        statuses = [self.feed.returncode]
        for process in (self.collector, self.server):
            process.send_signal(signal.SIGTERM)
            statuses.append(process.wait(PATIENCE))
        return statuses

    def left(self):
        """Processes that are still there, and files that should not be."""
        found = []
        for name in os.listdir('/proc'):
            try:
                with open('/proc/%s/environ' % name, 'rb') as file:
                    if name.isdigit() and ('XDG_RUNTIME_DIR=%s\0' % self.directory).encode() in file.read():
                        with open('/proc/%s/comm' % name) as command:
                            found.append('process %s (%s)' % (name, command.read().strip()))
            except OSError:
                continue
        own = '%d-' % self.collector.pid  # who comes next takes it away
        return found + [n for n in os.listdir(os.path.join(self.directory, 'tquel'))
                        if n.endswith('.sensors') and not n.startswith(own)] + \
            [n for n in os.listdir(self.directory) if n.endswith(('-wal', '-shm'))]
