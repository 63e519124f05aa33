#!/usr/bin/env python3
"""Programs, collector and server together: what was generated is in the database, or counted as lost,
whoever was killed meanwhile. TAP.

    server_test.py TQUEL TARGET [CASE]...

Nothing here assumes a speed: what is to come is waited for, PATIENCE seconds at most. The stand-in of collect_test.py knows the protocol; here it is what `tquel serve` makes of it that counts."""

import glob
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from collect_test import PATIENCE, Failed, Target, check  # noqa: E402

TQUEL, TARGET = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
SERVER = os.environ.get("TQUEL_SERVER", TQUEL)


class World:
    def __init__(self):
        self.top = tempfile.mkdtemp(prefix="served-")
        self.environment = dict(os.environ, XDG_RUNTIME_DIR=self.top)
        self.directory = os.path.join(self.top, "tquel")
        os.mkdir(self.directory, 0o700)
        self.database = os.path.join(self.top, "m.db")
        self.targets, self.server, self.collector = [], None, None

    def start(self, program, *arguments):
        return subprocess.Popen([program, *arguments], env=self.environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=open(os.path.join(self.top, "said"), "a"),
                                text=True)

    def serve(self, *options):
        self.server = self.start(SERVER, "serve", self.database, *options)
        check("serving" in self.server.stdout.readline(), "the server does not serve")

    def collect(self, *options):
        self.collector = self.start(TQUEL, "collect", *options)

    def target(self, name=None):
        self.targets.append(Target(self, name))
        return self.targets[-1]

    def run(self, text, *options):
        done = subprocess.run([TQUEL, "--connect", os.path.join(self.directory, "server"), *options, "-c", text],
                              env=self.environment, capture_output=True, text=True, timeout=PATIENCE)
        return done.returncode, done.stdout, done.stderr

    def until(self, condition, text):
        end = time.monotonic() + PATIENCE
        while not condition():
            check(time.monotonic() < end, text() if callable(text) else text)
            time.sleep(0.05)

    def ask(self, *statements):
        """Standing queries; their relations may still have to be announced."""
        for statement in statements:
            result = [None]

            def works():
                result[0] = self.run(statement)
                return result[0][0] == 0
            self.until(works, lambda: f"{statement}: {result[0]}")

    def recording(self, *targets):
        """Until what they pass is recorded."""
        for target in targets:
            def comes():
                target.do("tick 1 1 0")
                return target.generated() > 0
            self.until(comes, "nothing is switched on")

    def switched_off(self, target):
        """Until nothing that it passes is recorded."""
        before = -1

        def off():
            nonlocal before
            was, before = before, (target.do("tick 1 10 0"), target.generated())[1]
            return was == before
        self.until(off, "the sensor stays on")

    def comes(self, count):
        """Until so many more records have been stored."""
        before = self.count("Tick")
        self.until(lambda: self.count("Tick") >= before + count, "no more records are stored")

    def rows(self, text):
        connection = sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)
        try:
            return connection.execute(text).fetchall()
        finally:
            connection.close()

    def count(self, relation, what="count(*)"):
        try:
            return self.rows(f'select coalesce({what}, 0) from "{relation}"')[0][0]
        except sqlite3.OperationalError:
            return 0

    def filtered(self, relation="Tick"):
        return self.rows(f"select coalesce(sum(count), 0) from tq_filtered where relation = '{relation}'")[0][0]

    def accounted(self):
        return (self.count("Tick"), self.count("Late"), self.count("Rejected"),
                self.count("Lost", 'sum("count")'), self.filtered())

    def balance(self, generated):
        self.until(lambda: sum(self.accounted()) == generated,
                   lambda: f"generated {generated}, accounted for {self.accounted()}: " +
                   str(self.rows('select * from "Lost"') if self.count("Lost") else ""))

    def clean(self):
        for process in [t.process for t in self.targets] + [self.collector, self.server]:
            if process and process.poll() is None:
                process.kill()
            if process:
                process.wait()
        with open(os.path.join(self.top, "said"), "a+") as file:
            file.seek(0)
            said = re.sub(r"^warning TQ-085[45]: .*\n(hint: .*\n)?", "", file.read(), flags=re.M)  # that records are lost
        shutil.rmtree(self.top, ignore_errors=True)
        return said


COUNTED = "n = count(t for each instant where t.Number < 0)"  # none of those that are there
TICKS = "range of t is Tick retrieve into Ticks (t.Process, t.Number)"


