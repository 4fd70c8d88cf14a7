"""Facts about machine and software: complete, without private matter, and compared in words."""

from __future__ import annotations

import getpass
import platform
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from ledger.vocabulary.events import Fact
from replay import fingerprint as under_test
from replay.fingerprint import DECIDES_BITS, changes, cpu_digest, facts, fingerprint
from replay.runner.recording import load

SHIPPED = "c0bd104c869230762b0712bbd412b8e625643502cd15956882feb774dc166464"
"""The fingerprint of reproductions/craftax_classic as it was when it was recorded."""


@pytest.fixture(scope="module")
def present() -> tuple[Fact, ...]:
    return facts()


def value(known: tuple[Fact, ...], name: str) -> str:
    return {fact.name: fact.value for fact in known}[name]


def test_facts_are_sorted_unique_and_repeatable(present: tuple[Fact, ...]) -> None:
    names = [fact.name for fact in present]
    assert names == sorted(set(names))
    assert facts() == present


def test_every_fact_that_decides_bits_is_collected(present: tuple[Fact, ...]) -> None:
    elsewhere = {"package/jax-cuda12-plugin", "package/jax-cuda13-plugin", "threads/NPROC", "threads/PJRT_NPROC"}
    assert set(DECIDES_BITS) - elsewhere <= {fact.name for fact in present}
    assert value(present, "jax/jax_numpy_dtype_promotion") == "strict"
    assert value(present, "python").endswith(platform.python_version())


def test_facts_hold_no_person_no_host_and_no_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XLA_FLAGS", f"--xla_dump_to={tmp_path}/dump --xla_cpu_use_fusion_emitters=true")
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    known = facts()
    assert value(known, "xla_flags") == "--xla_cpu_use_fusion_emitters=true --xla_dump_to=<path>"
    assert value(known, "threads/OMP_NUM_THREADS") == "3"
    text = "\n".join(fact.value for fact in known)
    private = [socket.gethostname(), str(Path.home()), str(Path.cwd()), str(tmp_path), sys.prefix]
    if len(getpass.getuser()) > 4:
        private.append(getpass.getuser())
    assert [one for one in private if len(one) > 4 and one in text] == []


def test_the_fingerprint_covers_exactly_what_decides_bits(present: tuple[Fact, ...]) -> None:
    """Every such fact changes it when it changes; no other fact does."""
    whole = fingerprint(present)
    for index, fact in enumerate(present):
        changed = (*present[:index], evolve(fact, value=fact.value + "!"), *present[index + 1 :])
        assert (fingerprint(changed) != whole) == (fact.name in DECIDES_BITS), fact.name
    assert fingerprint(tuple(reversed(present))) == whole
    assert fingerprint(()) != whole


