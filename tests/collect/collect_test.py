#!/usr/bin/env python3
"""The collector, between real programs (target.c) and a stand-in for the server (standin.py). TAP.

    collect_test.py TQUEL TARGET [CASE]...       without, all but SLOW and LONG
    collect_test.py TQUEL TARGET --slow          those of SLOW
    collect_test.py TQUEL TARGET --long          those of LONG
    collect_test.py TQUEL TARGET --selftest      a test that must fail

In every case that ends, what was generated is what was received and what was counted as lost. Nothing here
assumes a speed: what is to come is waited for, PATIENCE seconds at most, and nobody writes faster than a
collector that is kept from running for a second can take."""

import contextlib
import glob
import mmap
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback
from random import Random

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from standin import FOREVER, Server, Store  # noqa: E402

TQUEL, TARGET = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
PLUGIN = os.environ.get("COLLECT_PLUGIN") or os.path.join(os.path.dirname(TARGET), "libcollect_plugin.so")
PATIENCE = 120 * float(os.environ.get("TEST_PATIENCE", "1"))


class Failed(Exception):
    pass


def check(condition, text):
    if not condition:
        raise Failed(text)


class Target:
    """An instrumented program that does what it is told."""

    def __init__(self, world, name=None, **environment):
        self.directory = world.directory
        self.path = os.path.join(world.top, f"ledger{len(world.targets)}")
        self.process = subprocess.Popen([TARGET, self.path], stdin=subprocess.PIPE, env={**world.environment, **environment},
                                        stdout=subprocess.PIPE, text=True, bufsize=1)
        self.pid = int(self.process.stdout.readline().split()[1])
        self.name = name
        if name:
            self.do(f"process {name}")

    def begin(self, command):
        self.process.stdin.write(command + "\n")

    def answer(self):
        line = self.process.stdout.readline().split()
        check(line and line[0] == "ok", f"the target answered {line}")
        return int(line[1])

    def do(self, command):
        self.begin(command)
        return self.answer()

    def passed(self):
        """Sensors passed, surely and at most."""
        with open(self.path, "rb") as file:
            words = struct.unpack("<128Q", file.read(1024))
        return sum(words[64:]), sum(words[:64])

    def enough(self, word=1):
        """Its children end, or go on."""
        with open(self.path, "r+b") as file:
            file.seek(1024)
            file.write(struct.pack("<Q", word))

    def generated(self):
        """What its announcement says that was generated."""
        _, aside = self.announced()
        return aside + sum(struct.unpack_from("<Q", slot, 72)[0] for slot in self.slots())

    def announced(self):
        """Its announcement, and what it has generated without a ring."""
        path = glob.glob(f"{self.directory}/{self.pid}-*.sensors")[0]
        with open(path, "rb") as file:
            data = file.read()
        length, _, _, aside = struct.unpack_from("<QIIQ", data, 128)
        return data[:length], aside

    def slots(self):
        """The heads of its rings."""
        data, _ = self.announced()
        at = 4096
        while at < len(data):
            kind, size, unit, units = struct.unpack_from("<IIII", data, at)
            for i in range(units if kind == 3 else 0):
                yield data[at + 64 + i * unit:at + 64 + (i + 1) * unit]
            at += size

    def rings(self):
        """The sizes of its rings, in KiB."""
        return {struct.unpack_from("<Q", slot, 24)[0] >> 10 for slot in self.slots()} - {0}

    def end(self):
        if self.process.poll() is None:
            self.process.stdin.close()
        self.process.wait(PATIENCE)

    def kill(self):
        self.process.kill()
        self.process.wait()


