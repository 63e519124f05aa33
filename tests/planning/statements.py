"""Statements that are large: each shape is a function of a size, which gives a script. A shape is what one who means no
good, or whose program writes statements, may send: the size is what grows, everything else is as small as it can be.

    python3 statements.py SHAPE SIZE       writes the script
"""
import sys

BASE = "create period P (a = i8, b = i8, s = text)\ncreate event E (a = i8, b = i8)\n" \
       "create traced T (k = i8, a = i8) by k\n"
DATA = 'append to P (a = 1, b = 2, s = "x") start 10 stop 20\nappend to E (a = 1, b = 2) at 15\n'
ONE = "range of p is P\nrange of e is E\n"


def ranges(count, relation="P", prefix="v"):
    return "".join(f"range of {prefix}{i} is {relation}\n" for i in range(count))


def retrieve(targets, tail=""):
    return f"retrieve ({targets}) {tail}\n"


def variables(n):
    return ranges(n) + retrieve(", ".join(f"x{i} = v{i}.a" for i in range(n)))


def variables_when(n):
    """A when clause makes the products full at first; each condition holds of two neighbours."""
    when = " and ".join(f"v{i} , v{i + 1}" for i in range(n - 1))
    return ranges(n) + retrieve("v0.a", f"when {when}")


def variables_apart(n):
    return ranges(n) + retrieve("v0.a", "when v0 , v0")


def variables_pairs(n):
    when = " and ".join(f"v{i} , v{j}" for i in range(n) for j in range(i))
    return ranges(n) + retrieve("v0.a", f"when {when}")


def variables_equal(n):
    where = " and ".join(f"v{i}.a = v{i + 1}.a" for i in range(n - 1))
    return ranges(n) + retrieve("v0.a", f"where {where}")


def variables_events(n):
    when = " and ".join(f"v{i} ; within 10 v{i + 1}" for i in range(n - 1))
    return ranges(n, "E") + retrieve("v0.a", f"when {when} at v0")


def standing_chain(n):
    """Nothing bounds it, so other orders of the variables are tried; each is planned."""
    where = " and ".join(f"v{i}.a = v{i + 1}.b" for i in range(n - 1))
    when = " and ".join(f"v{i} ; v{i + 1}" for i in range(n - 1))
    return ranges(n, "E") + f"retrieve into D (x = v0.a) where {where} when {when} at v{n - 1}\n"


def standing_star(n):
    """All orders are as well connected: n! of them."""
    when = " and ".join(f"v0 ; v{i}" for i in range(1, n))
    return ranges(n, "E") + f"retrieve into D (x = v0.a) when {when} at v{n - 1}\n"


def variables_unused(n):
    return ranges(n) + retrieve("v0.a")


def targets(n):
    return ONE + retrieve(", ".join(f"x{i} = p.a" for i in range(n)))


def targets_computed(n):
    return ONE + retrieve(", ".join(f"x{i} = p.a / {i + 2}" for i in range(n)))


def targets_same(n):
    return ONE + retrieve(", ".join(f"x{i} = p.a / 3" for i in range(n)))


def domains(n):
    return f"create period W ({', '.join(f'd{i} = i8' for i in range(n))})\nrange of w is W\n" + \
        retrieve("w.d0")


def domains_all(n):
    return f"create period W ({', '.join(f'd{i} = i8' for i in range(n))})\nrange of w is W\n" + \
        retrieve("w.all")


def domains_joined(n):
    return f"create period W ({', '.join(f'd{i} = i8' for i in range(n))})\nrange of w is W\nrange of x is W\n" + \
        retrieve("w.all", "where w.d0 = x.d1")


def domains_appended(n):
    values = ", ".join(f"d{i} = {i}" for i in range(n))
    return f"create period W ({', '.join(f'd{i} = i8' for i in range(n))})\n" \
        f"append to W ({values}) start 1 stop 2\n"


def domains_derived(n):
    return f"create period W ({', '.join(f'd{i} = i8' for i in range(n))})\nrange of w is W\n" \
        "retrieve into V (w.all)\n"


