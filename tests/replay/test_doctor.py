"""The doctor: each trouble is found, told with a remedy, and hides no other."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from attrs import evolve

from replay import doctor as under_test
from replay.doctor import (
    Check,
    Report,
    check_compile_cache,
    check_embedder,
    check_endpoint,
    check_packages,
    check_space,
    check_writing,
    doctor,
)
from replay.exit_codes import ExitCode
from replay.fingerprint import versions
from replay.operational import Operational

KEY = "canary-key-that-must-not-be-shown"


def test_a_healthy_machine_passes_and_leaves_nothing_behind(tmp_path: Path) -> None:
    run = tmp_path / "runs" / "first"
    report = doctor(Operational(compile_cache_dir=str(tmp_path / "cache")), run, environ={})
    assert [check.name for check in report.checks] == [
        "packages",
        "device",
        "compile cache",
        "endpoint",
        "embedder",
        "disk space",
        "writing",
    ]
    assert report.exit_code is ExitCode.OK, report.text()
    assert list(tmp_path.iterdir()) == []
    told = json.loads(report.json())
    assert told["exit_code"] == 0
    assert [check["name"] for check in told["checks"]] == [check.name for check in report.checks]
    for check in report.checks:
        assert check.found in report.text()


def test_only_failures_decide_the_exit_code() -> None:
    fine = (Check("a", "ok", "x"), Check("b", "warning", "x", "do y"), Check("c", "skipped", "x"))
    assert Report(fine).exit_code is ExitCode.OK
    assert Report((*fine, Check("d", "failed", "x"))).exit_code is ExitCode.NO
    assert "-> do y" in Report(fine).text()


def test_a_check_that_breaks_is_a_finding_and_hides_no_other(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken() -> Check:
        raise RuntimeError("no backend\nfound")

    monkeypatch.setattr(under_test, "check_device", broken)
    report = doctor(folder=tmp_path, environ={})
    assert report.checks[1].status == "failed"
    assert report.checks[1].found == "RuntimeError: no backend found"
    assert report.checks[-1].status == "ok"


def test_other_versions_than_pinned_are_named(tmp_path: Path) -> None:
    pins = tmp_path / "constraints.txt"
    installed = versions(("attrs", "jax"))
    pins.write_text(f"# pins\nattrs=={installed['attrs']}\njax==0.0.1  # old\nno-such-package==1\n")
    check = check_packages(pins)
    assert check.status == "warning"
    assert f"jax {installed['jax']} (pinned 0.0.1)" in check.found
    assert "attrs" not in check.found
    pins.write_text(f"attrs=={installed['attrs']}\n")
    assert check_packages(pins) == Check("packages", "ok", "1 packages as pinned")
    assert check_packages(tmp_path / "nothing.txt").status == "skipped"


def test_a_needed_package_that_is_not_installed_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    wanted = ["attrs>=25", "no-such-package-at-all>=1", "also-missing; extra == 'test'"]
    monkeypatch.setattr(under_test.metadata, "requires", lambda _name: wanted)
    pins = tmp_path / "constraints.txt"
    pins.write_text("")
    check = check_packages(pins)
    assert (check.status, check.found) == ("failed", "not installed: no-such-package-at-all")


def test_the_compile_cache_is_measured(tmp_path: Path) -> None:
    assert "empty" in check_compile_cache(tmp_path / "cache").found
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "entry").write_bytes(b"x" * 3072)
    assert check_compile_cache(tmp_path).found == f"{tmp_path} (1 files, 3 KiB)"


class ModelList(BaseHTTPRequestHandler):
    """A server's list of models; the key decides."""

    def do_GET(self) -> None:
        known = self.headers.get("Authorization") == f"Bearer {KEY}" and self.path == "/v1/models"
        body = json.dumps({"data": [{"id": "small"}, {"id": "large"}]} if known else {"error": {"message": KEY}})
        self.send_response(200 if known else 401)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), ModelList) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()
        thread.join()


def test_an_endpoint_is_asked_only_when_it_is_configured(endpoint: str) -> None:
    assert check_endpoint(Operational(), {}).status == "skipped"
    assert check_endpoint(Operational(transport="mailbox"), {"OPENAI_BASE_URL": endpoint}).status == "skipped"
    check = check_endpoint(Operational(), {"OPENAI_BASE_URL": endpoint, "OPENAI_API_KEY": KEY})
    assert (check.status, check.found) == ("ok", f"{endpoint} answers and lists 2 models")


def test_a_model_that_the_endpoint_does_not_serve_is_told(endpoint: str) -> None:
    environ = {"OPENAI_BASE_URL": endpoint, "OPENAI_API_KEY": KEY, "OPENAI_MODEL": "smal"}
    check = check_endpoint(Operational(), environ)
    assert check.status == "warning"
    assert check.advice == "set OPENAI_MODEL to one of: large, small"
    assert check_endpoint(Operational(), environ | {"OPENAI_MODEL": "small"}).status == "ok"


def test_a_refused_key_fails_without_being_shown(endpoint: str) -> None:
    wrong = f"wrong-{KEY}"
    check = check_endpoint(Operational(), {"OPENAI_BASE_URL": endpoint, "OPENAI_API_KEY": wrong})
    assert check.status == "failed"
    assert "OPENAI_API_KEY" in check.found
    assert wrong not in check.found


def test_an_endpoint_that_is_down_fails() -> None:
    with HTTPServer(("127.0.0.1", 0), ModelList) as server:
        port = server.server_port
    check = check_endpoint(Operational(), {"OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1"})
    assert check.status == "failed"
    assert "cannot reach" in check.found
    bad = check_endpoint(Operational(), {"OPENAI_BASE_URL": "ftp://nowhere"})
    assert (bad.status, "http(s)://" in bad.found) == ("failed", True)


def test_the_offline_embedder_brings_its_weights() -> None:
    assert check_embedder().status == "ok"
    assert "256" in check_embedder().found


def test_little_space_warns_and_none_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Usage:
        free = 0

    monkeypatch.setattr(under_test.shutil, "disk_usage", lambda _folder: Usage)
    for free, status in (
        (under_test.TIGHT_BYTES - 1, "failed"),
        (under_test.ROOMY_BYTES - 1, "warning"),
        (2**40, "ok"),
    ):
        Usage.free = free
        assert check_space(tmp_path / "later").status == status


def test_a_folder_that_refuses_files_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    assert check_writing(tmp_path).status == "ok"
    monkeypatch.setattr(os, "fsync", full)
    check = check_writing(tmp_path)
    assert check == evolve(check, status="failed", found=f"{tmp_path}: No space left on device")
    assert list(tmp_path.iterdir()) == []
