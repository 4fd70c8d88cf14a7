"""A small HTTP server that answers what a test scripts, faults included."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from attrs import define, field, frozen


@frozen
class Answer:
    """One scripted answer; a text body is sent as it is, anything else as JSON. ``held`` is waited for first."""

    body: Any
    status: int = 200
    held: threading.Event | None = None


@define
class Script:
    """Answers in order, the last one for ever, and what was asked."""

    answers: list[Answer]
    url: str = ""
    bodies: list[dict[str, Any]] = field(factory=list)
    authorisations: list[str | None] = field(factory=list)
    under_way: int = 0
    most_under_way: int = 0
    lock: threading.Lock = field(factory=threading.Lock)


def chat(**message: Any) -> dict[str, Any]:
    """The body of a chat completion with one message."""
    finish = message.pop("finish_reason", "stop")
    return {
        "id": "1",
        "object": "chat.completion",
        "model": "scripted",
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    }


@contextmanager
def serving(*answers: Answer) -> Iterator[Script]:
    """Serve a script on this machine; ``Script.url`` is the base URL."""
    script = Script(list(answers))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with script.lock:
                answer = script.answers[min(len(script.bodies), len(script.answers) - 1)]
                script.bodies.append(body)
                script.authorisations.append(self.headers["Authorization"])
                script.under_way += 1
                script.most_under_way = max(script.most_under_way, script.under_way)
            if answer.held is not None:
                answer.held.wait(30)
            with script.lock:
                script.under_way -= 1
            raw = (answer.body if isinstance(answer.body, str) else json.dumps(answer.body)).encode()
            try:
                self.send_response(answer.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(raw)))
                self.send_header("Retry-After-Ms", "1")
                self.end_headers()
                self.wfile.write(raw)
            except (BrokenPipeError, ConnectionResetError):
                # The caller gave up, which is what some tests are about.
                self.close_connection = True

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    script.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield script
    finally:
        for answer in script.answers:
            if answer.held is not None:
                answer.held.set()
        server.shutdown()
        server.server_close()
        thread.join()
