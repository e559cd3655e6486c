// Package tranche is the client of Tranche, a service for work that is paid by
// milestone.
//
// A client is made once and used from any number of goroutines:
//
//	client := tranche.NewClient(os.Getenv("TRANCHE_API_KEY"), tranche.WithBaseURL("https://tranche.example.com"))
//
//	project, err := client.Projects.Create(ctx, &tranche.ProjectCreateParams{
//		Name:     "Website",
//		ClientID: "acme",
//	})
//
// Each resource is a field of the client, each operation a method that takes a
// [context.Context], the ids of its path, its parameters and any number of
// [RequestOption] values. Lists are iterators that fetch page after page:
//
//	for payment, err := range client.Payments.List(ctx, nil) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(payment.ID, payment.Amount, payment.Currency)
//	}
//
// [EventService.Stream] is a loop over the event log as it grows, which goes on over
// connections that break:
//
//	for event, err := range client.Events.Stream(ctx, &tranche.EventStreamParams{AfterSeq: &lastSeq}) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(event.Seq, event.Type)
//	}
//
// # Parameters
//
// Required parameters are plain values, optional ones are pointers ([String],
// [Int64], [Ptr]), and nil leaves them out. Where the API knows null as a value
// of its own, the field is a pointer to [Nullable]: nil leaves it as it is,
// [Null] empties it, [Value] sets it.
//
// # Errors
//
// An answer that is not a success is an [*Error], to be found with [errors.As];
// each code of the API is also a value for [errors.Is], such as [ErrNotFound].
// When no answer arrived at all it is a [*ConnectionError], and when one arrived that
// is not what was asked for, as from a wrong base URL, an [*UnexpectedAnswerError].
//
// # Retries
//
// Requests that fail on the network or with 408, 429 or 5xx are sent again, with
// growing and jittered pauses and as Retry-After says. A call that changes
// something carries one idempotency key over all its attempts, so it never has
// its effect twice.
//
// # Webhooks
//
// [VerifyWebhook] checks a signature and returns a typed event, [WebhookHandler]
// does it for a [net/http] server, and [GapDetector] fetches what was missed.
package tranche
