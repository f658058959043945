"""How many people one process serves: 1, 10 and 50 sessions that keep moving the threshold, on loopback.

    python tests/benchmarks/bench_sessions.py           about two minutes
    python tests/benchmarks/bench_sessions.py --quick   1 and 10 sessions, under a minute

Each session is a client of the app's WebSocket that speaks Streamlit's protocol: it opens the Lab, then sets another
threshold about every two seconds, as a person does who looks at what changed, and waits until the page's fragment has
run. The clients run in a process of their own, so that they take no time from the server's. Measured: the time from
sending a threshold to the end of its run, the steps served a second, and the memory of the server's process. What a
browser then takes to draw is not in it; `bench_page.py` measures that for one session.

The second measurement has one session that asks again at once, without a pause: what one process can serve at all.

Ends with status 1 if a session fails, or if fifty sessions take more memory than `MEGABYTES` each.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from server import served
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect

ROOT = Path(__file__).parents[2]
SECONDS = 20  # that the sessions keep moving
PAUSE = 2.0  # seconds between two steps of a session, on average
MEGABYTES = 5  # of one session more, at most
MOST_WORDS = 1_500
START = 120  # seconds within which a server answers and a session opens


@dataclass
class Session:
    """One person at the Lab.

    :param address: host and port of the server.
    """

    address: str
    widget: str = ""
    fragment: str = ""
    steps: list[float] = field(default_factory=list)

    async def open(self) -> None:
        """Open the page and learn the names of its number and its fragment."""
        self.socket = await connect(f"ws://{self.address}/_stcore/stream", max_size=None, subprotocols=["streamlit"])
        message = BackMsg()
        message.rerun_script.query_string = ""
        await self.socket.send(message.SerializeToString())
        async with asyncio.timeout(START):
            await self.finished()
        if not self.widget or not self.fragment:
            raise RuntimeError("The page shows no number for word_count_threshold within a fragment")

    async def finished(self) -> None:
        """Read what the server says until the script, or its fragment, has run."""
        async for data in self.socket:
            message = ForwardMsg.FromString(data)
            kind = message.WhichOneof("type")
            if kind == "delta" and message.delta.WhichOneof("type") == "new_element":
                element = message.delta.new_element
                if element.WhichOneof("type") == "exception":
                    raise RuntimeError(element.exception.message)
                if element.WhichOneof("type") == "number_input" and "word_count_threshold" in element.number_input.id:
                    self.widget, self.fragment = element.number_input.id, message.delta.fragment_id
            elif kind == "script_finished" and message.script_finished in (
                ForwardMsg.FINISHED_SUCCESSFULLY,
                ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY,
            ):
                return

    async def step(self, words: int) -> None:
        """Set a threshold, and note the seconds until the fragment has run."""
        message = BackMsg()
        message.rerun_script.fragment_id = self.fragment
        state = message.rerun_script.widget_states.widgets.add()
        state.id, state.int_value = self.widget, words
        sent = time.perf_counter()
        await self.socket.send(message.SerializeToString())
        await self.finished()
        self.steps.append(time.perf_counter() - sent)


async def keep_moving(session: Session, until: float, pause: float, dice: random.Random) -> None:
    """Move the threshold until a time, with pauses of random length."""
    while time.perf_counter() < until:
        if pause:
            await asyncio.sleep(dice.uniform(0, 2 * pause))
        await session.step(dice.randint(1, MOST_WORDS))


async def people(address: str, count: int, pause: float) -> list[float]:
    """Let so many sessions move at once; give the seconds of all their steps."""
    sessions = [Session(address) for _ in range(count)]
    for session in sessions:
        await session.open()
    until = time.perf_counter() + SECONDS
    dice = random.Random(count)
    await asyncio.gather(*(keep_moving(session, until, pause, random.Random(dice.random())) for session in sessions))
    print("ready", flush=True)  # the server's memory is read while the sessions are open
    await asyncio.to_thread(sys.stdin.readline)
    for session in sessions:
        await session.socket.close()
    return [seconds for session in sessions for seconds in session.steps]


def megabytes(process: int) -> float:
    """Read the resident memory of a process, on Linux."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("/proc names no resident memory")


def measure(address: str, process: int, count: int, pause: float) -> tuple[list[float], float]:
    """Let a process of clients move so many sessions; give the seconds of their steps and the server's megabytes."""
    command = [sys.executable, __file__, "--clients", address, str(count), str(pause)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as clients:
        if clients.stdout.readline().strip() != "ready":
            clients.wait()
            sys.exit("A session failed, see above")
        memory = megabytes(process)
        said, _ = clients.communicate("\n")
    return json.loads(said), memory


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--quick", action="store_true", help="1 and 10 sessions only")
    options.add_argument("--clients", nargs=3, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.clients:
        address, count, pause = given.clients
        print(json.dumps(asyncio.run(people(address, int(count), float(pause)))))
        return
    counts = [1, 10] if given.quick else [1, 10, 50]
    missed = False
    with served(ROOT / "app.py") as (address, process):
        measure(address, process, 1, PAUSE)  # warms up: imports, caches, the vocabulary of the tokens
        base = megabytes(process)
        print(f"{'sessions':>8} {'steps/s':>8} {'median':>8} {'95th':>8} {'worst':>8} {'MB':>6} {'MB a session':>13}")
        for count in counts:
            steps, memory = measure(address, process, count, PAUSE)
            ordered = sorted(steps)
            each = (memory - base) / count
            missed |= each > MEGABYTES and count == max(counts)
            print(
                f"{count:8} {len(steps) / SECONDS:8.1f} {statistics.median(steps):7.3f}s "
                f"{ordered[int(0.95 * (len(ordered) - 1))]:7.3f}s {ordered[-1]:7.3f}s {memory:6.0f} {each:13.1f}"
            )
        steps, _ = measure(address, process, 1, 0.0)
        print(
            f"without a pause, one session: {len(steps) / SECONDS:.1f} steps/s, median {statistics.median(steps):.3f} s"
        )
    if missed:
        sys.exit(f"A session takes more than {MEGABYTES} MB")


if __name__ == "__main__":
    main()
