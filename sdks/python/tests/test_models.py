# Models: typed attributes that keep what they do not know, and JSON that comes back as it went in.

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import httpx
import pytest

import tranche
from operations import OPERATIONS
from stub import API_KEY, PROJECT
from tranche import errors, types
from tranche._generated import errors as by_code
from tranche._generated import models
from tranche._generated.errors import ERROR_CLASSES
from tranche._generated.webhooks import WEBHOOK_CLASSES
from tranche._model import Model
from tranche._webhook_envelope import WebhookEnvelope

DOCUMENT: dict[str, Any] = json.loads((Path(__file__).resolve().parents[3] / "openapi.json").read_text())
SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]


# An object inside another has no schema of its own name; it goes through with its owner's example.
NAMED = [name for name in models.__all__ if name in SCHEMAS]


@pytest.mark.parametrize("name", NAMED)
def test_the_example_of_every_schema_survives_the_way_through_its_model(name: str) -> None:
    model: type[Model] = getattr(types, name)
    schema = SCHEMAS[name]
    example = schema.get("example") or {
        key: inner["example"] for key, inner in schema["properties"].items() if "example" in inner
    }
    made = model.from_dict(example)
    assert made.to_dict() == example
    assert json.loads(json.dumps(made.to_dict())) == example
    fields = {field.name for field in dataclasses.fields(made)}  # type: ignore[arg-type]
    assert len(fields) == len(schema["properties"])


def test_objects_inside_others_are_models_too() -> None:
    diagnosis = types.WebhookDiagnosis.from_dict(SCHEMAS["WebhookDiagnosis"]["example"])
    assert isinstance(diagnosis.dns, types.WebhookDiagnosisDns)
    assert isinstance(diagnosis.dns.addresses[0], types.WebhookDiagnosisDnsAddresses)
    assert isinstance(diagnosis.connection, types.WebhookDiagnosisConnection)
    assert isinstance(diagnosis.tls, types.WebhookDiagnosisTls)
    assert isinstance(diagnosis.tls.chain[0], types.WebhookDiagnosisTlsChain)
    assert diagnosis.tls.chain[0].valid_until == datetime(2026, 3, 20, tzinfo=timezone.utc)
    assert diagnosis.ping is None
    inner = [name for name in models.__all__ if name not in SCHEMAS]
    assert all(any(name.startswith(owner) for owner in NAMED) for name in inner)


def test_times_are_aware_datetimes_and_payload_names_are_pythons() -> None:
    project = types.Project.from_dict(PROJECT)
    assert project.created_at == datetime(2026, 3, 2, 9, 30, tzinfo=timezone.utc)
    payload = types.PaymentReleasedData.from_dict(
        {"projectId": "prj_1", "milestoneId": "mil_1", "amount": 150000, "currency": "USD"}
    )
    assert (payload.project_id, payload.milestone_id, payload.amount) == ("prj_1", "mil_1", 150000)


def test_nested_records_are_models_and_null_stays_none() -> None:
    example = SCHEMAS["Milestone"]["example"]
    milestone = types.Milestone.from_dict({**example, "submission": {"note": "n", "links": []}})
    assert isinstance(milestone.submission, types.Submission)
    assert types.Milestone.from_dict({**example, "submission": None}).submission is None
    invoice = types.Invoice.from_dict(SCHEMAS["Invoice"]["example"])
    assert isinstance(invoice.lines[0], types.InvoiceLine)


def test_what_a_newer_server_adds_is_kept() -> None:
    newer = {**PROJECT, "mood": "good", "status": "paused"}
    project = types.Project.from_dict(newer)
    assert getattr(project, "mood") == "good"  # noqa: B009
    assert str(project.status) == "paused"
    assert project.to_dict() == newer


def test_what_an_older_server_does_not_send_is_an_error_only_when_it_is_read() -> None:
    project = types.Project.from_dict({"id": "prj_1"})
    assert project.id == "prj_1"
    with pytest.raises(AttributeError, match="'version'"):
        _ = project.version
    with pytest.raises(LookupError, match="larger answer"):
        _ = project.last_response


