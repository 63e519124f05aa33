"""Several users and sources on one session, through session-script; prints TAP.

    session_test.py SESSION-SCRIPT [NAME...]

A scenario is a script of tests/session/driver.c with, behind `|`, what is to be printed at that place:

    run 1 print E
    | 1: at_lo,at_hi,definite,x

`| ...` stands for any number of lines. `again` starts another process, `limit BYTES` lets its files grow no
further, `limit` lifts that; `sql QUERY` reads the file `db` as sqlite3 does, `edit SQL` changes it. Files that scripts name are
written into a directory of their own.
"""
import contextlib
import pathlib
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile

SDF = """(taskforce (name PDE))
(sensorprocess (name PDESolver))
(objecttype (name Matrix))
(event (name Iteration) (location PDESolver) (timestamp true)
  (domains (domain (name IterNum) (type doubleinteger))))
(event (name Reading) (location PDESolver) (object Matrix) (minortype objecttraced) (timestamp true)
  (domains (domain (name Row) (type integer))))
(event (name Note) (location PDESolver) (timestamp true) (relation event)
  (domains (domain (name Text) (type string))))
(event (name Load) (location PDESolver) (minortype receptaclesampled) (timestamp true)
  (domains (domain (name Value) (type integer))))
"""
# The same with a further domain, with a narrower type, and what does not go with it.
NEWER = SDF.replace('(type doubleinteger)))', '(type integer)) (domain (name Residual) (type integer)))')
OTHER = SDF.replace('(type doubleinteger)))', '(type string)))')
BUSY = """(taskforce (name Pool))
(sensorprocess (name Worker))
(event (name Busy) (location Worker) (timestamp true) (relation traced) (key Thread)
  (domains (domain (name Thread) (type integer)) (domain (name Job) (type integer))))
"""
SIDES = """(taskforce (name Pool))
(sensorprocess (name Worker))
(objecttype (name Door))
(event (name Turn) (location Worker) (object Door) (minortype objecttraced) (timestamp true) (key Door Side)
  (domains (domain (name Side) (type integer)) (domain (name Job) (type integer))))
"""
# Of other task forces: one whose Iteration does not go with PDE's, one whose does, and one whose name is the system's.
POOL = SDF.replace('(name PDE)', '(name Pool)').replace('(name IterNum)', '(name Count)')
MIRROR = SDF.replace('(name PDE)', '(name Mirror)')
TQ = POOL.replace('(name Pool)', '(name tq)')
USED = BUSY + '''
(event (name Quick) (timestamp true) (relation event) (domains (domain (name n) (type i4))))
(event (name Use) (timestamp true) (relation period) (domains (domain (name n) (type i4))))
'''
FILES = {'used.sdf': USED, 'pool.sdf': POOL, 'mirror.sdf': MIRROR, 'tq.sdf': TQ, 'busy.sdf': BUSY, 'sides.sdf': SIDES, 'doors.sdf': SIDES.replace('(key Door Side)', '(key Door)'),
         'pde.sdf': SDF, 'newer.sdf': NEWER, 'other.sdf': OTHER,
         'e.csv': 'at,x\n1,7\n2,8\n'}

ANNOUNCED = """open - real sensor
source c inc1 hostA
describe c pde.sdf
stream t c Iteration pde.sdf
stream n c Note pde.sdf
"""

SCENARIOS = {}


def scenario(name, text):
    SCENARIOS[name] = text


class Failed(Exception):
    pass


def split(text):
    """Lines for the program, each with what it is to print."""
    steps = []
    for line in text.strip().split('\n'):
        if line.startswith('|'):
            steps[-1][1].append(line[2:])
        else:
            steps.append((line, []))
    return steps


def matches(expected, printed):
    """Lines; `...` alone for any number of lines, within a line for anything."""
    if not expected:
        return not printed
    if expected[0] == '...':
        return any(matches(expected[1:], printed[i:]) for i in range(len(printed) + 1))
    if not printed:
        return False
    pattern = '.*'.join(re.escape(part) for part in expected[0].split('...'))
    return re.fullmatch(pattern, printed[0]) is not None and matches(expected[1:], printed[1:])


def start(program, directory):
    return subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=directory,
                            text=True, restore_signals=False)


def answers(process):
    printed = []
    while True:
        out = process.stdout.readline()
        if out in ('', '=\n'):
            return printed
        printed.append(out.rstrip('\n'))


def read(directory, query):
    with contextlib.closing(sqlite3.connect(pathlib.Path(directory) / 'db')) as database:
        return ['|'.join(map(str, row)) for row in database.execute(query)]


def edit(directory, script):
    with contextlib.closing(sqlite3.connect(pathlib.Path(directory) / 'db')) as database:
        database.executescript(script)
    return []


def play(program, text, directory):
    """Runs the script, a process from each `open` to the `die` or the end."""
    process = start(program, directory)
    problems = []
    for line, expected in split(text):
        if line == 'again':
            process.stdin.close()
            process.wait(300)
            process = start(program, directory)
            continue
        if line.startswith('limit'):
            size = line.split()[1:] or [resource.RLIM_INFINITY]
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (int(size[0]), resource.RLIM_INFINITY))
            continue
        if line.startswith('sql '):
            printed = read(directory, line[4:])
        elif line.startswith('edit '):
            printed = edit(directory, line[5:])
        else:
            process.stdin.write(line + '\n' + ('' if line == 'die' else 'mark\n'))
            process.stdin.flush()
            printed = answers(process)
        if not matches(expected, printed):
            problems.append(f'{line}\n  printed  ' + '\n           '.join(printed) +
                            '\n  expected ' + '\n           '.join(expected))
    process.stdin.close()
    rest = process.stdout.read()
    if process.wait(300) != 0:
        problems.append(f'the program ended with {process.returncode}: {rest}')
    return problems


scenario('a query asks for what its selections leave', ANNOUNCED + """
run 0 range of i is Iteration
run 0 retrieve Over (i.IterNum) where i.Process = "PDESolver:P1#5" and i.IterNum > 3
turn
| + Iteration Process=PDESolver:P1#5
row t d 1000 PDESolver:P1#5 1
row t d 2000 PDESolver:P1#5 5
check c all 3000
turn
run 0 print Over
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,IterNum
| 0: 2000,2000,3000,forever,true,5
run 0 retrieve Again (i.IterNum) where i.Process = "PDESolver:P1#5"
turn
run 0 destroy Over
turn
run 0 destroy Again
turn
| - Iteration Process=PDESolver:P1#5
""")

scenario('patterns of names', ANNOUNCED + """
run 0 range of i is Iteration
run 0 retrieve A (i.IterNum) where i.Process = "PDESolver:P1#*"
turn
| + Iteration Process~PDESolver:P1#*
run 0 retrieve B (i.IterNum) where i.Process = "PDESolver:P[12]#*" or i.Process = "PDESolver:P9#1"
turn
| + Iteration Process~PDESolver:P[12]#*
| + Iteration Process=PDESolver:P9#1
run 0 retrieve C (i.IterNum) where i.Process = "PDESolver:P1#*" and i.Process = "PDESolver:P1#5"
turn
| + Iteration Process=PDESolver:P1#5
run 0 retrieve D (i.IterNum) where i.Process != "PDESolver:P1#*"
turn
| + Iteration
run 0 destroy A
turn
| - Iteration Process~PDESolver:P1#*
row t d 1000 PDESolver:P1#5 1
row t d 1000 PDESolver:P2#5 2
check c all 3000
turn
run 0 print B, C, D
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,IterNum
| 0: 1000,1000,3000,forever,true,1
| 0: 1000,1000,3000,forever,true,2
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,IterNum
| 0: 1000,1000,3000,forever,true,1
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,IterNum
| 0: 1000,1000,3000,forever,true,2
""")

scenario('objects that another query computes', ANNOUNCED + """
stream m c Reading pde.sdf
run 0 range of i is Iteration
run 0 range of m is Reading
run 0 retrieve Busy (i.Process) where i.IterNum > 3
turn
| + Iteration
run 0 range of b is Busy
run 0 retrieve Read (m.Row, m.Matrix) where m.Process = b.Process
turn
row t d 1000 P:a#1 9
check c all 2000
turn
| + Reading Process=P:a#1
row m d 2500 P:a#1 Matrix:x#1.1 7
row t d 3000 P:a#1 2
check c all 4000
turn
| - Reading Process=P:a#1
run 0 retrieve Always (i.IterNum) where i.IterNum > 100
turn
run 0 print Read
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,Row,Matrix
| 0: 2500,2500,3000,3000,true,7,Matrix:x#1.1
""")

