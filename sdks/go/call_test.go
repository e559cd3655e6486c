// How a call is sent: again and again, with one key, within its bounds.

package tranche

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestACallKeepsOneIdempotencyKeyAndOneBodyOverItsAttempts(t *testing.T) {
	seen := record(t, broken(io.ErrUnexpectedEOF), status(500, "oops"), status(201, projectBody))
	project, err := seen.Projects.Create(context.Background(), &ProjectCreateParams{Name: "Website", ClientID: "acme"})
	if err != nil || project.ID != "prj_1" {
		t.Fatalf("%v %v", project, err)
	}
	if len(seen.requests) != 3 {
		t.Fatalf("%d requests", len(seen.requests))
	}
	key := seen.requests[0].Header.Get("Idempotency-Key")
	if len(key) != 36 {
		t.Errorf("the key %q is no UUID", key)
	}
	for index, request := range seen.requests {
		if request.Header.Get("Idempotency-Key") != key || seen.bodies[index] != `{"name":"Website","client_id":"acme"}` {
			t.Errorf("attempt %d: %v %s", index+1, request.Header, seen.bodies[index])
		}
	}
}

func TestEachCallHasItsOwnIdempotencyKeyAndAReadHasNone(t *testing.T) {
	seen := record(t, status(201, projectBody), status(201, projectBody), status(200, projectBody), status(201, projectBody))
	ctx := context.Background()
	params := &ProjectCreateParams{}
	_, _ = seen.Projects.Create(ctx, params)
	_, _ = seen.Projects.Create(ctx, params)
	_, _ = seen.Projects.Retrieve(ctx, "prj_1", WithIdempotencyKey("mine"))
	_, _ = seen.Projects.Create(ctx, params, WithIdempotencyKey("mine"))
	keys := []string{}
	for _, request := range seen.requests {
		keys = append(keys, request.Header.Get("Idempotency-Key"))
	}
	if keys[0] == "" || keys[0] == keys[1] || keys[2] != "" || keys[3] != "mine" {
		t.Errorf("%q", keys)
	}
}

func TestWhatIsWorthRepeatingIsRepeatedAndNothingElse(t *testing.T) {
	for code, repeated := range map[int]bool{400: false, 401: false, 403: false, 404: false, 408: true, 409: false, 412: false, 413: false, 422: false, 429: true, 500: true, 501: false, 502: true, 503: true, 504: true, 599: true} {
		seen := record(t, status(code, "{}"), status(200, projectBody))
		_, err := seen.Projects.Retrieve(context.Background(), "prj_1")
		if (err == nil) != repeated {
			t.Errorf("%d: %v after %d requests", code, err, len(seen.requests))
		}
	}
}

func TestPausesDoubleUpToABoundAndChanceTakesAtMostHalf(t *testing.T) {
	for failures, whole := range map[int]time.Duration{1: 500, 2: 1000, 3: 2000, 4: 4000, 5: 8000, 6: 8000, 60: 8000} {
		whole *= time.Millisecond
		if backoff(failures, 0) != whole || backoff(failures, 1) != whole/2 {
			t.Errorf("%d: %s %s", failures, backoff(failures, 0), backoff(failures, 1))
		}
	}
}

func TestRetryAfterIsObeyedAsSecondsAndAsADateUpToAMinute(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for text, wanted := range map[string]time.Duration{
		"":                              500 * time.Millisecond,
		"soon":                          500 * time.Millisecond,
		"-3":                            500 * time.Millisecond,
		"0":                             500 * time.Millisecond,
		"7":                             7 * time.Second,
		"60":                            time.Minute,
		"Fri, 20 Nov 2026 12:00:09 GMT": 9 * time.Second,
		"Fri, 20 Nov 2026 11:00:00 GMT": 500 * time.Millisecond,
	} {
		pause, again := pauseAfter(http.Header{"Retry-After": {text}}, 1, 0, now)
		if pause != wanted || !again {
			t.Errorf("%q: %s %t", text, pause, again)
		}
	}
	if _, again := pauseAfter(http.Header{"Retry-After": {"61"}}, 1, 0, now); again {
		t.Error("61 seconds are too long to wait within a call")
	}
}

