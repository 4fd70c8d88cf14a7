# ruff: noqa: E501 - programs on one line
"""Classes 24 to 26, 28 and 29: more work than a skill can need."""

from __future__ import annotations

from tests.engine.sharp.hostile.shapes import (
    HEAD,
    SUCCESS,
    beside,
    body,
    constant,
    default,
    expression,
    filtered,
    member,
    required,
    uncalled,
)

FAN = "".join(f"    def h{i}(self, s):\n        return self.h{i + 1}(s) or self.h{i + 1}(s)\n" for i in range(14))
WIDE = "".join(
    f"    def h{i}(self, s):\n        return [self.h{i + 1}(s), self.h{i + 1}(s), self.h{i + 1}(s)]\n"
    for i in range(14)
)
MANY_LOCALS = "=".join(f"v{i}" for i in range(1800)) + " = 0\n"
WIDE_SUMS = "a = b = 0\nfor i in range(60):\n    a += state.field[i % 9, i // 9] * (i + 2)\n    b += previous.field[i % 9, i // 9] * (i + 3)\n"
DEEP_PAIR = "for i in range(13):\n    x = (x, x)\n    y = (y, y)\n"

COSTLY: dict[str, tuple[str, ...]] = {
    "24 endless loops": (
        body("while True:\n    pass\nreturn state.resting"),
        body("for x in iter(int, 1):\n    pass\nreturn state.resting"),
        body(
            "xs = [1]\nfor x in xs:\n    xs.append(x)\n    for y in range(4096):\n        pass\nreturn state.stamina > xs[3]"
        ),
        body("xs = [1]\nfor x in xs:\n    xs += [x]\nreturn state.stamina > len(xs)"),
        body("while state.resting:\n    x = 1\nelse:\n    x = 2\nreturn state.stamina > x"),
        body("for x in itertools.count():\n    pass\nreturn state.resting"),
        body("for x in itertools.cycle((1, 2)):\n    if x > state.stamina: break\nreturn state.resting"),
        body("for x in range(0, 10, 0):\n    pass\nreturn state.resting"),
        body("for x in range(state.stamina):\n    pass\nreturn state.resting"),
        body("for x in state.stamina:\n    pass\nreturn state.resting"),
        expression("jax.lax.while_loop(lambda x: x > 0, lambda x: x, state.stamina)"),
        expression("jax.lax.fori_loop(0, 10 ** 9, lambda i, x: x, 0)"),
        uncalled("while 1: pass\nreturn 1"),
        filtered("[0 for _ in iter(int, 1)]"),
        constant("[x for x in iter(int, 1)]"),
        body("xs = [1]\nys = [xs]\nfor x in xs:\n    ys[0].append(x)\nreturn state.stamina > len(xs)"),
        member("def a(self, s):\n    return self.b(s)\ndef b(self, s):\n    return self.a(s)").replace(
            "state.resting", "self.a(state)"
        ),
    ),
    "25 huge integers": (
        expression("10 ** 10 ** 10"),
        expression("1 << 999999999"),
        body("x = 3\nfor i in range(40):\n    x = x * x\nreturn state.stamina > x"),
        expression("9" * 4000),
        expression("9" * 20000),
        expression("0x" + "f" * 30000),
        expression("0b" + "1" * 30000),
        expression("0o" + "7" * 5000),
        expression("1_" * 8000 + "1"),
        expression("2147483647 + 1"),
        expression("-2147483648 - 1"),
        expression("abs(-2147483648)"),
        expression("-(-2147483648)"),
        expression("2 ** 31"),
        expression("(-1) << 2000"),
        expression("1 << 1 << 1 << 40"),
        expression("sum([2147483647] * 2)"),
        expression("int(1e300)"),
        expression("round(1e300)"),
        expression("len([0] * 65536) ** 2"),
        expression("2.0 ** 10000"),
        expression("1e308 * 10 * 0"),
        expression("float('inf') - float('inf')"),
        expression("1e999 % 1"),
        expression("int(1e999)"),
        expression("round(-1e999)"),
        expression("(-8) ** 0.5"),
        expression("0 ** -1"),
        expression("1 // 0"),
        expression("1.5 << 2"),
        expression("~1.5"),
        expression("1 >> -1"),
        constant("2 ** 2 ** 20"),
        default("9" * 5000),
        required("9 ** 9 ** 9 > 1"),
        filtered("10 ** 10 ** 10 > i"),
        body("x = 1\nfor i in range(33):\n    x += x\nreturn state.stamina > x"),
        body("x = 1\nfor i in range(33):\n    x <<= 1\nreturn state.stamina > x"),
        expression("-" + "9" * 5000),
        expression("state.field[99999999999]"),
        expression("range(10 ** 12)"),
    ),
    "26 huge arrays and strings": (
        expression("jnp.zeros((100000, 100000)).any()"),
        expression("'x' * 10 ** 9"),
        body("x = [0]\nfor i in range(40):\n    x = x + x\nreturn state.stamina > len(x)"),
        body("x = (state.stamina,)\nfor i in range(60):\n    x = (x, x)\nreturn state.resting"),
        expression("jnp.zeros((10 ** 9,))"),
        expression("jnp.arange(2 ** 31)"),
        expression("jnp.arange(2147483647).sum() > 1"),
        expression("jnp.ones((2147483647, 2147483647))"),
        expression("jnp.full((70000,), state.stamina).any()"),
        expression("jnp.tile(state.field, (10000, 10000)).any()"),
        expression("jnp.broadcast_to(state.field, (10 ** 6, 9, 11)).any()"),
        expression("(jnp.arange(60000)[:, None] == jnp.arange(60000)).any()"),
        expression("(state.field[:, :, None] == jnp.arange(60000)).any()"),
        expression("jnp.eye(100000).any()"),
        expression("jnp.linspace(0, 1, 10 ** 9).any()"),
        expression("jax.nn.one_hot(state.field, 10 ** 9).any()"),
        expression("state.field[jnp.zeros((300, 300), dtype=jnp.int32)].any()"),
        expression("jnp.take(state.field, jnp.zeros((65536,), dtype=jnp.int32), axis=0).any()"),
        expression("len([0] * 65537)"),
        expression("len([[0] * 60000] * 60000)"),
        expression("len((0,) * 2147483647)"),
        expression("[0] * 10 ** 9"),
        body("xs = []\nfor i in range(20):\n    xs += xs + [i]\nreturn state.stamina > len(xs)"),
        body("xs = [0]\nfor i in range(40):\n    xs += xs\nreturn state.stamina > len(xs)"),
        body("xs = []\nfor i in range(40):\n    xs.append(xs)\nreturn state.resting"),
        body("xs = [0]\nfor i in range(30):\n    xs = [xs, xs]\nreturn state.stamina > len(xs)"),
        body(
            "x = jnp.arange(1000)\nfor i in range(20):\n    x = jnp.concatenate([x, x])\nreturn x.sum() > state.stamina"
        ),
        body("x = jnp.arange(1000)\nfor i in range(20):\n    x = jnp.stack([x, x])\nreturn x.sum() > state.stamina"),
        body("x = state.field\nfor i in range(20):\n    x = jnp.array([x, x])\nreturn x.sum() > 3"),
        body("r = state.walker_position[0]\nreturn state.field[r - 30000:r + 30000].sum() > 1"),
        body("r = state.walker_position[0]\nreturn state.field[r - 300:r + 300, r - 300:r + 300].sum() > 1"),
        body("return state.resting and list(range(65536)) * 3 == []"),
        expression("jnp.repeat(state.field, 10 ** 9).any()"),
        expression("jnp.repeat(state.stamina, 2147483647).any()"),
        body("return jnp.tile(jnp.zeros((0,)), 2147483647).any() or state.resting"),
        expression("jnp.tile(state.field, (1,) * 100).any()"),
        body("return jnp.indices((0, 2147483647)).any() or state.resting"),
        body("return jnp.indices((1,) * 70).any() or state.resting"),
        body("return jnp.pad(jnp.zeros((0, 3)), 2147483647).any() or state.resting"),
        expression("jnp.outer(jnp.arange(60000), jnp.arange(60000)).any()"),
        expression("jnp.meshgrid(jnp.arange(60000), jnp.arange(60000))[0].any()"),
        expression("'ab' * 3 == ''"),
        constant("'x' * 10 ** 10"),
        default("(0,) * 2147483647").replace("return state.resting", "return self.helper(state)"),
        # arrays without elements, of sizes whose product does not fit into a machine word
        body("return state.stamina > (jnp.arange(0).reshape((0, 2147483647, 2147483647)) == 1).any()"),
        body("return (state.field[0:0].reshape((0, 2147483647, 2147483647)) == 1).any() or state.resting"),
        # more axes than any array can have
        body("return state.stamina > jnp.arange(1).reshape((" + "1, " * 100 + ")).sum()"),
        body("return (state.stamina * jnp.ones(1)).reshape((" + "1, " * 100 + ")).sum() > 2"),
        body("return state.field[" + "None, " * 100 + "].sum() > 2"),
    ),
    "28 regular expressions": (
        "import re\n" + expression("re.match('(a+)+$', 'a' * 40)"),
        expression("re.compile('x')"),
        expression("'aaaa'.replace('a', 'b')"),
        expression("'a'.startswith('a')"),
        expression("len('a' * 40) > 3"),
        expression("'a' in 'aaaa'"),
        expression("'a,b'.split(',')"),
        beside("from re import fullmatch"),
        filtered("re.search('(x+x+)+y', 'x' * 30)"),
        uncalled("import regex\nreturn regex.match('(a|aa)+$', 'a' * 50)"),
        # the compiler's own expressions and tokenizer
        "```" + " " * 32000 + "!\n",
        "```python" + " \t" * 16000 + "x\n",
        "~~~" + " " * 16000 + "\n~~~ " + " " * 16000 + "!",
        "class x" + " " * 32000 + "!\n",
        "\n" + " " * 32000 + "class",
        "class " + "x" * 32000,
        "class" + " \t\f" * 10000 + ":",
        "`" * 32000,
        HEAD + SUCCESS.rstrip("\n") + " " * 30000 + "$\n",
        HEAD + SUCCESS.rstrip("\n") + " " * 30000 + "'\n",
        HEAD + SUCCESS.rstrip("\n") + " " * 30000 + "?" + " " * 1000 + "?\n",
        HEAD + SUCCESS.rstrip("\n") + "\t" * 30000 + "\\ x\n",
        HEAD + SUCCESS.rstrip("\n") + " > " + "$" * 30000,
        HEAD + SUCCESS.rstrip("\n") + " > " + "$ " * 15000,
        HEAD + SUCCESS.rstrip("\n") + " > " + "'" * 30001,
        HEAD + SUCCESS.rstrip("\n") + " > " + "'\\\n" * 10000,
        HEAD + SUCCESS.rstrip("\n") + " > " + "1e" * 15000,
        HEAD + SUCCESS.rstrip("\n") + " > " + "0_0" * 10000 + "x",
        HEAD + SUCCESS.rstrip("\n") + " > " + "rb" * 15000 + "'",
    ),
    "29 unrolled ranges": (
        body("for i in range(10 ** 9):\n    pass\nreturn state.resting"),
        body("n = 0\nfor i in range(4000):\n    for j in range(4000):\n        n = n + 1\nreturn state.stamina > n"),
        expression("jax.lax.while_loop(lambda x: True, lambda x: x, 0)"),
        expression("any(state.stamina > i + j for i in range(1000) for j in range(1000))"),
        expression("list(range(2000000000))"),
        expression("sum(1 for i in range(65536))"),
        expression("any(any(state.field[i, j] == k for k in range(100)) for i in range(9) for j in range(11))"),
        body(
            "n = 0\nfor a in range(9):\n    for b in range(9):\n        for c in range(9):\n            for d in range(9):\n                n += state.field[a, b]\nreturn n > 3"
        ),
        body("for i in range(4097):\n    pass\nreturn state.resting"),
        body("for x in [0] * 5000:\n    pass\nreturn state.resting"),
        body("for x in jnp.zeros((5000,)):\n    pass\nreturn state.resting"),
        body("return state.stamina in range(65536)"),
        body("return state.resting and max(range(2147483647)) > 3"),
        body(
            "n = state.stamina\nfor i in range(4000):\n    n = (n * 3 + i) ^ (n >> 1) | previous.stamina\nreturn n > 3"
        ),
        body("n = state.stamina\nfor i in range(4000):\n    n = n + (state.field == n).sum()\nreturn n > 3"),
        body("for i in range(2048):\n    for j in range(i):\n        pass\nreturn state.resting"),
        body("x = list(range(4000))\ny = [a for a in x for b in x]\nreturn state.stamina > len(y)"),
        filtered("any(state.field[a % 9, 0] == b for a in range(100) for b in range(100))"),
        required("any(i + j > state.stamina for i in range(3000) for j in range(3000))"),
        HEAD
        + FAN
        + "    def h14(self, s):\n        return s.resting\n    def success(self, state, previous):\n        return self.h0(state)\n",
        HEAD
        + WIDE
        + "    def h14(self, s):\n        return s.stamina\n    def success(self, state, previous):\n        return self.h0(state)[0] == 1\n",
        body("n = 0\nx = (9,) * 60000\nfor i in range(4000):\n    n += 3 in x\nreturn state.stamina > n"),
        body("n = 0\nfor i in range(400):\n    n += len(enumerate(range(20000)))\nreturn state.stamina > n"),
        body(
            "x = list(range(65536))\nn = 0\nfor i in range(4000):\n    n += sorted(x, reverse=True)[0]\nreturn state.stamina > n"
        ),
        body(
            "x = list(range(65536))\nn = 0\nfor i in range(4000):\n    n += len(reversed(x))\nreturn state.stamina > n"
        ),
        body(
            "a = [state.resting] * 60000\nb = [1] * 60000\nn = 0\nfor i in range(200):\n    n = jnp.select(a, b)\nreturn n > 0"
        ),
        body("n = 0\nfor i in range(400):\n    n += len(zip(range(30000), range(30000)))\nreturn state.stamina > n"),
        body("x = y = (1, 1)\n" + DEEP_PAIR + "n = 0\nfor i in range(970):\n    n += x == y\nreturn state.stamina > n"),
        body(
            "x = (state.stamina, 1)\ny = (state.stamina, previous.stamina)\n"
            + DEEP_PAIR
            + "n = 0\nfor i in range(970):\n    n += x == y\nreturn state.stamina > n"
        ),
    ),
}
"""What costs much time in a compiler although no value is large stands in ``harmless``: it may be accepted, quickly."""

