#!/usr/bin/env python3
"""A server, a collector, two programs, two feeds, ten standing queries, visitors and faults, for hours.

    soak.py TQUEL TICKER [HOURS] [--seed N] [--rate N] [--keep AGE] [--json FILE] [--tap]

Prints what it takes and how far it is behind, then accounts that must be exact, then whether it stayed flat.
Exit status 1: an account is wrong, or memory, the write-ahead log or the lag grew. --tap: the accounts alone,
as a test. Files are where TMPDIR says; those of a run that fails stay there. """
import argparse
import faulthandler
import json
import os
import random
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from stage import DERIVED, Failed, Stage, wait_for  # noqa: E402
from accounts import Accounts  # noqa: E402
from faults import Faults  # noqa: E402
from figures import UNITS, flatness, look, median  # noqa: E402
from visitors import Prober, Visitors  # noqa: E402

MUST_BE_FLAT = ('server', 'collector', 'programs', 'wal', 'log', 'lag')
HEADING = ('   time  server collect  progs     file    wal     log   free    lag  in/s  stored/s'
           '   latency ms med/99%/max   late  rejected      lost  faults  last')


class Soak:
    def __init__(self, options, stage, chance):
        self.options, self.stage, self.chance = options, stage, chance
        self.seconds = options.hours * 3600
        self.looks, self.rows, self.problems = [], [], []
        self.began = time.monotonic()
        pace = min(1.0, self.seconds / 300)
        self.faults = Faults(stage, chance, max(15.0 * pace, 0.3), max(8.0 * pace, 0.6))
        self.visitors = Visitors(stage, chance, max(1.0 * pace, 0.1))
        self.prober = Prober(stage, 0.5)

    def say(self, text):
        if not self.options.tap:
            print(text, flush=True)

    def row(self, before, now):
        """What has been since BEFORE, as a line."""
        took, span = self.prober.taken(), now['at'] - before['at']
        rates = [(now[key] - before[key]) / span for key in ('came', 'stored')]
        now['latency'] = median(took)
        tail = (took[len(took) * 99 // 100], took[-1]) if took else (0.0, 0.0)
        seconds = int(now['at'] - self.began)
        self.say('%3d:%02d:%02d %6.0fM %6.0fM %5.0fM %7.0fM %5.0fM %7s %6s %5.1fs %5.0f %9.0f %9.1f %8.1f %8.1f '
                 '%7d %8d %9d %5d   %s' % (
                     seconds // 3600, seconds // 60 % 60, seconds % 60, now['server'], now['collector'],
                     now['programs'], now['file'], now['wal'], now['log'], now['free'], now['lag'] or 0, *rates,
                     now['latency'] or 0, *tail, *now['aside'], sum(self.faults.counts.values()),
                     now['last']))
        self.rows.append(dict(now, elapsed=seconds, records_per_s=rates[0], stored_per_s=rates[1],
                              latency_99=tail[0], latency_max=tail[1]))

    def watch(self):
        """Until the time is over or something is wrong."""
        every = min(60.0, max(self.seconds / 40, 1.0))
        before = look(self.stage)
        until = before['at'] + every
        while time.monotonic() < self.began + self.seconds and not self.wrong():
            time.sleep(min(1.0, every))
            now = look(self.stage)
            self.looks.append(now)
            if now['at'] >= until:
                self.row(before, now)
                before, until = now, until + every
        self.say('')

    def wrong(self):
        """What somebody else than the accounts has found."""
        for who in [self.faults] + self.stage.feeds():
            if who.failure and who.failure not in self.problems:
                self.problems.append(who.failure)
        self.problems += self.visitors.failures
        self.visitors.failures = []
        return self.problems

    def run(self):
        self.stage.begin()
        if self.stage.refused:
            self.say('all is kept, so that the file grows, and each restart takes longer:\n' + self.stage.refused)
        self.say(HEADING)
        for who in (self.prober, self.visitors, self.faults):
            who.start()
        try:
            self.watch()
        finally:
            for who in (self.faults, self.visitors, self.prober):
                who.stop()
        self.wrong()
        # Who has been left in peace comes to the present.
        wait_for(lambda: 'no lag; it is %s' % look(self.stage), lambda: (look(self.stage)['lag'] or 0) < 5, 600)
        self.looks.append(look(self.stage))
        self.stage.finish()
        statuses = self.stage.end_all()
        if statuses != [0, 0, 0]:
            self.problems.append('exit statuses of feed, collector, server: %r' % statuses)
        left = self.stage.left()
        if left:
            self.problems.append('left over: ' + ', '.join(left))
        self.accounts = Accounts(self.stage).all(DERIVED)
        return self

    def verdict(self):
        """Prints all; true if nothing is wrong."""
        self.say('faults (seed %d): %s' % (self.options.seed, ', '.join(
            '%s %d' % item for item in sorted(self.faults.counts.items()))))
        self.say('visitors: %d' % self.visitors.count)
        self.say('accounts:')
        for line in self.accounts.lines:
            self.say('  ' + line)
        stored, last = max(self.looks[-1]['stored'], 1), self.looks[-1]
        size = os.stat(self.stage.database).st_size
        self.say('  file: %.0f MiB, %.0f bytes for each stored record' % (size / (1 << 20), size / stored))
        since = self.began + min(600.0, self.seconds / 6)
        self.say('after the first %d s: medians of the second and of the last quarter, growth by the slope' %
                 (since - self.began))
        good, flat = not self.accounts.wrong and not self.problems, []
        looks = [dict(one, latency=one.get('latency')) for one in self.looks if one is not last]
        for name, second, fourth, growth, fine in flatness(looks, since, UNITS):
            must = name in MUST_BE_FLAT
            self.say('  %-10s %9.1f %9.1f %+9.1f %-5s %s' % (
                name, second, fourth, growth, UNITS[name],
                'flat' if fine else 'GROWS' if must else 'grows (only reported)'))
            flat.append({'figure': name, 'second': second, 'last': fourth, 'growth': growth, 'flat': fine})
            good = good and (fine or not must or self.options.tap)
        for problem in self.problems:
            self.say('! ' + problem)
        self.say('soak: ' + ('nothing wrong' if good else 'FAILED, see %s' % self.stage.directory))
        if self.options.json:
            with open(self.options.json, 'w') as file:
                json.dump({'seed': self.options.seed, 'rows': self.rows, 'faults': self.faults.counts,
                           'accounts': self.accounts.lines, 'flat': flat, 'problems': self.problems,
                           'good': good}, file, indent=1)
        return good


def tap(options, stage, good, text):
    print('1..2\n%s 1 - a soak of %g s, seed %d' % ('ok' if good else 'not ok', options.hours * 3600, options.seed))
    for line in text.splitlines() if not good else []:
        print('# ' + line)
    if not good:
        print('ok 2 - what is taken away is missed # SKIP')
        return
    Accounts(stage).damage()
    wrong = Accounts(stage).all(DERIVED).wrong
    print('%s 2 - what is taken away is missed' % ('ok' if len(wrong) == 4 else 'not ok'))
    for line in wrong if len(wrong) != 4 else []:
        print('# ' + line)


def main():
    parser = argparse.ArgumentParser(prog='dev soak', allow_abbrev=False)
    parser.add_argument('tquel')
    parser.add_argument('ticker')
    parser.add_argument('hours', nargs='?', type=float, default=1.0, help='how long (1); 0.02 is 72 s')
    parser.add_argument('--seed', type=int, default=None, help='of faults, visitors and records')
    parser.add_argument('--rate', type=int, default=20000, help='records a second (20000)')
    parser.add_argument('--keep', metavar='AGE', 
                        help='modify ... to keep AGE (1 min, or a sixth of the time); or forever')
    parser.add_argument('--json', help='where all figures are written to')
    parser.add_argument('--tap', action='store_true', help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.hours <= 0 or options.rate < 100:
        parser.error('there is nothing to do in no time, or with less than 100 records a second')
    if options.seed is None:
        options.seed = random.randrange(1 << 31)
    if options.keep is None:
        options.keep = '%d s' % max(min(60, options.hours * 600), 1)
    chance = random.Random(options.seed)
    faulthandler.register(signal.SIGUSR1)  # where it waits
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # who is ended takes all with him
    with Stage(os.path.abspath(options.tquel), os.path.abspath(options.ticker), options.rate, chance,
               None if options.keep == 'forever' else options.keep) as stage:
        soak = Soak(options, stage, chance)
        soak.say('dev: a soak of %g hours, %d records a second, --seed %d, in %s' %
                 (options.hours, options.rate, options.seed, stage.directory))
        stage.keep, good, text = True, False, ''
        try:
            good = soak.run().verdict()
            text = '\n'.join(soak.accounts.wrong + soak.problems)
        except Failed as error:
            text = '%s\n%s' % (error, '\n'.join(soak.problems))
            soak.say('soak: FAILED: %s; see %s' % (text, stage.directory))
        except KeyboardInterrupt:
            stage.keep = False
            return 130
        if options.tap:
            tap(options, stage, good, text)
        stage.keep = not good and not options.tap
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