func TestTheLastFailureIsTheErrorAndItsAttemptsAreBounded(t *testing.T) {
	seen := record(t, status(500, "{}"), broken(io.EOF), status(503, `{"code":"overloaded","status":503}`), status(200, projectBody))
	var response Response
	_, err := seen.Projects.Retrieve(context.Background(), "prj_1", WithResponse(&response))
	if !errors.Is(err, ErrOverloaded) || len(seen.requests) != 3 || response.Attempts != 3 || len(seen.pauses) != 2 {
		t.Errorf("%v after %d requests", err, len(seen.requests))
	}
	none := record(t, status(500, "{}"), status(200, projectBody))
	if _, err := none.Projects.Retrieve(context.Background(), "prj_1", WithMaxRetries(0)); err == nil || len(none.requests) != 1 {
		t.Errorf("%v after %d requests", err, len(none.requests))
	}
}

func TestAnAnswerCutShortIsNoAnswer(t *testing.T) {
	seen := record(t, status(200, projectBody[:20]), status(200, `{"object":"project","id":"prj_2"}`))
	project, err := seen.Projects.Retrieve(context.Background(), "prj_1")
	if err != nil || project.ID != "prj_2" || project.Name != "" {
		t.Errorf("%+v %v", project, err)
	}
	endless := record(t, status(200, "<html>"), status(200, "<html>"), status(200, "<html>"))
	_, err = endless.Projects.Create(context.Background(), &ProjectCreateParams{})
	var failure *ConnectionError
	if !errors.As(err, &failure) || failure.Attempts != 3 || failure.IdempotencyKey == "" || failure.Timeout() {
		t.Errorf("%v", err)
	}
}

func TestASuccessThatIsNotWhatWasAskedForIsAnErrorThatSaysWhatCame(t *testing.T) {
	for body, wanted := range map[string]string{
		`{}`:                                `its object is "", not "project"`,
		` null`:                             `it is null`,
		``:                                  `it is empty`,
		`[]`:                                `json: cannot unmarshal array into Go value of type tranche.Project`,
		`"hello"`:                           `json: cannot unmarshal string into Go value of type tranche.Project`,
		`17`:                                `json: cannot unmarshal number into Go value of type tranche.Project`,
		`true`:                              `json: cannot unmarshal bool into Go value of type tranche.Project`,
		`{"object":"invoice","id":"inv_1"}`: `its object is "invoice", not "project"`,
		`{"object":"project"}`:              `it has no id`,
		`{"object":"project","id":17}`:      `json: cannot unmarshal number into Go struct field Project.id of type string`,
	} {
		seen := record(t, status(200, body, "Request-Id", "req_1"))
		project, err := seen.Projects.Retrieve(context.Background(), "prj_1")
		var problem *UnexpectedAnswerError
		var refusal *Error
		if project != nil || !errors.As(err, &problem) || errors.As(err, &refusal) || problem.Response.Attempts != 1 {
			t.Errorf("%s: %+v %v", body, project, err)
			continue
		}
		if text := err.Error(); text != "tranche: status 200: the answer is not what was asked for: "+wanted+" (request req_1)" {
			t.Errorf("%s: %s", body, text)
		}
	}
	for body, wanted := range map[string]string{
		`{}`:                                      `its object is "", not "list"`,
		`null`:                                    `it is null`,
		`{"object":"project","id":"prj_1"}`:       `its object is "project", not "list"`,
		`{"object":"list","has_more":false}`:      `it has no data`,
		`{"object":"list","data":null}`:           `it has no data`,
		`{"object":"list","data":[null]}`:         `its data holds null`,
		`{"object":"list","data":{"id":"prj_1"}}`: `json: cannot unmarshal object into Go struct field ProjectList.data`,
	} {
		page, err := record(t, status(200, body)).Projects.ListPage(context.Background(), nil)
		var problem *UnexpectedAnswerError
		if page != nil || !errors.As(err, &problem) || !strings.Contains(err.Error(), wanted) {
			t.Errorf("%s: %v", body, err)
		}
		turns := 0
		for project, err := range record(t, status(200, body)).Projects.List(context.Background(), nil) {
			if turns++; project != nil || !errors.As(err, &problem) {
				t.Errorf("%s: %v %v", body, project, err)
			}
		}
		if turns != 1 {
			t.Errorf("%s: %d turns", body, turns)
		}
	}
	var problem *UnexpectedAnswerError
	if err := record(t, status(200, `{"deleted":true}`)).WebhookEndpoints.Delete(context.Background(), "whe_1"); !errors.As(err, &problem) || !strings.Contains(err.Error(), "it is not empty") {
		t.Error(err)
	}
	if err := record(t, status(200, `{"sung":true}`)).Do(context.Background(), http.MethodDelete, "/v1/songs/1", nil, nil); err != nil {
		t.Error("what an unknown operation answers is unknown:", err)
	}
}

