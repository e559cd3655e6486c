// Sees from the numbers of webhooks that some are missing, and fetches them from the event log.
// It remembers one number; keeping that over a restart is the caller's.

package tranche

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// GapDetector finds events whose webhooks have not arrived, as after an outage of the receiver. Give it each
// verified webhook with [GapDetector.Process]. It is safe for concurrent use.
type GapDetector struct {
	client *Client
	types  []EventType

	// turn is held while a webhook is dealt with, so that two at once do not both find the same gap.
	turn sync.Mutex
	// last may be asked for at any time: the handler is where its caller stores it.
	last atomic.Int64
}

// Observation is what a [GapDetector] makes of a webhook.
type Observation struct {
	// Duplicate says that the event was seen before: by an earlier attempt, or as missing.
	Duplicate bool

	// Missing holds the events before this one that have not been seen, oldest first.
	Missing []*Event
}

// NewGapDetector makes a detector. LastSeq is the highest Seq that was dealt with, as [GapDetector.LastSeq]
// told it before; 0 is none: the first webhook that is observed begins, and nothing before it is missing. Types are the kinds of event that the
// endpoint is sent; without any, a gap is filled with all kinds.
func NewGapDetector(client *Client, lastSeq int64, types ...EventType) *GapDetector {
	detector := &GapDetector{client: client, types: types}
	detector.last.Store(lastSeq)
	return detector
}

// LastSeq is the highest Seq that was dealt with, 0 when there is none yet. Within [GapDetector.Process] it
// leads up to the event before the one that is being handled.
func (d *GapDetector) LastSeq() int64 { return d.last.Load() }

// Process hands on what is missing before a webhook and then the webhook itself, oldest first and each once.
// It remembers each as soon as handle returned nil for it; at an error it stops there, and the same webhook,
// sent again, goes on from it. One webhook is processed at a time: handle may ask for [GapDetector.LastSeq],
// but not have the same detector process another.
func (d *GapDetector) Process(ctx context.Context, event WebhookEvent, handle func(ctx context.Context, event WebhookEvent) error) error {
	if event.Meta().Seq == 0 {
		return handle(ctx, event)
	}
	d.turn.Lock()
	defer d.turn.Unlock()
	observed, err := d.look(ctx, event.Meta())
	if err != nil || observed.Duplicate {
		return err
	}
	for _, missed := range observed.Missing {
		typed, err := missed.Webhook()
		if err != nil {
			return err
		}
		if err := handle(ctx, typed); err != nil {
			return err
		}
		d.last.Store(missed.Seq)
	}
	if err := handle(ctx, event); err != nil {
		return err
	}
	d.last.Store(event.Meta().Seq)
	return nil
}

// Observe takes a webhook and returns what is missing before it, read from GET /v1/events. From then on it
// counts all of that as seen; [GapDetector.Process] waits until it was handled. On an error nothing is
// remembered: observe the same webhook again.
func (d *GapDetector) Observe(ctx context.Context, event WebhookEvent) (*Observation, error) {
	d.turn.Lock()
	defer d.turn.Unlock()
	observed, err := d.look(ctx, event.Meta())
	if err != nil {
		return nil, err
	}
	d.last.Store(max(d.last.Load(), event.Meta().Seq))
	return observed, nil
}

// look finds out what a webhook means for the one number, and leaves it as it is.
func (d *GapDetector) look(ctx context.Context, meta *WebhookMeta) (*Observation, error) {
	last := d.last.Load()
	switch {
	case meta.Seq == 0:
		// A test event is in no order.
		return &Observation{}, nil
	case meta.Seq <= last:
		return &Observation{Duplicate: true}, nil
	case last == 0 || meta.PrevSeq <= last:
		return &Observation{}, nil
	}
	missing, err := d.between(ctx, last, meta.Seq)
	if err != nil {
		return nil, err
	}
	return &Observation{Missing: missing}, nil
}

func (d *GapDetector) between(ctx context.Context, after, before int64) ([]*Event, error) {
	var found []*Event
	params := &EventListParams{AfterSeq: &after, Limit: Int64(min(before-after, 100))}
	for event, err := range d.client.Events.List(ctx, params) {
		if err != nil {
			return nil, err
		}
		if event.Seq >= before {
			break
		}
		if len(d.types) == 0 || slices.Contains(d.types, event.Type) {
			found = append(found, event)
		}
	}
	return found, nil
}
