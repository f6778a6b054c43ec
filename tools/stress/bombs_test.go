//go:build unix

package stress

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// waves is convection-diffusion of sums of sines, whose solutions are known.
const waves = `name: waves
unknown: u
axes:
  t: {range: [0, 0.5], points: 21, boundary: nodes}
  x: {range: [0, 1], points: 24, boundary: periodic}
constants: {c: %g, nu: %g}
terms:
  u_t: {axis: t, derivative: 1, order: 4}
  u_x: {axis: x, derivative: 1, order: 4}
  u_xx: {axis: x, derivative: 2, order: 4}
residual: {expression: u_t + c*u_x - nu*u_xx, rows: {t: [1, 0]}}
conditions:
  initial: {kind: initial, at: {t: low}, expression: u - u0}
initial: {distribution: random-series, series: periodic, parameters: {modes: 2}, scale: 0.3}
reference: {file: own.npz}
`

const wavesSpec = `defaults: paper
problem: waves.yaml
network: {width: 6, layers: 1, modes: {t: 3, x: 3}, projection: 6, basis: 4}
data: {train: {count: 1, seed: 1}, validation: {count: 1, seed: 2}, test: {count: 5, seed: 3}}
`

// npz writes an NPZ file with one array, of float64.
func npz(path, name string, values []float64, shape ...int) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	w := must(z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Deflate}))
	dict := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%s,), }", strings.Trim(strings.Join(strings.Fields(fmt.Sprint(shape)), ", "), "[]"))
	dict += strings.Repeat(" ", 63-(10+len(dict))%64) + "\n"
	head := append([]byte("\x93NUMPY\x01\x00"), byte(len(dict)), byte(len(dict)>>8))
	_ = must(w.Write(append(head, dict...)))
	check(binary.Write(w, binary.LittleEndian, values))
	check(z.Close())
	check(os.WriteFile(path, out.Bytes(), 0o666))
}

// solutions gives files of solutions, right ones and wrong ones: those are refused or warned of, these are not.
func (h *harness) solutions() {
	const samples, times, points = 6, 21, 24
	for range h.times(150, 4) {
		h.load("empty")
		c, nu := 0.5+h.rng.Float64(), 0.002+0.008*h.rng.Float64()
		wrongC, wrongNu, stretch, turn := c, nu, 1.0, 1.0
		edit := func([]float64) {}
		at := func(s, t, x int) int { return (s*times+t)*points + x }
		one := h.rng.IntN(samples)
		wrongs := []string{"right", "right, in single precision", "speed", "sign of the speed", "diffusion", "half of the time", "mirrored", "zeros", "frozen", "random walk", "a line", "one sample of them"}
		wrong := wrongs[h.rng.IntN(len(wrongs))]
		switch wrong {
		case "right, in single precision":
			edit = func(u []float64) {
				for i, v := range u {
					u[i] = float64(float32(v))
				}
			}
		case "speed":
			wrongC *= 1.2 + h.rng.Float64()
		case "sign of the speed":
			wrongC = -c
		case "diffusion":
			wrongNu *= 3 + 3*h.rng.Float64()
		case "half of the time":
			stretch = 0.3 + 0.4*h.rng.Float64()
		case "mirrored":
			turn = -1
		case "zeros":
			from := 2 + h.rng.IntN(times/2)
			edit = func(u []float64) {
				for s := range samples {
					clear(u[at(s, from, 0):at(s, times-1, points-1)])
				}
			}
		case "frozen":
			edit = func(u []float64) {
				for s := range samples {
					for t := 1; t < times; t++ {
						copy(u[at(s, t, 0):][:points], u[at(s, 0, 0):][:points])
					}
				}
			}
		case "random walk":
			edit = func(u []float64) {
				for i := range u {
					if i%(times*points) >= points {
						u[i] = u[i-points] + 0.1*h.rng.NormFloat64()
					}
				}
			}
		case "a line":
			edit = func(u []float64) {
				for i := range u {
					u[i] = 1 + 5*0.5*float64(i/points%times)/(times-1)
				}
			}
		case "one sample of them":
			edit = func(u []float64) {
				copy(u[at(one, 1, 0):][:(times-1)*points], u[at((one+1)%samples, 1, 0):][:(times-1)*points])
			}
		}
		u := make([]float64, samples*times*points)
		for s := range samples {
			a, b, p, q := 0.5+h.rng.Float64(), h.rng.Float64(), 2*math.Pi*h.rng.Float64(), 2*math.Pi*h.rng.Float64()
			for t := range times {
				for x := range points {
					when, place := stretch*0.5*float64(t)/(times-1), turn*float64(x)/points
					mode := func(k float64, phase float64) float64 {
						return math.Exp(-wrongNu*4*math.Pi*math.Pi*k*k*when) * math.Sin(2*math.Pi*k*(place-wrongC*when)+phase)
					}
					u[at(s, t, x)] = a*mode(1, p) + b*mode(2, q)
				}
			}
		}
		edit(u)
		check(os.WriteFile(h.path("waves.yaml"), fmt.Appendf(nil, waves, c, nu), 0o666))
		check(os.WriteFile(h.path("waves-spec.yaml"), []byte(wavesSpec), 0o666))
		npz(h.path("own.npz"), "solution", u, samples, times, points)
		h.cases++
		what := fmt.Sprintf("solutions of a file: %s, c = %g, nu = %g", wrong, c, nu)
		e := must(h.exec(nil, h.pihc, "generate", "waves-spec.yaml", "--out", "owndata"))
		if !h.clear(ending{e.status, lastLines(e), e.seconds}, what) {
			continue
		}
		silent := e.status == 0 && !strings.Contains(e.err, "warning: ")
		switch right := strings.HasPrefix(wrong, "right"); {
		case right && !silent:
			h.fail("%s: %s", what, e.err)
		case !right && silent:
			h.fail("%s: no word", what)
		case e.status != 0:
			h.notes["refused"]++
		case !silent:
			h.notes["warned of"]++
		}
	}
}

