"""What is fed: lines of records, and what each of them must become.

A line in a thousand is no record, some come late, some twice. All have a number (`id`); those that are as they
should be are known by its being in no set here. """
import os
import threading
import time

TURN = 0.02  # s between two portions; the feeds' `within` is more than that
LATE_NS = 20 * 10**9


class Feed(threading.Thread):
    """Writes RATE lines a second until it is stopped."""

    def __init__(self, relation, rate, chance):
        super().__init__(daemon=True)
        self.relation, self.rate, self.chance = relation, rate, chance
        self.ids = self.lines = self.malformed = self.last = 0
        self.late, self.twice = set(), set()
        self.ended = threading.Event()
        self.failure = None

    def record(self, at, number):
        raise NotImplementedError

    def broken(self, at, number):
        raise NotImplementedError

    def put(self, data):
        raise NotImplementedError

    def portion(self, count, now, span):
        """COUNT lines of the SPAN ns that ended NOW, in the order of time."""
        lines = []
        for i in range(count):
            at = self.last = max(self.last + 1, now - span + span * (i + 1) // count)
            kind = self.chance.random()
            if kind < 0.001:
                self.malformed += 1
                lines.append(self.broken(at, self.malformed))
                continue
            self.ids += 1
            if kind < 0.002:
                self.late.add(self.ids)
                lines.append(self.record(at - LATE_NS, self.ids))
                continue
            lines.append(self.record(at, self.ids))
            if kind < 0.003:
                self.twice.add(self.ids)
                lines.append(lines[-1])
        self.lines += len(lines)
        return ''.join(lines).encode()

    def run(self):
        before = time.monotonic()
        owed = 0.0
        try:
            while not self.ended.wait(TURN):
                now = time.monotonic()
                owed = min(owed + (now - before) * self.rate, self.rate)  # who was held up forgets it
                span, before = int(min(now - before, 1) * 1e9), now
                if owed >= 1:
                    count, owed = int(owed), owed - int(owed)
                    self.put(self.portion(count, time.time_ns(), span))
        except OSError as error:
            self.failure = 'the feed of %s: %s' % (self.relation, error)

    def stop(self):
        self.ended.set()
        self.join()


class Requests(Feed):
    """Events, CSV in a file that grows."""

    def __init__(self, relation, path, rate, chance):
        super().__init__(relation, rate, chance)
        self.path = path
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.put(b'at,id,client,size\n')

    def record(self, at, number):
        at -= self.chance.randrange(1000000)  # disorder that `within` allows
        return '%d,%d,%d,%d\n' % (at, number, self.chance.randrange(50), self.chance.randrange(1000))

    def broken(self, at, number):
        return ('%d,%d,many,1\n', '%d,%d\n', '%d,%d,7,\n', '%d,%d,7,7,7\n')[number % 4] % (at, -number)

    def put(self, data):
        while data:
            data = data[os.write(self.file, data):]

    def size(self):
        return os.fstat(self.file).st_size


class States(Feed):
    """Records of a traced relation, NDJSON to `tquel feed`."""

    def __init__(self, pipe, rate, chance):
        super().__init__('State', rate, chance)
        self.pipe = pipe

    def record(self, at, number):
        return '{"at":%d,"id":%d,"client":%d,"state":"%s"}\n' % (
            at, number, self.chance.randrange(50), self.chance.choice(('run', 'io', 'wait', 'wait')))

    def broken(self, at, number):
        return ('{"at":%d,"id":%d\n', '{"at":%d,"id":%d,"client":"x","state":"run"}\n', 'at %d comes %d\n',
                '{"at":%d,"id":%d,"client":7,"status":"run"}\n')[number % 4] % (at, -number)

    def put(self, data):
        self.pipe.write(data)
        self.pipe.flush()