def test_variables_that_size_the_thread_pool_decide_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set, each changes the fingerprint; other thread variables are recorded and do not."""
    for name in under_test.THREAD_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    plain = facts()
    assert not [fact for fact in plain if fact.name.startswith("threads/")]
    for name in under_test.THREAD_VARIABLES:
        monkeypatch.setenv(name, "1")
        known = facts()
        assert value(known, f"threads/{name}") == "1"
        assert (fingerprint(known) != fingerprint(plain)) == (name in ("NPROC", "PJRT_NPROC")), name
        monkeypatch.delenv(name)


def test_the_fingerprint_of_the_shipped_recording_stays(present: tuple[Fact, ...]) -> None:
    """A fact that was not recorded then must not make the same machine another one now."""
    recorded = load(Path(__file__).parents[2] / "reproductions" / "craftax_classic" / "recording").facts
    assert fingerprint(recorded) == SHIPPED
    added = (*recorded, Fact("threads/OMP_NUM_THREADS", "2"), Fact("package/numpy", "9"), Fact("something/new", "1"))
    assert fingerprint(added) == SHIPPED
    assert fingerprint((*recorded, Fact("threads/NPROC", "1"))) != SHIPPED


names = st.sampled_from((*DECIDES_BITS, "python", "system", "source/commit", "threads/NPROC", "unheard of"))
tables = st.dictionaries(names, st.text(max_size=8)).map(
    lambda table: tuple(Fact(name, text) for name, text in table.items())
)


@given(tables, tables)
def test_there_is_one_sentence_per_difference(recorded: tuple[Fact, ...], now: tuple[Fact, ...]) -> None:
    before, after = ({fact.name: fact.value for fact in table} for table in (recorded, now))
    different = {name for name in before.keys() | after.keys() if before.get(name, "none") != after.get(name, "none")}
    sentences = changes(recorded, now)
    assert len(sentences) == len(different)
    assert changes(recorded, recorded) == ()


def test_changes_are_told_in_words_bits_first() -> None:
    recorded = (Fact("system", "Linux"), Fact("cpu/visible_cores", "2"), Fact("package/jax", "0.10.2"))
    now = (Fact("system", "Darwin"), Fact("cpu/visible_cores", "8"), Fact("package/jax", "0.11.0"))
    assert changes(recorded, now) == (
        "recorded with jax 0.10.2, you have 0.11.0: the bits of training may differ, decisions do not",
        "recorded with cpu visible cores '2', here it is '8': "
        "work is divided among cores differently, so the bits of training may differ, decisions do not",
        "recorded with system 'Linux', here it is 'Darwin': no consequence is known",
    )
    assert changes((), (Fact("package/jax", "0.11.0"),))[0].startswith("recorded with jax none, you have 0.11.0")


@pytest.mark.parametrize(
    ("before", "now", "consequences"),
    [
        ("1.6.0", "1.6.1", "1.6.1 changed textures and drawing only"),
        ("1.6.1", "1.6.0", "1.6.1 changed textures and drawing only"),
        (
            "1.6.1",
            "1.5.0",
            "1.6.0 made health stop at 0 at a death: the world's own death reward and the health seen then differ; "
            "1.6.1 changed textures and drawing only",
        ),
        ("1.6.1", "1.7.0", "other rules of the world may differ too"),
        ("1.6.1", "1.7.0rc1", "the rules of the world may differ"),
        ("1.6.1", "none", "the rules of the world may differ"),
    ],
)
def test_what_is_known_of_craftax_releases_is_told(before: str, now: str, consequences: str) -> None:
    told = changes((Fact("package/craftax", before),), (Fact("package/craftax", now),))
    assert told == (f"recorded with craftax {before}, you have {now}: {consequences}",)


def test_a_modified_tree_is_told_from_a_clean_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.invalid", "-c", "commit.gpgsign=false")
        subprocess.run(("git", "-C", str(tmp_path), *identity, *arguments), check=True, capture_output=True)

    source = tmp_path / "replay" / "fingerprint.py"
    source.parent.mkdir()
    source.write_text("one = 1\n")
    monkeypatch.setattr(under_test, "__file__", str(source))
    without = under_test._source()
    assert set(without) == {"source/sha256"}

    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    clean = under_test._source()
    assert clean["source/tree"] == "clean"
    assert clean["source/sha256"] == without["source/sha256"]

    source.write_text("one = 2\n")
    modified = under_test._source()
    assert modified["source/commit"] == clean["source/commit"]
    assert modified["source/tree"].startswith("modified ")
    assert modified["source/sha256"] != clean["source/sha256"]
    source.write_text("one = 3\n")
    assert under_test._source()["source/tree"] != modified["source/tree"]


def test_the_processor_has_one_digest() -> None:
    assert cpu_digest() == cpu_digest()
    assert len(bytes.fromhex(cpu_digest())) == 32


def test_importing_this_module_starts_no_jax() -> None:
    modules = "replay.fingerprint, replay.doctor, replay.exit_codes, replay.config_file, replay.estimate"
    command = f"import sys, {modules}; print('jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
