// That only what was signed with a secret, recently, becomes an event, and that it has its own type.
// The vectors of the Standard Webhooks specification are in the shared scenario; the first of them is repeated here.

package tranche

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

const (
	vectorSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	otherSecret  = "whsec_YW5vdGhlciBzZWNyZXQgb2YgdGhpcnR5LXR3byBiLi4="
)

var vectorTime = time.Unix(1614265330, 0)

// signed is a webhook as the service sends it.
func signed(secret, body string, sent time.Time) http.Header {
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "evt_1.%d.%s", sent.Unix(), body)
	header := http.Header{}
	header.Set("webhook-id", "evt_1")
	header.Set("webhook-timestamp", fmt.Sprint(sent.Unix()))
	header.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	header.Set("Tranche-Seq", "9")
	header.Set("Tranche-Attempt", "2")
	return header
}

func reasonOf(err error) WebhookReason {
	var refusal *WebhookVerificationError
	if errors.As(err, &refusal) {
		return refusal.Reason
	}
	return ""
}

func TestTheVectorOfTheStandardWebhooksSpecificationVerifies(t *testing.T) {
	header := http.Header{
		"Webhook-Id":        {"msg_p5jXN8AQM9LWM0D4loKWxJek"},
		"Webhook-Timestamp": {"1614265330"},
		"Webhook-Signature": {"v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="},
	}
	at := func(now time.Time) *WebhookVerifier {
		return NewWebhookVerifier([]string{vectorSecret}, WithClock(func() time.Time { return now }))
	}
	body := []byte(`{"test": 2432232314}`)
	if err := at(vectorTime).VerifySignature(body, header); err != nil {
		t.Error(err)
	}
	if _, err := at(vectorTime).Verify(body, header); reasonOf(err) != WebhookReasonInvalidPayload {
		t.Error(err)
	}
	if err := at(vectorTime).VerifySignature([]byte(`{"test":2432232314}`), header); reasonOf(err) != WebhookReasonNoMatchingSignature {
		t.Error(err)
	}
	if err := at(time.Now()).VerifySignature(body, header); reasonOf(err) != WebhookReasonTimestampTooOld {
		t.Error(err)
	}
}

func TestATimestampMayBeAsFarFromNowAsTheToleranceAndNoFurther(t *testing.T) {
	header := signed(vectorSecret, "{}", vectorTime)
	for offset, wanted := range map[int64]WebhookReason{-301: WebhookReasonTimestampTooNew, -300: "", 300: "", 301: WebhookReasonTimestampTooOld} {
		now := vectorTime.Add(time.Duration(offset) * time.Second)
		verifier := NewWebhookVerifier([]string{vectorSecret}, WithClock(func() time.Time { return now }))
		if err := verifier.VerifySignature([]byte("{}"), header); reasonOf(err) != wanted || (err == nil) != (wanted == "") {
			t.Errorf("%d seconds: %v", offset, err)
		}
	}
	narrow := NewWebhookVerifier([]string{vectorSecret}, WithTolerance(time.Second), WithClock(func() time.Time { return vectorTime.Add(2 * time.Second) }))
	if err := narrow.VerifySignature([]byte("{}"), header); reasonOf(err) != WebhookReasonTimestampTooOld {
		t.Error(err)
	}
}

func TestOnlySignaturesOfTheKnownVersionCount(t *testing.T) {
	header := signed(vectorSecret, "{}", time.Now())
	verifier := NewWebhookVerifier([]string{vectorSecret})
	good := header.Get("webhook-signature")
	for given, accepted := range map[string]bool{
		good:                               true,
		"v1,AAAA v1a,x  " + good:           true,
		"v2" + good[2:]:                    false,
		good[3:]:                           false,
		good[:20]:                          false,
		"v1,":                              false,
		strings.Replace(good, ",", " ", 1): false,
	} {
		header.Set("webhook-signature", given)
		if err := verifier.VerifySignature([]byte("{}"), header); (err == nil) != accepted {
			t.Errorf("%q: %v", given, err)
		}
	}
}

func TestEachKindOfEventHasATypeOfItsOwn(t *testing.T) {
	body := `{"event":"payment.released","data":{"projectId":"prj_1","milestoneId":"mil_1","amount":999999999999,"currency":"USD"}}`
	event, err := VerifyWebhook([]byte(body), signed(vectorSecret, body, time.Now()), otherSecret, vectorSecret)
	if err != nil {
		t.Fatal(err)
	}
	released, ok := event.(*PaymentReleasedWebhook)
	if !ok || released.Data.Amount != 999999999999 || released.Type() != EventTypePaymentReleased {
		t.Fatalf("%T %+v", event, event)
	}
	if meta := event.Meta(); meta.ID != "evt_1" || meta.Seq != 9 || meta.PrevSeq != 0 || meta.Attempt != 2 || string(meta.Raw) != body {
		t.Errorf("%+v", meta)
	}
	unknown := `{"event":"project.sang","data":{"key":"C"}}`
	event, err = VerifyWebhook([]byte(unknown), signed(vectorSecret, unknown, time.Now()), vectorSecret)
	if sang, ok := event.(*UnknownWebhook); err != nil || !ok || sang.Type() != "project.sang" || string(sang.Data) != `{"key":"C"}` {
		t.Errorf("%+v %v", event, err)
	}
}

