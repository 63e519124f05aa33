"""A stand-in for the server, for tests of the collector: it speaks the protocol of sensors/wire, keeps what
it is told, and gives the commands that a test wants. No rows are stored; it counts and remembers."""

import os
import select
import socket
import struct
import time

HELLO, WELCOME, GOODBYE, PING, PONG = 1, 2, 3, 4, 5
ADJUST, CHECKPOINT, READ_ENTRY, WRITE_ENTRY, END, ACKNOWLEDGE = 16, 17, 18, 19, 20, 21
(DESCRIPTION, PROCESS, RELATION, NAME, NEW_NAME, PIPE, EVENT_RECORD, CHECK, REJECT, LOSS, REPORT, ERROR,
 LAST_RECORD) = range(32, 45)
DEFINITE, EXACT, CLOSES, ROUND, SKIPPED, OTHER, PERIOD = 1, 2, 4, 8, 16, 32, 64
FOREVER = 2 ** 63 - 1

# The relations of target.sdf: types of their domains.
NAME_TYPE = "n"
TYPES = {
    "Tick": "nii", "Phase": "nt", "Step": "nni", "Done": "nnnfb", "Depth": "nni", "Level": "nni",
    "Beat": "ni", "Unstamped": "ni", "Patient": "ni", "Key": "nti", "Blob": "nti", "Span": "niit", "Visit": "nni", "Plug": "ni", "Asked": "nn", "Always": "n",
    "CollectorDrained": "nii", "CollectorCommand": "nt", "CollectorLost": "nti",
    "SensorProcess": "nntti", "SensorTaskForce": "nititt", "SensorEvent": "nitttttt",
    "SensorObject": "nittt", "SensorOn": "nittt", "SensorCount": "nitttiifff", "SensorRecords": "nitttiii",
}


# Of those without texts: what unpacks a record that is exact, and which domains are names that were said before.
SIZES = {"n": "I", "i": "q", "f": "d", "b": "?"}
PLAIN = {name: (struct.Struct("<Bq" + "".join(SIZES[t] for t in types)), [i for i, t in enumerate(types) if t == "n"])
         for name, types in TYPES.items() if set(types) <= set(SIZES)}


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values[0] if len(values) == 1 else values

    def text(self):
        length = self.take("I")
        self.at += length
        return self.data[self.at - length:self.at]

    def left(self):
        return len(self.data) - self.at


def text(value):
    data = value.encode() if isinstance(value, str) else value
    return struct.pack("<I", len(data)) + data


class Store:
    """What is durable: outlives the server's connections, as a database does."""

    def __init__(self):
        self.numbers = {}  # identity -> last number
        self.rows = {}  # relation -> list of (lo, hi, values)
        self.keep = True
        self.is_another = False  # what came before went elsewhere: sequences begin somewhere
        self.counts = {}
        self.losses = {}  # (process name, relation, cause) -> total
        self.collector = 0  # lost with a collector
        self.pipes = {}  # pipe -> position
        self.rejects = []
        self.ends, self.rounds = [], []
        self.late = 0
        self.checked = {}  # identity -> time, of all relations
        self.checked_of = {}  # identity, relation -> time
        self.ended = []
        self.honest = True  # programs count what they lose

    def lost(self):
        return sum(self.losses.values()) + self.collector

    def total(self, *relations):
        return sum(self.counts.get(r, 0) for r in relations)