def begin(world, count):
    targets = [world.target() for _ in range(count)]
    world.serve()
    world.collect()
    world.ask(TICKS)
    world.recording(*targets)
    return targets


def all_that_is_asked(world):
    target = begin(world, 1)[0]
    target.do("tick 3 2000 0")
    world.balance(target.generated())
    check(world.accounted()[0] == target.generated(), "something was lost")
    check(world.count("Ticks") > 0, "the query has no rows")


def as_of_now(world):
    """How it is now is answered when everything until then is known; and if that does not come, it is said."""
    target = begin(world, 1)[0]
    target.do("tick 2 500 0")
    ask = "range of t is Tick retrieve (n = count(t for ever)) at now"
    answers = [None]

    def answered():  # who brings the records may have been busy
        answers[0] = world.run(ask)
        return "TQ-0853" not in answers[0][2]
    world.until(answered, lambda: f"the answer is never final: {answers[0]}")
    rows = answers[0][1].splitlines()[1:]
    check([row.rpartition(",")[2] for row in rows] == [str(target.generated())], f"{target.generated()}: {answers[0]}")
    os.kill(world.collector.pid, signal.SIGSTOP)
    world.until(lambda: "TQ-0853" in world.run(ask)[2], "nothing is said of what is not known")
    os.kill(world.collector.pid, signal.SIGCONT)
    world.until(answered, lambda: f"the answer is not final again: {answers[0]}")


def collector_is_killed(world):
    targets = begin(world, 2)
    for target in targets:
        target.do("start 2 200000")
    for _ in range(4):
        world.comes(500)
        world.collector.kill()
        world.collector.wait()
        world.collect()
    # What is in the ring of a thread that ends before the new one is there waits for the program's end.
    now = time.time_ns()
    world.until(lambda: world.rows(f"""select count(*) from (select distinct Process, Thread from Tick
                                       where at_lo > {now})""")[0][0] == 4, "no more records of all threads are stored")
    for target in targets:
        target.do("stop")
    world.balance(sum(t.generated() for t in targets))


def server_is_killed(world):
    targets = begin(world, 2)
    for target in targets:
        target.do("start 2 1000000")
    for _ in range(3):
        world.comes(100)
        world.server.kill()
        world.server.wait()
        world.serve()
    world.comes(100)
    for target in targets:
        target.do("stop")
    world.balance(sum(t.generated() for t in targets))
    check(world.accounted()[3] == 0, f"lost: {world.accounted()}")