scenario('samples at the ticks of a clock', ANNOUNCED + """
run 0 set origin "2026-01-01"
run 0 range of l is Load
run 0 range of c is Clock(1 s)
run 0 retrieve Loads (l.Value) where l.Process = "P:a#1" when l overlap c at c
turn
| + Load Process=P:a#1 every 1000000000 from ...
""")

scenario('object receptacles', ANNOUNCED + """
run 0 range of m is Reading
run 0 retrieve R (m.Row) where m.Matrix = "Matrix:x#1.1" and m.Process = "P:a#1"
turn
| + Reading Process=P:a#1 Matrix=Matrix:x#1.1
run 0 retrieve S (m.Row) where m.Process = "P:a#*"
turn
| + Reading Process~P:a#*
""")

scenario('a network that is built anew says nothing, nor a statement that fails', ANNOUNCED + """
run 0 range of n is Note
run 0 retrieve A (n.Text)
turn
| + Note
run 0 retrieve B (n.Process)
turn
run 0 destroy A
turn
run 0 range of i is Iteration
run 0 retrieve B (i.IterNum)
| TQ-0104...
| run: user
turn
run 0 append to Note (Text = "x") at "2026-01-01T00:00:00Z"
| ...
turn
run 0 destroy B
turn
| - Note
""")

scenario('one-off questions ask for nothing', ANNOUNCED + """
run 0 range of n is Note
run 0 retrieve (n.Text)
| 0: at_lo,at_hi,definite,Text
turn
run 0 append to Note (Process = "P:a#1", Text = "x") at "2026-01-01T00:00:00Z"
turn
""")

scenario('displays ask, as long as their seat is there', ANNOUNCED + """
seat 1 ann owner
seat 2 bob owner
run 1 display Note
turn
| + Note
run 2 display Note
turn
row n d 1000 PDESolver:P1#5 hello
check c all 2000
turn
| 1> {"relation": "Note", "change": "whole", "at_lo": 1000...
| 2> {"relation": "Note", "change": "whole", "at_lo": 1000...
leave 1
turn
row n d 3000 PDESolver:P1#5 again
check c all 4000
turn
| 2> {"relation": "Note", "change": "whole", "at_lo": 3000...
stop 2
turn
| - Note
row n d 5000 PDESolver:P1#5 late
check c all 6000
turn
run 0 print Note
| 0: at_lo,at_hi,definite,Process,Text
| 0: 1000,1000,true,PDESolver:P1#5,hello
| 0: 3000,3000,true,PDESolver:P1#5,again
| 0: 5000,5000,true,PDESolver:P1#5,late
""")

scenario('who displays, and what nobody feeds goes, lets the network be', ANNOUNCED.replace('open -', 'open db') + """
seat 1 ann owner
run 0 range of n is Note
run 0 retrieve Seen (n.Text)
turn
| + Note
row n d 1000 P:a#1 one
check c all 2000
turn
row n d 3000 P:a#1 two
check c all 4000
turn
commit
sql select fires from tq_node_stats where relation = 'Seen' and kind = 'relation-store'
| 2
run 1 display Seen
| 1: at_lo,at_hi,definite,Text
| 1: 1000,1000,true,one
| 1: 3000,3000,true,two
run 0 create event Scratch (a = i4)
run 0 destroy Scratch
row n d 5000 P:a#1 three
check c all 6000
turn
| 1> {"relation": "Seen", "change": "whole", "at_lo": 5000...
stop 1
run 1 display Seen
| ...
run 1 display Note
| ...
row n d 7000 P:a#1 four
check c all 8000
turn
| 1> ...
| 1> ...
commit
sql select fires from tq_node_stats where relation = 'Seen' and kind = 'relation-store'
| 4
sql select relation from tq_node_stats where kind = 'display' order by relation
| Note
| Seen
stop 1
row n d 9000 P:a#1 five
check c all 10000
turn
commit
sql select relation from tq_node_stats where kind = 'display' order by relation
sql select fires from tq_node_stats where relation = 'Seen' and kind = 'relation-store'
| 5
""")

scenario('what is refused before it has changed anything lets the network be', ANNOUNCED.replace('open -', 'open db') + """
seat 1 ann owner
run 0 range of n is Note
run 0 retrieve Seen (n.Text)
run 0 create event Few (v = i4)
run 0 range of f is Few
run 0 define integrity on f is f.v < 10
turn
| + Note
row n d 1000 P:a#1 one
check c all 2000
turn
row n d 2500 P:a#1 one more
check c all 2600
turn
run 1 append to Few (v = 50) at "2026-01-01"
| TQ-0345 ...
| run: user
run 1 append to Few (v = 1 / 0) at "2026-01-01"
| TQ-0402 ...
| run: user
row n d 3000 P:a#1 two
check c all 4000
turn
commit
sql select fires from tq_node_stats where relation = 'Seen' and kind = 'relation-store'
| 3
run 1 append to Few (v = 5) at "2026-01-01"
run 1 print Few
| 1: at_lo,at_hi,definite,v
| 1: ...
""")

scenario('create persistent and save ask for everything', ANNOUNCED + """
run 0 create persistent traced Iteration (Process = name, IterNum = i8) by Process
turn
| + Iteration
run 0 save Note until "2199-01-01"
turn
| + Note
run 0 save Note until "2001-01-01"
| TQ-0620...
turn
| - Note
run 0 create persistent event Iteration (IterNum = i8)
| TQ-0104...
| run: user
sensors
| process  relation ...
| -        Iteration ...no process ...kept
| -        Reading ...-
| -        Note ...kept
| -        Load ...-
| watched: Iteration (1): no such process is there
| waiting: Iteration for hostA, which has not promised anything yet
""")

scenario('sensors: what no question asks for', ANNOUNCED + '''
run 0 range of n is Note range of i is Iteration range of l is Load
run 0 retrieve into A (n.Text) where n.Text = "a*" and not (n.Text in ("ab", "ac"))
turn
| + Note filtered: Text matches "a*" and Text != "ab" and Text != "ac"
run 0 retrieve into B (n.Text) where n.Text > "x" or n.Text = "b"
turn
| + Note filtered: Text > "x" or Text = "b"
run 0 retrieve into C (i.IterNum) where i.IterNum > 5
turn
| + Iteration
run 0 retrieve into L (l.Value) where l.Value > 5
turn
| + Load
run 0 retrieve into N (k = count(n for ever where n.Text = "n"))
turn
| + Note
row n d 1000 P:a#1 other
filtered c n P:a#1 12 900 1100
filtered c n P:b#1 3 500 700
check c all 2000
turn
| + Note filtered: Text = "n"
| - Note
sensors P:a#1,Note,,on,13,0,1,5,0 P:b#1,Note,,on,3,0,1,5,0 P:a#1,Iteration,,on,0,0,1,5,0
| process  relation ...  filtered  asked for by
| P:a#1    Note ...        12  A, B, N
| P:b#1    Note ...         3  A, B, N
| P:a#1    Iteration ...  C
| ...
| watched: Note, filtered: Text > "x" or Text = "b" (1)
| ...
run 0 retrieve (n.Text)
| 0: at_lo,at_hi,definite,Text
| 0: 1000,1000,true,other
| TQ-0370 Note: 15 records between 1970-01-01T00:00:00.000000500Z and 1970-01-01T00:00:00.000001100Z are not here: no standing query asked for them
run 0 print B
| 0: at_lo,at_hi,definite,Text
run 0 define view V (n.Text) print V
| 0: at_lo,at_hi,definite,Text
| 0: 1000,1000,true,other
| TQ-0370 Note: 15 records ...
run 0 retrieve into Later (n.Text)
| TQ-0370 Note: 15 records ...
turn
| + Note
run 0 destroy Later
turn
| - Note
run 0 define permit retrieve of Note to ann
turn
| + Note
| - Note filtered: Text matches "a*" and Text != "ab" and Text != "ac"
| - Note filtered: Text > "x" or Text = "b"
| - Note filtered: Text = "n"
run 0 destroy permit Note all
turn
| + Note filtered: Text matches "a*" and Text != "ab" and Text != "ac"
| + Note filtered: Text > "x" or Text = "b"
| + Note filtered: Text = "n"
| - Note
run 0 define integrity on n is n.Text != "z"
turn
| + Note
| - Note filtered: Text matches "a*" and Text != "ab" and Text != "ac"
| - Note filtered: Text > "x" or Text = "b"
| - Note filtered: Text = "n"
run 0 destroy integrity Note all
turn
| + Note filtered: Text matches "a*" and Text != "ab" and Text != "ac"
| + Note filtered: Text > "x" or Text = "b"
| + Note filtered: Text = "n"
| - Note
run 0 set rule selections-at-source off
| TQ-0639 ...
turn
| + Note
| - Note filtered: Text matches "a*" and Text != "ab" and Text != "ac"
| - Note filtered: Text > "x" or Text = "b"
| - Note filtered: Text = "n"
run 0 destroy Note
| TQ-0775 ...
| run: user
''')

