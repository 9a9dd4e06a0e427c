"""botocore, before the AWS SDKs changed how they retry on 2026-11-10 and after."""

from contextlib import suppress
from functools import partial
from types import SimpleNamespace
from typing import Any

import botocore.session
from botocore import configprovider, retryhandler, translate
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.retries import standard
from measuring import KINDS, Measuring, Sweep, skipped_sleeps, swept_random, timeout_for, window

CALLS = 120
"""Enough for what is left of the quota to be refused, even if two retries go to each call."""
CALLS_IN_TIME = 30
"""The same where each attempt takes its timeout, and each retry twice as much of the quota."""


class Client:
    """One client object, and with it one quota."""

    def __init__(self, target: str, mode: str | None, service: str = "kms") -> None:
        self._service = service
        session = botocore.session.get_session()
        session.set_credentials("nobody", "nothing")
        timeout = timeout_for(target.rpartition("/")[2])
        retries = {"mode": mode} if mode else {}
        config = Config(connect_timeout=timeout, read_timeout=timeout, retries=retries)
        self._client: Any = session.create_client(service, region_name="eu-west-1", endpoint_url=target, config=config)

    def call(self) -> None:
        """Makes one call that fails."""
        with suppress(BotoCoreError, ClientError):
            self._client.list_keys() if self._service == "kms" else self._client.list_tables()


def attempts(measuring: Measuring, mode: str | None, service: str = "kms") -> int:
    """The number of attempts of one call."""
    with skipped_sleeps():
        Client(measuring.target("503"), mode, service).call()
    return len(measuring.arrivals())


def retried(measuring: Measuring, mode: str | None) -> list[str]:
    """The failures after which a call is tried again."""
    kinds = []
    for kind in KINDS:
        with skipped_sleeps() as slept:
            Client(measuring.target(kind), mode).call()
        if slept:
            kinds.append(kind)
    return kinds


def bought(measuring: Measuring, mode: str | None, behaviour: str, calls: int) -> int:
    """The number of retries that the quota of one client object pays."""
    client = Client(measuring.target(behaviour), mode)
    with skipped_sleeps():
        for _ in range(calls):
            client.call()
    return len(measuring.arrivals()) - calls


def legacy_schedule(service: str, retries: int) -> list[dict[str, float]]:
    """The windows of the legacy mode's waits."""
    data = botocore.session.get_session().get_component("data_loader").load_data("_retry")
    config = translate.build_retry_config(service, data["retry"], data["definitions"])
    delay = retryhandler.create_retry_action_from_config(config)
    with swept_random():
        return [window(partial(delay, attempts=retry)) for retry in range(1, retries + 1)]


def standard_schedule(service: str, code: str, retries: int, retry_after: str | None = None) -> list[dict[str, float]]:
    """The windows of the standard mode's waits after errors with this code."""
    backoff = standard.ExponentialBackoff(
        random=Sweep(),
        service_name=service,
        throttling_detector=standard.ThrottlingErrorDetector(standard.RetryEventAdapter()),
    )
    headers = {} if retry_after is None else {"x-amz-retry-after": retry_after}
    windows = []
    for retry in range(1, retries + 1):
        context = standard.RetryContext(
            attempt_number=retry,
            parsed_response={"Error": {"Code": code}},
            http_response=SimpleNamespace(status_code=503, headers=headers),
        )
        windows.append(window(partial(backoff.delay_amount, context)))
    return windows


def measure_legacy(measuring: Measuring, case: str) -> None:
    """The legacy mode, which was the default."""
    measuring.tell(case, attempts=attempts(measuring, None), waits=legacy_schedule("kms", 4))
    measuring.tell(case, retried=retried(measuring, None), tried=KINDS)
    dynamodb = attempts(measuring, None, "dynamodb")
    measuring.tell(f"{case} dynamodb", attempts=dynamodb, waits=legacy_schedule("dynamodb", 9))
    measuring.tell(f"{case} quota", retries=bought(measuring, None, "503", CALLS))


def measure_standard(measuring: Measuring, case: str, mode: str | None) -> None:
    """The standard mode; without a mode it is the default."""
    measuring.tell(case, attempts=attempts(measuring, mode), waits=standard_schedule("kms", "503", 2))
    measuring.tell(f"{case} cap", waits=standard_schedule("kms", "503", 10))
    measuring.tell(case, retried=retried(measuring, mode), tried=KINDS)
    measuring.tell(f"{case} throttled", waits=standard_schedule("kms", "Throttling", 2))
    measuring.tell(f"{case} quota", retries=bought(measuring, mode, "503", CALLS))
    measuring.tell(f"{case} quota throttled", retries=bought(measuring, mode, "aws-throttled", CALLS))
    measuring.tell(f"{case} quota timeouts", retries=bought(measuring, mode, "hang", CALLS_IN_TIME))
    calls = []
    for _ in range(3):
        Client(measuring.target("503"), mode).call()
        calls.append(measuring.gaps())
    measuring.tell(f"{case} waiting", gaps=calls, attempts=len(calls[0]) + 1)


def measure_since_2026(measuring: Measuring, case: str) -> None:
    """What only the newer behaviour has."""
    dynamodb = attempts(measuring, None, "dynamodb")
    measuring.tell(f"{case} dynamodb", attempts=dynamodb, waits=standard_schedule("dynamodb", "503", 3))
    for name, asked in (("hint", "2000"), ("long hint", "60000")):
        first = standard_schedule("kms", "503", 1, asked)[0]
        measuring.tell(f"{case} {name}", after={"mean": first["mean"], "most": first["most"]})


def main() -> None:
    """Measures what this release does by default, and the other mode if it has one."""
    measuring = Measuring("botocore")
    if not configprovider.NEW_RETRIES_ENABLED:
        measure_legacy(measuring, "botocore legacy")
        measure_standard(measuring, "botocore before", "standard")
    elif hasattr(configprovider, "_resolve_new_retries"):
        # The release before, with the switch for testers.
        measuring.tell("botocore switched", attempts=attempts(measuring, None))
        measuring.tell("botocore switched quota", retries=bought(measuring, None, "503", CALLS))
    else:
        measure_standard(measuring, "botocore since", None)
        measure_since_2026(measuring, "botocore since")


if __name__ == "__main__":
    main()
