"""How much memory a session takes at most."""
import re
import time


def greatest_yet(process):
    """In KiB; None once it has ended. (What wait4 says of a process counts its parent's before exec.)"""
    with open(f'/proc/{process}/status', encoding='utf-8') as status:
        found = re.search(r'^VmHWM:\s*(\d+)', status.read(), re.M)
    return int(found[1]) if found else None


def greatest(session):
    """In KiB, until SESSION has ended: what it does at its end counts, too."""
    peak = seen = greatest_yet(session.pid)
    while seen is not None:
        peak = seen
        time.sleep(0.001)
        seen = greatest_yet(session.pid)
    return peak
