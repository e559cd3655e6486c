// That an error is found by its code, its kind and its type.

package tranche

import (
	"context"
	"errors"
	"fmt"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"
)

func refusedWith(t *testing.T, code int, body string, header ...string) error {
	t.Helper()
	_, err := record(t, status(code, body, header...)).Projects.Retrieve(context.Background(), "prj_1", WithMaxRetries(0))
	if err == nil {
		t.Fatal("it succeeded")
	}
	return fmt.Errorf("wrapped: %w", err)
}

func TestAnErrorIsFoundByItsTypeItsCodeAndItsKind(t *testing.T) {
	err := refusedWith(t, 409, `{"type":"/docs/errors/invalid_transition","title":"Not now","status":409,"detail":"approved is final","code":"invalid_transition","request_id":"req_1"}`)
	var typed *InvalidTransitionError
	var general *Error
	var other *NotFoundError
	if !errors.As(err, &typed) || typed.Detail != "approved is final" || typed.RequestID != "req_1" {
		t.Errorf("%v", typed)
	}
	if !errors.As(error(typed), &general) || general.Code != ErrorCodeInvalidTransition || general.Status != 409 {
		t.Errorf("%v", general)
	}
	if errors.As(err, &other) || errors.Is(err, ErrNotFound) || errors.Is(err, ErrInvalidRequest) {
		t.Error("it is no other error")
	}
	if !errors.Is(err, ErrInvalidTransition) || !errors.Is(err, ErrConflict) || !errors.Is(error(typed), ErrInvalidTransition) {
		t.Error("errors.Is does not find it")
	}
	if text := typed.Error(); text != "tranche: invalid_transition (409): approved is final (request req_1)" {
		t.Error(text)
	}
}

func TestEveryCodeHasATypeOfItsOwn(t *testing.T) {
	types := map[reflect.Type]bool{}
	codes := []ErrorCode{ErrorCodeMalformedJSON, ErrorCodeNotFound, ErrorCodeInternalError, ErrorCodeRateLimited, ErrorCodeAPIKeyRevoked, ErrorCodeIdempotencyKeyReused}
	for _, code := range codes {
		problem := &Error{Code: code, Status: 400}
		typed := problem.typed()
		target := reflect.New(reflect.TypeOf(typed))
		if !errors.As(error(problem), target.Interface()) || !errors.Is(typed, code) {
			t.Errorf("%s is not found as %T", code, typed)
		}
		types[reflect.TypeOf(typed)] = true
	}
	if len(types) != len(codes) {
		t.Errorf("%d types for %d codes", len(types), len(codes))
	}
}

func TestKindsGoByStatus(t *testing.T) {
	for code, kind := range map[int]error{400: ErrInvalidRequest, 401: ErrAuthentication, 403: ErrPermission, 409: ErrConflict, 422: ErrInvalidRequest, 500: ErrServer, 503: ErrServer} {
		for _, other := range []error{ErrInvalidRequest, ErrAuthentication, ErrPermission, ErrConflict, ErrServer} {
			if is := errors.Is(&Error{Status: code}, other); is != (other == kind) {
				t.Errorf("%d is %v: %t", code, other, is)
			}
		}
	}
}

func TestAnErrorThatIsNoProblemDocumentStillTellsWhatCame(t *testing.T) {
	err := refusedWith(t, 502, "<h1>Bad gateway</h1>"+strings.Repeat("x", 1000))
	var problem *Error
	if !errors.As(err, &problem) || problem.Code != "" || problem.Status != 502 || problem.typed() != nil || len(problem.Detail) > maxQuotedBytes {
		t.Errorf("%#v", problem)
	}
	if !strings.HasPrefix(problem.Error(), "tranche: status 502: <h1>Bad gateway</h1>") {
		t.Error(problem.Error())
	}
	if empty := refusedWith(t, 302, ""); !strings.HasSuffix(empty.Error(), "tranche: status 302: Found") {
		t.Error(empty)
	}
	future := refusedWith(t, 418, `{"code":"brand_new","status":418,"errors":[{"pointer":"/a","code":"odd","message":"be even"}]}`)
	if !errors.As(future, &problem) || problem.Code != "brand_new" || problem.typed() != nil || len(problem.Errors) != 1 {
		t.Errorf("%v", problem)
	}
	if !strings.Contains(problem.Error(), "/a: be even") {
		t.Error(problem.Error())
	}
}

