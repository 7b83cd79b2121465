// Command specgen derives from openapi.yaml what must not be written twice:
// openapi.json, and the overlay with the hints that only Go needs.
//
// It owns no state and does nothing but read one file and write two.
package main

import (
	"fmt"
	"os"

	"go.yaml.in/yaml/v3"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "specgen:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("usage: specgen openapi.yaml openapi.json overlay.yaml")
	}
	source, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(source, &doc); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	json, err := toJSON(doc.Content[0])
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	overlay, err := overlayOf(doc.Content[0])
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	if err := os.WriteFile(args[1], json, 0o644); err != nil {
		return err
	}
	return os.WriteFile(args[2], overlay, 0o644)
}
