// What a client is made of, and that nothing shows its key.

package tranche

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
)

const secretKey = "tr_live_NeverToBeSeen0123456789"

// dump walks a value as a curious printer would: through pointers, and through fields that are not exported.
func dump(value reflect.Value, depth int, into *strings.Builder) {
	if depth > 12 || !value.IsValid() {
		return
	}
	switch value.Kind() {
	case reflect.String:
		into.WriteString(value.String() + "\n")
	case reflect.Pointer, reflect.Interface:
		dump(value.Elem(), depth+1, into)
	case reflect.Struct:
		for index := range value.NumField() {
			dump(value.Field(index), depth+1, into)
		}
	case reflect.Slice, reflect.Array:
		for index := range value.Len() {
			dump(value.Index(index), depth+1, into)
		}
	case reflect.Map:
		for _, key := range value.MapKeys() {
			dump(key, depth+1, into)
			dump(value.MapIndex(key), depth+1, into)
		}
	}
}

func TestNoPrintedFormOfAClientShowsItsKey(t *testing.T) {
	log := &bytes.Buffer{}
	logger := slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	client := NewClient(secretKey, WithLogger(logger), WithMaxRetries(0), WithTransport(roundTrip(func(*http.Request) (*http.Response, error) {
		return answer(401, `{"code":"invalid_api_key","status":401}`, "Request-Id", "req_7"), nil
	})))
	_, refused := client.Projects.Retrieve(context.Background(), "prj_1")
	failing := NewClient(secretKey, WithTransport(roundTrip(func(*http.Request) (*http.Response, error) { return nil, io.EOF })), WithLogger(logger), WithMaxRetries(0))
	_, failed := failing.Projects.Retrieve(context.Background(), "prj_1")

	everything := &strings.Builder{}
	for _, value := range []any{client, *client, client.Projects, client.core, refused, failed} {
		fmt.Fprintf(everything, "%v %+v %#v %s\n", value, value, value, value)
		dump(reflect.ValueOf(value), 0, everything)
		text, _ := json.Marshal(value)
		everything.Write(text)
	}
	logger.Info("all", "client", client, "error", refused)
	everything.WriteString(log.String())
	if strings.Contains(everything.String(), "NeverToBeSeen") {
		t.Errorf("the key shows in:\n%s", everything)
	}
	for _, wanted := range []string{`"status":401`, `"request_id":"req_7"`, `"error":"EOF"`, "/v1/projects/prj_1"} {
		if !strings.Contains(log.String(), wanted) {
			t.Errorf("the log does not say %s:\n%s", wanted, log)
		}
	}
}

func TestWhatHoldsASecretDoesNotPrintIt(t *testing.T) {
	key := &APIKeyWithSecret{ID: "key_1", Secret: secretKey}
	endpoint := &WebhookEndpointWithSecret{ID: "whe_1", Secret: secretKey}
	verifier := NewWebhookVerifier([]string{"whsec_TmV2ZXJUb0JlU2Vlbg=="})
	text := fmt.Sprintf("%v %+v %#v %v %+v %#v %v %+v %#v %s", key, key, key, *endpoint, endpoint, endpoint, verifier, verifier, *verifier, []*APIKeyWithSecret{key}[0])
	if strings.Contains(text, "NeverToBeSeen") || strings.Contains(text, "TmV2") {
		t.Error(text)
	}
	if !strings.Contains(text, "key_1") || !strings.Contains(text, "whe_1") {
		t.Error(text)
	}
	if sent, _ := json.Marshal(key); !strings.Contains(string(sent), secretKey) {
		t.Error("JSON keeps the secret: that is how a program stores it")
	}
}

func TestSettingsThatCannotWorkAreTheErrorOfACallAndShowNoKey(t *testing.T) {
	sent := 0
	transport := WithTransport(roundTrip(func(*http.Request) (*http.Response, error) { sent++; return answer(200, "{}"), nil }))
	t.Setenv("TRANCHE_API_KEY", "")
	for _, client := range []*Client{
		NewClient("", transport),
		NewClient(secretKey+"\n", transport),
		NewClient(secretKey+" x", transport),
		NewClient(secretKey, transport, WithBaseURL("tranche.example.com")),
		NewClient(secretKey, transport, WithBaseURL("")),
		NewClient(secretKey, transport, WithBaseURL("ftp://tranche.example.com")),
		NewClient(secretKey, transport, WithBaseURL("https://user:"+secretKey+"@tranche.example.com")),
		NewClient(secretKey, transport, WithBaseURL("https://tranche.example.com/?key="+secretKey)),
		NewClient(secretKey, transport, WithBaseURL("https://a b")),
		NewClient(secretKey, transport, WithBaseURL("https://user:"+secretKey+"%zz@tranche.example.com")),
	} {
		_, err := client.Projects.Retrieve(context.Background(), "prj_1")
		if text := fmt.Sprint(client, err); err == nil || strings.Contains(text, "NeverToBeSeen") {
			t.Error(text)
		}
	}
	if sent > 0 {
		t.Errorf("%d requests were sent", sent)
	}
}

