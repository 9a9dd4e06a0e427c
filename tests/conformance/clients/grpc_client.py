"""gRPC's C core by way of grpcio: its waits cannot be had without waiting, so there are many at once."""

import json
import threading
import time
from collections import defaultdict
from concurrent import futures

import grpc
from measuring import Measuring, gaps

CALLS = 20
"""So many calls at once."""
ROUNDS = 4
"""The calls of a round wait together, and a pause of the machine makes all of their waits longer: there are others."""
POLICY: dict[str, object] = {
    "maxAttempts": 4,
    "initialBackoff": "0.1s",
    "maxBackoff": "1s",
    "backoffMultiplier": 2,
    "retryableStatusCodes": ["UNAVAILABLE"],
}
DEADLINE_S = 20


class Failing(grpc.GenericRpcHandler):
    """Answers with the status that the method's name says, and notes when an attempt came.

    It is noted before anything is answered: a time between two attempts is never shorter than the client's wait.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.arrivals: defaultdict[str, list[float]] = defaultdict(list)

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:
        arrived = time.monotonic()
        _, call, status = details.method.split("/")
        with self._lock:
            self.arrivals[call].append(arrived)

        def answer(_: bytes, context: grpc.ServicerContext) -> None:
            context.abort(grpc.StatusCode[status], "as asked")

        return grpc.unary_unary_rpc_method_handler(answer)


class Server:
    """A server on a free port of the loopback interface."""

    def __init__(self) -> None:
        self._failing = Failing()
        self._server = grpc.server(futures.ThreadPoolExecutor(max_workers=8))
        self._server.add_generic_rpc_handlers((self._failing,))
        self._port = self._server.add_insecure_port("127.0.0.1:0")
        self._server.start()

    def stop(self) -> None:
        """Ends it."""
        self._server.stop(None).wait()

    def calls(self, config: dict[str, object], status: str, count: int, at_once: bool) -> list[list[float]]:
        """When the attempts of so many calls through a new channel came, call by call."""
        self._failing.arrivals.clear()
        options = [("grpc.service_config", json.dumps(config)), ("grpc.use_local_subchannel_pool", 1)]
        with grpc.insecure_channel(f"127.0.0.1:{self._port}", options=options) as channel:
            pending: list[grpc.Future] = []
            for call in range(count):
                pending.append(channel.unary_unary(f"/{call}/{status}").future(b"", timeout=DEADLINE_S))
                if not at_once:
                    pending[-1].exception()
            for answer in pending:
                answer.exception()
        return [sorted(self._failing.arrivals[str(call)]) for call in range(count)]


def with_policy(**changes: object) -> dict[str, object]:
    """A service config with the policy, in which these values are different."""
    policy: dict[str, object] = {**POLICY, **changes}
    return {"methodConfig": [{"name": [{}], "retryPolicy": policy}]}


def measure_waits(measuring: Measuring, server: Server, case: str, config: dict[str, object]) -> None:
    """The waits of many calls."""
    rounds = [
        [gaps(instants) for instants in server.calls(config, "UNAVAILABLE", CALLS, at_once=True)] for _ in range(ROUNDS)
    ]
    measuring.tell(case, rounds=rounds, attempts=len(rounds[0][0]) + 1)


def measure_throttle(measuring: Measuring, server: Server, case: str, max_tokens: int, at_once: bool) -> None:
    """How many retries a channel has when no call succeeds."""
    calls = 20
    # The shortest backoff that is safe: with one of 1 ms calls may hang (grpc/grpc, issue 41036).
    config = {
        **with_policy(initialBackoff="0.02s", maxBackoff="0.02s"),
        "retryThrottling": {"maxTokens": max_tokens, "tokenRatio": 0.1},
    }
    attempts = sum(len(instants) for instants in server.calls(config, "UNAVAILABLE", calls, at_once))
    measuring.tell(case, retries=attempts - calls)


def main() -> None:
    """Measures, one case after another."""
    measuring = Measuring("grpcio")
    server = Server()
    try:
        measure_waits(measuring, server, "grpc policy", with_policy())
        measure_waits(measuring, server, "grpc cap", with_policy(maxAttempts=5, maxBackoff="0.3s"))
        first_above = with_policy(maxAttempts=3, initialBackoff="0.4s", maxBackoff="0.1s")
        measure_waits(measuring, server, "grpc first above cap", first_above)
        ten = server.calls(with_policy(maxAttempts=10, maxBackoff="0.1s"), "UNAVAILABLE", 1, at_once=False)
        measuring.tell("grpc ten attempts", attempts=len(ten[0]))
        kinds = ["UNAVAILABLE", "RESOURCE_EXHAUSTED", "INTERNAL", "DEADLINE_EXCEEDED"]
        short = with_policy(initialBackoff="0.02s", maxBackoff="0.02s")
        retried = [kind for kind in kinds if len(server.calls(short, kind, 1, at_once=False)[0]) > 1]
        measuring.tell("grpc policy", retried=retried, tried=kinds)
        measure_throttle(measuring, server, "grpc throttle", 10, at_once=False)
        measure_throttle(measuring, server, "grpc throttle at once", 10, at_once=True)
        measure_throttle(measuring, server, "grpc small throttle", 2, at_once=False)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
