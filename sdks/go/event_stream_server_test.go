// Streams of the real server, through the proxy that breaks them: whatever happens on the way, the events are those of the log.

package tranche

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
)

// streamTestTime bounds each of these tests; they take seconds where a machine is not busy.
const streamTestTime = 2 * time.Minute

// ownKey is a client with a key of its own, so that what other tests send does not count against its limit.
func ownKey(ctx context.Context, t *testing.T, scopes ...Scope) (*Client, *APIKeyWithSecret) {
	t.Helper()
	key, err := NewClient("").APIKeys.Create(ctx, &APIKeyCreateParams{Name: "Streams", Scopes: scopes})
	if err != nil {
		t.Fatal(err)
	}
	return NewClient(key.Secret), key
}

// lastSeq is the Seq of an event that is the last one, unless other tests go on.
func lastSeq(ctx context.Context, t *testing.T, client *Client) int64 {
	t.Helper()
	if _, err := client.Projects.Create(ctx, &ProjectCreateParams{Name: "Last", ClientID: "streams"}); err != nil {
		t.Fatal(err)
	}
	last := int64(0)
	for event, err := range client.Events.List(ctx, &EventListParams{Limit: Int64(100)}) {
		if err != nil {
			t.Fatal(err)
		}
		last = event.Seq
	}
	return last
}

