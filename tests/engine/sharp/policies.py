# ruff: noqa: E501 - texts on one line
"""Policies of our own: honest ones in many styles, and broken or hostile ones with the place and reason of their refusal."""

from __future__ import annotations

from attrs import frozen

from ledger.vocabulary.vet import Known


def skill(name: str, *requires: str) -> Known:
    """An archived skill; only its name and its prerequisites matter here."""
    return Known(name, f"meaning of {name}", "", requires)


INVENTED_ARCHIVE = (
    skill("CutReeds"),
    skill("Rest"),
    skill("WeaveBasket", "CutReeds"),
    skill("DigClay", "WeaveBasket"),
    skill("WalkToKiln"),
    skill("FireBricks", "DigClay", "WalkToKiln"),
)

CLASSIC_ARCHIVE = (
    skill("GatherWood"),
    skill("PlaceCraftingTable", "GatherWood"),
    skill("MakeWoodPickaxe", "GatherWood", "PlaceCraftingTable"),
    skill("MineStone", "MakeWoodPickaxe"),
    skill("MakeStonePickaxe", "MineStone", "PlaceCraftingTable"),
    skill("MineIron", "MakeStonePickaxe"),
    skill("PlaceFurnace", "MineStone"),
    skill("MakeIronPickaxe", "MineIron", "PlaceFurnace"),
    skill("EatCow"),
    skill("DrinkWater"),
    skill("Sleep"),
    skill("DefeatZombie"),
)

BODY = '''class Plan(Policy):
    """A plan."""

{extra}
    def skill(self, state, previous):
        {body}
'''


def policy(body: str, extra: str = "") -> str:
    """A policy whose skill method holds ``body``, with ``extra`` members. Members begin at line 4, the body at line 6 without any."""
    members = "".join(f"    {line}\n" if line else "\n" for line in extra.split("\n")) if extra else ""
    return BODY.replace("{body}", body.replace("\n", "\n        ")).replace("{extra}", members)


