// That a stream hands on each event once, in order and without a gap, comes back after breaks, and ends where it should.

package tranche

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"
)

func eventText(seq int64) string {
	return fmt.Sprintf("id: %d\ndata: {\"id\":\"evt_%d\",\"seq\":%d,\"type\":\"payment.released\",\"data\":{\"amount\":%d}}\n\n", seq, seq, seq, seq)
}

// streamed is the answer of a stream that ends by itself.
func streamed(text string) func() (*http.Response, error) {
	return status(200, text, "Content-Type", "text/event-stream; charset=utf-8")
}

// cut is the answer of a stream whose connection breaks.
func cut(text string) func() (*http.Response, error) {
	return func() (*http.Response, error) {
		response := answer(200, "", "Content-Type", "text/event-stream")
		response.Body = io.NopCloser(io.MultiReader(strings.NewReader(text), iotest.ErrReader(io.ErrUnexpectedEOF)))
		return response, nil
	}
}

// seqsOf goes through a stream until it ends, or count events have come.
func seqsOf(ctx context.Context, client *Client, params *EventStreamParams, count int, options ...RequestOption) (seqs []int64, err error) {
	for event, err := range client.Events.Stream(ctx, params, options...) {
		if err != nil {
			return seqs, err
		}
		if seqs = append(seqs, event.Seq); len(seqs) == count {
			break
		}
	}
	return seqs, nil
}

func TestAStreamThatBreaksOrEndsGoesOnWithoutAGapOrARepeat(t *testing.T) {
	third := eventText(7)
	seen := record(t,
		streamed("retry: 3000\nid: 4\n\n"+eventText(5)),
		// The place of an event whose message was cut off is not taken.
		cut(eventText(6)+third[:len(third)-1]),
		broken(io.EOF),
		cut(eventText(5)+eventText(6)+third+": still here\nid: 9\n\n"),
		streamed("id: 9\n\n"+eventText(10)+eventText(11)))
	seqs, err := seqsOf(context.Background(), seen.Client, &EventStreamParams{AfterSeq: Int64(4), EventTypes: []EventType{EventTypePaymentReleased, EventTypeInvoiceIssued}}, 4)
	if err != nil || !slices.Equal(seqs, []int64{5, 6, 7, 10}) {
		t.Fatalf("%v %v", seqs, err)
	}
	var places []string
	for _, request := range seen.requests {
		places = append(places, request.Header.Get("Last-Event-ID"))
		if query := request.URL.RawQuery; query != "after_seq=4&event_types=payment.released%2Cinvoice.issued" || request.URL.Path != "/v1/events/stream" {
			t.Error(request.URL)
		}
		if header := request.Header; header.Get("Accept") != "text/event-stream" || header.Get("Accept-Encoding") != "identity" {
			t.Errorf("%v", header)
		}
	}
	if !slices.Equal(places, []string{"", "5", "6", "6", "9"}) {
		t.Errorf("%q", places)
	}
	// As long as the service asked, which is longer than the backoff of these.
	if !slices.Equal(seen.pauses, []time.Duration{3 * time.Second, 3 * time.Second, 3 * time.Second, 3 * time.Second}) {
		t.Error(seen.pauses)
	}
}

