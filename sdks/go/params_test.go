// That absent, null and a value are sent as what they are.

package tranche

import (
	"encoding/json"
	"fmt"
	"testing"
)

func TestAbsentNullAndValueAreToldApart(t *testing.T) {
	for wanted, params := range map[string]any{
		`{}`:                                      &MilestoneUpdateParams{},
		`{"payee_id":null}`:                       &MilestoneUpdateParams{PayeeID: Null[string]()},
		`{"payee_id":"f_7"}`:                      &MilestoneUpdateParams{PayeeID: Value("f_7")},
		`{"description":""}`:                      &MilestoneUpdateParams{Description: Value("")},
		`{"status":"approved","amount":5}`:        &MilestoneUpdateParams{Status: Ptr(MilestoneStatusApproved), Amount: Int64(5)},
		`{"title":""}`:                            &MilestoneUpdateParams{Title: String("")},
		`{"metadata":{"a":"b","c":null}}`:         &MilestoneUpdateParams{Metadata: map[string]*string{"a": String("b"), "c": nil}},
		`{"event_types":null}`:                    &WebhookEndpointUpdateParams{EventTypes: Null[[]EventType]()},
		`{"event_types":["payment.released"]}`:    &WebhookEndpointUpdateParams{EventTypes: Value([]EventType{EventTypePaymentReleased})},
		`{"submission":{"links":[]}}`:             &MilestoneUpdateParams{Submission: &SubmissionParams{Links: []string{}}},
		`{"name":"","client_id":""}`:              &ProjectCreateParams{},
		`{"name":"k"}`:                            &APIKeyCreateParams{Name: "k"},
		`{"name":"k","scopes":[]}`:                &APIKeyCreateParams{Name: "k", Scopes: []Scope{}},
		`{"name":"k","scopes":["projects:read"]}`: &APIKeyCreateParams{Name: "k", Scopes: []Scope{ScopeProjectsRead}},
		`{"overlap_seconds":0}`:                   &APIKeyRotateParams{OverlapSeconds: Int64(0)},
		`{"title":"T","amount":1,"metadata":{}}`:  &MilestoneCreateParams{Title: "T", Amount: 1, Metadata: map[string]string{}},
	} {
		if sent, err := json.Marshal(params); err != nil || string(sent) != wanted {
			t.Errorf("%s instead of %s: %v", sent, wanted, err)
		}
	}
}

func TestANullableIsReadAndShown(t *testing.T) {
	var read struct{ A, B, C *Nullable[int64] }
	read.B = Value[int64](1)
	if err := json.Unmarshal([]byte(`{"A":7}`), &read); err != nil {
		t.Fatal(err)
	}
	if value, ok := read.A.Get(); value != 7 || !ok {
		t.Error(read.A)
	}
	if _, ok := read.C.Get(); ok {
		t.Error("what is absent has no value")
	}
	if _, ok := Null[int64]().Get(); ok {
		t.Error("null has no value")
	}
	var null Nullable[string]
	if err := null.UnmarshalJSON([]byte(" null ")); err != nil || fmt.Sprint(&null, Value("x"), Value(int64(2))) != "null x 2" {
		t.Error(fmt.Sprint(&null, Value("x"), Value(int64(2))))
	}
}

func TestABodyThatMayBeLeftOutIsNotSentAndOneThatMayNotIsEmpty(t *testing.T) {
	if bodyOf[APIKeyRotateParams](nil, false) != nil {
		t.Error("nothing is something")
	}
	if sent, _ := json.Marshal(bodyOf[ProjectUpdateParams](nil, true)); string(sent) != "{}" {
		t.Errorf("%s", sent)
	}
}
