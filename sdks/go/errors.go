// The errors of a call: what the service answered, or that no answer came.
// The codes themselves are generated; nothing here decides whether to send again.

package tranche

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Error is an answer that is not a success. A success that is something else than what was asked for is an
// [*UnexpectedAnswerError].
//
//	var problem *tranche.Error
//	if errors.As(err, &problem) {
//		log.Print(problem.Code, problem.RequestID)
//	}
//	if errors.Is(err, tranche.ErrInvalidTransition) { … }
type Error struct {
	// Code says what went wrong. It is stable; decide by it. Empty when something between you and the
	// service answered instead of it.
	Code ErrorCode `json:"code"`

	// Status is the HTTP status.
	Status int `json:"status"`

	// Title names the kind of error in a few words.
	Title string `json:"title"`

	// Detail says what happened this time.
	Detail string `json:"detail"`

	// Type is the address of the page that explains this kind of error.
	Type string `json:"type"`

	// RequestID names the request in the log of the service.
	RequestID string `json:"request_id"`

	// Errors lists every field that is wrong, where fields are at fault.
	Errors []*FieldError `json:"errors,omitempty"`

	// Response is the raw answer.
	Response *Response `json:"-"`
}

// Error tells what happened, which fields are at fault and the request id.
func (e *Error) Error() string {
	var text strings.Builder
	text.WriteString("tranche: ")
	if e.Code != "" {
		fmt.Fprintf(&text, "%s (%d)", e.Code, e.Status)
	} else {
		fmt.Fprintf(&text, "status %d", e.Status)
	}
	if said := cmp.Or(e.Detail, e.Title); said != "" {
		text.WriteString(": " + said)
	}
	for index, field := range e.Errors {
		switch {
		// The detail is made of the first field's mistake: it is not told twice.
		case index > 0 || field.Message == "" || !strings.Contains(e.Detail, field.Message):
			fmt.Fprintf(&text, "; %s: %s", field.Pointer, field.Message)
		case !strings.Contains(e.Detail, field.Pointer):
			text.WriteString(" at " + field.Pointer)
		}
	}
	if e.RequestID != "" {
		fmt.Fprintf(&text, " (request %s)", e.RequestID)
	}
	return text.String()
}

// Is lets errors.Is compare with a code, such as [ErrNotFound], and with a kind, such as [ErrAuthentication].
func (e *Error) Is(target error) bool {
	if target == ErrNotModified {
		return e.Status == http.StatusNotModified
	}
	switch wanted := target.(type) {
	case ErrorCode:
		return e.Code == wanted
	case errorKind:
		return wanted.holds(e.Status)
	}
	return false
}

// As lets errors.As find the error as the type of its code, such as [*NotFoundError].
func (e *Error) As(target any) bool { return assign(target, e.typed()) }

// RetryAfter is how long the service asks to wait before another request; false when it does not say.
func (e *Error) RetryAfter() (time.Duration, bool) {
	if e.Response == nil {
		return 0, false
	}
	return retryAfter(e.Response.Header, time.Now())
}

// assign sets what target points to when it is of the type of found.
func assign(target any, found error) bool {
	pointer := reflect.ValueOf(target)
	if found == nil || pointer.Kind() != reflect.Pointer || pointer.Type().Elem() != reflect.TypeOf(found) {
		return false
	}
	pointer.Elem().Set(reflect.ValueOf(found))
	return true
}

// Error makes a code usable as a target of errors.Is.
func (c ErrorCode) Error() string { return string(c) }

// The kinds that errors.Is knows besides the codes: each stands for all errors of its status.
var (
	// ErrAuthentication: the key is missing, unknown, expired or revoked (401).
	ErrAuthentication error = errorKind{"authentication failed", http.StatusUnauthorized, http.StatusUnauthorized}
	// ErrPermission: the key may not do this (403).
	ErrPermission error = errorKind{"permission denied", http.StatusForbidden, http.StatusForbidden}
	// ErrConflict: the state of the resource does not allow it (409).
	ErrConflict error = errorKind{"conflict", http.StatusConflict, http.StatusConflict}
	// ErrInvalidRequest: what was sent is wrong (400 or 422); see [Error.Errors].
	ErrInvalidRequest error = errorKind{"invalid request", http.StatusBadRequest, http.StatusUnprocessableEntity}
	// ErrServer: the service failed (5xx).
	ErrServer error = errorKind{"the service failed", http.StatusInternalServerError, 599}
)

