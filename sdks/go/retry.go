// Decides whether an attempt is followed by another, and after which pause.
// It is pure but for the system's clock at its end: it sends nothing.

package tranche

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

const (
	firstPause = 500 * time.Millisecond
	// longestPause bounds the growing pauses.
	longestPause = 8 * time.Second
	// longestRetryAfter is how long the service may ask to wait: its rate limit counts by the minute. A call
	// that would have to wait longer fails instead.
	longestRetryAfter = 60 * time.Second
	// spread keeps clients that were told the same Retry-After from coming back at the same instant.
	spread = 250 * time.Millisecond
)

// worthRepeating says whether a status may be another one next time.
func worthRepeating(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	case http.StatusNotImplemented:
		return false
	}
	return status >= http.StatusInternalServerError
}

// backoff is the pause after the given number of failed attempts: it doubles, and chance takes up to half of it.
func backoff(failures int, random float64) time.Duration {
	pause := longestPause
	if shift := failures - 1; shift < 5 {
		pause = min(firstPause<<shift, longestPause)
	}
	return pause - time.Duration(random*float64(pause)/2)
}

// pauseAfter is the pause after an answer: the backoff, or as long as Retry-After says when that is longer.
// It is false when the service asks to wait longer than a call should.
func pauseAfter(header http.Header, failures int, random float64, now time.Time) (time.Duration, bool) {
	pause := backoff(failures, random)
	asked, ok := retryAfter(header, now)
	if !ok || asked < pause {
		return pause, true
	}
	if asked > longestRetryAfter {
		return 0, false
	}
	return asked + time.Duration(random*float64(spread)), true
}

func retryAfter(header http.Header, now time.Time) (time.Duration, bool) {
	text := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	if date, err := http.ParseTime(text); err == nil {
		return max(date.Sub(now), 0), true
	}
	return 0, false
}

var systemClock = clock{sleep: sleep, random: rand.Float64}

// sleep waits, unless the context ends first or would end before the pause does: then it returns at once.
func sleep(ctx context.Context, pause time.Duration) error {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < pause {
		return context.DeadlineExceeded
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
