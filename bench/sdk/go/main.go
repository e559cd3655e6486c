// Measures the Go client against bare net/http, one call after another and several at once, in one process and in turns: the same requests,
// the same connections, the same types to decode into. Starts no server and judges nothing; it prints one line of JSON.
//
//	cd bench/sdk/go && TRANCHE_BASE_URL=… TRANCHE_API_KEY=… go run . [-seconds 1] [-rounds 5] [-concurrency 16]
//
// The server needs a RATE_LIMIT_PER_MINUTE that is never reached. The line is
//
//	{"language":"go","measurements":[{"mode":"serial","operation":"retrieve","client_per_second":…,"bare_per_second":…,"ratio":…}, …]}
//
// with a ratio that is the median of the rounds' ratios.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"tranche.example/tranche"
)

const listLimit = 100

var (
	baseURL = os.Getenv("TRANCHE_BASE_URL")
	apiKey  = os.Getenv("TRANCHE_API_KEY")
	keys    atomic.Int64
)

// bare is what a program would write by hand that repeats nothing and knows no errors but one.
type bare struct{ http *http.Client }

func (b bare) call(method, path string, body, out any) error {
	payload := &bytes.Buffer{}
	if body != nil {
		if err := json.NewEncoder(payload).Encode(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequest(method, baseURL+path, payload)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+apiKey)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
		// The service does more for a request with a key; what is measured is the client, so both have one.
		request.Header.Set("Idempotency-Key", fmt.Sprintf("bench-%d-%d", os.Getpid(), keys.Add(1)))
	}
	answer, err := b.http.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode > 299 {
		return fmt.Errorf("%s %s: %s", method, path, answer.Status)
	}
	return json.NewDecoder(answer.Body).Decode(out)
}

// contest is one operation, made by both.
type contest struct {
	operation    string
	ours, theirs func() error
}

type measurement struct {
	Mode            string  `json:"mode"`
	Operation       string  `json:"operation"`
	ClientPerSecond float64 `json:"client_per_second"`
	BarePerSecond   float64 `json:"bare_per_second"`
	Ratio           float64 `json:"ratio"`
}

func contests(concurrency int) ([]contest, error) {
	ctx := context.Background()
	// One transport's settings for both: as many idle connections as there are calls at once.
	transport := func() *http.Transport {
		ordinary := http.DefaultTransport.(*http.Transport).Clone()
		ordinary.MaxIdleConns, ordinary.MaxIdleConnsPerHost = concurrency, concurrency
		return ordinary
	}
	client := tranche.NewClient(apiKey, tranche.WithBaseURL(baseURL), tranche.WithTransport(transport()))
	hand := bare{&http.Client{Transport: transport()}}
	params := &tranche.ProjectCreateParams{Name: "Measured", ClientID: "bench"}
	var project *tranche.Project
	for range listLimit {
		var err error
		if project, err = client.Projects.Create(ctx, params); err != nil {
			return nil, err
		}
	}
	limit := &tranche.ProjectListParams{Limit: tranche.Int64(listLimit)}
	return []contest{
		{"retrieve",
			func() error { _, err := client.Projects.Retrieve(ctx, project.ID); return err },
			func() error { return hand.call("GET", "/v1/projects/"+project.ID, nil, &tranche.Project{}) }},
		{"list",
			func() error { _, err := client.Projects.ListPage(ctx, limit); return err },
			func() error {
				return hand.call("GET", "/v1/projects?limit="+strconv.Itoa(listLimit), nil, &tranche.ProjectList{})
			}},
		{"create",
			func() error { _, err := client.Projects.Create(ctx, params); return err },
			func() error { return hand.call("POST", "/v1/projects", params, &tranche.Project{}) }},
	}, nil
}

// rate is how many calls a second are made, that many at once.
func rate(length time.Duration, concurrency int, call func() error) (float64, error) {
	var done atomic.Int64
	var everyone sync.WaitGroup
	failures := make(chan error, concurrency)
	begun := time.Now()
	for range concurrency {
		everyone.Add(1)
		go func() {
			defer everyone.Done()
			for time.Since(begun) < length {
				if err := call(); err != nil {
					failures <- err
					return
				}
				done.Add(1)
			}
		}()
	}
	everyone.Wait()
	select {
	case err := <-failures:
		return 0, err
	default:
		return float64(done.Load()) / time.Since(begun).Seconds(), nil
	}
}

func measure(mode string, concurrency, rounds int, length time.Duration, one contest) (measurement, error) {
	var ours, theirs, ratios []float64
	for round := range rounds {
		turns := []struct {
			call  func() error
			rates *[]float64
		}{{one.ours, &ours}, {one.theirs, &theirs}}
		if round%2 == 1 {
			// Who goes first changes, so that neither always finds the server warmer.
			slices.Reverse(turns)
		}
		for _, turn := range turns {
			found, err := rate(length, concurrency, turn.call)
			if err != nil {
				return measurement{}, err
			}
			*turn.rates = append(*turn.rates, found)
		}
		ratios = append(ratios, ours[round]/theirs[round])
	}
	ratio := math.Round(median(ratios)*1000) / 1000
	return measurement{mode, one.operation, math.Round(median(ours)), math.Round(median(theirs)), ratio}, nil
}

func median(numbers []float64) float64 {
	sorted := slices.Sorted(slices.Values(numbers))
	middle := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return (sorted[middle-1] + sorted[middle]) / 2
	}
	return sorted[middle]
}

func run() error {
	seconds := flag.Float64("seconds", 1, "how long each turn lasts")
	rounds := flag.Int("rounds", 5, "how many turns each side has")
	concurrency := flag.Int("concurrency", 16, "how many calls at once, in the second half")
	flag.Parse()
	all, err := contests(*concurrency)
	if err != nil {
		return err
	}
	length := time.Duration(*seconds * float64(time.Second))
	measurements := []measurement{}
	for _, mode := range []struct {
		name  string
		count int
	}{{"serial", 1}, {"concurrent", *concurrency}} {
		for _, one := range all {
			found, err := measure(mode.name, mode.count, *rounds, length, one)
			if err != nil {
				return err
			}
			measurements = append(measurements, found)
		}
	}
	line, err := json.Marshal(map[string]any{"language": "go", "measurements": measurements})
	if err != nil {
		return err
	}
	fmt.Println(string(line))
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