func TestEventsOfAStreamAreTyped(t *testing.T) {
	seen := record(t, streamed(eventText(1)))
	for event, err := range seen.Events.Stream(context.Background(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		webhook, err := event.Webhook()
		released, ok := webhook.(*PaymentReleasedWebhook)
		if err != nil || !ok || released.Data.Amount != 1 || event.ID != "evt_1" || event.Type != EventTypePaymentReleased {
			t.Errorf("%+v %+v %v", event, webhook, err)
		}
		break
	}
	if query := seen.requests[0].URL.RawQuery; query != "" {
		t.Error(query)
	}
}

func TestAStreamEndsAtOnceWhereItIsAnsweredWithJSON(t *testing.T) {
	seen := record(t, status(200, `{"ok":true}`, "Content-Type", "application/json"))
	var problem *UnexpectedAnswerError
	for _, err := range seen.Events.Stream(context.Background(), nil) {
		if !errors.As(err, &problem) || !strings.Contains(err.Error(), `no event stream but "application/json"`) {
			t.Error(err)
		}
	}
	if problem == nil || len(seen.requests) != 1 {
		t.Errorf("%d requests", len(seen.requests))
	}
}

func TestAStreamEndsAfterTooManyFailuresInARowAndOnlyThen(t *testing.T) {
	seen := record(t,
		// A place is progress, and so are signs of life, though no event has come.
		streamed("retry: 10\nid: 4\n\n"), status(503, `{"code":"overloaded"}`, "Retry-After", "4"),
		streamed("id: 4\n\n: still here\n\n"), status(200, "<html>", "Content-Type", "text/html"),
		cut(eventText(5)), status(429, `{"code":"rate_limited"}`, "Retry-After", "9"), broken(io.EOF), broken(io.EOF))
	seqs, err := seqsOf(context.Background(), seen.Client, nil, 9)
	var failure *ConnectionError
	if !slices.Equal(seqs, []int64{5}) || !errors.As(err, &failure) || failure.Attempts != 3 || len(seen.requests) != 7 {
		t.Errorf("%v %v after %d requests", seqs, err, len(seen.requests))
	}
	// The backoff begins anew with each progress.
	half := 500 * time.Millisecond
	if !slices.Equal(seen.pauses, []time.Duration{half, 4 * time.Second, half, time.Second, half, 9 * time.Second}) {
		t.Error(seen.pauses)
	}
}

func TestAStreamEndsAtOnceWhereComingBackWouldNotHelp(t *testing.T) {
	for code, wanted := range map[int]error{401: ErrInvalidAPIKey, 403: ErrInsufficientScope, 422: ErrValidationFailed, 429: ErrTooManyStreams} {
		code, wanted := code, wanted
		body := fmt.Sprintf(`{"code":%q,"request_id":"req_1"}`, wanted)
		seen := record(t, streamed(eventText(1)), status(code, body, "Retry-After", "1"))
		var response Response
		seqs, err := seqsOf(context.Background(), seen.Client, nil, 9, WithResponse(&response))
		var problem *Error
		if !slices.Equal(seqs, []int64{1}) || !errors.Is(err, wanted) || !errors.As(err, &problem) || problem.RequestID != "req_1" {
			t.Errorf("%d: %v %v", code, seqs, err)
		}
		if len(seen.requests) != 2 || response.StatusCode != code {
			t.Errorf("%d: %d requests, %+v", code, len(seen.requests), response)
		}
	}
}

func TestAMessageThatIsNoEventIsAnErrorAndIsNotAskedForAgain(t *testing.T) {
	for text, wanted := range map[string]error{
		"data: {\n\n":                  errMessageUnreadable,
		"data: null\n\n":               errMessageUnreadable,
		"data: {\"id\":\"evt_1\"}\n\n": errMessageUnreadable,
		"data: " + strings.Repeat("x", 2*maxMessageBytes) + "\n\n": errMessageTooLong,
	} {
		seen := record(t, streamed(eventText(1)+text+eventText(2)))
		seqs, err := seqsOf(context.Background(), seen.Client, nil, 9)
		if !slices.Equal(seqs, []int64{1}) || !errors.Is(err, wanted) || len(seen.requests) != 1 {
			t.Errorf("%.20q: %v %v", text, seqs, err)
		}
	}
}

func TestNothingIsHandedOnOnceTheContextEnded(t *testing.T) {
	seen := record(t, streamed(eventText(1)+eventText(2)))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var seqs []int64
	var last error
	for event, err := range seen.Events.Stream(ctx, nil) {
		if last = err; err == nil {
			seqs = append(seqs, event.Seq)
		}
		cancel()
	}
	var aborted *AbortedError
	if !slices.Equal(seqs, []int64{1}) || !errors.As(last, &aborted) || !errors.Is(last, context.Canceled) || len(seen.requests) != 1 {
		t.Errorf("%v %v", seqs, last)
	}
}

func TestALoopOverTheSameStreamBeginsAnew(t *testing.T) {
	seen := record(t, streamed(eventText(1)), streamed(eventText(1)))
	stream := seen.Events.Stream(context.Background(), nil)
	for range 2 {
		for event, err := range stream {
			if err != nil || event.Seq != 1 {
				t.Errorf("%+v %v", event, err)
			}
			break
		}
	}
	if place := seen.requests[1].Header.Get("Last-Event-ID"); place != "" {
		t.Error(place)
	}
}

// streaming is a server of streams: each request is handed on, with its number, and gone tells when it has left.
func streaming(t *testing.T, serve func(number int, request *http.Request, send func(text string))) (client *Client, gone chan int) {
	t.Helper()
	gone = make(chan int, 10)
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		// A request that was given up may still be here when the next one comes.
		number := int(requests.Add(1))
		defer func() { gone <- number }()
		writer.Header().Set("Content-Type", "text/event-stream")
		serve(number, request, func(text string) {
			_, _ = io.WriteString(writer, text)
			writer.(http.Flusher).Flush()
		})
	}))
	t.Cleanup(server.Close)
	client = NewClient("tr_live_secret", WithBaseURL(server.URL))
	client.core.clock.sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	return client, gone
}

