package bench

import (
	"bytes"
	"fmt"
)

// leaseSize is the length of a lease on the wire.
const leaseSize = 32

// grant is what the client needs to know of a grant. The lease is part of the connection's buffer.
type grant struct {
	lease []byte
	fence int64
}

var leaseKey, fenceKey = []byte(`"lease": "`), []byte(`"fence": `)

// parseGrant takes apart a grant, whose JSON is laid out the same way every time.
func parseGrant(body []byte) (g grant, err error) {
	_, lease, ok := bytes.Cut(body, leaseKey)
	_, fence, ok2 := bytes.Cut(body, fenceKey)
	if !ok || !ok2 || len(lease) < leaseSize {
		return g, fmt.Errorf("this is no grant: %s", body)
	}
	return grant{lease[:leaseSize], int64(number(fence))}, nil
}

// leaseRequest is a request about a lease, made once for all leases of a topic.
type leaseRequest struct {
	bytes []byte
	at    int // where the lease stands
}

func (t *target) leaseRequest(method, path string) leaseRequest {
	blank := bytes.Repeat([]byte("0"), leaseSize)
	request := t.request(method, path, "X-Lease: "+string(blank))
	return leaseRequest{request, bytes.Index(request, blank)}
}

// with is the request about this lease; it is valid until the next call.
func (r leaseRequest) with(lease []byte) []byte {
	copy(r.bytes[r.at:], lease)
	return r.bytes
}

// topicCalls are the requests about one topic.
type topicCalls struct {
	acquire, status []byte
	renew, release  leaseRequest
}

func (t *target) calls(topic, name string) topicCalls {
	return topicCalls{
		acquire: t.request("POST", "/"+topic+"?ttl=600", "X-Name: "+name),
		status:  t.request("GET", "/"+topic),
		renew:   t.leaseRequest("POST", "/"+topic+"/-/renew?ttl=600"),
		release: t.leaseRequest("DELETE", "/"+topic+"/-"),
	}
}

// copy is the same request for another connection, which sends at the same time.
func (r leaseRequest) copy() leaseRequest { return leaseRequest{append([]byte(nil), r.bytes...), r.at} }
