// Receives webhooks over net/http: reads, verifies, hands over, answers.
// What an event means is the receiver's own.

package tranche

import (
	"context"
	"errors"
	"io"
	"net/http"
)

// MaxWebhookBytes bounds the body of a webhook that [WebhookHandler] reads. The service sends a few hundred.
const MaxWebhookBytes = 1 << 20

// WebhookHandler returns a handler that verifies each webhook with the verifier and hands its event to
// receive. It acknowledges with 200 when receive returns nil. When receive returns an error it answers 500,
// and the service sends the webhook again later. What cannot be verified is answered 400 and never handed over.
// With a verifier that cannot verify, such as one without a secret, each webhook is answered 500: the mistake
// is the receiver's own, and [WebhookVerifier.Verify] tells it.
//
// A webhook may come more than once: use the event's ID to do things once.
//
//	verifier := tranche.NewWebhookVerifier([]string{os.Getenv("TRANCHE_WEBHOOK_SECRET")})
//	http.Handle("POST /webhooks", tranche.WebhookHandler(verifier, func(ctx context.Context, event tranche.WebhookEvent) error {
//		…
//		return nil
//	}))
func WebhookHandler(verifier *WebhookVerifier, receive func(ctx context.Context, event WebhookEvent) error) http.Handler {
	return http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		if request.Method != http.MethodPost {
			writer.Header().Set("Allow", http.MethodPost)
			http.Error(writer, "webhooks are sent with POST", http.StatusMethodNotAllowed)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(writer, request.Body, MaxWebhookBytes))
		if err != nil {
			var tooLong *http.MaxBytesError
			if errors.As(err, &tooLong) {
				http.Error(writer, "the body is too long", http.StatusRequestEntityTooLarge)
				return
			}
			http.Error(writer, "the body did not arrive in full", http.StatusBadRequest)
			return
		}
		event, err := verifier.Verify(body, request.Header)
		if verifier.broken != nil {
			writer.WriteHeader(http.StatusInternalServerError)
			return
		}
		if err != nil {
			http.Error(writer, err.Error(), http.StatusBadRequest)
			return
		}
		if err := receive(request.Context(), event); err != nil {
			// What went wrong is the receiver's own business: the answer does not tell.
			http.Error(writer, "the event could not be handled", http.StatusInternalServerError)
			return
		}
		writer.WriteHeader(http.StatusOK)
	})
}
