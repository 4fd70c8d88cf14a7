"""The library: released templates are frozen, a user's own ones are checked against them."""

from __future__ import annotations

import hashlib
import tomllib
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fm.library import Library, Template, TemplateError, from_directory, load_template, normalised
from fm.roles import heuristics, propose
from ledger.vocabulary.body import Body
from ledger.vocabulary.events import UserTemplate
from tests.fm.roles.bakery import EMPTY, HERE, MODEL

PROMPTS = resources.files("fm").joinpath("prompts")
LOCK = tomllib.loads(PROMPTS.joinpath("RELEASED.toml").read_text("utf-8"))
LIBRARY = Library.released()
OWN = "Invent something about $category, that is: $guidance Not $avoid, please."


def own(name: str = "propose", text: str = OWN) -> UserTemplate:
    return UserTemplate(name, Body(text))


# --- released --------------------------------------------------------------------------------------------------------


def test_the_lock_lists_every_packaged_template_and_nothing_else() -> None:
    folder = PROMPTS.joinpath("code_sharp")
    files = {f"code_sharp/{file.name.removesuffix('.md')}" for file in folder.iterdir()}
    assert {label for label in LOCK["sha256"] if label.startswith("code_sharp/")} == files
    assert {f"code_sharp/{label}" for label in LOCK["sets"]["code_sharp@1"]} <= files


@pytest.mark.parametrize("label", [label for label in LOCK["sha256"] if label.startswith("code_sharp/")])
def test_a_released_template_has_its_released_text(label: str) -> None:
    text = PROMPTS.joinpath(*label.split("/")[:-1], label.split("/")[-1] + ".md").read_bytes()
    assert hashlib.sha256(text.replace(b"\r\n", b"\n")).hexdigest() == LOCK["sha256"][label], (
        "a released template must not change: restore it and release the next version"
    )


def test_released_heuristics_have_their_released_text_and_order() -> None:
    assert LOCK["heuristics"] == {
        "categories@1": heuristics.digest(heuristics.CATEGORIES),
        "mutation_heuristics@1": heuristics.digest(heuristics.MUTATION_HEURISTICS),
    }
    assert heuristics.digest(heuristics.CATEGORIES[::-1]) != LOCK["heuristics"]["categories@1"]


def test_an_edited_template_is_refused_on_loading() -> None:
    tampered = {**LOCK["sha256"], "code_sharp/propose@1": "0" * 64}
    with pytest.raises(TemplateError, match=r"not the text that was released.*propose@2"):
        load_template("code_sharp", "propose@1", tampered)


def test_a_template_without_a_digest_is_refused() -> None:
    with pytest.raises(TemplateError, match="not the text that was released"):
        load_template("code_sharp", "propose@1", {})


def test_the_released_set_has_one_template_per_role() -> None:
    assert LIBRARY.names == ("primer", "propose", "implement", "judge", "mutate", "implement_mutation", "repair")
    assert [template.label for template in LIBRARY.templates] == LOCK["sets"]["code_sharp@1"]
    assert {template.origin for template in LIBRARY.templates} == {"package"}


def test_an_unknown_set_or_role_is_refused_with_the_nearest() -> None:
    with pytest.raises(TemplateError, match="did you mean code_sharp@1"):
        Library.released("code_sharp@9")
    with pytest.raises(TemplateError, match="did you mean propose"):
        LIBRARY.get("proposal")


# --- filling ---------------------------------------------------------------------------------------------------------


def test_filling_is_strict_and_not_repeated() -> None:
    template = Template("x", 1, "$a costs $$5, ${b}.", "package")
    assert template.fill({"a": "$b", "b": "$$"}) == "$b costs $5, $$."
    with pytest.raises(TemplateError, match="x@1 needs values for b"):
        template.fill({"a": "1"})
    with pytest.raises(TemplateError, match="no placeholder c"):
        template.fill({"a": "1", "b": "2", "c": "3"})