def program_is_killed(world):
    targets = begin(world, 3)
    for target in targets:
        target.do("start 3 100000")
    world.comes(1000)

    def stopped(task):
        with open(task + "/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] == "T"
    for target in targets:
        os.kill(target.pid, signal.SIGSTOP)
        world.until(lambda: all(stopped(task) for task in glob.glob(f"/proc/{target.pid}/task/*")),
                    "it does not stop")
    generated = sum(target.generated() for target in targets)
    for target in targets:
        target.kill()
    world.balance(generated)


def overload(world):
    targets = begin(world, 2)
    for target in targets:
        target.begin("tick 2 250000 0")
    for target in targets:
        target.answer()
    world.balance(sum(t.generated() for t in targets))


def off_again(world):
    target = begin(world, 1)[0]
    target.do("tick 1 100 0")
    world.balance(target.generated())  # what comes when nobody asks any more is not kept
    check(world.run("destroy Ticks")[0] == 0, "it cannot be destroyed")
    world.switched_off(target)


def switched_by_users(world, kind="name"):
    """What users write into a relation that a standing query joins with a sensor's switches that sensor."""
    target, other = world.target(), world.target()
    world.serve()
    world.collect()
    check(world.run(f"create period F (Process = {kind}) create event G (x = i4)")[0] == 0, "they are not created")
    world.ask("range of t is Tick range of f is F retrieve into X (t.Number) where t.Process = f.Process when t overlap f")
    listed = [None]

    def name(of):
        listed[0] = world.run("\\ds")[1]
        return re.search(rf"\bWorker:{of.pid}#\S+", listed[0])
    world.until(lambda: name(target) and name(other), lambda: f"they are not listed: {listed[0]}")
    wanted = name(target).group(0)
    check(world.run(f'append to F (Process = "{wanted}") valid from now to forever')[0] == 0, "nothing is appended")
    world.recording(target)
    other.do("tick 1 10 0")
    check(other.generated() == 0, "nobody asks for the other one")
    world.until(lambda: world.count("X") > 0, "the query has no rows")
    check(world.run(f'range of f is F delete f where f.Process = "{wanted}"')[0] == 0, "nothing is deleted")
    world.switched_off(target)
    check(world.count("X") == 0 and world.server.poll() is None, "the query has rows")


def switched_by_text(world):
    """So does text, also where it says more: what is no process switches nothing."""
    switched_by_users(world, "text")
    world.until(lambda: world.run('append to F (Process = "nobody") valid from now to forever')[0] == 0,
                "nothing is appended")
    world.until(lambda: 'Process = "nobody" (1): no such process' in world.run("\\ds")[1], "it is not said")
    world.switched_off(world.targets[0])


def over_the_network(world):
    """Times are bounded by what the exchange of clocks leaves uncertain."""
    made = subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                           "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", "key",
                           "-out", "certificate"], cwd=world.top, capture_output=True)
    check(made.returncode == 0, made.stderr)
    path = {name: os.path.join(world.top, name) for name in ("key", "certificate", "token")}
    with open(path["token"], "w", opener=lambda p, f: os.open(p, f, 0o600)) as file:
        file.write("a secret that is long enough\n")
    target = world.target()
    for attempt in range(10):  # somebody else may take the port meanwhile
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        try:
            world.serve("--listen", f"tls:127.0.0.1:{port}", "--certificate", path["certificate"], "--key",
                        path["key"], "--token-file", path["token"])
            break
        except Failed:
            check(attempt < 9, "no port is free")
            world.server.wait()
            os.truncate(os.path.join(world.top, "said"), 0)
    world.collect("--connect", f"tls:localhost:{port}", "--ca", path["certificate"], "--token-file",
                  path["token"])
    world.ask(TICKS)
    world.recording(target)
    before = time.time_ns()
    target.do("tick 2 1000 0")
    world.balance(target.generated())
    rows = world.rows(f"select at_lo, at_hi from Tick where at_hi > {before}")
    check(len(rows) >= 2000, f"{len(rows)} rows could be of the last moments, accounted for {world.accounted()}: " +
          str(world.rows("select min(at_lo), max(at_hi) from Tick")) + f" before {before}, too late " +
          str(world.rows("select * from Late limit 2") if world.accounted()[1] else None))
    check(all(0 < hi - lo < 10 ** 11 for lo, hi in rows), "times are not bounded")
    for _ in range(20):  # of a ring that is seen for the first time while it fills nothing is promised
        world.recording(world.target())
        world.targets[-1].do("tick 4 500 0")
    generated = sum(each.generated() for each in world.targets)
    world.balance(generated)
    check(world.count("Late") == 0, f"{world.count('Late')} of {generated} are late")


def losses_are_said(world):
    """What a ring, or the collector's buffer, has no room for is in Lost, and the collector says so."""
    target = world.target()
    world.serve()
    world.collect("--ring", "16", "--buffer", "1")
    world.ask(TICKS, f"range of t is Tick retrieve into Each ({COUNTED})",
              f"range of t is Tick set losses ignored retrieve into There ({COUNTED})")
    world.recording(target)

    def said(number):
        with open(os.path.join(world.top, "said")) as file:
            return number in file.read()

    def lost():
        os.kill(world.collector.pid, signal.SIGSTOP)
        target.do("tick 1 100000 0")
        os.kill(world.collector.pid, signal.SIGCONT)
        return said("TQ-0854")
    world.until(lost, "nothing is said of a full ring")
    world.until(lambda: said("were full, with 16 KiB\n"), "nor how large it is")
    world.until(lambda: said("TQUEL_RING=KIB for the program, or tquel collect --ring KIB"), "nor how it is enlarged")
    os.kill(world.server.pid, signal.SIGSTOP)

    def too_much():
        target.do("tick 1 100000 100")
        return said("TQ-0855")
    world.until(too_much, "nothing is said of a full buffer")
    os.kill(world.server.pid, signal.SIGCONT)
    world.balance(target.generated())
    check(world.accounted()[3] > 0, "nothing was lost")
    world.until(lambda: uncertain(world, "print Each") == lost_times(world),
                lambda: f"uncertain in {uncertain(world, 'print Each')}, lost in {lost_times(world)}")
    check(uncertain(world, f"range of t is Tick retrieve ({COUNTED})") == lost_times(world), "asked once it is otherwise")
    check(uncertain(world, "print There") == [], "who ignores losses does not")
    done = subprocess.run([TQUEL, "check-database", world.database], capture_output=True, text=True)
    check(done.returncode == 0, f"check-database: {done.stdout}{done.stderr}")


