# pihc: every command a developer or user needs. See CONTRIBUTING.md.
# The Go release all was measured with; an older go command fetches it, also where
# the environment says GOTOOLCHAIN=local.
export GOTOOLCHAIN := go1.27.1
# GOEXPERIMENT=simd gives the vector kernels; without it everything still builds and
# passes, slower. simd=+ is their full width, also on processors without VPCLMULQDQ
# (before about 2019), where package simd would stay at 128 bits.
export GOEXPERIMENT ?= simd
export GOFLAGS ?= -ldflags=-X=runtime.godebugDefault=simd=+
export CGO_ENABLED ?= 0
GO ?= go
TOOLS := $(GO) tool -modfile=tools/go.mod

.PHONY: all build deps demo test vet reference cross widths race fuzz bench lint clean

all: build

build: ## build bin/pihc
	$(GO) build -o bin/pihc ./cmd/pihc

demo: build ## train the three methods on diffusion-sorption, minutes; table and report in runs/demo
	./bin/pihc reproduce diffusion-sorption --scale demo --out runs/demo

deps: ## download what the build needs
	$(GO) version
	$(GO) mod download
	$(GO) mod verify

test: vet lint build ## everything CI runs
	$(GO) test ./...
	$(MAKE) reference cross widths

vet:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "gofmt would change:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...

reference: ## every package without the experiment
	GOEXPERIMENT=nosimd $(GO) vet ./...
	GOEXPERIMENT=nosimd $(GO) test ./...

cross: ## compile, tests included, for the other platforms; run kernels, network and engine under emulation
	GOEXPERIMENT=nosimd GOOS=darwin GOARCH=arm64 $(GO) vet ./...
	GOEXPERIMENT=nosimd GOOS=windows GOARCH=amd64 $(GO) vet ./...
	GOOS=linux GOARCH=arm64 $(GO) vet ./...
	@if ! { command -v qemu-aarch64-static && command -v qemu-x86_64-static; } >/dev/null; then \
		echo "cross: no qemu-user-static here, so NEON and older processors are not run"; exit 0; fi; \
	folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && set -e; \
	GOARCH=arm64 $(GO) test -c -o $$folder/kernel-arm64 ./internal/kernel; \
	GOARCH=arm64 $(GO) test -c -o $$folder/fno-arm64 ./fno; \
	GOARCH=arm64 $(GO) test -c -o $$folder/engine-arm64 ./internal/enginetest; \
	GOARCH=amd64 $(GO) test -c -o $$folder/kernel-amd64 ./internal/kernel; \
	quick='Gemm|Pairs|Gelu|Adam|Sum|Rows|Widen|FFT|Stencil|Arithmetic|Special|CombineF|AccumulateNormal'; \
	cd internal/kernel; set -x; \
	qemu-aarch64-static $$folder/kernel-arm64 -test.run "$$quick"; \
	qemu-x86_64-static -cpu Haswell $$folder/kernel-amd64 -test.run "$$quick"; \
	qemu-x86_64-static -cpu IvyBridge $$folder/kernel-amd64 -test.run "$$quick"; \
	cd ../../fno; qemu-aarch64-static $$folder/fno-arm64 -test.run 'TestForward|TestBackwardFloat32'; \
	cd ../internal/enginetest; qemu-aarch64-static $$folder/engine-arm64 -test.run 'TestCPU/^(moe|borders|features_moe|passes_moe)$$' -test.skip 'TestCPU/.*/gradient'

widths: ## the whole engine with narrower vectors, and the kernels with the narrowest
	@if [ "$$($(GO) env GOARCH)" != amd64 ]; then echo "widths: this processor has one width"; exit 0; fi; set -ex; \
	GODEBUG=simd=+256 $(GO) test -count=1 ./internal/kernel ./internal/fft ./fno ./ffno ./constraint ./model ./internal/enginetest; \
	GODEBUG=simd=+128 $(GO) test -count=1 ./internal/kernel ./internal/fft ./fno ./ffno

race: ## the packages that work in parallel under the race detector, which also checks pointers; needs gcc
	CGO_ENABLED=1 $(GO) test -race ./internal/kernel ./internal/fft ./fno ./ffno ./grid ./constraint ./model

FUZZTIME ?= 20s

fuzz: ## each decoder and the expression parser for FUZZTIME; minimising an input ends after ten tries, or little else is done
	@for package in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$package | grep ^Fuzz); do \
			echo "$$package $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$package || exit 1; \
		done; \
	done

bench: build ## the performance table, beside the machine's own peak
	./bin/pihc bench network
	./bin/pihc bench constraint
	./bin/pihc bench step
	./bin/pihc bench solver

lint: ## staticcheck and gofumpt, downloaded on first use
	$(TOOLS) staticcheck ./...
	@unformatted=$$($(TOOLS) gofumpt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "gofumpt would change:"; echo "$$unformatted"; exit 1; fi

clean:
	rm -rf bin
