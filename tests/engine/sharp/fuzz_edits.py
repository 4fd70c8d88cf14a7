"""Changing the text of a program for the fuzzer: of its syntax tree mostly, else token by token."""

from __future__ import annotations

import ast
import copy
import io
import itertools
import random
import tokenize

from tests.engine.sharp.generator import Generator
from tests.engine.sharp.honest_invented import PROGRAMS

SNIPPETS = (
    "state", "previous", "self", "(", ")", "[", "]", ":", ",", ".", "=", "==", "<", "+", "-", "*", "**", "//", "%",
    "<<", "0", "1", "2", "-1", "3.5", "1e9", "2147483647", "True", "None", "'x'", "if ", "else ",
    "for i in range(3): ", "return ", "break", "continue", "lambda s: ", "not ", "and ", "or ", "in ", "is ",
    "def f(self, s):\n", "\n", "\n    ", "\n        ", "state.field", "state.stamina", "state.herons.position",
    "state.walker_position", "Tile.KILN", "jnp.where(", "jnp.sum(", ".sum()", ".any()", ".reshape(", ".at[0].set(1)",
    "jnp.roll(", "range(", "enumerate(", "zip(", "min(", "max(", "sum(", "any(", "all(", "len(", "abs(", "int(",
    "float(", "NEARBY", "HEADINGS", "count_near(", "[i for i in range(4) if state.stamina > i]", ".append(",
    "requires = [(lambda s: s.stamina > 1, 'A')]", "state.field[i - 1 : i + 2, 2 : 5]", "__class__",
    "class P(Sharp):\n", "```", "\t", "\ufeff", "\xe9", "\x00",
)  # fmt: skip

FORMS = (
    "not X", "-X", "~X", "X + 1", "X * X", "X // 2", "X % 3", "X ** 2", "X / X", "X << 1", "X == X", "X < 3 < X",
    "X in (1, X)", "X and X", "X or state.resting", "X if state.resting else 0", "X[0]", "X[-1]", "X[1:3]", "X[X]",
    "X[None]", "X[..., 0]", "X[X - 1 : X + 2]", "state.field[X, 1]", "state.field[X - 1 : X + 2, 2 : 5]", "X.sum()",
    "X.any()", "X.T", "X.shape[0]", "X.astype(jnp.int32)", "X.reshape(-1)", "abs(X)", "int(X)", "float(X)", "bool(X)",
    "round(X)", "len(X)", "sum(X)", "any(X)", "all(X)", "min(X, 1)", "max(X, default=0)", "list(X)", "tuple(X)",
    "range(X)", "zip(X, X)", "enumerate(X)", "[X, X]", "(X,)", "[k for k in X]", "[k for k in X if k]",
    "sum(k for k in X if k > 1)", "any(k == X for k in range(3))", "jnp.where(X, X, 0)", "jnp.stack([X, X])",
    "jnp.roll(X, 1, axis=0)", "jnp.argmax(X)", "jnp.clip(X, 0, 5)", "jnp.array(X)", "jnp.arange(X)",
    "jnp.concatenate([X, X])", "jnp.sqrt(X)", "jnp.linalg.norm(X)",
    "jax.lax.dynamic_slice(state.field, (X, 1), (3, 3))", "self.helper(X)", "count_near(state, X)", "HEADINGS[X]",
    "Tile(X)", "(lambda q: q)(X)",
)  # fmt: skip


def mutated(data: bytes, limit: int, seed: int) -> bytes:
    """One to four edits of a text: of its syntax tree mostly, else of its tokens."""
    dice = random.Random(seed)
    text = data.decode("utf-8", "surrogateescape")
    begun = dice.random()
    if begun < 0.3:  # what has been changed a hundred times is hardly ever accepted
        text = dice.choice(PROGRAMS)
    elif begun < 0.4 or not text:
        text = Generator(dice).program()
    tree = _tree(text) if dice.random() < 0.75 else None
    if tree is not None:
        for _ in range(dice.randint(1, 4)):
            _edit_tree(tree, dice)
        try:
            text = ast.unparse(tree)
        except (ValueError, RecursionError, TypeError, AttributeError):
            tree = None
    if tree is None:
        for _ in range(dice.randint(1, 3)):
            text = _edited(text, dice)
    raw = text.encode("utf-8", "surrogateescape") if not _lone(text) else text.encode("utf-8", "surrogatepass")
    return raw[:limit]


