# What programs write, for the type checkers: run by mypy --strict and pyright, never executed.
# A line with assert_type says which type the checkers must see.

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Literal

from typing_extensions import assert_never, assert_type

import tranche
from tranche import types


def sync(client: tranche.Tranche) -> None:
    draft: types.MilestoneCreate = {"title": "Design", "amount": 150000}
    project = client.projects.create(name="Website", client_id="acme", milestones=[draft, {"title": "T", "amount": 1}])
    assert_type(project, types.Project)
    assert_type(project.created_at, datetime)
    assert_type(project.payee_id, str | None)
    assert_type(project.status, Literal["active", "archived"])
    assert_type(project.last_response.rate_limit.remaining, int | None)
    milestone = client.milestones.update("mil_1", status="submitted", due_date=date(2027, 3, 31), if_match=3)
    if milestone.submission is not None:
        assert_type(milestone.submission.links, list[str])
    page = client.payments.list(project=project.id)
    assert_type(page, tranche.Page[types.Payment])
    for payment in page:
        assert_type(payment, types.Payment)
    result = client.with_response(client.projects.retrieve, "prj_1")
    assert_type(result, tuple[types.Project, tranche.ApiResponse])
    client.webhook_endpoints.delete("whe_1")
    for event in client.events.stream(after_seq=0, event_types=["payment.released"]):
        assert_type(event, types.Event)


async def asynchronous(client: tranche.AsyncTranche) -> None:
    assert_type(await client.projects.retrieve("prj_1"), types.Project)
    assert_type(await client.invoices.list(), tranche.AsyncPage[types.Invoice])
    async for invoice in client.invoices.list():
        assert_type(invoice, types.Invoice)
    async with client.events.stream() as stream:
        async for event in stream:
            assert_type(event, types.Event)
    result = await client.with_response(client.projects.list, limit=3)
    assert_type(result, tuple[tranche.AsyncPage[types.Project], tranche.ApiResponse])


def receive(body: bytes, headers: dict[str, str]) -> None:
    event = tranche.webhooks.verify(body, headers, "whsec_")
    match event:
        case types.PaymentReleasedWebhook():
            assert_type(event.data.amount, int)
            assert_type(event.event, Literal["payment.released"])
        case types.MilestoneSubmittedWebhook() | types.MilestoneApprovedWebhook():
            assert_type(event.data, types.MilestoneEventData)
        case types.UnknownWebhook():
            assert_type(event.data, dict[str, Any])
        case (
            types.ProjectCreatedWebhook()
            | types.ProjectArchivedWebhook()
            | types.MilestoneCreatedWebhook()
            | types.MilestoneChangesRequestedWebhook()
            | types.MilestoneCancelledWebhook()
            | types.InvoiceIssuedWebhook()
            | types.WebhookEndpointDisabledWebhook()
        ):
            assert_type(event.seq, int | None)
        case _:
            assert_never(event)


def wrong(client: tranche.Tranche) -> None:
    client.projects.create(name="n")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    client.milestones.update("mil_1", status="done")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    client.projects.update("prj_1", name=None)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