scenario('sensors: how many there are', ANNOUNCED + """
run 0 range of n is Note
run 0 retrieve summary into Each (n.Process, k = count(n by n.Process))
turn
| + Note filtered: nothing
row n d 1000 P:a#1 one
filtered c n P:a#1 12 900 1100
filtered c n P:b#1 3 500 700
check c all 2000
turn
run 0 print Each sort by k
| 0: definite,Process,k
| 0: true,P:b#1,3
| 0: true,P:a#1,13
run 0 retrieve summary into Whole (k = count(n)) where k > 1
run 0 print Whole
| 0: definite,k
| 0: true,16
filtered c n P:b#1 4 2500 2700
check c all 3000
turn
run 0 print Whole
| 0: definite,k
| 0: true,20
run 0 retrieve summary (n.Process, k = count(n by n.Process)) where n.Process = "P:b*"
| 0: definite,Process,k
| 0: true,P:b#1,7
run 0 retrieve summary (k = count(n))
| 0: definite,k
| 0: true,20
run 0 retrieve summary (k = count(n where n.Text = "one"))
| 0: definite,k
| 0: true,1
| TQ-0370 Note: 19 records ...
run 0 retrieve summary (k = count(n), last = max(n.Text))
| 0: definite,k,last
| 0: true,1,one
| TQ-0370 Note: 19 records ...
run 0 retrieve summary into Some (n.Process, k = count(n by n.Process)) where n.Process = "P:b#1"
turn
| + Note Process=P:b#1 filtered: nothing
run 0 print Some
| 0: definite,Process,k
| 0: true,P:b#1,7
run 0 retrieve into A (n.Text) where n.Text = "a"
| TQ-0370 Note: 19 records ...
turn
| + Note filtered: Text = "a"
sensors
| ...
| watched: Note, counted (2): no such process is there
| watched: Note, filtered: Text = "a" (1): no such process is there
| watched: Note where Process = "P:b#1", counted (1): no such process is there
| ...
row n d 3500 P:a#1 a
filtered c n P:a#1 2 3500 3501
check c all 4000
turn
run 0 print Each sort by k
| 0: definite,Process,k
| 0: true,P:b#1,7
| 0: true,P:a#1,16
run 0 set rule counts-at-source off
| TQ-0639 ...
turn
| + Note
| + Note Process=P:b#1
| - Note filtered: nothing
| - Note Process=P:b#1 filtered: nothing
run 0 print Each sort by k
| 0: definite,Process,k
| 0: true,P:b#1,7
| 0: true,P:a#1,16
run 0 set rule counts-at-source on
| TQ-0639 ...
turn
| + Note filtered: nothing
| + Note Process=P:b#1 filtered: nothing
| - Note
| - Note Process=P:b#1
run 0 append to Lost (relation = "Note", source = "P:a#1", cause = "buffer", count = 7) start "1970-01-01T00:00:00.000001Z" stop "1970-01-01T00:00:00.000002Z"
run 0 print Each sort by k
| 0: definite,Process,k
| 0: true,P:b#1,7
| 0: false,P:a#1,16
| TQ-0351 ...
run 0 append to Lost (relation = "Note", source = "P:b#1", cause = "buffer", count = 7) start "1970-01-01T00:00:00.000001Z" stop "1970-01-01T00:00:00.000002Z"
run 0 print Some
| 0: definite,Process,k
| 0: false,P:b#1,7
| TQ-0351 ...
run 0 delete n
run 0 retrieve summary (n.Process, k = count(n by n.Process)) sort by k
| 0: definite,Process,k
| 0: false,P:b#1,7
| 0: false,P:a#1,14
| TQ-0351 ...
run 0 destroy Each destroy Whole destroy Some destroy A
turn
| - Note filtered: nothing
| - Note Process=P:b#1 filtered: nothing
| - Note filtered: Text = "a"
""")

# Busy is traced, Quick an event relation, Use a period of its own.
scenario('sensors: who may be sampled in overload', """open - real sensor
source c inc1 hostA
describe c used.sdf
turn
overload
| Busy may be sampled
run 0 range of b is Busy range of c is Busy range of q is Quick range of u is Use
run 0 retrieve into A (b.Job) where b.Thread = 1
run 0 retrieve into Both (b.Job, k = c.Job) when b overlap c
run 0 retrieve into Q (q.n)
run 0 retrieve into U (u.n)
run 0 retrieve into Seen (q.n, b.Job) when b overlap q at q
overload
| Busy may be sampled
run 0 retrieve into N (n = count(b))
overload
run 0 destroy N
overload
| Busy may be sampled
run 0 range of a is A retrieve into M (n = count(a for ever))
overload
run 0 destroy M
run 0 retrieve into S (b.Job) at b.start
overload
run 0 destroy S
run 0 retrieve into P (b.Job) when b precede c
| TQ-0373 the result holds when all of these periods do, which this condition rules out
overload
run 0 destroy P
run 0 retrieve into L (b.Job, k = c.Job) when b ; c
| TQ-0373 the result holds when all of these periods do, which this condition rules out
overload
run 0 destroy L
run 0 define view V (n = count(b))
overload
| Busy may be sampled
run 0 range of v is V retrieve into W (v.n)
overload
run 0 destroy W
run 0 create persistent traced Busy (Process = name, Thread = i4, Job = i4) by Thread
turn
| + Busy filtered: Thread = 1
| + Busy
| + Quick
| + Use
overload
run 0 set overload always
overload
| Busy may be sampled
| Quick may be sampled
| Use may be sampled
run 0 set overload lose
overload
run 0 set overload rarely
| TQ-0321 ...
| run: user
""")

scenario('sensors: what was rejected, and what was no UTF-8', """open - real sensor
source c inc1 hostA
describe c busy.sdf
stream b c Busy busy.sdf
run 0 create persistent traced Busy (Process = name, Thread = i4, Job = i4) by Thread
turn
| + Busy
sensors P:a#1,Busy,,on,1,0,1,5,0
| process  relation  object  state  records  lost  per s  ns each  asked for by
| P:a#1 ...
| watched: Busy (1)
| waiting: ...
row b d 1000 P:a#1 99999999999 1
| TQ-0629 Busy: a record is in Rejected: Thread: the value is out of the range of i4
row b d 2000 P:a#1 99999999999 2
row b d 3000 P:a#1 1 2
check c all 4000
turn
sensors P:a#1,Busy,,on,3,0,1,5,2
| process  relation  object  state  records  lost  per s  ns each  escaped  asked for by
| P:a#1 ...        2  kept
| Busy: 2 rejected, which are in Rejected
| watched: Busy (1)
| waiting: ...
""")

scenario('sensors: what monitoring takes', """open - real sensor
source c inc1 hostA
describe c busy.sdf
sensors P:a#1,Busy,,off,3,0,0,5,0 P:a#1,,,program,,,,300000000, server,,,server,,,,7000000,
| process  relation  object  state  records  lost  per s  ns each  asked for by
| P:a#1 ...
sensors P:a#1,Busy,,off,3,0,10000,50,0 P:a#1,Note,,off,9,0,1000,500,0 P:a#1,Note,Job:1#1.1@h:00000000,off,9,0,100,500,0 P:a#1,,,program,,,,300000000, T:c#1,,,collector,,,,2500000, P:b#1,Busy,,off,3,0,1000000,50,0 P:b#1,,,program,,,,100000000, P:c#1,,,program,,,,100000000, P:d#1,Busy,,off,3,0,1000000,50,0 P:d#1,,,program,,,,49000000, server,,,server,,,,7000000,
| process  relation  object                state  records  lost    per s  ns each  asked for by
| P:a#1 ...
| P:a#1 ...
| P:a#1 ...
| P:b#1 ...
| P:d#1 ...
| overhead: P:d#1 most of 49 ms of processor time a second
| overhead: P:b#1 100%, 50 of 100 ms of processor time a second
| overhead: P:a#1 0.33%, 1 of 300 ms of processor time a second
| overhead: T:c#1 2.5 ms of processor time a second
| overhead: server 7 ms of processor time a second
""")

