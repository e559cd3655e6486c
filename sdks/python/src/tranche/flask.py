# A webhook receiver as a Flask view. Importing this needs Flask.
# Keeps nothing: doing things once, by the event's id, is the program's own part.

from __future__ import annotations

from collections.abc import Callable

from flask import Response, request

from ._errors import WebhookVerificationError
from ._generated.webhooks import WebhookEvent
from ._receiving import DEFAULT_TOLERANCE_SECONDS, MAX_BODY_BYTES, Secrets, check_tolerance, receive, refusal


def webhook_view(
    secret: Secrets,
    on_event: Callable[[WebhookEvent], object],
    *,
    tolerance: float = DEFAULT_TOLERANCE_SECONDS,
    name: str = "tranche_webhook",
) -> Callable[[], Response]:
    """
    A view that answers webhooks: 200 when `on_event` returned, 400 when the webhook does not verify.

        app.add_url_rule("/webhooks/tranche", view_func=webhook_view(secret, on_event), methods=["POST"])

    An exception of `on_event` becomes Flask's 500, and the webhook comes again.

    :param secret: the endpoint's secret, several, or a function that gives them.
    :param on_event: called with each event; what it returns does not matter.
    :param tolerance: how many seconds the webhook's time may differ from ours.
    :param name: the name of the endpoint in Flask; another one for each view.
    """

    check_tolerance(tolerance)

    def view() -> Response:
        body = _body()
        if body is None:
            return Response("The body is too large for a webhook.\n", 413, mimetype="text/plain")
        try:
            event = receive(body, request.headers.items(), secret, tolerance)
        except WebhookVerificationError as error:
            return Response(refusal(error), 400, mimetype="text/plain")
        on_event(event)
        return Response("", 200, mimetype="text/plain")

    view.__name__ = name
    return view


def _body() -> bytes | None:
    """The body, also one that was read before this view; None when it is too large. Flask would read whatever is sent."""
    length = request.content_length
    if length is None:
        # Sent in chunks, nobody knows how many. What was read before is not in the stream any more, but kept by Flask.
        body = request.stream.read(MAX_BODY_BYTES + 1) or request.get_data()
    elif length > MAX_BODY_BYTES:
        return None
    else:
        body = request.get_data()
    return body if len(body) <= MAX_BODY_BYTES else None


__all__ = ["webhook_view"]