// lastLines are those of a failure alone: what came before it may have been progress.
func lastLines(e ending) string {
	if at := strings.LastIndex(e.err, "\npihc: "); e.status != 0 && at >= 0 && !strings.HasPrefix(e.err[at+1:], "pihc: warning") {
		return e.err[at+1:]
	}
	return e.err
}

// mostOfBombs is the memory that no small file from outside may take, and mostSeconds the time of a processor.
const (
	mostOfBombs = 1 << 30
	mostSeconds = 20
)

// bombs gives small files that would grow: each ends soon, with or without an error, in little memory.
func (h *harness) bombs() {
	for range h.times(150, 5) {
		h.load("trained")
		kinds := []func() (string, []string){h.chain, h.nesting, h.alias, h.inflating, h.claiming, h.lists}
		what, args := kinds[h.rng.IntN(len(kinds))]()
		h.cases++
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
		c, stderr, ended, err := h.start(ctx, nil, h.pihc, append([]string{"-q"}, args...)...)
		check(err)
		<-ended
		cancel()
		e := ending{status: c.ProcessState.ExitCode(), err: stderr.String()}
		if !h.clear(e, what) {
			continue
		}
		used, ok := c.ProcessState.SysUsage().(*syscall.Rusage)
		seconds := (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
		if ok && used.Maxrss<<10 > mostOfBombs || seconds > mostSeconds || len(e.err) > 1<<14 {
			h.fail("%s: %d MiB, %.1f s, %d bytes of words: %.200s", what, used.Maxrss>>10, seconds, len(e.err), e.err)
		}
		if e.status == 0 {
			h.notes["taken"]++
		} else {
			h.notes["refused"]++
		}
	}
}

// equation writes a PDE file with an expression, and says how it is read.
func (h *harness) equation(what, expressions, residual string) (string, []string) {
	text := strings.Replace(fmt.Sprintf(waves, 1.0, 0.01), "reference: {file: own.npz}\n", expressions, 1)
	text = strings.Replace(text, "u_t + c*u_x - nu*u_xx", residual, 1)
	check(os.WriteFile(h.path("waves.yaml"), []byte(text), 0o666))
	check(os.WriteFile(h.path("waves-spec.yaml"), []byte(wavesSpec), 0o666))
	return what, [][]string{{"check", "waves-spec.yaml"}, {"generate", "waves-spec.yaml", "--out", "owndata"}, {"init", "waves.yaml", "--out", "made", "--minutes", "0.001"}}[h.rng.IntN(3)]
}

// chain is a chain of expressions each of which has the one before twice.
func (h *harness) chain() (string, []string) {
	length, operators := 5+h.rng.IntN(60), []string{"*", "+", "/", "-"}
	var text strings.Builder
	text.WriteString("expressions:\n  e0: u + 1\n")
	for k := 1; k <= length; k++ {
		fmt.Fprintf(&text, "  e%d: e%d %s e%d\n", k, k-1, operators[h.rng.IntN(4)], k-1)
	}
	return h.equation(fmt.Sprintf("a chain of %d expressions", length), text.String(), fmt.Sprintf("u_t + c*u_x + 0*e%d", length))
}

func (h *harness) nesting() (string, []string) {
	n := 1 << (4 + h.rng.IntN(14))
	open, end := [][2]string{{"(", ")"}, {"sin(", ")"}, {"-(", ")"}, {"(1+", ")"}, {"abs(", ")"}}[h.rng.IntN(5)], ""
	return h.equation(fmt.Sprintf("%d times %s", n, open[0]), "", "u_t + "+strings.Repeat(open[0], n)+"u"+strings.Repeat(open[1], n)+end)
}

// alias is a YAML file of aliases of aliases.
func (h *harness) alias() (string, []string) {
	depth := 3 + h.rng.IntN(20)
	var text strings.Builder
	text.WriteString("a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1]\n")
	for k := 1; k <= depth; k++ {
		fmt.Fprintf(&text, "a%d: &a%d [%s*a%d]\n", k, k, strings.Repeat(fmt.Sprintf("*a%d, ", k-1), 8), k-1)
	}
	check(os.WriteFile(h.path("spec.yaml"), append([]byte(text.String()), spec...), 0o666))
	return fmt.Sprintf("aliases %d deep", depth), []string{"generate", "spec.yaml", "--out", "owndata"}
}

// inflating is an NPZ of zeros, much larger than the file.
func (h *harness) inflating() (string, []string) {
	size := int64(1) << (24 + h.rng.IntN(9))
	f := must(os.Create(h.path("bomb.npz")))
	z := zip.NewWriter(f)
	for _, name := range []string{"other", "u"} {
		w := must(z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Deflate}))
		n := size / 8
		if name == "u" && h.rng.IntN(2) == 0 {
			n = 4 * 101 * 8
		}
		dict := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, 101, 8), }", max(1, n/808))
		n = max(1, n/808) * 808
		dict += strings.Repeat(" ", 63-(10+len(dict))%64) + "\n"
		_ = must(w.Write(append(append([]byte("\x93NUMPY\x01\x00"), byte(len(dict)), 0), dict...)))
		_ = must(io.CopyN(w, zeros{}, 8*n))
	}
	check(z.Close())
	check(f.Close())
	args := []string{"import", "bomb.npz", "--solution", "u", "--out", "own.npz"}
	if h.rng.IntN(2) == 0 {
		args = append(args, "--samples", "2")
		return fmt.Sprintf("an NPZ that inflates to %d MiB, two samples of it", size>>20), args
	}
	if size > 1<<28 { // a whole array that large is what the user asks for
		args[3] = "missing"
	}
	return fmt.Sprintf("an NPZ that inflates to %d MiB", size>>20), args
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// claiming is an array whose header says more than the file has.
func (h *harness) claiming() (string, []string) {
	shapes := []string{"(1000000000, 128)", "(-3, 128)", "(9223372036854775807, 9)", "(3, 18446744073709551616)", "(4294967296, 4294967296)", "(0, 128)", "()", "(3,)"}
	shape := shapes[h.rng.IntN(len(shapes))]
	dict := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': %s, }", shape)
	dict += strings.Repeat(" ", 63-(10+len(dict))%64) + "\n"
	file := append(append([]byte("\x93NUMPY\x01\x00"), byte(len(dict)), 0), dict...)
	check(os.WriteFile(h.path("u0.npy"), append(file, make([]byte, 8*h.rng.IntN(400))...), 0o666))
	return "an array that says its shape is " + shape, []string{"predict", "run", "--initial", "u0.npy", "--out", "u.npz"}
}

