// That an iterator goes through every page, fetches none too early and stops at an error.

package tranche

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"testing"
)

// listing is a transport that serves numbered projects, newest first: prj_9, prj_8, …, prj_0.
func listing(count int, requests *[]string) roundTrip {
	return func(request *http.Request) (*http.Response, error) {
		query := request.URL.Query()
		*requests = append(*requests, request.URL.RawQuery)
		limit, _ := strconv.Atoi(query.Get("limit"))
		first := count - 1
		if after := query.Get("starting_after"); after != "" {
			first, _ = strconv.Atoi(after[4:])
			first--
		}
		last := max(first-limit+1, 0)
		hasMore, cursor := last > 0, "null"
		if before := query.Get("ending_before"); before != "" {
			last, _ = strconv.Atoi(before[4:])
			last++
			first = min(last+limit-1, count-1)
			hasMore = first < count-1
		}
		data := ""
		for number := first; number >= last; number-- {
			data += fmt.Sprintf(`{"id":"prj_%d"},`, number)
		}
		if last > 0 {
			cursor = fmt.Sprintf(`"prj_%d"`, last)
		}
		if data != "" {
			data = data[:len(data)-1]
		}
		return answer(200, fmt.Sprintf(`{"object":"list","data":[%s],"has_more":%t,"next_cursor":%s}`, data, hasMore, cursor)), nil
	}
}

func ids(t *testing.T, client *Client, params *ProjectListParams, take int) []string {
	t.Helper()
	found := []string{}
	for project, err := range client.Projects.List(context.Background(), params) {
		if err != nil {
			t.Fatal(err)
		}
		if found = append(found, project.ID); len(found) == take {
			break
		}
	}
	return found
}

func TestAnIteratorGoesThroughEveryPage(t *testing.T) {
	var requests []string
	client := NewClient("key", WithTransport(listing(7, &requests)))
	all := ids(t, client, &ProjectListParams{Limit: Int64(3)}, -1)
	if !slices.Equal(all, []string{"prj_6", "prj_5", "prj_4", "prj_3", "prj_2", "prj_1", "prj_0"}) {
		t.Error(all)
	}
	if !slices.Equal(requests, []string{"limit=3", "limit=3&starting_after=prj_4", "limit=3&starting_after=prj_1"}) {
		t.Error(requests)
	}
}

func TestLeavingTheLoopFetchesNothingMoreAndALoopCanBeginAgain(t *testing.T) {
	var requests []string
	client := NewClient("key", WithTransport(listing(7, &requests)))
	loop := client.Projects.List(context.Background(), &ProjectListParams{Limit: Int64(3)})
	for range 2 {
		requests = nil
		count := 0
		for range loop {
			if count++; count == 3 {
				break
			}
		}
		if len(requests) != 1 {
			t.Error(requests)
		}
	}
}

func TestEachLoopOverAnIteratorBeginsAtTheBeginning(t *testing.T) {
	var requests []string
	loop := NewClient("key", WithTransport(listing(5, &requests))).Projects.List(context.Background(), &ProjectListParams{Limit: Int64(2)})
	for range 2 {
		count := 0
		for range loop {
			count++
		}
		if count != 5 {
			t.Error(count, requests)
		}
	}
}

func TestBackwardsGoesTowardsTheNewest(t *testing.T) {
	var requests []string
	client := NewClient("key", WithTransport(listing(7, &requests)))
	newer := ids(t, client, &ProjectListParams{Limit: Int64(2), EndingBefore: String("prj_1")}, -1)
	if !slices.Equal(newer, []string{"prj_2", "prj_3", "prj_4", "prj_5", "prj_6"}) || len(requests) != 3 {
		t.Error(newer, requests)
	}
}

