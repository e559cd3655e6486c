// The steps of the scenario that are about webhooks: verifying, receiving, filling gaps.
// It sends no call of its own.

package tranche

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

func (s *scenario) webhook(one *step) error {
	var expect struct {
		OK    bool           `json:"ok"`
		Event any            `json:"event"`
		Error map[string]any `json:"error"`
	}
	if err := json.Unmarshal(one.Expect, &expect); err != nil {
		return err
	}
	var body []byte
	switch {
	case one.Payload != nil:
		body = []byte(*one.Payload)
	case one.Payload64 != nil:
		var err error
		if body, err = base64.StdEncoding.DecodeString(*one.Payload64); err != nil {
			return err
		}
	}
	header := http.Header{}
	for name, value := range one.Headers {
		header[name] = []string{value}
	}
	options := []WebhookOption{WithClock(func() time.Time { return time.Unix(one.Now, 0) })}
	if one.Tolerance != nil {
		options = append(options, WithTolerance(time.Duration(*one.Tolerance)*time.Second))
	}
	verifier := NewWebhookVerifier(one.Secrets, options...)
	if one.Check == "signature" {
		if err := verifier.VerifySignature(body, header); err != nil || !expect.OK {
			return fmt.Errorf("the signature: %v", err)
		}
		return nil
	}
	event, err := verifier.Verify(body, header)
	if expect.Error != nil {
		return matchError(err, expect.Error)
	}
	if err != nil {
		return err
	}
	return subset(expect.Event, webhookJSON(event), "event")
}

// webhookJSON is an event as the scenario compares it.
func webhookJSON(event WebhookEvent) any {
	meta := event.Meta()
	whole := asJSON(event).(object)
	whole["id"] = meta.ID
	whole["timestamp"] = float64(meta.Timestamp.Unix())
	for name, value := range map[string]int64{"seq": meta.Seq, "prev_seq": meta.PrevSeq, "attempt": meta.Attempt} {
		if value > 0 {
			whole[name] = float64(value)
		}
	}
	return whole
}

func (s *scenario) receive(ctx context.Context, one *step) (any, error) {
	var expect struct {
		Event any `json:"event"`
	}
	if err := json.Unmarshal(one.Expect, &expect); err != nil {
		return nil, err
	}
	deadline := time.Now().Add(20 * time.Second)
	for count := 1; time.Now().Before(deadline); count++ {
		var found struct {
			Received []struct {
				Headers map[string]string `json:"headers"`
				Body    []byte            `json:"body_base64"`
			} `json:"received"`
		}
		address := fmt.Sprintf("/received?path=%s&count=%d&wait_ms=5000", url.QueryEscape(one.At), count)
		if err := control(ctx, http.MethodGet, address, nil, &found); err != nil {
			return nil, err
		}
		count = max(count, len(found.Received))
		for _, received := range found.Received {
			if !strings.Contains(string(received.Body), `"event":"`+one.Event+`"`) {
				continue
			}
			header := http.Header{}
			for name, value := range received.Headers {
				header.Set(name, value)
			}
			event, err := VerifyWebhook(received.Body, header, one.Secrets...)
			if err != nil {
				return nil, err
			}
			whole := webhookJSON(event)
			return whole, subset(expect.Event, whole, "event")
		}
	}
	return nil, fmt.Errorf("no webhook %s came to %s", one.Event, one.At)
}

func (s *scenario) gap(ctx context.Context, one *step) error {
	var expect []object
	if err := json.Unmarshal(one.Expect, &expect); err != nil {
		return err
	}
	detector := NewGapDetector(s.client(one.Client), one.LastSeq, one.Types...)
	for index, seen := range one.Observe {
		event := &UnknownWebhook{WebhookMeta: WebhookMeta{Seq: seen.Seq, PrevSeq: seen.PrevSeq}}
		observed, err := detector.Observe(ctx, event)
		if err != nil {
			return err
		}
		missing := []any{}
		for _, event := range observed.Missing {
			missing = append(missing, asJSON(event))
		}
		actual := object{"duplicate": observed.Duplicate, "missing": missing}
		if err := subset(expect[index], actual, fmt.Sprintf("observation %d", index+1)); err != nil {
			return err
		}
	}
	return nil
}
