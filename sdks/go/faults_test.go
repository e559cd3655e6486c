// Many calls at once through the proxy that spoils exchanges: whatever happens on the way, no call has its effect twice.

package tranche

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"
)

// faultsOf is a mixture of everything that can go wrong, before and after the server committed.
func faultsOf(random *rand.Rand, count int) []map[string]any {
	kinds := []map[string]any{
		{"fault": "drop_before"},
		{"fault": "drop_after"},
		{"fault": "truncate"},
		{"fault": "answer_before", "status": 503, "headers": map[string]string{"retry-after": "0"}, "text": "busy"},
		{"fault": "answer_after", "status": 500, "text": "oops"},
		{"fault": "answer_after", "status": 502, "text": "<html>"},
		{"fault": "slow_body", "delay_ms": 1500},
		{"fault": "slow_answer", "delay_ms": 1500},
	}
	faults := make([]map[string]any, 0, count)
	for range count {
		faults = append(faults, kinds[random.IntN(len(kinds))])
	}
	return faults
}

// calls is how many there are of each kind, and how many faults they meet: a call could meet them all.
const calls = 60

func TestNoCallHasItsEffectTwice(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if given := os.Getenv("TRANCHE_TEST_SEED"); given != "" {
		seed, _ = strconv.ParseUint(given, 10, 64)
	}
	t.Logf("TRANCHE_TEST_SEED=%d repeats this", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()

	// A key of its own, so that what other tests send does not count against its limit.
	direct := NewClient("")
	key, err := direct.APIKeys.Create(ctx, &APIKeyCreateParams{Name: "Faults"})
	if err != nil {
		t.Fatal(err)
	}
	direct = NewClient(key.Secret)
	spoiled := NewClient(key.Secret, WithBaseURL(os.Getenv("TRANCHE_PROXY_URL")), WithMaxRetries(calls), WithTimeout(time.Second))
	spoiled.core.clock.sleep = func(ctx context.Context, pause time.Duration) error { return sleep(ctx, pause/10) }

	arm := func() {
		t.Helper()
		if err := control(ctx, http.MethodPost, "/reset", nil, nil); err != nil {
			t.Fatal(err)
		}
		for _, fault := range faultsOf(random, calls) {
			text, _ := json.Marshal(fault)
			if err := control(ctx, http.MethodPost, "/faults", text, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	run := fmt.Sprintf("faults-%d", seed)

	arm()
	milestones := make([]*Milestone, calls)
	all(t, calls, func(number int) error {
		project, err := spoiled.Projects.Create(ctx, &ProjectCreateParams{
			Name:       run,
			ClientID:   fmt.Sprintf("%s-%d", run, number),
			Milestones: []*MilestoneCreateParams{{Title: "One", Amount: 100}},
		})
		if err != nil {
			return err
		}
		page, err := direct.Projects.ListMilestonesPage(ctx, project.ID, nil)
		if err != nil {
			return err
		}
		milestones[number] = page.Data[0]
		return nil
	})
	for number := range calls {
		page, err := direct.Projects.ListPage(ctx, &ProjectListParams{ClientID: String(fmt.Sprintf("%s-%d", run, number))})
		if err != nil || len(page.Data) != 1 {
			t.Errorf("project %d is there %d times: %v", number, len(page.Data), err)
		}
	}

	arm()
	all(t, calls, func(number int) error {
		params := &MilestoneUpdateParams{Title: String(fmt.Sprintf("Take %d", number)), Status: Ptr(MilestoneStatusSubmitted)}
		milestone, err := spoiled.Milestones.Update(ctx, milestones[number].ID, params)
		if err == nil && (milestone.Version != 2 || milestone.Status != MilestoneStatusSubmitted) {
			err = fmt.Errorf("version %d, %s", milestone.Version, milestone.Status)
		}
		return err
	})
	arm()
	all(t, calls, func(number int) error {
		_, err := spoiled.Milestones.Update(ctx, milestones[number].ID, &MilestoneUpdateParams{Status: Ptr(MilestoneStatusApproved)})
		return err
	})
	for number := range calls {
		page, err := direct.Payments.ListPage(ctx, &PaymentListParams{MilestoneID: &milestones[number].ID})
		if err != nil || len(page.Data) != 1 || page.Data[0].Amount != 100 {
			t.Errorf("milestone %d is paid %d times: %v", number, len(page.Data), err)
		}
		milestone, err := direct.Milestones.Retrieve(ctx, milestones[number].ID)
		if err != nil || milestone.Version != 3 || milestone.Title != fmt.Sprintf("Take %d", number) {
			t.Errorf("milestone %d: %+v %v", number, milestone, err)
		}
	}
}

// all carries out the calls, several at once.
func all(t *testing.T, count int, turn func(number int) error) {
	t.Helper()
	var everyone sync.WaitGroup
	places := make(chan struct{}, atOnce)
	for number := range count {
		everyone.Add(1)
		places <- struct{}{}
		go func() {
			defer everyone.Done()
			defer func() { <-places }()
			if err := turn(number); err != nil {
				t.Errorf("call %d: %v", number, err)
			}
		}()
	}
	everyone.Wait()
	if t.Failed() {
		t.FailNow()
	}
}
