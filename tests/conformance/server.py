"""A loopback server that fails in the ways that clients know, and remembers when each attempt came.

`/KEY/BEHAVIOUR` fails as the behaviour says, `/KEY/arrivals` answers with the instants at which attempts with that key
came, in seconds. An instant is taken before anything is answered, and a client can only begin to wait when it has the
answer: so the time between two instants is never shorter than the client's wait, however busy the machine is.
"""

import json
import socket
import struct
import threading
import time
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HANG_S = 2
"""How long a server hangs: so much longer than the clients' timeouts that these end first on a busy machine, too."""

ANSWERS: dict[str, tuple[int, dict[str, str], bytes]] = {
    "500": (500, {}, b""),
    "503": (503, {}, b""),
    "504": (504, {}, b""),
    "429": (429, {}, b""),
    "503-after": (503, {"Retry-After": "2"}, b""),
    "429-after": (429, {"Retry-After": "2"}, b""),
    "503-aws-after": (503, {"x-amz-retry-after": "2000"}, b""),
    "503-aws-long": (503, {"x-amz-retry-after": "60000"}, b""),
    "aws-throttled": (400, {}, b'{"__type": "ThrottlingException"}'),
}


class Handler(BaseHTTPRequestHandler):
    """Answers one attempt."""

    server: "FailingServer"

    def handle_one_request(self) -> None:
        """Passes over what a client that has gone away leaves behind."""
        try:
            super().handle_one_request()
        except ConnectionError:
            self.close_connection = True

    def do_GET(self) -> None:
        """Notes the attempt, and fails as its path says."""
        arrived = time.monotonic()
        # A client may put the path of its own operation behind that of the endpoint.
        key, behaviour = self.path.strip("/").split("/")[:2]
        if behaviour == "arrivals":
            self.answer(200, {}, json.dumps(self.server.seen(key)).encode())
            return
        self.server.note(key, arrived)
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if behaviour == "reset":
            # Closed without lingering, a connection is reset.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True
        elif behaviour == "hang":
            time.sleep(HANG_S)
            self.close_connection = True
        else:
            self.answer(*ANSWERS[behaviour])

    do_POST = do_GET

    def answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        """Sends one whole answer."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def finish(self) -> None:
        """Leaves a connection that was reset alone."""
        try:
            super().finish()
        except (OSError, ValueError):
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


class FailingServer(ThreadingHTTPServer):
    """The server on a free port of the loopback interface, in a thread of its own."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self._lock = threading.Lock()
        self._arrivals: defaultdict[str, list[float]] = defaultdict(list)
        # A socket that is bound and does not listen: connections to its port are refused, and nobody else gets it.
        self._refusing = socket.socket()
        self._refusing.bind(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self.serve_forever, daemon=True)

    @property
    def port(self) -> int:
        """Where it answers."""
        return self.server_address[1]

    @property
    def refusing_port(self) -> int:
        """Where nobody listens."""
        return self._refusing.getsockname()[1]

    def note(self, key: str, arrived: float) -> None:
        """Remembers an attempt."""
        with self._lock:
            self._arrivals[key].append(arrived)

    def seen(self, key: str) -> list[float]:
        """When the attempts with a key came."""
        with self._lock:
            return sorted(self._arrivals[key])

    def handle_error(self, request: object, client_address: object) -> None:
        """Passes over clients that have gone away."""

    def __enter__(self) -> "FailingServer":
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.shutdown()
        self._thread.join()
        self._refusing.close()
        self.server_close()