INVENTED = {
    "elif": policy("if state.stamina < 3:\n    return 'Rest'\nelif state.basket.clay < 2:\n    return 'DigClay'\nelse:\n    return 'FireBricks'"),
    "early returns": policy("if state.stamina < 3:\n    return 'Rest'\nif state.basket.clay < 2:\n    return 'DigClay'\nreturn 'FireBricks'"),
    "bare names": policy("if state.stamina < 3:\n    return Rest\nreturn DigClay if state.basket.clay < 2 else FireBricks"),
    "local variable": policy("goal = 'FireBricks'\nif state.basket.clay < 2:\n    goal = 'DigClay'\nif state.resting or previous.resting:\n    goal = Rest\nreturn goal"),
    "nested": policy("if state.resting:\n    if state.stamina > 5:\n        if state.basket.reeds:\n            return 'WeaveBasket'\n        return 'CutReeds'\n    else:\n        return 'Rest'\nelif state.heading == 2:\n    return 'WalkToKiln'\nreturn 'CutReeds'"),
    "helper methods": policy("if self.tired(state):\n    return self.recover(state, previous)\nreturn self.work(state)", "def tired(self, state):\n    return state.stamina < 4 or state.warmth < 0.25\ndef recover(self, state, previous):\n    if previous.resting:\n        return 'Rest'\n    return WalkToKiln if state.warmth < 0.25 else Rest\ndef work(self, state):\n    return 'DigClay' if state.basket.clay < 2 else 'FireBricks'\n"),
    "class constants": policy("if state.basket.reeds < self.ENOUGH:\n    return self.GET\nreturn Plan.USE", "GET, USE = 'CutReeds', 'WeaveBasket'\nENOUGH = 3\n"),
    "module constants": "GET_CLAY = 'DigClay'\ndef full(basket):\n    return basket.clay > 2\n\nclass Plan(Policy):\n    '''A plan.'''\n    def skill(self, state):\n        return 'FireBricks' if full(state.basket) else GET_CLAY\n",
    "loop over needs": policy("for name, have, need in (('CutReeds', state.basket.reeds, 2), ('DigClay', state.basket.clay, 3), ('FireBricks', state.basket.bricks, 1)):\n    if have < need:\n        return name\nreturn 'WalkToKiln'"),
    "loop and break": policy("goal = 'Rest'\nfor name, have in zip(('CutReeds', 'DigClay', 'FireBricks'), (state.basket.reeds, state.basket.clay, state.basket.bricks)):\n    if have < 2:\n        goal = name\n        break\nreturn goal"),
    "loop, else and continue": policy("goal = 'Rest'\nfor number in range(3):\n    if not state.herons.mask[number]:\n        continue\n    if state.herons.calm[number] < 0.5:\n        goal = 'WalkToKiln'\n        break\nelse:\n    goal = 'CutReeds'\nreturn goal"),
    "tuple and static index": policy("plans = ('CutReeds', 'DigClay', 'FireBricks')\nreturn plans[1] if state.resting else plans[-1]"),
    "tuple and traced index": policy("return ('Rest', 'CutReeds', 'DigClay', 'FireBricks', 'WalkToKiln')[state.heading]"),
    "tuple of chosen names": policy("first = 'Rest' if state.resting else 'CutReeds'\nreturn (first, 'DigClay', first)[state.basket.tool]"),
    "rows of names": policy("row = self.PLANS[state.basket.tool]\nreturn row[0] if state.stamina > 4 else row[1]", "PLANS = (('CutReeds', 'Rest'), ('DigClay', 'Rest'), ('FireBricks', 'WalkToKiln'))\n"),
    "truth as index": policy("return ('DigClay', 'Rest')[state.stamina < 3]"),
    "negative index": policy("return ('DigClay', 'Rest', 'CutReeds')[-1 - state.basket.tool]"),
    "argmin": policy("have = jnp.array([state.basket.reeds, state.basket.clay, state.basket.bricks])\nreturn ('CutReeds', 'DigClay', 'FireBricks')[int(jnp.argmin(have))]"),
    "appended list": policy("names = []\nfor name in ('Rest', 'CutReeds'):\n    names.append(name)\nnames += ['DigClay']\nreturn names[state.basket.tool]"),
    "comprehension": policy("names = [name for name in ('Rest', 'CutReeds', 'DigClay') if name is not None]\nreturn names[state.basket.tool]"),
    "unpacking": policy("wet, dry = 'WalkToKiln', 'CutReeds'\nif state.flooded.sum() > 30:\n    wet, dry = dry, 'Rest'\nreturn wet if state.resting else dry"),
    "names as arguments": policy("return self.pick(state.stamina > 4, 'DigClay', no=Rest)", "def pick(self, test, yes, no='CutReeds'):\n    return yes if test else no\n"),
    "nested function": policy("def unless(test, name):\n    return 'Rest' if test else name\nreturn unless(state.stamina < 2, unless(state.heading > 3, 'CutReeds'))"),
    "windows and helpers of the world": policy("row, column = state.walker_position\nif (state.field[row - 1 : row + 2, column - 1 : column + 2] == Tile.CLAY).sum() > 1:\n    return 'DigClay'\nif count_near(state, Tile.KILN) > 0:\n    return FireBricks\nreturn 'WalkToKiln'"),
    "complementary tests": policy("if state.resting:\n    return 'Rest'\nif not state.resting:\n    return 'CutReeds'"),
    "complementary conjunctions": policy("if state.resting:\n    return 'Rest'\nif not state.resting and state.stamina > 3:\n    return 'CutReeds'\nif not state.resting and state.stamina <= 3:\n    return 'DigClay'"),
    "static tests": policy("names = ('Rest', 'CutReeds')\nif len(names) == 2:\n    return names[1] if state.resting else 'DigClay'\nelse:\n    return 3"),
    "return in an inner loop": policy("for row in range(3):\n    for column in range(3):\n        if state.field[row, column] == Tile.KILN:\n            return 'FireBricks' if row > column else 'WalkToKiln'\nreturn 'CutReeds'"),
    "lambda as a helper": "class Plan(Policy):\n    '''A plan.'''\n    tired = lambda self, state: state.stamina < 3\n\n    def skill(self, state):\n        return Rest if self.tired(state) else CutReeds\n",
    "no object": "class Plan(Policy):\n    '''A plan.'''\n    def skill(state):\n        return Rest if state.stamina < 3 else CutReeds\n",
}  # fmt: skip

