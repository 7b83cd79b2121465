package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// toJSON renders a YAML tree as indented JSON, its keys in their order.
func toJSON(n *yaml.Node) ([]byte, error) {
	var flat, indented bytes.Buffer
	if err := writeJSON(&flat, n); err != nil {
		return nil, err
	}
	if err := json.Indent(&indented, flat.Bytes(), "", "  "); err != nil {
		return nil, err
	}
	indented.WriteByte('\n')
	return indented.Bytes(), nil
}

func writeJSON(b *bytes.Buffer, n *yaml.Node) error {
	switch n.Kind {
	case yaml.MappingNode:
		return writeObject(b, n.Content)
	case yaml.SequenceNode:
		return writeArray(b, n.Content)
	case yaml.ScalarNode:
		return writeScalar(b, n)
	default:
		return fmt.Errorf("line %d: aliases are not used here", n.Line)
	}
}

func writeObject(b *bytes.Buffer, content []*yaml.Node) error {
	b.WriteByte('{')
	for i := 0; i < len(content); i += 2 {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := encode(b, content[i].Value); err != nil {
			return err
		}
		b.WriteByte(':')
		if err := writeJSON(b, content[i+1]); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

func writeArray(b *bytes.Buffer, content []*yaml.Node) error {
	b.WriteByte('[')
	for i, n := range content {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := writeJSON(b, n); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

func writeScalar(b *bytes.Buffer, n *yaml.Node) error {
	var v any
	if err := n.Decode(&v); err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	return encode(b, v)
}

func encode(b *bytes.Buffer, v any) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
