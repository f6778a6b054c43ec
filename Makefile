# pihc: every command a developer or user needs. See CONTRIBUTING.md.
# The Go release all was measured with; an older go command fetches it, also where
# the environment says GOTOOLCHAIN=local.
export GOTOOLCHAIN := go1.27.1
# GOEXPERIMENT=simd gives the vector kernels; without it everything still builds and
# passes, slower. simd=+ is their full width, also on processors without VPCLMULQDQ
# (before about 2019), where package simd would stay at 128 bits. -trimpath leaves the
# folders of the machine out of the program, so that equal sources give equal programs.
export GOEXPERIMENT ?= simd
export GOFLAGS ?= -trimpath -ldflags=-X=runtime.godebugDefault=simd=+
export CGO_ENABLED ?= 0
GO ?= go
TOOLS := $(GO) tool -modfile=tools/lint.mod

.PHONY: all build deps demo gallery test wheel python dist dist-check vet plain reference cross widths plugin xla h100 race fuzz stress conformance verdict soak bench lint clean

all: build

build: ## build bin/pihc
	$(GO) build -o bin/pihc ./cmd/pihc

demo: build ## train the three methods on diffusion-sorption, minutes; table and report in runs/demo
	./bin/pihc reproduce diffusion-sorption --scale demo --out runs/demo

gallery: build ## every equation of examples/, moe and hard, minutes each; reports in runs/gallery
	@for spec in examples/*/spec.yaml; do name=$$(basename $$(dirname $$spec)); \
		echo "$$name"; ./bin/pihc reproduce $$spec --out runs/gallery/$$name --methods moe,hard || exit 1; \
	done

deps: ## download what the build needs
	$(GO) version
	$(GO) mod download
	$(GO) mod verify

test: vet lint build ## everything CI runs
	$(GO) test -timeout 20m ./... # cmd/pihc takes four minutes, ten beside other work
	cd examples/go && $(GO) vet ./... && $(GO) test ./...
	$(MAKE) -j2 xla plain cross widths python XLATEST="-short -run='TestEngine/^(moe|steady_moe|passes_moe|propagated_moe)|^Test[^E]'"

wheel: ## wheels for Linux, macOS and Windows, in release/
	rm -rf release && $(GO) run ./tools/release -out release -wheels

python: ## install the wheel of this platform into a fresh environment, run its tests there, and execute python/example.ipynb
	@python/check

dist: ## archives and wheels for five platforms with their checksums, in release/; the version is that of the tag
	rm -rf release && $(GO) run ./tools/release -out release

dist-check: ## make dist of the last commit twice, in two folders, and compare checksums
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && set -e; \
	for copy in one other-name; do git clone --quiet . $$folder/$$copy; $(MAKE) -C $$folder/$$copy dist; done; \
	cd $$folder; cmp one/release/SHA256SUMS other-name/release/SHA256SUMS; \
	cd one/release; sha256sum --check --quiet SHA256SUMS; tar -xzf *linux-amd64.tar.gz; \
	if grep -rlF -e "$$($(GO) env GOMODCACHE)" -e "$$($(GO) env GOROOT)" -e "$$folder" pihc-*/; then echo "dist-check: these name a folder of this machine"; exit 1; fi; \
	cat SHA256SUMS; echo "dist-check: both folders have the same files"

