// Goes through lists with the client's iterators, and compares what came and what the proxy saw.
// It makes no call but through a typed method.

package tranche

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"
)

// paginate goes through a list with its iterator.
func (s *scenario) paginate(ctx context.Context, one *step) error {
	var expect expectation
	if err := json.Unmarshal(one.Expect, &expect); err != nil {
		return err
	}
	if err := arm(ctx, one); err != nil {
		return err
	}
	results, err := s.method(ctx, one, "")
	if err != nil {
		return err
	}
	var items []any
	var failure error
	loop := results[0]
	loop.Call([]reflect.Value{reflect.MakeFunc(loop.Type().In(0), func(pair []reflect.Value) []reflect.Value {
		if err, ok := pair[1].Interface().(error); ok {
			failure = err
			return []reflect.Value{reflect.ValueOf(false)}
		}
		items = append(items, asJSON(pair[0].Interface()))
		return []reflect.Value{reflect.ValueOf(len(items) != one.Take)}
	})})
	if failure != nil {
		return failure
	}
	if err := compareItems(items, expect); err != nil {
		return err
	}
	return compareExchanges(ctx, expect.Exchanges, 0)
}

func compareItems(items []any, expect expectation) error {
	if expect.Count != nil && len(items) != *expect.Count {
		return fmt.Errorf("%d items instead of %d", len(items), *expect.Count)
	}
	ids := map[any]bool{}
	for index, item := range items {
		if id := item.(object)["id"]; id != nil {
			if ids[id] {
				return fmt.Errorf("%v comes twice", id)
			}
			ids[id] = true
		}
		if expect.Each != nil {
			if err := subset(expect.Each, item, fmt.Sprintf("item %d", index)); err != nil {
				return err
			}
		}
	}
	for place, wanted := range map[int]any{0: expect.First, len(items) - 1: expect.Last} {
		if wanted == nil {
			continue
		}
		if err := subset(wanted, items[place], fmt.Sprintf("item %d", place)); err != nil {
			return err
		}
	}
	return nil
}

func compareExchanges(ctx context.Context, rule *exchangeRule, took time.Duration) error {
	if rule == nil {
		return nil
	}
	var seen struct {
		Exchanges []struct {
			Headers map[string]string `json:"headers"`
		} `json:"exchanges"`
	}
	if err := control(ctx, http.MethodGet, "/exchanges", nil, &seen); err != nil {
		return err
	}
	keys := map[string]bool{}
	for _, exchange := range seen.Exchanges {
		if key := exchange.Headers["idempotency-key"]; key != "" {
			keys[key] = true
		}
		if !strings.HasPrefix(exchange.Headers["user-agent"], rule.UserAgent) {
			return fmt.Errorf("the user agent is %q", exchange.Headers["user-agent"])
		}
	}
	count := len(seen.Exchanges)
	switch {
	case rule.Count != nil && count != *rule.Count:
		return fmt.Errorf("%d exchanges instead of %d", count, *rule.Count)
	case rule.AtLeast != nil && count < *rule.AtLeast:
		return fmt.Errorf("%d exchanges, not at least %d", count, *rule.AtLeast)
	case rule.IdempotencyKeys != nil && len(keys) != *rule.IdempotencyKeys:
		return fmt.Errorf("%d idempotency keys instead of %d", len(keys), *rule.IdempotencyKeys)
	case took < time.Duration(rule.TookAtLeastMs)*time.Millisecond:
		return fmt.Errorf("it took only %s", took)
	}
	return nil
}
