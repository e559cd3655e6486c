# The drop-in receivers: Flask, FastAPI and plain ASGI answer alike.

from __future__ import annotations

import time
from collections.abc import Callable
from io import BytesIO
from typing import Any

import anyio
import fastapi
import flask
import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from test_webhooks import BODY, OTHER, SECRET, signed
from tranche._receiving import MAX_BODY_BYTES
from tranche.asgi import WebhookApp
from tranche.fastapi import webhook
from tranche.flask import webhook_view
from tranche.types import WebhookEvent

Handler = Callable[[WebhookEvent], None]
Post = Callable[[bytes, dict[str, str]], int]


def flask_receiver(secret: Any, on_event: Handler) -> Post:
    app = flask.Flask("receiver")
    app.add_url_rule("/hooks", view_func=webhook_view(secret, on_event), methods=["POST"])
    client = app.test_client()
    return lambda body, headers: client.post("/hooks", data=body, headers=headers).status_code


def through_asgi(app: Any) -> Post:
    async def send(body: bytes, headers: dict[str, str]) -> int:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://receiver") as client:
            return (await client.post("/hooks", content=body, headers=headers)).status_code

    return lambda body, headers: anyio.run(send, body, headers)


def fastapi_receiver(secret: Any, on_event: Handler) -> Post:
    app = fastapi.FastAPI()
    verified = fastapi.Depends(webhook(secret))

    async def receive(event: Any = verified) -> None:
        on_event(event)

    app.add_api_route("/hooks", receive, methods=["POST"])
    return through_asgi(app)


def asgi_receiver(secret: Any, on_event: Handler) -> Post:
    return through_asgi(WebhookApp(secret, on_event))


def async_asgi_receiver(secret: Any, on_event: Handler) -> Post:
    async def handle(event: WebhookEvent) -> None:
        on_event(event)

    return through_asgi(Starlette(routes=[Route("/hooks", WebhookApp(secret, handle), methods=["POST"])]))


@pytest.fixture(
    params=[flask_receiver, fastapi_receiver, asgi_receiver, async_asgi_receiver], ids=lambda one: one.__name__
)
def receiver(request: pytest.FixtureRequest) -> Callable[[Any, Handler], Post]:
    made: Callable[[Any, Handler], Post] = request.param
    return made


def test_a_webhook_that_verifies_is_handled_and_answered_200(receiver: Callable[[Any, Handler], Post]) -> None:
    events: list[WebhookEvent] = []
    post = receiver(SECRET, events.append)
    assert post(BODY, signed(at=int(time.time()), tranche_seq="7")) == 200
    assert [(one.id, one.event, one.seq) for one in events] == [("evt_1", "payment.released", 7)]


def test_a_webhook_that_does_not_verify_is_answered_400_and_not_handled(
    receiver: Callable[[Any, Handler], Post],
) -> None:
    events: list[WebhookEvent] = []
    post = receiver(SECRET, events.append)
    now = int(time.time())
    assert post(BODY + b" ", signed(at=now)) == 400
    assert post(BODY, signed(at=now - 400)) == 400
    assert post(BODY, {}) == 400
    assert post(b"x" * (MAX_BODY_BYTES + 1), signed(at=now)) == 413
    assert events == []


@pytest.mark.parametrize("chunked", [False, True])
def test_the_flask_view_finds_a_body_that_was_read_before_it_and_leaves_it_to_those_after_it(chunked: bool) -> None:
    events: list[WebhookEvent] = []
    read: list[bytes] = []
    app = flask.Flask("receiver")
    app.add_url_rule("/hooks", view_func=webhook_view(SECRET, events.append), methods=["POST"])

    def read_body() -> None:
        read.append(flask.request.get_data())

    app.before_request(read_body)
    client = app.test_client()

    def post(body: bytes) -> int:
        headers = signed(at=int(time.time()))
        if not chunked:
            return client.post("/hooks", data=body, headers=headers).status_code
        environ = {"wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"}
        return client.post("/hooks", input_stream=BytesIO(body), headers=headers, environ_overrides=environ).status_code

    assert post(BODY) == 200
    assert len(events) == 1
    assert read == [BODY]
    assert post(b"x" * (MAX_BODY_BYTES + 1)) == 413


def test_the_flask_view_reads_no_more_than_a_webhook_may_have_however_it_comes() -> None:
    app = flask.Flask("receiver")
    events: list[WebhookEvent] = []
    app.add_url_rule("/hooks", view_func=webhook_view(SECRET, events.append), methods=["POST"])
    endless = BytesIO(b"x" * (3 * MAX_BODY_BYTES))
    read: list[int] = []

    def look(response: flask.Response) -> flask.Response:
        read.append(endless.tell())
        return response

    app.after_request(look)

    def post(stream: BytesIO) -> int:
        environ = {"wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"}
        headers = signed(at=int(time.time()))
        return (
            app.test_client()
            .post("/hooks", input_stream=stream, headers=headers, environ_overrides=environ)
            .status_code
        )

    assert post(BytesIO(BODY)) == 200
    assert post(endless) == 413
    assert read[-1] < 2 * MAX_BODY_BYTES
    assert len(events) == 1


@pytest.mark.parametrize("tolerance", [float("nan"), float("inf"), -1])
def test_a_receiver_with_a_useless_tolerance_is_not_made(tolerance: float) -> None:
    makers: list[Callable[[], object]] = [
        lambda: webhook_view(SECRET, print, tolerance=tolerance),
        lambda: WebhookApp(SECRET, lambda _: None, tolerance=tolerance),
        lambda: webhook(SECRET, tolerance=tolerance),
    ]
    for make in makers:
        with pytest.raises(ValueError, match="tolerance"):
            make()


def test_secrets_may_change_while_it_runs(receiver: Callable[[Any, Handler], Post]) -> None:
    events: list[WebhookEvent] = []
    secrets = [OTHER]
    post = receiver(lambda: secrets, events.append)
    assert post(BODY, signed(at=int(time.time()))) == 400
    secrets.append(SECRET)
    assert post(BODY, signed(at=int(time.time()))) == 200


def test_a_handler_that_fails_is_a_500_so_that_the_webhook_comes_again(
    receiver: Callable[[Any, Handler], Post],
) -> None:
    def fail(_: WebhookEvent) -> None:
        raise RuntimeError("the books are closed")

    assert receiver(SECRET, fail)(BODY, signed(at=int(time.time()))) == 500
    # A secret that we have wrong is our mistake: a 400 would look like the sender's.
    assert receiver("whsec_!", fail)(BODY, signed(at=int(time.time()))) == 500


def test_the_asgi_app_answers_alone_to_start_and_other_methods() -> None:
    app = WebhookApp(SECRET, lambda _: None)
    sent: list[Any] = []
    messages = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])

    async def receive() -> Any:
        return next(messages)

    async def send(message: Any) -> None:
        sent.append(message)

    async def run() -> int:
        await app({"type": "lifespan"}, receive, send)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://receiver") as client:
            return (await client.get("/hooks")).status_code

    assert anyio.run(run) == 405
    assert [one["type"] for one in sent] == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
