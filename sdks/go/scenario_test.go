// Plays the scenario that all clients share, step by step, against the real server: sdks/scenarios/README.md says what each step means.
// A step of a kind or with a field that is not known here is a failure.

package tranche

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"testing"
)

// object is JSON as it is compared.
type object = map[string]any

type step struct {
	Kind      string             `json:"kind"`
	Name      string             `json:"name"`
	Operation string             `json:"operation"`
	Client    clientSettings     `json:"client"`
	Path      map[string]string  `json:"path"`
	Query     json.RawMessage    `json:"query"`
	Body      json.RawMessage    `json:"body"`
	Options   callOptions        `json:"options"`
	RawHeader map[string]string  `json:"raw_header"`
	CancelMs  int                `json:"cancel_after_ms"`
	Faults    *[]json.RawMessage `json:"faults"`
	Expect    json.RawMessage    `json:"expect"`
	Capture   map[string]string  `json:"capture"`
	Times     int                `json:"times"`
	AtMost    int                `json:"at_most"`
	Step      json.RawMessage    `json:"step"`
	Take      int                `json:"take"`
	Check     string             `json:"check"`
	Payload   *string            `json:"payload"`
	Payload64 *string            `json:"payload_base64"`
	Headers   map[string]string  `json:"headers"`
	Secrets   []string           `json:"secrets"`
	Now       int64              `json:"now"`
	Tolerance *int64             `json:"tolerance_seconds"`
	At        string             `json:"at"`
	Event     string             `json:"event"`
	LastSeq   int64              `json:"last_seq"`
	Types     []EventType        `json:"event_types"`
	Observe   []struct {
		Seq     int64 `json:"seq"`
		PrevSeq int64 `json:"prev_seq"`
	} `json:"observe"`
}

type clientSettings struct {
	Via        string `json:"via"`
	APIKey     string `json:"api_key"`
	MaxRetries *int   `json:"max_retries"`
	TimeoutMs  *int   `json:"timeout_ms"`
}

type callOptions struct {
	IdempotencyKey string `json:"idempotency_key"`
	IfMatch        string `json:"if_match"`
	IfNoneMatch    string `json:"if_none_match"`
}

// atOnce is how many calls of a repeated step run together.
const atOnce = 8

type scenario struct {
	variables map[string]any
}

func TestScenario(t *testing.T) {
	text, err := os.ReadFile("../scenarios/scenario.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Steps []json.RawMessage `json:"steps"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	play := &scenario{variables: map[string]any{
		"run":          newIdempotencyKey()[:8],
		"receiver_url": os.Getenv("TRANCHE_RECEIVER_URL"),
		"sdk":          "go",
	}}
	if len(file.Steps) < 40 {
		t.Fatalf("the scenario has only %d steps", len(file.Steps))
	}
	for index, raw := range file.Steps {
		var named struct{ Kind, Name string }
		_ = json.Unmarshal(raw, &named)
		passed := t.Run(fmt.Sprintf("%d %s", index+1, named.Name), func(t *testing.T) {
			if err := play.take(context.Background(), raw); err != nil {
				t.Fatal(err)
			}
		})
		if !passed {
			t.Fatalf("stopped at step %d (%s)", index+1, named.Name)
		}
	}
}

// take fills the variables into a step and carries it out.
func (s *scenario) take(ctx context.Context, raw json.RawMessage) error {
	one, err := s.read(raw, nil)
	if err != nil {
		return err
	}
	var result any
	switch one.Kind {
	case "call":
		result, err = s.call(ctx, one)
	case "paginate":
		err = s.paginate(ctx, one)
	case "repeat":
		err = s.repeat(ctx, raw)
	case "exhaust":
		err = s.exhaust(ctx, raw)
	case "webhook":
		err = s.webhook(one)
	case "receive":
		result, err = s.receive(ctx, one)
	case "gap":
		err = s.gap(ctx, one)
	default:
		err = fmt.Errorf("the runner knows no steps of kind %q", one.Kind)
	}
	if err != nil {
		return err
	}
	return s.capture(one.Capture, result)
}

// read fills in the variables. A repeated step is left as it is: it is read once per turn.
func (s *scenario) read(raw json.RawMessage, index *int) (*step, error) {
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil {
		return nil, err
	}
	variables := s.variables
	if index != nil {
		variables = map[string]any{"index": *index}
		for name, value := range s.variables {
			variables[name] = value
		}
	}
	var inner any
	if top, ok := tree.(object); ok && top["step"] != nil {
		inner = top["step"]
		delete(top, "step")
	}
	filled, err := fill(tree, variables)
	if err != nil {
		return nil, err
	}
	if inner != nil {
		filled.(object)["step"] = inner
	}
	text, err := json.Marshal(filled)
	if err != nil {
		return nil, err
	}
	one := &step{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return one, decoder.Decode(one)
}

func (s *scenario) capture(wanted map[string]string, result any) error {
	for name, path := range wanted {
		value, err := lookUp(result, path)
		if err != nil {
			return err
		}
		s.variables[name] = value
	}
	return nil
}

func (s *scenario) repeat(ctx context.Context, raw json.RawMessage) error {
	outer, err := s.read(raw, nil)
	if err != nil {
		return err
	}
	return s.together(outer.Times, func(index int) error {
		one, err := s.read(outer.Step, &index)
		if err != nil {
			return err
		}
		_, err = s.call(ctx, one)
		return err
	})
}

// exhaust repeats a call until one fails, which must be soon enough and in the way that is expected.
func (s *scenario) exhaust(ctx context.Context, raw json.RawMessage) error {
	outer, err := s.read(raw, nil)
	if err != nil {
		return err
	}
	var expect expectation
	if err := json.Unmarshal(outer.Expect, &expect); err != nil {
		return err
	}
	failed := errors.New("failed as expected")
	err = s.together(outer.AtMost, func(index int) error {
		one, err := s.read(outer.Step, &index)
		if err != nil {
			return err
		}
		_, callErr := s.invoke(ctx, one)
		if callErr == nil {
			return nil
		}
		if err := matchError(callErr, expect.Error); err != nil {
			return err
		}
		return failed
	})
	if err == nil {
		return fmt.Errorf("none of %d calls failed", outer.AtMost)
	}
	if !errors.Is(err, failed) {
		return err
	}
	return nil
}

// together carries something out a number of times, several at once, until one fails.
func (s *scenario) together(times int, turn func(index int) error) error {
	turns := make(chan int)
	results := make(chan error, atOnce)
	var workers sync.WaitGroup
	for range atOnce {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for index := range turns {
				if err := turn(index); err != nil {
					results <- err
					return
				}
			}
		}()
	}
	go func() { workers.Wait(); close(results) }()
	for index := range times {
		select {
		case turns <- index:
		case err := <-results:
			close(turns)
			return err
		}
	}
	close(turns)
	return <-results
}

// control asks the test environment.
func control(ctx context.Context, method, path string, body []byte, out any) error {
	request, err := http.NewRequestWithContext(ctx, method, os.Getenv("TRANCHE_CONTROL_URL")+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s", method, path, text)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}
