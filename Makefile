# make test     what CI runs: installs what the tests need, then runs them all
# make install  puts mutex and agentmutex into $(go env GOPATH)/bin, or $GOBIN
# make help     lists the rest

GO ?= go

.PHONY: help build install test race tools generate fresh lint fmt vet staticcheck fuzz soak bench screenshots

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

build: ## build both binaries into bin/
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/ ./cmd/...

install: ## install both binaries
	CGO_ENABLED=0 $(GO) install -trimpath ./cmd/...

tools: ## install what the tests need beside Go
	./scripts/tools.sh

test: tools ## all tests, none skipped
	./scripts/test.sh

race: ## the tests under the race detector, without the long harnesses
	$(GO) test -race -short ./...

generate: ## generate api/ from openapi.yaml
	$(GO) generate ./...

lint: fmt vet staticcheck ## formatting, vet, staticcheck, and two linters for openapi.yaml
	./api/lint/run.sh

fmt:
	@bad=$$(gofmt -l $$(git ls-files '*.go' | grep -v '\.gen\.go$$')); \
	if [ -n "$$bad" ]; then echo "not formatted:"; echo "$$bad"; exit 1; fi

vet:
	$(GO) vet ./...
	GOOS=darwin $(GO) vet ./cmd/... ./internal/supervise/... ./internal/dirstore/...
	GOOS=windows $(GO) vet ./cmd/... ./internal/supervise/... ./internal/dirstore/...

staticcheck:
	$(GO) tool staticcheck ./...

fuzz: ## each fuzz target for a while (FUZZTIME, 30s each)
	./scripts/fuzz.sh

soak: ## the long harness: 200 kills under load, with torn tails in between
	$(GO) test -count=1 ./internal/soak -run Kill -soak.kills 200 -timeout 60m -v

bench: ## the figures of docs/benchmarks.md
	./scripts/bench.sh

screenshots: ## the pictures in docs/img
	$(GO) test ./internal/web/browsertest -run Screenshots -screenshots "$(CURDIR)/docs/img"
