// Makes a call ready: its address, its body, its headers and its one idempotency key.
// It sends nothing.

package tranche

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// call is one operation with its arguments.
type call struct {
	method string
	path   string
	query  url.Values
	// body is sent as JSON unless it is nil.
	body any
	// keyed says that the operation takes an idempotency key.
	keyed bool
	// answersAnything says that what a success brings is not known.
	answersAnything bool
	// refusedID says that an id of the path cannot be one; see [checkID].
	refusedID error
}

// request is a call made ready: everything that stays the same over its attempts.
type request struct {
	*call
	url     string
	payload []byte
	config  requestConfig
	header  http.Header
}

func (c *core) prepare(operation *call, options []RequestOption) (*request, error) {
	if c.broken != nil {
		return nil, c.broken
	}
	if operation.refusedID != nil {
		return nil, operation.refusedID
	}
	prepared := &request{call: operation, url: c.baseURL + operation.path, config: c.config.requests}
	for _, option := range options {
		option.applyToRequest(&prepared.config)
	}
	if len(operation.query) > 0 {
		prepared.url += "?" + operation.query.Encode()
	}
	if operation.body != nil {
		payload, err := json.Marshal(operation.body)
		if err != nil {
			return nil, fmt.Errorf("tranche: the parameters cannot be written as JSON: %w", err)
		}
		prepared.payload = payload
	}
	if !operation.keyed {
		prepared.config.idempotencyKey = ""
	} else if prepared.config.idempotencyKey == "" {
		prepared.config.idempotencyKey = newIdempotencyKey()
	}
	prepared.header = c.headerOf(prepared)
	if err := checkHeader(prepared.header); err != nil {
		return nil, err
	}
	return prepared, nil
}

// checkID refuses what would change which path is meant: a server may resolve dots, however they are escaped.
func checkID(ids ...string) error {
	for _, id := range ids {
		switch id {
		case "":
			return ErrEmptyID
		case ".", "..":
			return ErrInvalidID
		}
	}
	return nil
}

// checkHeader refuses what cannot be sent, which the transport would only find attempt after attempt. Its
// error shows no value: that may be a secret.
func checkHeader(header http.Header) error {
	for name, values := range header {
		if name == "" || strings.ContainsFunc(name, isNoToken) {
			return errors.New("tranche: the name of a header holds a character that no name has")
		}
		least := ' '
		if name == "Idempotency-Key" {
			least = '!'
		}
		for _, value := range values {
			if strings.ContainsFunc(value, func(char rune) bool { return char < least || char > '~' }) {
				return fmt.Errorf("tranche: the header %s holds a line break or another character that it cannot have", name)
			}
		}
	}
	return nil
}

func isNoToken(char rune) bool {
	return char <= ' ' || char > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, char)
}

func (c *core) headerOf(prepared *request) http.Header {
	header := prepared.config.header.Clone()
	if header == nil {
		header = make(http.Header, 6)
	}
	setUnlessGiven(header, "Accept", "application/json")
	setUnlessGiven(header, "User-Agent", c.userAgent)
	if prepared.payload != nil {
		setUnlessGiven(header, "Content-Type", "application/json")
	}
	header.Set("Authorization", c.authorization())
	if prepared.config.idempotencyKey != "" {
		header.Set("Idempotency-Key", prepared.config.idempotencyKey)
	}
	return header
}

func setUnlessGiven(header http.Header, name, value string) {
	if len(header[name]) == 0 {
		header[name] = []string{value}
	}
}

// newIdempotencyKey makes a random UUID.
func newIdempotencyKey() string {
	var random [16]byte
	// It fails on no system that Go supports; a program without chance must not write.
	if _, err := rand.Read(random[:]); err != nil {
		panic("tranche: the system has no random numbers: " + err.Error())
	}
	random[6] = random[6]&0x0f | 0x40
	random[8] = random[8]&0x3f | 0x80
	digits := hex.EncodeToString(random[:])
	return digits[:8] + "-" + digits[8:12] + "-" + digits[12:16] + "-" + digits[16:20] + "-" + digits[20:]
}
