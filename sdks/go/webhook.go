// Verifies webhooks and turns them into typed events.
// It answers nobody: the handler for net/http is in webhook_handler.go.

package tranche

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// DefaultWebhookTolerance is how far the timestamp of a webhook may be from now, in either direction.
const DefaultWebhookTolerance = 5 * time.Minute

// WebhookEvent is a verified webhook. It is a pointer to one of the types of this package that are named
// after the kinds of event, such as [*PaymentReleasedWebhook]; a kind that this version of the client does
// not know is an [*UnknownWebhook].
//
//	switch event := event.(type) {
//	case *tranche.PaymentReleasedWebhook:
//		fmt.Println(event.Data.Amount, event.Data.Currency)
//	}
type WebhookEvent interface {
	// Type is the kind of event.
	Type() EventType

	// Meta is what the headers say.
	Meta() *WebhookMeta
}

// WebhookMeta is what the headers of a webhook say.
type WebhookMeta struct {
	// ID is the id of the event, the same at every attempt. Use it to do things once.
	ID string

	// Timestamp is when this attempt was sent.
	Timestamp time.Time

	// Seq is the place of the event in the workspace; 0 when it has none, as a test event.
	Seq int64

	// PrevSeq is the place of the event that was sent to this endpoint before it; 0 when it is the first.
	PrevSeq int64

	// Attempt is which attempt this is, from 1; 0 when the header is absent.
	Attempt int64

	// Raw is the body as it arrived.
	Raw []byte
}

// Meta returns what the headers say.
func (m *WebhookMeta) Meta() *WebhookMeta { return m }

// UnknownWebhook is a webhook of a kind that this version of the client does not know.
type UnknownWebhook struct {
	WebhookMeta `json:"-"`

	// Event is the kind of event.
	Event EventType `json:"event"`

	// Data is the payload as it arrived.
	Data json.RawMessage `json:"data"`
}

// Type returns the kind of event.
func (w *UnknownWebhook) Type() EventType { return w.Event }

// WebhookReason says why a webhook was refused.
type WebhookReason string

// The reasons for which a webhook is refused, in the order in which they are looked for.
const (
	WebhookReasonInvalidSecret       WebhookReason = "invalid_secret"
	WebhookReasonMissingHeader       WebhookReason = "missing_header"
	WebhookReasonInvalidTimestamp    WebhookReason = "invalid_timestamp"
	WebhookReasonNoMatchingSignature WebhookReason = "no_matching_signature"
	WebhookReasonTimestampTooOld     WebhookReason = "timestamp_too_old"
	WebhookReasonTimestampTooNew     WebhookReason = "timestamp_too_new"
	WebhookReasonInvalidPayload      WebhookReason = "invalid_payload"
)

// WebhookVerificationError says that a webhook is not to be trusted, and why.
type WebhookVerificationError struct {
	// Reason is why.
	Reason WebhookReason

	detail string
}

// Error tells why, without any part of a secret.
func (e *WebhookVerificationError) Error() string {
	return "tranche: webhook refused: " + string(e.Reason) + ": " + e.detail
}

func refused(reason WebhookReason, detail string) error {
	return &WebhookVerificationError{reason, detail}
}

// VerifyWebhook checks that a webhook was signed with one of the secrets and is recent, and returns its
// event. Body must be the bytes as they arrived: JSON that was read and written again has another signature.
// While a secret is being rotated, give the new one and the old one. Options of [NewWebhookVerifier] change
// the tolerance.
func VerifyWebhook(body []byte, header http.Header, secrets ...string) (WebhookEvent, error) {
	return NewWebhookVerifier(secrets).Verify(body, header)
}

// WebhookVerifier checks webhooks with the secrets it holds. It is safe for concurrent use.
type WebhookVerifier struct {
	// keys is a closure, so that no printer and no reflection sees them.
	keys      func() [][]byte
	broken    error
	tolerance time.Duration
	now       func() time.Time
}

// WebhookOption is a setting of a [WebhookVerifier].
type WebhookOption func(*WebhookVerifier)

// WithTolerance says how far the timestamp of a webhook may be from now; [DefaultWebhookTolerance] otherwise.
// A negative one is the error of every verification.
func WithTolerance(tolerance time.Duration) WebhookOption {
	return func(v *WebhookVerifier) { v.tolerance = tolerance }
}

// WithClock replaces the clock, for tests.
func WithClock(now func() time.Time) WebhookOption {
	return func(v *WebhookVerifier) { v.now = now }
}

const secretPrefix = "whsec_"

