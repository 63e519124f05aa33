"""Branch coverage of what the tests have run: report.py SOURCE-ROOT BUILD-DIRECTORY [--missing FILE].

Counts the branches of engine/, netgen/ and tquel/lang/ as gcov sees them, adds them up by folder and
says whether at least 90 % were taken. Left out, because no test can or should take them:

  - what flex and bison write (the rules' own actions are thin, tree building is elsewhere);
  - branches of BASE_CHECK: its false side is a programmer's mistake, which aborts;
  - what ends the process when memory runs out (lines that call out_of_memory);
  - defaults of a switch that only a value outside its enumeration would reach: a `default:` that
    falls together with a case, which gcc counts as a branch of its own;
  - `switch (...)` branches to labels under which there is nothing but such a BASE_CHECK.

--missing FILE writes FILE:LINE: TEXT of each line with a branch that no test takes.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys

FOLDERS = ('engine', 'netgen', 'tquel/lang')
WANTED = 90.0


def closing(text, at):
    """The position behind the parenthesis that matches the one at AT."""
    depth = 0
    for i in range(at, len(text)):
        depth += {'(': 1, ')': -1}.get(text[i], 0)
        if depth == 0:
            return i + 1
    return len(text)


def excluded_lines(path):
    """Lines of checks and of memory that ran out."""
    text = path.read_text(encoding='utf-8')
    lines = set()
    for call in re.finditer(r'\bBASE_CHECK\(|\bout_of_memory\(', text):
        first = text.count('\n', 0, call.start()) + 1
        last = text.count('\n', 0, closing(text, call.end() - 1)) + 1
        lines.update(range(first, last + 1))
    return lines


def gcov(root, build):
    filters = [argument for folder in FOLDERS for argument in ('-f', f'{folder}/')]
    done = subprocess.run(['gcovr', '--root', str(root), *filters, '--exclude-unreachable-branches',
                           '--exclude-throw-branches', '--gcov-ignore-parse-errors', '-e',
                           '.*tql_(grammar|flex).*', '--json', '-', str(build)],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)['files']


def is_idle_default(lines, number):
    """A `default:` directly behind a case of the same code, inside the switch that begins here."""
    if not re.search(r'\bswitch \(', lines[number - 1]):
        return False
    depth = 0
    for i in range(number - 1, len(lines)):
        depth += lines[i].count('{') - lines[i].count('}')
        if re.match(r'\s*default:', lines[i]):
            before = lines[i - 1].strip()
            after = lines[i + 1].strip() if i + 1 < len(lines) else ''
            return before.startswith('case ') and before.endswith(':') or \
                after.startswith('BASE_CHECK(false')
        if depth == 0 and i > number - 1:
            return False
    return False


def main():
    root, build = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    missing = open(sys.argv[sys.argv.index('--missing') + 1], 'w', encoding='utf-8') \
        if '--missing' in sys.argv else None
    totals = collections.defaultdict(lambda: [0, 0, 0, 0])
    files = []
    for entry in gcov(root, build):
        path = root / entry['file']
        if path.suffix not in ('.c', '.h') or not path.exists():
            continue
        skipped = excluded_lines(path)
        lines = path.read_text(encoding='utf-8').split('\n')
        counts = [0, 0, 0, 0]
        for line in entry['lines']:
            number = line['line_number']
            if line.get('gcovr/noncode') or number in skipped:
                continue
            counts[2] += 1
            counts[3] += line['count'] > 0
            branches = [branch['count'] for branch in line['branches']]
            if is_idle_default(lines, number) and 0 in branches:
                branches.remove(0)
            counts[0] += len(branches)
            counts[1] += sum(count > 0 for count in branches)
            if missing and (0 in branches or line['count'] == 0):
                missing.write(f"{entry['file']}:{number}: {sum(c == 0 for c in branches)}/"
                              f"{len(branches)} {lines[number - 1].strip()}\n")
        files.append((entry['file'], counts))
        for i in range(4):
            totals[str(path.parent.relative_to(root))][i] += counts[i]
            totals['total'][i] += counts[i]
    if not files:
        raise SystemExit('coverage: nothing was run')
    share = lambda taken, all_: 100.0 * taken / all_ if all_ else 100.0
    row = lambda name, c: print(f'{name:34} {c[0]:8} {c[1]:8} {share(c[1], c[0]):7.1f} %'
                                f' {share(c[3], c[2]):7.1f} %')
    print(f"{'':34} {'branches':>8} {'taken':>8} {'':9} {'lines':>9}")
    for name, counts in sorted(files):
        row(name, counts)
    print()
    for name in sorted(totals, key=lambda name: (name == 'total', name)):
        row(name, totals[name])
    percent = share(totals['total'][1], totals['total'][0])
    enough = percent >= WANTED
    print(f"\ncoverage: {percent:.1f} % of the branches of {', '.join(FOLDERS)} are taken, "
          f"{'at least' if enough else 'less than'} {WANTED:.0f} %")
    return 0 if enough else 1


sys.exit(main())
