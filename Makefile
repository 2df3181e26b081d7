# Berth. `make` lists the targets. Each installs what it needs and is not
# there; a second run does only what is left to do.
# Written for GNU make 4 and for the 3.81 that macOS has.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

GO ?= go
OS := $(shell uname -s)
VERSION := $(shell sed -n 's/^const Version = "\(.*\)"/\1/p' build/version.go)
COMMIT := $(shell git rev-parse --short HEAD 2>/dev/null)
GOVERSION := $(shell $(GO) env GOVERSION)
ARCH := $(shell $(GO) env GOARCH)
CACHE := $(if $(XDG_CACHE_HOME),$(XDG_CACHE_HOME),$(HOME)/.cache)/berth

STRIP := -s -w -X berth/build.Commit=$(COMMIT)
TAGS := desktop,production
EXE :=
DISPLAYED := yes
ifeq ($(OS),Linux)
  TAGS := desktop,production,webkit2_41
  DISPLAYED := $(DISPLAY)$(WAYLAND_DISPLAY)
endif
ifeq ($(OS),Darwin)
  export CGO_CFLAGS := -mmacosx-version-min=11.0
  export CGO_LDFLAGS := -framework UniformTypeIdentifiers -mmacosx-version-min=11.0
endif
ifneq (,$(findstring NT,$(OS)))
  EXE := .exe
endif

# Marks of what was done once; `make clean` forgets them.
DONE := .make
# Build tools by name and version, shared between checkouts.
tool = $(CACHE)/tools/$(1)-$(shell awk '$$1 == "$(2)" && $$2 ~ /^v/ {print $$2}' tools/go.mod)-$(GOVERSION)$(EXE)
STATICCHECK := $(call tool,staticcheck,honnef.co/go/tools)
GOLANGCI := $(call tool,golangci-lint,github.com/golangci/golangci-lint/v2)
NFPM := $(call tool,nfpm,github.com/goreleaser/nfpm/v2)
WINRES := $(call tool,go-winres,github.com/tc-hib/go-winres)

