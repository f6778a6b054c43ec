# pihc: every command a developer or user needs. See CONTRIBUTING.md.
export GOEXPERIMENT := simd
export CGO_ENABLED := 0
GO ?= go

.PHONY: build
build:
	$(GO) build -o bin/pihc ./cmd/pihc
