"""The two workloads with SimPy: a process for each client or request, `simpy.Resource` for the workers of a tier.

SimPy cannot take a timeout back: those of attempts that were answered stay in its queue until they are due. It has no
public count of events either, so `events` is null.

    workloads.py storm CLIENTS
    workloads.py chain
"""

import json
import random
import sys
import time

import simpy

# The variant `full-jitter` of scenarios/backoff.toml.
STORM_RETRIES = 4
STORM_BASE = 1.0
STORM_CAP = 30.0

# benches/chain.toml.
HORIZON = 5.0
RATE = 10_000.0
WORKERS = 200
QUEUE_LIMIT = 2_000
SERVICE = 0.005
CHAIN_ATTEMPTS = 3
CHAIN_BASE = 0.05


class Counts:
    def __init__(self):
        self.requests = 0
        self.attempts = 0
        self.completed = 0


def full_jitter(generator, base, cap, retry):
    """Anything between zero and the exponential backoff of this retry, which counts from 1."""
    return generator.random() * min(base * 2.0 ** (retry - 1), cap)


class Unavailable(Exception):
    pass


class DownServer:
    def __init__(self, env):
        self.env = env

    def call(self):
        return self.env.event().fail(Unavailable())


def client(env, server, generator, counts):
    for attempt in range(1, STORM_RETRIES + 2):
        counts.attempts += 1
        try:
            yield server.call()
            counts.completed += 1
            return
        except Unavailable:
            if attempt <= STORM_RETRIES:
                yield env.timeout(full_jitter(generator, STORM_BASE, STORM_CAP, attempt))


def storm(clients):
    counts = Counts()
    env = simpy.Environment()
    generator = random.Random(42)
    server = DownServer(env)
    for _ in range(clients):
        counts.requests += 1
        env.process(client(env, server, generator, counts))
    env.run()
    return counts


class Caller:
    """Calls one service, each attempt with a timeout, and retries."""

    def __init__(self, env, service, timeout, generator, counts):
        self.env = env
        self.service = service
        self.timeout = timeout
        self.generator = generator
        self.counts = counts

    def call(self):
        for attempt in range(1, CHAIN_ATTEMPTS + 1):
            self.counts.attempts += 1
            answer = self.env.process(self.service.handle())
            # What the attempt has started goes on if its caller gives it up.
            yield answer | self.env.timeout(self.timeout)
            if answer.processed and answer.value:
                return True
            if attempt < CHAIN_ATTEMPTS:
                yield self.env.timeout(full_jitter(self.generator, CHAIN_BASE, float("inf"), attempt))
        return False


class Service:
    """Holds a worker for the service time and for the call to the service below, if there is one."""

    def __init__(self, env, generator, below=None):
        self.env = env
        self.generator = generator
        self.workers = simpy.Resource(env, capacity=WORKERS)
        self.below = below

    def handle(self):
        if self.workers.count == WORKERS and len(self.workers.queue) >= QUEUE_LIMIT:
            return False
        with self.workers.request() as worker:
            yield worker
            yield self.env.timeout(self.generator.expovariate(1 / SERVICE))
            if self.below is None:
                return True
            return (yield from self.below.call())


def request(caller, counts):
    if (yield from caller.call()):
        counts.completed += 1


def arrivals(env, caller, generator, counts):
    while True:
        yield env.timeout(generator.expovariate(RATE))
        counts.requests += 1
        env.process(request(caller, counts))


def chain():
    counts = Counts()
    env = simpy.Environment()
    generator = random.Random(42)
    back = Service(env, generator)
    middle = Service(env, generator, Caller(env, back, 0.1, generator, counts))
    front = Service(env, generator, Caller(env, middle, 0.4, generator, counts))
    web = Caller(env, front, 1.0, generator, counts)
    env.process(arrivals(env, web, generator, counts))
    env.run(until=HORIZON)
    return counts


def main(arguments):
    begun = time.process_time()
    if len(arguments) == 2 and arguments[0] == "storm":
        counts = storm(int(arguments[1]))
    elif arguments == ["chain"]:
        counts = chain()
    else:
        sys.exit(__doc__)
    line = {
        "peer": "simpy",
        "workload": arguments[0],
        "requests": counts.requests,
        "attempts": counts.attempts,
        "completed": counts.completed,
        "events": None,
        "cpu_s": time.process_time() - begun,
    }
    print(json.dumps(line))


if __name__ == "__main__":
    main(sys.argv[1:])