scenario('sensors: what is watched and not there, and who is waited for', ANNOUNCED + """
run 0 set source grace 3600000 ms
run 0 range of i is Iteration
run 0 range of r is Reading
run 0 retrieve Over (i.IterNum) where i.Process = "PDESolver:P1#*"
run 0 retrieve Read (r.Row) where r.Matrix = "Matrix:7#*" and r.Process = "PDESolver:P2#5"
turn
| + Iteration Process~PDESolver:P1#*
| + Reading Process=PDESolver:P2#5 Matrix~Matrix:7#*
sensors PDESolver:P2#5,Iteration,,off,0,0,0,0 PDESolver:P2#5,Reading,,objects:_1,0,0,0,0 PDESolver:P2#5,Reading,Matrix:6#5.1,on,0,0,0,0
| ...
| watched: Iteration where Process = "PDESolver:P1#*" (1): no such process is there
| watched: Reading where ... (1): no such object is there
| waiting: Iteration for hostA, which has not promised anything yet
| waiting: Reading for hostA, which has not promised anything yet
check c all 1000
sensors PDESolver:P1#4,Iteration,,on,0,0,0,0 PDESolver:P2#5,Reading,,objects:_1,0,0,0,0 PDESolver:P2#5,Reading,Matrix:7#5.2,on,0,0,0,0
| ...
| watched: Iteration where Process = "PDESolver:P1#*" (1)
| watched: Reading where ... (1)
| waiting: Iteration for hostA, which has promised to be complete up to 1970-01-01T00:00:00.000001Z, ... s ago
| waiting: Reading for hostA, which has promised to be complete up to 1970-01-01T00:00:00.000001Z, ... s ago
close c
sensors
| ...
| waiting: Iteration for hostA, ... s ago, and is not connected
| waiting: Reading for hostA, ... s ago, and is not connected
run 0 set source grace 1 ms
sleep 20
sensors
| ...
| waiting: Iteration is brought by nobody who is there
| waiting: Reading is brought by nobody who is there
""")

scenario('who asks for which sensor', ANNOUNCED + """
run 0 range of m is Reading
run 0 range of i is Iteration
run 0 retrieve A (m.Row) where m.Process = "P:a#*"
run 0 retrieve B (m.Row) where m.Process = "P:b#1" and m.Matrix = "Matrix:x#1.1"
run 0 retrieve Busy (i.Process) where i.IterNum > 3
turn
| + Reading Process~P:a#*
| + Reading Process=P:b#1 Matrix=Matrix:x#1.1
| + Iteration
run 0 range of b is Busy
run 0 retrieve C (m.Row) where m.Process = b.Process and m.Matrix = "Matrix:x#1.1"
run 0 retrieve D (m.Row) where m.Process = b.Process and m.Matrix = "Matrix:y#1.2"
turn
stream m c Reading pde.sdf
row t d 1000 P:c#1 9
check c all 2000
turn
| + Reading Matrix=Matrix:x#1.1 Process=P:c#1
| + Reading Matrix=Matrix:y#1.2 Process=P:c#1
sensors P:a#1,Reading,,on,4,0,0, P:b#1,Reading,,objects:2,4,0,0, P:b#1,Reading,Matrix:x#1.1,on,4,0,0, P:b#1,Reading,Matrix:y#1.2,on,4,0,0, P:c#1,Reading,,objects:2,4,0,0, P:c#1,Reading,Matrix:y#1.2,on,4,0,0, P:d#1,Reading,,off,4,0,0, P:d#1,Iteration,,on,4,0,0,
| process  relation ...
| P:a#1 ...on ...  A
| P:b#1 ...objects:2 ...  B
| P:b#1 ...x#1.1 ...on ...  B
| P:b#1 ...y#1.2 ...going off ...  -
| P:c#1 ...objects:2 ...  C, D
| P:c#1 ...y#1.2 ...on ...  D
| P:d#1 ...off ...  -
| P:d#1 ...on ...  Busy, C, D
| -        Note ...
| -        Load ...
| ...
run 0 destroy A
sensors P:a#1,Reading,,on,4,0,0, P:b#1,Reading,Matrix:x#1.1,on,4,0,0,
| process  relation ...
| P:a#1 ...
| P:b#1 ...on ...B...
| ...
turn
| - Reading Process~P:a#*
sensors P:a#1,Reading,,on,4,0,0,
| process  relation ...
| P:a#1 ...going off ...  -
| ...
""")

scenario('a relation that a user has created is used, and said before anybody has announced it', """open - real sensor
run 0 create persistent event Note (Process = name, Text = text)
turn
| + Note
run 0 create persistent event Other (Process = name, Text = text)
turn
| + Other
run 0 destroy Other
| - Other
turn
source c inc1
describe c pde.sdf
turn
run 0 destroy Note
| TQ-0775...
| run: user
close c good
run 0 destroy Note
turn
| - Note
""")

scenario('a promise that nobody can make: it is said, once, and not believed', ANNOUNCED + """
check c all 9223372036854682098
| TQ-0856 hostA promises that nothing before 2262-04-11T23:47:16.854682098Z will follow, which nobody can know
turn
row t d 1000 PDESolver:P1#5 1
check c t 9223372036854682098
check c all 2000
turn
run 0 range of t is Iteration retrieve (t.IterNum)
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,IterNum
| 0: 1000,1000,2000,forever,true,1
""")

scenario('descriptions of several versions', ANNOUNCED + """
describe c newer.sdf
stream u c Iteration newer.sdf
row t d 1000 PDESolver:P1#5 1
row u d 2000 PDESolver:P2#6 2 17
describe c other.sdf
| TQ-0774...the domain IterNum of Iteration is of type i8 here, and text there
| describe: user
stream v c Iteration other.sdf
row v d 3000 PDESolver:P3#7 three
| TQ-0629 Iteration: a record is in Rejected: the domain IterNum of Iteration is of type i8 here, and text there
run 0 create persistent traced Iteration (Process = name, IterNum = i8) by Process
turn
| + Iteration
check c all 4000
turn
run 0 print Iteration
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,Process,IterNum
| 0: 1000,1000,4000,forever,true,PDESolver:P1#5,1
| 0: 2000,2000,4000,forever,true,PDESolver:P2#6,2
run 0 print Rejected
| 0: ...
| 0: ...,Iteration,"the domain IterNum of Iteration is of type i8 here, and text there"...
""")

scenario('task forces: events of one name are relations of their own', """open db real sensor
source c inc1
describe c pde.sdf
describe c pool.sdf
| TQ-0778 Iteration is of the task force PDE here; what the task force Pool calls so is the relation Pool_Iteration
| TQ-0778 Reading is ...
| TQ-0778 Note is ...
| TQ-0778 Load is ...
stream t c Iteration pde.sdf
stream u c Iteration pool.sdf
row t d 1000 PDESolver:P1#5 1
row u d 2000 PDESolver:P2#6 2
run 0 create persistent traced Iteration (Process = name, IterNum = i8) by Process
run 0 create persistent traced Pool_Iteration (Process = name, Count = i8) by Process
turn
| + Iteration
| + Pool_Iteration
check c all 4000
turn
run 0 print Iteration
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,Process,IterNum
| 0: 1000,1000,4000,forever,true,PDESolver:P1#5,1
run 0 print Pool_Iteration
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,Process,Count
| 0: 2000,2000,4000,forever,true,PDESolver:P2#6,2
run 0 print Rejected
| 0: at_lo,...
close c good
commit
again
open db real sensor
source c inc2
describe c pool.sdf
stream u c Iteration pool.sdf
row u d 5000 PDESolver:P3#7 3
describe c pde.sdf
describe c newer.sdf
describe c other.sdf
| TQ-0774...
| describe: user
check c all 6000
turn
| + Iteration
| + Pool_Iteration
run 0 print Pool_Iteration
| ...
| 0: 5000,5000,6000,forever,true,PDESolver:P3#7,3
run 0 print Iteration
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,Process,IterNum
| 0: 1000,1000,...,PDESolver:P1#5,1
""")

