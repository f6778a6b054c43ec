package report

import (
	"bytes"
	"context"
	"encoding/json"
	"html"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// browser returns an installed Chromium, "" where there is none.
func browser(t *testing.T) string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Log("no Chromium here: the page is not opened in a browser")
	return ""
}

// probe is put into a copy of a page. It notes every error from the start; when the page has
// settled it goes through samples, scales and colour schemes, looks at every plot, and leaves
// what it found in the document.
const probe = `<script>
const faults = [], plots = {};
addEventListener("error", (e) => faults.push("error: " + e.message));
addEventListener("unhandledrejection", (e) => faults.push("rejection: " + e.reason));
for (const kind of ["error", "warn"]) console[kind] = (...a) => faults.push(kind + ": " + a.join(" "));
const colours = (c) => {
  const copy = new OffscreenCanvas(c.width, c.height).getContext("2d", { willReadFrequently: true });
  copy.drawImage(c, 0, 0);
  const seen = new Set(), d = copy.getImageData(0, 0, c.width, c.height).data;
  for (let i = 0; i < d.length; i += 4) if (d[i + 3]) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
  return seen.size;
};
const look = async (state) => {
  await new Promise((done) => setTimeout(done, 100)); // plots are drawn after a change, not at once
  for (const e of document.querySelectorAll("canvas, svg")) {
    if (e.closest("[hidden], details")) continue;
    const where = state + " " + (e.closest("[id]") || {}).id + " " + (e.getAttribute("aria-label") || e.className);
    const size = e.getBoundingClientRect();
    if (size.width < 20 || size.height < 10) { faults.push("no room: " + where); continue; }
    const n = e.tagName === "CANVAS" ? colours(e) : e.querySelectorAll("path, image, line, circle, polyline").length;
    plots[where] = Math.max(plots[where] || 0, n);
    if (n < 3) faults.push("empty: " + where);
  }
  if (document.documentElement.scrollWidth > innerWidth + 1) faults.push("wider than the window: " + state + " " + document.documentElement.scrollWidth + " of " + innerWidth);
};
addEventListener("load", async () => {
  await look("start");
  for (const tab of document.querySelectorAll("[role=tab]")) { tab.click(); await look(tab.id); }
  for (const radio of document.querySelectorAll("input[name=scale]")) { radio.click(); await look(radio.value); }
  document.getElementById("scheme")?.click();
  await look("other scheme");
  const out = document.createElement("pre");
  out.id = "probe";
  out.textContent = JSON.stringify({ faults, plots });
  document.body.append(out);
});
</script>`

type probed struct {
	Faults []string
	Plots  map[string]int
}

// open opens a page in a window of a width and returns what the probe found.
func open(t *testing.T, chromium, page string, width string) probed {
	t.Helper()
	src, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	copied := page + ".probe.html"
	if err := os.WriteFile(copied, bytes.Replace(src, []byte("<head>"), []byte("<head>"+probe), 1), 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var out, log bytes.Buffer
	c := exec.CommandContext(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir="+t.TempDir(), "--window-size="+width+",900",
		"--enable-logging=stderr", "--virtual-time-budget=10000", "--dump-dom", "file://"+copied)
	c.Stdout, c.Stderr = &out, &log
	if err := c.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", chromium, err, log.Bytes())
	}
	found := regexp.MustCompile(`(?s)<pre id="probe">(.*?)</pre>`).FindSubmatch(out.Bytes())
	if found == nil {
		t.Fatalf("the probe left nothing in %d bytes of document\n%s", out.Len(), log.Bytes())
	}
	var p probed
	if err := json.Unmarshal([]byte(html.UnescapeString(string(found[1]))), &p); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "CONSOLE") {
			p.Faults = append(p.Faults, line)
		}
	}
	return p
}

// The pages in a real browser, wide and narrow: nothing on the console, no empty plot, no
// page wider than its window.
func TestBrowser(t *testing.T) {
	chromium := browser(t)
	if chromium == "" {
		return
	}
	dir := t.TempDir()
	write := func(name string, p Page) string {
		file := filepath.Join(dir, name, "report.html")
		if err := p.Write(file); err != nil {
			t.Fatal(err)
		}
		return file
	}
	plain, planes, system := write("plain", givenPage(samplePage())), write("planes", givenPage(planePage())), write("system", systemPage())
	study, err := new(sampleStudy()).Write(dir, "study")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		page  string
		plots int // at least
	}{{plain, 20}, {planes, 40}, {system, 20}, {study, 1}} {
		for _, width := range []string{"1400", "1000", "500"} {
			p := open(t, chromium, c.page, width)
			for _, f := range p.Faults {
				t.Errorf("%s at %s pixels: %s", c.page, width, f)
			}
			if len(p.Plots) < c.plots {
				t.Errorf("%s at %s pixels: %d plots: %v", c.page, width, len(p.Plots), p.Plots)
			}
		}
	}
}

// The probe sees an error of a script, a console message and an empty plot.
func TestBrowserSeesFaults(t *testing.T) {
	chromium := browser(t)
	if chromium == "" {
		return
	}
	page := filepath.Join(t.TempDir(), "bad.html")
	const bad = `<!DOCTYPE html><html><head></head><body><div id="d"><canvas width="100" height="50"></canvas><svg width="100" height="50"></svg></div><div style="width:3000px">wide</div>
<script>console.error("said"); missing();</script></body></html>`
	if err := os.WriteFile(page, []byte(bad), 0o666); err != nil {
		t.Fatal(err)
	}
	p := open(t, chromium, page, "800")
	for _, want := range []string{"missing is not defined", "error: said", "empty: start d", "wider than the window"} {
		if !slices.ContainsFunc(p.Faults, func(f string) bool { return strings.Contains(f, want) }) {
			t.Errorf("no %q in %q", want, p.Faults)
		}
	}
}

// Links beside figures lead to files with their numbers.
func TestFigureData(t *testing.T) {
	dir := t.TempDir()
	p := samplePage()
	file := filepath.Join(dir, "pages", "report.html")
	if err := p.Write(file); err != nil {
		t.Fatal(err)
	}
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`<a href="([^"]+)">Data</a>`).FindAllStringSubmatch(string(src), -1) {
		seen[filepath.Base(m[1])] = true
		if info, err := os.Stat(filepath.Join(filepath.Dir(file), filepath.FromSlash(m[1]))); err != nil || info.Size() < 100 {
			t.Errorf("%s: %v", m[1], err)
		}
	}
	for _, want := range []string{"samples.csv", "curves.csv", "solver.csv", "error_over_time.csv", "case_1.npz", "case_3.npz"} {
		if !seen[want] {
			t.Errorf("no link to %s", want)
		}
	}
	samples, err := os.ReadFile(filepath.Join(figuresOf(file), "samples.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(samples), "\n"); lines != 1+5*200 {
		t.Errorf("%d lines of samples", lines)
	}
	if !strings.HasPrefix(string(samples), "method,grid,sample,initial_mean,relative_l2,") {
		t.Errorf("%.80s", samples)
	}
	if exact(math.NaN()) != "" || exact(0.1) != "0.1" {
		t.Error("exact")
	}
}
