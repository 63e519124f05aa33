#!/usr/bin/env python3
"""Which files take symbols from each other in a circle, and what nobody takes: read from the object files.

    structure.py BUILD SOURCE [--print | --edges FILE]

Two files that call each other can only be understood together, and so can all files of a strongly connected
component of the graph of who takes a symbol from whom. Circles of up to four files are allowed. A larger one
has to stand in circles.txt, which a commit may only shorten: a circle may lose files and fall apart, but no file
may join one, and a line that is larger than what is left of it is wrong as well. A function that other files could see
and none does is either dead or should be static.

FLOORS are the rooms of a folder, from the ground up, and above them the files that stand in the folder itself: of that folder
each takes what is its own or below it, and nothing of what is above. Each room has a face, a header of its name of at most
FACE lines, which says what others may ask of it, and the folder's README says what it is for.

--print shows all circles, --edges FILE who takes what from whom in the circle of FILE. Prints TAP.
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

ALLOWED = 4
HERE = pathlib.Path(__file__).resolve().parent
FOLDERS = ('engine', 'netgen', 'storage', 'sensors', 'tquel')
FACE = 120
FLOORS = {'tquel/session': ['catalogue', 'tables', 'users', 'results', 'control', 'records', 'losses', 'queries', 'live', 'feeds',
                            'durable', 'sources', 'statements']}
# Made by macros or generators as a set, of which a file takes what it needs; or what programs of users call.
MADE = re.compile(r'^(main|__.*|sn_begin_.*|sn_get_.*|sn_put_.*|\w*_flex_.*|\w*_flex|sn_[A-Z].*)$')
# The run-time of sensors is a library for others.
LIBRARY = 'sensors/runtime/'


def objects(build, source):
    """Pairs of an object file and its source's path from the top."""
    text = subprocess.run(['ninja', '-C', str(build), '-t', 'compdb'], capture_output=True, text=True, check=True).stdout
    for entry in json.loads(text):
        if not entry['output'].endswith('.o'):
            continue
        path = (pathlib.Path(entry['directory']) / entry['file']).resolve()
        made = build in path.parents
        name = str(path.relative_to(build if made else source)) if made or source in path.parents else str(path)
        file = build / entry['output']
        if file.exists():
            yield file, name, made


def symbols(build, source):
    """Per source: what it defines for others and what it takes; tests are users, and no part of the product."""
    defines, takes, product = {}, collections.defaultdict(set), set()
    files = {str(file): (name, made) for file, name, made in objects(build, source)}
    # One file alone has no heading: two at least are asked for.
    text = subprocess.run(['nm', *files, '/dev/null'], capture_output=True, text=True).stdout
    name, part = '', False
    for line in text.splitlines():
        words = line.split()
        if line.endswith(':') and line[:-1] in files:
            name, made = files[line[:-1]]
            part = name.startswith(FOLDERS) and not made
            if part:
                product.add(name)
        elif len(words) == 2 and words[0] in 'Uw':
            takes[name].add(words[1])
        elif len(words) == 3 and words[1] in 'TDRBC' and part:
            defines.setdefault(words[2], name)
    return defines, takes, product


