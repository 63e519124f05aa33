"""Nobody is warned of what tquel makes for his program, whatever he wants to be warned of.

    warnings_test.py TQUEL SOURCE-ROOT

The headers of all descriptions in the tree are included in C and in C++, as they are, with all warnings that
each compiler has, as errors. That they ask compilers to take them for a system's (`#pragma GCC system_header`)
is taken out for a second time, with the warnings that programs are built with: what can be said so that nobody
need be warned of it is. The run-time is compiled for musl, with no other options. What is not there is skipped.
Prints TAP.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

TIMEOUT = 600
BOTH = ['-Wall', '-Wextra', '-Wpedantic', '-Wredundant-decls', '-Wstrict-aliasing=1', '-Wconversion', '-Wsign-conversion',
        '-Wshadow', '-Wundef', '-Wcast-qual', '-Wcast-align', '-Wfloat-equal', '-Wmissing-declarations', '-Wformat=2',
        '-Wdouble-promotion', '-Wnull-dereference', '-Wunused-macros', '-Wswitch-enum']
C = [*BOTH, '-Wstrict-prototypes', '-Wmissing-prototypes', '-Wbad-function-cast', '-Wc++-compat', '-Wnested-externs']
CXX = [*BOTH, '-Wold-style-cast', '-Wzero-as-null-pointer-constant', '-Wextra-semi']
GCC = ['-Wcast-align=strict', '-Wlogical-op', '-Wduplicated-cond']
GXX = ['-Wuseless-cast', '-Wsuggest-override']
# Of clang's -Weverything, what nobody could mean who includes a header of somebody else's: that structs are
# padded, that C++11 is not C++98, that a static function may be used or not. Only without the pragma.
BUT = ['-Wno-padded', '-Wno-c++98-compat', '-Wno-c++98-compat-pedantic', '-Wno-used-but-marked-unused']
# (compiler, language, options as it is, options without the pragma)
WAYS = [('gcc', 'c', ['-std=c99', '-O2', *C, *GCC], ['-std=c99', '-O2', *C, *GCC]),
        ('g++', 'c++', ['-std=c++11', '-O2', *CXX, *GCC, *GXX], ['-std=c++11', '-O2', *CXX, *GCC, *GXX]),
        ('clang', 'c', ['-std=c99', '-O2', '-Weverything'], ['-std=c99', '-O2', '-Weverything', *BUT]),
        ('clang++', 'c++', ['-std=c++11', '-Weverything'], ['-std=c++11', '-Weverything', *BUT]),
        ('musl-gcc', 'c', ['-std=c99', *C], None)]
PROGRAM = '#include "made.h"\nint main(void);\nint main(void) { return 0; }\n'


class Test:
    def __init__(self, tquel, root, directory):
        self.tquel, self.root, self.directory = tquel, root, directory
        self.count = self.failed = 0

    def ok(self, good, what, detail=''):
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {what}", flush=True)
        if not good:
            for line in detail.splitlines()[:40]:
                print('#   ' + line)

    def run(self, *command):
        return subprocess.run([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=TIMEOUT, check=False)

    def compile(self, what, compiler, *options):
        """-c, as nothing else warns of all that is asked for."""
        if not shutil.which(compiler):
            self.ok(True, f'{compiler}: {what} # skip not there')
            return
        found = self.run(compiler, *options, '-Werror', '-c', '-o', self.directory / 'out.o')
        self.ok(found.returncode == 0 and not found.stdout, f'{compiler}: {what}', found.stdout.decode())

    def bare(self, folder):
        """The headers without what makes compilers silent."""
        include = self.root / 'sensors/runtime/include'
        for path in (*include.glob('tquel/*.h'), self.directory / 'made.h'):
            text = path.read_text()
            self.ok('#pragma GCC system_header\n' in text, f'{path.name} says that it is a system\'s')
            copy = folder / ('tquel' if path.parent.name == 'tquel' else '.') / path.name
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(text.replace('#pragma GCC system_header\n', ''))

    def description(self, path):
        name = path.relative_to(self.root)
        made = self.run(self.tquel, 'sdf', path, '--header', self.directory / 'made.h')
        self.ok(made.returncode == 0, f'the header of {name}', made.stdout.decode())
        source, bare = self.directory / 'program.c', self.directory / 'bare'
        source.write_text(PROGRAM)
        self.bare(bare)
        (bare / 'program.c').write_text(PROGRAM)
        include = self.root / 'sensors/runtime/include'
        for compiler, language, options, mended in WAYS:
            self.compile(f'{name}, as it is', compiler, *options, '-I', include, '-x', language, source)
            if mended:
                self.compile(f'{name}, in full view', compiler, *mended, '-I', bare, '-x', language, bare / 'program.c')

    def all(self):
        files = [*self.root.glob('sensors/**/*.sdf'), *self.root.glob('tests/sdf/good/*.sdf'),
                 *self.root.glob('tests/*/*.sdf')]
        for path in sorted(files):
            self.description(path)
        for path in sorted(self.root.glob('sensors/runtime/*.c')):
            self.compile(f'{path.name}, of the run-time', 'musl-gcc', '-std=gnu99', '-Wall', '-Wextra', '-I', self.root,
                         '-I', self.root / 'sensors/runtime/include', path)
        print(f'1..{self.count}')
        return self.failed


if __name__ == '__main__':
    with tempfile.TemporaryDirectory(prefix='tquel-sdf-') as temporary:
        test = Test(str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve(),
                    pathlib.Path(temporary))
        sys.exit(1 if test.all() else 0)