func TestAnErrorEndsTheLoop(t *testing.T) {
	seen := record(t,
		status(200, `{"object":"list","data":[{"id":"prj_1"}],"has_more":true,"next_cursor":"prj_1"}`),
		broken(io.EOF), broken(io.EOF), broken(io.EOF))
	turns, failures := 0, 0
	for project, err := range seen.Projects.List(context.Background(), nil) {
		turns++
		if err != nil {
			failures++
			var failure *ConnectionError
			if project != nil || !errors.As(err, &failure) {
				t.Errorf("%v %v", project, err)
			}
		}
	}
	if turns != 2 || failures != 1 {
		t.Errorf("%d turns, %d failures", turns, failures)
	}
}

func TestAListThatLeadsNowhereIsAnErrorNotAnEndlessLoop(t *testing.T) {
	same := status(200, `{"object":"list","data":[{"id":"prj_1"}],"has_more":true,"next_cursor":"prj_1"}`)
	nowhere := status(200, `{"object":"list","data":[{"id":"prj_1"}],"has_more":true,"next_cursor":null}`)
	empty := status(200, `{"object":"list","data":[],"has_more":true,"next_cursor":null}`)
	for name, answers := range map[string][]func() (*http.Response, error){"the same place": {same, same}, "no place": {same, nowhere}, "nothing and no place": {same, empty}} {
		seen := record(t, answers...)
		var last error
		for _, err := range seen.Projects.List(context.Background(), nil) {
			last = err
		}
		var problem *UnexpectedAnswerError
		if !errors.As(last, &problem) || problem.Status != 200 || problem.Response == nil || len(seen.requests) != 2 {
			t.Errorf("%s: %v after %d requests", name, last, len(seen.requests))
		}
	}
	backwards := record(t, empty)
	for _, err := range backwards.Projects.List(context.Background(), &ProjectListParams{EndingBefore: String("prj_1")}) {
		var problem *UnexpectedAnswerError
		if !errors.As(err, &problem) {
			t.Error(err)
		}
	}
}

func TestAnEmptyPageWithAPlaceToGoOnFromIsPassedOver(t *testing.T) {
	seen := record(t,
		status(200, `{"object":"list","data":[],"has_more":true,"next_cursor":"prj_9"}`),
		status(200, `{"object":"list","data":[],"has_more":true,"next_cursor":"prj_8"}`),
		status(200, `{"object":"list","data":[{"id":"prj_7"}],"has_more":false,"next_cursor":null}`))
	var response Response
	found := []string{}
	for project, err := range seen.Projects.List(context.Background(), nil, WithResponse(&response)) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, project.ID)
	}
	if !slices.Equal(found, []string{"prj_7"}) || seen.requests[2].URL.RawQuery != "starting_after=prj_8" || response.StatusCode != 200 {
		t.Error(found, seen.requests)
	}
}

func TestEventsGoOnBySequence(t *testing.T) {
	seen := record(t,
		status(200, `{"object":"list","data":[{"id":"evt_1","seq":11}],"has_more":true,"next_cursor":"11"}`),
		status(200, `{"object":"list","data":[{"id":"evt_2","seq":12}],"has_more":false,"next_cursor":null}`))
	var last int64
	for event, err := range seen.Events.List(context.Background(), &EventListParams{AfterSeq: Int64(10)}) {
		if err != nil {
			t.Fatal(err)
		}
		last = event.Seq
	}
	if last != 12 || seen.requests[1].URL.RawQuery != "after_seq=11" {
		t.Error(last, seen.requests[1].URL)
	}
}

func TestTheLogReadBackwardsGoesOnBeforeTheLastNumber(t *testing.T) {
	seen := record(t,
		status(200, `{"object":"list","data":[{"id":"evt_2","seq":12}],"has_more":true,"next_cursor":"12"}`),
		status(200, `{"object":"list","data":[{"id":"evt_1","seq":11}],"has_more":false,"next_cursor":null}`))
	backwards := EventListParamsOrderDesc
	var last int64
	for event, err := range seen.Events.List(context.Background(), &EventListParams{Order: &backwards}) {
		if err != nil {
			t.Fatal(err)
		}
		last = event.Seq
	}
	if last != 11 || seen.requests[1].URL.RawQuery != "before_seq=12&order=desc" {
		t.Error(last, seen.requests[1].URL)
	}
}
