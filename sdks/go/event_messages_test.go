// That messages are read the same however they arrive, as soon as they are whole, and in bounded memory.

package tranche

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// messagesIn reads to the end and tells what was read and why it ended.
func messagesIn(source io.Reader) (found []string, reader *messageReader, err error) {
	reader = &messageReader{source: source}
	for {
		one, err := reader.next()
		if err != nil {
			return found, reader, err
		}
		found = append(found, fmt.Sprintf("%s,%v,%s", one.id, one.hasID, one.data))
	}
}

const severalMessages = "\ufeffretry: 2500\nid: 3\n\nid:4\ndata: {\"a\": 1}\n\n: still here\n\nevent: x\ndata: one\ndata:  two\ndata\n\n" +
	"id: 5\n: still here\nid\n\nid: 6\x00\ndata: ä\n\nid: 7\nretry: soon\n\ndata: cut"

func TestMessagesAreTheSameHoweverTheyArriveAndHoweverTheirLinesEnd(t *testing.T) {
	wanted := []string{"3,true,", `4,true,{"a": 1}`, ",false,one\n two\n", ",true,", ",false,ä", "7,true,"}
	for _, end := range []string{"\n", "\r\n", "\r"} {
		text := strings.ReplaceAll(severalMessages, "\n", end)
		for cut := range len(text) {
			for _, source := range []io.Reader{
				io.MultiReader(strings.NewReader(text[:cut]), strings.NewReader(text[cut:])),
				iotest.OneByteReader(strings.NewReader(text)),
				iotest.DataErrReader(strings.NewReader(text)),
			} {
				found, reader, err := messagesIn(source)
				if !slices.Equal(found, wanted) || err != io.EOF || reader.retry != 2500*time.Millisecond || !reader.heard {
					t.Fatalf("%q cut at %d: %q %v", end, cut, found, err)
				}
			}
		}
	}
}

func TestAMessageIsThereAsSoonAsItIsWhole(t *testing.T) {
	for _, text := range []string{"id: 1\n\n", "id: 1\r\n\r\n", "id: 1\r\r"} {
		waiting, feeding := io.Pipe()
		go func() { _, _ = feeding.Write([]byte(text)) }()
		// Nothing more comes and nothing ends: reading on would wait for ever.
		if one, err := (&messageReader{source: waiting}).next(); err != nil || one.id != "1" {
			t.Errorf("%q: %+v %v", text, one, err)
		}
		waiting.Close()
	}
}

// endless gives the same text again and again.
type endless struct {
	text string
	gave int
}

func (e *endless) Read(into []byte) (int, error) {
	count := copy(into, bytes.Repeat([]byte(e.text), len(into)/len(e.text)+1))
	e.gave += count
	return count, nil
}

func TestWhatHasNoEndDoesNotFillTheMemory(t *testing.T) {
	for _, text := range []string{"x", "data: xxxxxxx\n"} {
		source := &endless{text: text}
		if _, _, err := messagesIn(source); !errors.Is(err, errMessageTooLong) || source.gave > 3*maxMessageBytes {
			t.Errorf("%q: %v after %d bytes", text, err, source.gave)
		}
	}
	if _, _, err := messagesIn(iotest.ErrReader(nil)); err != io.ErrNoProgress {
		t.Errorf("%v", err)
	}
	largest := "data: " + strings.Repeat("x", maxMessageBytes-100)
	if found, _, err := messagesIn(strings.NewReader(largest + "\n\n" + largest + "\n\n")); len(found) != 2 || err != io.EOF {
		t.Errorf("%d messages, %v", len(found), err)
	}
}

func TestTheServiceCannotAskForAnEndlessPause(t *testing.T) {
	_, reader, _ := messagesIn(strings.NewReader("retry: 4000000000\n\n"))
	if reader.retry != longestRetryAfter {
		t.Error(reader.retry)
	}
}
