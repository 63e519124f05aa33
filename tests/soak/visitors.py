"""Those who come and go: shells, readers with SQL, and one who only asks how long a trivial statement takes."""
import random
import signal
import sqlite3
import subprocess
import threading
import time

STATEMENTS = [
    '\\d', '\\ds', '\\dn Ever', '\\d Tick', 'help Large', 'explain retrieve (x = 1)',
    'range of x is Large retrieve (n = count(x))',
    'range of x is Busy retrieve (x.client) when x , now',
    'range of x is Request retrieve (x.size) where x.id = 1000',
    'range of x is Crowd range of y is Follows retrieve (x.n, y.first) when x , y at y',
    'print Ticks', 'print Weighed',
    'create event Scratch (n = i4) append to Scratch (n = 1) at "now" destroy Scratch',
    'range of x is Ticks retrieve into Passing (x.n) where x.Thread = 0 destroy Passing',
    'range of x is Large retrieve (x.id) where x.size = 999',
    'set time limit 2 s range of x is Tick retrieve (n = countc(x by x.Thread), x.Number) where x.Thread = 1',
    'retrieve (x = 1 / 0)', 'retrieve what is this', 'print Nothing',
]


class Visitors(threading.Thread):
    def __init__(self, stage, chance, gap):
        super().__init__(daemon=True)
        self.stage, self.gap, self.chance = stage, gap, random.Random(chance.random())
        self.ended = threading.Event()
        self.count, self.failures = 0, []

    def run(self):
        try:
            while not self.ended.wait(self.chance.expovariate(1 / self.gap)):
                self.chance.choice((self.shell, self.shell, self.shell, self.display, self.sql))()
                self.count += 1
        except Exception as error:
            self.failures.append('a visitor: %r' % error)

    def stop(self):
        self.ended.set()
        self.join()

    def shell(self):
        """Runs to its end, is interrupted or killed."""
        statement = self.chance.choice(STATEMENTS)
        process = subprocess.Popen([self.stage.tquel, '--connect', self.stage.socket, '--format', 'csv', '-c',
                                    statement], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=self.stage.environment, cwd=self.stage.directory)
        end = self.chance.choice((None, None, signal.SIGINT, signal.SIGKILL))
        try:
            if end:
                time.sleep(self.chance.uniform(0, 0.2))
                process.send_signal(end)
            out, err = process.communicate(timeout=600)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            self.failures.append('a shell did not end: %s' % statement)
            return
        status = process.returncode
        if status not in (0, -signal.SIGKILL) and not err and not (status == -signal.SIGINT and end):
            self.failures.append('status %d without a message: %s (%d bytes)' % (status, statement, len(out)))

    def display(self):
        relation = self.chance.choice(('Beside', 'Recent', 'Busy', 'Large', 'Beat', 'Phase', 'State'))
        process = self.stage.spawn([self.stage.tquel, '--connect', self.stage.socket, '--format', 'ndjson', '-c',
                                    'display ' + relation], name='shells')
        self.ended.wait(self.chance.uniform(0, 3))
        process.send_signal(self.chance.choice((signal.SIGINT, signal.SIGTERM, signal.SIGKILL)))
        try:
            process.wait(600)
        except subprocess.TimeoutExpired:
            process.kill()
            self.failures.append('a display did not end: ' + relation)

    def sql(self):
        """No reader ever waits or fails, nor sees half a checkpoint."""
        try:
            connection = sqlite3.connect('file:%s?mode=ro' % self.stage.database, uri=True, timeout=60)
            try:
                connection.execute('select count(*), max(n) from '
                                   '(select * from Crowd order by start_lo desc limit 1000)').fetchall()
                connection.execute('select * from Large_readable limit 10').fetchall()
            finally:
                connection.close()
        except sqlite3.Error as error:
            self.failures.append('a reader with SQL: %s' % error)


class Prober(threading.Thread):
    """Milliseconds from the call of the program to its end, with a statement that needs no relation."""

    def __init__(self, stage, every):
        super().__init__(daemon=True)
        self.stage, self.every, self.took = stage, every, []
        self.ended = threading.Event()

    def run(self):
        while not self.ended.wait(self.every):
            began = time.monotonic()
            try:
                done = subprocess.run([self.stage.tquel, '--connect', self.stage.socket, '-c', 'retrieve (x = 1)'],
                                      stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                      env=self.stage.environment, timeout=600)
            except subprocess.TimeoutExpired:
                self.took.append(600000.0)
                continue
            if done.returncode == 0:
                self.took.append((time.monotonic() - began) * 1000)

    def stop(self):
        self.ended.set()
        self.join()

    def taken(self):
        """Since it was last asked, sorted."""
        took, self.took = self.took, []
        return sorted(took)