scenario('task forces: equal descriptions are of two relations, and of one that somebody has created', """open - real sensor
run 0 create traced Iteration (Process = name, IterNum = i8) by Process
source c inc1
describe c pde.sdf
describe c mirror.sdf
| TQ-0778 Reading ...Mirror_Reading
| TQ-0778 Note ...Mirror_Note
| TQ-0778 Load ...Mirror_Load
stream t c Iteration pde.sdf
stream u c Iteration mirror.sdf
stream n c Note mirror.sdf
row t d 1000 PDESolver:P1#5 1
row u d 2000 PDESolver:P2#6 2
row n d 2000 PDESolver:P2#6 text
describe c pool.sdf
| TQ-0778 Iteration is of another task force here; what the task force Pool calls so is the relation Pool_Iteration
| TQ-0778 Reading ...Pool_Reading
| TQ-0778 Note ...Pool_Note
| TQ-0778 Load ...Pool_Load
check c all 4000
turn
run 0 print Iteration
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,Process,IterNum
| 0: 1000,1000,4000,forever,true,PDESolver:P1#5,1
| 0: 2000,2000,4000,forever,true,PDESolver:P2#6,2
run 0 print Mirror_Note
| 0: at_lo,at_hi,definite,Process,Text
| 0: 2000,2000,true,PDESolver:P2#6,text
""")

scenario('task forces: a database that knew nothing of them goes on', """open db real sensor
source c inc1
describe c pde.sdf
stream t c Iteration pde.sdf
row t d 1000 PDESolver:P1#5 1
close c good
commit
again
edit ALTER TABLE tq_announced DROP COLUMN taskforce; ALTER TABLE tq_announced DROP COLUMN event; ALTER TABLE tq_relation ADD COLUMN by_domain INTEGER; UPDATE tq_relation SET by_domain = (SELECT position FROM tq_domain AS d WHERE d.relation = tq_relation.name AND d.key_place = 0); ALTER TABLE tq_domain DROP COLUMN key_place; DROP TABLE tq_alike; DROP TABLE tq_filtered; PRAGMA user_version = 7
open db real sensor
source c inc2
describe c mirror.sdf
stream u c Iteration mirror.sdf
row u d 2000 PDESolver:P2#6 2
describe c pool.sdf
| TQ-0778 Iteration ...Pool_Iteration
describe c other.sdf
| TQ-0774...
| describe: user
run 0 create persistent traced Iteration (Process = name, IterNum = i8) by Process
turn
| + Iteration
check c all 4000
turn
run 0 print Iteration
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,Process,IterNum
| 0: 1000,...
| 0: 2000,...
sql select relation, taskforce, event from tq_announced where relation like '%Iteration' order by 1
| Iteration|None|None
| Pool_Iteration|Pool|Iteration
""")

scenario('task forces: names that others have, or the system', """open - real sensor
source c inc1
describe c pde.sdf
run 0 create event Pool_Note (x = i4)
run 0 retrieve into Pool_Load (n = 1)
describe c tq.sdf
| TQ-0778 ...of_tq_Iteration
| TQ-0778 ...of_tq_Reading
| TQ-0778 ...of_tq_Note
| TQ-0778 ...of_tq_Load
describe c pool.sdf
| TQ-0778 ...Pool_Iteration
| TQ-0778 ...Pool_Reading
| TQ-0774 ...Pool_Note has the domain x here, and not there
| TQ-0774 ...Pool_Load is a derived relation here
| describe: user
""")

scenario('an older description comes behind a newer one', """open - real sensor
source c inc1
describe c newer.sdf
describe c pde.sdf
| TQ-0774...
| describe: user
""")

scenario('the checkpoint is that of all sources', """open - abstract
run 0 create event E (x = i4)
source a inc1
source b inc2
stream ea a E
stream eb b E
row ea d 10 1
check a ea 20
turn
run 0 print E
| 0: at_lo,at_hi,definite,x
check b eb 15
turn
run 0 print E
| 0: at_lo,at_hi,definite,x
| 0: 10,10,true,1
row eb d 12 2
| TQ-0629 E: a record is in Late: before the checkpoint
row ea d 16 3
run 0 print Late
| 0: at_lo,at_hi,definite,relation,reason,record
| 0: 12,12,true,E,before the checkpoint,...
| 0: 16,16,true,E,before the checkpoint,...
row eb d 17 4
close b good
row ea d 30 5
close a good
turn
run 0 print E
| 0: at_lo,at_hi,definite,x
| 0: 10,10,true,1
| 0: 17,17,true,4
| 0: 30,30,true,5
""")

scenario('a source that has gone is waited for', """open - abstract
run 0 create event E (x = i4)
run 0 set source grace 3600000 ms
source a inc1
source b inc2
stream ea a E
stream eb b E
check b eb 5
row ea d 10 1
check a ea 20
close b
turn
run 0 print E
| 0: at_lo,at_hi,definite,x
source b inc2
stream eb b E
row eb d 8 2
check b eb 9
close b
turn
run 0 print E
| 0: at_lo,at_hi,definite,x
| 0: 8,8,true,2
run 0 set source grace 1 ms
sleep 20
turn
run 0 print E
| 0: at_lo,at_hi,definite,x
| 0: 8,8,true,2
| 0: 10,10,true,1
""")

scenario('who comes to the place of one that has gone is waited for alone', """open - abstract
run 0 create event E (x = i4)
run 0 set source grace 60000 ms
source a machine/inc1
source b other/inc1
stream ea a E
stream eb b E
row ea d 10 1
check a ea 12
check b eb 100
close a
turn
run 0 print E
| 0: at_lo,at_hi,definite,x
| 0: 10,10,true,1
row eb d 120 7
check b eb 130
turn
run 0 print E
| 0: at_lo,at_hi,definite,x
| 0: 10,10,true,1
source c machine/inc2
stream ec c E
row ec d 30 2
check c ec 40
turn
run 0 print E
| 0: at_lo,at_hi,definite,x
| 0: 10,10,true,1
| 0: 30,30,true,2
check c ec 200
turn
run 0 print E
| 0: at_lo,at_hi,definite,x
| 0: 10,10,true,1
| 0: 30,30,true,2
| 0: 120,120,true,7
""")

scenario('what was acknowledged is there once', """open db abstract
run 0 create event E (x = i4)
source a inc1
durable a
| durable 0
stream ea a E
rows ea 10 100 1 +
number a 1
rows ea 10 200 1 +
number a 2
check a ea 205
number a 3
durable a
| durable 0
turn
commit
durable a
| durable 3
rows ea 10 300 1 +
number a 4
die
again
open db abstract
source a inc1
durable a
| durable 3
stream ea a E
rows ea 10 300 1 +
number a 4
check a ea 1000
turn
run 0 range of e is E
run 0 retrieve (n = count(e.x for ever)) when e at beginning
| ...
run 0 copy E into "out.csv"
close a
again
open db abstract
source a inc1
durable a
| durable 4
""")

scenario('pipes: nothing twice, what is missing is lost', """open db abstract
run 0 create event E (x = i4)
source a inc1
stream ea a E
pipe a 77 P:a#5 0
sequence a 77 0 10
| known 0
rows ea 10 100 1 +
sequence a 77 5 10
| known 5
check a ea 200
check a all 200
commit
durable a
| durable 0
sequence a 77 15 5
| known 0
die
again
open db abstract
source b inc2
pipe b 77 P:a#5 18
sequence b 77 18 2
| known 0
pipe b 78 P:b#6 4
sequence b 78 4 1
| known 0
sequence b 78 2 4
| known 3
commit
run 0 range of l is Lost
run 0 retrieve (l.source, l.cause, l.count)
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,source,cause,count
| 0: ...,P:a#5,collector,3
| 0: ...,P:b#6,collector,4
""")

scenario('losses are totals', """open db abstract
run 0 create event E (x = i4)
source a inc1 hostA
loss a P:a#5 E full 10 100 200
loss a P:a#5 E full 10 100 200
loss a P:a#5 E full 12 200 300
loss a P:a#5 E full 14 200 300
loss a - - buffer 5 1 2
commit
run 0 print Lost
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,relation,source,cause,count
| 0: 1,1,2,2,true,,hostA,buffer,5
| 0: 100,100,200,200,true,E,P:a#5,full,10
| 0: 200,200,300,300,true,E,P:a#5,full,2
| 0: 200,200,301,301,true,E,P:a#5,full,2
die
again
open db abstract
source a inc1 hostA
loss a P:a#5 E full 15 400 500
loss a - - buffer 5 1 2
run 0 range of l is Lost
run 0 retrieve (l.count) when l overlap 450
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,count
| 0: 400,400,500,500,true,1
""")