CLASSIC = {
    "needs first": '''
class Survive(Policy):
    """Keep every need above a third, then mine."""

    LOW = 3

    def skill(self, state, previous):
        if state.player_drink < self.LOW:
            return "DrinkWater"
        if state.player_food < self.LOW:
            return "EatCow"
        if state.player_energy < self.LOW or state.is_sleeping:
            return "Sleep"
        return "MineStone"
''',
    "tools in order": '''
class CraftIronTools(Policy):
    """Make an iron pickaxe."""

    def skill(self, state):
        inventory = state.inventory
        if inventory.wood < 5:
            return "GatherWood"
        if not is_near_block(state, BlockType.CRAFTING_TABLE.value):
            return PlaceCraftingTable
        if inventory.stone_pickaxe < 1:
            return "MakeStonePickaxe"
        return "MakeIronPickaxe" if inventory.iron >= 1 and inventory.coal >= 1 else "MineIron"
''',
    "lowest need": '''
class Balance(Policy):
    """Attend to the lowest need."""

    CARE = ("EatCow", "DrinkWater", "Sleep")

    def skill(self, state):
        needs = jnp.array([state.player_food, state.player_drink, state.player_energy])
        lowest = int(jnp.argmin(needs))
        if needs.min() > 5:
            return "GatherWood"
        return self.CARE[lowest]
''',
    "zombies": '''
class Guard(Policy):
    """Fight what comes close, gather otherwise."""

    def threatened(self, state):
        row, column = state.player_position
        for i in range(3):
            there = state.zombies.position[i]
            near = abs(there[0] - row) + abs(there[1] - column) <= 3
            if state.zombies.mask[i] and near:
                return True
        return False

    def skill(self, state):
        if self.threatened(state):
            if state.player_health > 4:
                return "DefeatZombie"
            return "Sleep" if state.light_level > 0.5 else "DrinkWater"
        return "GatherWood"
''',
    "first missing": '''
class Climb(Policy):
    """Climb the tools."""

    def skill(self, state):
        goal = "MakeIronPickaxe"
        inventory = state.inventory
        for name, count in (
            ("MakeWoodPickaxe", inventory.wood_pickaxe),
            ("MakeStonePickaxe", inventory.stone_pickaxe),
            ("MineIron", inventory.iron),
        ):
            if count == 0:
                goal = name
                break
        return goal
''',
    "events": '''
class AlternateStoneAndIron(Policy):
    """Mine again after each gain."""

    def skill(self, state, previous):
        gained = state.inventory.stone > previous.inventory.stone
        lost = state.player_health < previous.player_health
        return "Sleep" if lost else MineIron if gained else MineStone
''',
    "map": '''
class ByTheMap(Policy):
    """What is in sight decides."""

    def skill(self, state):
        row, column = state.player_position
        view = state.map[row - 3 : row + 4, column - 4 : column + 5]
        if (view == BlockType.IRON).any() and state.inventory.stone_pickaxe:
            return "MineIron"
        trees = jnp.sum(view == BlockType.TREE.value)
        stones = jnp.sum(view == BlockType.STONE.value)
        if trees > stones:
            return "GatherWood"
        elif stones > 0 and state.inventory.wood_pickaxe >= 1:
            return "MineStone"
        return "PlaceCraftingTable" if state.inventory.wood >= 2 else "GatherWood"
''',
    "night": '''
class DayAndNight(Policy):
    """Work by day."""

    NIGHT = 0.3
    PLANS = (("GatherWood", "MineStone"), ("Sleep", "DefeatZombie"))

    def skill(self, state: EnvState, previous: EnvState) -> str:
        night = state.light_level < self.NIGHT
        plan = self.PLANS[night]
        return plan[1] if state.inventory.wood_pickaxe > 0 else plan[0]
'''.replace(": EnvState", ""),
    "direction": '''
class ByDirection(Policy):
    """An index of the state picks."""

    def skill(self, state):
        ways = ["GatherWood", "MineStone", "EatCow", "DrinkWater"]
        return ways[state.player_direction - 1]
''',
}


@frozen
class Broken:
    """A text that is refused, at a line, with parts of reason and suggestion."""

    text: str
    line: int
    reason: str
    hint: str = ""


