// That what was missed is found once, and that a failed look remembers nothing.

package tranche

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"time"
)

func numbered(seq, previous int64) WebhookEvent {
	return &UnknownWebhook{WebhookMeta: WebhookMeta{Seq: seq, PrevSeq: previous}}
}

const missedEvents = `{"object":"list","data":[{"id":"evt_6","seq":6,"type":"payment.released","data":{}},{"id":"evt_7","seq":7,"type":"project.created"},` +
	`{"id":"evt_8","seq":8,"type":"payment.released","data":{}},{"id":"evt_9","seq":9,"type":"payment.released"}],"has_more":true,"next_cursor":"9"}`

func TestAGapIsFilledOnceAndOnlyWithTheKindsThatAreSent(t *testing.T) {
	seen := record(t, status(200, missedEvents))
	detector := NewGapDetector(seen.Client, 5, EventTypePaymentReleased)
	observed, err := detector.Observe(context.Background(), numbered(9, 8))
	if err != nil || observed.Duplicate || len(observed.Missing) != 2 || observed.Missing[0].Seq != 6 || observed.Missing[1].Seq != 8 {
		t.Fatalf("%+v %v", observed, err)
	}
	if query := seen.requests[0].URL.RawQuery; query != "after_seq=5&limit=4" {
		t.Error(query)
	}
	// What was missing comes late after all: it is no news.
	for _, late := range []int64{8, 9} {
		if observed, err := detector.Observe(context.Background(), numbered(late, 0)); err != nil || !observed.Duplicate {
			t.Errorf("%d: %+v %v", late, observed, err)
		}
	}
	if observed, _ := detector.Observe(context.Background(), numbered(12, 9)); observed.Duplicate || len(observed.Missing) > 0 || detector.LastSeq() != 12 {
		t.Errorf("%+v", observed)
	}
}

func TestAFailedLookRemembersNothing(t *testing.T) {
	seen := record(t, broken(io.EOF), broken(io.EOF), broken(io.EOF), status(200, missedEvents))
	detector := NewGapDetector(seen.Client, 5)
	var failure *ConnectionError
	if _, err := detector.Observe(context.Background(), numbered(9, 8)); !errors.As(err, &failure) || detector.LastSeq() != 5 {
		t.Errorf("%v", err)
	}
	if observed, err := detector.Observe(context.Background(), numbered(9, 8)); err != nil || len(observed.Missing) != 3 {
		t.Errorf("%+v %v", observed, err)
	}
}

func TestWebhooksThatComeTogetherFindAGapOnce(t *testing.T) {
	seen := record(t, status(200, missedEvents))
	detector := NewGapDetector(seen.Client, 5)
	var everyone sync.WaitGroup
	var mutex sync.Mutex
	found, duplicates := 0, 0
	for range 8 {
		everyone.Add(1)
		go func() {
			defer everyone.Done()
			observed, err := detector.Observe(context.Background(), numbered(9, 8))
			mutex.Lock()
			defer mutex.Unlock()
			if err != nil {
				t.Error(err)
				return
			}
			found += len(observed.Missing)
			if observed.Duplicate {
				duplicates++
			}
		}()
	}
	everyone.Wait()
	if found != 3 || duplicates != 7 {
		t.Errorf("%d found, %d duplicates", found, duplicates)
	}
}

func TestTheHandlerMayAskForThePlace(t *testing.T) {
	detector := NewGapDetector(record(t, status(200, missedEvents)).Client, 5, EventTypePaymentReleased)
	var places []int64
	done := make(chan error, 1)
	go func() {
		done <- detector.Process(context.Background(), numbered(9, 8), func(context.Context, WebhookEvent) error {
			places = append(places, detector.LastSeq())
			return nil
		})
	}()
	select {
	case err := <-done:
		if err != nil || !slices.Equal(places, []int64{5, 6, 8}) || detector.LastSeq() != 9 {
			t.Error(err, places)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the handler waits for itself")
	}
}

func TestZeroIsNoPlaceSoTheFirstWebhookHasNoGap(t *testing.T) {
	seen := record(t)
	detector := NewGapDetector(seen.Client, 0)
	observed, err := detector.Observe(context.Background(), numbered(9, 8))
	if err != nil || observed.Duplicate || len(observed.Missing) > 0 || detector.LastSeq() != 9 || len(seen.requests) > 0 {
		t.Errorf("%+v %v", observed, err)
	}
}

func TestProcessingHandsOnEachEventOnceInOrderAndGoesOnWhereItStopped(t *testing.T) {
	seen := record(t, status(200, missedEvents), status(200, `{"object":"list","data":[{"id":"evt_8","seq":8,"type":"payment.released","data":{}},`+
		`{"id":"evt_9","seq":9,"type":"payment.released","data":{}}],"has_more":false,"next_cursor":null}`))
	detector := NewGapDetector(seen.Client, 5, EventTypePaymentReleased)
	var handled []int64
	failing := errors.New("not now")
	handle := func(_ context.Context, event WebhookEvent) error {
		if event.Meta().Seq == 8 && failing != nil {
			return failing
		}
		handled = append(handled, event.Meta().Seq)
		return nil
	}
	if err := detector.Process(context.Background(), numbered(9, 8), handle); !errors.Is(err, failing) || detector.LastSeq() != 6 {
		t.Fatalf("%v %v", err, handled)
	}
	failing = nil
	for range 2 {
		if err := detector.Process(context.Background(), numbered(9, 8), handle); err != nil {
			t.Fatal(err)
		}
	}
	if err := detector.Process(context.Background(), numbered(0, 0), handle); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(handled, []int64{6, 8, 9, 0}) || detector.LastSeq() != 9 {
		t.Error(handled, detector.LastSeq())
	}
	if query := seen.requests[1].URL.RawQuery; query != "after_seq=6&limit=3" {
		t.Error(query)
	}
}
