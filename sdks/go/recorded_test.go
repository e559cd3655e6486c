// A client whose transport gives prepared answers and remembers what was sent; it does not really wait.
// It expects nothing by itself.

package tranche

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// roundTrip is a transport made of a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

func answer(status int, body string, header ...string) *http.Response {
	response := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body))}
	for index := 0; index+1 < len(header); index += 2 {
		response.Header.Set(header[index], header[index+1])
	}
	return response
}

// recorded is a client whose transport gives the answers one after the other, and which does not really wait.
type recorded struct {
	*Client
	requests []*http.Request
	bodies   []string
	pauses   []time.Duration
}

func record(t *testing.T, answers ...func() (*http.Response, error)) *recorded {
	t.Helper()
	seen := &recorded{}
	seen.Client = NewClient("tr_live_secret", WithBaseURL("http://service.test"), WithTransport(roundTrip(func(request *http.Request) (*http.Response, error) {
		body := []byte{}
		if request.Body != nil {
			body, _ = io.ReadAll(request.Body)
		}
		seen.requests = append(seen.requests, request)
		seen.bodies = append(seen.bodies, string(body))
		if len(seen.requests) > len(answers) {
			return nil, fmt.Errorf("request %d was not expected", len(seen.requests))
		}
		return answers[len(seen.requests)-1]()
	})))
	seen.core.clock = clock{
		sleep: func(ctx context.Context, pause time.Duration) error {
			seen.pauses = append(seen.pauses, pause)
			return ctx.Err()
		},
		random: func() float64 { return 0 },
	}
	return seen
}

func status(code int, body string, header ...string) func() (*http.Response, error) {
	return func() (*http.Response, error) { return answer(code, body, header...), nil }
}

func broken(err error) func() (*http.Response, error) {
	return func() (*http.Response, error) { return nil, err }
}

const projectBody = `{"id":"prj_1","object":"project","name":"Website"}`
