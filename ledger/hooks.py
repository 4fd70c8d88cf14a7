"""How single values are written and read: exactly their declared type, nothing converted, nothing lost."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable
from typing import Any

from ledger.blobs import Reference, StoredBody, StoredData, nowhere
from ledger.errors import Unencodable
from ledger.vocabulary.body import BLOB_THRESHOLD_BYTES, Body, Data
from ledger.vocabulary.path import Path

_DIGEST = re.compile(r"[0-9a-f]{64}")
_NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


# --- primitives ------------------------------------------------------------------------------------------------------


def put_exactly(kind: type) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if type(value) is not kind:
            name = kind.__name__
            raise Unencodable(f"expected {name}, got {type(value).__name__} {value!r:.80}. Convert it with {name}(…).")
        return value

    return check


def put_float(value: Any) -> Any:
    if type(value) is not float:
        raise Unencodable(f"expected float, got {type(value).__name__} {value!r:.80}. Convert it with float(…).")
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def get_float(value: Any, _: Any) -> float:
    if type(value) is float:
        return value
    if type(value) is int and abs(value) <= 2**53:
        return float(value)
    if type(value) is str and value in _NOT_FINITE:
        return _NOT_FINITE[value]
    raise ValueError(f"expected float, got {type(value).__name__} {value!r:.80}")


def get_exactly(kind: type) -> Callable[[Any, Any], Any]:
    def check(value: Any, _: Any) -> Any:
        if type(value) is not kind:
            raise ValueError(f"expected {kind.__name__}, got {type(value).__name__} {value!r:.80}")
        return value

    return check


def put_str(value: Any) -> Any:
    if type(value) is not str:
        raise Unencodable(f"expected str, got {type(value).__name__} {value!r:.80}. Convert it with str(…).")
    try:
        value.encode()
    except UnicodeEncodeError:
        # JSON escapes of two neighbouring surrogates would come back as one character.
        return _base64(value.encode("utf-8", "surrogatepass"))
    return value


def get_str(value: Any, _: Any) -> str:
    if type(value) is str:
        return value
    if type(value) is dict and list(value) == ["base64"]:
        return _bytes(value["base64"]).decode("utf-8", "surrogatepass")
    raise ValueError(f"expected str, got {type(value).__name__} {value!r:.80}")


def put_path(path: Any) -> str:
    if type(path) is not Path:
        raise Unencodable(f"expected Path, got {type(path).__name__} {path!r:.80}. Wrap it: Path(…).")
    return path.text


def get_path(value: Any, _: Any) -> Path:
    return Path(get_str(value, str))


def _base64(raw: bytes) -> dict[str, str]:
    return {"base64": base64.b64encode(raw).decode("ascii")}


def _bytes(text: Any) -> bytes:
    if type(text) is not str:
        raise ValueError(f"expected base64 text, got {type(text).__name__}")
    return base64.b64decode(text, validate=True)


# --- bodies ----------------------------------------------------------------------------------------------------------


def is_blob(body: Body | Data) -> bool:
    """Whether a body is stored apart from its event."""
    return isinstance(body, StoredBody | StoredData) or len(body.raw) > BLOB_THRESHOLD_BYTES


def put_body(body: Any) -> Any:
    if not isinstance(body, Body):
        raise Unencodable(f"expected Body, got {type(body).__name__} {body!r:.80}. Wrap the text: Body(text).")
    if is_blob(body):
        return {"blob": body.digest}
    text = put_str(body.text)
    return text if isinstance(text, dict) else {"text": text}


def put_data(data: Any) -> Any:
    if not isinstance(data, Data):
        raise Unencodable(f"expected Data, got {type(data).__name__} {data!r:.80}. Wrap the bytes: Data(raw).")
    return {"blob": data.digest} if is_blob(data) else _base64(data.raw)


def _reference(value: Any) -> Reference | None:
    if type(value) is dict and list(value) == ["blob"] and type(value["blob"]) is str:
        value = Reference(value["blob"], nowhere)
    if not isinstance(value, Reference):
        return None
    if not _DIGEST.fullmatch(value.digest):
        raise ValueError(f"{value.digest!r:.80} is no digest of a blob")
    return value


def get_body(value: Any, _: Any) -> Body:
    if reference := _reference(value):
        return StoredBody.at(reference)
    if type(value) is dict and list(value) == ["text"]:
        value = value["text"]
        if type(value) is str:
            return Body(value)
    elif type(value) is dict and list(value) == ["base64"]:
        return Body(get_str(value, str))
    raise ValueError(f'expected {{"text": …}}, {{"base64": …}} or {{"blob": …}}, got {value!r:.80}')


def get_data(value: Any, _: Any) -> Data:
    if reference := _reference(value):
        return StoredData.at(reference)
    if type(value) is dict and list(value) == ["base64"]:
        return Data(_bytes(value["base64"]))
    raise ValueError(f'expected {{"base64": …}} or {{"blob": …}}, got {value!r:.80}')