func TestAClientTakesItsSettingsFromTheEnvironment(t *testing.T) {
	t.Setenv("TRANCHE_API_KEY", "tr_live_environment")
	t.Setenv("TRANCHE_BASE_URL", "http://from.environment.test/prefix/")
	var sent *http.Request
	client := NewClient("", WithAppInfo("shop", "2.1"), WithHeader("X-Shop", "one"), WithTransport(roundTrip(func(request *http.Request) (*http.Response, error) {
		sent = request
		return answer(200, projectBody), nil
	})))
	if _, err := client.Projects.Retrieve(context.Background(), "prj_1", WithHeader("x-call", "two"), WithHeader("Authorization", "Bearer mine")); err != nil {
		t.Fatal(err)
	}
	if sent.URL.String() != "http://from.environment.test/prefix/v1/projects/prj_1" || sent.Header.Get("Authorization") != "Bearer tr_live_environment" {
		t.Errorf("%s %v", sent.URL, sent.Header)
	}
	agent := sent.UserAgent()
	if !strings.HasPrefix(agent, "tranche-go/"+Version+" (go") || !strings.HasSuffix(agent, ") shop/2.1") {
		t.Error(agent)
	}
	if sent.Header.Get("X-Shop") != "one" || sent.Header.Get("X-Call") != "two" {
		t.Errorf("%v", sent.Header)
	}
	// A header of one call is not there in the next.
	if _, _ = client.Projects.Retrieve(context.Background(), "prj_1"); sent.Header.Get("X-Call") != "" {
		t.Errorf("%v", sent.Header)
	}
}

func TestARedirectIsNotFollowedByAnHTTPClientOfYourOwnEither(t *testing.T) {
	elsewhere := 0
	other := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, _ *http.Request) {
		elsewhere++
		_, _ = writer.Write([]byte(projectBody))
	}))
	defer other.Close()
	for _, code := range []int{301, 302, 303, 307, 308} {
		server := httptest.NewServer(http.RedirectHandler(other.URL, code))
		own := &http.Client{}
		client := NewClient(secretKey, WithBaseURL(server.URL), WithHTTPClient(own))
		var problem *Error
		if _, err := client.Projects.Create(context.Background(), &ProjectCreateParams{}); !errors.As(err, &problem) || problem.Status != code {
			t.Errorf("%d: %v", code, err)
		}
		if own.CheckRedirect != nil {
			t.Error("your client was changed")
		}
		server.Close()
	}
	if elsewhere > 0 {
		t.Errorf("%d requests, with the key, went to another address", elsewhere)
	}
	// Who decides about redirects has decided.
	asked := 0
	server := httptest.NewServer(http.RedirectHandler("/v1/elsewhere", http.StatusFound))
	defer server.Close()
	client := NewClient(secretKey, WithBaseURL(server.URL), WithHTTPClient(&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		asked++
		return http.ErrUseLastResponse
	}}))
	if _, err := client.Projects.Retrieve(context.Background(), "prj_1"); err == nil || asked != 1 {
		t.Errorf("%v, asked %d times", err, asked)
	}
}

func TestAHeaderThatCannotBeSentIsRefusedBeforeAnythingIsSentAndNotShown(t *testing.T) {
	for name, option := range map[string]RequestOption{
		"value":           WithHeader("X-Note", secretKey+"\nX-Other: 1"),
		"name":            WithHeader("X Note", "1"),
		"idempotency key": WithIdempotencyKey(secretKey + "\r\n"),
		"space in a key":  WithIdempotencyKey(secretKey + " 1"),
		"other letters":   WithHeader("X-Note", secretKey+"é"),
	} {
		seen := record(t)
		_, err := seen.Projects.Create(context.Background(), &ProjectCreateParams{}, option)
		var failure *ConnectionError
		if err == nil || errors.As(err, &failure) || len(seen.requests) > 0 || strings.Contains(err.Error(), "NeverToBeSeen") {
			t.Errorf("%s: %v after %d requests", name, err, len(seen.requests))
		}
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	requests := 0
	client := NewClient(secretKey, WithTransport(roundTrip(func(*http.Request) (*http.Response, error) {
		requests++
		return answer(307, "", "Location", "http://elsewhere.test/"), nil
	})))
	_, err := client.Projects.Retrieve(context.Background(), "prj_1")
	var problem *Error
	if !errors.As(err, &problem) || problem.Status != 307 || requests != 1 {
		t.Errorf("%v after %d requests", err, requests)
	}
}
