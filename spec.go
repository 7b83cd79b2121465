// Package mutex carries the project's contract: the documents that server and
// clients embed. Code lives below, in api, topicactor, registry and internal.
package mutex

import _ "embed"

// SpecYAML is openapi.yaml, the contract that everything is generated from.
//
//go:embed openapi.yaml
var SpecYAML []byte

// SpecJSON is the same document as JSON.
//
//go:embed api/openapi.json
var SpecJSON []byte
