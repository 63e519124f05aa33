#!/usr/bin/env python3
"""A view that was looked at is kept in memory, until somebody else writes to the database.

A session prints a view over a file; another program adds a row with SQLite; what the session then asks of the
view has the row. Prints TAP.   kept_test.py TQUEL
"""
import os
import sqlite3
import subprocess
import sys
import tempfile

BEFORE = '''create event E (x = i4) append to E (x = 1) at 1
range of e is E define view V (e.x) range of v is V print V'''
LOOK_AGAIN = 'retrieve (y = v.x * 10)\nretrieve (y = v.x * 100)\n'


def lines(stream, count):
    return [stream.readline().strip() for _ in range(count)]


def run(tquel, folder):
    """What the session says of the view before and after the row is added, twice."""
    path, fifo = os.path.join(folder, 'test.db'), os.path.join(folder, 'statements')
    os.mkfifo(fifo)
    session = subprocess.Popen(
        [tquel, path, '--timeline', 'abstract', '--format', 'csv', '-c', BEFORE, '-f', fifo],
        stdout=subprocess.PIPE, text=True)
    before = lines(session.stdout, 2)
    with sqlite3.connect(path) as other:
        other.execute('insert into E (at_lo, at_hi, definite, x) values (5, 5, 1, 7)')
    other.close()
    with open(fifo, 'w') as statements:
        statements.write(LOOK_AGAIN)
    after = session.stdout.read().split()
    return session.wait(timeout=300), before, after


def main():
    with tempfile.TemporaryDirectory() as folder:
        code, before, after = run(sys.argv[1], folder)
    wanted = ['at_lo,at_hi,definite,y', '1,1,true,10', '5,5,true,70',
              'at_lo,at_hi,definite,y', '1,1,true,100', '5,5,true,700']
    print('1..2')
    print('%s 1 - the view is shown' %
          ('ok' if before == ['at_lo,at_hi,definite,x', '1,1,true,1'] else 'not ok'))
    good = code == 0 and after == wanted
    print('%s 2 - a row that another program has added is in what is asked next' %
          ('ok' if good else 'not ok'))
    if not good:
        print('# status %d, %r, %r' % (code, before, after))


main()