func TestWhatIsSignedButNoEventIsRefused(t *testing.T) {
	for _, body := range []string{"", "null", "[]", "hello", `{"event":"a"}`, `{"data":{}}`, `{"event":"","data":{}}`, `{"event":1,"data":{}}`, `{"event":"a","data":[]}`,
		`{"event":"a","data":null}`, `{"event":"payment.released","data":{"amount":"much"}}`, "{\"event\":\"a\xff\",\"data\":{}}"} {
		if event, err := VerifyWebhook([]byte(body), signed(vectorSecret, body, time.Now()), vectorSecret); event != nil || reasonOf(err) != WebhookReasonInvalidPayload {
			t.Errorf("%q: %v %v", body, event, err)
		}
	}
}

func TestAnEventOfTheLogBecomesTheSameType(t *testing.T) {
	event := &Event{ID: "evt_1", Seq: 4, Type: EventTypeProjectCreated, Data: []byte(`{"projectId":"prj_1","name":"N","clientId":"c"}`)}
	typed, err := event.Webhook()
	if created, ok := typed.(*ProjectCreatedWebhook); err != nil || !ok || created.Data.ClientID != "c" || created.Seq != 4 || created.ID != "evt_1" {
		t.Errorf("%+v %v", typed, err)
	}
}

func TestTheHandlerAcknowledgesWhatWasHandledAndNothingElse(t *testing.T) {
	body := `{"event":"project.created","data":{"projectId":"prj_1","name":"N","clientId":"c"}}`
	handled := 0
	var fails error
	handler := WebhookHandler(NewWebhookVerifier([]string{vectorSecret}), func(_ context.Context, event WebhookEvent) error {
		if _, ok := event.(*ProjectCreatedWebhook); !ok {
			t.Errorf("%T", event)
		}
		handled++
		return fails
	})
	send := func(method, body string, header http.Header) *httptest.ResponseRecorder {
		request := httptest.NewRequest(method, "/webhooks", strings.NewReader(body))
		request.Header = header
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		return recorder
	}
	good := signed(vectorSecret, body, time.Now())
	if got := send("POST", body, good); got.Code != 200 || handled != 1 {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	if got := send("POST", body+" ", good); got.Code != 400 || handled != 1 || !strings.Contains(got.Body.String(), "no_matching_signature") {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	if got := send("GET", "", good); got.Code != 405 || got.Header().Get("Allow") != "POST" {
		t.Errorf("%d", got.Code)
	}
	long := strings.Repeat("x", MaxWebhookBytes+1)
	if got := send("POST", long, signed(vectorSecret, long, time.Now())); got.Code != 413 || handled != 1 {
		t.Errorf("%d", got.Code)
	}
	fails = errors.New("the database is at 10.0.0.7")
	if got := send("POST", body, good); got.Code != 500 || handled != 2 || strings.Contains(got.Body.String(), "10.0.0.7") {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}

func FuzzVerifyingNeverPanicsAndTrustsNothingUnsigned(f *testing.F) {
	f.Add([]byte(`{"event":"a","data":{}}`), "evt_1", "1614265330", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
	f.Add([]byte{0xff}, "", "-1", "v1, v1,= ,,")
	verifier := NewWebhookVerifier([]string{otherSecret}, WithClock(func() time.Time { return vectorTime }))
	f.Fuzz(func(t *testing.T, body []byte, id, stamp, signature string) {
		header := http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {stamp}, "Webhook-Signature": {signature}}
		if event, err := verifier.Verify(bytes.Clone(body), header); err == nil || event != nil {
			t.Errorf("%v was trusted", event)
		}
	})
}

func TestTheReceiversOwnMistakeIsAnsweredAsOneAndNotTold(t *testing.T) {
	for name, verifier := range map[string]*WebhookVerifier{
		"no secret":           NewWebhookVerifier(nil),
		"an empty secret":     NewWebhookVerifier([]string{""}),
		"an unreadable one":   NewWebhookVerifier([]string{"whsec_?"}),
		"a negative distance": NewWebhookVerifier([]string{vectorSecret}, WithTolerance(-time.Second)),
	} {
		request := httptest.NewRequest(http.MethodPost, "/webhooks", strings.NewReader("{}"))
		request.Header = signed(vectorSecret, "{}", time.Now())
		writer := httptest.NewRecorder()
		WebhookHandler(verifier, func(context.Context, WebhookEvent) error {
			t.Errorf("%s: it was handed over", name)
			return nil
		}).ServeHTTP(writer, request)
		if writer.Code != http.StatusInternalServerError || writer.Body.Len() > 0 {
			t.Errorf("%s: %d %s", name, writer.Code, writer.Body)
		}
	}
}

func TestASecretMayLackItsPadding(t *testing.T) {
	const padded = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLQ=="
	header := signed(padded, "{}", vectorTime)
	for secret, accepted := range map[string]bool{
		padded:                             true,
		strings.TrimRight(padded, "="):     true,
		padded[6:]:                         true,
		strings.TrimRight(padded[6:], "="): true,
		padded[:len(padded)-1]:             false,
		padded + "=":                       false,
		padded + "\n":                      false,
		padded[:20] + "\n" + padded[20:]:   false,
		padded[:len(padded)-3]:             false,
	} {
		verifier := NewWebhookVerifier([]string{secret}, WithClock(func() time.Time { return vectorTime }))
		err := verifier.VerifySignature([]byte("{}"), header)
		if (err == nil) != accepted || (!accepted && reasonOf(err) != WebhookReasonInvalidSecret) {
			t.Errorf("%q: %v", secret, err)
		}
	}
}
