"""Programs for Craftax as authors write them who have read the language page; each comes after what it requires."""

from __future__ import annotations

PROGRAMS = (
    '''
class KillMonster(Sharp):
    """Kill a hostile creature on the current floor."""

    def success(self, state, previous):
        level = previous.player_level
        return state.monsters_killed[level] > previous.monsters_killed[level]
''',
    '''
class Descend(Sharp):
    """Climb down a ladder to a deeper floor."""

    def success(self, state, previous):
        return state.player_level > previous.player_level

    def ladder_is_open(self, state):
        return state.monsters_killed[state.player_level] >= MONSTERS_KILLED_TO_CLEAR_LEVEL

    requires = [(ladder_is_open, "KillMonster")]
''',
    '''
class DrinkPotion(Sharp):
    """Drink a potion that changes health or mana, for better or worse."""

    def success(self, state, previous):
        for colour in range(len(Potion)):
            drunk = state.inventory.potions[colour] < previous.inventory.potions[colour]
            if drunk and state.potion_mapping[colour] <= 3:
                return True
        return False
''',
    '''
class OpenFirstChest(Sharp):
    """Open the first chest of a floor."""

    def success(self, state, previous):
        return (state.chests_opened & ~previous.chests_opened).any()

    def below_ground(self, state):
        return state.player_level != Level.OVERWORLD

    requires = [(below_ground, "Descend")]
''',
    '''
class MineSapphire(Sharp):
    """Mine a sapphire out of the block in front."""

    def success(self, state, previous):
        dug = facing_block(previous) == BlockType.SAPPHIRE and facing_block(state) == BlockType.PATH
        return dug and state.inventory.sapphire > previous.inventory.sapphire

    def in_the_mines(self, state):
        return (state.player_level == Level.GNOMISH_MINES) | (state.player_level == Level.TROLL_MINES)

    requires = [(in_the_mines, "Descend")]
''',
    '''
class EnchantSword(Sharp):
    """Put an enchantment on the sword."""

    def near_table(self, state):
        level = state.player_level
        row, column = state.player_position
        around = state.map[level, row - 1 : row + 2, column - 1 : column + 2]
        fire = (around == BlockType.ENCHANTMENT_TABLE_FIRE).any() and state.inventory.ruby >= 1
        ice = (around == BlockType.ENCHANTMENT_TABLE_ICE.value).any() and state.inventory.sapphire >= 1
        return fire or ice

    def success(self, state, previous):
        changed = state.sword_enchantment != previous.sword_enchantment
        return changed and state.sword_enchantment != Enchantment.NONE and self.near_table(previous)

    requires = [(lambda self, state: state.inventory.sapphire + state.inventory.ruby >= 1, "MineSapphire")]
''',
    '''
class ShootSnail(Sharp):
    """Kill a snail with an arrow."""

    def success(self, state, previous):
        level = previous.player_level
        snails = previous.passive_mobs.mask[level] & (previous.passive_mobs.type_id[level] == PassiveMob.SNAIL)
        shot = snails & (state.passive_mobs.health[level] <= 0) & ~state.passive_mobs.mask[level]
        had_arrow = previous.inventory.arrows > state.inventory.arrows
        flying = previous.player_projectiles
        flew = (flying.mask[level] & (flying.type_id[level] == ProjectileType.ARROW2)).any()
        return shot.any() and (had_arrow or flew) and state.player_food <= previous.player_food

    def where_snails_live(self, state):
        return FLOOR_MOB_MAPPING[state.player_level, MobType.PASSIVE] == PassiveMob.SNAIL

    requires = [(where_snails_live, "Descend")]
''',
    '''
class StrikeHarder(Sharp):
    """Come to deal more damage with a blow, by a better sword, an enchantment or strength."""

    def success(self, state, previous):
        return jnp.sum(get_player_damage_vector(state)) > jnp.sum(get_player_damage_vector(previous)) + 0.01
''',
    '''
class RestUntilWell(Sharp):
    """Rest or sleep in a safe place until health is full."""

    def success(self, state, previous):
        rested = previous.is_resting | previous.is_sleeping
        return rested & (state.player_health >= get_max_health(state)) & ~state.is_resting

    def safe(self, state):
        creatures = state.melee_mobs
        distance = jnp.abs(creatures.position[state.player_level] - state.player_position).sum(axis=-1)
        return not (creatures.mask[state.player_level] & (distance <= 2)).any()

    requires = [(safe, "KillMonster")]
''',
    '''
class HitNecromancer(Sharp):
    """Hit the necromancer while it is exposed."""

    def success(self, state, previous):
        return state.boss_progress > previous.boss_progress

    def exposed(self, state):
        return is_fighting_boss(state) and is_boss_vulnerable(state)

    def in_the_graveyard(self, state):
        return state.player_level == Level.GRAVEYARD

    requires = [(in_the_graveyard, "Descend"), (exposed, "KillMonster")]
''',
    '''
class LightTheWay(Sharp):
    """Place a torch where it was dark."""

    def success(self, state, previous):
        spot = facing_position(previous)
        placed = item_at(state, spot) == ItemType.TORCH and item_at(previous, spot) == ItemType.NONE
        return placed and state.inventory.torches < previous.inventory.torches
''',
)
