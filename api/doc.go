// Package api is the wire contract in Go, generated from openapi.yaml.
package api

//go:generate go run ./internal/specgen ../openapi.yaml openapi.json overlay.gen.yaml
//go:generate go tool oapi-codegen --config types.yaml ../openapi.yaml
//go:generate go tool oapi-codegen --config server.yaml ../openapi.yaml
//go:generate go tool oapi-codegen --config client.yaml ../openapi.yaml
