"""The accounts at the end: what was emitted is stored, late, rejected or counted as lost, to the record.

    of a program    generated (as its own memory says) = rows + Late + Rejected + the sum of Lost.count + what was filtered
    of a feed       each line that is a record is once in its relation or in Late; each that is none, in Rejected

and what is derived is what its definition computes from what is stored (`tquel check-database`). """
import collections
import re
import sqlite3
import subprocess

SENSED = ('Tick', 'Beat', 'Phase', 'Opened')  # and Weight, whose samples stand in tq_sample
SAMPLE = 1  # marks of one: definite, and neither an end nor a round
CHECK_SECONDS = 7200


class Accounts:
    def __init__(self, stage):
        self.stage, self.lines, self.wrong = stage, [], []
        self.database = sqlite3.connect('file:%s?mode=ro' % stage.database, uri=True)

    def ask(self, query, *arguments):
        try:
            return self.database.execute(query, arguments).fetchall()
        except sqlite3.OperationalError as error:
            if 'no such table' in str(error):
                return []
            raise

    def say(self, good, text):
        self.lines.append(('  ' if good else '! ') + text)
        if not good:
            self.wrong.append(text)

    def programs(self):
        """Of each process: rows, late, rejected, lost by cause, against what it says itself."""
        found = collections.defaultdict(collections.Counter)
        for relation in SENSED:
            for process, rows in self.ask('select Process, count(*) from "%s" group by 1' % relation):
                found[process]['stored'] += rows
        gone = sum(self.stage.removed(relation) for relation in SENSED)
        for row, in self.ask('select row from tq_sample where marks = ?', SAMPLE):
            found[re.search(rb'Worker:\w+#[-\w@:]+', row).group(0).decode()]['stored'] += 1
        for name in ('Late', 'Rejected'):
            for relation, record in self.ask('select relation, record from "%s"' % name):
                process = re.search(r'Worker:\w+#[-\w@:]+', record)
                if relation in SENSED + ('Weight',) and process:
                    found[process.group(0)][name] += 1
        for process, cause, count in self.ask('select source, cause, sum(count) from Lost group by 1, 2'):
            if cause == 'sampled':  # in no ring's account
                continue
            found[process]['Lost ' + cause] += count
        for process, count in self.ask('select source, sum(count) from tq_filtered group by 1'):
            found[process]['filtered'] += count
        total, missing = collections.Counter(), 0
        for program in self.stage.programs:
            name = [p for p in found if p.split('#')[0] == 'Worker:' + program.name]
            counts = sum((found[p] for p in name), collections.Counter())
            generated = program.made()
            total['generated'] += generated
            total.update(counts)
            accounted = sum(counts.values())
            missing += generated - accounted
            if gone:  # whose they were nobody knows
                continue
            # Of a program that was killed each thread may have been in the midst of a record, which is torn.
            torn = 0 if not program.killed else 2
            if not 0 <= generated - accounted <= torn or len(name) > 1:
                self.say(False, '%s%s: %d generated, %d accounted for: %s' % (
                    program.name, ' (killed)' if program.killed else '', generated, accounted, dict(counts)))
        others = [p for p in found if p.split('#')[0][7:] not in [q.name for q in self.stage.programs]]
        if others:
            self.say(False, 'of processes that nobody started: %r' % others)
        torn = 2 * sum(program.killed for program in self.stage.programs)
        if gone:
            total['removed'] = gone
            if not gone <= missing <= gone + torn:
                self.say(False, '%d are nowhere, %d are removed' % (missing, gone))
        self.say(True, '%d programs: %s' % (len(self.stage.programs),
                                            ', '.join('%s %d' % item for item in total.items())))

    def feed(self, feed):
        relation = feed.relation
        rows, different, least, most = self.ask(
            'select count(*), count(distinct id), min(id), max(id) from "%s"' % relation)[0]
        gone = self.stage.removed(relation)
        late = collections.Counter()
        for record, in self.ask('select record from Late where relation = ?', relation):
            late[int(re.search(r'"id": ?(\d+)', record).group(1))] += 1
        rejected = self.ask('select count(*) from Rejected where relation = ?', relation)
        rejected = rejected[0][0] if rejected else 0
        said = '%s: %d lines; %d stored, %d late, %d rejected, %d twice, of which once %d' % (
            relation, feed.lines, rows, sum(late.values()), rejected, len(feed.twice),
            feed.lines - rows - gone - sum(late.values()) - rejected) + \
            (', %d removed' % gone if gone else '')
        faults = []
        if rows != different:
            faults.append('%d rows too many' % (rows - different))
        if rejected != feed.malformed:
            faults.append('%d malformed' % feed.malformed)
        if rows and (least < 1 or most > feed.ids):
            faults.append('ids from %d to %d, sent were %d' % (least, most, feed.ids))
        stored_late = [i for i in late if self.ask('select 1 from "%s" where id = ? limit 1' % relation, i)] \
            if len(late) < 5000 else self.both(relation, late)
        if set(stored_late) - feed.twice:
            faults.append('stored and late: %r' % sorted(set(stored_late) - feed.twice)[:5])
        nowhere = feed.ids - different - len(late) + len(stored_late) - gone
        # Of what came twice and is removed nobody knows whether it was late, too.
        if not 0 <= -nowhere <= (len(feed.twice) if gone else 0):
            faults.append('%d of %d are nowhere' % (nowhere, feed.ids))
        if any(count > (2 if i in feed.twice else 1) for i, count in late.items()):
            faults.append('late too often')
        if feed.late - set(late):
            faults.append('%d late ones are not in Late' % len(feed.late - set(late)))
        self.say(not faults, said + (': ' + '; '.join(faults) if faults else ''))

    def both(self, relation, late):
        return [i for i, in self.ask('select id from "%s"' % relation) if i in late]

    def check(self):
        """What check-database says; the network's own judge is the same definitions, run once."""
        done = subprocess.run([self.stage.tquel, 'check-database', self.stage.database], capture_output=True,
                              env=self.stage.environment, timeout=CHECK_SECONDS, check=False)
        said = done.stdout.decode().strip()
        self.say(done.returncode == 0, 'check-database: ' + (said if said == 'consistent' else said[-2000:]) +
                 done.stderr.decode())

    def derived(self, names):
        counts = [(name, self.ask('select count(*) from "%s"' % name)[0][0]) for name in names]
        self.say(True, 'derived: ' + ', '.join('%s %d' % count for count in counts))

    def damage(self):
        """Takes a row of a program, one of each feed and one that is derived; they must be missed."""
        with sqlite3.connect(self.stage.database) as database:
            for name in ('Beat', 'Request', 'State', 'Large'):
                database.execute('delete from "%s" where rowid = (select max(rowid) from "%s")' % (name, name))

    def all(self, names):
        self.programs()
        for feed in self.stage.feeds():
            self.feed(feed)
        self.derived(names)
        self.database.close()
        self.check()
        return self