// lists is a spec with many unknown keys.
func (h *harness) lists() (string, []string) {
	n := 1 << (3 + h.rng.IntN(14))
	var text strings.Builder
	for k := range n {
		fmt.Fprintf(&text, "unknown%d: 1\n", k)
	}
	check(os.WriteFile(h.path("spec.yaml"), append([]byte(text.String()), spec...), 0o666))
	return fmt.Sprintf("%d unknown keys", n), []string{"generate", "spec.yaml", "--out", "owndata"}
}

// signals sends a signal to a command that waits for what never comes: it ends within two seconds.
func (h *harness) signals() {
	for range h.times(120, 4) {
		h.load("trained")
		signal := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}[h.rng.IntN(4)]
		args := [][]string{
			{"check", "/dev/stdin"},
			{"generate", "/dev/stdin", "--out", "owndata"},
			{"init", "/dev/stdin", "--out", "made"},
			{"train", "/dev/stdin", "--data", "data", "--out", "next"},
			{"check", "spec.yaml"},
			{"init", "waves.yaml", "--out", "made", "--minutes", "5"},
			{"bench", "step", "diffusion-sorption", "--scale", "small"},
		}[h.rng.IntN(7)]
		h.equation("", "", "u_t + c*u_x - nu*u_xx")
		after := time.Duration(h.rng.IntN(400)) * time.Millisecond
		h.cases++
		what := fmt.Sprintf("%s after %v: pihc %s", signal, after, strings.Join(args, " "))
		c := exec.Command(h.pihc, args...)
		var stderr bytes.Buffer
		c.Dir, c.Stderr = h.path(), &stderr
		stdin := must(c.StdinPipe())
		check(c.Start())
		ended := make(chan struct{})
		go func() { _ = c.Wait(); close(ended) }()
		select {
		case <-ended:
		case <-time.After(after):
			check(ignoreEnded(c.Process.Signal(signal)))
			select {
			case <-ended:
			case <-time.After(5 * time.Second):
				h.fail("%s: goes on", what)
				check(c.Process.Kill())
				<-ended
			}
		}
		stdin.Close()
		status, ok := c.ProcessState.Sys().(syscall.WaitStatus)
		switch {
		case ok && status.Signaled() && status.Signal() == signal, signal == syscall.SIGQUIT && dump.MatchString(stderr.String()) && !strings.Contains(stderr.String(), "main.main("):
			h.notes["before main began"]++ // when no program hears it
		case dump.MatchString(stderr.String()):
			h.fail("%s: %.300s", what, stderr.String())
		case !slices.Contains([]int{0, 1, 2, 130, 129, 131, 143}, c.ProcessState.ExitCode()):
			h.fail("%s: exit status %d: %.300s", what, c.ProcessState.ExitCode(), stderr.String())
		default:
			h.notes[fmt.Sprintf("status %d", c.ProcessState.ExitCode())]++
		}
	}
}

