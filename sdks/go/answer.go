// Tells whether a success is what was asked for: a wrong base URL, or something before the service, can answer any JSON.
// It shows nothing of an answer but its kind: the rest may be a secret.

package tranche

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// answerOf is implemented by everything that a call answers.
type answerOf[T any] interface {
	*T
	// check says what is wrong with it.
	check() error
}

func readAnswer[T any, A answerOf[T]](body []byte, answer A) error {
	if err := json.Unmarshal(body, answer); err != nil {
		return err
	}
	if err := answer.check(); err != nil {
		if bytes.Equal(bytes.TrimSpace(body), []byte("null")) {
			return errors.New("it is null")
		}
		return err
	}
	return nil
}

// checkResource says whether an object is of the kind that was asked for and has an id, where it should.
func checkResource(kind, wanted string, ids ...string) error {
	if kind != wanted {
		return fmt.Errorf("its object is %.40q, not %q", kind, wanted)
	}
	if slices.Contains(ids, "") {
		return errors.New("it has no id")
	}
	return nil
}

func checkList[T any](kind string, data []*T) error {
	if err := checkResource(kind, "list"); err != nil {
		return err
	}
	if data == nil {
		return errors.New("it has no data")
	}
	if slices.Contains(data, nil) {
		return errors.New("its data holds null")
	}
	return nil
}

// UnexpectedAnswerError is a success that is not what was asked for, as from a wrong base URL, or a page that
// says that there is more but not where. It is not repeated.
type UnexpectedAnswerError struct {
	// Status is the HTTP status, one of success.
	Status int

	// RequestID names the request in the log of the service, if it was the service that answered.
	RequestID string

	// Response is the raw answer.
	Response *Response

	// Err says what is wrong with it.
	Err error
}

// Error tells what is wrong with the answer.
func (e *UnexpectedAnswerError) Error() string {
	text := fmt.Sprintf("tranche: status %d: the answer is not what was asked for: %v", e.Status, e.Err)
	if e.RequestID != "" {
		text += " (request " + e.RequestID + ")"
	}
	return text
}

// Unwrap returns what is wrong with the answer.
func (e *UnexpectedAnswerError) Unwrap() error { return e.Err }

func unexpected(response *Response, cause error) *UnexpectedAnswerError {
	return &UnexpectedAnswerError{Status: response.StatusCode, RequestID: response.RequestID(), Response: response, Err: cause}
}
