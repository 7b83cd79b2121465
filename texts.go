package mutex

import _ "embed"

// Readme is README.md.
//
//go:embed README.md
var Readme []byte

// Llms is the map of this service for language models.
//
//go:embed docs/llms.txt
var Llms []byte

// Help is the plain text at the root of a server; {{url}} stands for the server's URL.
//
//go:embed docs/help.txt
var Help string
