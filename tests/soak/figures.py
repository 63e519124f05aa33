"""What is measured while it runs, and whether it stays as it is."""
import os
import re
import time

from stage import DERIVED, NEVER, STORED

MIB = 1 << 20
# What may grow, over the time looked at, of what it was: allocators and caches come to rest late.
RATIO = 1.5
FLOORS = {'server': 48.0, 'collector': 32.0, 'programs': 16.0, 'wal': 48.0, 'log': 300000.0, 'lag': 5.0,
          'latency': 20.0}
UNITS = {'server': 'MiB', 'collector': 'MiB', 'programs': 'MiB', 'wal': 'MiB', 'log': 'rows', 'lag': 's',
         'latency': 'ms'}


def resident(process):
    """MiB; 0 of one that has ended."""
    try:
        with open('/proc/%d/status' % process.pid) as file:
            found = re.search(r'^VmRSS:\s*(\d+)', file.read(), re.M)
            return int(found[1]) / 1024 if found else 0.0
    except OSError:
        return 0.0


def size(path):
    try:
        return os.stat(path).st_size / MIB
    except OSError:
        return 0.0


def look(stage):
    """The figures of this moment."""
    queries = ', '.join('(select max(rowid) from "%s")' % name for name in STORED)
    rows = (stage.look('select ' + queries) or [()])[0]
    log = stage.look('select coalesce(sum(rows), 0) from tq_log') or [(None,)]
    free = stage.look('pragma freelist_count') or [(None,)]
    now = time.time_ns()
    behind = stage.look('select relation, checkpoint from tq_checkpoint where relation in (%s)' %
                        ', '.join('?' * len(DERIVED)), *DERIVED)
    lags = sorted(((now - at) / 1e9, name) for name, at in behind or [] if -NEVER < at < NEVER)
    counts = [(stage.look('select %s from "%s"' % (what, name)) or [(0,)])[0][0] or 0
              for what, name in (('count(*)', 'Late'), ('count(*)', 'Rejected'), ('sum(count)', 'Lost'))]
    return {'at': time.monotonic(), 'server': resident(stage.server), 'collector': resident(stage.collector),
            'programs': sum(resident(p.process) for p in stage.running()),
            'file': size(stage.database), 'wal': size(stage.database + '-wal'), 'log': log[0][0],
            'free': free[0][0], 'lag': lags[-1][0] if lags else None, 'last': lags[-1][1] if lags else '',
            'came': stage.came(), 'stored': sum(r or 0 for r in rows) + (log[0][0] or 0), 'aside': counts}


def median(values):
    values = sorted(values)
    return values[len(values) // 2] if values else None


def slope(points):
    """Theil and Sen: the median of the slopes of all pairs, which a fault here and there does not move."""
    if len(points) > 400:
        points = points[::len(points) // 400 + 1]
    return median([(y - x) / (t - s) for i, (s, x) in enumerate(points) for t, y in points[i + 1:] if t > s]) or 0.0


def flatness(looks, since, figures):
    """Of each figure after SINCE: (name, median of the second quarter, of the last one, growth by the slope, good)."""
    for name in figures:
        points = [(one['at'], one[name]) for one in looks if one['at'] >= since and one.get(name) is not None]
        if len(points) < 8:
            continue
        quarter = len(points) // 4
        second = median([y for _, y in points[quarter:2 * quarter]])
        last = median([y for _, y in points[-quarter:]])
        growth = slope(points) * (points[-1][0] - points[0][0])
        grows = last > RATIO * second and last > second + FLOORS[name] and growth > FLOORS[name] / 2
        yield name, second, last, growth, not grows
