# Carries out the steps of the shared scenario as sdks/scenarios/README.md defines them.
# Anything it does not know is a failure; nothing is skipped.

from __future__ import annotations

import base64
import os
import secrets
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx

import tranche
import tranche.webhooks
from operations import OPERATIONS
from scenario_drivers import Cancelled, Driver, Settings
from scenario_json import differences, fill, take
from tranche.types import ApiResponse

PARALLEL = 8
RECEIVE_SECONDS = 20

_FIELDS = {
    "call": {"operation", "client", "path", "query", "body", "options", "faults", "raw_header", "cancel_after_ms"},
    "repeat": {"times", "step"},
    "paginate": {"operation", "client", "path", "query", "faults", "take"},
    "exhaust": {"at_most", "step"},
    "webhook": {"check", "payload", "payload_base64", "headers", "secrets", "now", "tolerance_seconds"},
    "receive": {"at", "event", "secrets"},
    "gap": {"last_seq", "event_types", "observe"},
}


class Outcome:
    """How a call ended."""

    def __init__(self, result: Any, response: ApiResponse | None, error: dict[str, Any] | None, seconds: float) -> None:
        self.result = result
        self.response = response
        self.error = error
        self.seconds = seconds


class Runner:
    """One run of the scenario with one client."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._control = httpx.Client(base_url=os.environ["TRANCHE_CONTROL_URL"], timeout=40)
        self._variables: dict[str, Any] = {
            "run": secrets.token_hex(5),
            "sdk": "python",
            "receiver_url": os.environ["TRANCHE_RECEIVER_URL"],
        }

    def close(self) -> None:
        self._driver.close()
        self._control.close()

    def step(self, step: dict[str, Any]) -> None:
        kind = step["kind"]
        unknown = set(step) - {"kind", "name", "expect", "capture"} - _FIELDS[kind]
        assert not unknown, f"{kind} has fields that this runner does not know: {unknown}"
        run: Callable[[dict[str, Any]], Any] = getattr(self, f"_{kind}")
        result = run(step)
        for name, path in step.get("capture", {}).items():
            self._variables[name] = take(result, path)

    def _call(self, raw: dict[str, Any]) -> Any:
        step = fill(raw, self._variables)
        self._arm(step)
        outcome = self._ask(step)
        expect = step["expect"]
        assert ("result" in expect) != ("error" in expect), "A call expects a result or an error."
        _check_known(expect, {"result", "error", "response", "exchanges"})
        if "error" in expect:
            _match(expect["error"], outcome.error, "error")
        else:
            assert outcome.error is None, outcome.error
            _match(expect["result"], outcome.result, "result")
        if "response" in expect:
            assert outcome.response is not None
            _match(expect["response"], _response(outcome.response), "response")
        self._check_exchanges(expect.get("exchanges"), outcome.seconds)
        return outcome.result

    def _repeat(self, raw: dict[str, Any]) -> None:
        def once(index: int) -> None:
            step = fill(raw["step"], {**self._variables, "index": index})
            outcome = self._ask(step)
            assert outcome.error is None, outcome.error
            _match(step["expect"]["result"], outcome.result, f"result {index}")

        assert raw["step"]["kind"] == "call"
        with ThreadPoolExecutor(PARALLEL) as pool:
            list(pool.map(once, range(raw["times"])))

    def _exhaust(self, raw: dict[str, Any]) -> None:
        step = fill(raw["step"], self._variables)
        done = 0
        with ThreadPoolExecutor(PARALLEL) as pool:
            while done < raw["at_most"]:
                for outcome in pool.map(self._ask, [step] * PARALLEL):
                    if outcome.error is not None:
                        _match(raw["expect"]["error"], outcome.error, "error")
                        return
                done += PARALLEL
        raise AssertionError(f"None of {done} calls failed.")

    def _paginate(self, raw: dict[str, Any]) -> None:
        step = fill(raw, self._variables)
        self._arm(step)
        began = time.monotonic()
        resource, method, args, kwargs = _addressed(step)
        items = self._driver.walk(self._settings(step), resource, method, args, kwargs, step.get("take"))
        found = [item.to_dict() for item in items]
        expect = step["expect"]
        _check_known(expect, {"count", "first", "last", "each", "exchanges"})
        assert len(found) == expect["count"]
        ids = [item["id"] for item in found if "id" in item]
        assert len(set(ids)) == len(ids)
        if "first" in expect:
            _match(expect["first"], found[0], "first")
        if "last" in expect:
            _match(expect["last"], found[-1], "last")
        for item in found:
            _match(expect.get("each", {}), item, "each")
        self._check_exchanges(expect.get("exchanges"), time.monotonic() - began)

    def _webhook(self, raw: dict[str, Any]) -> Any:
        step = fill(raw, self._variables)
        body = base64.b64decode(step["payload_base64"]) if "payload_base64" in step else step["payload"].encode()
        check = {"event": tranche.webhooks.verify, "signature": tranche.webhooks.verify_signature}[step["check"]]
        try:
            event: Any = check(
                body, step["headers"], step["secrets"], tolerance=step.get("tolerance_seconds", 300), now=step["now"]
            )
        except tranche.WebhookVerificationError as error:
            _match(step["expect"].get("error"), _error(error), "error")
            return None
        if step["check"] == "signature":
            assert step["expect"] == {"ok": True}
            return None
        _match(step["expect"]["event"], event.to_dict(), "event")
        return event.to_dict()

    def _receive(self, raw: dict[str, Any]) -> Any:
        step = fill(raw, self._variables)
        deadline = time.monotonic() + RECEIVE_SECONDS
        count = 1
        while True:
            left = max(0, int((deadline - time.monotonic()) * 1000))
            query = {"path": step["at"], "count": count, "wait_ms": left}
            received = self._control.get("/received", params=query).json()["received"]
            for one in received:
                body = base64.b64decode(one["body_base64"])
                event = tranche.webhooks.verify(body, one["headers"], step["secrets"])
                if event.event == step["event"]:
                    _match(step["expect"]["event"], event.to_dict(), "event")
                    return event.to_dict()
            assert left > 0, f"No webhook {step['event']} came to {step['at']}."
            count = len(received) + 1

    def _gap(self, raw: dict[str, Any]) -> None:
        step = fill(raw, self._variables)
        numbers = [(one.get("seq"), one.get("prev_seq")) for one in step["observe"]]
        seen = self._driver.observe(step.get("last_seq"), step.get("event_types"), numbers)
        actual = [
            {"duplicate": duplicate, "missing": [event.to_dict() for event in missing]} for duplicate, missing in seen
        ]
        _match(step["expect"], actual, "observations")

    def _ask(self, step: dict[str, Any]) -> Outcome:
        resource, method, args, kwargs = _addressed(step)
        settings = self._settings(step)
        began = time.monotonic()
        try:
            if "cancel_after_ms" in step:
                seconds = step["cancel_after_ms"] / 1000
                self._driver.cancelled_call(settings, resource, method, args, kwargs, seconds)
                raise AssertionError("The call was not cancelled.")
            result, response = self._driver.call(settings, resource, method, args, kwargs)
        except Cancelled:
            # Python has no error of ours for this: asyncio's and the interpreter's own pass through.
            return Outcome(None, None, {"class": "ApiAbortedError"}, time.monotonic() - began)
        except tranche.TrancheError as error:
            return Outcome(None, None, _error(error), time.monotonic() - began)
        shown = None if result is None else result.to_dict()
        return Outcome(shown, response, None, time.monotonic() - began)

    def _settings(self, step: dict[str, Any]) -> Settings:
        client = dict(step.get("client", {}))
        _check_known(client, {"via", "api_key", "max_retries", "timeout_ms"})
        settings: dict[str, Any] = {}
        if client.get("via") == "proxy":
            settings["base_url"] = os.environ["TRANCHE_PROXY_URL"]
        if "timeout_ms" in client:
            settings["timeout"] = client["timeout_ms"] / 1000
        settings.update({name: client[name] for name in ("api_key", "max_retries") if name in client})
        return tuple(sorted(settings.items()))

    def _arm(self, step: dict[str, Any]) -> None:
        if "faults" in step or step.get("client", {}).get("via") == "proxy":
            self._control.post("/reset").raise_for_status()
            for fault in step.get("faults", []):
                self._control.post("/faults", json=fault).raise_for_status()

    def _check_exchanges(self, expect: dict[str, Any] | None, seconds: float) -> None:
        if expect is None:
            return
        _check_known(expect, {"count", "at_least", "idempotency_keys", "user_agent", "took_at_least_ms"})
        exchanges: list[dict[str, Any]] = self._control.get("/exchanges").json()["exchanges"]
        if "count" in expect:
            assert len(exchanges) == expect["count"], exchanges
        assert len(exchanges) >= expect.get("at_least", 0), exchanges
        if "idempotency_keys" in expect:
            keys = {one["headers"].get("idempotency-key") for one in exchanges} - {None}
            assert len(keys) == expect["idempotency_keys"], keys
        if "user_agent" in expect:
            for one in exchanges:
                assert one["headers"]["user-agent"].startswith(expect["user_agent"])
        assert seconds * 1000 >= expect.get("took_at_least_ms", 0)


def _addressed(step: dict[str, Any]) -> tuple[str, str, list[str], dict[str, Any]]:
    resource, method, path = OPERATIONS[step["operation"]]
    args = [step["path"][name] for name in path]
    assert set(step.get("path", {})) == set(path)
    options = dict(step.get("options", {}))
    if "raw_header" in step:
        options["headers"] = step["raw_header"]
    return resource, method, args, {**step.get("query", {}), **step.get("body", {}), **options}


def _response(response: ApiResponse) -> dict[str, Any]:
    limit = response.rate_limit
    return {
        "status": response.status_code,
        "headers": dict(response.headers.items()),
        "request_id": response.request_id,
        "rate_limit": {"limit": limit.limit, "remaining": limit.remaining, "reset_seconds": limit.reset_seconds},
        "replayed": response.idempotent_replayed,
    }


def _error(error: tranche.TrancheError) -> dict[str, Any]:
    told: dict[str, Any] = {"class": type(error).__name__}
    if isinstance(error, tranche.ApiError):
        told |= {name: getattr(error, name) for name in ("code", "status", "request_id", "detail")}
        told["retry_after_seconds"] = error.retry_after_seconds
        told["field_errors"] = [vars(one) for one in error.field_errors]
    if isinstance(error, tranche.WebhookVerificationError):
        told["reason"] = error.reason
    return told


def _check_known(given: dict[str, Any], known: set[str]) -> None:
    assert set(given) <= known, f"This runner does not know {set(given) - known}."


def _match(expected: Any, actual: Any, what: str) -> None:
    lines = differences(expected, actual, what)
    assert not lines, "\n".join(lines)