PAGE := frontend/dist/app/index.html
PAGE_SOURCES := $(shell find frontend/src frontend/public -type f 2>/dev/null) \
  $(wildcard frontend/*.html frontend/*.json frontend/*.ts)

.PHONY: help
help: ## This list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 26

# --- run and build -----------------------------------------------------------

.PHONY: run
ifneq ($(DISPLAYED),)
run: build ## Build Berth and open it; without a display, serve it and print where
	bin/berth$(EXE)
else
run: build-headless
	@bin/berth-headless$(EXE) serve | while IFS= read -r line; do \
	  [[ $$line =~ \"url\":\"([^\"]*)\" ]] && echo "Address: $${BASH_REMATCH[1]}"; \
	  [[ $$line =~ \"token\":\"([^\"]*)\" ]] && echo "Token:   $${BASH_REMATCH[1]}"; \
	done
endif

.PHONY: build
build: $(PAGE) $(DONE)/window ## bin/berth: the window and all commands
	$(GO) build -trimpath -tags $(TAGS) -ldflags '$(STRIP)' -o bin/berth$(EXE) .

.PHONY: build-headless
build-headless: $(PAGE) ## bin/berth-headless: static, all commands, no window
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(STRIP)' -o bin/berth-headless$(EXE) .

.PHONY: build-windows
build-windows: $(PAGE) $(WINRES) ## bin/windows: the console and the window program
	mkdir -p bin/windows
	$(WINRES) make --in build/windows/winres.json --arch amd64 --out rsrc \
	  --product-version $(VERSION).0 --file-version $(VERSION).0
	GOOS=windows GOARCH=amd64 CGO_ENABLED=0 $(GO) build -trimpath -tags desktop,production -ldflags '$(STRIP)' -o bin/windows/berth.exe .
	GOOS=windows GOARCH=amd64 CGO_ENABLED=0 $(GO) build -trimpath -tags desktop,production -ldflags '$(STRIP) -H windowsgui' -o bin/windows/berth-window.exe .
	rm -f rsrc_windows_amd64.syso

.PHONY: page
page: $(PAGE) ## The user interface, into frontend/dist/app

$(PAGE): $(DONE)/frontend $(PAGE_SOURCES)
	cd frontend && npm run --silent build
	@touch $@

$(DONE)/frontend: frontend/package-lock.json
	cd frontend && npm ci
	@mkdir -p $(DONE) && touch $@

$(DONE)/%: build/setup.sh
	build/setup.sh $*
	@mkdir -p $(DONE) && touch $@

# --- check -------------------------------------------------------------------

.PHONY: test
test: $(DONE)/window $(DONE)/browser $(DONE)/display $(DONE)/frontend $(STATICCHECK) $(GOLANGCI) build build-headless ## Everything a developer needs to trust a change
	@test/all.sh

.PHONY: conformance
conformance: ## The real agents, against the scripted model
	@test/conformance.sh

.PHONY: kill
kill: ## Berth killed at every commit point of a turn
	@test/kill.sh

.PHONY: lint
lint: lint-go lint-frontend ## All linters

.PHONY: lint-go
lint-go: $(STATICCHECK) $(GOLANGCI)
	@test -z "$$(gofmt -l $(GO_DIRS) | tee /dev/stderr)" || { echo "run: make fmt" >&2; exit 1; }
	$(GO) vet ./...
	$(STATICCHECK) -tags $(TAGS) ./...
	$(GOLANGCI) run

.PHONY: lint-frontend
lint-frontend: $(DONE)/frontend
	cd frontend && npm run --silent check && npm run --silent lint

.PHONY: fmt
fmt: $(DONE)/frontend ## Format Go and TypeScript
	gofmt -w $(GO_DIRS)
	cd frontend && npm run --silent format

.PHONY: bench
bench: build build-headless ## Figures, beside what one would use instead
	$(GO) run ./test/bench

.PHONY: clis
clis: ## The agents' own programs, as pinned for conformance
	$(GO) run ./test/clis/cmd/clis

.PHONY: openapi
openapi: $(DONE)/frontend ## docs/openapi.json and the page's types, from the code
	$(GO) test ./backend/api -run 'Document' -update
	cd frontend && npm run --silent generate:api

# --- package -----------------------------------------------------------------

.PHONY: package
ifeq ($(OS),Darwin)
package: package-mac ## Packages for this system (and for Windows, from Linux), into dist
else
package: package-linux package-windows
endif

.PHONY: package-linux
package-linux: build build-headless $(NFPM)
	mkdir -p dist bin/completion
	bin/berth-headless completion bash > bin/completion/berth.bash
	bin/berth-headless completion zsh > bin/completion/_berth
	VERSION=$(VERSION) ARCH=$(ARCH) $(NFPM) package --config build/linux/nfpm.yaml --packager deb --target dist/
	tar -C bin --transform 's,^,berth-$(VERSION)/,' -czf dist/berth-$(VERSION)-linux-$(ARCH).tar.gz berth berth-headless

.PHONY: package-windows
package-windows: build-windows
	build/windows/archive.sh $(VERSION)

.PHONY: package-mac
package-mac: build
	build/darwin/bundle.sh $(VERSION)

.PHONY: icons
icons: $(DONE)/browser $(DONE)/display ## Draw build/icon.svg again in all sizes
	build/icons.sh

.PHONY: clean
clean: ## Remove what was built
	rm -rf bin dist $(DONE) test-results frontend/dist/app rsrc_windows_*.syso

# --- tools -------------------------------------------------------------------

GO_DIRS := $(wildcard *.go) app backend build command frontend/*.go test

$(STATICCHECK): PACKAGE = honnef.co/go/tools/cmd/staticcheck
$(GOLANGCI): PACKAGE = github.com/golangci/golangci-lint/v2/cmd/golangci-lint
$(NFPM): PACKAGE = github.com/goreleaser/nfpm/v2/cmd/nfpm
$(WINRES): PACKAGE = github.com/tc-hib/go-winres
$(STATICCHECK) $(GOLANGCI) $(NFPM) $(WINRES):
	@mkdir -p $(dir $@)
	cd tools && $(GO) build -o $@ $(PACKAGE)
