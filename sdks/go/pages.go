// Goes through the pages of a list, as an iterator.
// It fetches a page only when the loop has come to its end, and knows no resource.

package tranche

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"net/url"
)

// page is one page of any list.
type page[T any] struct {
	items      []*T
	hasMore    bool
	nextCursor *string
}

// pageOf is implemented by every list.
type pageOf[T, P any] interface {
	*P
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
		for {
			list, err := fetch[P](ctx, c, &turn, options)
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
			if !current.hasMore || len(current.items) == 0 {
				return
			}
			name, next := cursor, ""
			if backwards {
				name, next = "ending_before", L(list).idOf(current.items[0])
			} else if current.nextCursor != nil {
				next = *current.nextCursor
			}
			if next == "" || next == turn.query.Get(name) {
				yield(nil, fmt.Errorf("tranche: %s says that there is more but not where", turn.path))
				return
			}
			turn.query.Set(name, next)
		}
	}
}