def test_what_an_older_server_does_not_send_is_no_obstacle_to_printing_and_comparing() -> None:
    project = types.Project.from_dict({"id": "prj_1", "name": "n"})
    assert repr(project) == "Project(id='prj_1', name='n')"
    assert str(types.ApiKeyWithSecret.from_dict({"secret": "tr_live_x"})) == "ApiKeyWithSecret(secret=[secret])"
    assert project == types.Project.from_dict({"id": "prj_1", "name": "n"})
    assert project != types.Project.from_dict({"id": "prj_1"})
    assert project != types.Project.from_dict(PROJECT)
    assert project != types.Payment.from_dict({"id": "prj_1", "name": "n"})
    assert len({project, types.Project.from_dict({"id": "prj_1", "name": "n"})}) == 1
    event = types.UnknownWebhook.from_dict({"id": "evt_1", "event": "x", "data": {}, "timestamp": 1})
    assert event == types.UnknownWebhook(id="evt_1", event="x", data={}, timestamp=1)


def test_models_are_values() -> None:
    project = types.Project.from_dict(PROJECT)
    same = types.Project.from_dict(PROJECT)
    assert project == same
    assert copy.deepcopy(project) == project
    assert pickle.loads(pickle.dumps(project)) == project  # noqa: S301
    assert project != types.Project.from_dict({**PROJECT, "name": "Other"})
    with pytest.raises(dataclasses.FrozenInstanceError):
        project.name = "changed"  # type: ignore[misc]
    assert "New website" in repr(project)


def test_the_json_that_was_handed_in_stays_as_it_was() -> None:
    given = copy.deepcopy(SCHEMAS["Invoice"]["example"])
    types.Invoice.from_dict(given)
    assert given == SCHEMAS["Invoice"]["example"]


def answers_with_a_file(operation: dict[str, Any]) -> bool:
    """Files (CSV, PDF) are left to whatever fetches files."""
    content = operation["responses"].get("200", {}).get("content", {})
    return bool(content) and not {"application/json", "text/event-stream"} & set(content)


def test_every_operation_of_the_document_that_answers_no_file_is_a_method_of_both_clients() -> None:
    documented = {
        operation["operationId"]
        for path in DOCUMENT["paths"].values()
        for method, operation in path.items()
        if method in {"get", "post", "put", "patch", "delete"} and not answers_with_a_file(operation)
    }
    assert documented == set(OPERATIONS)
    for client in (tranche.Tranche(API_KEY), tranche.AsyncTranche(API_KEY)):
        for resource, method, _ in OPERATIONS.values():
            words: str = getattr(getattr(client, resource), method).__doc__
            assert words.strip()


def test_every_error_code_has_a_class_of_its_own() -> None:
    codes = SCHEMAS["ErrorCode"]["enum"]
    classes = [ERROR_CLASSES[code] for code in codes]
    assert len(set(classes)) == len(codes)
    assert all(issubclass(one, tranche.ApiError) and one.__name__ in by_code.__all__ for one in classes)
    assert errors.NotFoundError is tranche.NotFoundError


def test_every_webhook_of_the_document_has_a_class() -> None:
    assert set(WEBHOOK_CLASSES) == set(DOCUMENT["webhooks"])
    assert all(issubclass(one, WebhookEnvelope) for one in WEBHOOK_CLASSES.values())


def test_errors_survive_pickling() -> None:
    response = tranche.ApiResponse(404, httpx.Headers({"request-id": "req_1"}), b'{"code":"not_found"}')
    error = pickle.loads(pickle.dumps(tranche.NotFoundError(response)))  # noqa: S301
    assert (error.code, error.request_id) == ("not_found", "req_1")
    refused = tranche.WebhookVerificationError("missing_header", "words")
    assert pickle.loads(pickle.dumps(refused)).reason == "missing_header"  # noqa: S301
