// The event log as it grows: one connection after the other, each going on from where the one before it broke.
// It hands on each event once and in order, and stores nothing about who has read what.

package tranche

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// longestSilence is three times the 15 s after which the service shows that it is still there.
const longestSilence = 45 * time.Second

// EventStreamParams: where a stream begins and what it carries. Nil is every event that is committed from now on.
type EventStreamParams struct {
	// Only events after this one, those that exist at once: the Seq of the last one that was dealt with, or
	// 0 for all. Nil: those that are committed from now on.
	AfterSeq *int64

	// Only events of these kinds. Empty: every kind.
	EventTypes []EventType
}

func (params *EventStreamParams) query() url.Values {
	if params == nil {
		return nil
	}
	values := query{}
	values.integer("after_seq", params.AfterSeq)
	if len(params.EventTypes) > 0 {
		names := make([]string, len(params.EventTypes))
		for index, kind := range params.EventTypes {
			names[index] = string(kind)
		}
		values.set("event_types", strings.Join(names, ","))
	}
	return url.Values(values)
}

// Stream: each event as soon as it is committed, in order, without a gap and once.
//
// The loop goes on until it breaks, the context ends or an error comes, which is the last that it gets. A
// connection that breaks, ends or falls silent is followed by another, which goes on where it stood; so are
// the answers that other calls repeat too. After as many failures in a row as [WithMaxRetries] allows, with
// no event and no other sign of life between them, the error is the last of them. A key that may not read
// events, parameters that are wrong and a message that is no event are errors at once, and so is
// [ErrTooManyStreams].
//
// [WithTimeout] bounds how long a connection may take to begin, never how long a stream lasts.
//
// Scope: `events:read`.
//
// GET /v1/events/stream
func (s *EventService) Stream(ctx context.Context, params *EventStreamParams, options ...RequestOption) iter.Seq2[*Event, error] {
	operation := &call{method: http.MethodGet, path: "/v1/events/stream", query: params.query()}
	return func(yield func(*Event, error) bool) {
		prepared, err := s.core.prepare(operation, options)
		if err != nil {
			yield(nil, err)
			return
		}
		prepared.header.Set("Accept", "text/event-stream")
		// A compressed stream would arrive in lumps.
		prepared.header.Set("Accept-Encoding", "identity")
		stream := &eventStream{core: s.core, prepared: prepared, yield: yield}
		if err := stream.run(ctx); err != errLoopEnded {
			yield(nil, err)
		}
	}
}

// errLoopEnded says that the caller's loop wants no more.
var errLoopEnded = errors.New("the loop ended")

// eventStream is one loop over the events.
type eventStream struct {
	*core
	prepared *request
	yield    func(*Event, error) bool

	// place is the Seq up to which everything was handed on or passed by, once the service has named one.
	place  int64
	placed bool
	// retry is how long the service asks to wait before coming back.
	retry time.Duration
	// progress says that the connection brought something: an event, a place or a sign of life.
	progress bool
}

// run opens connection after connection; it ends only with an error.
func (s *eventStream) run(ctx context.Context) error {
	for failures := 1; ; failures++ {
		s.progress = false
		response, failure := s.follow(ctx, failures)
		if failure == errLoopEnded {
			return failure
		}
		if s.progress {
			failures = 1
		}
		pause, again := s.pause(ctx, s.prepared, response, failure, failures)
		// A message that cannot be read would come again as it is.
		if !again || errors.Is(failure, ErrTooManyStreams) || errors.Is(failure, errMessageUnreadable) || errors.Is(failure, errMessageTooLong) {
			return s.prepared.explain(ctx, failure, failures)
		}
		pause = max(pause, s.retry+time.Duration(s.clock.random()*float64(spread)))
		if s.clock.sleep(ctx, pause) != nil {
			return s.prepared.explain(ctx, failure, failures)
		}
	}
}

// follow opens a connection and hands on what it brings, until it is over; the error says why.
func (s *eventStream) follow(ctx context.Context, attempt int) (*Response, error) {
	own, leave := context.WithCancelCause(ctx)
	// Whatever ends this, the connection is closed.
	defer leave(nil)
	limit := s.answerWithin()
	watch := time.AfterFunc(limit, func() { leave(&silence{limit}) })
	defer watch.Stop()

	begun := time.Now()
	answer, response, err := s.open(own, attempt)
	err = causeOf(own, err)
	s.tell(ctx, s.prepared, attempt, response, err, time.Since(begun))
	if answer != nil {
		defer answer.Body.Close()
	}
	if response != nil && s.prepared.config.response != nil {
		*s.prepared.config.response = *response
	}
	if err != nil {
		return response, err
	}
	watch.Stop()
	body := &watched{body: answer.Body, limit: s.longestSilence, watch: time.AfterFunc(s.longestSilence, func() { leave(&silence{s.longestSilence}) })}
	defer body.watch.Stop()
	return response, causeOf(own, s.read(ctx, &messageReader{source: body}))
}

