package policy

import "strings"

// maxPattern is the longest pattern, in bytes: a longest topic between a few stars.
const maxPattern = 80

// pattern is a topic name in which each * stands for any run of characters, none included.
type pattern struct {
	text  string
	exact bool     // there is no star
	parts []string // what is between the stars; the first and last may be empty
}

func newPattern(text string) pattern {
	return pattern{text: text, exact: !strings.Contains(text, "*"), parts: strings.Split(text, "*")}
}

// fits tells whether a text is a pattern at all.
func fits(text string) bool {
	if text == "" || len(text) > maxPattern {
		return false
	}
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '_', c == ':', c == '-', c == '*':
		default:
			return false
		}
	}
	return true
}

// matches takes each part at its first chance, which is right whenever any other choice is.
func (p *pattern) matches(topic string) bool {
	if p.exact {
		return topic == p.text
	}
	first, last := p.parts[0], p.parts[len(p.parts)-1]
	if len(topic) < len(first)+len(last) || !strings.HasPrefix(topic, first) || !strings.HasSuffix(topic, last) {
		return false
	}
	topic = topic[len(first) : len(topic)-len(last)]
	for _, part := range p.parts[1 : len(p.parts)-1] {
		_, after, found := strings.Cut(topic, part)
		if !found {
			return false
		}
		topic = after
	}
	return true
}

// covers tells whether every topic that other matches is matched by p. A star in other is a character that no topic
// has, so only a star of p can take it in.
func (p *pattern) covers(other *pattern) bool { return p.matches(other.text) }