func TestADeletionIsDoneWhenAnEarlierAttemptWentUnanswered(t *testing.T) {
	gone := `{"code":"not_found","status":404}`
	lost := record(t, broken(io.EOF), status(404, gone))
	if err := lost.WebhookEndpoints.Delete(context.Background(), "whe_1"); err != nil {
		t.Error(err)
	}
	// A 5xx does not say either what became of the attempt: a gateway gives one when it lost the answer.
	for _, code := range []int{500, 502, 504} {
		failed := record(t, status(code, "{}"), status(404, gone))
		if err := failed.WebhookEndpoints.Delete(context.Background(), "whe_1"); err != nil {
			t.Error(err)
		}
	}
	// A 429 does: nothing was done.
	limited := record(t, status(429, "{}"), status(404, gone))
	if err := limited.WebhookEndpoints.Delete(context.Background(), "whe_1"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	// A revocation answers the key: a 404 has none to give.
	revoked := record(t, broken(io.EOF), status(404, gone))
	if _, err := revoked.APIKeys.Revoke(context.Background(), "key_1"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
}

func TestAnEmptyIDIsRefusedBeforeAnythingIsSent(t *testing.T) {
	seen := record(t)
	if _, err := seen.Projects.Retrieve(context.Background(), ""); !errors.Is(err, ErrEmptyID) || len(seen.requests) != 0 {
		t.Errorf("%v after %d requests", err, len(seen.requests))
	}
}

func TestAnIDThatAPathWouldLoseIsRefusedBeforeAnythingIsSent(t *testing.T) {
	for _, id := range []string{".", ".."} {
		seen := record(t)
		if _, err := seen.Projects.Retrieve(context.Background(), id); !errors.Is(err, ErrInvalidID) || len(seen.requests) != 0 {
			t.Errorf("%q: %v after %d requests", id, err, len(seen.requests))
		}
	}
}

func TestAVersionAndAnETagAreTheSameCondition(t *testing.T) {
	for _, option := range []RequestOption{WithIfMatch(3), WithIfMatch(int64(3)), WithIfMatch(`"3"`)} {
		seen := record(t, status(200, projectBody))
		if _, err := seen.Projects.Update(context.Background(), "prj_1", &ProjectUpdateParams{}, option); err != nil || seen.requests[0].Header.Get("If-Match") != `"3"` {
			t.Errorf("%v %v", seen.requests, err)
		}
	}
	for _, option := range []RequestOption{WithIfNoneMatch(3), WithIfNoneMatch(int64(3)), WithIfNoneMatch(`"3"`)} {
		seen := record(t, status(200, projectBody))
		if _, err := seen.Projects.Retrieve(context.Background(), "prj_1", option); err != nil || seen.requests[0].Header.Get("If-None-Match") != `"3"` {
			t.Errorf("%v %v", seen.requests, err)
		}
	}
}

func TestAnIDStaysOneSegmentOfThePath(t *testing.T) {
	seen := record(t, status(200, projectBody))
	_, _ = seen.Projects.Retrieve(context.Background(), "a/../b?c#d%é")
	if path := seen.requests[0].URL.EscapedPath(); path != "/v1/projects/a%2F..%2Fb%3Fc%23d%25%C3%A9" {
		t.Error(path)
	}
}

func TestATimeoutBoundsEachAttemptTheBodyIncluded(t *testing.T) {
	var requests atomic.Int64
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, _ *http.Request) {
		writer.Header().Set("Content-Length", fmt.Sprint(len(projectBody)))
		_, _ = writer.Write([]byte(projectBody[:1]))
		_ = http.NewResponseController(writer).Flush()
		if requests.Add(1) == 1 {
			<-release
		}
		_, _ = writer.Write([]byte(projectBody[1:]))
	}))
	defer server.Close()
	defer close(release)
	client := NewClient("key", WithBaseURL(server.URL), WithTimeout(100*time.Millisecond))
	_, err := client.Projects.Retrieve(context.Background(), "prj_1", WithMaxRetries(0))
	var slow *TimeoutError
	if !errors.As(err, &slow) || !slow.Timeout() || errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := client.Projects.Retrieve(context.Background(), "prj_1", WithTimeout(time.Minute)); err != nil {
		t.Error(err)
	}
}

