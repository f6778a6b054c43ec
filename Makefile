# pihc: every command a developer or user needs. See CONTRIBUTING.md.
# GOEXPERIMENT=simd gives the AVX-512 and AVX2 kernels; without it everything
# still builds and passes, slower.
export GOEXPERIMENT ?= simd
export CGO_ENABLED ?= 0
GO ?= go
TOOLS := $(GO) tool -modfile=tools/go.mod

.PHONY: all build demo test vet portable cross levels fuzz bench lint clean

all: build

build: ## build bin/pihc
	$(GO) build -o bin/pihc ./cmd/pihc

demo: build ## train the three methods on diffusion-sorption, minutes; table and report in runs/demo
	./bin/pihc reproduce diffusion-sorption --scale demo --out runs/demo

test: vet build ## everything CI runs
	$(GO) test ./...
	$(MAKE) portable cross levels

vet:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "gofmt would change:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...

portable: ## everything again without the experiment
	GOEXPERIMENT=nosimd $(GO) vet ./...
	GOEXPERIMENT=nosimd $(GO) test ./...

cross: ## compile, tests included, for the other platforms
	GOEXPERIMENT=nosimd GOOS=linux GOARCH=arm64 $(GO) vet ./...
	GOEXPERIMENT=nosimd GOOS=darwin GOARCH=arm64 $(GO) vet ./...
	GOEXPERIMENT=nosimd GOOS=windows GOARCH=amd64 $(GO) vet ./...

levels: ## the whole engine with each lower level forced
	PIHC_KERNEL=avx2 $(GO) test -count=1 ./internal/kernel ./fno ./constraint ./model
	PIHC_KERNEL=portable $(GO) test -count=1 ./fno ./constraint ./model

fuzz: ## each decoder and the expression parser for 20 s
	@for package in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$package | grep ^Fuzz); do \
			echo "$$package $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime 20s $$package || exit 1; \
		done; \
	done

bench: build ## the performance table, beside the machine's own peak
	./bin/pihc bench network
	./bin/pihc bench constraint
	./bin/pihc bench step
	./bin/pihc bench solver

lint: ## staticcheck and gofumpt, downloaded on first use
	$(TOOLS) staticcheck ./...
	@$(TOOLS) gofumpt -l $$(git ls-files '*.go')

clean:
	rm -rf bin
