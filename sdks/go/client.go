// The client: its settings, put together once, and the transport it sends through.
// It never shows its key: what prints a client, or walks it by reflection, finds none.

package tranche

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strings"
	"time"
)

// core is what all services of a client share. It is never changed once it is made.
type core struct {
	// authorization is a closure, so that no printer and no reflection sees the key.
	authorization func() string
	baseURL       string
	httpClient    *http.Client
	config        clientConfig
	userAgent     string
	clock         clock
	// longestSilence is how long a stream may bring nothing before its connection is given up.
	longestSilence time.Duration
	// broken is what is wrong with the settings; every call returns it.
	broken error
}

// clock is time and chance, so that tests can hold them.
type clock struct {
	sleep  func(ctx context.Context, pause time.Duration) error
	random func() float64
}

// NewClient makes a client for the key. An empty key is that of the environment variable TRANCHE_API_KEY;
// without [WithBaseURL] the service is where TRANCHE_BASE_URL says, else at [DefaultBaseURL]. Settings that
// cannot work, such as a base URL without a host, are the error of every call.
func NewClient(apiKey string, options ...ClientOption) *Client {
	if apiKey == "" {
		apiKey = os.Getenv("TRANCHE_API_KEY")
	}
	config := clientConfig{
		baseURL:  cmp.Or(os.Getenv("TRANCHE_BASE_URL"), DefaultBaseURL),
		requests: requestConfig{maxRetries: DefaultMaxRetries, timeout: DefaultTimeout},
	}
	for _, option := range options {
		option.applyToClient(&config)
	}
	if config.httpClient == nil {
		config.httpClient = &http.Client{Transport: newTransport()}
	}
	if config.httpClient.CheckRedirect == nil {
		// A copy: the caller's own may serve other addresses, too.
		copied := *config.httpClient
		copied.CheckRedirect = followNothing
		config.httpClient = &copied
	}
	shared := &core{
		authorization:  func() string { return "Bearer " + apiKey },
		baseURL:        strings.TrimRight(config.baseURL, "/"),
		httpClient:     config.httpClient,
		config:         config,
		userAgent:      userAgent(config.appInfo),
		clock:          systemClock,
		longestSilence: longestSilence,
		broken:         errors.Join(checkKey(apiKey), checkBaseURL(config.baseURL)),
	}
	client := &Client{}
	client.connect(shared)
	return client
}

// String names the client without its key.
func (c *Client) String() string {
	if c.core.broken != nil {
		// An address that is refused may hold a password.
		return "tranche.Client(unusable)"
	}
	return "tranche.Client(" + c.core.baseURL + ")"
}

// GoString names the client without its key.
func (c *Client) GoString() string { return c.String() }

// Do calls an operation that this version of the client does not know. Path begins with "/v1/"; params, when
// not nil, is sent as JSON; the answer is read into out, when not nil. It repeats, keeps one idempotency key
// and fails as every other method does.
func (c *Client) Do(ctx context.Context, method, path string, params, out any, options ...RequestOption) error {
	keyed := method == http.MethodPost || method == http.MethodPatch
	var decode func([]byte) error
	if out != nil {
		decode = func(body []byte) error { return json.Unmarshal(body, out) }
	}
	return c.core.do(ctx, &call{method: method, path: path, body: params, keyed: keyed, answersAnything: true}, decode, options)
}

func checkKey(apiKey string) error {
	if apiKey == "" {
		return errors.New("tranche: the API key is empty")
	}
	for _, char := range []byte(apiKey) {
		if char <= ' ' || char > '~' {
			return errors.New("tranche: the API key holds a space, a line break or another character that no key has")
		}
	}
	return nil
}

func checkBaseURL(text string) error {
	base, err := url.Parse(text)
	if err != nil {
		// Its text quotes the address, which may hold a password.
		return errors.New("tranche: the base URL cannot be read; it is not like https://tranche.example.com")
	}
	if (base.Scheme != "http" && base.Scheme != "https") || base.Host == "" {
		return fmt.Errorf("tranche: the base URL %q is not like https://tranche.example.com", base.Redacted())
	}
	if base.RawQuery != "" || base.Fragment != "" || base.User != nil {
		return errors.New("tranche: the base URL may not have a user, a query or a fragment")
	}
	return nil
}

const (
	// idleConnectionsPerHost is how many connections stay open between calls. Two, the default of net/http,
	// would have a busy program open a new one for almost every call.
	idleConnectionsPerHost = 128
	maxHeaderBytes         = 256 << 10
)

func newTransport() http.RoundTripper {
	ordinary, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		// The program replaced the default transport; it has its reasons.
		return http.DefaultTransport
	}
	transport := ordinary.Clone()
	transport.MaxIdleConns = idleConnectionsPerHost
	transport.MaxIdleConnsPerHost = idleConnectionsPerHost
	transport.MaxResponseHeaderBytes = maxHeaderBytes
	return transport
}

// followNothing stops at redirects: the API has none, and the key is meant for one address.
func followNothing(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func userAgent(appInfo string) string {
	agent := fmt.Sprintf("tranche-go/%s (%s; %s/%s)", Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if appInfo != "" {
		agent += " " + appInfo
	}
	return agent
}
