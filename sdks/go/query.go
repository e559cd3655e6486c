// Writes the parameters of a query. A nil parameter is left out.
// Which parameters there are is generated.

package tranche

import (
	"net/url"
	"strconv"
	"time"
)

type query url.Values

func (q query) set(name, value string) { url.Values(q).Set(name, value) }

func (q query) text(name string, value *string) {
	if value != nil {
		q.set(name, *value)
	}
}

func (q query) integer(name string, value *int64) {
	if value != nil {
		q.set(name, strconv.FormatInt(*value, 10))
	}
}

func (q query) time(name string, value *time.Time) {
	if value != nil {
		q.set(name, value.UTC().Format(time.RFC3339Nano))
	}
}

// deepObject writes name[key]=value for each key.
func (q query) deepObject(name string, values map[string]string) {
	for key, value := range values {
		q.set(name+"["+key+"]", value)
	}
}

// named writes a value of one of the API's own types, such as a status.
func named[T ~string](q query, name string, value *T) {
	if value != nil {
		q.set(name, string(*value))
	}
}
