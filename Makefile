# Every target installs what it needs where it may, and asks no question. Beside Go,
# test needs PostgreSQL and Chromium; check also needs a C compiler, for the race
# detector, and the tools that the target "need" lists.
.DEFAULT_GOAL := help
TOOL := go tool -modfile=tools/go.mod

.PHONY: help
help: ## List the targets.
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-11s %s\n", $$1, $$2}'

.PHONY: build
build: ## Build the static binary bin/beacon.
	CGO_ENABLED=0 go build -trimpath -o bin/beacon ./cmd/beacon

# SQLite is C, translated to Go: the race detector would find nothing of ours in it, and
# take most of its time there.
RACE := -race -gcflags=modernc.org/sqlite/lib=-race=false

# Packages whose goroutines run in the test's own process; the others start the binary.
RACED := ./internal/... ./client ./cmd/...

GO_TEST := scripts/with-postgres scripts/test -p 3 -parallel 4 -timeout 60m

.PHONY: test
test: ## Run the tests, on SQLite and on a PostgreSQL server of their own: what every contributor runs, some five minutes.
	@scripts/need chromium chromium || echo "the console is not tested in a browser"
	@scripts/need pgbouncer pgbouncer
	@scripts/need strace strace || echo "faults at single system calls are not tested"
	@scripts/need busybox busybox || echo "the agent is not tested as on a router"
	$(GO_TEST) ./...

.PHONY: check
check: need ## Check what must hold before a change lands, beside make test: format, vet, staticcheck, race detector, security, tests in several rounds.
	@unformatted="$$($(TOOL) gofumpt -l .)"; test -z "$$unformatted" || { echo "run make format: $$unformatted"; exit 1; }
	go vet ./...
	$(TOOL) staticcheck ./...
	CGO_ENABLED=0 go build -o /dev/null ./cmd/beacon
	GOOS=windows GOARCH=386 CGO_ENABLED=0 go build -o /dev/null ./cmd/beacon # 32 bits, and what is not Unix; both are released
	scripts/check-console
	cd tools/sqlgrammar && go test ./...
	cd tools/release && go vet ./... && go test ./...
	$(GO_TEST) $(RACE) $(RACED)
	BEACON_TEST_LEVEL=check $(GO_TEST) ./... # Go repeats no package that did not ask for the level
	$(MAKE) security

.PHONY: security
security: ## Run gosec and govulncheck (BEACON_VULN_DB names its database), search for keys, build twice and compare.
	cd tools/security && go vet ./... && go test -count=1 -v ./...
	go mod verify
	scripts/reproducible

.PHONY: need
need:
	@scripts/need curl curl
	@scripts/need wget wget
	@scripts/need busybox busybox
	@scripts/need dash dash
	@scripts/need shellcheck shellcheck
	@scripts/need jq jq
	@scripts/need lua5.1 lua5.1
	@scripts/need yamllint yamllint
	@scripts/need signify-openbsd signify-openbsd
	@scripts/need ansible-playbook ansible-core
	@scripts/need pgbouncer pgbouncer
	@scripts/need strace strace
	@scripts/need faketime faketime
	@scripts/need ogr2ogr gdal-bin
	@scripts/need zsh zsh
	@scripts/need fish fish
	@scripts/need chromium chromium
	@scripts/need prometheus prometheus
	@scripts/need nginx nginx-light
	@scripts/need npm npm
	@scripts/need lintian lintian

.PHONY: console
console: ## Build the console's pages (console/dist) from their sources; needs npm.
	cd console && npm ci --no-progress --loglevel=error && npm run --silent types && npm run --silent build

.PHONY: screenshots
screenshots: ## Draw the pictures of the README and the guides (docs/images) from the demonstration, in Chromium.
	@scripts/need chromium chromium
	BEACON_SCREENSHOTS=docs/images go test ./test/browser -count=1 -run '^TestScreenshots$$'

.PHONY: agent
agent: ## Write a feed of the agent's packages for OpenWrt into dist/agent; BEACON_FEED_KEY names a secret key of usign.
	go run ./internal/agentsite/feed -out dist/agent

.PHONY: bench
bench: ## Measure the server beside a bare handler and the bare driver (docs/performance.md).
	BEACON_TEST_POSTGRES_FSYNC=on scripts/with-postgres go test ./test/bench -run '^$$' -bench . -benchtime 1x -timeout 90m
	go test ./internal/store/sqlite ./internal/fleet/spatial ./internal/fleet/coverage ./internal/api/mvt ./internal/api ./internal/httpserver/ratelimit ./internal/access -run '^$$' -bench . -timeout 30m

.PHONY: bench-peers
bench-peers: ## Measure the server beside Redis and PostGIS.
	scripts/with-peers go test ./test/bench -run '^$$' -bench '^BenchmarkPeers$$' -benchtime 1x -timeout 40m -v

.PHONY: release
release: ## Write what is published of this commit into dist: archives, Debian packages, an image for containers, checksums, the feed of the agent.
	cd tools/release && go run . --source ../.. --out ../../dist
	$(MAKE) agent

.PHONY: torture
torture: need ## Hurt real servers in every way we know, in many rounds (docs/reliability.md).
	BEACON_TEST_LEVEL=torture scripts/with-postgres go test -v -count=1 -parallel 3 -timeout 120m -skip '^TestMutants$$' ./test/torture
	BEACON_TEST_LEVEL=torture go test -v -count=1 -timeout 60m -run '^TestHomePrivacy_Attacker$$' ./internal/api
	BEACON_TEST_LEVEL=torture go test -v -count=1 -timeout 60m -run '^TestHonest' ./test/trust
	cd tools/release && BEACON_TEST_LEVEL=torture go test -v -count=1 -run '^TestUpgrade$$' .

.PHONY: mutants
mutants: need ## See that the tests of each fault fail on binaries that are broken on purpose; takes half an hour.
	BEACON_TEST_LEVEL=torture scripts/with-postgres go test -v -count=1 -parallel 3 -timeout 150m -run '^TestMutants' ./test/torture

.PHONY: fuzz
fuzz: ## Fuzz each parser for 20 seconds.
	scripts/fuzz 20s

.PHONY: format
format: ## Format the code.
	$(TOOL) gofumpt -w .

.PHONY: generate
generate: ## Rewrite what is made from others: openapi.json, the types of the TypeScript client, the tables of docs/privacy.md and docs/people.md.
	go generate ./...