// answerWithin is how long the beginning of an answer may take.
func (s *eventStream) answerWithin() time.Duration {
	limit := s.longestSilence
	for _, given := range []time.Duration{s.prepared.config.timeout, s.httpClient.Timeout} {
		if given > 0 {
			limit = min(limit, given)
		}
	}
	return limit
}

// open sends the request. The answer is nil, and read to its end, unless it is a stream.
func (s *eventStream) open(ctx context.Context, attempt int) (*http.Response, *Response, error) {
	sent, err := http.NewRequestWithContext(ctx, s.prepared.method, s.prepared.url, nil)
	if err != nil {
		return nil, nil, err
	}
	sent.Header = s.prepared.header.Clone()
	if s.placed {
		sent.Header.Set("Last-Event-ID", strconv.FormatInt(s.place, 10))
	}
	// The timeout of a whole exchange would cut a stream, which has no end.
	endless := *s.httpClient
	endless.Timeout = 0
	answer, err := endless.Do(sent)
	if err != nil {
		return nil, nil, withoutURL(err)
	}
	response := &Response{StatusCode: answer.StatusCode, Header: answer.Header, Attempts: attempt}
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if answer.StatusCode == http.StatusOK && kind == "text/event-stream" {
		return answer, response, nil
	}
	defer answer.Body.Close()
	if response.Body, err = readAll(answer); err != nil {
		return nil, nil, err
	}
	if answer.StatusCode >= 200 && answer.StatusCode <= 299 {
		other := fmt.Errorf("it is no event stream but %q", kind)
		if json.Valid(response.Body) {
			return nil, response, unexpected(response, other)
		}
		return nil, response, &unreadable{other}
	}
	return nil, response, s.errorOf(response)
}

// read hands on what a connection brings.
func (s *eventStream) read(ctx context.Context, messages *messageReader) error {
	for {
		one, err := messages.next()
		if messages.retry > 0 {
			s.retry = messages.retry
		}
		s.progress = s.progress || messages.heard
		if err == nil {
			s.progress = true
			err = s.take(ctx, one)
		}
		if err == io.EOF {
			return errStreamEnded
		}
		if err != nil {
			return err
		}
	}
}

// errStreamEnded says that the service ended the stream, as it does when it stops.
var errStreamEnded = errors.New("the service ended the stream")

// errMessageUnreadable says that a whole message is no event.
var errMessageUnreadable = errors.New("a message of the stream is no event")

// take hands on the event of a message, unless it was handed on before, and moves the place.
func (s *eventStream) take(ctx context.Context, one message) error {
	if len(one.data) == 0 {
		if place, err := strconv.ParseInt(one.id, 10, 64); err == nil {
			s.moveTo(place)
		}
		return nil
	}
	event := &Event{}
	if err := json.Unmarshal(one.data, event); err != nil {
		return fmt.Errorf("%w: %w", errMessageUnreadable, err)
	}
	if event.Seq <= 0 {
		return fmt.Errorf("%w: it has no number", errMessageUnreadable)
	}
	if s.placed && event.Seq <= s.place {
		return nil
	}
	// What has arrived is not handed on to somebody who has left.
	if err := ctx.Err(); err != nil {
		return err
	}
	s.moveTo(event.Seq)
	if !s.yield(event, nil) {
		return errLoopEnded
	}
	return nil
}

func (s *eventStream) moveTo(place int64) {
	if !s.placed || place > s.place {
		s.place, s.placed = place, true
	}
}

// watched is a body whose reads may not take longer than the limit. Only waiting counts, not what the caller's
// loop does between two reads.
type watched struct {
	body  io.Reader
	watch *time.Timer
	limit time.Duration
}

func (w *watched) Read(into []byte) (int, error) {
	w.watch.Reset(w.limit)
	defer w.watch.Stop()
	return w.body.Read(into)
}

// silence is the failure of a connection on which nothing came.
type silence struct{ limit time.Duration }

func (s *silence) Error() string { return fmt.Sprintf("nothing came for %v", s.limit) }

// Timeout is true, as [net.Error] has it.
func (s *silence) Timeout() bool { return true }

// causeOf is the silence that ended a connection, where that is why it failed.
func causeOf(ctx context.Context, failure error) error {
	var silent *silence
	if failure != nil && failure != errLoopEnded && errors.As(context.Cause(ctx), &silent) {
		return silent
	}
	return failure
}
