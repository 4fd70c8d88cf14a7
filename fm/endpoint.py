"""An OpenAI-compatible endpoint: address, key, limits, and how its failures are told.

Shared by chat and embeddings. The key is read from the environment once, sits in one masked object, and is removed
from every text that leaves this module: messages, replies, facts.
"""

from __future__ import annotations

import hashlib
import ipaddress
import json
import os
import re
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import openai
from attrs import field, frozen
from attrs.validators import ge, gt

from fm.errors import Cancelled, EndpointDown, FmError, NoKey, TransportFailure
from ledger.vocabulary.events import Fact

DEFAULT_BASE_URL: Final = "https://api.openai.com/v1"
SHORTEST_SECRET: Final = 8
"""Keys of fewer characters are placeholders of local servers; replacing them would mangle ordinary words."""

POLL_SECONDS: Final = 0.1
MAX_TOLD_CHARACTERS: Final = 300

_HEADER_TEXT = re.compile(r"[!-~]*")


@frozen
class Limits:
    """How patient and how parallel an endpoint is used.

    ``timeout_seconds`` bounds each try from request to complete answer; ``retries`` are tries after the first, with
    exponential backoff, for connection errors, timeouts and the statuses 408, 409, 429 and 5xx.
    """

    timeout_seconds: float = field(default=600.0, validator=gt(0))
    connect_seconds: float = field(default=10.0, validator=gt(0))
    retries: int = field(default=4, validator=ge(0))
    concurrency: int = field(default=4, validator=ge(1))


class Secret:
    """A key that shows itself only to the one who asks for it by name."""

    def __init__(self, value: str) -> None:
        self._value = value

    def __repr__(self) -> str:
        return "Secret(…)"

    def reveal(self) -> str:
        """The key itself."""
        return self._value

    @property
    def fingerprint(self) -> str:
        """First 8 hexadecimal digits of the key's SHA-256, or ``none`` for no key."""
        return hashlib.sha256(self._value.encode()).hexdigest()[:8] if self._value else "none"

    def redact(self, text: str) -> str:
        """``text`` with the key replaced by ``[key]``."""
        return text.replace(self._value, "[key]") if len(self._value) >= SHORTEST_SECRET else text


