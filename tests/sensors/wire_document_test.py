#!/usr/bin/env python3
"""The tables of sensors/wire/README.md against sensors/wire/messages.def: the same messages, numbers and
fields in the same order, and each explained. Prints TAP."""
import pathlib
import re
import sys


def defined(text):
    messages = {}
    for number, name, body in re.findall(r'^MESSAGE\((\d+), (\w+), [^\n]*\)\n(.*?)^END\(', text, re.M | re.S):
        fields = re.findall(r'FIELD\((\w+), (\w+)\)', body)
        messages[name] = (int(number), ', '.join(' '.join(field) for field in fields))
    return messages


def documented(text):
    rows = re.findall(r'^\| (\d+) \| ([A-Z_]+) \|([^|]*)\|$', text, re.M)
    return {name: (int(number), fields.strip()) for number, name, fields in rows}


def differences(definition, document):
    told, found = defined(definition), documented(document)
    problems = [f'{name}: {told.get(name)} in messages.def, {found.get(name)} in README.md'
                for name in sorted(told.keys() | found.keys()) if told.get(name) != found.get(name)]
    prose = '\n'.join(line for line in document.splitlines() if not line.startswith('|'))
    problems += [f'{name} is not explained' for name in told if f'**{name}**' not in prose]
    return problems


def main():
    folder = pathlib.Path(sys.argv[1]) / 'sensors/wire'
    definition = (folder / 'messages.def').read_text(encoding='utf-8')
    document = (folder / 'README.md').read_text(encoding='utf-8')
    cases = [
        ('all messages were found', len(defined(definition)) == definition.count('\nMESSAGE(') > 30),
        ('the document says what is', not differences(definition, document)),
        # The comparison can fail.
        ('another field is noticed',
         differences(definition.replace('FIELD(u32, pid)', 'FIELD(u64, pid)'), document)),
        ('a message too many is noticed', differences(definition, document + '\n| 99 | MORE | |\n')),
    ]
    print(f'1..{len(cases)}')
    for number, (name, good) in enumerate(cases, 1):
        print(f'{"ok" if good else "not ok"} {number} - {name}')
    for problem in differences(definition, document):
        print('#', problem)
    return 0 if all(good for _, good in cases) else 1


sys.exit(main())
