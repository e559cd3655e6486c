// Carries out the calls of the scenario through the typed methods of the client, found by reflection under their names.
// It calls nothing that a user could not: no request is built here.

package tranche

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"strings"
	"time"
)

type expectation struct {
	Result    any           `json:"result"`
	Error     object        `json:"error"`
	Response  any           `json:"response"`
	Exchanges *exchangeRule `json:"exchanges"`
	Count     *int          `json:"count"`
	First     any           `json:"first"`
	Last      any           `json:"last"`
	Each      any           `json:"each"`
}

type exchangeRule struct {
	Count           *int   `json:"count"`
	AtLeast         *int   `json:"at_least"`
	IdempotencyKeys *int   `json:"idempotency_keys"`
	UserAgent       string `json:"user_agent"`
	TookAtLeastMs   int64  `json:"took_at_least_ms"`
}

func (s *scenario) client(settings clientSettings) *Client {
	address := os.Getenv("TRANCHE_BASE_URL")
	if settings.Via == "proxy" {
		address = os.Getenv("TRANCHE_PROXY_URL")
	}
	options := []ClientOption{WithBaseURL(address), WithTransport(sharedTransport)}
	if settings.MaxRetries != nil {
		options = append(options, WithMaxRetries(*settings.MaxRetries))
	}
	if settings.TimeoutMs != nil {
		options = append(options, WithTimeout(time.Duration(*settings.TimeoutMs)*time.Millisecond))
	}
	return NewClient(settings.APIKey, options...)
}

// sharedTransport keeps the connections of the clients that the steps make.
var sharedTransport = newTransport()

// call carries out a step of kind call and compares everything that it expects.
func (s *scenario) call(ctx context.Context, one *step) (any, error) {
	var expect expectation
	if err := json.Unmarshal(one.Expect, &expect); err != nil {
		return nil, err
	}
	if err := arm(ctx, one); err != nil {
		return nil, err
	}
	begun := time.Now()
	outcome, err := s.invoke(ctx, one)
	took := time.Since(begun)
	var result any
	if expect.Error != nil {
		if err := matchError(err, expect.Error); err != nil {
			return nil, err
		}
	} else {
		if err != nil {
			return nil, err
		}
		result = asJSON(outcome.resource)
		if err := subset(expect.Result, result, "result"); err != nil {
			return nil, err
		}
	}
	if expect.Response != nil {
		if err := subset(expect.Response, responseJSON(outcome.response), "response"); err != nil {
			return nil, err
		}
	}
	return result, compareExchanges(ctx, expect.Exchanges, took)
}

// arm disarms and forgets what was before, then arms the faults of a step. A step that expects exchanges begins anew as well.
func arm(ctx context.Context, one *step) error {
	if one.Faults == nil && !strings.Contains(string(one.Expect), `"exchanges"`) {
		return nil
	}
	if err := control(ctx, http.MethodPost, "/reset", nil, nil); err != nil {
		return err
	}
	if one.Faults == nil {
		return nil
	}
	for _, fault := range *one.Faults {
		if err := control(ctx, http.MethodPost, "/faults", fault, nil); err != nil {
			return err
		}
	}
	return nil
}

type outcome struct {
	resource any
	response *Response
}

// invoke calls the method of the client that the operation is.
func (s *scenario) invoke(ctx context.Context, one *step) (*outcome, error) {
	if one.CancelMs > 0 {
		cancelled, cancel := context.WithCancel(ctx)
		timer := time.AfterFunc(time.Duration(one.CancelMs)*time.Millisecond, cancel)
		defer timer.Stop()
		ctx = cancelled
	}
	response := &Response{Header: http.Header{}}
	results, err := s.method(ctx, one, "Page", WithResponse(response))
	if err != nil {
		return nil, err
	}
	found := &outcome{response: response}
	if len(results) == 2 {
		found.resource = results[0].Interface()
	}
	if failure, ok := results[len(results)-1].Interface().(error); ok {
		return found, failure
	}
	return found, nil
}

// method finds a method and calls it. A list has two: suffix says which.
func (s *scenario) method(ctx context.Context, one *step, suffix string, options ...RequestOption) ([]reflect.Value, error) {
	known, ok := operationMethods[one.Operation]
	if !ok {
		return nil, fmt.Errorf("there is no operation %s", one.Operation)
	}
	name := known.method
	if known.paged {
		name += suffix
	}
	method := reflect.ValueOf(s.client(one.Client)).Elem().FieldByName(known.resource).MethodByName(name)
	arguments := []reflect.Value{reflect.ValueOf(ctx)}
	for _, id := range one.Path {
		arguments = append(arguments, reflect.ValueOf(id))
	}
	if method.Type().NumIn() == len(arguments)+2 {
		params, err := paramsOf(method.Type().In(len(arguments)), one)
		if err != nil {
			return nil, err
		}
		arguments = append(arguments, params)
	} else if one.Body != nil || one.Query != nil {
		return nil, fmt.Errorf("%s takes no parameters", one.Operation)
	}
	for _, option := range append(optionsOf(one), options...) {
		arguments = append(arguments, reflect.ValueOf(&option).Elem())
	}
	return method.Call(arguments), nil
}

func optionsOf(one *step) []RequestOption {
	var options []RequestOption
	for name, value := range one.RawHeader {
		options = append(options, WithHeader(name, value))
	}
	if key := one.Options.IdempotencyKey; key != "" {
		options = append(options, WithIdempotencyKey(key))
	}
	if etag := one.Options.IfMatch; etag != "" {
		options = append(options, WithIfMatch(etag))
	}
	if etag := one.Options.IfNoneMatch; etag != "" {
		options = append(options, WithIfNoneMatch(etag))
	}
	return options
}

// paramsOf makes the parameters of a method from JSON: null in a nullable field stays a null.
func paramsOf(pointer reflect.Type, one *step) (reflect.Value, error) {
	given := one.Body
	if given == nil {
		given = one.Query
	}
	if given == nil {
		return reflect.Zero(pointer), nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(given, &fields); err != nil {
		return reflect.Value{}, err
	}
	params := reflect.New(pointer.Elem())
	for name, value := range fields {
		field := params.Elem().FieldByNameFunc(func(candidate string) bool {
			return strings.EqualFold(candidate, strings.ReplaceAll(name, "_", ""))
		})
		if !field.IsValid() {
			return reflect.Value{}, fmt.Errorf("%s has no field for %s", pointer, name)
		}
		if string(value) == "null" {
			field.Set(reflect.New(field.Type().Elem()))
			continue
		}
		if err := json.Unmarshal(value, field.Addr().Interface()); err != nil {
			return reflect.Value{}, fmt.Errorf("%s: %w", name, err)
		}
	}
	return params, nil
}