@given(st.dictionaries(st.sampled_from("abcdef"), st.text(), min_size=1))
def test_what_is_filled_in_appears_unchanged(values: dict[str, str]) -> None:
    template = Template("x", 1, "|".join(f"${{{name}}}" for name in values), "package")
    assert template.fill(values) == "|".join(values.values())


def test_a_stray_dollar_is_refused_with_its_line() -> None:
    with pytest.raises(TemplateError, match=r"line 2: .*write '\$\$'"):
        _ = Template("x", 1, "one\ntwo costs $5", "package").placeholders


@given(st.text())
def test_normalising_is_idempotent_and_leaves_line_feeds_only(text: str) -> None:
    once = normalised(text)
    assert "\r" not in once
    assert normalised(once.removeprefix("\ufeff")) == once.removeprefix("\ufeff")


# --- a user's own ----------------------------------------------------------------------------------------------------


def test_a_users_template_replaces_the_released_one() -> None:
    library = LIBRARY.with_user((own(),))
    ask = propose.ask(HERE, EMPTY, "making", library, MODEL)
    assert ask.template == "propose@user"
    assert ask.parts[-1].text.text.startswith("Invent something about making, that is: Turn what the agent has")
    assert library.get("judge") is LIBRARY.get("judge")
    assert LIBRARY.get("propose").origin == "package"


def test_no_templates_of_ones_own_change_nothing() -> None:
    assert LIBRARY.with_user(()) == LIBRARY


@pytest.mark.parametrize(
    ("templates", "message"),
    [
        ((own("proposal"),), "'proposal' is no template of code_sharp@1.*did you mean propose"),
        ((own(), own()), "given twice"),
        ((own(text=OWN.replace("$avoid", "that")),), r"lacks \$avoid"),
        ((own(text=OWN.replace("$category", "$categories")),), r"uses \$categories.*did you mean category"),
        ((own(text="  \n"),), "is empty"),
        ((own(text=OWN + " $"),), "begins no placeholder"),
    ],
)
def test_a_users_template_that_does_not_fit_is_refused(templates: tuple[UserTemplate, ...], message: str) -> None:
    with pytest.raises(TemplateError, match=message):
        LIBRARY.with_user(templates)


def test_templates_are_read_from_a_folder_in_the_order_of_names(tmp_path: Path) -> None:
    (tmp_path / "repair.md").write_bytes(b"\xef\xbb\xbf$answer\r\n$reason\r\n")
    (tmp_path / "propose.md").write_text(OWN, encoding="utf-8")
    (tmp_path / ".hidden").write_text("not read", encoding="utf-8")
    found = from_directory(tmp_path)
    assert found == (own(), UserTemplate("repair", Body("$answer\n$reason\n")))
    assert LIBRARY.with_user(found).get("repair").text == "$answer\n$reason\n"


def test_an_empty_folder_gives_no_templates(tmp_path: Path) -> None:
    assert from_directory(tmp_path) == ()


def test_a_folder_with_anything_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "propos.md").write_text(OWN, encoding="utf-8")
    with pytest.raises(TemplateError, match=r"did you mean propose\.md"):
        from_directory(tmp_path)


def test_a_folder_inside_is_refused(tmp_path: Path) -> None:
    (tmp_path / "propose.md").mkdir()
    with pytest.raises(TemplateError, match="is no template"):
        from_directory(tmp_path)


def test_what_a_folder_holds_is_checked_at_once(tmp_path: Path) -> None:
    (tmp_path / "propose.md").write_text("nothing to fill in", encoding="utf-8")
    with pytest.raises(TemplateError, match=r"lacks \$avoid, \$category, \$guidance"):
        from_directory(tmp_path)


def test_other_encodings_are_refused(tmp_path: Path) -> None:
    (tmp_path / "propose.md").write_bytes(b"caf\xe9 $category")
    with pytest.raises(TemplateError, match=r"not UTF-8 \(byte 3\)"):
        from_directory(tmp_path)


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match="cannot be listed"):
        from_directory(tmp_path / "nowhere")
