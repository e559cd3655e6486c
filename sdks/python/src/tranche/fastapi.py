# A webhook as a dependency of a FastAPI route. Importing this needs FastAPI.
# Only verifies; acknowledging is the route's return.

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fastapi import HTTPException, Request

from ._errors import WebhookVerificationError
from ._generated.webhooks import WebhookEvent
from ._receiving import DEFAULT_TOLERANCE_SECONDS, MAX_BODY_BYTES, Secrets, check_tolerance, receive, refusal


def webhook(
    secret: Secrets, *, tolerance: float = DEFAULT_TOLERANCE_SECONDS
) -> Callable[[Request], Awaitable[WebhookEvent]]:
    """
    A dependency that gives a route the verified event, and answers 400 to what does not verify.

        Event = Annotated[WebhookEvent, Depends(webhook(secret))]

        @app.post("/webhooks/tranche")
        async def receive(event: Event) -> None: ...

    :param secret: the endpoint's secret, several, or a function that gives them.
    :param tolerance: how many seconds the webhook's time may differ from ours.
    """

    check_tolerance(tolerance)

    async def dependency(request: Request) -> WebhookEvent:
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY_BYTES:
                raise HTTPException(413, "The body is too large for a webhook.")
        try:
            return receive(bytes(body), request.headers.items(), secret, tolerance)
        except WebhookVerificationError as error:
            raise HTTPException(400, refusal(error).strip()) from error

    return dependency


__all__ = ["webhook"]