class RejectedError(Exception):
    """The endpoint refused the request itself (400 or 422): internal, so that a caller can try another form."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message


class Endpoint:
    """One endpoint; threads may share it.

    Args:
        base_url: address up to ``/v1``; otherwise the environment variable ``url_variable``, otherwise OpenAI's own.
        url_variable: name of the environment variable with the address.
        key_variable: name of the environment variable with the key. An address on this machine needs no key.
        limits: timeouts, retries, concurrency.
        environment: where variables are looked up; the process environment by default.
        cancelled: set it to call off every wait.

    Raises:
        NoKey: if a key is needed and the variable is unset or blank.
        TransportFailure: if the address is no ``http(s)://host[:port]/path`` or holds credentials or a query.
    """

    def __init__(
        self,
        base_url: str | None = None,
        *,
        url_variable: str = "OPENAI_BASE_URL",
        key_variable: str = "OPENAI_API_KEY",
        limits: Limits | None = None,
        environment: Mapping[str, str] | None = None,
        cancelled: threading.Event | None = None,
    ) -> None:
        variables = os.environ if environment is None else environment
        self.base_url = _checked_url(base_url or variables.get(url_variable, "").strip() or DEFAULT_BASE_URL)
        self.limits = limits or Limits()
        self._key_variable = key_variable
        self._cancelled = cancelled or threading.Event()
        self._closed = threading.Event()
        self._places = threading.Semaphore(self.limits.concurrency)
        local = _is_local(self.base_url)
        self._secret = Secret(variables.get(key_variable, "").strip())
        if not _HEADER_TEXT.fullmatch(self._secret.reveal()):
            raise NoKey(f"{key_variable} holds a character that no key has: set it to the bare key, without quotes")
        if not self._secret.reveal() and not local:
            raise NoKey(f"no key for {self.base_url}: set the environment variable {key_variable} and resume")
        self._client = openai.OpenAI(
            base_url=self.base_url,
            api_key=self._secret.reveal() or "none",
            timeout=openai.Timeout(self.limits.timeout_seconds, connect=self.limits.connect_seconds),
            max_retries=self.limits.retries,
            # A proxy set for the outside must not swallow calls to this machine.
            http_client=openai.DefaultHttpxClient(trust_env=not local),
        )

    def facts(self) -> tuple[Fact, ...]:
        """Address, key fingerprint and concurrency for the session's record."""
        return (
            Fact("base_url", self.base_url),
            Fact("key_fingerprint", self._secret.fingerprint),
            Fact("concurrency", str(self.limits.concurrency)),
        )

    def redact(self, text: str) -> str:
        """``text`` without the key."""
        return self._secret.redact(text)

    def post(self, call: Callable[[openai.OpenAI], Any]) -> dict[str, Any]:
        """Perform ``call`` (which returns a raw response) in a place of its own and return the body's JSON object.

        Blocks until a place is free and the answer is there. The wait can be called off at any time; the abandoned
        request keeps its place until it ends by itself.

        Raises:
            RejectedError: for status 400 or 422.
            NoKey, EndpointDown, Cancelled, TransportFailure: as ``fm.errors`` describes.
        """
        self._take_a_place()
        done = threading.Event()
        outcome: list[dict[str, Any] | FmError | RejectedError] = []

        def work() -> None:
            try:
                outcome.append(self._perform(call))
            finally:
                self._places.release()
                done.set()

        # A daemon: an abandoned request must not hold up the end of the process.
        threading.Thread(target=work, name="fm-call", daemon=True).start()
        while not done.wait(POLL_SECONDS):
            self._raise_if_cancelled()
        result = outcome[0]
        if isinstance(result, Exception):
            raise result
        return result

    def close(self) -> None:
        """Call off waits and close connections."""
        if not self._closed.is_set():
            self._closed.set()
            self._client.close()

    def _take_a_place(self) -> None:
        self._raise_if_cancelled()
        while not self._places.acquire(timeout=POLL_SECONDS):
            self._raise_if_cancelled()
        if self._called_off():
            self._places.release()
            self._raise_if_cancelled()

    def _called_off(self) -> bool:
        return self._cancelled.is_set() or self._closed.is_set()

    def _raise_if_cancelled(self) -> None:
        if self._called_off():
            raise Cancelled("the call was cancelled before its answer came: resume asks again")

    def _perform(self, call: Callable[[openai.OpenAI], Any]) -> dict[str, Any] | FmError | RejectedError:
        """The body, or the failure as a value: raised here, it would carry the request and its headers along."""
        try:
            body = bytes(call(self._client).content)
        except openai.APIStatusError as error:
            return self._of_status(error.status_code, *self._told(error.response.content))
        except openai.APITimeoutError:
            return EndpointDown(
                f"{self.base_url} gave no answer within {self.limits.timeout_seconds:g} s "
                f"in {self.limits.retries + 1} tries: check the endpoint or raise timeout_seconds, then resume"
            )
        except openai.APIConnectionError as error:
            cause = self._short(str(error.__cause__ or error))
            return EndpointDown(f"cannot reach {self.base_url} ({cause}): start it or mend its URL, then resume")
        except Exception as error:
            # Whatever the client raises holds the request in its frames, so only its words go on.
            told = f"{type(error).__name__}: {self._short(str(error))}"
            return TransportFailure(f"the call to {self.base_url} failed ({told}): mend this, then resume")
        return self._object(body)

    def _object(self, body: bytes) -> dict[str, Any] | FmError:
        value = _decoded(body)
        if not isinstance(value, dict):
            shown = self._short(body.decode(errors="replace"))
            return TransportFailure(f"{self.base_url} answered no JSON object ({shown!r}): check its URL, then resume")
        if value.get("error"):
            code, message = self._told(body)
            return TransportFailure(f"{self.base_url} reports an error ({code} {message}): mend this, then resume")
        return value

    def _told(self, body: bytes) -> tuple[str, str]:
        """Error code and message in an error body of whatever form."""
        value = _decoded(body)
        if value is None:
            return "", self._short(body.decode(errors="replace"))
        error = value.get("error", value) if isinstance(value, dict) else value
        if isinstance(error, dict):
            message = error.get("message") or error.get("detail") or json.dumps(error)
            return self._short(str(error.get("code") or error.get("type") or "")), self._short(str(message))
        return "", self._short(error if isinstance(error, str) else json.dumps(error))

    def _short(self, text: str) -> str:
        # Redacted before it is cut: half a key is still a secret.
        line = " ".join(self.redact(text).split())
        return line if len(line) <= MAX_TOLD_CHARACTERS else line[: MAX_TOLD_CHARACTERS - 1] + "…"

    def _of_status(self, status: int, code: str, message: str) -> FmError | RejectedError:
        told = f"{self.base_url} answered {status} ({message})"
        if status in (400, 422):
            return RejectedError(status, code, message)
        if status in (401, 403):
            shown = f"{self._key_variable} (fingerprint {self._secret.fingerprint})"
            return NoKey(f"{told}: put a valid key into {shown}, then resume")
        if status == 404:
            return TransportFailure(f"{told}: check the base URL and the model's name, then resume")
        if status == 429:
            return TransportFailure(f"{told}: wait, lower the concurrency or raise the quota, then resume")
        if status >= 500:
            return EndpointDown(f"{told} in {self.limits.retries + 1} tries: resume when it works again")
        return TransportFailure(f"{told}: mend this, then resume")


def _decoded(body: bytes) -> Any:
    """The JSON value of a body, or ``None`` if it is not JSON."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _checked_url(text: str) -> str:
    # The address itself is not shown: it may hold a password.
    advice = "write it as http(s)://host[:port]/path, and put a key into its environment variable"
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable:
        raise TransportFailure(f"the base URL is no web address: {advice}")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise TransportFailure(f"the base URL holds credentials, a query or a fragment: {advice}")
    return text.rstrip("/")


def _is_local(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
