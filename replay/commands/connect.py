"""From operational settings to the things that a run is given: transport, budget, embedder."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from fm.budget import Budget, Prices
from fm.embed import WORDLLAMA, Embedder, OpenAiEmbedder
from fm.endpoint import Endpoint, Limits
from fm.library import from_directory
from fm.transports.mailbox import Mailbox
from fm.transports.openai_api import OpenAiTransport
from fm.transports.port import Transport
from ledger.vocabulary.ask import Part
from ledger.vocabulary.body import Body
from ledger.vocabulary.config import Config
from ledger.vocabulary.events import UserTemplate
from replay.config_file import ConfigError
from replay.operational import UNDECLARED, Operational
from replay.operational import Endpoint as Names
from replay.output import note


def mailbox_folder(directory: Path, operational: Operational) -> Path:
    """Where requests wait for answers: as configured, else inside the run."""
    return Path(operational.mailbox) if operational.mailbox is not None else directory / "mailbox"


def transport_of(directory: Path, operational: Operational, served_model: str | None = None) -> Transport:
    """The transport of a run. A mailbox's folders are made; nothing is asked.

    Raises:
        fm.errors.NoKey: if the endpoint needs a key and the environment holds none.
        fm.errors.TransportFailure: if the endpoint's address cannot be used.
    """
    if operational.transport == "mailbox":
        return Mailbox(mailbox_folder(directory, operational))
    return OpenAiTransport(_endpoint(operational.endpoint, operational), model=served_model)


def _endpoint(names: Names, operational: Operational) -> Endpoint:
    limits = Limits(
        timeout_seconds=operational.timeout_seconds, retries=operational.retries, concurrency=operational.concurrency
    )
    return Endpoint(url_variable=names.base_url_env, key_variable=names.key_env, limits=limits)


def embedder_of(config: Config, operational: Operational) -> Embedder | None:
    """The embedder that the configuration names; ``None`` for the packaged one, which is loaded when it is needed."""
    if config.embedding_model == WORDLLAMA:
        return None
    return OpenAiEmbedder(_endpoint(operational.embedding_endpoint, operational))


def budget_of(operational: Operational) -> Budget:
    """The limits of a run, with money as exact decimals."""
    limits = operational.budget
    return Budget(
        calls=limits.calls,
        tokens=limits.tokens,
        money=None if limits.money is None else Decimal(str(limits.money)),
        prices=Prices(Decimal(str(limits.prompt_price)), Decimal(str(limits.completion_price))),
    )


def templates_of(config: Config, operational: Operational) -> tuple[UserTemplate, ...]:
    """The user's own prompt templates.

    Raises:
        fm.library.TemplateError: if the folder or a template cannot be used.
    """
    if operational.prompts_dir is None:
        return ()
    return from_directory(Path(operational.prompts_dir), config.prompts)


def documents_of(operational: Operational) -> tuple[Part, ...]:
    """The user's auxiliary documents, named by their file names.

    Raises:
        ConfigError: if one is no readable UTF-8 text, or two have the same name.
    """
    parts: list[Part] = []
    for name in operational.documents:
        file = Path(name)
        try:
            text = file.read_bytes().decode("utf-8")
        except OSError as error:
            raise ConfigError(f"operational.documents: {file}: {error.strerror}; mend the list of documents") from None
        except UnicodeDecodeError as error:
            raise ConfigError(
                f"operational.documents: {file} is not UTF-8 (byte {error.start}); save it as UTF-8"
            ) from None
        if any(part.name == file.name for part in parts):
            raise ConfigError(f"operational.documents: two are named {file.name}; rename one of them")
        parts.append(Part(file.name, Body(text)))
    return tuple(parts)


def tell(directory: Path, config: Config, operational: Operational, *, quiet: bool) -> None:
    """Tell the person where to answer, and what is not declared."""
    if operational.transport == "mailbox":
        box = mailbox_folder(directory, operational)
        note(
            f"requests wait in {box / 'requests'}: put each answer into {box / 'answers'} under the request's name",
            quiet=quiet,
        )
        note(f"{box / 'pending.txt'} lists those without an answer", quiet=quiet)
    if config.foundation_model.model == UNDECLARED:
        note(
            "the model is recorded as undeclared: name what answers with --set foundation_model.model=NAME", quiet=quiet
        )
