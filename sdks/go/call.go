// Sends one call: attempt after attempt with one idempotency key, until an answer stands.
// It knows no resource, and never shows a header to a log or an error.

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
	"net/url"
	"time"
)

// maxResponseBytes bounds what is read of an answer; a page of a hundred records stays far below it.
const maxResponseBytes = 32 << 20

// fetch performs a call and returns the resource that it answers.
func fetch[T any, A answerOf[T]](ctx context.Context, c *core, operation *call, options []RequestOption) (*T, error) {
	var resource *T
	err := c.do(ctx, operation, func(body []byte) error {
		// A new one for each attempt: nothing of an answer that was cut short may stay.
		resource = new(T)
		return readAnswer(body, A(resource))
	}, options)
	if err != nil {
		return nil, err
	}
	return resource, nil
}

// send performs a call that answers nothing.
func send(ctx context.Context, c *core, operation *call, options []RequestOption) error {
	return c.do(ctx, operation, nil, options)
}

// do performs the call and hands its answer to decode, where there is one.
func (c *core) do(ctx context.Context, operation *call, decode func(body []byte) error, options []RequestOption) error {
	prepared, err := c.prepare(operation, options)
	if err != nil {
		return err
	}
	unanswered := false
	for attempt := 1; ; attempt++ {
		response, failure := c.attempt(ctx, prepared, attempt)
		if failure == nil {
			failure = c.read(prepared, response, decode)
		}
		if unanswered && prepared.method == http.MethodDelete && errors.Is(failure, ErrNotFound) && decode == nil {
			// What became of an attempt before this one is unknown: it did delete.
			failure = nil
		}
		// A gateway answers with a 5xx when it lost the answer.
		unanswered = unanswered || response == nil || response.StatusCode >= http.StatusInternalServerError
		if response != nil && prepared.config.response != nil {
			*prepared.config.response = *response
		}
		if failure == nil {
			return nil
		}
		pause, again := c.pause(ctx, prepared, response, failure, attempt)
		if !again {
			return prepared.explain(ctx, failure, attempt)
		}
		if c.clock.sleep(ctx, pause) != nil {
			// The context ended, or would end before the pause does: then the failure that stands says more.
			return prepared.explain(ctx, failure, attempt)
		}
	}
}

// attempt sends the request once and reads the whole answer. An error means that none arrived in full.
func (c *core) attempt(ctx context.Context, prepared *request, number int) (*Response, error) {
	if timeout := prepared.config.timeout; timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	var body io.Reader
	if prepared.payload != nil {
		body = bytes.NewReader(prepared.payload)
	}
	sent, err := http.NewRequestWithContext(ctx, prepared.method, prepared.url, body)
	if err != nil {
		return nil, err
	}
	// Each attempt has headers of its own: a transport may add to them.
	sent.Header = prepared.header.Clone()
	begun := time.Now()
	response, err := c.exchange(sent, prepared, number)
	c.tell(ctx, prepared, number, response, err, time.Since(begun))
	return response, err
}

func (c *core) exchange(sent *http.Request, prepared *request, number int) (*Response, error) {
	answer, err := c.httpClient.Do(sent)
	if err != nil {
		return nil, withoutURL(err)
	}
	defer answer.Body.Close()
	body, err := readAll(answer)
	if err != nil {
		return nil, err
	}
	return &Response{
		StatusCode:     answer.StatusCode,
		Header:         answer.Header,
		Body:           body,
		Attempts:       number,
		IdempotencyKey: prepared.config.idempotencyKey,
	}, nil
}

func readAll(answer *http.Response) ([]byte, error) {
	buffer := bytes.NewBuffer(make([]byte, 0, min(max(answer.ContentLength, 0), maxResponseBytes)+bytes.MinRead))
	if _, err := buffer.ReadFrom(io.LimitReader(answer.Body, maxResponseBytes+1)); err != nil {
		return nil, err
	}
	if buffer.Len() > maxResponseBytes {
		return nil, fmt.Errorf("the answer is longer than %d bytes", maxResponseBytes)
	}
	return buffer.Bytes(), nil
}

// withoutURL takes the address off an error of net/http: ours names the path itself.
func withoutURL(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// read turns an answer into its resource, or into the error that it is.
func (c *core) read(prepared *request, response *Response, decode func(body []byte) error) error {
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return c.errorOf(response)
	}
	var err error
	switch empty := len(response.Body) == 0; {
	case decode == nil && (empty || prepared.answersAnything):
		return nil
	case decode == nil:
		err = errors.New("it is not empty")
	case empty:
		return unexpected(response, errors.New("it is empty"))
	default:
		err = decode(response.Body)
	}
	switch {
	case err == nil:
		return nil
	case json.Valid(response.Body):
		// It arrived in full and is something else: it would be the next time, too.
		return unexpected(response, err)
	}
	return &unreadable{err}
}

// unreadable is a success whose body is not what it should be: cut short on its way, most likely.
type unreadable struct{ cause error }

func (u *unreadable) Error() string { return "the answer cannot be read: " + u.cause.Error() }
func (u *unreadable) Unwrap() error { return u.cause }

// pause says whether a failed attempt is followed by another, and when. Every operation may be repeated:
// reads and deletions are the same done twice, and the others carry an idempotency key.
func (c *core) pause(ctx context.Context, prepared *request, response *Response, failure error, attempt int) (time.Duration, bool) {
	if attempt > prepared.config.maxRetries || ctx.Err() != nil || !prepared.repeatable() {
		return 0, false
	}
	random := c.clock.random()
	var problem *Error
	var other *UnexpectedAnswerError
	switch {
	case errors.As(failure, &other):
		return 0, false
	case errors.As(failure, &problem):
		if !worthRepeating(problem.Status) {
			return 0, false
		}
		return pauseAfter(response.Header, attempt, random, time.Now())
	}
	return backoff(attempt, random), true
}

func (r *request) repeatable() bool {
	switch r.method {
	case http.MethodGet, http.MethodHead, http.MethodPut, http.MethodDelete, http.MethodOptions:
		return true
	}
	return r.keyed
}

// explain makes the error that the caller gets.
func (r *request) explain(ctx context.Context, failure error, attempts int) error {
	ended := ctx.Err()
	var problem *Error
	var other *UnexpectedAnswerError
	if ended == nil && (errors.As(failure, &problem) || errors.As(failure, &other)) {
		return failure
	}
	if ended != nil {
		failure = ended
	}
	broken := &ConnectionError{
		Method:         r.method,
		Path:           r.path,
		Attempts:       attempts,
		IdempotencyKey: r.config.idempotencyKey,
		Err:            failure,
	}
	if errors.Is(ended, context.Canceled) {
		return (*AbortedError)(broken)
	}
	return broken
}

func (c *core) tell(ctx context.Context, prepared *request, number int, response *Response, failure error, took time.Duration) {
	logger := c.config.logger
	if logger == nil || !logger.Enabled(ctx, slog.LevelDebug) {
		return
	}
	known := []slog.Attr{
		slog.String("method", prepared.method),
		slog.String("path", prepared.path),
		slog.Int("attempt", number),
		slog.Duration("took", took),
	}
	if failure != nil {
		known = append(known, slog.String("error", failure.Error()))
	}
	if response != nil {
		known = append(known, slog.Int("status", response.StatusCode), slog.String("request_id", response.RequestID()))
	}
	logger.LogAttrs(ctx, slog.LevelDebug, "tranche request", known...)
}
