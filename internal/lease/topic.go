package lease

import "fmt"

// Limits of the contract that no setting changes.
const (
	// MaxTopicLength is the longest topic name, in bytes.
	MaxTopicLength = 64
	// MaxFence is the highest fence ever granted: the largest integer that JavaScript keeps exactly.
	MaxFence Fence = 1<<53 - 1
	// MaxCapacity is the highest capacity that a setting may allow.
	MaxCapacity = 1 << 20
)

// Topic is the name of what is locked: 1 to 64 of A-Z a-z 0-9 _ : -, and not "-" alone,
// which stands for "the lease is in the header" in a path.
type Topic string

// ParseTopic checks a name. The error says what a topic may look like.
func ParseTopic(s string) (Topic, error) {
	if len(s) == 0 || len(s) > MaxTopicLength || s == "-" {
		return "", badTopic(s)
	}
	for i := range len(s) {
		if !topicByte(s[i]) {
			return "", badTopic(s)
		}
	}
	return Topic(s), nil
}

func topicByte(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return c == '_' || c == ':' || c == '-'
}

func badTopic(s string) error {
	return fmt.Errorf("%w: %.80q", ErrBadTopic, s)
}

// Fence is a topic's fencing token: an integer that rises with every grant, for ever.
// A resource refuses a write whose fence is lower than the highest it has seen.
type Fence uint64
