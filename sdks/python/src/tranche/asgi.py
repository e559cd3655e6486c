# A webhook receiver as an ASGI application: for Starlette, FastAPI, Quart, or on its own under any ASGI server.
# Needs no framework.

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import anyio.to_thread

from ._errors import WebhookVerificationError
from ._generated.webhooks import WebhookEvent
from ._receiving import DEFAULT_TOLERANCE_SECONDS, MAX_BODY_BYTES, Secrets, check_tolerance, receive, refusal

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class WebhookApp:
    """
    Answers webhooks: 200 when `on_event` returned, 400 when the webhook does not verify.

        app.add_route("/webhooks/tranche", WebhookApp(secret, on_event), methods=["POST"])

    Register it at the exact path (not with `mount`, which redirects; a webhook is not sent again to where a redirect
    points). An exception of `on_event` becomes the framework's 500, and the webhook comes again.

    :param secret: the endpoint's secret, several, or a function that gives them.
    :param on_event: called with each event; a plain function runs in a thread of its own.
    :param tolerance: how many seconds the webhook's time may differ from ours.
    """

    def __init__(
        self,
        secret: Secrets,
        on_event: Callable[[WebhookEvent], Awaitable[None] | None],
        *,
        tolerance: float = DEFAULT_TOLERANCE_SECONDS,
    ) -> None:
        check_tolerance(tolerance)
        self._secret = secret
        self._on_event = on_event
        self._tolerance = tolerance

    async def __call__(self, scope: Scope, receive_message: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _live(receive_message, send)
            return
        if scope["type"] != "http":
            raise ValueError("WebhookApp answers HTTP only.")
        if scope["method"] != "POST":
            await _answer(send, 405, "Webhooks are sent with POST.\n", (b"allow", b"POST"))
            return
        body = await _read(receive_message)
        if body is None:
            await _answer(send, 413, "The body is too large for a webhook.\n")
            return
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
        try:
            event = receive(body, headers, self._secret, self._tolerance)
        except WebhookVerificationError as error:
            await _answer(send, 400, refusal(error))
            return
        await self._handle(event)
        await _answer(send, 200, "")

    async def _handle(self, event: WebhookEvent) -> None:
        if inspect.iscoroutinefunction(self._on_event):
            await self._on_event(event)
            return
        outcome = await anyio.to_thread.run_sync(self._on_event, event)
        if inspect.isawaitable(outcome):
            await outcome


async def _read(receive_message: Receive) -> bytes | None:
    """The whole body; None when it is too large."""
    body = bytearray()
    while True:
        message = await receive_message()
        if message["type"] == "http.disconnect":
            raise ConnectionError("The sender of the webhook went away.")
        body += message.get("body", b"")
        if len(body) > MAX_BODY_BYTES:
            return None
        if not message.get("more_body", False):
            return bytes(body)


async def _answer(send: Send, status: int, text: str, *headers: tuple[bytes, bytes]) -> None:
    body = text.encode()
    told = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*told, *headers]})
    await send({"type": "http.response.body", "body": body})


async def _live(receive_message: Receive, send: Send) -> None:
    """Says yes to starting and stopping, so that this can be a server's only application."""
    while True:
        message = await receive_message()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