func TestTheContextEndsACallAtOnce(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, _ *http.Request) {
		writer.Header().Set("Retry-After", "30")
		writer.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	client := NewClient("key", WithBaseURL(server.URL))
	begun := time.Now()

	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err := client.Projects.Retrieve(ctx, "prj_1")
	var aborted *AbortedError
	if !errors.As(err, &aborted) || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled in a pause: %v", err)
	}

	// A pause that the deadline cuts off is not begun: the failure that stands says more.
	ctx, cancel = context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if _, err := client.Projects.Retrieve(ctx, "prj_1"); !errors.Is(err, ErrServer) {
		t.Errorf("a deadline before the pause ends: %v", err)
	}

	ctx, cancel = context.WithDeadline(context.Background(), begun)
	defer cancel()
	_, err = client.Projects.Retrieve(ctx, "prj_1")
	var slow *TimeoutError
	if !errors.As(err, &slow) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a deadline that is over: %v", err)
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestParametersAreReadWhenTheCallIsMade(t *testing.T) {
	seen := record(t, status(200, `{"object":"list","data":[],"has_more":false,"next_cursor":null}`))
	after := time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.FixedZone("", 3600))
	_, err := seen.Projects.ListPage(context.Background(), &ProjectListParams{
		Limit:        Int64(5),
		Status:       Ptr(ProjectStatusArchived),
		ClientID:     String("a&b"),
		CreatedAfter: &after,
		Metadata:     map[string]string{"order": "A 1"},
	})
	wanted := "client_id=a%26b&created_after=2026-01-02T02%3A04%3A05.678Z&limit=5&metadata%5Border%5D=A+1&status=archived"
	if query := seen.requests[0].URL.RawQuery; err != nil || query != wanted {
		t.Errorf("%s %v", query, err)
	}
}

func TestAnOperationThatIsNotKnownYetCanBeCalled(t *testing.T) {
	seen := record(t, broken(io.EOF), status(200, `{"sung":true}`))
	var out struct{ Sung bool }
	err := seen.Do(context.Background(), http.MethodPost, "/v1/projects/prj_1/sing", map[string]string{"key": "C"}, &out)
	if err != nil || !out.Sung || seen.requests[1].Header.Get("Idempotency-Key") == "" || seen.bodies[1] != `{"key":"C"}` {
		t.Errorf("%+v %v", out, err)
	}
}

func TestNotModifiedIsNeitherAResourceNorRepeated(t *testing.T) {
	seen := record(t, status(304, ""))
	var response Response
	project, err := seen.Projects.Retrieve(context.Background(), "prj_1", WithIfNoneMatch(3), WithResponse(&response))
	var problem *Error
	if project != nil || !errors.Is(err, ErrNotModified) || response.StatusCode != 304 || !errors.As(err, &problem) || problem.Status != 304 || problem.Code != "" {
		t.Errorf("%v %v", project, err)
	}
	if etag := seen.requests[0].Header.Get("If-None-Match"); etag != `"3"` {
		t.Error(etag)
	}
}

func TestTheRawAnswerIsAccessibleAlsoOfAnError(t *testing.T) {
	seen := record(t, status(404, `{"code":"not_found","request_id":"req_1"}`,
		"Request-Id", "req_1", "RateLimit", `"default";r=998;t=41`, "RateLimit-Policy", `"default";q=1000;w=60`))
	var response Response
	_, err := seen.Projects.Retrieve(context.Background(), "prj_1", WithResponse(&response))
	limit, ok := response.RateLimit()
	if !ok || limit != (RateLimit{Limit: 1000, Window: time.Minute, Remaining: 998, Reset: 41 * time.Second}) {
		t.Errorf("%+v", limit)
	}
	var problem *Error
	if !errors.As(err, &problem) || problem.Response.RequestID() != "req_1" || !json.Valid(problem.Response.Body) {
		t.Errorf("%v", err)
	}
}
