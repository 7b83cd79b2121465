package mutex

import "embed"

// Readme is README.md.
//
//go:embed README.md
var Readme []byte

// Docs are what README.md leads to.
//
//go:embed CHANGELOG.md docs/*.md
var Docs embed.FS

// Llms is the map of this service for language models.
//
//go:embed docs/llms.txt
var Llms []byte

// Help is the plain text at the root of a server; {{url}} stands for the server's URL.
//
//go:embed docs/help.txt
var Help string