scenario('losses: what stands says what is certain, and is stored as it was made', """open db abstract
run 0 create traced R (k = text, x = i4) by k
run 0 range of r is R
run 0 retrieve into D (r.x) where r.k = "a"
run 0 range of d is D
run 0 retrieve into C (n = count(d for each instant))
run 0 set losses ignored retrieve into I (r.x) where r.k = "a" set losses uncertain
source a inc1 hostA
stream ra a R
row ra d 1 a 1
row ra d 10 a 2
row ra d 2 b 1
check a ra 11
turn
run 0 print D
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,x
| 0: 1,1,10,10,true,1
| 0: 10,10,11,forever,true,2
loss a - R full 2 12 15
row ra d 20 a 3
check a ra 18
turn
run 0 print D
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,x
| 0: 1,1,10,10,true,1
| 0: 10,10,12,forever,true,2
| TQ-0351 R: 2 records lost between 12 and 15: what they may have ended has an uncertain stop
check a ra 25
turn
run 0 print D
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,x
| 0: 1,1,10,10,true,1
| 0: 10,10,12,20,true,2
| 0: 20,20,25,forever,true,3
| TQ-0351 R: 2 records lost between 12 and 15: what they may have ended has an uncertain stop
run 0 retrieve (r.x) where r.k = "a"
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,x
| 0: 1,1,10,10,true,1
| 0: 10,10,12,20,true,2
| 0: 20,20,25,forever,true,3
| TQ-0351 R: 2 records lost between 12 and 15: what they may have ended has an uncertain stop
run 0 print C
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,n
| 0: 0,0,1,1,true,0
| 0: 1,1,12,12,true,1
| 0: 12,12,20,20,false,0
| 0: 20,20,25,forever,false,1
| TQ-0351 R: 2 records lost between 12 and 15: what they may have ended has an uncertain stop; what may have counted them is not definite
run 0 print I
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,x
| 0: 1,1,10,10,true,1
| 0: 10,10,20,20,true,2
| 0: 20,20,25,forever,true,3
run 0 retrieve (d.x) where d.x = 1
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,x
| 0: 1,1,10,10,true,1
row ra d 7 a 9
| TQ-0629 R: a record is in Late: before the checkpoint
turn
run 0 retrieve (d.x) where d.x = 1
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,x
| 0: 1,1,7,10,true,1
| TQ-0351 R: 2 records lost, 1 record late between 7 and 15: what they may have ended has an uncertain stop
reject a ra 22 nonsense xyz
| TQ-0629 R: a record is in Rejected: nonsense
turn
run 0 retrieve (d.x) where d.x = 3
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,x
| 0: 20,20,22,forever,true,3
| TQ-0351 R: 2 records lost, 1 record late, 1 record rejected between 7 and 24: what they may have ended has an uncertain stop
commit
sql select start_lo, stop_lo, x from D order by 1
| 1|10|1
| 10|20|2
| 20|None|3
die
again
open db abstract
run 0 print D
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,x
| 0: 1,1,7,10,true,1
| 0: 10,10,12,20,true,2
| 0: 20,20,22,forever,true,3
| TQ-0351 R: 2 records lost, 1 record late, 1 record rejected between 7 and 24: what they may have ended has an uncertain stop
run 0 print I
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,x
| 0: 1,1,10,10,true,1
| 0: 10,10,20,20,true,2
| 0: 20,20,25,forever,true,3
""")

scenario('bad rows are rejected', """open - abstract
run 0 create event E (x = i1, s = c3)
run 0 range of e is E
run 0 define integrity on e is e.x != 5
run 0 create period P (x = i4)
source a inc1
stream ea a E
stream pa a P
row ea d 1 300 a
| TQ-0629 E: a record is in Rejected: x: the value is out of the range of i1
row ea d 2 1 abcd
row ea d 3 5 a
row ea d 9..4 1 a
row ea dc 5 1 a
row ea dr 6 1 a
row ea d forever 1 a
row ea d 7 1 ok
period pa d 10 5 1
| TQ-0629 P: a record is in Rejected: the period stops before it starts
period pa dc 10 12 1
period pa d 10 open 1
period pa dc 10 12 1
reject a ea 8 unreadable xyz
check a all 100
turn
run 0 print E, P
| 0: at_lo,at_hi,definite,x,s
| 0: 7,7,true,1,ok
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,x
| 0: 10,10,12,12,true,1
run 0 range of r is Rejected
run 0 retrieve (r.relation, r.reason)
| 0: at_lo,at_hi,definite,relation,reason
| ...
run 0 copy Rejected into "rejected.csv"
""")

scenario('numbers that are none are rejected', """open - abstract
run 0 create event E (x = f8, y = f4)
source a inc1
stream ea a E
row ea d 1 nan 1
| TQ-0629 E: a record is in Rejected: x: the value is not a finite number
row ea d 2 1 inf
row ea d 3 -inf nan
row ea d 4 1.5 -2.5
check a all 100
turn
run 0 print E
| 0: at_lo,at_hi,definite,x,y
| 0: 4,4,true,1.5,-2.5
run 0 range of r is Rejected
run 0 retrieve (r.record)
| 0: at_lo,at_hi,definite,record
| ...
""")

scenario('an end record of a process ends all that it said last', """open db real sensor
source c inc1 hostA
describe c busy.sdf
stream b c Busy busy.sdf
run 0 create persistent traced Busy (Process = name, Thread = i4, Job = i4) by Thread
turn
| + Busy
row b d 1000 P:a#1 0 10
row b d 1000 P:a#1 1 11
row b d 1000 P:b#2 2 12
check c all 1500
turn
row b d 2000 P:b#2 1 21
row b d 3000 P:a#1 3 33
row b p 3000 P:a#1 0 0
row b p 4000 P:a#1 0 0
row b d 4000 P:a#1 4 44
commit
die
again
open db real sensor
source c inc1 hostA
describe c busy.sdf
stream b c Busy busy.sdf
turn
| + Busy
check c all 5000
turn
commit
run 0 print Busy
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,Process,Thread,Job
| 0: 1000,1000,3000,3000,true,P:a#1,0,10
| 0: 1000,1000,3000,3000,true,P:a#1,1,11
| 0: 1000,1000,5000,forever,true,P:b#2,2,12
| 0: 2000,2000,5000,forever,true,P:b#2,1,21
| 0: 3000,3000,4000,4000,true,P:a#1,3,33
| 0: 4000,4000,5000,forever,true,P:a#1,4,44
row b p 4500 P:a#1 0 0
check c all 6000
turn
run 0 print Busy
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,Process,Thread,Job
| 0: 1000,1000,3000,3000,true,P:a#1,0,10
| 0: 1000,1000,3000,3000,true,P:a#1,1,11
| 0: 1000,1000,6000,forever,true,P:b#2,2,12
| 0: 2000,2000,6000,forever,true,P:b#2,1,21
| 0: 3000,3000,4000,4000,true,P:a#1,3,33
| 0: 4000,4000,5000,5000,true,P:a#1,4,44
run 0 range of l is Late retrieve (l.relation)
| 0: at_lo,at_hi,definite,relation
""")

scenario('two processes with equal keys have entities of their own', """open db real sensor
source c inc1 hostA
describe c busy.sdf
stream b c Busy busy.sdf
run 0 create persistent traced Busy (Process = name, Thread = i4, Job = i4) by Thread
run 0 range of b is Busy retrieve into Jobs (b.Thread, b.Job)
run 0 retrieve into OfA (b.Thread, b.Job) where b.Process = "P:a#1"
run 0 retrieve into One (b.Process, b.Job) where b.Thread = 1
turn
| ...
row b d 1000 P:a#1 1 10
row b d 1000 P:b#2 1 20
row b d 2000 P:b#2 1 21
row b d 3000 P:a#1 1 11
row b d 3000 P:b#2 2 22
check c all 3500
turn
row b dc 4000 P:b#2 1 0
check c all 5000
turn
run 0 print Busy
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,Process,Thread,Job
| 0: 1000,1000,2000,2000,true,P:b#2,1,20
| 0: 1000,1000,3000,3000,true,P:a#1,1,10
| 0: 2000,2000,4000,4000,true,P:b#2,1,21
| 0: 3000,3000,5000,forever,true,P:a#1,1,11
| 0: 3000,3000,5000,forever,true,P:b#2,2,22
run 0 print Jobs
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,Thread,Job
| 0: 1000,1000,2000,2000,true,1,20
| 0: 1000,1000,3000,3000,true,1,10
| 0: 2000,2000,4000,4000,true,1,21
| 0: 3000,3000,5000,forever,true,1,11
| 0: 3000,3000,5000,forever,true,2,22
run 0 print OfA
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,Thread,Job
| 0: 1000,1000,3000,3000,true,1,10
| 0: 3000,3000,5000,forever,true,1,11
run 0 print One
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,Process,Job
| 0: 1000,1000,2000,2000,true,P:b#2,20
| 0: 1000,1000,3000,3000,true,P:a#1,10
| 0: 2000,2000,4000,4000,true,P:b#2,21
| 0: 3000,3000,5000,forever,true,P:a#1,11
run 0 append to Busy (Process = "P:b#2", Thread = 1, Job = 25) at "1970-01-01T00:00:00.000001500Z"
run 0 print Busy
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,Process,Thread,Job
| 0: 1000,1000,1500,1500,true,P:b#2,1,20
| 0: 1000,1000,3000,3000,true,P:a#1,1,10
| 0: 1500,1500,2000,2000,true,P:b#2,1,25
| 0: 2000,2000,4000,4000,true,P:b#2,1,21
| 0: 3000,3000,5000,forever,true,P:a#1,1,11
| 0: 3000,3000,5000,forever,true,P:b#2,2,22
row b d 6000 P:b#2 1 26
row b p 7000 none 1 0
check c all 8000
turn
run 0 retrieve (b.Process, b.Thread) when b.start overlap "1970-01-01T00:00:00.000003Z" or b.start overlap "1970-01-01T00:00:00.000006Z"
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,Process,Thread
| 0: 3000,3000,7000,7000,true,P:a#1,1
| 0: 3000,3000,8000,forever,true,P:b#2,2
| 0: 6000,6000,7000,7000,true,P:b#2,1
die
again
open db real sensor
source c inc1 hostA
describe c busy.sdf
stream b c Busy busy.sdf
turn
| ...
row b d 9000 P:a#1 2 40
check c all 9500
turn
run 0 range of b is Busy retrieve (b.Process, b.Job) where b.Thread = 2
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,Process,Job
| 0: 3000,3000,9500,forever,true,P:b#2,22
| 0: 9000,9000,9500,forever,true,P:a#1,40
""")

