// Fills variables into the scenario and compares what came with what it expects.
// It knows JSON and the errors of the client, no step.

package tranche

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

var variable = regexp.MustCompile(`\{\{([^}]+)\}\}`)

// fill replaces {{name}} in every string; a string that is nothing else becomes the value itself.
func fill(tree any, variables map[string]any) (any, error) {
	switch node := tree.(type) {
	case string:
		return fillText(node, variables)
	case []any:
		for index := range node {
			filled, err := fill(node[index], variables)
			if err != nil {
				return nil, err
			}
			node[index] = filled
		}
	case object:
		for key := range node {
			filled, err := fill(node[key], variables)
			if err != nil {
				return nil, err
			}
			node[key] = filled
		}
	}
	return tree, nil
}

func fillText(text string, variables map[string]any) (any, error) {
	if found := variable.FindStringSubmatch(text); found != nil && found[0] == text {
		return valueOf(found[1], variables)
	}
	var failure error
	filled := variable.ReplaceAllStringFunc(text, func(match string) string {
		value, err := valueOf(strings.Trim(match, "{}"), variables)
		failure = errors.Join(failure, err)
		return fmt.Sprint(value)
	})
	return filled, failure
}

func valueOf(name string, variables map[string]any) (any, error) {
	if size, ok := strings.CutPrefix(name, "big:"); ok {
		count, err := strconv.Atoi(size)
		return strings.Repeat("x", count), err
	}
	value, ok := variables[name]
	if !ok {
		return nil, fmt.Errorf("nothing was captured as %s", name)
	}
	return value, nil
}

// lookUp takes a value out of JSON by a path such as data.0.id.
func lookUp(tree any, path string) (any, error) {
	for _, segment := range strings.Split(path, ".") {
		switch node := tree.(type) {
		case object:
			tree = node[segment]
		case []any:
			index, err := strconv.Atoi(segment)
			if err != nil || index >= len(node) {
				return nil, fmt.Errorf("there is no %s in %v", segment, node)
			}
			tree = node[index]
		default:
			return nil, fmt.Errorf("there is no %s in %v", segment, tree)
		}
	}
	if tree == nil {
		return nil, fmt.Errorf("there is nothing at %s", path)
	}
	return tree, nil
}

// subset compares as the README of the scenario defines it.
func subset(expected, actual any, where string) error {
	differs := func() error { return fmt.Errorf("%s is %s instead of %s", where, brief(actual), brief(expected)) }
	switch wanted := expected.(type) {
	case object:
		got, ok := actual.(object)
		if !ok {
			return differs()
		}
		for key, value := range wanted {
			if err := subset(value, got[key], where+"."+key); err != nil {
				return err
			}
		}
		return nil
	case []any:
		got, ok := actual.([]any)
		if !ok || len(got) != len(wanted) {
			return differs()
		}
		for index, value := range wanted {
			if err := subset(value, got[index], fmt.Sprintf("%s.%d", where, index)); err != nil {
				return err
			}
		}
		return nil
	case string:
		if matches, special := matchesPattern(wanted, actual); special {
			if !matches {
				return differs()
			}
			return nil
		}
	}
	if !reflect.DeepEqual(expected, actual) {
		return differs()
	}
	return nil
}

func matchesPattern(pattern string, actual any) (matches, special bool) {
	text, isText := actual.(string)
	switch word, rest, _ := strings.Cut(pattern, " "); word {
	case "@present":
		return actual != nil, true
	case "@absent":
		return actual == nil, true
	case "@match":
		return isText && regexp.MustCompile(rest).MatchString(text), true
	case "@length":
		if isText {
			return fmt.Sprint(len(text)) == rest, true
		}
		list, isList := actual.([]any)
		return isList && fmt.Sprint(len(list)) == rest, true
	}
	return false, false
}

func brief(value any) string {
	text, _ := json.Marshal(value)
	if len(text) > 600 {
		return string(text[:600]) + "…"
	}
	return string(text)
}

// asJSON is what the client's own object says, turned to JSON again.
func asJSON(resource any) any {
	text, err := json.Marshal(resource)
	if err != nil {
		return err.Error()
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return err.Error()
	}
	return tree
}

// responseJSON is what the client's access to the raw response gives.
func responseJSON(response *Response) any {
	headers := object{}
	for name, values := range response.Header {
		headers[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	whole := object{
		"status":     float64(response.StatusCode),
		"headers":    headers,
		"request_id": response.RequestID(),
		"replayed":   response.Replayed(),
	}
	if limit, ok := response.RateLimit(); ok {
		whole["rate_limit"] = object{
			"limit":         float64(limit.Limit),
			"remaining":     float64(limit.Remaining),
			"reset_seconds": limit.Reset.Seconds(),
		}
	}
	return whole
}

// matchError compares an error with what is expected of its class and its fields.
func matchError(err error, expected object) error {
	if err == nil {
		return fmt.Errorf("it succeeded instead of failing with %s", brief(expected))
	}
	class, ok := expected["class"].(string)
	if !ok || !isOfClass(err, class) {
		return fmt.Errorf("it is no %s: %T: %w", class, err, err)
	}
	actual := object{"class": class}
	var problem *Error
	if errors.As(err, &problem) {
		actual["status"] = float64(problem.Status)
		actual["detail"] = problem.Detail
		if problem.Code != "" {
			actual["code"] = string(problem.Code)
		}
		if problem.RequestID != "" {
			actual["request_id"] = problem.RequestID
		}
		if pause, ok := problem.RetryAfter(); ok {
			actual["retry_after_seconds"] = pause.Seconds()
		}
		actual["field_errors"] = asJSON(problem.Errors)
	}
	var refusal *WebhookVerificationError
	if errors.As(err, &refusal) {
		actual["reason"] = string(refusal.Reason)
	}
	return subset(expected, actual, "error")
}

// isOfClass says whether errors.As finds the type that Go has for a class of the scenario.
func isOfClass(err error, class string) bool {
	var problem *Error
	switch class {
	case "ApiError":
		return errors.As(err, &problem)
	case "ApiConnectionError":
		var failure *ConnectionError
		return errors.As(err, &failure)
	case "ApiTimeoutError":
		var connection *ConnectionError
		var failure *TimeoutError
		return errors.As(err, &failure) && errors.As(err, &connection)
	case "ApiAbortedError":
		var failure *AbortedError
		return errors.As(err, &failure) && errors.Is(err, context.Canceled)
	case "WebhookVerificationError":
		var failure *WebhookVerificationError
		return errors.As(err, &failure)
	}
	// All that is left are the types of the codes.
	if !errors.As(err, &problem) || problem.typed() == nil {
		return false
	}
	typed := reflect.TypeOf(problem.typed())
	if !strings.EqualFold(typed.Elem().Name(), class) {
		return false
	}
	target := reflect.New(typed)
	return errors.As(err, target.Interface()) && errors.Is(err, problem.Code)
}
