"""Vetting files outside of a run, exactly as a run vets: together with an archive, and with one another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from attrs import frozen

from engine.sharp.editions import edition_of
from engine.sharp.explaining.witnesses import Truth, truths
from engine.sharp.program import CompiledProgram, parse_program
from engine.sharp.sampled import SampledViews
from engine.sharp.vet import vet
from engine.worlds import registry, sampling
from ledger.vocabulary.body import Body
from ledger.vocabulary.path import Path
from ledger.vocabulary.vet import Known, Program, Vet, Vetted
from replay.runner.performers import SAMPLING_SEED
from replay.verdicts import Verdict


@frozen
class Setting:
    """Where programs are vetted: world, edition of the language, the skills that are there, and the one to replace."""

    world: str
    grammar: str
    archive: tuple[Known, ...]
    replaces: str | None = None
    may_change_success: bool = False


class Vetting:
    """One world and edition; states are sampled when the first program needs them.

    ``announce`` is told what takes long before it begins.

    Raises:
        engine.worlds.registry.UnknownWorld: if there is no such world.
        engine.sharp.editions.UnknownEdition: if there is no such edition.
    """

    def __init__(self, setting: Setting, explain: bool, announce: Callable[[str], None]) -> None:
        self.setting = setting
        self.explain = explain
        self.announce = announce
        self.edition = edition_of(setting.grammar)
        self.world = registry.world(setting.world)

    @cached_property
    def states(self) -> SampledViews:
        """The sampled states of every run in this world."""
        self.announce(f"sampling states of {self.world.name}, once")
        return sampling.sampled_views(self.world, SAMPLING_SEED)

    def verdicts(self, files: Sequence[str], texts: Sequence[str]) -> list[Verdict]:
        """The verdicts in the order of the files. A program may require one of another file."""
        parsed = [parse_program(text, self.world.schema, self.edition) for text in texts]
        programs = [each if isinstance(each, CompiledProgram) else None for each in parsed]
        archive = self.setting.archive
        found: dict[int, Verdict] = {}
        for index in turns(programs):
            vetted = self._vetted(texts[index], archive)
            truth = self._truths(vetted, programs[index])
            found[index] = Verdict(
                files[index], texts[index], self.world.schema, self.edition, vetted, programs[index], truth
            )
            if vetted.program is not None:
                archive = (*archive, self._known(vetted.program))
        return [found[index] for index in range(len(texts))]

    def _vetted(self, text: str, archive: tuple[Known, ...]) -> Vetted:
        setting = self.setting
        effect = Vet(
            Path("vet"),
            setting.world,
            setting.grammar,
            Body(text),
            archive,
            replaces=setting.replaces,
            may_change_success=setting.may_change_success,
        )
        vetted = vet(effect, self.world.schema)  # most refusals need no sampled states, which take longest
        return vetted if vetted.program is None else vet(effect, self.world.schema, self.states)

    def _truths(self, vetted: Vetted, compiled: CompiledProgram | None) -> tuple[Truth, ...]:
        if not self.explain or compiled is None or vetted.sampled is None:
            return ()
        return truths(compiled, self.world.schema, self.states)

    def _known(self, program: Program) -> Known:
        source = program.source if self.edition.counts_archive else None
        prerequisites = tuple(each.prerequisite for each in program.requires)
        return Known(program.name, program.meaning, program.requires_meaning, prerequisites, source)


def turns(programs: Sequence[CompiledProgram | None]) -> list[int]:
    """The order in which programs can join an archive: prerequisites first, otherwise as given. None is no program."""
    left = list(range(len(programs)))
    order: list[int] = []
    while left:
        ready = (index for index in left if not _waits(index, left, programs))
        order.append(next(ready, left[0]))
        left.remove(order[-1])
    return order


def _waits(index: int, left: Sequence[int], programs: Sequence[CompiledProgram | None]) -> bool:
    """Whether a program requires another that is left."""
    others = {each.name for other in left if other != index and (each := programs[other]) is not None}
    program = programs[index]
    return program is not None and any(each.prerequisite in others for each in program.requires)
