"""The configuration of an experiment: one frozen tree, read from TOML, unknown keys refused.

Defaults are the values that paper 000 states for Craftax-Classic (Tables 7, 9 and 10); whatever the paper leaves open
is marked ``not stated in the paper`` here and in every configuration file.
"""

from __future__ import annotations

from attrs import field, frozen
from attrs.validators import ge, gt, in_, le

from ledger.vocabulary.ask import Sampling

AGENT_KINDS = ("gtrxl", "gru", "mlp")


@frozen
class Discovery:
    """The two loops of CODE-SHARP (paper 000, sections 2.3 and 2.4, Table 7). Iterations count from 0."""

    iterations: int = field(default=25, validator=ge(1))
    training_epochs: int = field(default=4, validator=ge(1))
    evaluation_epochs: int = field(default=4, validator=ge(1))
    epoch_steps: int = field(default=1_000_000, validator=gt(0))  # reproduces the stated totals; not stated
    proposals: int = field(default=10, validator=ge(1))
    max_chosen: int = field(default=2, validator=ge(1))
    max_repairs: int = field(default=3, validator=ge(0))
    learning_progress: str = "0.05"
    mutation_start: int = field(default=7, validator=ge(0))
    mutated_skills: int = field(default=1, validator=ge(0))
    mutations: int = field(default=5, validator=ge(1))
    mutation_may_change_success: bool = False  # not stated in the paper
    keep_trained_copy: bool = False  # not stated in the paper
    failures_shown: int = field(default=40, validator=ge(0))  # not stated in the paper


@frozen
class Evaluation:
    """Episodes and horizon of every evaluation; not stated in the paper."""

    episodes: int = field(default=128, validator=ge(1))
    horizon: int = field(default=1_000, validator=ge(1))


@frozen
class Routing:
    """Targets, opportunistic sampling and reward scaling (paper 000, section 2.5)."""

    patience: int = field(default=200, validator=ge(1))
    opportunistic: bool = True
    sampling_epsilon: float = field(default=0.01, validator=gt(0))  # not stated in the paper
    adaptive_reward: bool = True
    reward_cap: float = field(default=10.0, validator=gt(0))
    reward_epsilon: float = field(default=1e-6, validator=ge(0))  # not stated in the paper


@frozen
class Ppo:
    """Proximal policy optimisation (paper 000, Table 9)."""

    environments: int = field(default=512, validator=ge(1))
    rollout_steps: int = field(default=128, validator=ge(1))  # not stated: the cited implementation's value
    update_epochs: int = field(default=4, validator=ge(1))  # not stated: the cited implementation's value
    minibatches: int = field(default=8, validator=ge(1))  # not stated: the cited implementation's value
    learning_rate: float = field(default=2e-4, validator=gt(0))
    end_learning_rate: float = field(default=2e-4, validator=ge(0))
    decay_steps: int = field(default=100_000_000, validator=gt(0))
    weight_decay: float = field(default=1e-4, validator=ge(0))  # not stated in the paper
    adam_epsilon: float = field(default=1e-5, validator=gt(0))  # not stated: the cited implementation's value
    discount: float = field(default=0.99, validator=[ge(0), le(1)])
    gae_lambda: float = field(default=0.8, validator=[ge(0), le(1)])
    clip_range: float = field(default=0.2, validator=gt(0))
    entropy_coefficient: float = field(default=0.01, validator=ge(0))
    value_coefficient: float = field(default=0.5, validator=ge(0))  # not stated: the cited implementation's value
    gradient_norm: float = field(default=1.0, validator=gt(0))  # not stated: the cited implementation's value
    target_change: str = field(default="bootstrap", validator=in_(("bootstrap", "end", "ignore")))  # not stated


@frozen
class Agent:
    """The network (paper 000, Table 10). What is not named for a kind has no effect on it.

    - ``gtrxl`` (Gated Transformer-XL): every field. ``layers`` counts blocks.
    - ``gru`` (recurrent, not in the paper): ``hidden_size``, ``layers`` and ``gradient_window``. Its memory is one
      state of ``hidden_size``.
    - ``mlp`` (without memory, not in the paper): ``hidden_size`` and ``layers``.

    In ``gru`` and ``mlp`` ``layers`` counts hidden layers: the first is shared, the others stand once in the policy's
    head and once in the value's. The recurrent unit comes after the first and is not counted.
    """

    kind: str = field(default="gtrxl", validator=in_(AGENT_KINDS))
    layers: int = field(default=2, validator=ge(1))
    heads: int = field(default=8, validator=ge(1))
    embedding_size: int = field(default=256, validator=ge(1))
    qkv_size: int = field(default=256, validator=ge(1))
    hidden_size: int = field(default=256, validator=ge(1))
    memory_window: int = field(default=128, validator=ge(1))
    gradient_window: int = field(default=128, validator=ge(1))
    gating: bool = True
    gate_bias: float = 2.0
    second_gate: str = field(default="residual", validator=in_(("residual", "swapped")))  # see docs/architecture.md


@frozen
class FoundationModel:
    """The foundation model as the experiment sees it; endpoint, key, budgets and concurrency are operational.

    ``system``, ``tools`` and ``isolation`` say in words what is known of the answerer: its system prompt, whether it
    could use tools, and whether it saw anything but the request. ``unknown`` is an honest value.
    """

    model: str = "undeclared"
    sampling: Sampling = Sampling()
    system: str = "unknown"
    tools: str = "unknown"
    isolation: str = "unknown"


@frozen
class Config:
    """Everything a run's outcome depends on besides the foundation model's answers."""

    world: str = "craftax_classic"
    seed: int = field(default=0, validator=ge(0))
    grammar: str = "sharp@2"
    prompts: str = "code_sharp@1"
    embedding_model: str = "wordllama"
    discovery: Discovery = Discovery()
    evaluation: Evaluation = Evaluation()
    routing: Routing = Routing()
    ppo: Ppo = Ppo()
    agent: Agent = Agent()
    foundation_model: FoundationModel = FoundationModel()