def circles(graph):
    """Strongly connected components of two and more (Tarjan 1972, without recursion)."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []
    for root in sorted(graph):
        if root in index:
            continue
        work = [(root, iter(sorted(graph[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, successors = work[-1]
            for successor in successors:
                if successor not in index:
                    index[successor] = low[successor] = len(index)
                    stack.append(successor)
                    on_stack.add(successor)
                    work.append((successor, iter(sorted(graph[successor]))))
                    break
                if successor in on_stack:
                    low[node] = min(low[node], index[successor])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = []
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        component.append(member)
                        if member == node:
                            break
                    if len(component) > 1:
                        found.append(sorted(component))
    return sorted(found, key=lambda c: (-len(c), c))


def graph_of(defines, takes, product):
    return {name: {defines[s] for s in takes[name] if s in defines and defines[s] != name and defines[s] in product}
            for name in product}


def listed(path):
    """The circles of circles.txt: a folder, and the names of its files without .c, on lines that go on indented."""
    result = []
    for line in path.read_text(encoding='utf-8').splitlines():
        if not line.strip() or line.startswith('#'):
            continue
        if not line[0].isspace():
            folder, _, line = line.partition(':')
            result.append((folder, set()))
        folder, files = result[-1]
        files.update(f'{folder}/{name}.c' for name in line.split())
    return [files for _, files in result]


def complaints(found, allowed):
    """What is wrong about the circles FOUND, given those that are ALLOWED."""
    left = [set() for _ in allowed]
    for circle in found:
        homes = [i for i, files in enumerate(allowed) if set(circle) & files]
        for i in homes:
            left[i] |= set(circle) & allowed[i]
        if len(circle) <= ALLOWED:
            continue
        if not homes:
            yield f'a circle of {len(circle)}: {" ".join(circle)}'
        elif strangers := set(circle) - allowed[homes[0]]:
            yield f'{" ".join(sorted(strangers))}: joined the circle of {" ".join(sorted(allowed[homes[0]]))}'
    for i, files in enumerate(allowed):
        if gone := files - left[i]:
            yield f'circles.txt: in no circle any more: {" ".join(sorted(gone))}'


def floor_of(path, house, rooms):
    """0: the ground floor; the number of ROOMS: the files of the house itself; None: it is not in the house."""
    if not path.startswith(house + '/'):
        return None
    room = path[len(house) + 1:].rpartition('/')[0]
    return rooms.index(room) if room in rooms else len(rooms)


def climbing(graph, floors):
    """Who takes something from a floor above his own."""
    for house, rooms in floors.items():
        for name in sorted(graph):
            own = floor_of(name, house, rooms)
            above = [owner for owner in sorted(graph[name])
                     if own is not None and floor_of(owner, house, rooms) is not None and floor_of(owner, house, rooms) > own]
            if above:
                yield f'{name} takes from {" ".join(above)}'


def faceless(source, floors):
    """Rooms that are not as FLOORS says, and rooms that it leaves out."""
    for house, rooms in floors.items():
        readme = (source / house / 'README.md').read_text(encoding='utf-8')
        for folder in sorted(p.name for p in (source / house).iterdir() if p.is_dir()):
            if folder not in rooms:
                yield f'{house}/{folder} stands on no floor'
        for room in rooms:
            face = source / house / room / f'{room}.h'
            if not face.exists():
                yield f'{house}/{room} has no face'
            elif (lines := len(face.read_text(encoding='utf-8').splitlines())) > FACE:
                yield f'{house}/{room}/{room}.h has {lines} lines'
            if f'`{room}/`' not in readme:
                yield f'{house}/README.md does not say what {room}/ is for'


def unused(defines, takes, fuzzed=frozenset()):
    wanted = set().union(*takes.values()) | fuzzed
    for symbol, name in sorted(defines.items()):
        if symbol not in wanted and not MADE.match(symbol) and name.endswith('.c') and not name.startswith(LIBRARY):
            if 'flex' not in name and 'grammar' not in name:
                yield f'{name}: {symbol}'


def words_of_fuzzers(source):
    """Fuzzers are not built with the rest: what they take is read from their text."""
    return {word for file in (source / 'tests/fuzz').glob('*.c') for word in re.findall(r'\w+', file.read_text())}


def selftest():
    graph = {'a': {'b'}, 'b': {'c'}, 'c': {'d'}, 'd': {'e'}, 'e': {'a'}, 'f': {'a', 'g'}, 'g': {'f'}}
    found = circles(graph)
    good = found == [['a', 'b', 'c', 'd', 'e'], ['f', 'g']]
    good &= len(list(complaints(found, []))) == 1
    good &= not list(complaints(found, [set('abcde')]))
    good &= len(list(complaints(found, [set('abcd')]))) == 1
    good &= len(list(complaints(found, [set('abcdex')]))) == 1
    good &= list(climbing({'h/f/a': {'h/b', 'h/f/c', 'x'}, 'h/b': {'h/f/a'}}, {'h': ['f']})) == ['h/f/a takes from h/b']
    for house, rooms in FLOORS.items():
        places = [f'{house}/{room}/' for room in rooms] + [f'{house}/']
        for low, high in zip(places, places[1:]):
            good &= list(climbing({f'{low}a': {f'{high}b'}}, FLOORS)) == [f'{low}a takes from {high}b']
            good &= not list(climbing({f'{high}b': {f'{low}a'}}, FLOORS))
    good &= list(unused({'f': 'a.c', 'g': 'a.c'}, {'b.c': {'f'}})) == ['a.c: g']
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('build', type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument('source', type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument('--print', action='store_true')
    parser.add_argument('--edges')
    options = parser.parse_args()
    defines, takes, product = symbols(options.build, options.source)
    graph = graph_of(defines, takes, product)
    found = circles(graph)
    if options.edges:
        circle = next((c for c in found if options.edges in c), [])
        for user in circle:
            for owner in circle:
                if taken := sorted(s for s in takes[user] if defines.get(s) == owner and owner != user):
                    print(f'{user} -> {owner}: {" ".join(taken)}')
        return 0
    if options.print:
        for circle in found:
            print(len(circle), *circle)
        return 0
    results = [('no circle has grown', list(complaints(found, listed(HERE / 'circles.txt')))),
               ('a floor stands on nothing above it', list(climbing(graph, FLOORS))),
               ('a room has a face', list(faceless(options.source, FLOORS))),
               ('what others can see, others take', list(unused(defines, takes, words_of_fuzzers(options.source)))),
               ('what is wrong is found', [] if selftest() and len(product) > 200 else [f'{len(product)} files'])]
    print(f'1..{len(results)}')
    for number, (name, wrong) in enumerate(results, 1):
        print(f'{"not ok" if wrong else "ok"} {number} - {name}')
        for line in wrong:
            print(f'# {line}')
    return any(wrong for _, wrong in results)


if __name__ == '__main__':
    sys.exit(main())
