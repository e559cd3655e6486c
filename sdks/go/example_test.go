// The examples of the documentation. They run against a real server: its address and key come from the environment.

package tranche_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"tranche.example/tranche"
)

func Example() {
	ctx := context.Background()
	client := tranche.NewClient(os.Getenv("TRANCHE_API_KEY"), tranche.WithBaseURL(os.Getenv("TRANCHE_BASE_URL")))

	project, err := client.Projects.Create(ctx, &tranche.ProjectCreateParams{
		Name:     "Website",
		ClientID: "acme",
		Milestones: []*tranche.MilestoneCreateParams{
			{Title: "Design", Amount: 150000, Currency: tranche.String("USD")},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	for milestone, err := range client.Projects.ListMilestones(ctx, project.ID, nil) {
		if err != nil {
			log.Fatal(err)
		}
		for _, status := range []tranche.MilestoneStatus{tranche.MilestoneStatusSubmitted, tranche.MilestoneStatusApproved} {
			if _, err := client.Milestones.Update(ctx, milestone.ID, &tranche.MilestoneUpdateParams{Status: &status}); err != nil {
				log.Fatal(err)
			}
		}
	}
	for payment, err := range client.Payments.List(ctx, &tranche.PaymentListParams{ProjectID: &project.ID}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(payment.Amount, payment.Currency, payment.Status)
	}
	// Output: 150000 USD released
}

func ExampleProjectService_List() {
	ctx := context.Background()
	client := tranche.NewClient(os.Getenv("TRANCHE_API_KEY"))
	clientID := fmt.Sprintf("client-%d", time.Now().UnixNano())
	for range 3 {
		if _, err := client.Projects.Create(ctx, &tranche.ProjectCreateParams{Name: "One of three", ClientID: clientID}); err != nil {
			log.Fatal(err)
		}
	}

	// Two at a time; the loop does not notice.
	count := 0
	params := &tranche.ProjectListParams{ClientID: &clientID, Limit: tranche.Int64(2)}
	for project, err := range client.Projects.List(ctx, params) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(project.Name)
		count++
	}
	fmt.Println(count)
	// Output:
	// One of three
	// One of three
	// One of three
	// 3
}

func ExampleProjectService_ListPage() {
	client := tranche.NewClient(os.Getenv("TRANCHE_API_KEY"))
	page, err := client.Projects.ListPage(context.Background(), &tranche.ProjectListParams{ClientID: tranche.String("nobody")})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(page.Data), page.HasMore)
	// Output: 0 false
}

func ExampleError() {
	client := tranche.NewClient(os.Getenv("TRANCHE_API_KEY"))
	_, err := client.Projects.Create(context.Background(), &tranche.ProjectCreateParams{ClientID: "acme"})

	var problem *tranche.Error
	if errors.As(err, &problem) {
		fmt.Println(problem.Code, problem.Status, problem.RequestID != "")
		for _, field := range problem.Errors {
			fmt.Println(field.Pointer, field.Code)
		}
	}
	// Output:
	// validation_failed 422 true
	// /name too_short
}

func ExampleError_is() {
	client := tranche.NewClient(os.Getenv("TRANCHE_API_KEY"))
	_, err := client.Projects.Retrieve(context.Background(), "prj_01k4y5n3r0e008000000000001")

	switch {
	case errors.Is(err, tranche.ErrNotFound):
		fmt.Println("there is no such project")
	case errors.Is(err, tranche.ErrAuthentication):
		fmt.Println("the key is not accepted")
	case err != nil:
		fmt.Println("something else:", err)
	}
	// Output: there is no such project
}

func ExampleError_as() {
	client := tranche.NewClient("tr_live_made_up")
	_, err := client.Projects.Retrieve(context.Background(), "prj_01k4y5n3r0e008000000000001")

	var invalid *tranche.InvalidAPIKeyError
	if errors.As(err, &invalid) {
		fmt.Println(invalid.Code)
	}
	// Output: invalid_api_key
}

func ExampleNullable() {
	ctx := context.Background()
	client := tranche.NewClient(os.Getenv("TRANCHE_API_KEY"))
	project, err := client.Projects.Create(ctx, &tranche.ProjectCreateParams{
		Name:     "Website",
		ClientID: "acme",
		PayeeID:  tranche.String("freelancer_7"),
		Metadata: map[string]string{"order": "A-1001", "rush": "yes"},
	})
	if err != nil {
		log.Fatal(err)
	}

	// The name is set, the payee emptied, one key of the metadata deleted; all else stays as it is.
	project, err = client.Projects.Update(ctx, project.ID, &tranche.ProjectUpdateParams{
		Name:     tranche.String("New website"),
		PayeeID:  tranche.Null[string](),
		Metadata: map[string]*string{"rush": nil},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(project.Name, project.PayeeID == nil, project.Metadata)
	// Output: New website true map[order:A-1001]
}

func ExampleWithIdempotencyKey() {
	ctx := context.Background()
	client := tranche.NewClient(os.Getenv("TRANCHE_API_KEY"))

	// The same key and the same parameters, perhaps from another process: it happens once.
	order := tranche.WithIdempotencyKey(fmt.Sprintf("order-%d", time.Now().UnixNano()))
	params := &tranche.ProjectCreateParams{Name: "Website", ClientID: "acme"}
	var response tranche.Response
	first, err := client.Projects.Create(ctx, params, order)
	if err != nil {
		log.Fatal(err)
	}
	second, err := client.Projects.Create(ctx, params, order, tranche.WithResponse(&response))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(first.ID == second.ID, response.Replayed())
	// Output: true true
}

func ExampleWithResponse() {
	client := tranche.NewClient(os.Getenv("TRANCHE_API_KEY"))
	var response tranche.Response
	if _, err := client.Projects.ListPage(context.Background(), nil, tranche.WithResponse(&response)); err != nil {
		log.Fatal(err)
	}
	limit, _ := response.RateLimit()
	fmt.Println(response.StatusCode, limit.Limit, response.RequestID() != "")
	// Output: 200 1000 true
}

func ExampleWithIfMatch() {
	ctx := context.Background()
	client := tranche.NewClient(os.Getenv("TRANCHE_API_KEY"))
	project, err := client.Projects.Create(ctx, &tranche.ProjectCreateParams{Name: "Website", ClientID: "acme"})
	if err != nil {
		log.Fatal(err)
	}
	params := &tranche.ProjectUpdateParams{Name: tranche.String("New website")}
	for range 2 {
		_, err = client.Projects.Update(ctx, project.ID, params, tranche.WithIfMatch(project.Version))
		fmt.Println(errors.Is(err, tranche.ErrPreconditionFailed))
	}
	// Output:
	// false
	// true
}

// received is a webhook as it arrives, sent on 25 February 2021.
func received() *http.Request {
	body := `{"event":"payment.released","data":{"projectId":"prj_01k4y5n3r0e008000000000001","milestoneId":"mil_01k4y5n3r0e008000000000002","amount":150000,"currency":"USD"}}`
	request := httptest.NewRequest("POST", "/webhooks/tranche", strings.NewReader(body))
	request.Header.Set("webhook-id", "evt_01k4y5n3r0e008000000000006")
	request.Header.Set("webhook-timestamp", "1614265330")
	request.Header.Set("webhook-signature", "v1,LHlPEhZNBVC1MTd3YABMQXV7woSd74MhYmmCN3x/GyM=")
	return request
}

func ExampleVerifyWebhook() {
	request := received()
	body, err := io.ReadAll(io.LimitReader(request.Body, tranche.MaxWebhookBytes))
	if err != nil {
		log.Fatal(err)
	}

	// The bytes as they arrived, never JSON that was read and written again.
	event, err := tranche.VerifyWebhook(body, request.Header, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")

	var refusal *tranche.WebhookVerificationError
	if errors.As(err, &refusal) {
		fmt.Println(event == nil, refusal.Reason)
	}
	// Output: true timestamp_too_old
}

func ExampleWebhookHandler() {
	// While a secret is being rotated: the new one and the old one. The clock is for this example only.
	secrets := []string{"whsec_YW5vdGhlciBzZWNyZXQgb2YgdGhpcnR5LXR3byBiLi4=", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}
	verifier := tranche.NewWebhookVerifier(secrets, tranche.WithClock(func() time.Time { return time.Unix(1614265331, 0) }))

	handler := tranche.WebhookHandler(verifier, func(ctx context.Context, event tranche.WebhookEvent) error {
		switch event := event.(type) {
		case *tranche.PaymentReleasedWebhook:
			fmt.Println(event.ID, event.Data.Amount, event.Data.Currency)
		case *tranche.ProjectCreatedWebhook:
			fmt.Println(event.ID, event.Data.Name)
		}
		return nil
	})

	mux := http.NewServeMux()
	mux.Handle("POST /webhooks/tranche", handler)
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, received())
	fmt.Println(answer.Code)
	// Output:
	// evt_01k4y5n3r0e008000000000006 150000 USD
	// 200
}

func ExampleGapDetector() {
	ctx := context.Background()
	client := tranche.NewClient(os.Getenv("TRANCHE_API_KEY"))
	clientID := fmt.Sprintf("client-%d", time.Now().UnixNano())
	if _, err := client.Projects.Create(ctx, &tranche.ProjectCreateParams{Name: "Missed", ClientID: clientID}); err != nil {
		log.Fatal(err)
	}

	// The number is what LastSeq said when this program stopped.
	detector := tranche.NewGapDetector(client, 1, tranche.EventTypeProjectCreated)

	// In the handler of the webhooks:
	event := &tranche.ProjectCreatedWebhook{WebhookMeta: tranche.WebhookMeta{Seq: 1_000_000, PrevSeq: 999_999}}
	err := detector.Process(ctx, event, func(ctx context.Context, event tranche.WebhookEvent) error {
		if created, ok := event.(*tranche.ProjectCreatedWebhook); ok && created.Data.ClientID == clientID {
			fmt.Println(created.Data.Name)
		}
		return nil
	})
	fmt.Println(err, detector.LastSeq())
	// Output:
	// Missed
	// <nil> 1000000
}

func ExampleEventService_Stream() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client := tranche.NewClient(os.Getenv("TRANCHE_API_KEY"))
	clientID := fmt.Sprintf("client-%d", time.Now().UnixNano())
	if _, err := client.Projects.Create(ctx, &tranche.ProjectCreateParams{Name: "Streamed", ClientID: clientID}); err != nil {
		log.Fatal(err)
	}

	// The number is the Seq of the last event that this program dealt with; 0 is before all of them.
	params := &tranche.EventStreamParams{
		AfterSeq:   tranche.Int64(0),
		EventTypes: []tranche.EventType{tranche.EventTypeProjectCreated},
	}
	for event, err := range client.Events.Stream(ctx, params) {
		if err != nil {
			log.Fatal(err)
		}
		webhook, err := event.Webhook()
		if err != nil {
			log.Fatal(err)
		}
		if created, ok := webhook.(*tranche.ProjectCreatedWebhook); ok && created.Data.ClientID == clientID {
			fmt.Println(event.Type, created.Data.Name)
			// Leaving the loop closes the connection.
			break
		}
	}
	// Output: project.created Streamed
}