scenario('an end that names part of a key is of all that have that', """open db real sensor
source c inc1 hostA
describe c sides.sdf
stream t c Turn sides.sdf
run 0 create persistent traced Turn (Process = name, Door = name, Side = i4, Job = i4) by Side, Door
run 0 range of t is Turn retrieve into Jobs (t.Door, t.Side, t.Job)
turn
| ...
row t d 1000 P:a#1 D:1#1 0 10
row t d 1000 P:a#1 D:1#1 1 11
row t d 1000 P:a#1 D:2#1 0 12
row t d 2000 P:a#1 D:1#1 0 13
check c all 2500
turn
row t p 3000 P:a#1 D:1#1 0 0
row t d 3500 P:a#1 D:1#1 1 14
check c all 4000
turn
run 0 print Jobs
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,Door,Side,Job
| 0: 1000,1000,2000,2000,true,D:1#1,0,10
| 0: 1000,1000,3000,3000,true,D:1#1,1,11
| 0: 1000,1000,4000,forever,true,D:2#1,0,12
| 0: 2000,2000,3000,3000,true,D:1#1,0,13
| 0: 3500,3500,4000,forever,true,D:1#1,1,14
row t dc 4500 P:a#1 D:1#1 1 0
row t p 5000 P:a#1 none 0 0
check c all 6000
turn
run 0 print Turn
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,Process,Door,Side,Job
| 0: 1000,1000,2000,2000,true,P:a#1,D:1#1,0,10
| 0: 1000,1000,3000,3000,true,P:a#1,D:1#1,1,11
| 0: 1000,1000,5000,5000,true,P:a#1,D:2#1,0,12
| 0: 2000,2000,3000,3000,true,P:a#1,D:1#1,0,13
| 0: 3500,3500,4500,4500,true,P:a#1,D:1#1,1,14
run 0 create persistent traced Turn (Process = name, Door = name, Side = i4, Job = i4) by Door
| TQ-0104 Turn is announced by sensors, with other domains
| run: user
describe c doors.sdf
| ...
""")

scenario('the end of a process that has nothing open is done once', """open db real sensor
source c inc1 hostA
describe c busy.sdf
stream b c Busy busy.sdf
run 0 create persistent traced Busy (Process = name, Thread = i4, Job = i4) by Thread
turn
| + Busy
row b p 1000 P:a#1 0 0
commit
sql select count(*) from tq_pending
| 1
check c all 2000
turn
commit
sql select count(*) from tq_pending
| 0
""")

scenario('what a source had open that is waited for no more', ANNOUNCED + """
run 0 set source grace 3600000 ms
run 0 create persistent traced Iteration (Process = name, IterNum = i8) by Process
turn
| + Iteration
source d inc2 hostB
describe d pde.sdf
stream u d Iteration pde.sdf
process d P:b#2
process d P:c#3
process d P:c#3 ended
row t d 1000 P:a#1 1
row u d 1000 P:b#2 1
row u d 2500 P:b#2 2
check c all 2000
check d all 2000
turn
close d
check c all 4000
turn
run 0 print Iteration
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,Process,IterNum
| 0: 1000,1000,2000,forever,true,P:a#1,1
| 0: 1000,1000,2000,forever,true,P:b#2,1
run 0 set source grace 1 ms
sleep 20
turn
run 0 print Iteration
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,Process,IterNum
| 0: 1000,1000,2500,2500,true,P:b#2,1
| 0: 1000,1000,4000,forever,true,P:a#1,1
| 0: 2500,2500,2501,2501,true,P:b#2,2
source d inc2 hostB
describe d pde.sdf
stream u d Iteration pde.sdf
row u d 5000 P:b#2 5
check c all 6000
check d all 6000
turn
run 0 print Iteration
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,Process,IterNum
| 0: 1000,1000,2500,2500,true,P:b#2,1
| 0: 1000,1000,6000,forever,true,P:a#1,1
| 0: 2500,2500,2501,2501,true,P:b#2,2
| 0: 5000,5000,6000,forever,true,P:b#2,5
close d
close c
run 0 set source grace 1 ms
sleep 20
turn
run 0 print Iteration
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,Process,IterNum
| 0: 1000,1000,2500,2500,true,P:b#2,1
| 0: 1000,1000,6000,forever,true,P:a#1,1
| 0: 2500,2500,2501,2501,true,P:b#2,2
| 0: 5000,5000,6000,forever,true,P:b#2,5
""")

# Until 2026 only those who had announced a relation held it back, so the first program of a machine was late.
scenario('a collector that may begin to bring a relation', ANNOUNCED + """
run 0 create persistent traced Iteration (Process = name, IterNum = i8) by Process
turn
| + Iteration
source d inc2 hostB
row t d 1000 P:a#1 1
check c all 2000
turn
run 0 print Iteration
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,Process,IterNum
check d all 1500
turn
run 0 print Iteration
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,Process,IterNum
| 0: 1000,1000,1500,forever,true,P:a#1,1
describe d pde.sdf
stream u d Iteration pde.sdf
process d P:b#2
row u d 1600 P:b#2 1
check c all 3000
turn
check d all 3000
turn
run 0 print Iteration
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,Process,IterNum
| 0: 1000,1000,3000,forever,true,P:a#1,1
| 0: 1600,1600,3000,forever,true,P:b#2,1
source e inc3 hostC
check c all 4000
check d all 4000
turn
run 0 print Iteration
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,Process,IterNum
| 0: 1000,1000,3000,forever,true,P:a#1,1
| 0: 1600,1600,3000,forever,true,P:b#2,1
sleep 2100
turn
run 0 print Iteration
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,Process,IterNum
| 0: 1000,1000,4000,forever,true,P:a#1,1
| 0: 1600,1600,4000,forever,true,P:b#2,1
sql select count(*) from sqlite_master where name = 'Late'
| 0
""")

scenario('sampled relations have rounds', ANNOUNCED + """
run 0 create persistent sampled Load (Process = name, Value = i4) by Process
turn
| + Load
stream l c Load pde.sdf
row l d 1000 P:a#1 3
row l d 1000 P:b#2 4
row l dr 1000 P:a#1 0
row l d 2000 P:a#1 3
row l dr 2000 P:a#1 0
check c all 2500
turn
commit
run 0 print Load
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,Process,Value
| 0: beginning,1000,1001,2000,true,P:b#2,4
| 0: beginning,1000,2001,forever,true,P:a#1,3
""")