def united(stretches):
    """Apart from each other, in order."""
    result = []
    for start, stop in sorted(stretches):
        if result and start <= result[-1][1]:
            result[-1][1] = max(stop, result[-1][1])
        else:
            result.append([start, stop])
    return result


def lost_times(world):
    """Since there was anything to count."""
    first = world.rows("select min(at_lo) from Tick")[0][0]
    lost = world.rows(f"select max(start_lo, {first}), stop_hi from Lost where relation in ('Tick', '')")
    return united((start, stop) for start, stop in lost if start < stop)


def uncertain(world, question):
    """When the tuples of the answer are not definite; all of them have a count of 0."""
    code, out, said = world.run(question, "--format", "ndjson")
    check(code == 0, said)
    rows = [json.loads(line) for line in out.splitlines()]
    check(rows and all(row["n"] == 0 for row in rows), out[:200])
    return united((row["start_lo"], row["stop_hi"]) for row in rows if not row["definite"])


def what_it_takes(world):
    """While records are made, what they cost the program, and what collector and server take."""
    target = world.target()
    world.serve()
    world.collect()
    world.ask(TICKS)
    world.recording(target)

    def lines():
        target.do("tick 1 5000 0")
        said = re.findall(r"^overhead: .*", world.run("\\ds")[1], re.M)
        return [line for line in said if line.startswith((f"overhead: Worker:{target.pid}#", "overhead: TquelCollector:",
                                                          "overhead: server "))]
    found = []

    def all_three():
        found[:] = lines()
        return len(found) == 3
    world.until(all_three, lambda: world.run("\\ds")[1])
    shares = re.search(r" ([0-9.e+-]+)%, ([0-9.e+-]+) of ([0-9.e+-]+) ms ", found[0])
    if " most of " in found[0]:  # of few records that were measured some were interrupted
        return
    check(shares is not None, str(found))
    percent, sensors, of = (float(share) for share in shares.groups())
    check(0 < sensors < of and abs(100 * sensors / (of - sensors) - percent) <= 0.1 * percent, str(shares.groups()))


def objects(world):
    """A query of one object switches its sensors alone; its periods end with it, and those of samples."""
    target = world.target("P1")
    world.serve()
    world.collect()
    target.do("new 0 20")
    target.do("sampler 1")
    world.ask('range of s is Step retrieve into Seven (s.Job, s.Number) where s.Job = "Job:7#*"',
              "range of l is Level retrieve into Levels (l.Job, l.Value)")
    def recorded():
        target.do("step 7 1 1")
        return target.generated() > 0 and world.count("Levels") == 20
    world.until(recorded, "nothing is switched on")
    target.do("step 0 7 1")
    target.do("step 8 12 1")
    target.do("release 7 1")
    open_rows = 'select count(*) from "{}" where stop_hi = 9223372036854775807'
    world.until(lambda: world.rows(open_rows.format("Seven"))[0][0] == 0, "the job's last step does not end")
    world.until(lambda: world.rows(open_rows.format("Levels"))[0][0] <= 19, "its level does not end")
    target.end()
    world.until(lambda: world.rows(open_rows.format("Levels"))[0][0] == 0, "levels do not end")
    check({row[0].split("#")[0] for row in world.rows('select "Job" from "Seven"')} == {"Job:7"}, "other jobs")
    check({row[0].split("#")[0] for row in world.rows('select "Job" from "Step"')} == {"Job:7"},
          "steps of other jobs were recorded")
    check(world.count("Rejected") == 0, "something was rejected")


def first_of_all(world):
    """The first program that anybody has seen of its kind begins with what is to be kept, and leaves no record out."""
    world.serve()
    world.collect()
    check(world.run("create persistent event Tick (Process = name, Number = i8, Thread = i4) "
                    "create persistent traced Step (Process = name, Job = name, Number = i8) by Job")[0] == 0,
          "they are not created")
    page = os.path.join(world.directory, "collector.wanted")
    world.until(lambda: os.path.exists(page), "programs that begin are not told")
    for again in (world.server, world.collector):  # who comes later knows it, too
        again.kill()
        again.wait()
    os.remove(page)
    world.serve()
    world.collect()
    world.until(lambda: os.path.exists(page), "programs that begin are not told any more")
    target = world.target()
    target.do("tick 1 100 0")
    world.until(lambda: world.count("Tick") == 100, lambda: str(world.accounted()))
    subprocess.run([TARGET, "briefly", "5"], env=world.environment, stdout=subprocess.DEVNULL, timeout=PATIENCE)
    world.until(lambda: sum(world.accounted()) + world.count("Step") == 112, lambda: str(world.accounted()))