// ignoreEnded leaves out that a process has ended already.
func ignoreEnded(err error) error {
	if err == os.ErrProcessDone {
		return nil
	}
	return err
}

// nested runs commands below control groups whose memory is limited, which take what there is for their limit.
func (h *harness) nested() {
	root := ""
	for _, line := range strings.Split(string(must(os.ReadFile("/proc/self/cgroup"))), "\n") {
		if parts := strings.SplitN(line, ":", 3); len(parts) == 3 && parts[1] == "memory" {
			root = "/sys/fs/cgroup/memory" + parts[2]
		} else if len(parts) == 3 && parts[1] == "" && root == "" {
			root = "/sys/fs/cgroup" + parts[2]
		}
	}
	outer := fmt.Sprintf("%s/pihc-stress-%d", root, os.Getpid())
	inner, limit := outer+"/inner", "memory.limit_in_bytes"
	if os.Mkdir(outer, 0o777) != nil || os.Mkdir(inner, 0o777) != nil {
		os.Remove(outer)
		fmt.Println("nested: no control group can be made here")
		return
	}
	defer os.Remove(outer)
	defer os.Remove(inner)
	if _, err := os.Stat(outer + "/" + limit); err != nil {
		limit = "memory.max"
	}
	for range h.times(20, 1) {
		h.load("data")
		mib := 64 + h.rng.IntN(200)
		if err := os.WriteFile(outer+"/"+limit, fmt.Appendf(nil, "%d", mib<<20), 0o666); err != nil {
			fmt.Println("nested: no memory can be limited here")
			return
		}
		h.cases++
		what := fmt.Sprintf("a sample of 320 MB below a group of %d MiB", mib)
		e := must(h.exec(nil, "sh", "-c", "echo $$ >"+inner+"/cgroup.procs && exec "+h.pihc+" -q generate spec.yaml --out big --set grid.t=40001 --set grid.x=1000"))
		want := fmt.Sprintf("this machine has %d MiB", mib)
		if e.status != 1 || !strings.Contains(e.err, want) {
			h.fail("%s: status %d, want %q: %.300s", what, e.status, want, e.err)
		}
	}
}
