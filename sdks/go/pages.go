// Goes through the pages of a list, as an iterator.
// It fetches a page only when the loop has come to its end, and knows no resource.

package tranche

import (
	"context"
	"errors"
	"iter"
	"maps"
	"net/url"
	"slices"
)

// page is one page of any list.
type page[T any] struct {
	items      []*T
	hasMore    bool
	nextCursor *string
}

// pageOf is implemented by every list.
type pageOf[T, P any] interface {
	answerOf[P]
	page() page[T]
	idOf(item *T) string
}

// paginate goes through a list, page after page. With ending_before it goes the other way: from the item
// just before that one towards the newest.
func paginate[T, P any, L pageOf[T, P]](ctx context.Context, c *core, first *call, cursor string, options []RequestOption) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		// Each loop over the iterator begins anew, so the call itself is left as it is.
		turn := *first
		turn.query = maps.Clone(first.query)
		if turn.query == nil {
			turn.query = url.Values{}
		}
		backwards := turn.query.Has("ending_before")
		// The caller may want to see the response, too.
		var response *Response
		options := append(slices.Clip(options), requestOption(func(r *requestConfig) {
			if r.response == nil {
				r.response = &Response{}
			}
			response = r.response
		}))
		for {
			list, err := fetch[P, L](ctx, c, &turn, options)
			if err != nil {
				yield(nil, err)
				return
			}
			current := L(list).page()
			for index := range current.items {
				if backwards {
					index = len(current.items) - 1 - index
				}
				if !yield(current.items[index], nil) {
					return
				}
			}
			if !current.hasMore {
				return
			}
			// A page may be empty and still lead on.
			name, next := cursor, ""
			// The event log can be read in either direction.
			if turn.query.Get("order") == "desc" {
				name = "before_seq"
			}
			switch {
			case !backwards && current.nextCursor != nil:
				next = *current.nextCursor
			case backwards && len(current.items) > 0:
				next = L(list).idOf(current.items[0])
			}
			if backwards {
				name = "ending_before"
			}
			if next == "" || next == turn.query.Get(name) {
				yield(nil, unexpected(response, errors.New("it says that there is more but not where")))
				return
			}
			turn.query.Set(name, next)
		}
	}
}