func TestAnErrorNeverQuotesTheKeyThatAnAnswerEchoes(t *testing.T) {
	echo := "authorization: Bearer " + secretKey
	for _, body := range []string{
		echo,
		strings.Repeat("x", 190) + secretKey,
		secretKey + secretKey + strings.Repeat("y", 199-2*len(secretKey)) + secretKey,
		`{"code":"odd","title":"` + echo + `","detail":"` + echo + `","errors":[{"pointer":"/a","code":"odd","message":"` + echo + `"}]}`,
	} {
		seen := record(t, status(400, body))
		seen.core.authorization = func() string { return "Bearer " + secretKey }
		_, err := seen.Projects.Retrieve(context.Background(), "prj_1")
		var problem *Error
		if !errors.As(err, &problem) || problem.Status != 400 {
			t.Fatal(err)
		}
		if text := fmt.Sprintf("%v %+v %s %s", err, problem.Errors, problem.Title, problem.Detail); strings.Contains(text, secretKey[:10]) {
			t.Errorf("%s\n%s", body, text)
		}
	}
}

func TestAnErrorTellsEachFieldOnce(t *testing.T) {
	for detail, wanted := range map[string]string{
		"/name: is needed (and one more error)": "/name: is needed (and one more error); /amount: is needed",
		"is needed":                             "is needed at /name; /amount: is needed",
		"Something is wrong":                    "Something is wrong; /name: is needed; /amount: is needed",
	} {
		err := refusedWith(t, 422, `{"code":"validation_failed","detail":"`+detail+`","errors":[{"pointer":"/name","message":"is needed"},{"pointer":"/amount","message":"is needed"}]}`)
		if !strings.HasSuffix(err.Error(), "tranche: validation_failed (422): "+wanted) {
			t.Error(err)
		}
	}
}

func TestAFieldErrorThatIsNullDoesNotBreakTheError(t *testing.T) {
	err := refusedWith(t, 400, `{"code":"validation_failed","status":400,"errors":[null,{"pointer":"/a","code":"odd","message":"be even"}]}`)
	var problem *Error
	if !errors.As(err, &problem) || len(problem.Errors) != 1 || !strings.HasSuffix(problem.Error(), "/a: be even") {
		t.Errorf("%+v", problem)
	}
}

func TestAnErrorTellsHowLongToWait(t *testing.T) {
	var limited *RateLimitedError
	if err := refusedWith(t, 429, `{"code":"rate_limited","status":429}`, "Retry-After", "17"); !errors.As(err, &limited) {
		t.Fatal(err)
	}
	if pause, ok := (*Error)(limited).RetryAfter(); !ok || pause != 17*time.Second {
		t.Error(pause)
	}
	if _, ok := (&Error{}).RetryAfter(); ok {
		t.Error("an error without a response says nothing of waiting")
	}
}

func TestAConnectionErrorIsANetError(t *testing.T) {
	client := NewClient("key", WithBaseURL("http://127.0.0.1:1"), WithMaxRetries(0))
	_, err := client.Projects.Retrieve(context.Background(), "prj_1")
	var failure *ConnectionError
	var low *net.OpError
	if !errors.As(err, &failure) || !errors.As(err, &low) || failure.Path != "/v1/projects/prj_1" {
		t.Errorf("%v", err)
	}
	var slow *TimeoutError
	if errors.As(err, &slow) {
		t.Error("it is no timeout")
	}
}