def periods(world):
    """A period sensor's periods are told apart, nested and overlapping; what is left open ends with its sensor or process,
    and not a second time when it stops."""
    target, other = world.target(), world.target()
    world.serve()
    world.collect()
    world.ask("range of s is Span retrieve into Spans (s.Process, s.Ticket, s.Number, s.Called)")
    for each in (target, other):
        world.until(lambda: (each.do("spans 1 0"), each.generated())[1] > 0, "nothing is switched on")
        each.do("hold 1")
        each.do("spans 100 10000")
        each.do("hold 2")
        each.do("let 1")

    def rows(where):
        return world.rows(f'select count(*) from Spans where {where}')[0][0]
    world.until(lambda: rows("Called = 'held'") == 4 and rows("Number = 99") == 4, lambda: str(world.rows("select * from Spans")))
    world.until(lambda: rows("stop_hi = 9223372036854775807") == 2, "what stopped is open, or what did not is not")
    check(rows("Called = 'held' and Number = 2 and stop_hi = 9223372036854775807") == 2, "others are open")
    inside = """select count(*) from Spans i join Spans o using (Process, Number) where i.Called = 'inner' and o.Called = 'outer'
                and o.start_lo <= i.start_lo and i.stop_lo <= o.stop_lo and o.Ticket < i.Ticket"""
    check(world.rows(inside)[0][0] == rows("Called = 'inner'"), str(world.rows("select * from Spans")))
    check(rows("Called = 'inner'") == rows("Called = 'outer'") >= 200, str(world.rows("select * from Spans")))
    check(world.rows("select count(distinct Process || Ticket) from Spans")[0][0] == rows("1"), "tickets are given twice")
    records = sum(each.generated() for each in (target, other))
    check(records == 2 * rows("1") - 2, f"{records} records of {rows('1')} periods, 2 of them open")
    other.do("new 0 3")
    world.ask("range of v is Visit retrieve into Visits (v.Process, v.Job, v.Ticket)")

    def visits(where):
        return world.rows(f'select count(*) from Visits where {where}')[0][0] if world.count("Visits") else 0
    world.until(lambda: (other.do("visit 1 0"), visits("1"))[1] > 0, "nothing is switched on")
    before, spans_before = visits("1"), rows("1")
    for _ in range(50):
        other.do("visit 1 0")
    world.until(lambda: visits("1") >= before + 50, lambda: str(world.rows("select * from Visits")))
    world.until(lambda: visits("stop_hi = 9223372036854775807") == 0, "a visit does not end")
    world.until(lambda: rows("stop_hi = 9223372036854775807") == 2, "a span does not end")
    check(rows("1") >= spans_before + 200, "spans are missing")
    world.collector.kill()  # nobody knows what it did meanwhile
    world.collector.wait()
    world.collect()
    world.until(lambda: rows("stop_hi = 9223372036854775807") == 0, "what was open is taken for open")
    world.until(lambda: (target.do("hold 3"), rows("Number = 3 and Called = 'held'"))[1] > 0, "nothing is switched on again")
    target.do("let 2")
    target.do("let 3")
    target.do("hold 4")
    world.until(lambda: rows("Number = 4 and Called = 'held'") == 1, "the last one does not come")
    check(rows("Number = 2 and Called = 'held'") == 2, "a period has begun at its end")
    target.kill()
    world.until(lambda: rows("Number = 4 and Called = 'held' and stop_hi = 9223372036854775807") == 0, "it outlives its process")
    check((world.count("Rejected"), world.count("Late")) == (0, 0), "something was rejected, or came late")