func TestAStreamThatIsCutAgainAndAgainIsTheLog(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if given := os.Getenv("TRANCHE_TEST_SEED"); given != "" {
		seed, _ = strconv.ParseUint(given, 10, 64)
	}
	t.Logf("TRANCHE_TEST_SEED=%d repeats this", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	ctx, cancel := context.WithTimeout(context.Background(), streamTestTime)
	defer cancel()
	direct, key := ownKey(ctx, t)
	spoiled := NewClient(key.Secret, WithBaseURL(os.Getenv("TRANCHE_PROXY_URL")), WithMaxRetries(60), WithTimeout(10*time.Second))
	spoiled.core.clock.sleep = func(ctx context.Context, pause time.Duration) error { return sleep(ctx, pause/200) }

	if err := control(ctx, http.MethodPost, "/reset", nil, nil); err != nil {
		t.Fatal(err)
	}
	kinds := []string{"truncate", "truncate", "truncate", "drop_before", "drop_after", "answer_after"}
	for range 30 {
		fault := map[string]any{"fault": kinds[random.IntN(len(kinds))], "after_bytes": random.IntN(3_000), "status": 503, "text": "busy"}
		text, _ := json.Marshal(fault)
		if err := control(ctx, http.MethodPost, "/faults", text, nil); err != nil {
			t.Fatal(err)
		}
	}

	const before, during = 40, 40
	begin := lastSeq(ctx, t, direct)
	create := func(count int) error {
		for number := range count {
			if _, err := direct.Projects.Create(ctx, &ProjectCreateParams{Name: fmt.Sprintf("Streamed %d", number), ClientID: "streams"}); err != nil {
				return err
			}
			if number%10 == 9 {
				// Also while nothing is being sent.
				if err := control(ctx, http.MethodPost, "/cut", nil, nil); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := create(before); err != nil {
		t.Fatal(err)
	}
	created := make(chan error, 1)
	go func() { created <- create(during) }()
	seqs, err := seqsOf(ctx, spoiled, &EventStreamParams{AfterSeq: &begin}, before+during)
	if err := errors.Join(err, <-created); err != nil {
		t.Fatalf("%v %v", seqs, err)
	}
	var wanted []int64
	for event, err := range direct.Events.List(ctx, &EventListParams{AfterSeq: &begin}) {
		if err != nil {
			t.Fatal(err)
		}
		wanted = append(wanted, event.Seq)
	}
	if !slices.Equal(seqs, wanted[:before+during]) {
		t.Errorf("%v\nbut the log has\n%v", seqs, wanted)
	}
	var seen struct {
		Exchanges []struct {
			Path    string            `json:"path"`
			Headers map[string]string `json:"headers"`
		} `json:"exchanges"`
	}
	if err := control(ctx, http.MethodGet, "/exchanges", nil, &seen); err != nil {
		t.Fatal(err)
	}
	resumed := 0
	for _, exchange := range seen.Exchanges {
		if exchange.Headers["last-event-id"] != "" {
			resumed++
		}
	}
	if len(seen.Exchanges) < 10 || resumed < 5 {
		t.Errorf("%d connections, %d of them resumed: hardly a test", len(seen.Exchanges), resumed)
	}
}

func TestAStreamWithoutABeginningCarriesWhatIsCommittedFromThenOnOfItsKinds(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), streamTestTime)
	defer cancel()
	client, _ := ownKey(ctx, t)
	begin := lastSeq(ctx, t, client)
	// It begins at a time of its own: something is committed until it has seen enough.
	stop := make(chan struct{})
	stopped := make(chan error, 1)
	go func() {
		for {
			_, err := client.Projects.Create(ctx, &ProjectCreateParams{Name: "From now on", ClientID: "streams",
				Milestones: []*MilestoneCreateParams{{Title: "One", Amount: 100}}})
			select {
			case <-stop:
				stopped <- err
				return
			default:
			}
			if err != nil {
				stopped <- err
				return
			}
		}
	}()
	var seen []*Event
	for event, err := range client.Events.Stream(ctx, &EventStreamParams{EventTypes: []EventType{EventTypeProjectCreated}}) {
		if err != nil {
			t.Error(err)
			break
		}
		if seen = append(seen, event); len(seen) == 3 {
			break
		}
	}
	close(stop)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	last := begin
	for _, event := range seen {
		typed, err := event.Webhook()
		created, ok := typed.(*ProjectCreatedWebhook)
		if err != nil || !ok || created.Data.Name != "From now on" || event.Seq <= last {
			t.Errorf("%+v %+v %v", event, typed, err)
		}
		last = event.Seq
	}
}

func TestTheRefusalsOfTheServerEndAStream(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), streamTestTime)
	defer cancel()
	client, key := ownKey(ctx, t)
	without, _ := ownKey(ctx, t, ScopeProjectsRead)
	refusals := map[error]error{}
	_, refusals[ErrInvalidAPIKey] = seqsOf(ctx, NewClient("tr_live_made_up"), nil, 1)
	_, refusals[ErrInsufficientScope] = seqsOf(ctx, without, nil, 1)
	_, refusals[ErrValidationFailed] = seqsOf(ctx, client, &EventStreamParams{EventTypes: []EventType{"project.sung"}}, 1)

	// A stream that is open ends when its key is revoked: it comes back once, and is refused.
	begin := lastSeq(ctx, t, client) - 1
	for event, err := range client.Events.Stream(ctx, &EventStreamParams{AfterSeq: &begin}) {
		if err != nil {
			refusals[ErrAuthentication] = err
			break
		}
		if event.Seq == begin+1 {
			if _, err := NewClient("").APIKeys.Revoke(ctx, key.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	for wanted, err := range refusals {
		if !errors.Is(err, wanted) {
			t.Errorf("%v instead of %v", err, wanted)
		}
	}
	if len(refusals) != 4 {
		t.Errorf("%v", refusals)
	}
}

func TestTooManyStreamsOfAKeyAreAnErrorAndALoopThatBreaksMakesRoom(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), streamTestTime)
	defer cancel()
	client, _ := ownKey(ctx, t)
	begin := lastSeq(ctx, t, client) - 1
	params := &EventStreamParams{AfterSeq: &begin}
	var open func(left int) error
	// Each stream is opened within the loop over the one before it.
	open = func(left int) error {
		for _, err := range client.Events.Stream(ctx, params) {
			if err != nil || left == 0 {
				return err
			}
			return open(left - 1)
		}
		return nil
	}
	if err := open(25); !errors.Is(err, ErrTooManyStreams) {
		t.Fatal(err)
	}
	// All are closed now; the server learns of it in a moment.
	for {
		_, err := seqsOf(ctx, client, params, 1)
		if err == nil {
			return
		}
		if !errors.Is(err, ErrTooManyStreams) {
			t.Fatal(err)
		}
		if err := sleep(ctx, 20*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
}
