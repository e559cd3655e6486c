// Reads Server-Sent Events: bytes in, messages out, as they arrive and in bounded memory.
// It opens no connection and knows no event.

package tranche

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"time"
)

const (
	// maxMessageBytes is more than any message of this service: what has no end must not fill the memory.
	maxMessageBytes = 1 << 20
	// messageReadBytes is how much is read at once, where there is as much.
	messageReadBytes = 16 << 10
	// maxEmptyReads is how often a source may give nothing and no error.
	maxEmptyReads = 100
)

var errMessageTooLong = errors.New("a message of the stream is longer than " + strconv.Itoa(maxMessageBytes) + " bytes")

// message is what stands between two blank lines.
type message struct {
	// id is the place in the stream after this message; hasID is false where it names none.
	id    string
	hasID bool
	// data is empty where the message only moves the place on. It is valid until the next message is read.
	data []byte
}

type messageReader struct {
	source io.Reader
	// buffer holds what was read; what lies before start has been taken.
	buffer []byte
	start  int
	data   []byte
	failed error
	begun  bool
	// afterCR says that a line ended with a CR, so that an LF right after it belongs to its end.
	afterCR bool

	// retry is how long the service asks to wait before coming back; 0 until it does.
	retry time.Duration
	// heard says that a comment came, which keeps a connection open.
	heard bool
}

// next returns the next message that has a place or data. One that is cut off at the end is dropped, as the format asks.
func (r *messageReader) next() (message, error) {
	var current message
	r.data = r.data[:0]
	for {
		line, err := r.line()
		if err != nil {
			return message{}, err
		}
		if len(line) == 0 {
			if current.data = bytes.TrimSuffix(r.data, []byte("\n")); current.hasID || len(current.data) > 0 {
				return current, nil
			}
			r.data = r.data[:0]
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "":
			r.heard = true
		case "data":
			if len(r.data)+len(value) > maxMessageBytes {
				return message{}, errMessageTooLong
			}
			r.data = append(append(r.data, value...), '\n')
		case "id":
			if bytes.IndexByte(value, 0) < 0 {
				current.id, current.hasID = string(value), true
			}
		case "retry":
			if asked, err := strconv.ParseUint(string(value), 10, 32); err == nil {
				r.retry = min(time.Duration(asked)*time.Millisecond, longestRetryAfter)
			}
		}
	}
}

// line returns a line without its end, which is a CR, an LF or both. It waits for nothing after a CR.
func (r *messageReader) line() ([]byte, error) {
	scanned := 0
	for {
		if r.afterCR && r.start < len(r.buffer) {
			if r.buffer[r.start] == '\n' {
				r.start++
			}
			r.afterCR = false
		}
		pending := r.buffer[r.start:]
		if index := bytes.IndexAny(pending[scanned:], "\r\n"); index >= 0 {
			line := pending[:scanned+index]
			r.start += len(line) + 1
			r.afterCR = pending[len(line)] == '\r'
			if !r.begun {
				r.begun = true
				line = bytes.TrimPrefix(line, []byte("\ufeff"))
			}
			return line, nil
		}
		scanned = len(pending)
		if err := r.fill(); err != nil {
			return nil, err
		}
	}
}

func (r *messageReader) fill() error {
	if r.failed != nil {
		return r.failed
	}
	if r.start > 0 {
		r.buffer = append(r.buffer[:0], r.buffer[r.start:]...)
		r.start = 0
	}
	filled := len(r.buffer)
	if filled > maxMessageBytes {
		return errMessageTooLong
	}
	r.buffer = slices.Grow(r.buffer, messageReadBytes)
	for range maxEmptyReads {
		count, err := r.source.Read(r.buffer[filled:cap(r.buffer)])
		r.buffer, r.failed = r.buffer[:filled+count], err
		if count > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}