def how_long_they_last(world):
    """\\dr shows durations as people read them, and what is open; nothing is recorded."""
    target = world.target()
    world.serve()
    world.collect()
    world.ask("\\count Span on")

    def shown():
        lines = world.run("\\dr Span")[1].splitlines()
        return dict(zip(lines[0].split(), lines[1].split())) if len(lines) == 2 else {}
    world.until(lambda: (target.do("hold 1"), shown().get("open", "0"))[1] != "0", lambda: f"{shown()}")
    before = int(shown()["count"])
    target.do("spans 10 2000000")
    target.do("hold 2")
    said = shown()
    open_now = int(said["open"])
    check(int(said["count"]) == before + 21 and open_now == before + 1, f"{said}")
    target.do("let 2")
    check(int(shown()["open"]) == before, f"{shown()}")
    units = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "min": 6e10}

    def ns(text):
        number = re.fullmatch(r"([0-9.e+]+)([a-z]+)", text)
        return float(number[1]) * units[number[2]]
    check(ns(said["sum"]) >= 0.999 * 60e6 and abs(ns(said["mean"]) * 20 / ns(said["sum"]) - 1) < 0.01, f"{said}")
    check(re.match(r"\[[0-9.]+m?s,[0-9.]+m?s\):", said["distribution"]), f"{said}")
    check(target.generated() == 0, "records were made")
    help_is_there = world.run("\\dr Tick")[1].split()
    check("open" not in help_is_there, "events are open")


def nothing_as_yet(world):
    """Before the first tuple that there is none is known, for certain, and checkpoints go on."""
    target = world.target()
    world.serve()
    world.collect()
    span = "range of s is Span "
    origin = 'set origin "2026-01-01T00:00:00Z" ' + span
    world.ask(span + "range of t is Tick retrieve into Idle (t.Process, t.Number) where any(s) = 0",
              origin + "retrieve into Spans (n = count(s))")
    world.recording(target)
    target.do("tick 1 5 1000000")
    world.until(lambda: world.count("Idle") >= 5, lambda: f"{world.count('Idle')} of {world.count('Tick')} ticks while nothing was open")
    check(world.rows("select n, definite, stop_lo is null from Spans") == [(0, 1, 1)], str(world.rows("select * from Spans")))
    check(re.search(r",true,0$", world.run(origin + "retrieve (n = count(s)) at now")[1], re.M), "not known to be none")
    check(world.count("Span") == 0, "there is one")
    target.do("hold 1")
    world.until(lambda: world.rows("select n, definite from Spans order by start_lo") == [(0, 1), (1, 1)],
                lambda: str(world.rows("select * from Spans")))
    world.until(lambda: target.do("tick 1 1 0") and world.count("Tick") > world.count("Idle"), "what is open is not known")


def had_back(text):
    """The bytes of a text that the collector has stored."""
    if not re.search(r'\\x(00|[89a-f][0-9a-f])', text):
        return text.encode()
    escapes = rb'\\(\\|x00|x[89a-f][0-9a-f])'
    return re.sub(escapes, lambda m: b'\\' if m[1] == b'\\' else bytes.fromhex(m[1][1:].decode()), text.encode())


def one_after_the_other(world):
    """Who asks for a relation of which nothing has come yet has its sensors switched on, while others are live."""
    target = begin(world, 1)[0]
    world.until(lambda: (target.do("tick 1 1 0"), world.count("Tick"))[1] > 0, "nothing is stored")
    world.ask("range of p is Phase retrieve into Phases (p.Process, p.Called)")
    world.until(lambda: (target.do("phase first"), world.count("Phases"))[1] > 0, "nothing is recorded")
    check(world.run("destroy Phases")[0] == 0, "it cannot be destroyed")
    world.ask("range of p is Phase retrieve into Again (p.Process, p.Called)")
    before = world.count("Again")
    world.until(lambda: (target.do("phase second"), world.count("Again"))[1] > before, "nothing more is recorded")