SLOW_TO_READ: tuple[str, ...] = (
    body(MANY_LOCALS + "for i in range(4000):\n" + "    if state.resting: pass\n" * 6 + "return state.resting"),
    body(
        MANY_LOCALS
        + "for i in range(4000):\n    if state.resting: continue\n    pass\n    pass\n    pass\n    pass\nreturn state.resting"
    ),
    member("def helper(self, s):\n    return s.resting\n    x = (" + "0," * 3600 + ")").replace(
        "        return state.resting\n",
        "        n = 0\n        for i in range(4000):\n"
        + "            n = self.helper(state)\n" * 3
        + "        return n\n",
    ),
    body(
        "r = state.walker_position[0]\nn = 0\nfor i in range(2000):\n    n = state.field[r-1:r+2, r-1:r+2].sum()\n    n = state.field[r-1:r+2, r-1:r+2].sum()\nreturn n > 1"
    ),
    body(
        "n = 0\na = state.field[0, 0]\nfor i in range(4000):\n"
        + "    n = a == a + 1\n" * 4
        + "return state.resting or n"
    ),
    body(
        "n = 0\na = state.herons.position\nfor i in range(2000):\n"
        + "    n = jnp.linalg.norm(a, axis=1)\n" * 4
        + "return n.sum() > 1"
    ),
    body("return jnp.isin(state.stamina, jnp.zeros((65536,)))"),
    body(WIDE_SUMS + "n = 0\nfor i in range(4000):\n" + "    n = a == 3\n" * 5 + "return n"),
    body(WIDE_SUMS + "n = 0\nfor i in range(4000):\n" + "    n = a < b\n" * 5 + "return n"),
    body("x = jnp.arange(100)\nfor i in range(4000):\n    x = x * x + 1\nreturn (x == state.stamina).any()"),
)
"""Within every budget, and slow to compile when a budget does not count what it should."""