class World:
    def __init__(self):
        self.top = tempfile.mkdtemp(prefix="collect-")
        self.environment = dict(os.environ, XDG_RUNTIME_DIR=self.top)
        self.directory = os.path.join(self.top, "tquel")
        os.mkdir(self.directory, 0o700)
        self.targets, self.collector = [], None
        self.store = Store()
        self.server = self.serve()

    def serve(self, **options):
        return Server(os.path.join(self.directory, "server"), self.store, **options)

    def target(self, name=None, **environment):
        self.targets.append(Target(self, name, **environment))
        return self.targets[-1]

    def collect(self, *options, ready=True, unread=False):
        """unread: nobody reads what it says, and there is room for no more of it."""
        self.errors = tempfile.TemporaryFile("w+")
        said = self.errors
        if unread:
            self.pipe = os.pipe()
            said = self.pipe[1]
            os.set_blocking(said, False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    os.write(said, b"x")
            os.set_blocking(said, True)
        self.collector = subprocess.Popen([TQUEL, "collect", *options], env=self.environment,
                                          stdin=subprocess.DEVNULL, stderr=said)
        if ready:
            self.wait(lambda: self.server.identity, "the collector does not come")
        return self.collector

    def said(self):
        """What the collector has said on its standard error until its end."""
        self.collector.wait(PATIENCE)
        self.errors.seek(0)
        return self.errors.read()

    def wait(self, condition, text):
        check(self.server.until(condition, PATIENCE), text() if callable(text) else text)

    def known(self, *targets):
        """Until the collector has found them."""
        pids = {t.pid for t in targets}
        self.wait(lambda: pids <= {pid for _, pid in self.server.processes.values()},
                  "programs are not found")

    def watch(self, *what, **options):
        watch = self.server.watch(*what, **options)
        check(self.server.end(PATIENCE), "commands are not executed")
        return watch

    def comes(self, relation, count):
        """Until so many more records have come."""
        before = self.store.total(relation)
        self.wait(lambda: self.store.total(relation) >= before + count,
                  lambda: f"{self.store.total(relation) - before} records of {relation} come, not {count}")

    def seen(self):
        """Until the collector has switched what its programs have made so far: it looks once a turn."""
        for _ in range(2):
            check(self.server.end(PATIENCE), "commands are not executed")

    def settle(self, seconds=0.2):
        self.server.serve(seconds)

    def end_all(self):
        """All programs end, and the collector says so."""
        for target in self.targets:
            target.end()
        self.wait(lambda: not glob.glob(self.directory + "/*.sensors") or
                  all(str(os.path.basename(p)).startswith(f"{self.collector.pid}-")
                      for p in glob.glob(self.directory + "/*.sensors")),
                  lambda: "announcements are left: " + str(os.listdir(self.directory)))

    def balance(self, generated, *relations):
        received, lost = self.store.total(*relations), self.store.lost()
        check(generated == received + lost,
              f"generated {generated}, received {received}, lost {lost}: {self.store.losses} "
              f"collector {self.store.collector}")

    def clean(self):
        for target in self.targets:
            if target.process.poll() is None:
                target.kill()
        if self.collector and self.collector.poll() is None:
            self.collector.kill()
        if self.collector:
            self.collector.wait()
        problems = self.server.problems + self.server.broken_promises()
        self.server.close()
        shutil.rmtree(self.top, ignore_errors=True)
        return problems


# --- cases


def nothing_is_asked(world):
    target = world.target()
    world.collect()
    world.known(target)
    check(target.do("tick 2 1000 0") == 2000, "the target did not work")
    world.settle()
    world.end_all()
    check(world.store.counts == {}, f"records came: {world.store.counts}")
    check(world.store.losses == {}, f"losses came: {world.store.losses}")


def what_is_asked_comes(world):
    before = world.target()
    world.collect()
    after = world.target("after")
    world.known(before, after)
    world.watch("Tick")
    world.watch("Phase")
    generated = before.do("tick 3 1000 0") + after.do("tick 2 500 0")
    after.do("phase one")
    after.do("phase two")
    world.end_all()
    world.balance(generated + 2, "Tick", "Phase")
    check(world.store.total("Tick") == generated, "something was lost")
    phases = world.store.rows["Phase"]
    check([values[1] for _, _, values in phases] == ["one", "two"], f"phases {phases}")
    name = phases[0][2][0]
    epoch = re.fullmatch(r"Worker:after#(\d+)@[-\w]+:[0-9a-f]{8}", name)
    check(epoch, f"process {name}")
    check(abs(int(epoch.group(1)) / 1000 - time.time()) < 3600, f"epoch of {name}")
    check(abs(phases[0][0] / 1e9 - time.time()) < 3600 and phases[0][0] == phases[0][1], f"time of a phase {phases[0]} {time.time_ns()}")
    ends = [e for e in world.store.ends if e[0] == "Phase"]
    check(len(ends) == 1 and ends[0][3] == [name, None] and ends[0][1] > phases[1][0], f"ends {ends}")
    check(world.store.late == 0, f"{world.store.late} records came after their checkpoint")


def off_when_the_last_watch_goes(world):
    target = world.target()
    world.collect()
    world.known(target)
    one, two = world.watch("Tick"), world.watch("Tick", ("Process", "Worker:*", True))
    target.do("tick 1 100 0")
    world.server.unwatch(one)
    check(world.server.end(PATIENCE), "no end")
    target.do("tick 1 100 0")
    world.server.unwatch(two)
    check(world.server.end(PATIENCE), "no end")
    target.do("tick 1 100 0")
    world.end_all()
    check(world.store.total("Tick") == 200, f"{world.store.total('Tick')} came")


def ends_of(world, relation):
    return [e for e in world.store.ends if e[0] == relation]


def check_ends(world, relation, wanted):
    """Ends of WANTED, each after its entity's last record, and promised by a checkpoint."""
    world.wait(lambda: len(ends_of(world, relation)) >= len(wanted), f"{relation} does not end: {world.store.ends}")
    ends = ends_of(world, relation)
    check(sorted(map(str, (e[3] for e in ends))) == sorted(map(str, wanted)), f"{ends} instead of {wanted}")
    world.wait(lambda: world.store.checked.get(world.server.identity, 0) > max(e[2] for e in ends),
               "no checkpoint comes behind the ends")
    check(world.store.late == 0, f"{world.store.late} came after their checkpoint")


def what_is_off_has_no_period(world):
    """A period ends where its sensor is switched off: who looks again later knows nothing of the time between."""
    target = world.target("P1")
    world.collect()
    world.known(target)
    name = next(name for name, pid in world.server.processes.values() if pid == target.pid)
    phase, step = world.watch("Phase"), world.watch("Step")
    target.do("new 0 3")
    world.seen()
    target.do("phase one")
    target.do("step 0 3 1")
    world.wait(lambda: world.store.total("Phase", "Step") == 4, "they do not come")
    before = time.time_ns()
    world.server.unwatch(phase)
    check(world.server.end(PATIENCE), "no end")
    after = time.time_ns()
    check_ends(world, "Phase", [[name, None]])
    near = 500_000_000  # clocks
    check(before - near <= ends_of(world, "Phase")[0][1] <= after + near, f"{before} {world.store.ends} {after}")
    world.watch("Step", ("Job", "Job:1#*", True))
    world.server.unwatch(step)
    check(world.server.end(PATIENCE), "no end")
    jobs = {values[1].split("#")[0]: values[1] for _, _, values in world.store.rows["Step"]}
    wanted = [[name, jobs["Job:0"], None], [name, jobs["Job:2"], None]]
    check_ends(world, "Step", wanted)
    target.do("phase two")
    phase = world.watch("Phase")
    target.do("phase three")
    world.wait(lambda: world.store.total("Phase") == 2, "the third does not come")
    world.server.unwatch(phase)
    check(world.server.end(PATIENCE), "no end")
    world.watch("Phase")
    check_ends(world, "Phase", [[name, None]] * 2)
    target.do("release 1 1")
    check_ends(world, "Step", wanted + [[name, jobs["Job:1"], None]])
    target.do("phase four")
    world.end_all()
    check_ends(world, "Phase", [[name, None]] * 3)
    times = [(lo, "+") for lo, _, _ in world.store.rows["Phase"]] + [(e[1], "-") for e in ends_of(world, "Phase")]
    check("".join(mark for _, mark in sorted(times)) == "+-+-+-", f"{sorted(times)}")


def what_is_off_ends_behind_its_records(world):
    """Threads that pass the sensor while it goes on and off leave nothing open, and nothing comes late."""
    target = world.target("P1")
    world.collect("--checkpoint", "1ms")
    world.known(target)
    target.do("new 0 50")
    target.do("start 4 100000")
    world.watch("Tick")
    for i in range(15):
        watches = [world.watch("Phase"), world.watch("Step")]
        target.begin(f"phase p{i}")
        target.answer()
        target.begin("step 0 50 20")
        for watch in watches:
            world.server.unwatch(watch)
        check(world.server.end(PATIENCE), "no end")
        target.answer()
    check(target.do("stop") > 0, "no ticks")

    def left():
        last = {}
        for relation, key in (("Phase", 0), ("Step", 1)):
            for lo, _, values in world.store.rows.get(relation, []):
                last[values[key]] = max((lo, "open"), last.get(values[key], (0, "")))
            for _, lo, _, values in ends_of(world, relation):
                last[values[key]] = max((lo, "ended"), last.get(values[key], (0, "")))
        return [name for name, (_, mark) in last.items() if mark == "open"]
    world.wait(lambda: not left(), lambda: f"open: {left()}")
    check(world.store.total("Phase", "Step") > 0, "nothing came")
    check(world.store.late == 0, f"{world.store.late} came after their checkpoint")


def who_comes_after_ends_what_was_open(world):
    """A collector that was killed has ended nothing; the next one does, and one that leaves in good order."""
    target = world.target("P1")
    world.collect()
    world.known(target)
    name = next(name for name, pid in world.server.processes.values() if pid == target.pid)
    world.watch("Phase")
    world.watch("Step")
    target.do("new 0 2")
    world.seen()
    target.do("phase one")
    target.do("step 0 2 1")
    world.wait(lambda: world.store.total("Phase", "Step") == 3, "they do not come")
    world.collector.kill()
    world.collector.wait()
    world.server.lose_peer()
    check(world.store.ends == [], f"{world.store.ends}")
    world.collect()
    world.known(target)
    check_ends(world, "Phase", [[name, None]])
    check_ends(world, "Step", [[name, None, None]])  # all of that process: nobody knows which there were
    world.seen()
    target.do("phase two")
    target.do("step 0 1 1")
    world.wait(lambda: world.store.total("Phase", "Step") == 5, "they do not come again")
    world.collector.send_signal(signal.SIGTERM)
    world.wait(lambda: world.collector.poll() is not None, "it does not end")
    job = world.store.rows["Step"][-1][2][1]
    check([e[3] for e in ends_of(world, "Phase")] == [[name, None]] * 2, f"{world.store.ends}")
    check([e[3] for e in ends_of(world, "Step")] == [[name, None, None], [name, job, None]], f"{world.store.ends}")


def processes_by_name(world):
    world.collect()
    one, two = world.target("P1"), world.target("P2")
    world.known(one, two)
    world.watch("Tick", ("Process", "Worker:P1#*", True))
    one.do("tick 1 100 0")
    two.do("tick 1 100 0")
    three, four = world.target("P1"), world.target("P3")
    world.known(three, four)
    world.watch("Phase")  # whose end comes when all that came before is done, too
    three.do("tick 1 100 0")
    four.do("tick 1 100 0")
    world.end_all()
    names = {values[0] for _, _, values in world.store.rows["Tick"]}
    check(world.store.total("Tick") == 200, f"{world.store.total('Tick')} came")
    check(len(names) == 2 and all(n.startswith("Worker:P1#") for n in names), f"names {names}")


def objects_by_name(world):
    target = world.target("P1")
    world.collect()
    world.known(target)
    target.do("new 0 100")
    name = next(name for name, pid in world.server.processes.values() if pid == target.pid)
    world.watch("Step", ("Job", "Job:7#*", True))
    target.do("step 0 100 3")
    world.wait(lambda: world.store.total("Step") == 3, "the object's records do not come")
    job = world.store.rows["Step"][0][2][1]
    check(re.sub(r"\.\d+@", "@", job) == "Job:7#" + name.split("#")[1], f"the object is called {job}")
    world.watch("Step", ("Job", "Job:8#" + job.split("#")[1].replace(".8@", ".9@"), False))
    target.do("step 0 100 1")
    world.wait(lambda: world.store.total("Step") == 5, lambda: f"{world.store.total('Step')} steps came")
    target.do("release 7 1")
    target.do("new 7 1")
    world.settle(0.3)

    def seen():
        target.do("step 7 1 1")
        return world.store.total("Step") >= 6
    world.wait(seen, "an object that came later is not seen")
    jobs = {values[1] for _, _, values in world.store.rows["Step"]}
    check(len(jobs) == 3, f"jobs {jobs}")
    ends = [e for e in world.store.ends if e[0] == "Step"]
    check([e[3][1:] for e in ends] == [[job, None]] and ends[0][3][0], f"ends {ends}")  # and the process
    target.do("done 3 1 1")
    world.watch("Done")
    target.do("done 3 1 1")
    target.do("done 99 1 1")
    world.end_all()
    done = [values for _, _, values in world.store.rows["Done"]]
    check(len(done) == 2 and done[0][1].startswith("Job:3#") and done[0][2].startswith("Job:4#")
          and done[1][2] == "Job:100#0" and done[0][3:] == [0.5, True], f"{done}")
    ends = {e[3][1] for e in world.store.ends if e[0] == "Step"}
    check(jobs == ends, f"not all objects end: {jobs - ends}")


def many_objects_cost_no_record(world):
    target = world.target()
    world.collect()
    world.known(target)
    target.do("new 0 20000")
    world.watch("Tick")
    target.do("start 2 500000")
    for i in range(0, 20000, 7):
        world.server.watch("Step", ("Job", f"Job:{i}#*", True) if i % 70 == 0 else
                           ("Job", f"Job:{i}#0.{i + 1}", False))
    check(world.server.end(PATIENCE), "commands are not executed")
    world.watch("Step")
    for i in range(20):
        target.do(f"step {i * 1000} 1000 1")
        world.wait(lambda: world.store.total("Step") == i * 1000 + 1000, "steps do not come")
    generated = target.do("stop") + 20000
    world.end_all()
    world.balance(generated, "Tick", "Step")
    check(world.store.lost() == 0, f"lost: {world.store.losses}")


def objects_come_and_go(world):
    """Each has its name, its records and its end; nothing is kept of those that are gone."""
    target = world.target()
    world.collect()
    world.known(target)
    world.watch("Step")
    for turn in range(1, 21):
        target.do("new 0 300")
        target.do("step 0 300 1")
        target.do("release 0 300")
        world.wait(lambda: world.store.total("Step") == 300 * turn,
                   lambda: f"{world.store.total('Step')} steps came")
    jobs = [values[1] for _, _, values in world.store.rows["Step"]]
    check(len(set(jobs)) == 6000, f"{len(set(jobs))} different names")
    world.wait(lambda: len({e[3][1] for e in world.store.ends}) == 6000, "not all of them end")
    world.wait(lambda: len(world.server.names) < 50, lambda: f"{len(world.server.names)} names are kept")
    starts = {values[1]: lo for lo, _, values in world.store.rows["Step"]}
    check(all(hi >= lo > starts[values[1]] for _, lo, hi, values in world.store.ends), "an end before its start")


def overload(world):
    targets = [world.target() for _ in range(3)]
    world.collect("--buffer", "1")
    world.known(*targets)
    world.watch("Tick")
    world.store.keep = False

    def is_too_much():
        """A server that does not read: first the buffer is full, then the rings; and when it has not done so
        for long, what comes out of them goes nowhere."""
        world.server.reading = False
        for target in targets:
            target.begin("tick 4 300000 0")
        for target in targets:
            target.answer()
        world.settle(6)
        world.server.reading = True
        world.settle(1)
        for target in targets:
            target.do("tick 1 1000 10000")
        world.settle(0.5)
        return "buffer" in {cause for _, _, cause in world.store.losses}
    world.wait(is_too_much, lambda: f"losses {world.store.losses}")
    world.end_all()
    check(all(relation == "Tick" for _, relation, _ in world.store.losses), f"{world.store.losses}")
    world.balance(sum(t.passed()[0] for t in targets), "Tick")


ENABLED = ["Tick", "Phase", "Step", "Done", "Depth", "Level", "Beat", "Span", "Visit", "Asked", "Always"]


def what_is_enabled(world):
    """EVENTEnabled() of each kind of event, in C and C++: on while somebody wants it, of objects theirs."""
    target = world.target("P1")
    target.do("new 0 2")

    def on(job=0):
        target.begin(f"enabled {job}")
        words = target.process.stdout.readline().split()
        check(words[1] == "ok", "C and C++ do not agree")
        return {name for i, name in enumerate(ENABLED) if int(words[0]) >> i & 1} - with_others
    with_others = set()
    check(on() == on(7) == set(), f"{on()} without a collector")
    world.collect()
    world.known(target)
    check(on() == set(), f"{on()}, and nobody asks")
    with_others = {"Always"}  # which is on while anything of its program is wanted
    sampled = {"Depth", "Level", "Beat"}
    for name in ENABLED[:-1]:
        watch = world.watch(name, **({"every": 10_000_000} if name in sampled else {}))
        world.wait(lambda: name in on(), lambda: f"{name} is not on")
        check(on(7) <= {name}, f"{on(7)} without an object")
        world.server.unwatch(watch)
        world.wait(lambda: on() == set(), lambda: f"{on()} when {name} is not asked for")
    with_others = set()
    watch = world.watch("Always")
    world.wait(lambda: on() == {"Always"}, lambda: f"{on()}")
    world.server.unwatch(watch)
    world.wait(lambda: on() == set(), lambda: f"{on()}")
    with_others = {"Always"}
    watch = world.watch("Visit", ("Job", "Job:1#*", True))
    world.wait(lambda: on(1) == {"Visit"}, lambda: f"{on(1)}")
    check(on(0) == set(), f"{on(0)} of another object")
    world.server.unwatch(watch)
    count(world, "Span")
    check(on() == {"Span"}, f"{on()} where it is counted")


def ring_sizes(world):
    """The program's environment says it, else the collector, else it is 256 KiB; what is no size is said to be none."""
    plain, own = world.target("P1"), world.target("P2", TQUEL_RING="64")
    wrong = {value: world.target(None, TQUEL_RING=value) for value in
             ("1000", "2", "131072", "-64", "64 KiB", "", "99999999999999999999999", "0")}
    world.collect("--ring", "16")
    world.known(plain, own)
    world.watch("Tick")
    for target in (plain, own, *wrong.values()):
        target.do("tick 1 10 0")
    check((plain.rings(), own.rings()) == ({16}, {64}), f"{plain.rings()}, {own.rings()}")
    check(all(target.rings() == {16} for target in wrong.values()), f"{[t.rings() for t in wrong.values()]}")
    own.begin("fork 2")  # a child's are as large
    world.wait(lambda: world.store.total("Tick") > 200, "no records of children come")
    own.enough()
    own.answer()
    world.end_all()
    world.collector.terminate()
    said = world.said()
    named = re.findall(r"TQ-0857: (\d+)-", said)
    check(sorted(map(int, named)) == sorted(t.pid for t in wrong.values()), said)
    check("a power of two from 4 to 65536" in said, said)


def behind(world):
    """A server that is there but behind: who waits for room loses nothing, who does not, by his own ring only."""
    patient, hasty = world.target(), world.target()
    world.collect("--buffer", "1")
    world.known(patient, hasty)
    world.watch("Patient")
    world.watch("Tick")
    world.store.keep = False
    world.server.reading = False
    patient.begin("patient 2 300000 0")
    hasty.do("tick 2 300000 0")
    world.settle(1.5)
    check(patient.passed()[1] < 600000, "the buffer has room for all")
    world.server.reading = True
    world.wait(lambda: world.store.total("Patient") == 600000, lambda: f"{world.store.total('Patient')} came")
    patient.answer()
    world.end_all()
    causes = {(relation, cause) for _, relation, cause in world.store.losses}
    check(causes <= {("Tick", "full")}, f"{world.store.losses}")
    world.balance(600000 + hasty.passed()[0], "Patient", "Tick")


def state_of(world, relation):
    """As it was reported last."""
    rows = [row for row in world.server.reports if row[1] == relation and row[2] == ""]
    return rows[-1][3] if rows else "not reported"


def lost(world, relation, cause):
    return sum(total for (_, of, why), total in world.store.losses.items() if (of, why) == (relation, cause))


def overload_is_sampled(world):
    """Who makes more than can be taken is sampled if that is permitted; who shares his ring loses nothing then; with
    less to do all is recorded again; and all is counted."""
    target = world.target()
    world.collect("--ring", "64")
    world.known(target)
    world.store.keep = False
    world.watch("Tick")
    world.watch("Phase")
    target.do("flood 2 65536")
    world.wait(lambda: lost(world, "Tick", "full") > 0, "nothing is lost")
    world.settle(1)
    check(lost(world, "Tick", "sampled") == 0, "it is sampled though nobody permits it")
    world.server.write_entry("overload Target.Tick", "sampled")
    world.wait(lambda: lost(world, "Tick", "sampled") > 0, "it is not sampled")
    world.wait(lambda: re.fullmatch(r"sampled .*since 20.*Z", state_of(world, "Tick")),
               lambda: f"it is {state_of(world, 'Tick')}")
    check(state_of(world, "Phase") == "on", state_of(world, "Phase"))
    before, calm = lost(world, "Phase", "full"), world.store.total("Phase")
    ticks = world.store.total("Tick")
    world.wait(lambda: world.store.total("Phase") >= calm + 100 and world.store.total("Tick") > ticks,
               "they do not come while one is sampled")
    check(lost(world, "Phase", "full") == before, "the calm one loses records beside one that is sampled")
    target.do("stop")
    flooded = target.passed()[0]
    target.do("start 1 1000000")
    world.wait(lambda: state_of(world, "Tick") == "on", lambda: f"it stays: {state_of(world, 'Tick')}")
    passed = lost(world, "Tick", "sampled")
    world.comes("Tick", 100)
    target.do("stop")
    with open(target.path, "rb") as file:
        file.seek(1032)
        calm = struct.unpack("<Q", file.read(8))[0]
    world.end_all()
    check(lost(world, "Tick", "sampled") == passed < flooded, "it is sampled without need")
    world.balance(target.passed()[0] + calm, "Tick", "Phase")
    check(world.store.late == 0, f"{world.store.late} records came after their checkpoint")
    world.collector.terminate()
    said = world.said()
    check("TQ-0859" in said and "Tick is sampled" in said and "TQ-0886" in said, said)


def objects_are_sampled(world):
    """Of each object one record, and another one later; each of all that are new; who permits it no more has all."""
    target = world.target()
    world.collect("--ring", "16")
    world.known(target)
    world.store.keep = False
    world.server.write_entry("overload Step", "sampled")
    world.watch("Step")
    target.do("new 0 50")
    world.seen()
    target.do("floodjobs 2 50")
    world.wait(lambda: lost(world, "Step", "sampled") > 0, "it is not sampled")
    world.store.keep, full = True, lost(world, "Step", "full")
    world.wait(lambda: len({v[1] for _, _, v in world.store.rows.get("Step", [])}) == 50, "some object has no record")
    world.comes("Step", 200)
    world.store.keep = False
    check(lost(world, "Step", "full") == full, "rings are full of what is sampled")
    world.server.write_entry("overload Target.Step", "lose")
    world.wait(lambda: state_of(world, "Step") == "on",
               lambda: f"though nobody permits it any more, it is {state_of(world, 'Step')}")
    passed = lost(world, "Step", "sampled")
    target.do("stop")
    world.end_all()
    check(passed <= lost(world, "Step", "sampled"), "a total that shrinks")
    world.balance(target.passed()[0], "Step")
    check(world.store.late == 0, f"{world.store.late} records came after their checkpoint")


def sampled_and_off(world):
    """Who is sampled goes off and on, is counted by hand, and his collector or program is killed: all is counted."""
    target = world.target()
    world.collect("--ring", "16")
    world.known(target)
    world.store.keep = False
    world.server.write_entry("overload Tick", "sampled")
    watch = world.watch("Tick")
    world.server.write_entry("count Tick", "on")
    check(world.server.end(PATIENCE), "no end")
    target.do("flood 1 100000000")
    world.wait(lambda: lost(world, "Tick", "sampled") > 0, "it is not sampled")
    world.server.unwatch(watch)
    check(world.server.end(PATIENCE), "no end")
    world.wait(lambda: state_of(world, "Tick") == "off", lambda: state_of(world, "Tick"))
    rows = world.server.read_entry("receptacles Tick", PATIENCE)
    check(rows and int(rows[0][6]) > 0 and rows[0][4] == "on", f"{rows}")
    world.watch("Tick")
    before = lost(world, "Tick", "sampled")
    world.wait(lambda: lost(world, "Tick", "sampled") > before, "it is not sampled again")
    world.server.write_entry("count Tick", "off")
    before = lost(world, "Tick", "sampled")
    world.wait(lambda: lost(world, "Tick", "sampled") > before, "counting has it recorded")
    world.collector.kill()
    world.collector.wait()
    world.wait(lambda: world.server.identity is None, "it is not gone")
    world.collect("--ring", "16")
    world.known(target)
    before = lost(world, "Tick", "sampled")
    world.server.write_entry("overload Tick", "sampled")
    world.wait(lambda: lost(world, "Tick", "sampled") > before, "the next collector does not sample it")
    target.kill()
    world.end_all()


def program_is_killed(world):
    targets = [world.target() for _ in range(4)]
    world.collect()
    world.known(*targets)
    world.watch("Tick")
    world.store.keep = False
    for target in targets:
        target.do("start 4 200000")
    world.comes("Tick", 1000)
    for target in targets:
        target.kill()
    world.end_all()
    least = sum(t.passed()[0] for t in targets)
    most = sum(t.passed()[1] for t in targets)
    accounted = world.store.total("Tick") + world.store.lost()
    check(least <= accounted <= most, f"passed {least} to {most}, accounted for {accounted}")


def collector_is_killed(world):
    targets = [world.target() for _ in range(3)]
    world.collect()
    world.known(*targets)
    world.watch("Tick")
    world.store.keep = False
    for target in targets:
        target.do("start 2 200000")
    for i in range(4):
        world.comes("Tick", 500)
        world.server.reading = i % 2 == 0
        time.sleep(0.05)
        world.collector.kill()
        world.collector.wait()
        world.server.reading = True
        world.settle(0.1)
        world.server.lose_peer()
        world.collect()
        world.known(*targets)
    world.comes("Tick", 500)
    called = sum(target.do("stop") for target in targets)
    generated = sum(target.generated() for target in targets)
    check(0 < generated <= called, f"{generated} generated by {called} calls")
    world.end_all()
    world.balance(generated, "Tick")


def the_dead_and_the_living(world):
    """Programs that died while nobody collected are accounted for, and take nothing from others of their kind."""
    targets = [world.target() for _ in range(6)]
    dead, living = targets[:3], targets[3:]
    world.collect()
    world.known(*targets)
    world.watch("Tick")
    for target in targets:
        target.do("start 1 500000")
    world.comes("Tick", 200)
    world.collector.kill()
    world.collector.wait()
    for target in dead:
        target.kill()
    generated = sum(target.generated() for target in dead)
    world.settle(0.1)
    world.server.lose_peer()
    world.collect()
    world.known(*living)
    world.comes("Tick", 100)
    for target in living:
        target.do("stop")
    generated += sum(target.generated() for target in living)
    world.end_all()
    world.balance(generated, "Tick")


def server_is_killed(world):
    targets = [world.target() for _ in range(2)]
    world.collect()
    world.known(*targets)
    world.watch("Tick")
    for target in targets:
        target.do("start 2 1000000")
    watches = world.server.watches
    for i in range(4):
        world.comes("Tick", 100)
        world.server.close()
        time.sleep(0.1)
        world.server = world.serve()
        world.server.watches = dict(watches)
        world.server.next_watch = 100
        world.wait(lambda: world.server.identity, "the collector does not come back")
    world.comes("Tick", 100)
    generated = sum(target.do("stop") for target in targets)
    world.end_all()
    world.balance(generated, "Tick")
    check(world.store.lost() == 0, f"lost: {world.store.losses} {world.store.collector}")
    check(world.store.late == 0, f"{world.store.late} records came after their checkpoint")


def sent_away(world):
    """Who is let in and sent away at once, again and again, does not come again without a pause."""
    world.collect()
    server, times = world.server, []

    def often():
        if server.identity:
            times.append(time.monotonic())
            server.lose_peer()
        return len(times) >= 12
    world.wait(often, "the collector does not come again")
    check(times[-1] - times[0] > 0.5, f"it came {len(times)} times within {times[-1] - times[0]:.3f} s")
    world.wait(lambda: server.identity, "the collector does not come back")


def another_database(world):
    """A server that knows nothing of what was acknowledged gets what comes from then on."""
    target = world.target("P1")
    world.collect()
    world.known(target)
    world.watch("Tick")
    target.do("tick 1 500 0")
    world.wait(lambda: world.store.total("Tick") == 500, "they do not come")
    first = world.server.identity
    watches = world.server.watches
    world.server.close()
    world.store = Store()
    world.store.is_another = True
    world.server = world.serve()
    world.server.watches, world.server.next_watch = dict(watches), 100
    world.wait(lambda: world.server.identity not in (None, first), "it does not come as another one")
    world.known(target)
    check(world.server.end(PATIENCE), "no end")
    target.do("tick 1 500 0")
    world.end_all()
    numbers = [values[1] for _, _, values in world.store.rows["Tick"]]
    check(numbers[-500:] == list(range(500)), f"{len(numbers)} came")
    world.balance(1000, "Tick")


def many_processes(world):
    world.collect()
    targets = [world.target(f"P{i}") for i in range(200)]
    world.known(*targets)
    world.watch("Tick")
    for target in targets:
        target.begin("tick 1 20 1000000")
    generated = sum(target.answer() for target in targets)
    world.end_all()
    world.balance(generated, "Tick")
    check(len({values[0] for _, _, values in world.store.rows["Tick"]}) == 200, "names are not different")


def forks_and_exec(world):
    target = world.target()
    world.collect()
    world.known(target)
    world.watch("Tick")
    target.begin("fork 20")

    def names():
        return {values[0] for _, _, values in world.store.rows.get("Tick", [])}
    world.wait(lambda: len(names()) == 20, lambda: f"{names()}")
    target.enough()
    target.answer()
    children = names()
    check(len({c.split("#")[0] for c in children}) == 20, f"{children}")
    target.do("tick 1 10 0")
    world.wait(lambda: len(names()) == 21, "the parent's records do not come")
    target.begin("exec")
    line = target.process.stdout.readline().split()
    check(line and line[0] == "ready", f"exec: {line}")
    before = names() - children
    world.wait(lambda: before <= set(world.store.ended), "the program of before is not ended")
    world.watch("Phase")
    target.do("phase x")
    world.end_all()
    after = world.store.rows["Phase"][0][2][0]
    check(after not in before, f"{after} is called as before")


def live_briefly(world, count, *plugin):
    """So many programs, each with a child, that live a few ms. Returns how many sensors they have passed."""
    # A library that is let go leaves what its sensors have asked for, some hundred bytes, to the program.
    sanitizer = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    brief = [subprocess.Popen([TARGET, "briefly", "5", *plugin], env=dict(world.environment, ASAN_OPTIONS=sanitizer),
                              stdout=subprocess.PIPE)
             for _ in range(count)]
    for process in brief:
        process.communicate(timeout=PATIENCE)  # the child has that, too
        check(process.returncode == 0, "a program that lives briefly failed")
    return (27 if plugin else 12) * count


def all_of_short_lives(world):
    """Many starts, their children, what these execute, and libraries that each of them loads: nothing is missed. Nobody has seen
    the program or the library before, nor is one of them there for longer."""
    world.collect("--checkpoint", "1ms")
    for relation in ("Tick", "Step", "Plug"):
        world.watch(relation)
    rounds = 10
    generated = sum(live_briefly(world, 10, PLUGIN) for _ in range(rounds))

    def there():
        return world.store.total("Tick", "Step", "Plug") + world.store.lost()
    world.wait(lambda: there() >= generated, lambda: f"of {generated} come {world.store.counts}, {world.store.lost()} are lost")
    world.end_all()
    world.balance(generated, "Tick", "Step", "Plug")
    check(world.store.counts == {"Tick": 150 * rounds, "Step": 20 * rounds, "Plug": 100 * rounds}, f"{world.store.counts}: {world.store.lost()} are lost")
    check(world.store.late == 0, f"{world.store.late} records came after their checkpoint")


def lives_are_short(world):
    """What is wanted is known to a program before its first sensor, and of a dead one's records none is missed."""
    target = world.target()
    world.collect("--checkpoint", "1ms")
    world.known(target)  # so is the description
    world.watch("Tick")
    world.watch("Step")
    generated = sum(live_briefly(world, 10) for _ in range(12))
    world.wait(lambda: world.store.total("Tick", "Step") + world.store.lost() >= generated,
               lambda: f"of {generated} come {world.store.total('Tick', 'Step')}, {world.store.lost()} are lost")
    world.end_all()
    world.balance(generated, "Tick", "Step")
    check(world.store.late == 0, f"{world.store.late} records came after their checkpoint")
    names = {values[0] for _, _, values in world.store.rows["Tick"]}
    check(len(names) > 120, f"{len(names)} processes of 240")


def wanted_no_more(world):
    """The page goes with the last watch, and with its collector; one that a dead collector left goes for nobody."""
    target = world.target()
    page = os.path.join(world.directory, "collector.wanted")
    with open(page, "wb") as file:
        file.write(b"of nobody's")
    live_briefly(world, 1)
    world.collect()
    world.known(target)
    check(not os.path.exists(page), "there is a page, and nothing wanted")
    watch = world.watch("Tick")
    with open(page, "rb") as file:
        content = file.read()
    check(len(content) == 64 + 16, f"a page of {len(content)} bytes")
    world.server.unwatch(watch)
    check(world.server.end(PATIENCE), "no end")
    check(not os.path.exists(page), "the page stays")
    world.watch("Tick", ("Process", "Worker:*", True))
    check(not os.path.exists(page), "a watch of processes by their names is one of all")
    world.watch("Tick")
    generated = live_briefly(world, 1) - 2
    world.wait(lambda: world.store.total("Tick") + world.store.lost() >= generated, "they do not come")
    world.end_all()
    world.balance(generated, "Tick")
    world.collector.kill()
    world.collector.wait()
    old = struct.pack("<8sIIQQ", b"tquelwn\n", 1, 1, 1, 1) + content[32:]
    odd = [content[:8] + struct.pack("<I", 9) + content[12:], content[:40], b"", old]
    for other in odd:
        with open(page, "wb") as file:
            file.write(other)
        before = set(os.listdir(world.directory))
        live_briefly(world, 1)
        for name in set(os.listdir(world.directory)) - before:  # the child's: it did not say that it ends
            with open(os.path.join(world.directory, name), "rb") as file:
                check(file.read()[256:260] == bytes(4), f"somebody believes the page {other}")
    os.unlink(page)
    os.mkfifo(page)
    live_briefly(world, 1)


def the_dead_want_nothing(world):
    """What is recorded for a collector that has just died is lost, and counted by the next one."""
    target = world.target()
    world.collect()
    world.known(target)
    world.watch("Tick")
    world.watch("Step")
    world.collector.kill()
    world.collector.wait()
    live_briefly(world, 5)
    generated = 0
    for path in glob.glob(world.directory + "/*.sensors"):
        with open(path, "rb") as file:
            mine = not os.path.basename(path).startswith((f"{target.pid}-", f"{world.collector.pid}-"))
            if mine and file.read()[256:260] != bytes(4):
                generated += 6
    world.server.lose_peer()
    world.collect()
    world.end_all()
    world.balance(generated, "Tick", "Step")


def starved(world):
    """A collector that does not come to run for longer than its beat is good for is not dead: what begins meanwhile is on."""
    world.collect("--checkpoint", "1ms")
    for relation in ("Tick", "Step", "Plug"):
        world.watch(relation)
    world.collector.send_signal(signal.SIGSTOP)
    time.sleep(5.5)
    generated = live_briefly(world, 5, PLUGIN)
    world.collector.send_signal(signal.SIGCONT)

    def there():
        return world.store.total("Tick", "Step", "Plug") + world.store.lost()
    world.wait(lambda: there() >= generated, lambda: f"of {generated} come {world.store.counts}, {world.store.lost()} are lost")
    world.end_all()
    world.balance(generated, "Tick", "Step", "Plug")
    check(world.store.late == 0, f"{world.store.late} records came after their checkpoint")


def checkpoints_hold(world):
    """No record comes behind a checkpoint, whoever is interrupted when."""
    targets = [world.target() for _ in range(3)]
    world.collect("--checkpoint", "1ms")
    world.known(*targets)
    world.watch("Tick")
    world.store.keep = False
    for target in targets:
        target.do("start 16 3000000")
    for _ in range(6):
        now = time.time_ns()
        world.wait(lambda: world.store.checked[world.server.identity] > now,
                   lambda: f"the checkpoint is {(now - world.store.checked[world.server.identity]) / 1e9} s behind")
        world.settle(0.5)
    world.wait(lambda: world.store.total("Tick") > 10000, "too few come")
    for target in targets:
        target.do("stop")
    world.end_all()
    check(world.store.late == 0, f"{world.store.late} records came after their checkpoint")


def checkpoints_as_told(world):
    """The server says how often; that holds for its connection."""
    target = world.target()
    world.collect("--checkpoint", "1h")
    world.known(target)
    world.watch("Tick")
    for _ in range(3):  # one at once, whatever the interval
        before = world.server.checks
        world.server.checkpoint(0)
        world.wait(lambda: world.server.checks > before, "no checkpoint is made at once")
    before = world.server.checks
    world.server.checkpoint(1_000_000)
    world.wait(lambda: world.server.checks >= before + 20,
               lambda: f"{world.server.checks - before} checkpoints")
    world.server.close()
    world.server = world.serve()
    world.wait(lambda: world.server.identity, "the collector does not come again")
    world.watch("Phase")
    world.settle(0.5)
    check(world.server.checks <= 2, f"{world.server.checks} checkpoints that nobody asked for")
    world.end_all()


def samples(world):
    target = world.target()
    world.collect()
    world.known(target)
    target.do("new 0 3")
    target.do("sampler 1")
    every = 50_000_000
    began = time.monotonic()

    def most():
        return (time.monotonic() - began) * 1e9 / every + 2
    world.watch("Level", every=every)

    def rounds():
        return [at for name, at in world.store.rounds if name == "Level"]
    world.settle(1.0)
    world.wait(lambda: len(rounds()) >= 4, lambda: f"{len(rounds())} rounds")
    came, rows = len(rounds()), world.store.rows.get("Level", [])
    check(came <= most(), f"{came} rounds in {time.monotonic() - began} seconds")
    check(3 * came <= len(rows) <= 3 * most(), f"{len(rows)} samples, {came} rounds")
    check(all(lo == hi for lo, hi, _ in rows), "the time of a sample is not known")
    check(all(at % every == 0 for at in rounds()), f"rounds between ticks: {rounds()}")
    world.wait(lambda: len([lo for lo, _, _ in rows if lo % every == 0]) >= 12,
               lambda: f"samples between ticks: {rows}")
    world.watch("Depth", every=every)

    def deep():
        target.do("depths 200 2")
        return world.store.total("Depth") >= 12
    world.wait(deep, lambda: f"{world.store.total('Depth')} depths came")
    began = time.monotonic()
    world.watch("Beat", every=every)

    def beat():
        target.do("beats 200")
        return world.store.total("Beat") >= 2
    world.wait(beat, lambda: f"{world.store.total('Beat')} beats were taken")
    world.end_all()
    check(world.store.total("Beat") <= most(), f"{world.store.total('Beat')} beats were taken")
    check(len([e for e in world.store.ends if e[0] == "Level"]) == 3, f"{world.store.ends}")


def triggered(world):
    """Samples are taken when somebody asks, of what he names; what is asked for again before that is taken once."""
    target, stopped = world.target("P1"), world.target("P2")
    every = 500 * 10**6
    world.collect("--sample", "500 ms")
    world.known(target, stopped)
    for each in target, stopped:
        each.do("new 0 2")
        each.do("sampler 1")
    world.watch("Level")
    world.watch("Depth")

    def rounds(relation):
        return [at for name, at in world.store.rounds if name == relation]
    def between(process):
        """The times of its samples that no tick has asked for."""
        return [lo for lo, _, values in world.store.rows.get("Level", [])
                if values[0].startswith(process) and lo % every != 0 and lo > rounds("Level")[0]]

    world.wait(lambda: rounds("Level"), "no round of all")
    check(not between("Worker:"), "samples that nobody asked for")
    world.server.sample("Level")
    world.wait(lambda: len(between("Worker:P1#")) == len(between("Worker:P2#")) == 2, lambda: f"{world.store.rows}")
    world.server.sample("Level", ("Process", "Worker:P1#*", True))
    world.wait(lambda: len(between("Worker:P1#")) == 4, lambda: f"{world.store.rows}")
    known = len(rounds("Level"))
    world.wait(lambda: len(rounds("Level")) > known + 1, "no rounds any more")
    check(len(between("Worker:P2#")) == 2, "who was not named")
    # Samples between ticks begin no rounds: these are the ticks of all collectors.
    check(all(at % every == 0 for at in rounds("Level")), f"{rounds('Level')}")
    # Who does not come to his sensor is asked once, and is not waited for.
    for _ in range(20):
        world.server.sample("Depth")
    world.wait(lambda: rounds("Depth"), "who does not answer holds the round up")
    check(world.store.total("Depth") == 0, "samples of one who has not come to his sensor")
    target.do("depths 1 2")
    world.wait(lambda: world.store.total("Depth") == 2, lambda: f"{world.store.total('Depth')}, not 2")

    def depths():
        return [row[9:11] for row in world.server.reports
                if row[1] == "Depth" and row[2] == "" and row[0].startswith("Worker:P1#")][-1:]
    world.wait(lambda: depths() in ([["20", "19"]], [["20", "20"]]), lambda: f"{depths()}")
    check(world.store.late == 0, f"{world.store.late} late")
    world.end_all()


def without_stamps(world):
    target = world.target()
    world.collect()
    world.known(target)
    world.watch("Unstamped")
    before = time.time_ns()
    target.do("unstamped 100")
    world.wait(lambda: world.store.total("Unstamped") == 100, "they do not come")
    world.end_all()
    for lo, hi, _ in world.store.rows["Unstamped"]:
        check(lo <= hi and lo >= before - 10 ** 9 and hi <= time.time_ns(), f"[{lo}, {hi}]")
    check(world.store.late == 0, "they came after their checkpoint")


def who_waits_is_let_go(world):
    """waittime -1: nothing is lost while the collector drains, and nobody waits for one that is dead."""
    target = world.target()
    world.collect()
    world.known(target)
    world.watch("Patient")
    world.store.keep = False
    generated = target.do("patient 2 200000 0")
    world.wait(lambda: world.store.total("Patient") == generated, "some were lost")
    target.begin("patient 2 200000 0")
    world.collector.kill()
    world.collector.wait()
    target.answer()
    world.server.lose_peer()
    world.collect()
    world.known(target)
    world.end_all()
    world.balance(2 * generated, "Patient")


def hostile_program(world):
    """One that cuts its own announcement short takes nobody with it."""
    hostile, good = world.target("hostile"), world.target("good")
    world.collect()
    world.known(hostile, good)
    world.watch("Tick")
    hostile.do("tick 1 10 0")
    path = glob.glob(f"{world.directory}/{hostile.pid}-*.sensors")[0]
    os.truncate(path, 4096)
    world.settle(0.5)
    check(good.do("tick 1 1000 0") == 1000, "the good one does not go on")
    world.wait(lambda: sum(values[0].startswith("Worker:good#")
                           for _, _, values in world.store.rows.get("Tick", [])) == 1000, "its records do not come")
    check(world.collector.poll() is None, "the collector is dead")
    for name in ("1-1-1.sensors", f"{os.getpid()}-5-5.sensors", "77.sensors"):
        with open(os.path.join(world.directory, name), "wb") as file:
            file.write(os.urandom(8192))
    world.wait(lambda: any("cut" in loss for loss in world.store.losses), "nothing is said to be lost")
    hostile.kill()
    world.settle(2.5)
    check(world.collector.poll() is None, "the collector is dead")
    world.collector.terminate()
    error = world.said()
    check("TQ-0871" in error and os.path.basename(path) in error, f"nobody is told: {error}")


def own_announcement(world):
    """The collector is a program with sensors, too, and outlives the end of its announcement."""
    good = world.target("good")
    world.collect()
    world.known(good)
    world.watch("Tick")
    world.watch("CollectorDrained")
    good.do("tick 1 10 0")
    world.comes("CollectorDrained", 1)
    path = glob.glob(f"{world.directory}/{world.collector.pid}-*.sensors")[0]
    os.truncate(path, 0)
    good.begin("tick 1 1000 0")
    world.comes("Tick", 1000)
    good.answer()
    world.watch("CollectorCommand")
    world.wait(lambda: any("cut" in loss for loss in world.store.losses), "nothing is said to be lost")
    check(world.collector.poll() is None, "the collector is dead")
    world.collector.terminate()
    world.wait(lambda: world.collector.poll() is not None, "it does not end")
    check(world.collector.returncode == 0, f"it ends with {world.collector.returncode}")
    check("TQ-0871" in world.said(), "nobody is told")


def garbled_programs(world):
    """Announcements that change under the reader's eyes into anything whatever; what is said of it nobody reads."""
    model, good = world.target("model"), world.target("good")
    world.store.honest = False
    world.collect(unread=True)
    world.known(model, good)
    model.do("new 0 50")
    world.watch("Tick")
    world.watch("Step")
    world.watch("Level", every=20_000_000)
    model.do("tick 3 10 0")
    with open(glob.glob(f"{world.directory}/{model.pid}-*.sensors")[0], "rb") as file:
        data = file.read()
    with open("/proc/self/stat") as file:
        start = int(file.read().rpartition(")")[2].split()[19])
    random, maps = Random(int(os.environ.get("SEED", "1"))), []
    for i in range(60):
        garbled = bytearray(data)
        struct.pack_into("<IIQQ", garbled, 16, os.getpid(), os.getuid(), start, 1000 + i)
        for _ in range(random.choice([0, 1, 10, 300])):
            garbled[random.randrange(128, len(garbled))] = random.choice([0, 1, 255, random.randrange(256)])
        path = os.path.join(world.directory, f"{os.getpid()}-{start}-{1000 + i:x}.sensors")
        with open(path + ".tmp", "wb") as file:
            file.write(garbled)
        with open(path + ".tmp", "r+b") as file:
            maps.append(mmap.mmap(file.fileno(), 0))
        os.rename(path + ".tmp", path)
    for turn in range(40):
        for each in maps:
            for _ in range(30):
                at = random.randrange(128, len(each))
                each[at] = random.choice([0, 1, 2, 255, random.randrange(256)])
        world.settle(0.05)
        check(world.collector.poll() is None, f"the collector is dead in turn {turn}")
    world.wait(lambda: len(world.server.processes) + len(world.store.ended) > 20,
               "they were not taken for programs")
    for each in maps:
        each.close()
    good.do("tick 1 1000 0")
    world.wait(lambda: sum(values[0].startswith("Worker:good#")
                           for _, _, values in world.store.rows.get("Tick", [])) == 1000,
               "the good one's records do not come")
    os.close(world.pipe[1])
    check(os.read(world.pipe[0], 1 << 20).strip(b"x") == b"", "the pipe was not full")
    world.collector.terminate()
    world.collector.wait(PATIENCE)
    os.close(world.pipe[0])


def watches_itself(world):
    target = world.target()
    world.collect()
    world.known(target)
    world.watch("CollectorDrained")
    world.watch("CollectorCommand")
    world.watch("Tick")
    target.do("tick 1 1000 0")
    def drained():
        return [values[1] for _, _, values in world.store.rows.get("CollectorDrained", [])]
    world.wait(lambda: sum(drained()) >= 1000, lambda: f"{drained()}")
    check(sum(drained()) == 1000, f"{drained()}")
    world.wait(lambda: world.store.total("CollectorCommand") > 0, "no command is recorded")
    kinds = {values[1] for _, _, values in world.store.rows["CollectorCommand"]}
    check(kinds == {"adjust object"}, f"{kinds}")
    count = len(drained())
    world.settle(1)
    check(len(drained()) == count, "it talks to itself")


def reports(world):
    target = world.target("P1")
    world.collect()
    world.known(target)
    world.watch("Tick")
    target.do("tick 1 5000 0")

    def row():
        rows = [r for r in world.server.reports if r[1] == "Tick" and r[0].startswith("Worker:P1#")]
        return rows[-1] if rows else None
    world.wait(lambda: row() and row()[3:6] == ["on", "5000", "0"], lambda: f"{row()}")
    check(row()[7].isdigit() and 0 < int(row()[7]) < 100000, f"cost {row()}")

    def off():
        return [r for r in world.server.reports if r[1] == "Phase"]
    world.wait(off, "what is off is not reported")
    check(off()[-1][3] == "off", f"{off()}")

    def step():
        return [r[3] for r in world.server.reports if r[1] == "Step" and r[2] == ""][-1:]
    world.wait(lambda: step() == ["off"], lambda: f"{step()}")
    world.watch("Step", ("Job", "Job:7#*", True))
    world.wait(lambda: step() == ["no such object"], lambda: f"{step()}")
    target.do("new 0 10")
    world.wait(lambda: step() == ["objects: 1"], lambda: f"{step()}")
    target.do("release 7 1")
    world.wait(lambda: step() == ["no such object"], lambda: f"{step()}")


def receptacles(world, relation, process):
    """What is held of RELATION: by object, [records, counting, missed, count, sum, squares, histogram]."""
    rows = world.server.read_entry("receptacles " + relation, PATIENCE)
    check(rows is not None, "the entry is not read")
    check(all(row[1] == relation for row in rows), f"{rows}")
    return {row[2]: row[3:10] for row in rows if row[0].startswith(f"Worker:{process}#")}


def lasting(world, relation, process="P1"):
    """Of the periods of RELATION: by object, [counting, started, stopped by the histogram, ns, their squares, open]."""
    rows = world.server.read_entry("receptacles " + relation, PATIENCE)
    check(rows is not None and all(len(row) == 12 and row[11] == "ns" for row in rows), f"{rows}")
    return {row[2].split("#")[0]: [row[4], int(row[6]), sum(int(part.split(":")[1]) for part in row[9].split()),
                                   float(row[7]), float(row[8]), int(row[10])]
            for row in rows if row[0].startswith(f"Worker:{process}#")}


def count(world, relation, value="on"):
    world.server.write_entry("count " + relation, value)
    check(world.server.end(PATIENCE), "commands are not executed")


def counting(world):
    """By hand, whatever is watched; what is watched is not disturbed."""
    target = world.target("P1")
    world.collect()
    world.known(target)
    world.server.write_entry("something else", "that nobody knows")
    target.do("new 0 3")
    target.do("step 0 3 5")
    count(world, "Step")
    count(world, "Tick")
    target.do("new 3 1")  # later ones count from the beginning
    target.do("step 0 1 10")
    target.do("step 3 1 4")
    target.do("tick 2 500 0")
    held = receptacles(world, "Step", "P1")
    jobs = {name.split("#")[0]: cells for name, cells in held.items()}
    check(jobs[""] == ["off", "on", "0", "0", "0", "0", ""], f"{jobs}")
    check(jobs["Job:0"] == ["off", "on", "0", "10", "45", "285", "64:1 65:1 66:2 67:4 68:2"], f"{jobs}")
    check(jobs["Job:1"] == ["off", "on", "0", "0", "0", "0", ""], f"{jobs}")
    check(jobs["Job:3"] == ["off", "on", "0", "4", "6", "14", "64:1 65:1 66:2"], f"{jobs}")
    check(receptacles(world, "Tick", "P1") == {"": ["off", "on", "0", "1000", "", "", ""]}, "ticks")
    check(world.store.total("Step", "Tick") == 0, "records come")
    watch = world.watch("Step", ("Job", "Job:0#*", True))
    target.do("step 0 2 7")
    world.wait(lambda: world.store.total("Step") == 7, lambda: f"{world.store.counts}")
    target.do("release 3 1")  # what it has counted is the process's now
    held = receptacles(world, "Step", "P1")
    jobs = {name.split("#")[0]: cells for name, cells in held.items()}
    check(jobs["Job:0"][:4] == ["on", "on", "0", "17"], f"{jobs}")
    check(jobs["Job:1"][:4] == ["off", "on", "0", "7"], f"{jobs}")
    check(jobs[""][:5] == ["off", "on", "0", "4", "6"] and "Job:3" not in jobs, f"{jobs}")
    count(world, "Step", "off")
    target.do("step 0 1 3")
    world.wait(lambda: world.store.total("Step") == 10, lambda: f"{world.store.counts}")
    held = receptacles(world, "Step", "P1")
    jobs = {name.split("#")[0]: cells for name, cells in held.items()}
    check(jobs["Job:0"][:4] == ["on", "off", "0", "17"], f"{jobs}")
    count(world, "Step")
    world.server.unwatch(watch)
    check(world.server.end(PATIENCE), "commands are not executed")
    target.do("step 0 1 2")
    held = receptacles(world, "Step", "P1")
    jobs = {name.split("#")[0]: cells for name, cells in held.items()}
    check(jobs["Job:0"][:4] == ["off", "on", "0", "19"], f"{jobs}")
    world.end_all()
    check(world.store.total("Step") == 10, f"{world.store.counts}")


def counting_early(world):
    """What is counted is counted by a program that begins from its first sensor on, also by its child; and no longer than
    somebody wants it."""
    world.collect()
    count(world, "Tick")
    count(world, "Step")
    check(world.server.end(PATIENCE), "commands are not executed")
    for i in range(5):
        target = world.target(f"P{i}")
        target.do("tick 1 100 0")
        target.do("new 0 1")
        target.do("step 0 1 10")
        world.known(target)
        check(receptacles(world, "Tick", f"P{i}")[""][:4] == ["off", "on", "0", "100"], f"{receptacles(world, 'Tick', f'P{i}')}")
        held = receptacles(world, "Step", f"P{i}")
        jobs = {name.split("#")[0]: cells for name, cells in held.items()}
        check(jobs["Job:0"][:5] == ["off", "on", "0", "10", "45"], f"{jobs}")
        world.server.write_entry("count Tick", "off")
        check(world.server.end(PATIENCE), "commands are not executed")
        world.wait(lambda: receptacles(world, "Tick", f"P{i}")[""][1] == "off", "it goes on counting")
        target.do("tick 1 10 0")
        check(receptacles(world, "Tick", f"P{i}")[""][:4] == ["off", "off", "0", "100"], "it goes on counting")
        count(world, "Tick")
        check(world.server.end(PATIENCE), "commands are not executed")
    check(world.store.total("Step", "Tick") == 0, "records come")
    world.end_all()


def counting_ends(world):
    """With the connection over which it was asked for, and with the collector."""
    target = world.target("P1")
    world.collect()
    world.known(target)
    count(world, "Tick")
    target.do("tick 1 100 0")
    world.server.lose_peer()
    target.do("tick 1 10 0")
    world.wait(lambda: world.server.identity, "the collector does not come again")
    world.watch("Phase")  # the new connection has said all, and nothing of counts
    check(receptacles(world, "Tick", "P1")[""][:4] == ["off", "off", "0", "110"], "not so")
    target.do("tick 1 1000 0")
    count(world, "Tick")
    target.do("tick 1 1 0")
    check(receptacles(world, "Tick", "P1")[""][:4] == ["off", "on", "0", "111"], "not so")
    world.collector.terminate()
    world.wait(lambda: world.collector.poll() is not None, "the collector does not end")
    target.do("tick 1 5000 0")
    world.collect()
    world.known(target)
    check(receptacles(world, "Tick", "P1")[""][:4] == ["off", "off", "0", "111"], "not so")
    world.end_all()


def durations(world):
    """How long periods last, without records: of those whose start was counted, wherever they stop."""
    target = world.target("P1")
    world.collect()
    world.known(target)
    target.do("hold 9")  # before anybody counts
    count(world, "Span")
    count(world, "Visit")
    target.do("let 9")
    check(lasting(world, "Span") == {"": ["on", 0, 0, 0, 0, 0]}, "one that was not counted has lasted")
    target.do("spans 20 1000000")  # within each other: a ms, and two
    span = lasting(world, "Span")[""]
    check(span[:3] == ["on", 40, 40] and span[5] == 0, f"{span}")
    check(span[3] >= 60e6 and span[4] >= 100e12, f"shorter than they were: {span}")
    check(span[4] * 40 >= span[3] ** 2 * 0.999, f"sum of squares: {span}")
    target.do("hold 1")
    target.do("hold 2")
    check(lasting(world, "Span")[""][1:3] + lasting(world, "Span")[""][5:] == [42, 40, 2], "two are open")
    target.do("let 1")
    target.do("let 1")
    check(lasting(world, "Span")[""][1:3] + lasting(world, "Span")[""][5:] == [42, 41, 1], "one is open")
    count(world, "Span", "off")
    target.do("hold 3")
    target.do("let 3")
    check(lasting(world, "Span")[""][:3] == ["off", 42, 41], "it is counted although it is off")
    target.do("let 2")  # was counted when it started
    check(lasting(world, "Span")[""][:3] + lasting(world, "Span")[""][5:] == ["off", 42, 42, 0], "one is missing")
    check(world.store.total("Span") == 0, "records come")

    target.do("new 0 2")  # of objects, also of such as go before their periods
    target.do("enter 0 0")
    target.do("enter 1 0")
    target.do("enter 2 1")
    target.do("leave 0")
    held = lasting(world, "Visit")
    check(held["Job:0"][1:3] + held["Job:0"][5:] == [2, 1, 1] and held["Job:1"][1:3] == [1, 0], f"{held}")
    target.do("release 0 1")
    target.do("new 0 1")  # in its place, perhaps
    target.do("enter 3 0")
    target.do("leave 1")
    held = lasting(world, "Visit")
    check(held[""][1:3] + held[""][5:] == [2, 2, 0] and held["Job:0"][1:3] == [1, 0], f"{held}")

    watch = world.watch("Span")  # with records, the same
    count(world, "Span")
    target.do("spans 5 0")
    check(lasting(world, "Span")[""][1:3] == [52, 52], "not counted beside records")
    world.wait(lambda: world.store.total("Span") == 10, lambda: f"{world.store.counts}")
    world.server.unwatch(watch)
    target.do("hold 1")
    world.collector.terminate()  # counts are the program's
    world.wait(lambda: world.collector.poll() is not None, "the collector does not end")
    target.do("let 1")
    world.collect()
    world.known(target)
    check(lasting(world, "Span")[""][:3] + lasting(world, "Span")[""][5:] == ["off", 53, 53, 0], "not so any more")
    world.end_all()


def children_count(world):
    """A child begins anew, and its parent's periods are not its own to count."""
    target = world.target("P1")
    world.collect()
    world.known(target)
    count(world, "Span")
    target.do("hold 1")
    target.begin("childspans 1")

    def child():
        rows = [row for row in world.server.read_entry("receptacles Span", PATIENCE) if not row[0].startswith("Worker:P1#")]
        return rows[0][4:7] + [sum(int(part.split(":")[1]) for part in rows[0][9].split()), rows[0][10]] if rows else []
    world.wait(lambda: child() == ["on", "0", "0", 0, "0"], lambda: f"{child()}")
    target.enough()
    world.wait(lambda: child()[2:3] == ["2"], lambda: f"{child()}")
    check(child()[2:] == ["2", 1, "1"], f"of the child: {child()}")
    target.enough(2)
    target.answer()
    check(lasting(world, "Span")[""][1:3] == [1, 0], "the parent's")
    world.end_all()


def many_receptacles(world):
    """More objects than are shown one by one are added up."""
    target = world.target("P1")
    world.collect()
    world.known(target)
    count(world, "Step")
    target.do("new 0 1500")
    target.do("step 0 1500 3")
    rows = receptacles(world, "Step", "P1")
    check(len(rows) == 1002 and rows["500 others"][3] == "1500", f"{len(rows)} {rows.get('500 others')}")
    check(sum(int(cells[3]) for cells in rows.values()) == 4500, "not all are there")
    world.end_all()


def ends_in_good_order(world):
    target = world.target()
    world.collect()
    world.known(target)
    world.watch("Tick")
    target.do("start 2 200000")
    world.comes("Tick", 100)
    world.collector.send_signal(signal.SIGTERM)
    world.wait(lambda: world.collector.poll() is not None, "it does not end")
    check(world.collector.returncode == 0, f"exit code {world.collector.returncode}")
    check(world.said() == "", "it said something")
    generated = target.do("count")
    target.do("tick 1 1000 0") if target.do("stop") else None
    received = world.store.total("Tick")
    check(received + world.store.lost() <= generated and received > 0, f"{received} of {generated}")
    world.collect()
    target.end()
    world.end_all()
    check(world.store.collector == 0, f"{world.store.collector} were acknowledged by nobody")


def idle(world):
    """It comes to rest, threads and all; what a busy machine takes from it (involuntary) does not count."""
    target = world.target()
    world.collect()
    world.known(target)

    def wakes():
        total = 0
        for status in glob.glob(f"/proc/{world.collector.pid}/task/*/status"):
            with open(status) as file:
                total += sum(int(line.split()[1]) for line in file
                             if line.startswith("voluntary_ctxt_switches"))
        return total

    def rests(what):
        rates = []
        for _ in range(10):
            before = wakes()
            world.settle(3)
            rates.append((wakes() - before) / 3)
            if rates[-1] <= 8:  # four times it looks for programs, and the server asks
                return
        check(False, f"{what}: {rates} times a second it wakes up")
    rests("nothing is watched")
    world.watch("Elsewhere")
    rests("no program has it")
    world.watch("Tick", ("Process", "Worker:nobody#*", True))
    world.watch("Step", ("Process", "Worker:nobody#*", True), ("Job", "Job:1#*", True))
    world.watch("Level", ("Process", "Worker:nobody#*", True), every=10_000_000)
    rests("all is off")
    checked = world.store.checked.get(world.server.identity, 0)
    world.wait(lambda: world.store.checked.get(world.server.identity, 0) > checked, "it promises nothing")
    tick = world.watch("Tick")
    target.do("tick 1 100 0")
    world.wait(lambda: world.store.total("Tick") == 100, "it does not wake up")
    world.server.unwatch(tick)
    check(world.server.end(PATIENCE), "no end")
    rests("all is off again")


def only_one(world):
    world.collect()
    second = subprocess.run([TQUEL, "collect"], env=world.environment, capture_output=True, text=True,
                            timeout=PATIENCE)
    check(second.returncode == 3 and "TQ-0861" in second.stderr, second.stderr)


CASES = [nothing_is_asked, what_is_asked_comes, off_when_the_last_watch_goes, what_is_off_has_no_period,
         what_is_off_ends_behind_its_records, who_comes_after_ends_what_was_open, processes_by_name,
         objects_by_name, many_objects_cost_no_record, objects_come_and_go, overload, overload_is_sampled, objects_are_sampled, sampled_and_off, what_is_enabled, ring_sizes, behind,
         program_is_killed, collector_is_killed, the_dead_and_the_living, server_is_killed, sent_away, another_database, many_processes, forks_and_exec,
         lives_are_short, all_of_short_lives, wanted_no_more, the_dead_want_nothing, starved, checkpoints_hold, checkpoints_as_told, samples, triggered, without_stamps,
         who_waits_is_let_go, hostile_program, own_announcement, garbled_programs, watches_itself, reports,
         counting, counting_early, counting_ends, durations, children_count, many_receptacles, ends_in_good_order, idle, only_one]
# They keep both processors busy.
SLOW = [checkpoints_hold, many_processes, lives_are_short, behind]
LONG = [overload_is_sampled, objects_are_sampled]


def selftest():
    """A record that the server loses must be missed."""
    print("1..1", flush=True)
    world, reason = World(), None
    world.store.counts["Tick"] = -1
    try:
        overload(world)
    except Failed as error:
        reason = str(error)
    world.clean()
    found = reason is not None and reason.startswith("generated ")
    print(f"{'ok' if found else 'not ok'} 1 - a record that is missing is found")
    if not found:
        print(f"# {reason}")
    return not found


def main():
    wanted = sys.argv[3:]
    if wanted == ["--selftest"]:
        return selftest()
    if wanted == []:
        cases = [c for c in CASES if c not in SLOW + LONG]
    elif wanted in (["--slow"], ["--long"]):
        cases = SLOW if wanted == ["--slow"] else LONG
    else:
        cases = [c for c in CASES if c.__name__ in wanted]
    print(f"1..{len(cases)}", flush=True)
    failed = False
    for number, case in enumerate(cases, 1):
        world, reason = World(), None
        try:
            case(world)
        except Failed as error:
            reason = str(error) or "failed"
        except Exception:  # the test itself is wrong, or a time limit
            reason = traceback.format_exc()
        dead = world.collector and world.collector.poll() not in (None, 0, -9)
        problems = world.clean()
        if reason is None and problems:
            reason = f"the protocol: {problems[:5]}"
        if reason is None and dead:
            reason = f"the collector ended with {world.collector.returncode}"
        failed |= reason is not None
        print(f"{'not ok' if reason else 'ok'} {number} - {case.__name__.replace('_', ' ')}")
        for line in (reason or "").splitlines():
            print(f"# {line}")
        if reason and world.collector:
            for line in world.said().splitlines()[:20]:
                print(f"# {line}")
        sys.stdout.flush()
    return failed


if __name__ == "__main__":
    assert FOREVER > 0
    sys.exit(main())