def texts(world):
    """Text that is no UTF-8 loses no record, is counted, and can be had back."""
    given = [b'plain', 'caf\u00e9'.encode(), b'caf\xe9', b'a\\b', b'a\\b\xff', b'\xf0\x9f\x98', b'C:\\xe9', b'\\x1b',
             b'long enough for words \xc3', b'\xed\xa0\x80', b'eight888\\x80', b'end']
    stored = ['plain', 'caf\u00e9', r'caf\xe9', r'a\b', r'a\\b\xff', r'\xf0\x9f\x98', r'C:\\xe9', r'\x1b',
              r'long enough for words \xc3', r'\xed\xa0\x80', r'eight888\\x80', 'end']
    target = world.target()
    world.serve()
    world.collect()
    world.ask("range of p is Phase retrieve into Phases (p.Process, p.Called)", "range of t is Tick retrieve into Ticks (t.Number)")
    world.recording(target)
    world.until(lambda: (target.do("phase first"), world.count("Phase"))[1] > 0, "nothing is recorded")
    for text in given:
        target.do("bytes " + text.hex())
    select = 'select "Called" from "Phase" where "Called" <> \'first\' order by start_lo, rowid'
    world.until(lambda: len(world.rows(select)) == len(given), lambda: str(world.rows(select)))
    found = [row[0] for row in world.rows(select)]
    check(found == stored, f"stored: {found}")
    check([had_back(text) for text in found] == given, "not what was given")
    check(world.count("Rejected") == 0, "something was rejected")
    escaped = sum(text.encode() != was for text, was in zip(stored, given))

    def shown():
        lines = world.run("\\ds")[1].splitlines()
        column = lines[0].find("escaped")
        return [line[column:column + 7].strip() for line in lines if line.startswith("Worker:") and " Phase " in line]
    world.ask("range of k is Key retrieve into Keys (k.Bytes, k.Length)")
    world.until(lambda: (target.do("keys first 5"), world.count("Key"))[1] > 0, "nothing is recorded")
    given = [("ab", 5), ("ab", 1), ("ab", 2), ("eight888", 8), ("eight888", 9), ("ab", 0), (r"\x00", 4), ("ab", -1)]
    for text, length in given:
        target.do(f"keys {text} {length}")
    select = "select Bytes from Key where Bytes <> 'first' order by at_lo, rowid"
    wanted = [(text.encode() + bytes(20))[:length] for text, length in given if length >= 0]
    world.until(lambda: len(world.rows(select)) == len(wanted), lambda: str(world.rows(select)))
    check([had_back(row[0]) for row in world.rows(select)] == wanted, str(world.rows(select)))
    world.until(lambda: world.rows('select cause, "count" from Lost where relation = \'Key\'') == [("oversize", 1)],
                lambda: str(world.rows("select * from Lost")))
    world.until(lambda: shown() == [str(escaped)], lambda: f"{escaped} are not shown: {world.run(chr(92) + 'ds')[1]}")


def column(world, name, relation):
    """Of \\ds, of each process."""
    lines = world.run("\\ds")[1].splitlines()
    at = lines[0].find(name)
    return [int(line[:at + len(name)].split()[-1]) for line in lines
            if at >= 0 and line.startswith("Worker:") and f" {relation} " in line]


def filtered(world):
    """What no question asks for is left out where it arises, and counted: of events by any value, whoever collects; a
    question that comes later has all that it asks for from then on."""
    first, second = world.target(), world.target()
    world.serve()
    world.collect()
    world.ask("range of t is Tick retrieve into Some (t.Process, t.Number) "
              "where t.Number between 100 and 104 and t.Thread != 1 or t.Number = -1")

    def generated():
        return first.generated() + second.generated()

    def number(relation, low, high):
        return world.rows(f"select count(*) from {relation} where Number between {low} and {high}")[0][0]
    world.until(lambda: (first.do("tick 3 200 0"), second.do("tick 3 200 0"), number("Some", 100, 104))[2] > 0, "nothing comes")
    for each in (first, second):
        each.do("tick 3 2000 0")
    world.balance(generated())
    check(world.count("Some") == world.count("Tick") == number("Tick", 100, 104), "stored is what nobody asked for, or not what was")
    check(world.filtered() > 50 * world.count("Tick") and world.count("Lost") == 0, f"{world.accounted()}")
    world.until(lambda: sum(column(world, "filtered", "Tick")) == world.filtered(), lambda: world.run("\\ds")[1])
    check(sum(column(world, "records", "Tick")) == generated(), world.run("\\ds")[1])
    check(", filtered: " in world.run("\\ds")[1] and "Number >= 100" in world.run("\\ds")[1], world.run("\\ds")[1])
    check(f"filtered:   {world.filtered()} records" in world.run("\\d Tick")[1], world.run("\\d Tick")[1])
    said = world.run("range of t is Tick retrieve (t.Number) where t.Number = -5")[2]
    check("TQ-0370" in said and f"{world.filtered()} records" in said, said)
    first.do("start 3 100000")
    for _ in range(3):
        before = world.filtered()
        world.until(lambda: world.filtered() > before + 500, "nothing more is left out")
        world.collector.kill()  # what it had counted is with the server, or is read again
        world.collector.wait()
        world.collect()
    before = world.filtered()
    world.until(lambda: world.filtered() > before + 2000, "nothing more is left out")
    first.do("stop")
    world.balance(generated())
    world.ask("range of t is Tick retrieve into Odd (t.Process, t.Number) where t.Number > 1990")
    world.until(lambda: (first.do("tick 1 2000 0"), number("Odd", 1991, 2000))[1] > 0, "it is not asked for")
    world.balance(generated())
    before = number("Tick", 1991, 1999)
    first.do("tick 3 2000 0")
    world.balance(generated())
    world.until(lambda: number("Odd", 1991, 1999) == number("Tick", 1991, 1999) == before + 27,
                "of what is asked for later some is not there")
    check(world.count("Tick") == world.count("Some") + world.count("Odd"), "others are stored")
    left_out = world.filtered()
    world.ask("range of t is Tick retrieve into Whole (t.Number)")  # nobody's filter holds any more
    world.until(lambda: (first.do("tick 1 1 0"), number("Whole", 0, 0))[1] > 0, "it is not asked for")
    world.balance(generated())
    left_out, stored = world.filtered(), world.count("Tick")
    second.do("tick 3 500 0")
    world.balance(generated())
    check((world.filtered(), world.count("Tick")) == (left_out, stored + 1500), f"{world.accounted()}")