def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text, "")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _slots(tree: ast.AST) -> list[tuple[ast.AST, str, int | None]]:
    """Every place of a tree that holds an expression."""
    found: list[tuple[ast.AST, str, int | None]] = []
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if _is_value(value):
                found.append((node, name, None))
            elif isinstance(value, list):
                found += [(node, name, place) for place, item in enumerate(value) if _is_value(item)]
    return found


def _expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, "", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_value(item: object) -> bool:
    stored = isinstance(getattr(item, "ctx", None), ast.Store)
    return isinstance(item, ast.expr) and not stored and not isinstance(item, ast.Slice)


def _read(slot: tuple[ast.AST, str, int | None]) -> ast.expr:
    node, name, place = slot
    value = getattr(node, name)
    found: ast.expr = value if place is None else value[place]
    return found


def _write(slot: tuple[ast.AST, str, int | None], value: ast.expr) -> None:
    node, name, place = slot
    if place is None:
        setattr(node, name, value)
    else:
        getattr(node, name)[place] = value


def _edit_tree(tree: ast.Module, dice: random.Random) -> None:
    slots = _slots(tree)
    blocks = [node.body for node in ast.walk(tree) if isinstance(getattr(node, "body", None), list) and node.body]
    if not slots or not blocks:
        return
    slot = dice.choice(slots)
    match dice.randrange(8):
        case 0 | 1:
            _write(slot, copy.deepcopy(_read(dice.choice(slots))))
        case 2 | 3:
            donor = _slots(ast.parse(dice.choice(PROGRAMS)))
            _write(slot, copy.deepcopy(_read(dice.choice(donor))))
        case 4:
            made = _expression(dice.choice(FORMS).replace("X", "(" + ast.unparse(_read(slot)) + ")"))
            if made is not None:
                _write(slot, made)
        case 5:
            block = dice.choice(blocks)
            other = dice.choice(blocks)
            block.insert(dice.randrange(len(block) + 1), copy.deepcopy(dice.choice(other)))
        case 6:
            block = dice.choice(blocks)
            if len(block) > 1:
                del block[dice.randrange(len(block))]
        case _:
            block = dice.choice(blocks)
            at = dice.randrange(len(block))
            test = copy.deepcopy(_read(dice.choice(slots)))
            inner = [copy.deepcopy(block[at])]
            if dice.random() < 0.5:
                block[at] = ast.If(test, inner, [])
            else:
                block[at] = ast.For(ast.Name("k", ast.Store()), test, inner, [])
    ast.fix_missing_locations(tree)


def _edited(text: str, dice: random.Random) -> str:
    """One edit of the tokens: dropped, doubled, swapped, replaced by another text's or by a snippet."""
    pieces = _pieces(text)
    if not pieces:
        return dice.choice(SNIPPETS)
    at = dice.randrange(len(pieces))
    match dice.randrange(7):
        case 0:
            del pieces[at : at + dice.randint(1, 4)]
        case 1:
            pieces[at:at] = pieces[at : at + dice.randint(1, 12)]
        case 2:
            other = dice.randrange(len(pieces))
            pieces[at], pieces[other] = pieces[other], pieces[at]
        case 3:
            donor = _pieces(dice.choice(PROGRAMS))
            start = dice.randrange(len(donor))
            pieces[at : at + dice.randint(0, 3)] = donor[start : start + dice.randint(1, 10)]
        case 4:
            pieces[at] = dice.choice(SNIPPETS)
        case 5:
            pieces.insert(at, dice.choice(SNIPPETS))
        case _:
            pieces[at] = pieces[at] * dice.choice((2, 3, 50))
    return "".join(pieces)


def _lone(text: str) -> bool:
    return any(0xD800 <= ord(character) <= 0xDFFF for character in text)


def _pieces(text: str) -> list[str]:
    """A text as tokens with the blanks before them; as characters where it has no tokens."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    cuts = {0, len(text)}
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            cuts.add(min(starts[token.start[0] - 1] + token.start[1], len(text)))
    except (tokenize.TokenError, SyntaxError, IndexError, ValueError):
        cuts.update(range(0, len(text), 7))
    ordered = sorted(cuts)
    return [text[start:stop] for start, stop in itertools.pairwise(ordered)]
