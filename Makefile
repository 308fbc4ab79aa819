# Every target prepares what it needs and asks no question.
.DEFAULT_GOAL := help
TOOL := go tool -modfile=tools/go.mod

.PHONY: help
help: ## List the targets.
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

.PHONY: build
build: ## Build the static binary bin/beacon.
	CGO_ENABLED=0 go build -trimpath -o bin/beacon ./cmd/beacon

.PHONY: test
test: ## Run all tests.
	go test ./...

.PHONY: check
check: ## Check formatting, vet, staticcheck, and run all tests with the race detector.
	@unformatted="$$($(TOOL) gofumpt -l .)"; test -z "$$unformatted" || { echo "run make format: $$unformatted"; exit 1; }
	go vet ./...
	$(TOOL) staticcheck ./...
	CGO_ENABLED=0 go build -o /dev/null ./cmd/beacon
	go test -race ./...

.PHONY: bench
bench: ## Measure CPU per request beside a bare handler (docs/performance.md).
	go test ./bench -run '^$$' -bench . -benchtime 1x -timeout 30m

.PHONY: fuzz
fuzz: ## Fuzz each parser for 20 seconds.
	scripts/fuzz 20s

.PHONY: format
format: ## Format the code.
	$(TOOL) gofumpt -w .

.PHONY: generate
generate: ## Rewrite what is made from something else (openapi.json).
	go generate ./...
