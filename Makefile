# Every target prepares what it needs and asks no question; check also needs a C
# compiler, for the race detector.
.DEFAULT_GOAL := help
TOOL := go tool -modfile=tools/go.mod

.PHONY: help
help: ## List the targets.
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-11s %s\n", $$1, $$2}'

.PHONY: build
build: ## Build the static binary bin/beacon.
	CGO_ENABLED=0 go build -trimpath -o bin/beacon ./cmd/beacon

.PHONY: test
test: prepare ## Run all tests, on SQLite and on a PostgreSQL server of their own.
	scripts/check-console
	scripts/with-postgres scripts/test
	cd tools/sqlgrammar && go test ./...

.PHONY: check
check: prepare ## Check formatting, vet, staticcheck, security, and run all tests with the race detector.
	@unformatted="$$($(TOOL) gofumpt -l .)"; test -z "$$unformatted" || { echo "run make format: $$unformatted"; exit 1; }
	go vet ./...
	$(TOOL) staticcheck ./...
	CGO_ENABLED=0 go build -o /dev/null ./cmd/beacon
	scripts/check-console
	scripts/with-postgres scripts/test -race
	cd tools/sqlgrammar && go test ./...
	$(MAKE) security

.PHONY: security
security: ## Run gosec and govulncheck (BEACON_VULN_DB names its database), search for keys, build twice and compare.
	cd tools/security && go vet ./... && go test -count=1 -v ./...
	go mod verify
	scripts/reproducible

.PHONY: prepare
prepare:
	@scripts/need curl curl
	@scripts/need jq jq
	@scripts/need strace strace || echo "tests that need strace are skipped"
	@scripts/need faketime faketime || echo "a database whose clock is wrong is not tested"
	@scripts/need ogr2ogr gdal-bin || echo "no GIS reads our maps: that test is skipped"
	@scripts/need zsh zsh || echo "completions of zsh are not tested"
	@scripts/need fish fish || echo "completions of fish are not tested"
	@scripts/need chromium chromium || echo "tests that need a browser are skipped"
	@scripts/need prometheus prometheus || echo "tests that need Prometheus are skipped: what it makes of packaging/monitoring"
	@scripts/need nginx nginx-light || echo "pages of the documentation with a proxy are not tested"
	@scripts/need npm npm || echo "it is not checked that console/dist is what its sources build"

.PHONY: console
console: ## Build the console's pages (console/dist) from their sources; needs npm.
	cd console && npm ci --no-progress --loglevel=error && npm run --silent types && npm run --silent build

.PHONY: bench
bench: ## Measure the server beside a bare handler and the bare driver (docs/performance.md).
	BEACON_TEST_POSTGRES_FSYNC=on scripts/with-postgres go test ./bench -run '^$$' -bench . -benchtime 1x -timeout 90m
	go test ./store/sqlite ./spatial ./coverage ./mvt ./network ./ratelimit ./access -run '^$$' -bench . -timeout 30m

.PHONY: bench-peers
bench-peers: ## Measure the server beside Redis, PostGIS and, where TILE38_BIN names it, Tile38.
	scripts/with-peers go test ./bench -run '^$$' -bench '^BenchmarkPeers$$' -benchtime 1x -timeout 40m -v

.PHONY: torture
torture: prepare ## Hurt real servers in every way we know, in many rounds (docs/reliability.md).
	BEACON_TEST_LEVEL=torture scripts/with-postgres go test -v -count=1 -parallel 3 -timeout 30m -skip '^TestMutants$$' ./torture

.PHONY: mutants
mutants: prepare ## See that the tests of each fault fail on binaries that are broken on purpose; takes half an hour.
	BEACON_TEST_LEVEL=torture scripts/with-postgres go test -v -count=1 -timeout 150m -run '^TestMutants' ./torture

.PHONY: fuzz
fuzz: ## Fuzz each parser for 20 seconds.
	scripts/fuzz 20s

.PHONY: format
format: ## Format the code.
	$(TOOL) gofumpt -w .

.PHONY: generate
generate: ## Rewrite what is made from the OpenAPI documents: openapi.json, the types of the TypeScript client.
	go generate ./...
