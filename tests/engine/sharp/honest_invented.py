"""Honest programs of the invented world: each language feature used the way an author would use it."""

from __future__ import annotations

PROGRAMS = (
    '''
class CutReeds(Sharp):
    """Cut reeds."""

    def success(self, state, previous):
        return state.basket.reeds > previous.basket.reeds

    requires = [(lambda self, state: state.basket.tool == Tool.SICKLE, "FetchSickle")]
''',
    '''
class FetchSickle(Sharp):
    """Hold the sickle."""

    def success(self, state, previous):
        return state.basket.tool == Tool.SICKLE.value != previous.basket.tool
''',
    '''
REACH = 2


def near(state, tile, reach=REACH):
    row, column = state.walker_position
    return any(
        state.field[row + i, column + j] == tile
        for i in range(-reach, reach + 1)
        for j in range(-reach, reach + 1)
        if abs(i) + abs(j) <= reach
    )


class StandByBrook(Sharp):
    """Stand near a brook."""

    def success(self, state, previous):
        return near(state, Tile.BROOK) and not near(previous, Tile.BROOK, reach=1)
''',
    '''
class CalmHeron(Sharp):
    """Be near a calm heron."""

    LIMIT = 0.5

    def success(self, state, previous):
        found = False
        for index, position in enumerate(state.herons.position):
            if not state.herons.mask[index]:
                continue
            distance = abs(position[0] - state.walker_position[0]) + abs(position[1] - state.walker_position[1])
            if distance > 3:
                continue
            if state.herons.calm[index] >= self.LIMIT:
                found = True
                break
        return found
''',
    '''
class CountTiles(Sharp):
    """See every kind of tile in the row walked."""

    def success(self, state, previous):
        row = state.field[state.walker_position[0]]
        kinds = 0
        for tile in Tile:
            kinds += (row == tile).any()
        return kinds >= 6
''',
    '''
class WarmUp(Sharp):
    """Grow warmer while resting."""

    def success(self, state, previous):
        gain = state.warmth - previous.warmth
        return True if gain > 0.1 and state.resting else False
''',
    '''
class FirstFree(Sharp):
    """The first dry tile of the first row is clay."""

    def success(self, state, previous):
        for column in range(state.field.shape[1]):
            if not state.flooded[0, column]:
                return state.field[0, column] == Tile.CLAY
        return False
''',
    '''
class NoHeronWithin(Sharp):
    """No heron within two cells, decided with a loop and an else branch."""

    def success(self, state, previous):
        quiet = False
        for i in range(3):
            if state.herons.mask[i] and max(abs(state.herons.position[i] - state.walker_position)) <= 2:
                break
        else:
            quiet = True
        return quiet and state.stamina > 2
''',
    '''
class BestStep(Sharp):
    """The best neighbouring tile is clay."""

    def success(self, state, previous):
        values = []
        for step in HEADINGS:
            row = min(max(state.walker_position[0] + step[0], 0), 8)
            column = min(max(state.walker_position[1] + step[1], 0), 10)
            values.append(state.field[row, column])
        return max(values) == Tile.THICKET and values[0] != values[-1]
''',
    '''
class Weighted(Sharp):
    """Carry enough weight."""

    def weight(self, basket_reeds, basket_clay, basket_bricks):
        return basket_reeds * 1 + basket_clay * 3 + basket_bricks * 4

    def success(self, state, previous):
        weight = self.weight(state.basket.reeds, basket_clay=state.basket.clay, basket_bricks=state.basket.bricks)
        share = weight / 20
        return share >= 0.5 or weight % 7 == 3
''',
    '''
class Majority(Sharp):
    """Most of the herons here are calm."""

    def success(self, state, previous):
        here = [i for i in range(3) if state.herons.mask[i]]
        calm = [i for i in range(3) if state.herons.mask[i] and state.herons.calm[i] > 0.5]
        return len(calm) * 2 > len(here) > 0
''',
    '''
class Farthest(Sharp):
    """The farthest heron is more than five cells away."""

    def success(self, state, previous):
        far = max(
            (abs(state.herons.position[i][0] - state.walker_position[0]) for i in range(3) if state.herons.mask[i]),
            default=0,
        )
        near = min((state.herons.calm[i] for i in range(3) if state.herons.mask[i]), default=1.0)
        return far > 5 and near < 0.75
''',
    '''
class Counted(Sharp):
    """Two tiles around are reeds, by the world's helper."""

    def success(self, state, previous):
        return count_near(state, Tile.REED) >= 2 and count_near(previous, tile=Tile.REED) < count_near(state, Tile.REED)
''',
    '''
class NestedHelpers(Sharp):
    """Helpers inside a method."""

    def success(self, state, previous):
        def total(s):
            return s.basket.reeds + s.basket.clay

        limit = 4
        def rich(s, extra=0):
            return total(s) + extra > limit

        return rich(state) and not rich(previous, extra=-1)
''',
    '''
class Signs(Sharp):
    """Arithmetic of every kind."""

    def success(self, state, previous):
        a, b = state.stamina, previous.stamina
        (c, d), e = (a - b, a + b), 2
        c *= e
        d //= 3
        mixed = (c ** 2 - d) % 5 + (a << 1) - (b >> 1) + (a & 3) + (b | 1) + (c ^ d)
        return bool(mixed > 6) and -3 <= c < 7 and round(d / 2) != int(a / 4)
''',
    '''
class Truths(Sharp):
    """Truth values in arithmetic."""

    def success(self, state, previous):
        votes = state.resting + previous.resting + (state.stamina > 4) + (state.warmth >= 0.5)
        return votes >= 3
''',
    '''
class Rows(Sharp):
    """Whole-array arithmetic."""

    def success(self, state, previous):
        changed = state.field != previous.field
        counts = changed.sum(axis=1)
        flooded = jnp.logical_and(state.flooded, jnp.logical_not(previous.flooded))
        return (counts.max() > 8) & (flooded[2:5, ::2].sum() >= 2) & (jnp.argmax(counts) < 6)
''',
    '''
class Slices(Sharp):
    """A slice that shifts inwards."""

    def success(self, state, previous):
        r, c = state.walker_position[0], state.walker_position[1]
        patch = jax.lax.dynamic_slice(state.field, (jnp.maximum(r - 1, 0), jnp.maximum(c - 1, 0)), (3, 3))
        return jnp.sum(jnp.where(patch == Tile.MEADOW, 1, 0)) >= 2
''',
    '''
class Anything(SHARP):
    """Membership of every kind."""

    GOOD = (Tile.REED, Tile.CLAY.value)

    def success(self, state, previous):
        under = state.field[tuple(state.walker_position)]
        before = previous.field[previous.walker_position[0]][previous.walker_position[1]]
        return (under in self.GOOD or under in {4, 5}) and before not in [Tile.KILN] and under in Tile
''',
    '''
class Heading(Sharp):
    """Walk towards clay."""

    def success(self, state, previous):
        target = state.walker_position + HEADINGS[state.heading]
        inside = (target >= 0).all() and target[0] < state.field.shape[0] and target[1] < state.field.shape[1]
        row, column = jnp.clip(target[0], 0, 8), jnp.clip(target[1], 0, 10)
        return inside and state.field[row, column] == Tile.CLAY
''',
    '''
class Empty(Sharp):
    """Nothing carried any more."""
    def success(self, state, previous):
        carried = (state.basket.reeds, state.basket.clay, state.basket.bricks)
        if carried == (0, 0, 0):
            return previous.basket.reeds + previous.basket.clay + previous.basket.bricks != 0
''',
)
