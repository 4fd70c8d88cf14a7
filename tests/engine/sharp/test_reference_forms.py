"""The pages of flat reward programs and policies are made from the tables, and their examples are accepted."""

from __future__ import annotations

from engine.sharp.callables.functions import available
from engine.sharp.callables.tables import BUILTINS, JNP
from engine.sharp.editions import FIRST, LATEST
from engine.sharp.forms import FORM_LIMITS, FORM_MEANINGS
from engine.sharp.other_forms.flat import CompiledFlat, parse_flat
from engine.sharp.other_forms.policy import CompiledPolicy, parse_policy
from engine.sharp.other_forms.reference_forms import FLAT_TEMPLATE, POLICY_TEMPLATE, flat_page, policy_core, policy_page
from engine.sharp.scope import field_paths
from engine.worlds.craftax_classic.schema import SCHEMA as CLASSIC
from tests.engine.sharp.invented import SCHEMA
from tests.engine.sharp.language_doc import page
from tests.engine.sharp.policies import INVENTED_ARCHIVE


def test_the_examples_are_accepted() -> None:
    flat = parse_flat(FLAT_TEMPLATE, SCHEMA, INVENTED_ARCHIVE)
    assert isinstance(flat, CompiledFlat), flat
    assert flat.warnings == ()
    assert len(flat.chain) == 7
    policy = parse_policy(POLICY_TEMPLATE, SCHEMA, INVENTED_ARCHIVE)
    assert isinstance(policy, CompiledPolicy), policy
    assert policy.warnings == ()
    assert policy.skills == ("DigClay", "FireBricks", "Rest", "WalkToKiln")


def test_pages_have_what_the_tables_say() -> None:
    for edition in (FIRST, LATEST):
        text = flat_page(edition)
        assert edition.label in text
        assert f"{edition.limits.source_bytes:,} bytes of source" in text
        for name, meaning in FORM_MEANINGS.items():
            assert f"- {getattr(FORM_LIMITS, name)} {meaning}\n" in text
    text = policy_page(CLASSIC)
    for path in field_paths(CLASSIC.state):
        assert f"`{'.'.join(path)}`" in text
    for name in (*available(BUILTINS, LATEST), "where", "argmin"):
        assert f"`{name}(" in text
    assert not [name for name in available(JNP, LATEST) if f"`{name}" not in text]
    assert "raise is not part of the language: return the name of a skill\n" in text
    for sharp_only in ("lambdas", "requires`", "success", "return False", "whole archive"):
        assert sharp_only not in text


def test_pages_name_no_real_world() -> None:
    both = (flat_page() + policy_core()).lower()
    words = ("craftax", "xland", "blocktype", "zombie", "pickaxe", "diamond", "wood", "stone")
    assert not [word for word in words if word in both]


def test_the_document_ends_with_them() -> None:
    assert page().endswith(flat_page() + "\n" + policy_core())