def filtered_periods(world):
    """A period sensor's periods go as a whole; a traced relation's records only with their entity."""
    target = world.target()
    world.serve()
    world.collect()
    world.ask("range of s is Span retrieve into Spans (s.Ticket, s.Number, s.Called) where s.Called = \"in*\" and s.Number < 50",
              "range of p is Phase retrieve into Phases (p.Called) where p.Called = \"b\"")
    world.until(lambda: (target.do("spans 10 0"), world.count("Spans"))[1] > 0, "nothing is switched on")
    world.until(lambda: (target.do("phase b"), world.count("Phases"))[1] > 0, "nothing is switched on")
    target.do("spans 100 10000")
    for name in "abacb":
        target.do(f"phase {name}")

    def inner(where):
        return world.rows(f"select count(*) from Span where {where}")[0][0]
    world.until(lambda: inner("Number = 49") == 1, lambda: str(world.rows("select * from Span")))
    world.until(lambda: world.filtered("Span") >= 150, lambda: str(world.rows("select * from tq_filtered")))
    check(inner("Called = 'outer' or Number >= 50") == 0, "stored is what nobody asked for")
    world.until(lambda: inner("stop_hi = 9223372036854775807") == 0, "a period does not end")
    world.until(lambda: world.rows("select Called from Phase order by start_lo desc limit 5") ==
                [(name,) for name in "bcaba"], lambda: str(world.rows("select * from Phase")))
    check(world.filtered("Phase") == 0, "a record that ends a period was left out")
    check(world.rows("select count(*) from Phase where stop_hi = 9223372036854775807") == [(1,)], "periods stay open")
    check((world.count("Rejected"), world.count("Late"), world.count("Lost")) == (0, 0, 0), "something is not there")


CASES = [filtered, filtered_periods, all_that_is_asked, how_long_they_last, nothing_as_yet, what_it_takes, as_of_now, one_after_the_other, texts, collector_is_killed, server_is_killed, program_is_killed, overload, off_again,
         objects, first_of_all, periods, switched_by_users, switched_by_text, losses_are_said, over_the_network]


def main():
    wanted = sys.argv[3:]
    cases = [c for c in CASES if not wanted or c.__name__ in wanted]
    if not shutil.which("openssl") or os.environ.get("TQUEL_WITHOUT_TLS"):
        cases = [c for c in cases if c is not over_the_network]
    print(f"1..{len(cases)}", flush=True)
    failed = False
    for number, case in enumerate(cases, 1):
        world, reason = World(), None
        try:
            case(world)
        except Failed as error:
            reason = str(error)
        except Exception:  # the test itself is wrong, or a time limit
            reason = traceback.format_exc()
        said = world.clean()
        if reason is None and said:
            reason = "somebody complained"
        failed |= reason is not None
        print(f"{'not ok' if reason else 'ok'} {number} - {case.__name__.replace('_', ' ')}")
        for line in (reason or "").splitlines() + (said.splitlines()[:20] if reason else []):
            print(f"# {line}")
        sys.stdout.flush()
    return failed


if __name__ == "__main__":
    sys.exit(main())
