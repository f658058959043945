"""A small Text Embeddings Inference server on loopback, which can also misbehave."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Score = Callable[[str, list[str]], list[float]]


@dataclass
class Tei:
    """A server under way.

    :param url: its address.
    :param status: what it answers with.
    :param body: what it answers, given the ranking it would have answered; None for that ranking.
    :param failures: how many requests are answered with `status` before it answers well; None for all.
    :param delay: seconds it waits before it answers.
    :param asked: the requests so far.
    """

    url: str = ""
    status: int = 200
    body: Callable[[list[dict]], object] | None = None
    failures: int | None = None
    delay: float = 0
    asked: list[dict] = field(default_factory=list)


@contextmanager
def serve(score: Score) -> Iterator[Tei]:
    """Serve `/rerank` on loopback.

    :param score: scores texts against a query.
    :returns: the server, to change how it answers.
    """
    tei = Tei()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            tei.asked.append({"path": self.path, "authorization": self.headers["Authorization"], **request})
            time.sleep(tei.delay)
            failing = tei.status != 200 and (tei.failures is None or len(tei.asked) <= tei.failures)
            if failing:
                answer: object = {"error": "overloaded", "error_type": "Overloaded"}
            else:
                scores = score(request["query"], request["texts"])
                order = sorted(range(len(scores)), key=lambda index: -scores[index])
                answer = [{"index": index, "score": scores[index]} for index in order]
                if tei.body:
                    answer = tei.body(answer)
            data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            try:
                self.send_response(tei.status if failing else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
            except BrokenPipeError:
                pass  # the client gave up, as it should

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    tei.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield tei
    finally:
        server.shutdown()
        server.server_close()