// NewWebhookVerifier makes a verifier for the secrets of an endpoint: one, or several while a secret is being
// rotated. A secret that cannot be read is the error of every verification.
func NewWebhookVerifier(secrets []string, options ...WebhookOption) *WebhookVerifier {
	verifier := &WebhookVerifier{tolerance: DefaultWebhookTolerance, now: time.Now}
	var keys [][]byte
	for _, secret := range secrets {
		key, ok := keyOf(secret)
		if !ok {
			verifier.broken = refused(WebhookReasonInvalidSecret, "a secret is not whsec_ and base64")
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		verifier.broken = refused(WebhookReasonInvalidSecret, "there is none")
	}
	verifier.keys = func() [][]byte { return keys }
	for _, option := range options {
		option(verifier)
	}
	if verifier.tolerance < 0 && verifier.broken == nil {
		verifier.broken = errors.New("tranche: the tolerance of a webhook verifier is negative")
	}
	return verifier
}

// keyOf reads a secret, which may lack its prefix and its padding.
func keyOf(secret string) ([]byte, bool) {
	// The decoder passes over line breaks; no secret has any.
	if strings.ContainsAny(secret, "\r\n") {
		return nil, false
	}
	text := strings.TrimPrefix(secret, secretPrefix)
	encoding := base64.StdEncoding
	if len(text)%4 != 0 {
		encoding = base64.RawStdEncoding
	}
	key, err := encoding.DecodeString(text)
	return key, err == nil && len(key) > 0
}

// Verify checks a webhook and returns its event. The error is a [*WebhookVerificationError], unless the
// verifier's own settings are at fault.
func (v *WebhookVerifier) Verify(body []byte, header http.Header) (WebhookEvent, error) {
	meta, err := v.check(body, header)
	if err != nil {
		return nil, err
	}
	return parseWebhook(body, meta)
}

// VerifySignature checks only that the bytes are signed and recent, whatever they are.
func (v *WebhookVerifier) VerifySignature(body []byte, header http.Header) error {
	_, err := v.check(body, header)
	return err
}

func (v *WebhookVerifier) check(body []byte, header http.Header) (*WebhookMeta, error) {
	if v.broken != nil {
		return nil, v.broken
	}
	id, stamp, signatures := headerOf(header, "webhook-id"), headerOf(header, "webhook-timestamp"), headerOf(header, "webhook-signature")
	if id == "" || stamp == "" || signatures == "" {
		return nil, refused(WebhookReasonMissingHeader, "webhook-id, webhook-timestamp and webhook-signature are needed")
	}
	seconds, err := strconv.ParseUint(stamp, 10, 40)
	if err != nil {
		return nil, refused(WebhookReasonInvalidTimestamp, "it is not a number of whole seconds")
	}
	if !v.signed(id, stamp, body, signatures) {
		return nil, refused(WebhookReasonNoMatchingSignature, "no signature is made with a secret of this endpoint")
	}
	sent := time.Unix(int64(seconds), 0)
	// Compared in whole seconds, as the header has them.
	age := time.Duration(v.now().Unix()-sent.Unix()) * time.Second
	if age > v.tolerance {
		return nil, refused(WebhookReasonTimestampTooOld, "it was sent too long ago, or the clock is wrong")
	}
	if age < -v.tolerance {
		return nil, refused(WebhookReasonTimestampTooNew, "it was sent in the future, or the clock is wrong")
	}
	return &WebhookMeta{
		ID:        id,
		Timestamp: sent,
		Seq:       countOf(header, "Tranche-Seq"),
		PrevSeq:   countOf(header, "Tranche-Prev-Seq"),
		Attempt:   countOf(header, "Tranche-Attempt"),
		Raw:       body,
	}, nil
}

// signed tries every secret on every signature. It stops at none that matches, so that its time says nothing.
func (v *WebhookVerifier) signed(id, stamp string, body []byte, signatures string) bool {
	matches := false
	for _, key := range v.keys() {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + stamp + "."))
		mac.Write(body)
		expected := mac.Sum(nil)
		for _, signature := range strings.Fields(signatures) {
			encoded, isV1 := strings.CutPrefix(signature, "v1,")
			given, err := base64.StdEncoding.DecodeString(encoded)
			if isV1 && err == nil && hmac.Equal(expected, given) {
				matches = true
			}
		}
	}
	return matches
}

// parseWebhook reads the event out of a body. Unknown fields are passed over, an unknown kind is kept as it is.
func parseWebhook(body []byte, meta *WebhookMeta) (WebhookEvent, error) {
	envelope := &UnknownWebhook{WebhookMeta: *meta}
	if !utf8.Valid(body) || json.Unmarshal(body, envelope) != nil {
		return nil, refused(WebhookReasonInvalidPayload, "it is not an object with event and data")
	}
	if envelope.Event == "" || !bytes.HasPrefix(bytes.TrimSpace(envelope.Data), []byte("{")) {
		return nil, refused(WebhookReasonInvalidPayload, "it is not an object with event and data")
	}
	event := newWebhook(envelope.Event)
	if event == nil {
		return envelope, nil
	}
	if err := json.Unmarshal(body, event); err != nil {
		return nil, refused(WebhookReasonInvalidPayload, "its data is not that of "+string(envelope.Event))
	}
	*event.Meta() = *meta
	return event, nil
}

// Webhook returns an event of the log as the webhook that tells of it: typed, but without a timestamp.
func (e *Event) Webhook() (WebhookEvent, error) {
	body, err := json.Marshal(struct {
		Event EventType       `json:"event"`
		Data  json.RawMessage `json:"data"`
	}{e.Type, e.Data})
	if err != nil {
		return nil, err
	}
	return parseWebhook(body, &WebhookMeta{ID: e.ID, Seq: e.Seq, Raw: body})
}

// headerOf finds a header whatever the case of its name: a map that was not made by net/http may hold any.
func headerOf(header http.Header, name string) string {
	if value := header.Get(name); value != "" {
		return value
	}
	for key, values := range header {
		if strings.EqualFold(key, name) && len(values) > 0 {
			return values[0]
		}
	}
	return ""
}

// countOf reads a header that counts from 1; 0 when it is absent or something else.
func countOf(header http.Header, name string) int64 {
	count, err := strconv.ParseInt(headerOf(header, name), 10, 64)
	if err != nil {
		return 0
	}
	return max(count, 0)
}
