# ruff: noqa: E501
"""Hostile and broken texts by class, our own variants. None may be accepted; none is ever executed."""

from __future__ import annotations

BODY = '''
class Probe(Sharp):
    """A probe."""

    def success(self, state, previous):
        {body}
'''


def body(text: str) -> str:
    """A program whose success method holds ``text``."""
    return BODY.replace("{body}", text.replace("\n", "\n        "))


def expression(text: str) -> str:
    """A program that returns ``text``, joined to a condition on the state."""
    return body(f"return state.stamina > 3 and bool({text})")


HOSTILE: dict[str, tuple[str, ...]] = {
    "1 class walks": (
        expression("().__class__.__base__.__subclasses__()"),
        expression("[].__class__.__mro__[1]"),
        expression("state.__class__.__bases__"),
    ),
    "2 dictionaries by built keys": (
        expression("self.__dict__"),
        expression("state.__dict__[chr(95)]"),
        expression("vars(state)"),
    ),
    "3 globals and builtins": (
        expression("self.success.__globals__"),
        expression("__builtins__"),
        expression("globals()"),
    ),
    "4 getattr through others": (
        expression("list(map(getattr, (state,), ('stamina',)))"),
        expression("getattr(state, 'stamina')"),
        "from functools import partial\n" + expression("partial(getattr, state)('stamina')"),
    ),
    "5 attribute getters": (
        "import operator\n" + expression("operator.attrgetter('stamina')(state)"),
        "from operator import itemgetter\n" + expression("itemgetter(0)(state.walker_position)"),
        expression("attrgetter('__class__')(state)"),
    ),
    "6 format fields": (
        expression("'{0.__class__}'.format(state)"),
        expression("'%s' % state"),
        expression("format(state, 'x')"),
    ),
    "7 formatter objects": (
        "import string\n" + expression("string.Formatter().format('{0}', state)"),
        "from string import Formatter\n" + expression("Formatter()"),
        expression("string.Formatter"),
    ),
    "8 f-strings": (
        expression("f'{state}'"),
        expression("len(f'{state.__class__}') > 1"),
        body("x = f'{previous!r:>{10}}'\nreturn state.resting"),
    ),
    "9 generator and coroutine frames": (
        expression("(x for x in range(3)).gi_frame"),
        body("yield state.resting"),
        body("await state\nreturn state.resting"),
        "async " + "def success(self, state, previous):\n    return state.resting\n",
    ),
    "10 traceback frames": (
        body("try:\n    x = 1\nexcept Exception as error:\n    return error.__traceback__\nreturn state.resting"),
        expression("sys.exc_info()"),
        expression("self.tb_frame"),
    ),
    "11 exception attributes": (
        body("try:\n    raise ValueError\nexcept ValueError as e:\n    return e.args\nreturn state.resting"),
        expression("ValueError('x').args"),
        body("raise Exception(state)"),
    ),
    "12 exception groups": (
        body("try:\n    pass\nexcept* ValueError as g:\n    return g.exceptions\nreturn state.resting"),
        expression("ExceptionGroup('x', [])"),
        expression("BaseExceptionGroup"),
    ),
    "13 type and metaclasses": (
        expression("type(self)"),
        "class Probe(Sharp, metaclass=type):\n    def success(self, state, previous):\n        return state.resting\n",
        "class Probe(Sharp):\n    def __init_subclass__(cls):\n        pass\n    def success(self, state, previous):\n        return state.resting\n",
    ),
    "14 decorators and overloading": (
        "class Probe(Sharp):\n    @property\n    def success(self, state, previous):\n        return state.resting\n",
        "@print\nclass Probe(Sharp):\n    def success(self, state, previous):\n        return state.resting\n",
        "class Probe(Sharp):\n    def __getattr__(self, name):\n        return 1\n    def success(self, state, previous):\n        return state.resting\n",
    ),
    "15 reduce": (
        "class Probe(Sharp):\n    def __reduce__(self):\n        return (print, ())\n    def success(self, state, previous):\n        return state.resting\n",
        expression("state.__reduce_ex__(2)"),
        expression("pickle.loads(b'')"),
    ),
    "16 arguments that shadow": (
        "class Probe(Sharp):\n    def success(self, state, previous, len=3):\n        return state.resting\n",
        "class Probe(Sharp):\n    def success(self, jnp, previous):\n        return jnp.resting\n",
        "class Probe(Sharp):\n    def help(self, abs):\n        return abs > 1\n    def success(self, state, previous):\n        return self.help(state.stamina)\n",
        body("jnp = state\nreturn jnp.resting"),
    ),
    "17 identifiers that normalise": (
        body("return state.ｒesting"),
        body("ſtate = previous\nreturn state.resting"),
        expression("self._﹏class_﹏"),
        body("return ｓtate.resting"),
    ),
    "18 class patterns": (
        body("match state:\n    case object(resting=x):\n        return x\nreturn state.resting"),
        body("match state.stamina:\n    case 3:\n        return True\nreturn state.resting"),
        body("match previous:\n    case type():\n        return False\nreturn state.resting"),
    ),
    "19 walks through modules": (
        expression("jnp.os"),
        expression("jax.lax.lax.np.os.system('true')"),
        "import os\n" + expression("os.getcwd()"),
        expression("jax.numpy.linalg.np"),
    ),
    "20 array files": (
        expression("jnp.load('x.npy')"),
        expression("jnp.save('x.npy', state.field)"),
        expression("np.fromfile('/etc/hostname')"),
        expression("np.memmap('x')"),
    ),
    "21 ctypes and dlpack": (
        "import ctypes\n" + expression("ctypes.string_at(0)"),
        expression("state.field.__dlpack__()"),
        expression("jax.dlpack.to_dlpack(state.field)"),
    ),
    "22 host callbacks": (
        expression("jax.debug.print('x')"),
        expression("jax.pure_callback(print, state.field)"),
        expression("jax.experimental.io_callback(print, None)"),
    ),
    "23 configuration": (
        expression("jax.config.update('jax_enable_x64', True)"),
        body("jax.config.x64_enabled = True\nreturn state.resting"),
        expression("jax.tree_util.register_pytree_node(state)"),
    ),
    "24 endless loops": (
        body("while True:\n    pass\nreturn state.resting"),
        body("for x in iter(int, 1):\n    pass\nreturn state.resting"),
        body(
            "xs = [1]\nfor x in xs:\n    xs.append(x)\n    for y in range(4096):\n        pass\nreturn state.stamina > xs[3]"
        ),
    ),
    "25 huge integers": (
        expression("10 ** 10 ** 10"),
        expression("1 << 999999999"),
        body("x = 3\nfor i in range(40):\n    x = x * x\nreturn state.stamina > x"),
        expression("9" * 4000),
    ),
    "26 huge arrays and strings": (
        expression("jnp.zeros((100000, 100000)).any()"),
        expression("'x' * 10 ** 9"),
        body("x = [0]\nfor i in range(40):\n    x = x + x\nreturn state.stamina > len(x)"),
        body("x = (state.stamina,)\nfor i in range(60):\n    x = (x, x)\nreturn state.resting"),
    ),
    "27 recursion and nesting": (
        "class Probe(Sharp):\n    def again(self, state):\n        return self.again(state)\n    def success(self, state, previous):\n        return self.again(state)\n",
        expression("(" * 5000 + "1" + ")" * 5000),
        expression("not " * 3000 + "state.resting"),
        expression("state" + ".field" * 6000),
        expression("1" + " + 1" * 7000),
        expression("lambda: " * 500 + "1"),
        "if 1:\n" + "".join(" " * depth + "if 1:\n" for depth in range(1, 120)) + " " * 120 + "pass\n",
        expression("[" * 300 + "]" * 300),
    ),
    "28 regular expressions": (
        "import re\n" + expression("re.match('(a+)+$', 'a' * 40)"),
        expression("re.compile('x')"),
        expression("'aaaa'.replace('a', 'b')"),
    ),
    "29 unrolled ranges": (
        body("for i in range(10 ** 9):\n    pass\nreturn state.resting"),
        body("n = 0\nfor i in range(4000):\n    for j in range(4000):\n        n = n + 1\nreturn state.stamina > n"),
        expression("jax.lax.while_loop(lambda x: True, lambda x: x, 0)"),
        expression("any(state.stamina > i + j for i in range(1000) for j in range(1000))"),
        expression("list(range(2000000000))"),
    ),
    "30 overwriting": (
        body("Tile.KILN = 0\nreturn state.resting"),
        body("Tile = Tool\nreturn state.stamina > Tile.SPADE"),
        "NEARBY = ((0, 0),)\n" + expression("True"),
        body("HEADINGS[0] = 3\nreturn state.resting"),
        "class Tile(Sharp):\n    def success(self, state, previous):\n        return state.resting\n",
    ),
    "31 kept state": (
        body("global seen\nseen = 1\nreturn state.resting"),
        "class Probe(Sharp):\n    count = 0\n    def success(self, state, previous):\n        self.count += 1\n        return self.count > 3\n",
        "class Probe(Sharp):\n    seen = []\n    def success(self, state, previous):\n        self.seen.append(state.stamina)\n        return state.resting\n",
        "class Probe(Sharp):\n    def grow(self, state, seen=[]):\n        seen.append(1)\n        return len(seen) > 2\n    def success(self, state, previous):\n        return self.grow(state)\n",
        body("def inner():\n    nonlocal x\n    x = 2\n    return x\nx = 1\nreturn state.stamina > inner()"),
    ),
    "32 time and chance": (
        "import time\n" + expression("time.time() > 3"),
        expression("id(state) % 2"),
        expression("hash(state.stamina)"),
        expression("jax.random.uniform(jax.random.PRNGKey(0)) > 0.5"),
        expression("[x for x in {3, 1, 2}][0]"),
    ),
    "33 wrong results": (
        body("return state.walker_position"),
        body("return state.field == Tile.REED"),
        body("return state.warmth"),
        body("return float('nan')"),
        body("return state"),
        body("return jnp.nan"),
        body("return state.stamina"),
        body("return 'yes'"),
        body("return inf - inf"),
        body("inf = float('inf')\nreturn inf - inf > state.warmth"),
    ),
    "34 reward hacks": (
        body("return state.achievements[0]"),
        body("return state.timestep > 10"),
        body("return True"),
        body("return state.rng[0] > 0"),
        body("return state.stamina == state.stamina"),
        body("return state.resting or not state.resting"),
        body("try:\n    return state.nothing\nexcept Exception:\n    return True"),
        body("return 1"),
    ),
    "35 broken but honest": (
        expression("state.field[0, 0] == Tile.LADDER_DOWN"),
        expression("state.reeds > 1"),
        expression("state.basket.reed > 1"),
        body("pass"),
        "def success(self, state, previous):\n    return state.resting\n",
        "class Probe(Sharp):\n    def succes(self, state, previous):\n        return state.resting\n",
        "class Probe(Sharp):\n    def success(self, state, previous):\n        return state.stamina >",
        "class Probe(Sharp):\n    def success(self, state, previous):\n        return (state.stamina > 3 and\n",
        "",
        "   \n\n",
        "I am sorry, I cannot write this program.",
        "# a comment\n" * 40,
        "```python\nclass A(Sharp):\n    pass\n```\n```python\nclass B(Sharp):\n    pass\n```\n",
        "class Probe(Sharp):\n    def success(self, state, previous):\n        return state.resting\nclass Other(Sharp):\n    def success(self, state, previous):\n        return state.resting\n",
        "class Probe(Sharp):\n    def success(self, state, previous):\n        return state.resting\n\x00",
        "class Probe(Sharp):\n    def success(self, state, previous):\n        return state.resting # \ud800\n",
        "class Probe(Sharp):\n    requires = [(ready, 'Rest')]\n    def success(self, state, previous):\n        return state.resting\n",
        "class Probe(Sharp):\n    requires = {'ready': 'Rest'}\n    def success(self, state, previous):\n        return state.resting\n",
        "class Probe(Sharp):\n    def success(self, state, previous):\n        x = helper(state)\n        return x\n",
        "class Probe(Sharp):\n    def unused(self, state):\n        return open('/etc/passwd').read()\n    def success(self, state, previous):\n        return state.resting\n",
        body("if False:\n    return eval('1')\nreturn state.resting"),
        "x" * 40000,
    ),
}
