# ruff: noqa: E501 - programs on one line
"""Class 27: recursion, and nesting of everything that nests."""

from __future__ import annotations

from tests.engine.sharp.hostile.shapes import (
    HEAD,
    SUCCESS,
    beside,
    body,
    constant,
    default,
    expression,
    member,
    required,
)


def _blocks(head: str, depth: int, last: str = "pass") -> str:
    """Statements nested ``depth`` deep."""
    lines = [" " * level + head for level in range(depth)]
    return "\n".join([*lines, " " * depth + last])


NESTING: dict[str, tuple[str, ...]] = {
    "27 recursion and nesting": (
        # recursion
        member("def again(self, state):\n    return self.again(state)").replace("state.resting", "self.again(state)"),
        member("def a(self, s):\n    return self.b(s)\ndef b(self, s):\n    return self.a(s)").replace(
            "state.resting", "self.a(state)"
        ),
        body("return self.success(state, previous)"),
        body("def f(x):\n    return f(x)\nreturn f(state.stamina)"),
        beside("def f(x):\n    return g(x)\n\ndef g(x):\n    return f(x)").replace("state.resting", "f(state.stamina)"),
        member("def again(self, state):\n    return self.again(state) if state.resting else False").replace(
            "return state.resting\n", "return self.again(state)\n"
        ),
        member("f = lambda self, s: self.f(s)").replace("state.resting", "self.f(state)"),
        member("requires = [(c, 'Rest')]\ndef c(self, state):\n    return self.c(state)"),
        HEAD
        + "".join(f"    def h{i}(self, s):\n        return self.h{i + 1}(s)\n" for i in range(60))
        + "    def h60(self, s):\n        return s.resting\n    def success(self, state, previous):\n        return self.h0(state)\n",
        # expressions
        expression("(" * 5000 + "1" + ")" * 5000),
        expression("(" * 61 + "1" + ")" * 61),
        expression("[" * 300 + "]" * 300),
        expression("{" * 199 + "}" * 199),
        expression("([{" * 30 + "}])" * 30),
        expression("(" * 15000),
        expression(")" * 15000),
        expression("abs(" * 55 + "1" + ")" * 55),
        expression("state.field" + "[0" * 3000 + "]" * 3000),
        expression("state.field" + "[0]" * 3000),
        expression("state" + ".field" * 6000),
        expression("state" + ".T" * 6000),
        expression("state.field" + ".copy()" * 3000),
        expression("abs" + "(1)" * 5000),
        expression("not " * 3000 + "state.resting"),
        expression("- " * 8000 + "1"),
        expression("+-~" * 5000 + "1"),
        expression("not -" * 3000 + "1"),
        expression("1" + " + 1" * 7000),
        expression("1" + "-1" * 10000),
        expression("state.stamina" + "*2" * 10000),
        expression("1" + "**1" * 10000),
        expression("1" + "**-1" * 7000),
        expression("1" + "<<1" * 9000),
        expression("1 if 1 else " * 2700 + "1"),
        expression("1 if " * 4000 + "1" + " else 1" * 4000),
        expression("lambda: " * 500 + "1"),
        expression("lambda x: " * 3000 + "1"),
        expression("lambda x=" * 3000 + "1" + ": 1" * 3000),
        expression("(lambda: " * 50 + "1" + ")()" * 50),
        expression("[x for x in " * 50 + "(1,)" + "]" * 50),
        expression("any(x for x in " * 55 + "(1,)" + ")" * 55),
        expression("sum(0 " + "for a in (0,) " * 2000 + ")"),
        body("x = (0,)\nreturn state.stamina > sum(0 " + "for a in x " * 1100 + ")"),
        expression("sum(0 for a in (0,) " + "if 1 " * 5000 + ") > 3"),
        expression("1 < " * 8000 + "1"),
        expression("state.stamina in " * 1500 + "(1,)"),
        expression("not 1 in " * 50 + "(1,)"),
        expression("1 and (" * 55 + "1" + ")" * 55),
        expression("1 or not " * 3000 + "1"),
        expression("state.field[" + ":," * 5000 + "]"),
        expression("state.field[" + "..., " * 100 + "]"),
        expression("(x := " * 50 + "1" + ")" * 50),
        expression("*" * 5000 + "1"),
        expression("await " * 3000 + "1"),
        expression("'" + "{" * 5000 + "'"),
        expression("f'{" * 50 + "1" + "}'" * 50),
        constant("(" * 59 + "1" + ",)" * 59),
        default("[" * 100 + "]" * 100),
        required("(" * 100 + "1" + ")" * 100),
        # statements
        "if 1:\n" + "".join(" " * depth + "if 1:\n" for depth in range(1, 120)) + " " * 120 + "pass\n",
        body(_blocks("if state.resting:", 50)),
        body(_blocks("for i in (1,):", 50)),
        body(_blocks("def f():", 50)),
        body(_blocks("while 1:", 50)),
        body(_blocks("with state:", 50)),
        body(_blocks("try:", 50)),
        body(_blocks("class A:", 50)),
        body("if state.resting: pass\n" + "elif state.resting: pass\n" * 500 + "return state.resting"),
        "class A:\n def success(s, t):\n  if 0: 0\n" + "  elif 0: 0\n" * 2500 + "  return t.resting\n",
        body("if state.resting: pass\n" + "else: pass\n" * 3000),
        body("x = " + "y = " * 7000 + "0\nreturn state.resting"),
        body("(" * 50 + "x" + ",)" * 50 + " = 1\nreturn state.resting"),
        body("x: " + "[" * 100 + "]" * 100 + " = 1\nreturn state.resting"),
        body("for " + "(" * 70 + "x" + ",)" * 70 + " in (1,):\n    pass\nreturn state.resting"),
        body("x = [0]\nfor i in range(200):\n    x = [x]\nreturn state.resting"),
        body("x = 0\nfor i in range(200):\n    x = (x, 1)\nreturn state.resting"),
        body("x = ()\nfor i in range(20):\n    x = (x, x)\nreturn state.stamina > len(x)"),
        # values whose nesting the text does not show
        body("x = state.field\nfor i in range(80):\n    x = jnp.expand_dims(x, 0)\nreturn (x + x.T).sum() > 2"),
        body("x = state.field\nfor i in range(80):\n    x = x[None]\nreturn x.sum() > 2"),
        # the text around the program
        '"" + ' + "(" * 150 + "1" + ")" * 150 + ' + "class"',
        '"" + ' + "-" * 20000 + '1 + "class"',
        '"class"' + '+"a"' * 7000,
        '"class"' + ".a" * 14000 + '+""',
        '"class"' + "()" * 14000 + '+""',
        "'class'" + " if 1 else 'a'" * 2000,
        '"' * 30000 + "class" + '"' * 2,
        "```\n" * 8000 + "class A:\n    pass\n",
        "\\\n" * 16000 + "class",
        HEAD + SUCCESS.rstrip("\n") + " \\\n" * 10000,
    ),
}