scenario('seats have their own variables and settings', """open - abstract
seat 1 ann owner
seat 2 bob owner
run 0 create event E (x = i4)
run 0 create event F (y = i4)
run 1 range of e is E
run 2 range of e is F
run 1 set unit 5
run 1 append to E (x = 1) at 7
run 2 append to F (y = 2) at 8
run 2 retrieve (e.y)
| 2: at_lo,at_hi,definite,y
| 2: 8,8,true,2
run 1 retrieve (e.x)
| 1: at_lo,at_hi,definite,x
| 1: 35,35,true,1
run 1 append to E (x = 1 / 0) at 9
| TQ-...
| run: user
run 2 retrieve (e.y)
| 2: at_lo,at_hi,definite,y
| 2: 8,8,true,2
run 0 retrieve (e.y)
| TQ-...
| run: user
run 1 destroy F
run 2 retrieve (e.y)
| TQ-...
| run: user
leave 2
run 1 retrieve (e.x)
| 1: at_lo,at_hi,definite,x
| 1: 35,35,true,1
""")

scenario('seats for reading only, files', """open - abstract
seat 1 ann owner files
seat 2 bob owner readonly
run 1 create event E (x = i4)
run 1 copy E from "e.csv"
run 2 append to E (x = 1) at 9
| TQ-0616...
| run: user
run 2 print E
| 2: at_lo,at_hi,definite,x
| 2: 1,1,true,7
| 2: 2,2,true,8
run 2 copy E into "x.csv"
| TQ-0771...
| run: user
run 1 copy E from "-" following
| TQ-0771...
| run: user
""")

scenario('permits', """open - abstract sensor
seat 1 ann
seat 2 bob
run 0 create event E (x = i4, y = i4)
run 0 append to E (x = 1, y = 10) at 1
run 0 append to E (x = 2, y = 20) at 2
run 0 append to E (x = 3, y = 30) at 3
run 0 range of e is E
run 0 define permit retrieve on E (x) to ann
run 0 define permit retrieve on E (y) to ann where e.x > 1
run 0 define permit append on E (x) to all
run 0 define permit replace, delete on E to ann where e.x = 3
run 0 define permit retrieve on E to bob at tty3
| TQ-0777...
run 1 range of f is E
run 2 range of f is E
run 1 retrieve (f.x)
| 1: at_lo,at_hi,definite,x
| 1: 1,1,true,1
| 1: 2,2,true,2
| 1: 3,3,true,3
run 1 retrieve (f.y) where f.x = 2 or f.x = 1
| 1: at_lo,at_hi,definite,y
| 1: 2,2,true,20
run 1 retrieve (n = count(f.y for ever))
| TQ-0772 ann may not retrieve E.y
| run: user
run 1 retrieve (f.x) where f.y > 0
| 1: at_lo,at_hi,definite,x
| 1: 2,2,true,2
| 1: 3,3,true,3
run 1 print E
| TQ-0772...
| run: user
run 1 display E
| TQ-0772...
| run: user
run 1 retrieve Mine (f.x)
| TQ-0773...
| run: user
run 1 append to E (x = 5, y = 1) at 9
| TQ-0772 ann may not append E.y
| run: user
run 2 append to E (x = 6) at 8
run 2 append to E (x = f.x) at 8
| TQ-0772 bob may not retrieve E.x
| run: user
run 1 delete f where f.x > 0
run 0 print E
| 0: at_lo,at_hi,definite,x,y
| 0: 1,1,true,1,10
| 0: 2,2,true,2,20
| 0: 8,8,true,6,0
run 2 retrieve (f.x)
| TQ-0772...
| run: user
run 2 retrieve (f.all)
| TQ-0772...
| run: user
run 2 explain retrieve (f.x)
| TQ-0772...
| run: user
run 2 set cache 1
| TQ-0773...
| run: user
run 2 set unit 2
may ann append E
| no
run 0 define permit append on E to ann
may ann append E
| yes
may bob append E
| no
may ann append Nothing
| no
""")

scenario('a server that is started again goes on', """open db real sensor
source c inc1
describe c pde.sdf
stream t c Iteration pde.sdf
run 0 range of i is Iteration
run 0 retrieve Over (i.IterNum) where i.IterNum > 3
turn
| + Iteration
row t d 1000 PDESolver:P1#5 5
check c all 3000
number c 1
turn
commit
die
again
open db real sensor
run 0 set source grace 3600000 ms
turn
| + Iteration
source d inc2
describe d pde.sdf
stream t d Iteration pde.sdf
row t d 4000 PDESolver:P1#5 6
check d all 6000
turn
run 0 print Over
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,IterNum
| 0: 1000,1000,3000,forever,true,5
source c inc1
durable c
| durable 1
describe c pde.sdf
stream u c Iteration pde.sdf
row u d 3500 PDESolver:P2#6 7
check c all 5000
turn
run 0 print Over
| 0: start_lo,start_hi,stop_lo,stop_hi,definite,IterNum
| 0: 1000,1000,4000,4000,true,5
| 0: 3500,3500,5000,forever,true,7
| 0: 4000,4000,5000,forever,true,6
""")


scenario('a full disk', """open db real sensor
source c inc1
describe c pde.sdf
stream n c Note pde.sdf
run 0 create persistent event Note (Process = name, Text = text)
turn
| + Note
rows n 10 1000 10 P:a#1 +
number c 1
check c all 2000
turn
commit
limit 20000
rows n 5000 3000 10 P:a#1 +
number c 2
check c all 200000
turn
commit
| TQ-0611...
| commit: system
durable c
| durable 0 over
row n d 500000 P:a#1 x
| row: over
close c
source c inc1
| TQ-0611...
| source: system
run 0 append to Note (Process = "P:a#1", Text = "x") at "2020-01-01"
| TQ-0611...
| run: system
limit
turn
source d inc1
durable d
| durable 1
describe d pde.sdf
stream m d Note pde.sdf
rows m 5000 3000 10 P:a#1 +
number d 2
check d all 200000
turn
commit
durable d
| durable 2
run 0 range of n is Note
run 0 retrieve (c = count(n.Text for ever)) when n overlap n
| ...
| 0: 52990,52990,true,5010
run 0 retrieve (n.Text) where n.Text = "17"
| 0: at_lo,at_hi,definite,Text
| 0: 3170,3170,true,17
""")


scenario('a full disk when a feed begins', """open db abstract
run 0 create event E (x = i4)
run 0 append to E (x = 1) at 1
source c inc1
limit 20000
stream e c E
rows e 5000 3000 10 +
number c 1
check c e 200000
turn
commit
| TQ-0611...
| commit: system
limit
close c
source d inc1
durable d
| durable 0
stream f d E
rows f 5000 3000 10 +
number d 1
check d f 10000
turn
close d good
run 0 print Late
| 0: at_lo,at_hi,definite,relation,reason,record
run 0 range of e is E
run 0 retrieve (c = count(e.x for ever)) when e overlap e
| ...
| 0: 52990,52990,true,5001
""")

# Wherever a statement that only looks is interrupted, in SQLite as well, it says so, and what a source has brought
# since the last commit is not taken back: the source stays, and everything is there at the end.
SUM = 'run 0 retrieve (c = count(e.x), s = sum(e.x for ever)) at e'
scenario('interrupted while records wait', f"""open db real
run 0 create event E (x = i4)
run 0 range of e is E
run 0 set cache 0
run 0 set durable every 1 hour
run 0 append to E (x = 1) at "1970-01-01T00:00:00Z"
source c inc1
stream e c E
rows e 9000 2000 10 +
number c 1
check c e 92000
turn
commit
again
open db real
run 0 range of e is E
run 0 set cache 0
run 0 set durable every 1 hour
source c inc1
stream e c E
rows e 100 92000 10 +
number c 2
check c e 100000
turn
""" + ''.join(f"""interrupt {look}
{SUM}
| TQ-0406 the statement was interrupted
| run: cancel
""" for look in range(1, 12)) + f"""interrupt 100000
{SUM}
| ...
| not interrupted
durable c
| durable 1
rows e 1 100000 10 7
number c 3
check c e 200000
turn
commit
durable c
| durable 3
close c good
turn
run 0 retrieve (c = count(e.x for ever)) at e where e.x = 7
| ...
| 0: 100000,100000,true,9102
""")


def main():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    program, chosen = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    names = [name for name in SCENARIOS if not chosen or name in chosen]
    failed = 0
    print(f'1..{len(names)}')
    for number, name in enumerate(names, 1):
        with tempfile.TemporaryDirectory(prefix='tquel-session.') as directory:
            for file, text in FILES.items():
                (pathlib.Path(directory) / file).write_text(text, encoding='utf-8')
            problems = play(program, SCENARIOS[name], directory)
        print(f"{'not ok' if problems else 'ok'} {number} - {name}")
        for problem in problems:
            print('\n'.join('# ' + line for line in problem.split('\n')))
        failed += bool(problems)
    return 1 if failed else 0


sys.exit(main())