func TestTheConnectionIsClosedWhenTheLoopBreaksOrTheContextEnds(t *testing.T) {
	client, gone := streaming(t, func(_ int, request *http.Request, send func(string)) {
		send(eventText(1))
		<-request.Context().Done()
	})
	if seqs, err := seqsOf(context.Background(), client, nil, 1); err != nil || len(seqs) != 1 {
		t.Fatalf("%v %v", seqs, err)
	}
	<-gone
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var last error
	for _, err := range client.Events.Stream(ctx, nil) {
		last = err
		// The loop now waits for the second event, which never comes.
		time.AfterFunc(time.Millisecond, cancel)
	}
	<-gone
	if !errors.Is(last, context.Canceled) {
		t.Error(last)
	}
}

func TestASilentConnectionIsFollowedByAnother(t *testing.T) {
	client, gone := streaming(t, func(number int, request *http.Request, send func(string)) {
		if place := request.Header.Get("Last-Event-ID"); number > 1 && place != "1" {
			t.Errorf("%q", place)
		}
		send(eventText(int64(number)))
		<-request.Context().Done()
	})
	client.core.longestSilence = 100 * time.Millisecond
	var seqs []int64
	for event, err := range client.Events.Stream(context.Background(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if seqs = append(seqs, event.Seq); len(seqs) == 2 {
			break
		}
	}
	<-gone
	if !slices.Equal(seqs, []int64{1, 2}) {
		t.Error(seqs)
	}
}

func TestSilenceForTooLongInARowIsATimeout(t *testing.T) {
	client, _ := streaming(t, func(_ int, request *http.Request, send func(string)) {
		send("")
		<-request.Context().Done()
	})
	client.core.longestSilence = 50 * time.Millisecond
	_, err := seqsOf(context.Background(), client, nil, 1)
	var late *TimeoutError
	if !errors.As(err, &late) || !strings.Contains(err.Error(), "nothing came for 50ms") {
		t.Error(err)
	}
}

func TestAnAnswerThatDoesNotBeginInTimeIsATimeout(t *testing.T) {
	client, _ := streaming(t, func(_ int, request *http.Request, _ func(string)) { <-request.Context().Done() })
	_, err := seqsOf(context.Background(), client, nil, 1, WithTimeout(20*time.Millisecond))
	var late *TimeoutError
	if !errors.As(err, &late) || late.Attempts != 1+DefaultMaxRetries {
		t.Error(err)
	}
}

func TestTheTimeoutOfACallDoesNotCutAStream(t *testing.T) {
	const limit = 300 * time.Millisecond
	client, gone := streaming(t, func(number int, request *http.Request, send func(string)) {
		if number > 1 {
			t.Error("the stream was cut")
		}
		for seq := int64(1); seq <= 4; seq++ {
			send(eventText(seq))
			// What is tested is that time passes.
			select {
			case <-time.After(limit / 2):
			case <-request.Context().Done():
			}
		}
	})
	client.core.httpClient.Timeout = limit
	seqs, err := seqsOf(context.Background(), client, nil, 4, WithTimeout(limit))
	<-gone
	if err != nil || !slices.Equal(seqs, []int64{1, 2, 3, 4}) {
		t.Errorf("%v %v", seqs, err)
	}
}