type errorKind struct {
	name        string
	first, last int
}

func (k errorKind) Error() string { return "tranche: " + k.name }

func (k errorKind) holds(status int) bool {
	// Only the two statuses of an invalid request lie apart: what is between them has kinds of its own.
	if k.first == http.StatusBadRequest {
		return status == k.first || status == k.last
	}
	return k.first <= status && status <= k.last
}

// ErrNotModified finds the error of a read with [WithIfNoneMatch] when the resource is still the one you hold
// (304).
var ErrNotModified = errors.New("tranche: not modified")

// ErrEmptyID is the error of a call whose id is empty. Nothing is sent: the path would name something else.
var ErrEmptyID = errors.New("tranche: the id is empty")

// ErrInvalidID is the error of a call whose id is "." or "..". Nothing is sent: the path would name something else.
var ErrInvalidID = errors.New("tranche: the id is . or .., which a path loses")

// ConnectionError says that no complete answer arrived: the connection failed, broke off or took too long.
// When it took too long, errors.As finds a [*TimeoutError] in it too.
type ConnectionError struct {
	// Method and Path name the request.
	Method, Path string

	// Attempts is how many requests the call took.
	Attempts int

	// IdempotencyKey is the key that the call carried. Repeating the call with it is safe, whatever became
	// of this one; see [WithIdempotencyKey].
	IdempotencyKey string

	// Err is the cause.
	Err error
}

// Error tells what was asked for and what went wrong.
func (e *ConnectionError) Error() string {
	return fmt.Sprintf("tranche: %s %s: no answer in %d attempts: %v", e.Method, e.Path, e.Attempts, e.Err)
}

// Unwrap returns the cause.
func (e *ConnectionError) Unwrap() error { return e.Err }

// Timeout says whether it took too long, as [net.Error] does.
func (e *ConnectionError) Timeout() bool {
	var slow interface{ Timeout() bool }
	return errors.As(e.Err, &slow) && slow.Timeout()
}

// As lets errors.As find a [*TimeoutError].
func (e *ConnectionError) As(target any) bool {
	return e.Timeout() && assign(target, (*TimeoutError)(e))
}

// TimeoutError is a [ConnectionError] because an answer took longer than [WithTimeout] or the context's
// deadline allows.
type TimeoutError ConnectionError

// Error tells what was asked for.
func (e *TimeoutError) Error() string { return (*ConnectionError)(e).Error() }

// Unwrap returns the [ConnectionError].
func (e *TimeoutError) Unwrap() error { return (*ConnectionError)(e) }

// Timeout is true.
func (e *TimeoutError) Timeout() bool { return true }

// AbortedError says that the caller cancelled the call: errors.Is finds [context.Canceled] in it. What the
// request did is unknown; repeating the call with its IdempotencyKey is safe.
type AbortedError ConnectionError

// Error tells what was asked for.
func (e *AbortedError) Error() string {
	return fmt.Sprintf("tranche: %s %s: cancelled in attempt %d", e.Method, e.Path, e.Attempts)
}

// Unwrap returns [context.Canceled].
func (e *AbortedError) Unwrap() error { return e.Err }

// maxQuotedBytes is how much of an answer that is no problem document an error quotes.
const maxQuotedBytes = 200

// errorOf reads the error out of an answer. What is no problem document still makes an error, without a code.
// Something before the service may echo what it was sent, so the key is cut out before anything is quoted.
func (c *core) errorOf(response *Response) *Error {
	problem := &Error{}
	body := bytes.ReplaceAll(response.Body, []byte(strings.TrimPrefix(c.authorization(), "Bearer ")), []byte("[key]"))
	if json.Unmarshal(body, problem) != nil || problem.Code == "" {
		quoted := strings.TrimSpace(string(body[:min(len(body), maxQuotedBytes)]))
		problem = &Error{Title: http.StatusText(response.StatusCode), Detail: strings.ToValidUTF8(quoted, "")}
	}
	problem.Errors = slices.DeleteFunc(problem.Errors, func(field *FieldError) bool { return field == nil })
	problem.Status = response.StatusCode
	if problem.RequestID == "" {
		problem.RequestID = response.RequestID()
	}
	problem.Response = response
	return problem
}
