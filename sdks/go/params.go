// Writes down optional and nullable parameters: absent, null or a value.
// It knows no resource; which field is which kind is decided by the generated types.

package tranche

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Ptr returns a pointer to a value of any type, for optional parameters:
//
//	&tranche.MilestoneUpdateParams{Status: tranche.Ptr(tranche.MilestoneStatusApproved)}
func Ptr[T any](value T) *T { return &value }

// String returns a pointer to a string, for optional parameters.
func String(value string) *string { return &value }

// Int64 returns a pointer to an integer, for optional parameters.
func Int64(value int64) *int64 { return &value }

// Bool returns a pointer to a truth value, for optional parameters.
func Bool(value bool) *bool { return &value }

// Nullable is a parameter for which the API knows three states. A nil pointer
// leaves the field as it is, [Null] empties it and [Value] sets it. The zero
// Nullable is null.
type Nullable[T any] struct {
	value T
	set   bool
}

// Null empties a field: it is sent as null.
//
//	&tranche.ProjectUpdateParams{PayeeID: tranche.Null[string]()}
func Null[T any]() *Nullable[T] { return &Nullable[T]{} }

// Value sets a field that could also be null.
//
//	&tranche.ProjectUpdateParams{PayeeID: tranche.Value("freelancer_7")}
func Value[T any](value T) *Nullable[T] { return &Nullable[T]{value: value, set: true} }

// Get returns the value and whether there is one; null and absent have none.
func (n *Nullable[T]) Get() (T, bool) {
	if n == nil || !n.set {
		var none T
		return none, false
	}
	return n.value, true
}

// String shows the value, or null.
func (n *Nullable[T]) String() string {
	if value, ok := n.Get(); ok {
		return fmt.Sprint(value)
	}
	return "null"
}

// MarshalJSON writes the value, or null.
func (n Nullable[T]) MarshalJSON() ([]byte, error) {
	if !n.set {
		return []byte("null"), nil
	}
	return json.Marshal(n.value)
}

// UnmarshalJSON reads the value, or null.
func (n *Nullable[T]) UnmarshalJSON(data []byte) error {
	if bytes.Equal(bytes.TrimSpace(data), []byte("null")) {
		*n = Nullable[T]{}
		return nil
	}
	n.set = true
	return json.Unmarshal(data, &n.value)
}

// bodyOf is what is sent for the parameters: nothing when they are nil and may be left out.
func bodyOf[T any](params *T, required bool) any {
	if params != nil {
		return params
	}
	if required {
		return struct{}{}
	}
	return nil
}

// unlessNil is a slice or map that may be left out: nil is, empty is not.
func unlessNil[T any](isNil bool, collection T) *T {
	if isNil {
		return nil
	}
	return &collection
}