BROKEN = {
    "no else": Broken(policy("if state.resting:\n    return 'Rest'"), 6, "can end without naming a skill: where the condition of line 6 is false", "end with the return"),
    "an elif without else": Broken(policy("if state.resting:\n    return 'Rest'\nelif state.stamina > 3:\n    return 'CutReeds'"), 8, "where the condition of line 8 is false"),
    "a branch that falls through": Broken(policy("if state.resting:\n    goal = 'Rest'\nelse:\n    return 'CutReeds'"), 7, "after line 7"),
    "a loop that may end": Broken(policy("for name in ('Rest', 'CutReeds'):\n    if state.resting:\n        return name"), 6, "after the loop of line 6"),
    "a bare return": Broken(policy("if state.resting:\n    return\nreturn 'Rest'"), 7, "skill returns None", 'such as "CutReeds"'),
    "None otherwise": Broken(policy("return 'Rest' if state.resting else None"), 6, "None or the name of a skill", "every path"),
    "nothing at all": Broken(policy("pass"), 6, "can end without naming a skill: after line 6"),
    "a helper that may end": Broken(policy("return self.help(state)", "def help(self, state):\n    if state.resting:\n        return 'Rest'\n"), 5, "help can end without naming a skill"),
    "a number": Broken(policy("if state.resting:\n    return 2\nreturn 'Rest'"), 7, "skill returns a number, not the name of a skill"),
    "a number from the state": Broken(policy("return state.heading"), 6, "skill returns an integer that depends on the state"),
    "a truth value": Broken(policy("return state.stamina > 3"), 6, "skill returns a truth value that depends on the state"),
    "a list": Broken(policy("return ['Rest', 'CutReeds']"), 6, "skill returns a list of 2 items", "the name of an archived skill"),
    "a name and a number": Broken(policy("goal = 'Rest'\nif state.resting:\n    goal = 3\nreturn goal"), 9, "a number or the name of a skill"),
    "an unknown name": Broken(policy("if state.resting:\n    return 'Resst'\nreturn 'Rest'"), 7, "Resst is no skill of the archive", "did you mean Rest?"),
    "an unknown bare name": Broken(policy("if state.resting:\n    return DigCaly\nreturn 'Rest'"), 7, "there is no name DigCaly", "did you mean DigClay?"),
    "an unknown name in a constant": Broken(policy("return self.GOAL if state.resting else 'Rest'", "GOAL = 'Swim'\n"), 4, "Swim is no skill", "CutReeds, DigClay"),
    "an unknown name in a tuple": Broken(policy("return ('Rest', 'Swim')[state.basket.tool // 2]"), 6, "Swim is no skill"),
    "an unknown name in a dead branch": Broken(policy("if 1 > 2:\n    return 'Swim'\nreturn 'Rest' if state.resting else 'DigClay'"), 7, "Swim is no skill"),
    "an unknown bare name in a dead helper": Broken(policy("return 'Rest' if state.resting else 'DigClay'", "def dead(self, state):\n    return Swim\n"), 5, "there is no name Swim"),
    "an empty name": Broken(policy("return ' ' if state.resting else 'Rest'"), 6, "an empty name is no skill"),
    "names are compared": Broken(policy("goal = 'Rest' if state.resting else 'DigClay'\nif goal == 'Rest':\n    return goal\nreturn 'CutReeds'"), 7, "names of skills cannot be compared", "test the state"),
    "a name in a tuple of names": Broken(policy("goal = 'Rest' if state.resting else 'DigClay'\nreturn goal if goal in ('Rest', 'CutReeds') else 'CutReeds'"), 7, "names of skills cannot be compared"),
    "names are joined": Broken(policy("return 'Cut' + 'Reeds' if state.resting else 'Rest'"), 6, "not the name of a skill", "it is no number"),
    "a name is negated": Broken(policy("return 'Rest' if not 'Rest' else 'DigClay'"), 6, "the name of a skill has no truth value"),
    "a name as a test": Broken(policy("goal = 'Rest' if state.resting else 'DigClay'\nif goal:\n    return goal\nreturn 'Rest'"), 7, "has no truth value"),
    "a name or another": Broken(policy("return 'Rest' or 'DigClay'"), 6, "has no truth value"),
    "a test and a name": Broken(policy("return state.resting and 'Rest'"), 6, "depending on the state"),
    "where of names": Broken(policy("return jnp.where(state.resting, 'Rest', 'DigClay')"), 6, "not the name of a skill", "chosen by if / else"),
    "the longest name": Broken(policy("return max('Rest', 'DigClay')"), 6, "not the name of a skill"),
    "a skill is called": Broken(policy("return Rest() if state.resting else DigClay"), 6, "a skill is named, not called", 'write "Rest"'),
    "a skill as a method": Broken(policy("return self.Rest if state.resting else DigClay"), 6, "the class has no Rest", 'write "Rest"'),
    "a method of a name": Broken(policy("return 'rest'.title() if state.resting else 'Rest'"), 6, "the name of a skill has no title"),
    "a format": Broken(policy("return f'{state.stamina}'"), 6, "f-strings are not part of the language"),
    "a dictionary": Broken(policy("return {0: 'Rest', 1: 'DigClay'}[state.basket.tool]"), 6, "dicts are not part"),
    "a filtered list": Broken(policy("names = [name for name, have in (('CutReeds', state.basket.reeds), ('DigClay', state.basket.clay)) if have < 2]\nreturn names[0]"), 7, "which items this list has depends on the state"),
    "an index out of range": Broken(policy("return ('Rest', 'DigClay')[2] if state.resting else 'Rest'"), 6, "index 2 is outside"),
    "a float index": Broken(policy("return ('Rest', 'DigClay')[state.warmth]"), 6, "an index must be an integer"),
    "an archived name is assigned": Broken(policy("Rest = 'DigClay'\nreturn Rest if state.resting else 'CutReeds'"), 6, "Rest has a meaning already"),
    "a method called like a skill": Broken(policy("return 'Rest' if state.resting else 'DigClay'", "def Rest(self, state):\n    return state.resting\n"), 4, "Rest has a meaning already"),
    "called like a skill": Broken("class DigClay(Policy):\n    '''Dig.'''\n    def skill(self, state):\n        return 'Rest' if state.resting else 'CutReeds'\n", 1, "the archive has a skill called DigClay", "another name"),
    "no skill method": Broken("class Plan(Policy):\n    '''A plan.'''\n    def skills(self, state):\n        return 'Rest'\n", 1, "Plan has no skill method", "call skills skill"),
    "no method": Broken("class Plan(Policy):\n    '''A plan.'''\n", 1, "Plan has no skill method", "def skill(self, state):"),
    "no class": Broken("def skill(state):\n    return 'Rest'\n", 1, "a policy is one class; this is a function", "class Name(Policy):"),
    "two classes": Broken(policy("return 'Rest'") + policy("return 'Rest'"), 7, "a policy is one class; here are 2", "policies of their own"),
    "an empty text": Broken("", 1, "the text is empty", "a skill method"),
    "prose": Broken("I would rest first.", 1, "not valid Python", "class Name(Policy):"),
    "success": Broken(policy("return 'Rest'", "def success(self, state):\n    return state.resting\n"), 4, "a policy has no success condition", "def skill(self, state):"),
    "requires": Broken(policy("return 'Rest'", "requires = []\n"), 4, "a policy has no prerequisites"),
    "chain": Broken(policy("return 'Rest'", "chain = ['Rest']\n"), 4, "a policy has no chain"),
    "a skill instead": Broken("class Plan(Sharp):\n    '''A plan.'''\n    def success(self, state):\n        return state.resting\n", 1, "this is a program, and a policy is asked for", "class Name(Policy)"),
    "a flat reward program instead": Broken("class Rest(Flat):\n    chain = []\n", 1, "this is a flat reward program, and a policy is asked for"),
    "another base": Broken("class Plan(Agent):\n    def skill(self, state):\n        return 'Rest'\n", 1, "the base class is Policy", "class Name(Policy):"),
    "three states": Broken("class Plan(Policy):\n    def skill(self, state, previous, more):\n        return 'Rest'\n", 2, "skill takes 4 parameters"),
    "itself": Broken(policy("return self.skill(state, previous)"), 6, "skill calls itself"),
    "a memory": Broken(policy("self.last = 'Rest'\nreturn self.last"), 6, "only local names can be assigned to"),
    "a while loop": Broken(policy("while state.resting:\n    return 'Rest'\nreturn 'DigClay'"), 6, "while loops are not part"),
    "raise": Broken(policy("raise ValueError"), 6, "raise is not part of the language", "return the name of a skill"),
    "a lambda": Broken(policy("pick = lambda: 'Rest'\nreturn pick()"), 6, "a lambda is not part of a policy"),
    "achievements": Broken(policy("return 'Rest' if state.achievements[0] else 'DigClay'"), 6, "has no field achievements"),
    "a class walk": Broken(policy("return ().__class__.__base__"), 6, "not part of the language"),
    "globals": Broken(policy("return globals()['Rest']"), 6, "globals"),
    "an import": Broken("import os\n" + policy("return 'Rest'"), 1, "import of os is not part of the language"),
    "a class constant from the state": Broken(policy("return 'Rest'", "GOAL = 'Rest' if state.resting else 'DigClay'\n"), 4, "there is no name state"),
    "too many iterations": Broken(policy("goal = 'Rest'\nfor i in range(5000):\n    if state.stamina > i:\n        goal = 'DigClay'\nreturn goal"), 7, "over the budget of 4,096 loop iterations"),
}  # fmt: skip
