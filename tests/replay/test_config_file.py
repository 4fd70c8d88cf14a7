"""Experiment files: layers, refusals with their place, and the way back to TOML."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, fields, has
from hypothesis import given
from hypothesis import strategies as st

from ledger.vocabulary.ask import Sampling
from ledger.vocabulary.config import Agent, Config, Discovery, FoundationModel, Ppo
from replay.config_file import ConfigError, load, load_all, loads, profiles, to_toml
from replay.operational import Operational, compile_cache, with_model

REPRODUCTION = Path(__file__).parents[2] / "reproductions" / "craftax_classic"


def refusal(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        loads(text, "experiment.toml")
    return str(caught.value)


def test_an_empty_file_is_the_default_configuration() -> None:
    assert loads("") == Config()


words = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20)
floats = st.floats(min_value=1e-9, max_value=0.999)
configs = st.builds(
    Config,
    world=words,
    seed=st.integers(0, 2**63 - 1),
    discovery=st.builds(
        Discovery,
        iterations=st.integers(1, 10**6),
        learning_progress=st.fractions(0, 1).map(str),
        keep_trained_copy=st.booleans(),
    ),
    ppo=st.builds(Ppo, learning_rate=floats, discount=floats, minibatches=st.integers(1, 64)),
    agent=st.builds(Agent, kind=st.sampled_from(("gtrxl", "gru", "mlp")), gate_bias=st.floats(-1e30, 1e30)),
    foundation_model=st.builds(
        FoundationModel,
        model=words,
        system=words,
        sampling=st.builds(Sampling, temperature=st.none() | floats, max_tokens=st.none() | st.integers(1, 10**6)),
    ),
)


@given(configs)
def test_a_configuration_survives_the_way_through_toml(config: Config) -> None:
    assert loads(to_toml(config)) == config


def test_an_integer_is_a_number_but_a_number_is_no_integer() -> None:
    cap = loads("routing.reward_cap = 10").routing.reward_cap
    assert isinstance(cap, float)
    assert cap == 10.0
    assert refusal("discovery.epoch_steps = 1e6").endswith("takes an integer, not 1000000.0; write 1000000")


def test_a_number_too_large_for_a_float_is_refused_rather_than_rounded() -> None:
    assert "takes a number" in refusal(f"routing.reward_cap = {2**53 + 1}")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("seed = 1\n[ppo]\nenviroments = 3", 3, "there is no setting ppo.enviroments; did you mean ppo.environments?"),
        ("iterations = 3", 1, "there is no setting iterations; did you mean discovery.iterations?"),
        ("[agent]\nlearning_rate = 1.0", 2, "there is no setting agent.learning_rate; did you mean ppo.learning_rate?"),
        ("[operationl]\nretries = 1", 1, "there is no setting operationl; did you mean operational?"),
        ("[agent]\nzzz = 1", 2, "there is no setting agent.zzz; settings here are kind, layers, heads"),
        ("[ppo]\ndiscount = true", 2, "ppo.discount takes a number, not true"),
        ('seed = "1"', 1, 'seed takes an integer, not "1"'),
        ("seed = true", 1, "seed takes an integer, not true"),
        ("agent.gating = 1", 1, "agent.gating takes true or false, not 1"),
        ("discovery.learning_progress = 0.05", 1, 'takes a text in quotes, not 0.05; write "0.05"'),
        ('discovery.learning_progress = "0.1.2"', 1, 'is an exact fraction from 0 to 1, such as "0.05" or "1/20"'),
        ('discovery.learning_progress = "1/0"', 1, "is an exact fraction"),
        ('discovery.learning_progress = "2"', 1, "is an exact fraction"),
        ("\n\nppo = 3", 3, "ppo is a table of settings, not 3: write [ppo]"),
        ("[discovery]\n\niterations = 0", 3, "discovery.iterations must be >= 1: 0"),
        ("[agent]\nkind = 'lstm'", 2, "agent.kind must be in ('gtrxl', 'gru', 'mlp') (got 'lstm')"),
        ("[operational]\ndocuments = 'a'", 2, 'operational.documents takes a list of texts, not "a"'),
        ("[operational]\ndocuments = [1]", 2, "takes a text in quotes, not 1"),
        ("[operational.budget]\nmoney = 3.0", 2, "operational.budget.money is limited but both prices are 0"),
        ("operational = []", 1, "operational is a table of settings, not []"),
        ("[foundation_model.sampling]\ntemperature = 'x'", 2, "foundation_model.sampling.temperature takes a number"),
    ],
)
def test_what_is_not_understood_is_refused_with_its_place(text: str, line: int, message: str) -> None:
    refused = refusal(text)
    assert refused.startswith(f"experiment.toml, line {line}: ")
    assert message in refused


def test_every_problem_is_told_at_once() -> None:
    assert len(refusal("sed = 1\nagent = 2\n[ppo]\nx = 1").splitlines()) == 3
    assert len(refusal("[ppo]\ndiscount = 'a'\nclip_range = 'b'").splitlines()) == 2


def test_bad_toml_names_the_line() -> None:
    assert re.search(r"^experiment.toml: not valid TOML: .*line 2", refusal("seed = 1\nworld = = 2"))


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    (tmp_path / "experiment.toml").write_text(
        "seed = 5\n[discovery]\niterations = 9\nproposals = 8\n"
        "[operational]\nmailbox = 'box'\ndocuments = ['a.md', '/b.md']\n"
    )
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / "small.toml").write_text(
        "[discovery]\niterations = 2\n[operational]\nprompts_dir = 'templates'\n"
    )
    (tmp_path / "profiles" / "broken.toml").write_text("[discovery]\n\nproposals = 'many'\n")
    return tmp_path


def test_later_layers_override_only_what_they_set(experiment: Path) -> None:
    assert load(experiment) == evolve(Config(seed=5), discovery=Discovery(iterations=9, proposals=8))
    assert load(experiment / "experiment.toml", "small").discovery == Discovery(iterations=2, proposals=8)
    changed = load(experiment, "small", ["discovery.iterations=4", "seed = 6"])
    assert changed == evolve(Config(seed=6), discovery=Discovery(iterations=4, proposals=8))


def test_overrides_read_texts_without_quotes(experiment: Path) -> None:
    overrides = ["world=elsewhere", "discovery.learning_progress=0.1", "agent.kind='mlp'"]
    config = load(experiment, overrides=overrides)
    assert (config.world, config.discovery.learning_progress, config.agent.kind) == ("elsewhere", "0.1", "mlp")


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("seed", "write setting=value, for example discovery.iterations=3"),
        ("=3", "write setting=value"),
        ("ppo.enviroments=3", "did you mean ppo.environments?"),
        ("seed=abc", "'abc' is no TOML value; seed takes an integer"),
        ("ppo.discount=2.0", "ppo.discount must be <= 1: 2.0"),
        ("sead=1", "did you mean seed?"),
        ("sead=some text", "did you mean seed?"),
    ],
)
def test_a_bad_override_is_named(experiment: Path, override: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(experiment, overrides=[override])
    assert str(caught.value).startswith(f"--set {override}: ")
    assert message in str(caught.value)


def test_a_problem_is_placed_in_the_layer_that_made_it(experiment: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(experiment, "broken")
    assert str(caught.value).startswith(f"{experiment / 'profiles' / 'broken.toml'}, line 3: discovery.proposals")


def test_missing_files_and_profiles_say_what_there_is(experiment: Path) -> None:
    assert profiles(experiment) == ("broken", "small")
    with pytest.raises(ConfigError, match="there are broken, small; did you mean small"):
        load(experiment, "smal")
    with pytest.raises(ConfigError, match="there is no such file"):
        load(experiment / "nothing.toml")
    (experiment / "latin.toml").write_bytes(b"world = '\xe9'")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load(experiment / "latin.toml")


def test_operational_settings_are_apart_and_relative_to_their_file(experiment: Path) -> None:
    loaded = load_all(experiment, "small", ["operational.concurrency=2"])
    assert loaded.config == load(experiment, "small")
    assert loaded.operational == Operational(
        concurrency=2,
        mailbox=str(experiment / "box"),
        documents=(str(experiment / "a.md"), "/b.md"),
        prompts_dir=str(experiment / "profiles" / "templates"),
    )


def test_the_model_comes_from_the_environment_only_when_asked_over_http() -> None:
    environ = {"OPENAI_MODEL": "some-model"}
    assert with_model(Config(), Operational(), environ).foundation_model.model == "some-model"
    assert with_model(Config(), Operational(transport="mailbox"), environ) == Config()
    assert with_model(Config(), Operational(), {}) == Config()
    named = Config(foundation_model=FoundationModel(model="other"))
    assert with_model(named, Operational(), environ) == named


def test_compiled_functions_of_different_processors_do_not_meet(tmp_path: Path) -> None:
    chosen = compile_cache(Operational(compile_cache_dir=str(tmp_path)), {})
    assert chosen.parent == tmp_path
    assert compile_cache(Operational(), {"JAX_COMPILATION_CACHE_DIR": str(tmp_path)}) == tmp_path
    assert compile_cache(Operational(), {"XDG_CACHE_HOME": str(tmp_path)}).is_relative_to(tmp_path)
    # the variable's own rules: a relative path counts as none
    home = compile_cache(Operational(), {})
    assert home.is_absolute()
    assert compile_cache(Operational(), {"XDG_CACHE_HOME": "caches"}) == home
    assert compile_cache(Operational(), {"NPROC": "1"}) != home
    assert compile_cache(Operational(), {"NPROC": "1"}).parent == home.parent


def leaves(value: Any, prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for attribute in fields(type(value)):
        inner = getattr(value, attribute.name)
        if has(type(inner)):
            found |= leaves(inner, f"{prefix}{attribute.name}.")
        else:
            found[f"{prefix}{attribute.name}"] = inner
    return found


def test_the_papers_profile_states_every_value_of_the_method_and_marks_what_is_open() -> None:
    """Tables 7, 9 and 10 as printed; each setting is either traced to the paper or marked as not stated there."""
    text = (REPRODUCTION / "profiles" / "paper.toml").read_text()
    config = loads(text, "paper.toml")
    assert config == Config()
    table_7 = (25, 4, 7, 4, 10, 5, 1)
    d = config.discovery
    assert table_7 == (
        d.iterations,
        d.training_epochs,
        d.mutation_start,
        d.evaluation_epochs,
        d.proposals,
        d.mutations,
        d.mutated_skills,
    )
    p = config.ppo
    table_9 = (2e-4, 2e-4, 512, 0.99, 0.01, 0.2, 0.8)
    assert table_9 == (
        p.learning_rate,
        p.end_learning_rate,
        p.environments,
        p.discount,
        p.entropy_coefficient,
        p.clip_range,
        p.gae_lambda,
    )
    assert d.iterations * d.training_epochs * d.epoch_steps == p.decay_steps == 10**8
    a = config.agent
    assert (a.layers, a.heads, a.embedding_size, a.qkv_size, a.hidden_size) == (2, 8, 256, 256, 256)
    assert (a.memory_window, a.gradient_window, a.gating, a.gate_bias) == (128, 128, True, 2.0)

    settings = [line for line in text.splitlines() if "=" in line and not line.startswith("#")]
    for line in settings:
        assert re.search(r"# (Table \d|section \d|not stated in the paper)", line), line
    recorded_apart = {"world", "seed", "grammar", "prompts", "embedding_model"}
    method = {key for key in leaves(config) if key not in recorded_apart and not key.startswith("foundation_model")}
    assert len(settings) == len(method)
    assert all(math.isfinite(value) for value in leaves(config).values() if isinstance(value, float))


def test_the_laptop_profile_is_smaller_and_fits_whole_rollouts() -> None:
    config = loads((REPRODUCTION / "profiles" / "cpu.toml").read_text(), "cpu.toml")
    assert config.discovery.epoch_steps % (config.ppo.environments * config.ppo.rollout_steps) == 0
    assert config.ppo.environments % config.ppo.minibatches == 0
    assert config.discovery.mutation_start < config.discovery.iterations < Config().discovery.iterations
    assert config.agent.kind == "mlp"
