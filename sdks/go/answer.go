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

// unexpected is the error of a success that is not what was asked for.
func unexpected(response *Response, cause error) *Error {
	return &Error{
		Status:    response.StatusCode,
		Title:     "Unexpected answer",
		Detail:    "the answer is not what was asked for: " + cause.Error(),
		RequestID: response.RequestID(),
		Response:  response,
	}
}
