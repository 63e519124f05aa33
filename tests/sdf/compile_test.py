"""The header made from good/files.sdf, compiled and linked in all ways, run, and read back.

    compile_test.py TQUEL SOURCE-ROOT [--all] [--runtime INCLUDE LIBRARY]

Each way builds mock/header_test.c with a stand-in for the run-time, runs it, strips the program, and
compares the description that tquel sdf finds in it with golden/files.remote. Without --all only the
compilers gcc and g++ with the usual linker. With --runtime quiet_test.c is built and run likewise, with
the run-time itself. Ways whose compiler or linker is not there are skipped.
Prints TAP.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

TIMEOUT = 600
WARNINGS = ['-Wall', '-Wextra', '-Werror', '-Wpedantic', '-Wshadow', '-Wconversion', '-Wundef',
            '-Wunused']
C, CXX = ['-Wstrict-prototypes', '-Wmissing-prototypes'], ['-x', 'c++']
GC = ['-O2', '-ffunction-sections', '-fdata-sections', '-Wl,--gc-sections']
FEW = [('gcc', ['-std=c99', *C], ''), ('gcc', ['-std=gnu11', '-O2', '-flto', *C], ''),
       ('gcc', ['-std=c11', *C, *GC], ''), ('g++', ['-std=c++11', '-O1', *CXX], '')]
MORE = ([('gcc', ['-std=c99', *C, '-fPIC', '-O3'], linker) for linker in ('gold', 'lld')] +
        [('gcc', ['-O2', '-flto', '-flto-partition=max', *C], 'bfd')] +
        [('clang', ['-std=c99', *C, *GC], linker) for linker in ('bfd', 'gold', 'lld')] +
        [('clang', [f'-flto={kind}', '-O2', *C], 'lld') for kind in ('full', 'thin')] +
        [('clang++', ['-std=c++17', '-O2', *CXX], 'lld'), ('g++', ['-std=c++20', *CXX], 'gold')])


class Test:
    def __init__(self, tquel, root, directory):
        self.tquel, self.here, self.directory = tquel, root / 'tests/sdf', pathlib.Path(directory)
        self.count = self.failed = 0

    def ok(self, good, what, detail=''):
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {what}")
        if not good:
            for line in detail.splitlines():
                print('#   ' + line)

    def run(self, *command):
        return subprocess.run([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=TIMEOUT, check=False)

    def way(self, compiler, options, linker, sources=('header_test.c', 'other.c', 'mock.c'),
            folder='mock', include=None, libraries=()):
        what = ' '.join([compiler, *options, *([linker] if linker else [])])
        if not shutil.which(compiler) or (linker and not shutil.which('ld.' + linker)):
            self.ok(True, what + ' # skip not there')
            return
        compiling = [option for option in options if not option.startswith('-Wl,')]
        objects = []
        for source in sources:
            made = self.directory / (source + '.o')
            found = self.run(compiler, *WARNINGS, *compiling, '-I', include or self.here / 'mock',
                             '-I', self.directory, '-c', self.here / folder / source, '-o', made)
            if found.returncode != 0:
                self.ok(False, what, found.stdout.decode())
                return
            objects.append(made)
        program = self.directory / 'program'
        linking = [option for option in options if option not in ('-x', 'c++')]
        found = self.run(compiler, *linking, *([f'-fuse-ld={linker}'] if linker else []), *objects,
                         *libraries, '-o', program)
        if found.returncode != 0:
            self.ok(False, what, found.stdout.decode())
            return
        found = self.run(program)
        self.ok(found.returncode == 0, what, found.stdout.decode())
        self.run('strip', program)
        remote = subprocess.run([self.tquel, 'sdf', program, '--remote', '-'], check=False,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT)
        self.ok(remote.stdout == (self.here / 'golden/files.remote').read_bytes(),
                'its description, after strip', remote.stderr.decode())

    def all(self, ways, runtime):
        made = self.run(self.tquel, 'sdf', self.here / 'good/files.sdf', '--header',
                        self.directory / 'files.h')
        self.ok(made.returncode == 0, 'the header is made', made.stdout.decode())
        for way in ways:
            self.way(*way)
            if runtime:
                self.way(*way, sources=('quiet_test.c',), folder='.', include=runtime[0],
                         libraries=(runtime[1], '-lpthread'))
        print(f'1..{self.count}')
        return self.failed


if __name__ == '__main__':
    words = [word for word in sys.argv[1:] if not word.startswith('--')]
    with tempfile.TemporaryDirectory(prefix='tquel-sdf-') as temporary:
        test = Test(str(pathlib.Path(words[0]).resolve()), pathlib.Path(words[1]).resolve(), temporary)
        real = [pathlib.Path(word).resolve() for word in words[2:4]]
        sys.exit(1 if test.all(FEW + MORE if '--all' in sys.argv else FEW, real) else 0)
