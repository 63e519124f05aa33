// The same program as C++: what it includes must be usable from there.
#include "tests/sensors/watched.c"
