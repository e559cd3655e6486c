// The settings of a client and of a single call.
// They are plain data: nothing here sends anything.

package tranche

import (
	"fmt"
	"log/slog"
	"net/http"
	"time"
)

const (
	// DefaultBaseURL is where a service listens that was started without settings.
	DefaultBaseURL = "http://127.0.0.1:8080"
	// DefaultMaxRetries is how often a call is repeated at most, after its first attempt.
	DefaultMaxRetries = 2
	// DefaultTimeout bounds each attempt of a call, the reading of its answer included.
	DefaultTimeout = 30 * time.Second
)

// ClientOption is a setting of a client, for [NewClient].
type ClientOption interface{ applyToClient(*clientConfig) }

// RequestOption is a setting of one call; every method takes any number of them.
type RequestOption interface{ applyToRequest(*requestConfig) }

// Option is a setting that a client has for all of its calls and a call can have for itself.
type Option interface {
	ClientOption
	RequestOption
}

type clientConfig struct {
	baseURL    string
	httpClient *http.Client
	logger     *slog.Logger
	appInfo    string
	requests   requestConfig
}

type requestConfig struct {
	maxRetries     int
	timeout        time.Duration
	header         http.Header
	idempotencyKey string
	response       *Response
}

type clientOption func(*clientConfig)

func (o clientOption) applyToClient(c *clientConfig) { o(c) }

type requestOption func(*requestConfig)

func (o requestOption) applyToRequest(r *requestConfig) { o(r) }

type anyOption func(*requestConfig)

func (o anyOption) applyToClient(c *clientConfig)   { o(&c.requests) }
func (o anyOption) applyToRequest(r *requestConfig) { o(r) }

// WithBaseURL says where the service is, such as "https://tranche.example.com"; without "/v1".
func WithBaseURL(baseURL string) ClientOption {
	return clientOption(func(c *clientConfig) { c.baseURL = baseURL })
}

// WithHTTPClient makes the client send through yours: your transport, proxy, certificates or tracing.
// Its own Timeout, where it has one, bounds each attempt besides [WithTimeout], in the same way. Redirects
// are not followed unless its own CheckRedirect says so: the API has none, and the key is meant for one address.
func WithHTTPClient(httpClient *http.Client) ClientOption {
	return clientOption(func(c *clientConfig) { c.httpClient = httpClient })
}

// WithTransport makes the client send through your [http.RoundTripper].
func WithTransport(transport http.RoundTripper) ClientOption {
	return WithHTTPClient(&http.Client{Transport: transport})
}

// WithLogger has each attempt told to your logger, at debug level: method, path, status, duration and
// request id, never a header or a body.
func WithLogger(logger *slog.Logger) ClientOption {
	return clientOption(func(c *clientConfig) { c.logger = logger })
}

// WithAppInfo adds the name and version of your program to the user agent.
func WithAppInfo(name, version string) ClientOption {
	return clientOption(func(c *clientConfig) { c.appInfo = name + "/" + version })
}

// WithMaxRetries says how often a call is repeated at most, after its first attempt. 0 turns repeating off.
func WithMaxRetries(count int) Option {
	return anyOption(func(r *requestConfig) { r.maxRetries = max(count, 0) })
}

// WithTimeout bounds each attempt of a call; the context bounds all of them together. 0 is no bound. Of a
// stream it bounds only how long a connection takes to begin.
func WithTimeout(timeout time.Duration) Option {
	return anyOption(func(r *requestConfig) { r.timeout = timeout })
}

// WithHeader sets a header of the request. The client's own Authorization header cannot be replaced.
func WithHeader(name, value string) Option {
	return anyOption(func(r *requestConfig) {
		// A client's headers are shared by its calls, so a call adds to a copy.
		header := r.header.Clone()
		if header == nil {
			header = http.Header{}
		}
		header.Set(name, value)
		r.header = header
	})
}

// WithIdempotencyKey gives the call a key of your own instead of one made for it. A later call with the
// same key and the same parameters gets the stored answer and changes nothing: use it to repeat a call
// even after your process was restarted.
func WithIdempotencyKey(key string) RequestOption {
	return requestOption(func(r *requestConfig) { r.idempotencyKey = key })
}

// WithIfMatch makes a change happen only while the resource still has this version; otherwise the error
// is [ErrPreconditionFailed]. A string is an ETag as it was received, quotes included.
func WithIfMatch[V int | int64 | string](version V) RequestOption {
	return withCallHeader("If-Match", etagOf(version))
}

// WithIfNoneMatch makes a read answer with [ErrNotModified] while the resource still has this version. A
// string is an ETag as it was received, quotes included.
func WithIfNoneMatch[V int | int64 | string](version V) RequestOption {
	return withCallHeader("If-None-Match", etagOf(version))
}

// WithResponse has the response written to where you say, also when the call fails: its status, headers,
// rate limit and raw body. With an iterator it is the response of the page fetched last.
func WithResponse(into *Response) RequestOption {
	return requestOption(func(r *requestConfig) { r.response = into })
}

func withCallHeader(name, value string) RequestOption {
	option := WithHeader(name, value)
	return requestOption(option.applyToRequest)
}

func etagOf(version any) string {
	if etag, ok := version.(string); ok {
		return etag
	}
	return fmt.Sprintf(`"%d"`, version)
}