def targets_two(n):
    return ONE + retrieve(", ".join(f"x{i} = p.a, y{i} = p.b" for i in range(n)))


def views(n):
    text = "range of u is P\nrange of v is P\n"
    for i in range(n):
        text += f"define view L{i} (a = u.a, b = v.b)\nrange of u is L{i}\nrange of v is L{i}\n"
    return text + retrieve("u.a")


def views_chain(n):
    text = "range of u is P\n"
    for i in range(n):
        text += f"define view L{i} (a = u.a, b = u.b)\nrange of u is L{i}\n"
    return text + retrieve("u.a")


def views_conditions(n):
    text = "range of u is P\nrange of v is P\n"
    for i in range(n):
        text += f"define view L{i} (a = u.a, b = v.b) where u.a < v.b + {i}\nrange of u is L{i}\nrange of v is L{i}\n"
    return text + retrieve("u.a")


def views_two(n):
    """Each reads the two before it: as many ways down as Fibonacci has numbers."""
    text = "define view L0 (a = p.a)\ndefine view L1 (a = p.a)\n"
    for i in range(2, n):
        text += f"range of u is L{i - 1}\nrange of v is L{i - 2}\ndefine view L{i} (a = u.a + v.a)\n"
    return ONE + text + f"range of u is L{n - 1}\n" + retrieve("u.a")


def views_counted(n):
    text = "range of u is P\nrange of v is P\n"
    for i in range(n):
        text += f"define view L{i} (a = count(u), b = count(v))\nrange of u is L{i}\nrange of v is L{i}\n"
    return text + retrieve("u.a")


def views_two_counted(n):
    text = "define view L0 (a = count(p))\ndefine view L1 (a = count(p))\n"
    for i in range(2, n):
        text += f"range of u is L{i - 1}\nrange of v is L{i - 2}\ndefine view L{i} (a = count(u) + count(v))\n"
    return ONE + text + f"range of u is L{n - 1}\n" + retrieve("u.a")


def derived_two(n):
    text = "retrieve into L0 (a = p.a)\nretrieve into L1 (a = p.a)\n"
    for i in range(2, n):
        text += f"range of u is L{i - 1}\nrange of v is L{i - 2}\nretrieve into L{i} (a = u.a + v.a)\n"
    return ONE + text + f"range of u is L{n - 1}\n" + retrieve("u.a")


def derived_two_counted(n):
    text = "retrieve into L0 (a = count(p))\nretrieve into L1 (a = count(p))\n"
    for i in range(2, n):
        text += f"range of u is L{i - 1}\nrange of v is L{i - 2}\nretrieve into L{i} (a = count(u) + count(v))\n"
    return ONE + text + f"range of u is L{n - 1}\n" + retrieve("u.a")


def derived_joined(n):
    text = "range of u is P\nrange of v is P\n"
    for i in range(n):
        text += f"retrieve into L{i} (a = u.a, b = v.b)\nrange of u is L{i}\nrange of v is L{i}\n"
    return text + retrieve("u.a")


def standing(n):
    text = ONE
    for i in range(n):
        text += f"retrieve into S{i} (x = p.a + {i})\n"
    return text


def standing_same(n):
    text = ONE + "range of q is P\n"
    for i in range(n):
        text += f"retrieve into S{i} (x = p.a) where p.a = q.b\n"
    return text


def parentheses(n):
    return ONE + retrieve(f"x = {'(' * n}p.a{')' * n}")


def minuses(n):
    return ONE + retrieve(f"x = {'- ' * n}p.a")


def nots(n):
    return ONE + retrieve("p.a", f"where {'not ' * n}p.a = 1")


def sums(n):
    return ONE + retrieve(f"x = p.a{' + p.b' * n}")


def sums_right(n):
    return ONE + retrieve(f"x = {'p.b - (' * n}p.a{')' * n}")


def products(n):
    return ONE + retrieve(f"x = p.a{' * 2' * n}")


def ands(n):
    return ONE + retrieve("p.a", "where " + " and ".join(f"p.a != {i}" for i in range(n)))


def ands_fail(n):
    return ONE + retrieve("p.a", "where " + " and ".join(f"p.a + {i} > p.b" for i in range(n)))


