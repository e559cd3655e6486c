// What came back from the service besides the resource itself.
// It only reads; nothing here decides whether to send again.

package tranche

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Response is the raw answer to a call; see [WithResponse].
type Response struct {
	// StatusCode is the HTTP status.
	StatusCode int

	// Header holds the headers of the answer.
	Header http.Header

	// Body is the body as it arrived.
	Body []byte

	// Attempts is how many requests the call took.
	Attempts int

	// IdempotencyKey is the key that the call carried; empty where the operation takes none.
	IdempotencyKey string
}

// RequestID names the request in the log of the service.
func (r *Response) RequestID() string { return r.Header.Get("Request-Id") }

// Replayed says whether this is the stored answer to an earlier request with the same idempotency key.
func (r *Response) Replayed() bool { return r.Header.Get("Idempotent-Replayed") == "true" }

// RateLimit tells what is left of the key's requests; false when the answer did not say.
func (r *Response) RateLimit() (RateLimit, bool) {
	now := parameters(r.Header.Get("RateLimit"))
	policy := parameters(r.Header.Get("RateLimit-Policy"))
	remaining, ok := now["r"]
	if !ok {
		return RateLimit{}, false
	}
	return RateLimit{
		Limit:     policy["q"],
		Window:    time.Duration(policy["w"]) * time.Second,
		Remaining: remaining,
		Reset:     time.Duration(now["t"]) * time.Second,
	}, true
}

// RateLimit is how many requests a key may send.
type RateLimit struct {
	// Limit is how many requests a window allows.
	Limit int64

	// Window is how long a window is.
	Window time.Duration

	// Remaining is how many are left in this window, at least.
	Remaining int64

	// Reset is how long it is until the next window.
	Reset time.Duration
}

// parameters reads the whole numbers of a header such as `"default";r=999;t=42`.
func parameters(header string) map[string]int64 {
	found := map[string]int64{}
	for _, part := range strings.Split(header, ";") {
		name, text, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok {
			continue
		}
		if value, err := strconv.ParseInt(text, 10, 64); err == nil {
			found[name] = value
		}
	}
	return found
}