vet:
	@unformatted=$$($$($(GO) env GOROOT)/bin/gofmt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "gofmt would change:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...

plain: ## what has kernels beneath it, without the experiment: networks but the widest, constraint, engine
	GOEXPERIMENT=nosimd $(GO) vet ./...
	GOEXPERIMENT=nosimd $(GO) test -short -skip '^TestNetwork$$/^(full_width|many_workers)$$' \
		./internal/kernel ./internal/fft ./grid ./lm ./fno ./ffno ./constraint ./model ./engine/enginetest

reference: ## every package without the experiment; of the command and of train what is not slow
	GOEXPERIMENT=nosimd $(GO) vet ./...
	GOEXPERIMENT=nosimd $(GO) test -timeout 20m $$($(GO) list ./... | grep -v -e /cmd/ -e /train$$ -e /stress$$ -e /conformance$$)
	GOEXPERIMENT=nosimd $(GO) test -short -timeout 20m ./cmd/... ./train

cross: ## compile, tests included, for the other platforms; run kernels, network and engine under emulation
	GOEXPERIMENT=nosimd GOOS=darwin GOARCH=arm64 $(GO) vet ./...
	GOEXPERIMENT=nosimd GOOS=windows GOARCH=amd64 $(GO) vet ./...
	GOOS=linux GOARCH=arm64 $(GO) vet ./...
	@if ! { command -v qemu-aarch64-static && command -v qemu-x86_64-static; } >/dev/null; then \
		echo "cross: no qemu-user-static here, so NEON and older processors are not run"; exit 0; fi; \
	folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && set -e; \
	GOARCH=arm64 $(GO) test -c -o $$folder/kernel-arm64 ./internal/kernel; \
	GOARCH=arm64 $(GO) test -c -o $$folder/fno-arm64 ./fno; \
	GOARCH=arm64 $(GO) test -c -o $$folder/engine-arm64 ./engine/enginetest; \
	GOARCH=amd64 $(GO) test -c -o $$folder/kernel-amd64 ./internal/kernel; \
	quick='Gemm|Pairs|Gelu|Adam|Sum|Rows|Widen|FFT|Stencil|Arithmetic|Special|CombineF|AccumulateNormal'; \
	cd internal/kernel; set -x; \
	qemu-aarch64-static $$folder/kernel-arm64 -test.run "$$quick"; \
	qemu-x86_64-static -cpu Haswell $$folder/kernel-amd64 -test.run "$$quick"; \
	qemu-x86_64-static -cpu IvyBridge $$folder/kernel-amd64 -test.run "$$quick"; \
	cd ../../fno; qemu-aarch64-static $$folder/fno-arm64 -test.run 'TestNetwork/.*/(forward|float32)'; \
	cd ../engine/enginetest; qemu-aarch64-static $$folder/engine-arm64 -test.run 'TestCPU/^(moe|borders|features_moe|passes_moe)$$' -test.skip 'TestCPU/.*/gradient'

widths: ## the engine with vectors narrower than the widest here, and the kernels with the narrowest
	@if [ "$$($(GO) env GOARCH)" != amd64 ]; then echo "widths: this processor has one width"; exit 0; fi; set -ex; \
	if [ ! -r /proc/cpuinfo ] || grep -q avx512f /proc/cpuinfo; then \
		GODEBUG=simd=+256 $(GO) test -count=1 ./internal/kernel ./internal/fft ./fno ./ffno ./constraint ./model ./engine ./engine/enginetest; \
	fi; \
	GODEBUG=simd=+128 $(GO) test -count=1 -skip '^TestNetwork$$/^(full_width|many_workers)$$' ./internal/kernel ./internal/fft ./fno ./ffno

# A third party's build of XLA for CPUs: for tests, never part of pihc.
PLUGIN := $(CURDIR)/bin/pjrt-cpu.so
PLUGIN_WHEEL := lammps_jax_pjrt_cpu-0.11.2-py3-none-manylinux_2_27_x86_64.whl
PLUGIN_SHA256 := 1319390d948b39f69f7dade496b7c385149d9ca6097a6b62114da113216d9ad1

plugin: $(PLUGIN) ## fetch the PJRT plugin for CPUs that engine xla is tested with

$(PLUGIN):
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && set -e; \
	python3 -m pip download --quiet --no-deps --only-binary=:all: --platform manylinux_2_27_x86_64 -d $$folder lammps-jax-pjrt-cpu==0.11.2; \
	echo "$(PLUGIN_SHA256)  $$folder/$(PLUGIN_WHEEL)" | sha256sum --check --quiet; \
	python3 -m zipfile -e $$folder/$(PLUGIN_WHEEL) $$folder; \
	mkdir -p bin; mv $$folder/lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so $@

xla: ## engine xla on the plugin that make plugin fetched; quickly compiled, slower code; XLATEST=-short leaves out cases; make test runs four
	@if [ ! -f $(PLUGIN) ]; then echo "xla: no plugin in bin (make plugin fetches one), so engine xla is not tested"; exit 0; fi; set -ex; \
	PIHC_PJRT=$(PLUGIN) XLA_FLAGS=--xla_backend_optimization_level=0 $(GO) test -timeout 30m $(XLATEST) ./internal/pjrt ./xla; \
	PIHC_PJRT=$(PLUGIN) XLA_FLAGS=--xla_backend_optimization_level=0 $(GO) test ./cmd/pihc -run TestScripts/xla; \
	tools/device rehearse machine sorption train; \
	for file in bin/device/rehearsal/*; do python3 -m json.tool --json-lines $$file >/dev/null 2>&1 || python3 -m json.tool $$file >/dev/null; done; \
	grep -q '"tf32", "method": "moe", "batch": "2", "what": "step"' bin/device/rehearsal/sorption.jsonl

# XLA's compiler for NVIDIA devices, with the assembler and library that it calls.
CUDA := $(CURDIR)/bin/cuda
CUDA_WHEELS := jax-cuda13-pjrt==0.11.2 nvidia-cuda-nvcc==13.5.37 nvidia-nvvm==13.5.37
CUDA_PLUGIN := $(CUDA)/jax_plugins/xla_cuda13/xla_cuda_plugin.so
define CUDA_SHA256
e5ff589d43064913bb74027682d89639c7ea48f9f81c2bae6fc75117e913f93e  jax_cuda13_pjrt-0.11.2-py3-none-manylinux_2_27_x86_64.whl
f5c4f7ead5d964fb4af42bbf1e6d3ec3c1e6e9d83b53749f691d387e7fcaa3a7  nvidia_cuda_nvcc-13.5.37-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl
c41bfa362e407405163f103c2229f0765f8cc2ed7d148b754dc77f228bf7e070  nvidia_nvvm-13.5.37-py3-none-manylinux2010_x86_64.manylinux_2_12_x86_64.whl
endef
export CUDA_SHA256

h100: $(CUDA_PLUGIN) ## compile the paper's two steps of training for an H100, which need not be there: minutes, 260 MB to fetch
	@dump=$$(mktemp -d) && trap 'rm -rf "$$dump"' EXIT && set -ex; \
	PIHC_PJRT_CUDA=$(CUDA_PLUGIN) PATH=$(CUDA)/nvidia/cu13/bin:$$PATH XLA_FLAGS="--xla_gpu_cuda_data_dir=$(CUDA)/nvidia/cu13 --xla_dump_to=$$dump" \
		$(GO) test ./xla -run TestCompilesForH100 -count=1 -v -timeout 60m -args -dump $$dump

$(CUDA_PLUGIN):
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && set -e; \
	python3 -m pip download --quiet --no-deps --only-binary=:all: --platform manylinux_2_27_x86_64 --platform manylinux2014_x86_64 -d $$folder $(CUDA_WHEELS); \
	cd $$folder; echo "$$CUDA_SHA256" | sha256sum --check --quiet; \
	mkdir -p $(CUDA); for wheel in *.whl; do python3 -m zipfile -e $$wheel $(CUDA); done; chmod +x $(CUDA)/nvidia/cu13/bin/* $(CUDA)/nvidia/cu13/nvvm/bin/*

race: ## every package under the race detector: kernels with vectors, where it checks their pointers, all else without, which is far faster there; needs gcc
	CGO_ENABLED=1 $(GO) test -race -short -timeout 60m ./internal/kernel ./internal/fft
	CGO_ENABLED=1 GOEXPERIMENT=nosimd $(GO) test -race -short -timeout 60m ./...

stress: ## kill, damage and starve every command, continue, and compare bits; STRESS='-only flips': some
	$(GO) test ./tools/stress -count=1 -v -timeout 0 -args -full $(STRESS)

conformance: ## the same run through every door, all problems and methods, a quarter of an hour; log in docs/runs
	$(GO) test ./tools/conformance -count=1 -v -timeout 0 -args -full -log $(CURDIR)/docs/runs/conformance.txt $(CONFORMANCE)

verdict: ## estimates of errors and verdicts without solutions against errors, over the gallery, ten minutes; log in docs/runs
	$(GO) test ./tools/verdict -count=1 -v -timeout 0 -args -full -log $(CURDIR)/docs/runs/verdict.txt $(VERDICT)

soak: ## 10,000 steps of a small network: memory and open files, as a table and docs/figures/soak.svg
	$(GO) test ./tools/stress -count=1 -v -timeout 0 -args -full -only soak -figure $(CURDIR)/docs/figures/soak.svg

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
	$(GO) test ./lm -run '^$$' -bench Rows -benchtime 0.3s

lint: ## staticcheck and gofumpt, downloaded on first use; documents: lengths of sentences, totals, links
	$(TOOLS) staticcheck ./...
	@$(GO) run ./tools/prose
	@staticcheck=$$($(TOOLS) -n staticcheck) && cd examples/go && $$staticcheck ./...
	@unformatted=$$($(TOOLS) gofumpt -modpath pihc -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "gofumpt would change:"; echo "$$unformatted"; exit 1; fi

clean:
	rm -rf bin release
