# ruff: noqa: E501
"""Random programs of the language, written from the grammar so that CPython can run them as well.

Programs stay where both worlds agree by design: no window reaches over an edge, no division by zero, no overflow,
floats are small multiples of 1/8. Every production that is used is counted.
"""

from __future__ import annotations

from collections import Counter
from random import Random

INTS = ("stamina", "heading", "basket.reeds", "basket.clay", "basket.bricks", "basket.tool")
TILES = ("MEADOW", "REED", "CLAY", "KILN", "BROOK", "THICKET")

PRODUCTIONS = (
    "class", "docstring", "class constant", "helper method", "nested function", "requires name", "requires string", "requires lambda",
    "requires missing", "if", "elif", "else", "early return", "missing return", "for range", "for tuple", "for enum", "for array",
    "for enumerate", "for zip", "for else", "break", "continue", "assign", "unpack", "augmented", "annotated", "append", "pass",
    "field", "previous field", "group field", "enum member", "enum value", "int constant", "float constant", "+", "-", "*", "//", "%",
    "/", "**", "<<", "&", "|", "^", "unary -", "not", "~ array", "and", "or", "ternary", "chained comparison", "comparison", "in tuple",
    "not in tuple", "in set", "in enum", "is None", "abs", "min", "max", "min of generator", "sum of generator", "any of generator",
    "all of generator", "len", "len of filtered", "int()", "float()", "bool()", "round()", "list comprehension", "filter", "nested comprehension",
    "static index", "negative index", "traced index", "traced index of tuple", "slice", "window", "dynamic_slice", "array method",
    "jnp reduction", "jnp.where", "jnp.logical", "jnp.array", "jnp.minimum", "jnp.clip", "jnp.isin", "array comparison", "astype", "shape",
    "helper of the world", "self constant", "keyword argument", "default argument", "tuple comparison", "truth of int", "argmax",
    "sorted", "reversed", "divmod", "pow", "jnp.sort", "jnp.cumsum", "jnp.dot", "jnp.unravel_index", "where argument", "where and initial",
    "jnp.select", "extend", "jnp.roll", "jnp.flip", "jnp.diff", "jnp.pad", "jnp.tile", "jnp.repeat", "jnp.meshgrid", "jnp.indices",
    "jnp.eye", "jnp.outer", "jnp.isclose", "jnp.hypot", "dynamic_slice_in_dim",
)  # fmt: skip