def ors(n):
    return ONE + retrieve("p.a", "where " + " or ".join(f"p.a = {i}" for i in range(n)))


def and_ors(n):
    return ONE + retrieve("p.a", "where " + " and ".join(f"(p.a = {i} or p.b = {i})" for i in range(n)))


def when_ands(n):
    return ONE + retrieve("p.a", "when " + " and ".join(f"p , e + {i}" for i in range(n)))


def when_ors(n):
    return ONE + retrieve("p.a", "when " + " or ".join(f"p , e + {i}" for i in range(n)))


def when_nots(n):
    return ONE + retrieve("p.a", f"when {'not (' * n}p , e{')' * n}")


def when_bars(n):
    """Alternatives of alternatives: two to the n."""
    return ONE + retrieve("p.a", "when " + " , ".join(f"(p | e + {i})" for i in range(n)))


def when_bars_flat(n):
    return ONE + retrieve("p.a", "when " + " | ".join(f"(e + {i})" for i in range(n)) + " , p")


def when_bars_both(n):
    side = " | ".join(f"(e + {i})" for i in range(n))
    return ONE + retrieve("p.a", f"when ({side}) , ({side})")


def when_commas(n):
    return ONE + retrieve("p.a", "when p" + " , e" * n)


def when_sequence(n):
    return ONE + retrieve("p.a", "when p" + " ; p" * n)


def when_moved(n):
    return ONE + retrieve("e.a", f"when {'(' * n}e{' + 1)' * n} , p at e")


def when_starts(n):
    return ONE + retrieve("p.a", f"when {'(' * n}p{' , p).start' * n} , p")


def starts(n):
    return ONE + retrieve("p.a", f"start {'(' * n}p.start{' + 1)' * n}")


def aggregates(n):
    return ONE + retrieve(", ".join(f"x{i} = sum(p.a where p.a > {i})" for i in range(n)))


def aggregates_plain(n):
    return ONE + retrieve(", ".join(f"x{i} = count(p for each {i + 1})" for i in range(n)))


def aggregates_nested(n):
    return ONE + retrieve(f"x = {'sum(p.a where p.a > ' * n}1{')' * n}")


def aggregates_by(n):
    return ONE + retrieve(f"x = sum(p.a by {', '.join(f'p.a + {i}' for i in range(n))})")


def script(n):
    return ONE + retrieve("p.a") * n


def script_ranges(n):
    return ranges(n)


def constant(n):
    return ONE + retrieve("p.a", f'where p.s = "{"x" * n}"')


def pattern(n):
    return ONE + retrieve("p.a", f'where p.s = "{"*x" * n}"')


def concats(n):
    return ONE + retrieve(f"x = {'concat(' * n}p.s{', p.s)' * n}")


def concats_constant(n):
    return ONE + retrieve(f"""x = {'concat(' * n}"x"{', "y")' * n}""")


def name(n):
    return ONE + retrieve(f"{'x' * n} = p.a")


def conversions(n):
    return ONE + retrieve(f"x = {'i8(' * n}p.a{')' * n}")


def lengths(n):
    """Whether it can fail: asked of each operand once, or two to the n times."""
    return ONE + retrieve(f"x = {'length(ascii(' * n}p.a{'))' * n}")


def truths(n):
    return ONE + retrieve(f"x = {'abs(i8(p.a = ' * n}p.b{'))' * n}")


def permits(n):
    return "range of P is P\n" + "".join(f"define permit retrieve on P to u{i} where P.a = {i}\n" for i in range(n))


def integrities(n):
    return "range of P is P\n" + "".join(f"define integrity on P is P.a != {i}\n" for i in range(n))


def explains(n):
    return ranges(n) + "explain " + retrieve(", ".join(f"x{i} = v{i}.a" for i in range(n)))


SHAPES = {name: shape for name, shape in list(globals().items())
          if callable(shape) and name not in ("ranges", "retrieve")}

if __name__ == "__main__":
    sys.stdout.write(BASE + SHAPES[sys.argv[1]](int(sys.argv[2])))
