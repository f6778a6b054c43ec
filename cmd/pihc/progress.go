package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"pihc/experiment"
	"pihc/internal/words"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// console is standard error. While a bar is shown, other lines are printed
// above it.
type console struct {
	mutex sync.Mutex
	out   io.Writer
	bars  io.Writer // the terminal itself
	bar   *mpb.Progress
}

func (c *console) Write(b []byte) (int, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.bar != nil {
		return c.bar.Write(b)
	}
	return c.out.Write(b)
}

func (c *console) setBar(p *mpb.Progress) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.bar = p
}

// lineInterval is the time between two plain lines of progress.
const lineInterval = 10 * time.Second

// meter shows how far something is: a bar on a terminal, a plain line every
// lineInterval elsewhere, nothing with --quiet.
type meter struct {
	app    *app
	title  string
	total  int
	done   int
	note   string
	mutex  sync.Mutex
	last   time.Time
	from   int // where the first call of set was, and when
	begun  time.Time
	shown  string // the last plain line
	bars   *mpb.Progress
	bar    *mpb.Bar
	closed bool
}

func (a *app) newMeter(title string, total int) *meter {
	m := &meter{app: a, title: title, total: total, last: time.Now()}
	if a.quiet || !a.terminal {
		return m
	}
	m.bars = mpb.New(mpb.WithOutput(a.console.bars), mpb.WithWidth(48), mpb.WithAutoRefresh())
	m.bar = m.bars.AddBar(int64(total),
		mpb.PrependDecorators(decor.Name(title, decor.WCSyncSpaceR), decor.CountersNoUnit("%d/%d", decor.WCSyncSpace)),
		mpb.AppendDecorators(
			decor.OnComplete(decor.AverageETA(decor.ET_STYLE_GO, decor.WCSyncSpace), ""),
			decor.Any(func(decor.Statistics) string {
				m.mutex.Lock()
				defer m.mutex.Unlock()
				return "  " + m.note
			})))
	a.console.setBar(m.bars)
	return m
}

// set moves to done and shows note beside it.
func (m *meter) set(done int, note string) {
	m.mutex.Lock()
	m.done, m.note = done, note
	if m.begun.IsZero() {
		m.from, m.begun = done, time.Now()
	}
	m.mutex.Unlock()
	switch {
	case m.bar != nil:
		m.bar.SetCurrent(int64(done))
	case !m.app.quiet && time.Since(m.last) >= lineInterval:
		m.line()
	}
}

// line prints a plain line now, where there is no bar.
func (m *meter) line() {
	if m.bar != nil || m.app.quiet {
		return
	}
	m.last = time.Now()
	text := fmt.Sprintf("%s: %d/%d", m.title, m.done, m.total)
	if m.note != "" {
		text += ": " + m.note
	}
	if text != m.shown && m.done > m.from && m.done < m.total {
		left := time.Since(m.begun).Seconds() * float64(m.total-m.done) / float64(m.done-m.from)
		m.shown = text
		fmt.Fprintf(m.app.console, "%s (%s left)\n", text, words.Duration(left))
		return
	}
	if text != m.shown {
		m.shown = text
		fmt.Fprintln(m.app.console, text)
	}
}

// close ends the bar.
func (m *meter) close() {
	if m.closed {
		return
	}
	m.closed = true
	if m.bar == nil {
		return
	}
	m.bar.Abort(false)
	m.bars.Wait()
	m.app.console.setBar(nil)
}

// say prints a line of progress.
func (a *app) say(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintf(a.console, format+"\n", args...)
	}
}

// options are those of work in this process, with so many threads.
func (a *app) options(workers int) experiment.Options {
	return experiment.Options{Workers: a.workers(workers), Comm: a.comm, Slabs: a.slabs, Logger: a.log, Progress: a.progress}
}

// progress shows news of a task. Stages come one after another.
func (a *app) progress(p experiment.Progress) {
	a.signals.hear(p)
	switch {
	case p.Warning != "":
		a.endStage()
		fmt.Fprintf(a.Err, "pihc: %swarning: %s\n", a.about, p.Warning)
	case p.Stage == "":
		a.say("%s", p.Text)
	case p.Ended:
		a.endStage()
	default:
		if a.stage == nil || a.stage.title != p.Stage {
			a.endStage()
			a.stage = a.newMeter(p.Stage, p.Total)
		}
		if p.Done > 0 || p.Note != "" {
			a.stage.set(p.Done, p.Note)
		}
		if p.Line {
			a.stage.line()
		}
	}
}

func (a *app) endStage() {
	if a.stage != nil {
		a.stage.close()
		a.stage = nil
	}
}
