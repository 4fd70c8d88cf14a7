"""What can go wrong at the edge of a run: each error is one line and says what to do next.

A reply that cannot be used (a refusal, broken JSON) is no error: it is a ``Fault`` of ``fm.parse`` and goes back to the
model. Errors here stop the run before anything was lost; ``resume`` continues it.
"""

from __future__ import annotations


class FmError(Exception):
    """Base of every error raised by this package; the message is a single line without any secret."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class TransportFailure(FmError):
    """A request could not be answered; the run stops and can be resumed."""


class NoKey(TransportFailure):
    """The environment variable that should hold the endpoint's key is unset or empty, or the key was refused."""


class EndpointDown(TransportFailure):
    """Nothing answers at the base URL, or not in time, after every retry."""


class WrongAnswer(TransportFailure):
    """An answer file names another call, or changed after it had been read."""


class Cancelled(TransportFailure):
    """The wait for an answer was called off."""


class BudgetExceeded(FmError):
    """The next call could exceed a budget; it was not made."""


class EmbeddingFailure(FmError):
    """Texts could not be embedded."""