class Server:
    def __init__(self, path, store, credit=1000000, acknowledge=True):
        self.path, self.store, self.credit = path, store, credit
        self.acknowledging = acknowledge
        self.reading = True
        if os.path.exists(path):
            os.unlink(path)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(path)
        self.listener.listen(8)
        self.peer = None
        self.watches = {}
        self.next_watch = self.next_packet = self.next_request = 0
        self.packets = set()
        self.reset()

    def reset(self):
        self.buffer = b""
        self.identity = None
        self.relations, self.names, self.processes, self.descriptions = {}, {}, {}, {}
        self.known_pipes = set()
        self.reports = []
        self.checks = 0
        self.entries = {}  # request -> rows, once they are complete
        self.reading_entry = []
        self.unacknowledged = 0
        self.problems = []
        self.behind = []  # losses told too late: (checkpoints before it, process, what is wrong)

    def close(self):
        if self.peer:
            self.peer.close()
        self.listener.close()

    # --- sending

    def send(self, kind, body, number=0):
        if self.peer:
            try:
                self.peer.sendall(struct.pack("<IHHQ", len(body), kind, 0, number) + body)
            except OSError:
                self.lose_peer()

    def put_watch(self, watch, relation, objects, every, origin, starts_only):
        body = struct.pack("<IB", watch, 1) + text(relation)
        body += struct.pack("<Bqq", starts_only, every, origin) + text("") + struct.pack("<I", len(objects))
        for domain, value, pattern in objects:
            body += struct.pack("<B", pattern) + text(domain) + struct.pack("<B", 5) + text(value)
        self.send(ADJUST, body)

    def watch(self, relation, *objects, every=0, origin=0, starts_only=False):
        self.next_watch += 1
        self.watches[self.next_watch] = (relation, objects, every, origin, starts_only)
        self.put_watch(self.next_watch, relation, objects, every, origin, starts_only)
        return self.next_watch

    def unwatch(self, watch):
        relation = self.watches.pop(watch)[0]
        self.send(ADJUST, struct.pack("<IB", watch, 0) + text(relation) + struct.pack("<BqqII", 0, 0, 0, 0, 0))

    def write_entry(self, name, value):
        self.send(WRITE_ENTRY, text(name) + text(value))

    def sample(self, relation, *objects):
        """Has a sample taken now, of what has the values of OBJECTS."""
        body = struct.pack("<I", len(objects))
        for domain, value, pattern in objects:
            body += struct.pack("<B", pattern) + text(domain) + struct.pack("<B", 5) + text(value)
        self.write_entry("sample " + relation, body)

    def read_entry(self, what, timeout=10):
        """The rows that the collector reports."""
        self.next_request += 1
        request = self.next_request
        self.send(READ_ENTRY, struct.pack("<I", request) + text(what))
        return self.entries[request] if self.until(lambda: request in self.entries, timeout) else None

    def checkpoint(self, interval):
        self.send(CHECKPOINT, struct.pack("<q", interval))

    def end(self, timeout=10):
        """The end of a packet; waits until its commands have been executed."""
        self.next_packet += 1
        packet = self.next_packet
        self.send(END, struct.pack("<I", packet))
        return self.until(lambda: packet in self.packets, timeout)

    # --- receiving

    def lose_peer(self):
        if self.peer:
            self.peer.close()
        self.peer = None
        self.reset()

    def serve(self, seconds=0.0):
        """Takes what comes for so long."""
        end = time.monotonic() + seconds
        while True:
            files = [self.listener] + ([self.peer] if self.peer and self.reading else [])
            ready = select.select(files, [], [], max(0.0, min(0.05, end - time.monotonic())))[0]
            if self.listener in ready:
                fresh = self.listener.accept()[0]
                self.lose_peer()
                self.peer = fresh
                continue
            if self.peer in ready:
                try:
                    data = self.peer.recv(1 << 20)
                except OSError:
                    data = b""
                if not data:
                    self.lose_peer()
                    continue
                self.buffer += data
                self.take_all()
                continue
            if time.monotonic() >= end:
                return

    def until(self, condition, timeout=10):
        end = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > end:
                return False
            self.serve(0.01)
        return True

    def take_all(self):
        at = 0
        while len(self.buffer) - at >= 16:
            length, kind, _, number = struct.unpack_from("<IHHQ", self.buffer, at)
            if len(self.buffer) - at < 16 + length:
                break
            body = self.buffer[at + 16:at + 16 + length]
            at += 16 + length
            self.take(kind, number, Reader(body))
            if self.peer is None:
                return
        self.buffer = self.buffer[at:]
        if self.acknowledging and self.unacknowledged and self.identity:
            self.acknowledge()

    def acknowledge(self):
        self.unacknowledged = 0
        self.send(ACKNOWLEDGE, struct.pack("<QI", self.store.numbers[self.identity], self.credit))

    def take(self, kind, number, body):
        if number:
            last = self.store.numbers.get(self.identity, 0)
            if number <= last:
                return
            if number != last + 1:
                self.problems.append(f"number {number} after {last}")
            self.store.numbers[self.identity] = number
            self.unacknowledged += 1
        handler = {HELLO: self.hello, PING: self.ping, ACKNOWLEDGE: self.answered,
                   DESCRIPTION: self.description, PROCESS: self.process, RELATION: self.relation,
                   NAME: self.name, NEW_NAME: self.new_name, PIPE: self.pipe, EVENT_RECORD: self.records,
                   CHECK: self.check, REJECT: self.reject, LOSS: self.loss, REPORT: self.report}.get(kind)
        if handler:
            handler(body)

    def hello(self, body):
        body.take("IB")
        body.text(), body.text(), body.text()
        self.identity = body.text().decode()
        durable = self.store.numbers.setdefault(self.identity, 0)
        self.send(WELCOME, struct.pack("<I", 2) + text("stand-in") +
                  struct.pack("<QIqB", durable, self.credit, time.time_ns(), 0))
        for watch, (relation, objects, every, origin, starts) in self.watches.items():
            self.put_watch(watch, relation, objects, every, origin, starts)
        self.next_packet += 1
        self.send(END, struct.pack("<I", self.next_packet))

    def ping(self, body):
        sent = body.take("q")
        self.send(PONG, struct.pack("<qqq", sent, time.time_ns(), time.time_ns()))

    def answered(self, body):
        self.packets.add(body.take("Q"))

    def description(self, body):
        digest = body.take("Q")
        self.descriptions[digest] = body.text()

    def process(self, body):
        number = body.take("I")
        name = body.text().decode()
        pid = body.take("I")
        body.text()
        if body.take("B"):
            self.processes[number] = (name, pid)
        else:
            self.processes.pop(number, None)
            self.store.ended.append(name)
            # What a program has taken with it is found when it is gone.
            self.behind = [b for b in self.behind if b[:2] != (self.checks, name)]

    def relation(self, body):
        number = body.take("I")
        name = body.text().decode()
        self.relations[number] = name

    def name(self, body):
        number = body.take("I")
        self.names[number] = body.text().decode()

    def new_name(self, body):
        self.names.pop(body.take("I"), None)

    def pipe(self, body):
        pipe, process, position = body.take("QIQ")
        if process not in self.processes:
            self.problems.append("a pipe of no process")
        durable = self.store.pipes.get(pipe, 0)
        if position > durable:
            self.store.collector += position - durable
            self.store.pipes[pipe] = position
        self.known_pipes.add(pipe)

    def value(self, body, kind):
        if kind == "i":
            return body.take("q")
        if kind == "f":
            return body.take("d")
        if kind == "b":
            return bool(body.take("B"))
        length = body.take("I")
        if length & 0x80000000:
            if length & 0x7fffffff not in self.names:
                self.problems.append("a name that was not said")
            return self.names.get(length & 0x7fffffff)
        body.at += length
        return body.data[body.at - length:body.at].decode()

    def plain(self, body, relation, most):
        """Takes exact records of one relation, one behind the other, that have names and numbers alone: most of a
        flood, for which `records` is slow. At most MOST; how many there were."""
        name = self.relations.get(relation)
        form, names = PLAIN.get(name, (None, ()))
        if form is None:
            return 0
        data, at, rows, late, promised = body.data, body.at, [], 0, self.promised(name)
        end = len(data) - form.size
        while len(rows) < most and at <= end and data[at] | DEFINITE == DEFINITE | EXACT:
            _, lo, *values = form.unpack_from(data, at)
            if any(values[i] & 0x7fffffff not in self.names or not values[i] & 0x80000000 for i in names):
                break
            for i in names:
                values[i] = self.names[values[i] & 0x7fffffff]
            at += form.size
            rows.append((lo, lo, values))
            late += lo < promised
        body.at = at
        self.store.late += late
        if rows:
            self.store.counts[name] = self.store.counts.get(name, 0) + len(rows)
        if self.store.keep and rows:
            self.store.rows.setdefault(name, []).extend(rows)
        return len(rows)

    def records(self, body):
        relation, pipe, sequence, count = body.take("IQQI")
        records = seen = 0
        while seen < count:
            plain = self.plain(body, relation, count - seen)
            records += plain
            seen += plain + 1
            if seen > count:
                break
            marks = body.take("B")
            if marks & OTHER:
                relation = body.take("I")
            if marks & SKIPPED:
                records += body.take("I")
                continue
            records += 1
            lo = body.take("q")
            hi = lo if marks & EXACT else body.take("q")
            name = self.relations.get(relation)
            if name is None:
                self.problems.append("a relation that was not said")
                return
            if marks & ROUND:
                if lo < self.promised(name):
                    self.problems.append("a round behind its checkpoint")
                self.store.rounds.append((name, lo))
                continue
            types = TYPES[name]
            if marks & CLOSES:
                named = body.take("B")
                values = [self.value(body, t) if named >> i & 1 else None for i, t in enumerate(types)]
                self.store.ends.append((name, lo, hi, values))
                continue
            values = [self.value(body, t) for t in types]
            if lo < self.promised(name):
                self.store.late += 1
            self.store.counts[name] = self.store.counts.get(name, 0) + 1
            if self.store.keep:
                self.store.rows.setdefault(name, []).append((lo, hi, values))
        if body.left():
            self.problems.append("bytes after the records")
        if pipe:
            if pipe not in self.known_pipes:
                self.problems.append("a pipe that was not said")
            if sequence > self.store.pipes.get(pipe, 0) and self.store.is_another:
                self.store.collector += sequence - self.store.pipes.get(pipe, 0)
            elif sequence != self.store.pipes.get(pipe, 0):
                self.problems.append(f"sequence {sequence} after {self.store.pipes.get(pipe, 0)}")
            self.store.pipes[pipe] = sequence + records

    def promised(self, name):
        """Nothing of the relation from before this time is to come; "": of any."""
        return max(self.store.checked.get(self.identity, -FOREVER),
                   self.store.checked_of.get((self.identity, name), -FOREVER))

    def check(self, body):
        relation, at = body.take("Iq")
        self.checks += 1
        name = self.relations.get(relation, "")
        if relation and not name:
            self.problems.append("a checkpoint of a relation that was not said")
        if at <= self.promised(name):
            self.problems.append("a checkpoint that goes back")
        if name:
            self.store.checked_of[(self.identity, name)] = at
        else:
            self.store.checked[self.identity] = at

    def reject(self, body):
        relation, at = body.take("Iq")
        self.store.rejects.append((self.relations.get(relation), at, body.text().decode(), body.text()))

    def loss(self, body):
        process = body.take("I")
        relation, cause = body.text().decode(), body.text().decode()
        total, lo, hi = body.take("Qqq")
        if lo > hi:
            self.problems.append("a loss that ends before it begins")
        name = self.processes.get(process, ("?", 0))[0]
        if name == "?":
            self.problems.append("a loss of no process")
        counted = cause in ("full", "unreachable", "nested", "oversize", "sampled") and self.store.honest
        since_promise = lo == -(1 << 63)  # of who has taken a program over, and knows of no promise
        if counted and not since_promise and lo < self.promised(relation):
            self.behind.append((self.checks, name, f"{total} of {relation} lost ({cause}) from {lo} on, "
                                f"which was promised before, up to {self.promised(relation)}"))
        key = (name, relation, cause)
        if total < self.store.losses.get(key, 0):
            self.problems.append("a total that shrinks")
        self.store.losses[key] = max(total, self.store.losses.get(key, 0))

    def broken_promises(self):
        """Losses before a checkpoint that came first, of programs that were living then."""
        return [what for _, _, what in self.behind]

    def report(self, body):
        request = body.take("I")
        what = body.text().decode()
        more, columns, rows = body.take("BII")
        into = self.reports if what == "sensors" else self.reading_entry
        for _ in range(rows):
            into.append([body.text().decode() for _ in range(columns)])
        if what != "sensors" and not more:
            self.entries[request], self.reading_entry = into, []
