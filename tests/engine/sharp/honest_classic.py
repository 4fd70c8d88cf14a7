# ruff: noqa: E501
"""Honest programs for Craftax-Classic, in the many styles that authors of such programs write. One text per program."""

from __future__ import annotations

PROGRAMS = (
    '''
class GatherWood(Sharp):
    """Collect at least one piece of wood from a tree."""

    def success(self, state, previous):
        return state.inventory.wood > previous.inventory.wood

    requires = []
''',
    '''
class PlaceCraftingTable(Sharp):
    """Place a crafting table next to the player."""

    def success(self, state, previous):
        before = jnp.sum(previous.map == BlockType.CRAFTING_TABLE.value)
        after = jnp.sum(state.map == BlockType.CRAFTING_TABLE.value)
        return after > before

    def has_enough_wood(self, state):
        return state.inventory.wood >= 2

    requires = [(has_enough_wood, "GatherWood")]
''',
    '''
class MakeWoodPickaxe(Sharp):
    """Craft a wooden pickaxe while standing near a crafting table."""

    def success(self, state, previous):
        return (state.inventory.wood_pickaxe >= 1) and (previous.inventory.wood_pickaxe < state.inventory.wood_pickaxe)

    def has_wood(self, state, previous):
        return state.inventory.wood >= 1

    def near_table(self, state, previous):
        return is_near_block(state, BlockType.CRAFTING_TABLE)

    requires = [
        (has_wood, "GatherWood"),
        (near_table, "PlaceCraftingTable"),
    ]
''',
    '''
class MineStone(Sharp):
    """Mine at least one block of stone."""

    def success(self, state, previous):
        return state.inventory.stone > previous.inventory.stone

    def has_pickaxe(self, state):
        return state.inventory.wood_pickaxe >= 1

    requires = [(has_pickaxe, "MakeWoodPickaxe")]
''',
    '''
class PlaceStone(Sharp):
    """Place a stone block in front of the player."""

    def success(self, state, previous):
        if previous.inventory.stone <= 0:
            return False
        target = previous.player_position + DIRECTIONS[previous.player_direction]
        x, y = target[0], target[1]
        placed = jnp.logical_and(state.map[x, y] == BlockType.STONE.value, previous.map[x, y] != BlockType.STONE.value)
        return jnp.logical_and(placed, state.inventory.stone == previous.inventory.stone - 1)

    requires = [("has_stone", "MineStone")]

    def has_stone(self, state):
        return state.inventory.stone > 0
''',
    '''
class EatCow(Sharp):
    """Eat a cow to restore food."""

    def success(self, state, previous):
        gained = state.player_food - previous.player_food
        return gained > 1

    def cow_exists(self, state):
        return state.cows.mask.any()

    requires = [(cow_exists, "ExploreGrassland")]
''',
    '''
class ApproachCow(Sharp):
    """Stand directly next to a living cow."""

    MAX_DISTANCE = 1

    def _distance(self, state, i):
        delta = jnp.abs(state.cows.position[i] - state.player_position)
        return delta.sum()

    def success(self, state, previous):
        for i in range(state.cows.mask.shape[0]):
            if state.cows.mask[i] and self._distance(state, i) <= self.MAX_DISTANCE:
                return True
        return False
''',
    '''
class SleepThroughNight(Sharp):
    """Fall asleep when energy is low and it is dark."""

    def success(self, state, previous):
        just_fell_asleep = state.is_sleeping and not previous.is_sleeping
        dark = state.light_level < 0.5
        return just_fell_asleep and dark

    requires = [
        (lambda self, state: state.player_energy < 5, "ExploreGrassland"),
    ]
''',
    '''
class WakeUpRested(Sharp):
    """Wake up with full energy."""

    def success(self, state: EnvState, previous: EnvState) -> bool:
        woke: bool = previous.is_sleeping & ~state.is_sleeping
        return woke & (state.player_energy >= 8)

    requires: list = [("asleep", "SleepThroughNight")]

    def asleep(self, state: EnvState) -> bool:
        return state.is_sleeping
''',
    '''
class DrinkWater(Sharp):
    """Drink water from a lake."""

    def success(self, state, previous):
        return bool(state.player_drink > previous.player_drink)

    def is_water_near(self, state):
        px, py = state.player_position
        for dx in range(-1, 2):
            for dy in range(-1, 2):
                nx, ny = px + dx, py + dy
                if 0 <= nx < 64 and 0 <= ny < 64:
                    if state.map[nx, ny] == BlockType.WATER.value:
                        return True
        return False

    requires = [(is_water_near, FindWater)]
''',
    '''
class FindWater(Sharp):
    """Have water inside the visible area."""

    def success(self, state, previous):
        r, c = state.player_position[0], state.player_position[1]
        view = state.map[r - 3:r + 4, c - 4:c + 5]
        return jnp.any(view == BlockType.WATER.value)
''',
    '''
class DefeatZombie(Sharp):
    """Defeat a zombie."""

    def success(self, state, previous):
        alive_before = previous.zombies.mask.sum()
        alive_now = state.zombies.mask.sum()
        was_close = any(
            previous.zombies.mask[i]
            and abs(previous.zombies.position[i][0] - previous.player_position[0])
            + abs(previous.zombies.position[i][1] - previous.player_position[1]) <= 1
            for i in range(3)
        )
        return alive_now < alive_before and was_close

    def healthy(self, state):
        return state.player_health > 4

    requires = [(healthy, "RecoverHealth")]
''',
    '''
class RecoverHealth(Sharp):
    """Recover one point of health."""

    def success(self, state, previous):
        return (state.player_health > previous.player_health).all()

    def not_starving(self, state):
        return min(state.player_food, state.player_drink, state.player_energy) > 0

    requires = [(not_starving, "EatCow")]
''',
    '''
class DefeatSkeleton(Sharp):
    """Defeat a skeleton in the caves."""

    def success(self, state, previous):
        died = previous.skeletons.mask & ~state.skeletons.mask
        d = jnp.abs(previous.skeletons.position - previous.player_position[None, :]).max(axis=1)
        return jnp.any(died & (d <= 2))

    def armed(self, state):
        inv = state.inventory
        return inv.wood_sword + inv.stone_sword + inv.iron_sword > 0

    def in_cave(self, state):
        return state.map[state.player_position[0], state.player_position[1]] == BlockType.PATH.value

    requires = [(armed, "MakeWoodSword"), (in_cave, "EnterCave")]
''',
    '''
class EnterCave(Sharp):
    """Stand on a path block inside a cave."""

    def success(self, state, previous):
        def block(s):
            return s.map[s.player_position[0], s.player_position[1]]

        return block(state) == BlockType.PATH.value and block(previous) != BlockType.PATH.value
''',
    '''
class MakeWoodSword(Sharp):
    """Craft a wooden sword."""

    def success(self, state, previous):
        made = state.inventory.wood_sword - previous.inventory.wood_sword
        return made == 1

    def wood(self, state):
        return state.inventory.wood >= 1

    def table(self, state):
        near = False
        for offset in CLOSE_BLOCKS:
            pos = state.player_position + offset
            inside = jnp.all(pos >= 0) & jnp.all(pos < 64)
            near = near | (inside & (state.map[pos[0], pos[1]] == BlockType.CRAFTING_TABLE.value))
        return near

    requires = [(wood, "GatherWood"), (table, "PlaceCraftingTable")]
''',
    '''
class MakeStonePickaxe(Sharp):
    """Craft a stone pickaxe."""

    NEEDED = ("wood", "stone")

    def success(self, state, previous):
        return state.inventory.stone_pickaxe > previous.inventory.stone_pickaxe

    def has_materials(self, state):
        needed = [state.inventory.wood, state.inventory.stone]
        return all(amount >= 1 for amount in needed)

    def near_table(self, state):
        return self.near(state, BlockType.CRAFTING_TABLE.value)

    def near(self, state, block, radius=1):
        x, y = state.player_position
        found = [
            state.map[x + dx, y + dy] == block
            for dx in range(-radius, radius + 1)
            for dy in range(-radius, radius + 1)
            if (dx, dy) != (0, 0)
        ]
        return any(found)

    requires = [(has_materials, "MineStone"), (near_table, "PlaceCraftingTable")]
''',
    '''
class MineCoal(Sharp):
    """Mine a piece of coal."""
    def success(self, state, previous):
        return state.inventory.coal - previous.inventory.coal >= 1
    requires = ((lambda self, state, previous: state.inventory.wood_pickaxe > 0, "MakeWoodPickaxe"),)
''',
    '''
class MineIron(Sharp):
    """Mine iron ore."""
    def success(self, s, p):
        return s.inventory.iron > p.inventory.iron

    def has_stone_pickaxe(self, s, p):
        return s.inventory.stone_pickaxe != 0

    def sees_iron(self, s, p):
        return count_visible_blocks(s, BlockType.IRON) > 0

    requires = [[has_stone_pickaxe, "MakeStonePickaxe"], [sees_iron, "EnterCave"]]
''',
    '''
class PlaceFurnace(Sharp):
    """Place a furnace near a crafting table."""

    def success(self, state, previous):
        furnaces_now = (state.map == BlockType.FURNACE.value).sum()
        furnaces_then = (previous.map == BlockType.FURNACE.value).sum()
        return furnaces_now == furnaces_then + 1

    def enough_stone(self, state):
        return state.inventory.stone >= 1

    def near_table(self, state):
        i, j = state.player_position[0], state.player_position[1]
        area = jax.lax.dynamic_slice(state.map, (i - 1, j - 1), (3, 3))
        return (area == BlockType.CRAFTING_TABLE.value).any()

    requires = [(enough_stone, "MineStone"), (near_table, "PlaceCraftingTable")]
''',
    '''
class MakeIronPickaxe(Sharp):
    """Craft an iron pickaxe near a table and a furnace."""

    def success(self, state, previous):
        return state.inventory.iron_pickaxe > previous.inventory.iron_pickaxe

    def has_ingredients(self, state):
        inventory = state.inventory
        return (inventory.wood >= 1) & (inventory.stone >= 1) & (inventory.coal >= 1) & (inventory.iron >= 1)

    def near_both(self, state):
        table = is_near_block(state, BlockType.CRAFTING_TABLE.value)
        furnace = is_near_block(state, BlockType.FURNACE.value)
        return jnp.logical_and(table, furnace)

    requires = [(has_ingredients, "MineIron"), (near_both, "PlaceFurnace")]
''',
    '''
class MineDiamond(Sharp):
    """Mine a diamond."""

    def success(self, state, previous):
        return state.inventory.diamond > previous.inventory.diamond

    def can_mine(self, state):
        return state.inventory.iron_pickaxe >= 1

    requires = [(can_mine, "MakeIronPickaxe")]
''',
    '''
class PlantSapling(Sharp):
    """Plant a sapling on grass."""

    def success(self, state, previous):
        planted = state.growing_plants_mask.sum() > previous.growing_plants_mask.sum()
        used = previous.inventory.sapling - state.inventory.sapling == 1
        return planted and used

    def has_sapling(self, state):
        return state.inventory.sapling

    requires = []
''',
    '''
class GuardPlant(Sharp):
    """Stay within three cells of a growing plant that is at least 100 steps old."""

    def success(self, state, previous):
        best = 999
        for k in range(10):
            if not state.growing_plants_mask[k]:
                continue
            if state.growing_plants_age[k] < 100:
                continue
            d = jnp.abs(state.growing_plants_positions[k] - state.player_position).sum()
            best = jnp.minimum(best, d)
        return best <= 3
''',
    '''
class EatRipePlant(Sharp):
    """Eat a ripe plant."""

    def success(self, state, previous):
        ate = state.player_food >= previous.player_food + 2
        facing = previous.player_position + DIRECTIONS[previous.player_direction]
        was_ripe = previous.map[facing[0], facing[1]] == BlockType.RIPE_PLANT.value
        return ate and was_ripe
''',
    '''
class StockUp(Sharp):
    """Carry at least five of wood, stone and coal at once."""

    TARGET = 5

    def success(self, state, previous):
        def stocked(s):
            inv = s.inventory
            return all([inv.wood >= self.TARGET, inv.stone >= self.TARGET, inv.coal >= self.TARGET])

        return stocked(state) and not stocked(previous)
''',
    '''
class BuildShelter(Sharp):
    """Be enclosed by solid blocks on all four sides."""

    def success(self, state, previous):
        return self.enclosed(state) and not self.enclosed(previous)

    def enclosed(self, state):
        row, col = state.player_position
        sides = 0
        for d_row, d_col in [(-1, 0), (1, 0), (0, -1), (0, 1)]:
            block = state.map[row + d_row, col + d_col]
            if block in (BlockType.STONE, BlockType.WATER, BlockType.TREE, BlockType.CRAFTING_TABLE, BlockType.FURNACE):
                sides += 1
        return sides == 4

    requires = [(lambda self, state: state.inventory.stone >= 2, "MineStone")]
''',
    '''
class FaceTree(Sharp):
    """Face a tree."""

    def success(self, state, previous):
        return facing_block(state) == BlockType.TREE and facing_block(previous) != BlockType.TREE
''',
    '''
class TravelFar(Sharp):
    """Be at least ten cells away from every zombie."""

    def success(self, state, previous):
        distances = jnp.abs(state.zombies.position - state.player_position).sum(axis=-1)
        relevant = jnp.where(state.zombies.mask, distances, 1000)
        return jnp.min(relevant) >= 10 and state.zombies.mask.any()
''',
    '''
class ReachMapEdge(Sharp):
    """Reach the outermost rows or columns of the map."""

    def success(self, state, previous):
        x, y = state.player_position
        height, width = state.map.shape
        return x == 0 or y == 0 or x == height - 1 or y == width - 1
''',
    '''
class MakeAnySword(Sharp):
    """Own a better sword than before."""

    def success(self, state, previous):
        return self.level(state) > self.level(previous)

    def level(self, state):
        if state.inventory.iron_sword > 0:
            return 3
        elif state.inventory.stone_sword > 0:
            return 2
        elif state.inventory.wood_sword > 0:
            return 1
        return 0
''',
    '''
class SurviveNight(Sharp):
    """Be awake and healthy when the sun rises."""

    def success(self, state, previous):
        sunrise = previous.light_level < 0.5 <= state.light_level
        healthy = state.player_health >= 5
        return sunrise and healthy and not state.is_sleeping
''',
    '''
class SeeManyTrees(Sharp):
    """See at least four trees nearby."""

    RADIUS = 4

    def success(self, state, previous):
        return self.count_trees(state) >= 4

    def count_trees(self, state):
        row, col = state.player_position[0], state.player_position[1]
        window = state.map[row - self.RADIUS:row + self.RADIUS + 1, col - self.RADIUS:col + self.RADIUS + 1]
        return jnp.count_nonzero(window == BlockType.TREE.value)
''',
    '''
class DodgeArrow(Sharp):
    """Leave the line of an arrow without losing health."""

    def success(self, state, previous):
        threatened = False
        for i in range(len(previous.arrows.mask)):
            same_row = previous.arrows.position[i, 0] == previous.player_position[0]
            same_col = previous.arrows.position[i, 1] == previous.player_position[1]
            threatened = threatened or (previous.arrows.mask[i] and (same_row or same_col))
        safe = state.player_health >= previous.player_health
        moved = (state.player_position != previous.player_position).any()
        return threatened and safe and moved
''',
    '''
class BridgeWater(Sharp):
    """Replace a water cell by stone."""

    def success(self, state, previous):
        was_water = previous.map == BlockType.WATER.value
        is_stone = state.map == BlockType.STONE.value
        return (was_water & is_stone).sum() > 0

    def has_stone(self, state):
        return state.inventory.stone >= 1

    def next_to_water(self, state):
        p = state.player_position
        neighbours = [state.map[p[0] + d[0], p[1] + d[1]] for d in ((0, 1), (0, -1), (1, 0), (-1, 0))]
        return BlockType.WATER.value in neighbours

    requires = [(has_stone, "MineStone"), (next_to_water, "FindWater")]
''',
    '''
class KeepNeedsUp(Sharp):
    """Have food, drink and energy all at seven or more."""

    def success(self, state, previous):
        needs = jnp.array([state.player_food, state.player_drink, state.player_energy])
        before = jnp.array([previous.player_food, previous.player_drink, previous.player_energy])
        return jnp.all(needs >= 7) & ~jnp.all(before >= 7)
''',
    '''
class MineThreeKinds(Sharp):
    """Carry three different kinds of mined material."""

    def success(self, state, previous):
        inv = state.inventory
        kinds = sum(amount > 0 for amount in (inv.stone, inv.coal, inv.iron, inv.diamond))
        return kinds >= 3
''',
    '''
class TunnelIn(Sharp):
    """Stand on a path with stone on both sides."""

    def success(self, state, previous):
        r, c = int(state.player_position[0]), int(state.player_position[1])
        on_path = state.map[r, c] == BlockType.PATH.value
        horizontal = state.map[r, c - 1] == BlockType.STONE.value and state.map[r, c + 1] == BlockType.STONE.value
        vertical = state.map[r - 1, c] == BlockType.STONE.value and state.map[r + 1, c] == BlockType.STONE.value
        return on_path and (horizontal or vertical)
''',
    '''
import jax.numpy as jnp
from craftax.craftax_classic.constants import BlockType


class CollectSapling(Sharp):
    """Collect a sapling from grass."""

    def success(self, state, previous):
        return jnp.greater(state.inventory.sapling, previous.inventory.sapling)

    def faces_grass(self, state):
        front = state.player_position + DIRECTIONS[state.player_direction]
        front = jnp.clip(front, 0, 63)
        return jnp.equal(state.map[front[0], front[1]], BlockType.GRASS.value)

    requires = [(faces_grass, "ExploreGrassland")]
''',
    '''
class ExploreGrassland(Sharp):
    """Stand where most visible cells are grass."""

    def success(self, state, previous):
        share = count_visible_blocks(state, BlockType.GRASS.value) / 63
        return share > 0.5
''',
    '''
class NearestCowCloser(Sharp):
    """Get closer to the nearest cow than before."""

    def nearest(self, s):
        d = jnp.linalg.norm((s.cows.position - s.player_position).astype(jnp.float32), axis=1)
        return jnp.where(s.cows.mask, d, jnp.inf).min()

    def success(self, state, previous):
        return self.nearest(state) + 0.5 < self.nearest(previous)

    requires = [(lambda self, state: jnp.any(state.cows.mask), "ExploreGrassland")]
''',
    '''
class FightAtFullHealth(Sharp):
    """Hit a zombie while at full health."""

    FULL = 9

    def success(self, state, previous):
        hit = ((previous.zombies.health - state.zombies.health > 0) & previous.zombies.mask).any()
        return hit and previous.player_health == self.FULL

    def full_health(self, state):
        return state.player_health == self.FULL

    def zombie_in_front(self, state):
        front = facing_position(state)
        return any((state.zombies.position[i] == front).all() & state.zombies.mask[i] for i in range(3))

    requires = [(full_health, "RecoverHealth"), (zombie_in_front, "FindZombie")]
''',
    '''
class FindZombie(Sharp):
    """Have a zombie within four cells."""

    def success(self, state, previous):
        for pos, alive in zip(state.zombies.position, state.zombies.mask):
            dx = abs(pos[0] - state.player_position[0])
            dy = abs(pos[1] - state.player_position[1])
            if alive and max(dx, dy) <= 4:
                return True
        return False
''',
    '''
class OreHunter(Sharp):
    """See ore of at least two kinds at once."""

    ORES = (BlockType.COAL, BlockType.IRON, BlockType.DIAMOND)

    def success(self, state, previous):
        x, y = state.player_position
        area = state.map[x - 3:x + 4, y - 4:y + 5]
        seen = 0
        for ore in self.ORES:
            seen += jnp.any(area == ore.value).astype(int)
        return seen >= 2
''',
    '''
class EscapeLava(Sharp):
    """Move away from lava."""

    def lava_near(self, s):
        near = [state_block == BlockType.LAVA.value for state_block in self.around(s)]
        return any(near)

    def around(self, s):
        return [s.map[s.player_position[0] + offset[0], s.player_position[1] + offset[1]] for offset in CLOSE_BLOCKS]

    def success(self, state, previous):
        return self.lava_near(previous) and not self.lava_near(state)
''',
    '''
class FirstIronTools(Sharp):
    """Own an iron pickaxe and an iron sword."""

    def success(self, state, previous=None):
        both = state.inventory.iron_pickaxe > 0 and state.inventory.iron_sword > 0
        if previous is None:
            return both
        had = previous.inventory.iron_pickaxe > 0 and previous.inventory.iron_sword > 0
        return both and not had
''',
    '''
class LookEveryWay(Sharp):
    """Turn to a new direction without moving."""

    def success(self, state, previous):
        turned = state.player_direction != previous.player_direction
        still = jnp.array_equal(state.player_position, previous.player_position)
        return turned and still and state.player_direction in (Action.LEFT.value, Action.RIGHT.value, Action.UP.value, Action.DOWN.value)
''',
    '''
class MakeProgress(Sharp):
    """Gain any item."""

    def total(self, s):
        inv = s.inventory
        items = (inv.wood, inv.stone, inv.coal, inv.iron, inv.diamond, inv.sapling)
        weights = (1, 1, 2, 3, 5, 1)
        total = 0
        for item, weight in zip(items, weights):
            total += item * weight
        return total

    def success(self, state, previous):
        return self.total(state) > self.total(previous)
''',
)