class Generator:
    """Writes one program per call of ``program``."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.used: Counter[str] = Counter()
        self.ints: list[str] = []
        self.targets: list[str] = []
        self.bools: list[str] = []
        self.floats: list[str] = []
        self.fresh = 0
        self.state = "state"
        self.has_previous = True
        self.has_helper = False
        self.in_loop = 0

    # --- choices -----------------------------------------------------------------------------------------------------

    def use(self, name: str) -> None:
        """Count a production."""
        assert name in PRODUCTIONS, name
        self.used[name] += 1

    def pick(self, options: list[str] | tuple[str, ...]) -> str:
        return options[self.random.randrange(len(options))]

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def name(self, prefix: str) -> str:
        self.fresh += 1
        return f"{prefix}{self.fresh}"

    def source(self) -> str:
        """The state that a field is read from."""
        if self.has_previous and self.chance(35):
            self.use("previous field")
            return "previous"
        return self.state

    # --- integers ----------------------------------------------------------------------------------------------------

    def small(self, depth: int) -> str:
        """An integer expression of small absolute value."""
        if depth <= 0 or self.chance(25):
            return self.int_leaf()
        kind = self.random.randrange(26)
        a = self.small(depth - 1)
        if kind >= 22:
            return self.arranged_int(a, depth)
        if kind == 0:
            self.use("+")
            return f"({a} + {self.small(depth - 1)})"
        if kind == 1:
            self.use("-")
            return f"({a} - {self.small(depth - 1)})"
        if kind == 2:
            self.use("*")
            return f"({self.int_leaf()} * {self.random.randrange(-3, 4)})"
        if kind == 3:
            self.use("//")
            return f"(({a} - {self.int_leaf()}) // {self.pick(('2', '3', '-2'))})"
        if kind == 4:
            self.use("%")
            return f"(({a} - {self.int_leaf()}) % {self.pick(('2', '3', '5', '-3'))})"
        if kind == 5:
            self.use("abs")
            return f"abs({a})"
        if kind == 6:
            self.use("min")
            return f"min({a}, {self.small(depth - 1)}, {self.int_leaf()})"
        if kind == 7:
            self.use("max")
            return f"max({a}, {self.small(depth - 1)})"
        if kind == 8:
            self.use("unary -")
            return f"(-{a})"
        if kind == 9:
            self.use("int()")
            return f"int({self.boolean(depth - 1)})"
        if kind == 10:
            self.use("ternary")
            return f"({a} if {self.boolean(depth - 1)} else {self.small(depth - 1)})"
        if kind == 11:
            self.use("+")
            return f"({self.boolean(depth - 1)} + {self.boolean(depth - 1)})"
        if kind == 12:
            self.use("sum of generator")
            return self.sum_of(depth)
        if kind == 13:
            op = self.pick(("&", "|", "^"))
            self.use(op)
            return f"({self.int_leaf()} {op} {self.random.randrange(0, 8)})"
        if kind == 14:
            self.use("traced index of tuple")
            return f"(1, 4, -2, 0, 3)[{self.source()}.heading]"
        if kind == 15:
            self.use("<<")
            return f"(abs({self.int_leaf()}) << {self.random.randrange(0, 3)})"
        if kind == 16:
            self.use("round()")
            return f"round({self.floating(depth - 1)})"
        if kind == 17:
            self.use("**")
            return f"(({self.int_leaf()} % 9) ** 2)"  # a square of a square of a local outgrows 32 bits
        if kind == 18:
            self.use("array method")
            return f"({self.bool_array(depth - 1)}).sum()"
        if kind == 19:
            self.use("min of generator")
            name = self.name("k")
            self.use("filter")
            return f"{self.pick(('min', 'max'))}(({name} + {self.int_leaf()} for {name} in range(4) if {name} != {self.int_leaf()}), default=7)"
        if kind == 20:
            self.use("len of filtered")
            name = self.name("k")
            self.use("list comprehension")
            self.use("filter")
            return f"len([{name} for {name} in range(5) if {name} < {a}])"
        self.use("argmax")
        return f"int(jnp.argmax({self.source()}.herons.calm))"

    def arranged_int(self, a: str, depth: int) -> str:
        """An integer by way of a function of the second edition."""
        source, leaf, place = self.source(), self.int_leaf(), self.random.randrange(3)
        forms = {
            "sorted": f"sorted([{a}, {leaf}, 3])[{place}]",
            "reversed": f"list(reversed((1, {leaf}, 4)))[{place}]",
            "divmod": f"divmod({a}, {self.pick(('2', '3', '-3'))})[{place % 2}]",
            "pow": f"pow({leaf} % 9, {place})",
            "jnp.sort": f"int(jnp.sort({source}.herons.position[:, {place % 2}])[{place}])",
            "jnp.cumsum": f"int(jnp.cumsum({source}.field[{place}])[{place * 3}])",
            "jnp.dot": f"int(jnp.dot({source}.walker_position, {source}.herons.position[{place}]))",
            "jnp.unravel_index": f"int(jnp.unravel_index(jnp.argmax({source}.field == {leaf}), (9, 11))[{place % 2}])",
            "where argument": f"int(jnp.sum({source}.herons.position[:, 1], where={source}.herons.mask))",
            "where and initial": f"int(jnp.max({source}.herons.position[:, 0], where={source}.herons.mask, initial=-1))",
            "jnp.select": f"int(jnp.select([{self.boolean(depth - 2)}, {self.bool_leaf()}], [{a}, {leaf}], {place}))",
        }
        production = self.pick(tuple(forms))
        self.use(production)
        return forms[production]

    def arranged_bools(self, source: str) -> str:
        """An array of truth values by way of a function of the second edition."""
        leaf, place = self.int_leaf(), self.random.randrange(2)
        forms = {
            "jnp.roll": f"jnp.roll({source}.field, {self.random.randrange(-3, 4)}, axis={place}) == {source}.field",
            "jnp.flip": f"jnp.flip({source}.flooded, {place})[2:5]",
            "jnp.diff": f"jnp.diff({source}.field, axis={place}) > {leaf}",
            "jnp.pad": f"jnp.pad({source}.flooded, {self.pick(('1', '(0, 2)', '((1, 0), (2, 1))'))})[:3, 2:]",
            "jnp.tile": f"jnp.tile({source}.walker_position, {self.pick(('2', '(3, 1)'))}) > {leaf}",
            "jnp.repeat": f"jnp.repeat({source}.herons.position, 2{self.pick(('', ', axis=0', ', axis=1'))}) > {leaf}",
            "jnp.meshgrid": f'(jnp.meshgrid(jnp.arange(9), jnp.arange(11), indexing="ij")[{place}] < {leaf}) & {source}.flooded',
            "jnp.indices": f"(jnp.indices((9, 11))[{place}] > {leaf}) & {source}.flooded",
            "jnp.eye": f"(jnp.eye(3) > 0.5) & {source}.herons.mask",
            "jnp.outer": f"jnp.outer({source}.walker_position, {source}.herons.position[1]) > {leaf}",
            "jnp.isclose": f"jnp.isclose({source}.herons.calm, {self.floating(0)})",
            "jnp.hypot": f"jnp.hypot({source}.herons.position[:, 0], {leaf}) < 4.3",
            "dynamic_slice_in_dim": f"jax.lax.dynamic_slice_in_dim({source}.field, {source}.walker_position[0], 3, {place}) == {leaf}",
        }
        production = self.pick(tuple(forms))
        self.use(production)
        return forms[production]

    def int_leaf(self) -> str:
        kind = self.random.randrange(12)
        if kind < 4:
            field = self.pick(INTS)
            self.use("group field" if "." in field else "field")
            return f"{self.source()}.{field}"
        if kind == 4 and self.ints:
            return self.pick(self.ints)
        if kind == 5:
            self.use("enum member")
            return f"Tile.{self.pick(TILES)}"
        if kind == 6:
            self.use("enum value")
            return f"Tile.{self.pick(TILES)}.value"
        if kind == 7:
            self.use("static index")
            return f"{self.source()}.walker_position[{self.random.randrange(2)}]"
        if kind == 8:
            self.use("negative index")
            return f"{self.source()}.herons.position[-1][{self.random.randrange(2)}]"
        if kind == 9:
            self.use("traced index")
            source = self.source()
            return f"{source}.field[{source}.walker_position[0], {source}.walker_position[1]]"
        if kind == 10:
            self.use("self constant")
            return "self.REACH"
        self.use("int constant")
        return str(self.random.randrange(-2, 10))

    def sum_of(self, depth: int) -> str:
        name = self.name("k")
        if self.chance(30):
            self.use("nested comprehension")
            other = self.name("k")
            return f"sum({name} * {other} for {name} in range(3) for {other} in range(2) if {name} + {other} <= {self.int_leaf()})"
        test = ""
        if self.chance(60):
            self.use("filter")
            test = f" if {name} {self.pick(('<', '!=', '>='))} {self.int_leaf()}"
        return f"sum({name} - {self.small(depth - 2)} for {name} in range({self.random.randrange(1, 5)}){test})"

    # --- floats ------------------------------------------------------------------------------------------------------

    def floating(self, depth: int) -> str:
        if depth <= 0 or self.chance(35):
            kind = self.random.randrange(4)
            if kind == 0 and self.floats:
                return self.pick(self.floats)
            if kind == 1:
                self.use("float constant")
                return self.pick(("0.5", "0.25", "1.5", "-2.0"))
            if kind == 2:
                return f"{self.source()}.herons.calm[{self.random.randrange(3)}]"
            self.use("field")
            return f"{self.source()}.warmth"
        kind = self.random.randrange(6)
        a = self.floating(depth - 1)
        if kind == 0:
            op = self.pick(("+", "-"))
            self.use(op)
            return f"({a} {op} {self.floating(depth - 1)})"
        if kind == 1:
            self.use("/")
            return f"({self.small(depth - 1)} / {self.pick(('2', '4', '-8'))})"
        if kind == 2:
            self.use("float()")
            return f"float({self.small(depth - 1)})"
        if kind == 3:
            self.use("*")
            return f"({a} * {self.pick(('2', '0.5', '-1'))})"
        if kind == 4:
            self.use("max")
            return f"max({a}, {self.floating(depth - 1)})"
        self.use("ternary")
        return f"({a} if {self.boolean(depth - 1)} else {self.small(depth - 1)})"

    # --- truth -------------------------------------------------------------------------------------------------------

    def boolean(self, depth: int) -> str:
        if depth <= 0:
            return self.bool_leaf()
        kind = self.random.randrange(28)
        a = self.small(depth - 1)
        if kind < 5:
            self.use("comparison")
            return f"({a} {self.pick(('<', '<=', '>', '>=', '==', '!='))} {self.small(depth - 1)})"
        if kind == 5:
            self.use("comparison")
            return f"({self.floating(depth - 1)} {self.pick(('<', '<=', '>', '>='))} {self.floating(depth - 1)})"
        if kind == 6:
            self.use("chained comparison")
            return f"({self.random.randrange(-2, 3)} <= {a} {self.pick(('<', '<=', '!='))} {self.small(depth - 1)})"
        if kind in (7, 8):
            self.use("and")
            return f"({self.boolean(depth - 1)} and {self.boolean(depth - 1)})"
        if kind in (9, 10):
            self.use("or")
            return f"({self.boolean(depth - 1)} or {self.boolean(depth - 1)} or {self.bool_leaf()})"
        if kind == 11:
            self.use("not")
            return f"(not {self.boolean(depth - 1)})"
        if kind == 12:
            negated = self.chance(50)
            self.use("not in tuple" if negated else "in tuple")
            return f"({a} {'not in' if negated else 'in'} (Tile.REED, 3, {self.int_leaf()}))"
        if kind == 13:
            self.use("in set")
            return f"({a} in {{1, 4, Tile.CLAY}})"
        if kind == 14:
            self.use("in enum")
            return f"({a} in Tool)"
        if kind == 15:
            self.use("any of generator")
            return f"any({self.each(depth)})"
        if kind == 16:
            self.use("all of generator")
            return f"all({self.each(depth)})"
        if kind == 17:
            self.use("bool()")
            return f"bool({a})"
        if kind == 18:
            self.use("jnp reduction")
            return f"bool(jnp.{self.pick(('any', 'all'))}({self.bool_array(depth - 1)}))"
        if kind == 19:
            self.use("array method")
            return f"({self.bool_array(depth - 1)}).{self.pick(('any', 'all'))}()"
        if kind == 20:
            self.use("tuple comparison")
            return f"(({a}, {self.int_leaf()}) == ({self.int_leaf()}, {self.small(depth - 1)}))"
        if kind == 21:
            op = self.pick(("&", "|", "^"))
            self.use(op)
            return f"({self.boolean(depth - 1)} {op} {self.boolean(depth - 1)})"
        if kind == 22 and self.has_helper:
            self.use("keyword argument")
            return f"self.assist({a}, state={self.state})"
        if kind == 23 and self.has_helper:
            self.use("default argument")
            return f"self.assist({a}, {self.state}, {self.random.randrange(4)})"
        if kind == 24:
            self.use("jnp.isin")
            return f"bool(jnp.isin({a}, jnp.array([1, 3, 4])))"
        if kind == 25:
            self.use("is None")
            return f"({self.state} is not None and {self.boolean(depth - 1)})"
        if kind == 26:
            self.use("truth of int")
            return f"(not {a})"
        if kind == 27:
            self.use("helper of the world")
            return f"(count_near({self.state}, {self.pick(('Tile.REED', 'Tile.CLAY', '4'))}) >= {self.random.randrange(1, 4)})"
        return self.bool_leaf()

    def bool_leaf(self) -> str:
        kind = self.random.randrange(5)
        if kind == 0 and self.bools:
            return self.pick(self.bools)
        if kind == 1:
            return f"{self.source()}.herons.mask[{self.random.randrange(3)}]"
        if kind == 2:
            self.use("comparison")
            return f"({self.int_leaf()} {self.pick(('<', '>=', '=='))} {self.int_leaf()})"
        if kind == 3:
            return f"(self.WET or {self.source()}.stamina > 4)"
        return f"{self.source()}.resting"

    def each(self, depth: int) -> str:
        name = self.name("k")
        kind = self.random.randrange(4)
        test = ""
        if self.chance(40):
            self.use("filter")
            test = f" if {self.boolean(depth - 2)}"
        if kind == 0:
            return f"{name} == {self.small(depth - 2)} for {name} in Tile{test}"
        if kind == 1:
            return f"{name} and {self.boolean(depth - 2)} for {name} in {self.source()}.herons.mask{test}"
        if kind == 2:
            return f"{name}[0] <= {self.small(depth - 2)} for {name} in {self.source()}.herons.position{test}"
        return f"{self.small(depth - 2)} > {name} for {name} in range({self.random.randrange(4)}){test}"

    def bool_array(self, depth: int) -> str:
        kind = self.random.randrange(16)
        source = self.source()
        if kind >= 12:
            return self.arranged_bools(source)
        if kind == 0:
            self.use("~ array")
            return f"~({source}.flooded)" if depth <= 0 else f"~({self.bool_array(depth - 1)})"
        if kind == 1:
            self.use("window")
            row, column = f"{source}.walker_position[0]", f"{source}.walker_position[1]"
            return f"{source}.field[{row} - 1:{row} + 2, {column} - 2:{column} + 1] == {self.pick(('Tile.REED', '2', 'Tile.KILN.value'))}"
        if kind == 2:
            self.use("dynamic_slice")
            starts = f"{source}.walker_position[0] - 2, {source}.walker_position[1]"
            return f"jax.lax.dynamic_slice({source}.field, ({starts}), (4, 4)) > {self.int_leaf()}"
        if kind == 3:
            self.use("slice")
            return f"{source}.flooded[1:{self.random.randrange(2, 8)}, ::2]"
        if kind == 4:
            self.use("jnp.logical")
            return f"jnp.logical_{self.pick(('and', 'or', 'xor'))}({source}.herons.mask, {source}.herons.calm >= 0.5)"
        if kind == 5:
            self.use("jnp.where")
            return f"jnp.where({source}.herons.mask, {source}.herons.position[:, 0], {self.int_leaf()}) > {self.int_leaf()}"
        if kind == 6:
            self.use("jnp.minimum")
            return f"jnp.minimum({source}.herons.position[:, 1], {self.int_leaf()}) == {self.int_leaf()}"
        if kind == 7:
            self.use("jnp.array")
            return f"jnp.array([{self.int_leaf()}, {self.int_leaf()}, 2]) <= {source}.herons.position[:, 1]"
        if kind == 8:
            self.use("jnp.clip")
            return f"jnp.clip({source}.field[2], 1, 3) != {self.int_leaf()}"
        if kind == 9:
            self.use("astype")
            return f"({source}.flooded.astype(jnp.int32) + {source}.field) > {self.int_leaf()}"
        if kind == 10:
            self.use("shape")
            return f"jnp.abs({source}.herons.position - {source}.walker_position) < {source}.field.shape[0] - 5"
        self.use("array comparison")
        return f"{source}.field == {self.int_leaf()}"

    # --- statements --------------------------------------------------------------------------------------------------

    def block(self, depth: int, indent: str) -> list[str]:
        lines: list[str] = []
        for _ in range(self.random.randrange(1, 4)):
            lines.extend(self.statement(depth, indent))
        return lines

    def statement(self, depth: int, indent: str) -> list[str]:
        kind = self.random.randrange(15 if depth > 0 else 7)
        if kind <= 1:
            self.use("assign")
            return [f"{indent}{self.pick(self.targets)} = {self.small(2)}"]
        if kind == 2:
            self.use("augmented")
            return [f"{indent}{self.pick(self.targets)} {self.pick(('+=', '-='))} {self.small(1)}"]
        if kind == 3:
            self.use("assign")
            return [f"{indent}{self.pick(self.bools)} = {self.boolean(2)}"]
        if kind == 4:
            self.use("unpack")
            return [f"{indent}{self.targets[0]}, {self.targets[1]} = {self.small(1)}, {self.small(1)}"]
        if kind == 5:
            self.use("annotated")
            return [f"{indent}{self.pick(self.floats)}: float = {self.floating(2)}"]
        if kind == 6:
            if self.in_loop and self.chance(70):
                word = self.pick(("break", "continue"))
                self.use(word)
                return [f"{indent}if {self.boolean(1)}:", f"{indent}    {word}"]
            if self.chance(50):
                return [f"{indent}{self.pick(self.targets)} = {self.small(2)}"]
            self.use("early return")
            self.use("if")
            return [f"{indent}if {self.boolean(2)}:", f"{indent}    return {self.boolean(1)}"]
        if kind <= 9:
            return self.conditional(depth, indent)
        if kind <= 12:
            return self.loop(depth, indent)
        if kind == 13:
            self.use("append")
            name = self.name("xs")
            self.use("len")
            lines = [
                f"{indent}{name} = [{self.small(1)}]",
                f"{indent}for step in range(3):",
                f"{indent}    {name}.append({self.small(1)} + step)",
            ]
            if self.chance(50):
                self.use("extend")
                lines.append(f"{indent}{name}.extend(({self.small(1)}, 2))")
            return [*lines, f"{indent}{self.pick(self.targets)} = {name}[1] + len({name})"]
        self.use("nested function")
        name = self.name("local")
        lines = [f"{indent}def {name}(value):", f"{indent}    return value > {self.int_leaf()}"]
        return [*lines, f"{indent}{self.pick(self.bools)} = {name}({self.small(1)})"]

    def conditional(self, depth: int, indent: str) -> list[str]:
        self.use("if")
        lines = [f"{indent}if {self.boolean(2)}:", *self.block(depth - 1, indent + "    ")]
        if self.chance(40):
            self.use("elif")
            lines += [f"{indent}elif {self.boolean(2)}:", *self.block(depth - 1, indent + "    ")]
        if self.chance(50):
            self.use("else")
            self.use("pass")
            lines += [f"{indent}else:", f"{indent}    pass", *self.block(depth - 1, indent + "    ")]
        return lines

    def loop(self, depth: int, indent: str) -> list[str]:
        name = self.name("k")
        kind = self.random.randrange(6)
        heads = {
            0: ("for range", f"for {name} in range({self.random.randrange(1, 4)}):"),
            1: ("for tuple", f"for {name} in (1, 3, {self.int_leaf()}):"),
            2: ("for enum", f"for {name} in Tool:"),
            3: ("for array", f"for {name} in {self.source()}.walker_position:"),
            4: ("for enumerate", f"for index, {name} in enumerate((2, 5, {self.int_leaf()})):"),
            5: ("for zip", f"for {name}, other in zip((1, 2), {self.source()}.herons.calm):"),
        }
        production, head = heads[kind]
        self.use(production)
        self.in_loop += 1
        self.ints.append(name)
        body = self.block(depth - 1, indent + "    ")
        self.in_loop -= 1
        if self.chance(60):
            word = self.pick(("break", "break", "continue"))
            self.use(word)
            body += [f"{indent}    if {self.boolean(2)}:", f"{indent}        b = b + 1", f"{indent}        {word}"]
        body.append(f"{indent}    a = a + {name} % 3")
        self.ints.remove(name)
        lines = [f"{indent}{head}", *body]
        if self.chance(25):
            self.use("for else")
            lines += [f"{indent}else:", f"{indent}    b = {self.small(1)}"]
        return lines

    # --- programs ----------------------------------------------------------------------------------------------------

    def method(self, header: str, previous: bool) -> list[str]:
        self.has_previous = previous
        self.ints, self.bools, self.floats = [], [], []
        self.targets = ["a", "b"]
        indent = "        "
        lines = [
            header,
            f"{indent}a, b = {self.int_leaf()}, 1",
            f"{indent}p, q = {self.bool_leaf()}, False",
            f"{indent}x = 0.5",
        ]
        self.ints, self.bools, self.floats = ["a", "b"], ["p", "q"], ["x"]
        lines += [line for _ in range(3) for line in self.block(2, indent)]
        if self.chance(85):
            # The parity of everything shows a difference in any local about half of the time.
            lines.append(f"{indent}parity = (a + b * 3 + p + q + int(x * 16)) % 2 == 0")
            lines.append(f"{indent}return parity != {self.boolean(3)}")
        else:
            self.use("missing return")
            lines += [f"{indent}if {self.boolean(2)} or (a + b + p) % 2:", f"{indent}    return {self.boolean(1)}"]
        return lines

    def program(self) -> str:
        """The source of one program."""
        for name in (
            "class",
            "docstring",
            "class constant",
            "requires missing" if self.chance(30) else "requires name",
        ):
            self.use(name)
        with_requires = self.used["requires name"] > 0
        lines = ["class Made(Sharp):", '    """A generated program."""', "    REACH = 2", "    WET = False"]
        self.use("helper method")
        self.has_helper = False
        self.has_previous = False
        self.ints, self.bools, self.floats = ["value"], [], []
        lines += [
            "    def assist(self, value, state, extra=1):",
            f"        if {self.boolean(1)}:",
            "            return value > extra",
        ]
        lines += [f"        return {self.boolean(1)}"]
        self.has_helper = True
        lines += self.method("    def success(self, state, previous):", previous=True)
        if with_requires:
            lines += self.method("    def first(self, state):", previous=False)
            self.has_previous = False
            self.ints, self.bools, self.floats = [], [], []
            self.state = "s"
            self.use("requires lambda")
            self.use("requires string")
            self_free = f"lambda self, s: {self.boolean(2)}"
            self.state = "state"
            lines.append(f'    requires = [(first, "One"), ("first", "Two"), ({self_free}, "Three")]')
        return "\n".join(lines) + "\n"
