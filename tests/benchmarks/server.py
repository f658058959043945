"""A page of Streamlit, served with the app's own configuration while a benchmark asks it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile

ROOT = Path(__file__).parents[2]
PATIENCE = 120  # seconds


@contextmanager
def served(script: Path) -> Iterator[tuple[str, int]]:
    """Serve a page on a free port of this machine; give host and port, and the server's process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.address=127.0.0.1"]
    command += [f"--server.port={address.rpartition(':')[2]}", "--server.headless=true"]
    command += ["--server.fileWatcherType=none", "--browser.gatherUsageStats=false"]
    environment = os.environ | {"HAYSTACK_TELEMETRY_ENABLED": "False"}
    with (
        TemporaryFile() as log,
        subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT) as server,
    ):
        try:
            deadline = time.monotonic() + PATIENCE
            while not _healthy(address):
                if server.poll() is not None or time.monotonic() > deadline:
                    log.seek(0)
                    raise SystemExit(f"{script.name} could not be served:\n{log.read().decode(errors='replace')}")
                time.sleep(0.1)
            yield address, server.pid
        finally:
            server.terminate()


def _healthy(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://{address}/_stcore/health", timeout=1) as answer:
            return answer.status == 200
    except OSError:
        return False
