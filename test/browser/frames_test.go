package browser_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	cdpio "github.com/chromedp/cdproto/io"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"

	"github.com/beacon-wifi/beacon/internal/basemap/basemaptest"
	"github.com/beacon-wifi/beacon/test/harness"
)

// worldVariable names the folder in which package bench keeps its databases.
const worldVariable = "BEACON_BENCH_WORLD"

// BenchmarkFrames moves the map as a hand would, and tells what that costs. The
// graphics card is made of software here, so frames per second say little; the time
// of the page's own thread, which a card does not shorten, is what is to be looked at.
func BenchmarkFrames(b *testing.B) {
	const blocks = "/map?at=40.74460,-73.99900,14.60" // where the streets of the test's file are drawn
	const midtown = "/map?at=40.74500,-73.98500,14.60"
	streets := basemaptest.City{Lat: 40.7446, Lng: -73.999, Schema: "protomaps"}
	for _, net := range []struct {
		name, page string
		start      func(testing.TB) (url, key string)
	}{
		{"demo-3167", "/", func(t testing.TB) (url, key string) { return startDemo(t) }},
		{"demo-3167-close", blocks, func(t testing.TB) (url, key string) { return startDemo(t) }},
		{"demo-3167-city", midtown, startCity},
		{"demo-3167-city-undrawn", midtown, startCity},
		{"demo-3167-streets", blocks, func(t testing.TB) (url, key string) { return startDemo(t, "--basemap", streets.Write(t)) }},
		{"world-1000000", "/", startWorld},
	} {
		b.Run(net.name, func(b *testing.B) {
			url, key := net.start(b)
			p := launch(b).open(b, "about:blank", desk)
			p.prefer(true, "no-preference") // as most people do, so that names fade in
			if strings.HasSuffix(net.name, "-undrawn") {
				p.undrawn()
			}
			p.do(chromedp.Navigate(url + "/#/sign-in"))
			p.expects("429")
			p.signIn(key)
			p.visit("/")
			p.until(figure("Hotspots") + ` !== "–"`)
			p.calm()
			p.visit(net.page)
			p.calm()
			p.shot("frames-" + net.name)
			for _, move := range []struct {
				name string
				run  func(*page)
			}{{"pan", (*page).pan}, {"zoom", (*page).wheel}, {"rest", (*page).rest}} {
				b.Run(move.name, func(b *testing.B) { p.frames(b, move.run) })
			}
		})
	}
}

// undrawn lets the processor, which is the graphics card here, draw nothing from now on. The
// page does all that it does with a card, as often as with one: else it has a few frames a
// second, and each has the work of many.
func (p *page) undrawn() {
	p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: `
			for (const name of ["drawElements", "drawArrays", "drawElementsInstanced", "drawArraysInstanced"])
				WebGL2RenderingContext.prototype[name] = () => undefined;
		`})
		return err
	}))
}

// frames reports what a movement costs.
func (p *page) frames(b *testing.B, move func(*page)) {
	p.as(b)
	var all film
	var busy, script float64
	var own []float64 // of the page's thread, for each frame
	for b.Loop() {
		p.calm()
		before := p.metrics()
		eval[bool](p, camera)
		traced := p.trace()
		move(p)
		own = append(own, traced()...)
		f := eval[film](p, `window.film()`)
		after := p.metrics()
		all.Frames, all.Long = append(all.Frames, f.Frames...), append(all.Long, f.Long...)
		busy += after["TaskDuration"] - before["TaskDuration"]
		script += after["ScriptDuration"] - before["ScriptDuration"]
	}
	n := float64(len(all.Frames))
	slices.Sort(all.Frames)
	slices.Sort(all.Long)
	b.ReportMetric(0, "ns/op") // which would be the time of the hand
	b.ReportMetric(n/float64(b.N), "frames/op")
	b.ReportMetric(all.Frames[len(all.Frames)/2], "ms/frame-median")
	b.ReportMetric(all.Frames[len(all.Frames)*95/100], "ms/frame-95th")
	b.ReportMetric(busy*1000/n, "main-ms/frame")
	if slices.Sort(own); len(own) > 0 {
		b.ReportMetric(own[len(own)/2], "main-ms/frame-median")
		b.ReportMetric(own[len(own)*95/100], "main-ms/frame-95th")
		b.ReportMetric(own[len(own)-1], "main-ms/frame-max")
	}
	b.ReportMetric(script*1000/n, "script-ms/frame")
	b.ReportMetric(float64(len(all.Long))/float64(b.N), "longtasks/op")
	if len(all.Long) > 0 {
		b.ReportMetric(all.Long[len(all.Long)-1], "longest-ms")
	}
}

// film is how long each frame took, and each task of more than 50 ms, in
// milliseconds.
type film struct{ Frames, Long []float64 }

// camera notes frames until film is called.
const camera = `(() => {
	const frames = [], long = [];
	let last = 0, on = true;
	const tick = (at) => {
		if (last) frames.push(at - last);
		last = at;
		if (on) requestAnimationFrame(tick);
	};
	requestAnimationFrame(tick);
	const observer = new PerformanceObserver((list) => list.getEntries().forEach(({duration}) => long.push(duration)));
	observer.observe({type: "longtask"});
	window.film = () => { on = false; observer.disconnect(); return {Frames: frames, Long: long}; };
	return true;
})()`

// trace records what the page's thread does. The function that it returns ends that, and
// returns how many milliseconds the thread ran for each frame: all of its tasks after the
// frame before. What other processes do meanwhile,
// and the time that the thread waits for them, is not in it.
func (p *page) trace() func() []float64 {
	complete := chromedp.Events(p.ctx, tracing.TracingComplete)
	p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, tracing.Start, tracing.StartParams{TransferMode: tracing.StartTransferModeReturnAsStream, TraceConfig: &tracing.TraceConfig{
			IncludedCategories: []string{"devtools.timeline", "disabled-by-default-devtools.timeline"},
		}})
		return err
	}))
	return func() (frames []float64) {
		p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
			_, err := chromedp.Call(ctx, tracing.End, cdp.Empty{})
			return err
		}))
		var text bytes.Buffer
		for end, err := range complete {
			if err != nil {
				p.t.Fatal(err)
			}
			for more := true; more; {
				p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
					got, err := chromedp.Call(ctx, cdpio.Read, cdpio.ReadParams{Handle: end.Stream})
					text.Write(got.Data)
					more = err == nil && !got.EOF
					return err
				}))
			}
			break
		}
		type event struct {
			Name          string
			Pid, Tid      int
			Ts, Dur, Tdur float64 // microseconds; the last of the thread's own time
		}
		var trace struct{ TraceEvents []event }
		if err := json.Unmarshal(text.Bytes(), &trace); err != nil {
			p.t.Fatal(err)
		}
		events := trace.TraceEvents
		slices.SortFunc(events, func(a, b event) int { return cmp.Compare(a.Ts, b.Ts) })
		var tasks []event
		var frame []bool // whether the task computes one
		for _, e := range events {
			switch {
			case e.Name == "RunTask":
				tasks, frame = append(tasks, e), append(frame, false)
			case e.Name == "FireAnimationFrame":
				for i := len(tasks) - 1; i >= 0; i-- {
					if tasks[i].Pid == e.Pid && tasks[i].Tid == e.Tid {
						frame[i] = true
						break
					}
				}
			}
		}
		first := slices.Index(frame, true)
		if first < 0 {
			return nil
		}
		sum := 0.0
		for i, task := range tasks[first+1:] {
			if task.Pid != tasks[first].Pid || task.Tid != tasks[first].Tid {
				continue
			}
			if sum += task.Tdur / 1000; frame[first+1+i] {
				frames = append(frames, sum)
				sum = 0
			}
		}
		return frames
	}
}

// metrics are the browser's own, in seconds of its thread: what else the machine
// does is not in them.
func (p *page) metrics() map[string]float64 {
	all := map[string]float64{}
	p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		if _, err := chromedp.Call(ctx, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks}); err != nil {
			return err
		}
		got, err := chromedp.Call(ctx, performance.GetMetrics, cdp.Empty{})
		for _, m := range got.Metrics {
			all[m.Name] = m.Value
		}
		return err
	}))
	return all
}

const (
	steps = 24 // of a movement
	pace  = 16 * time.Millisecond
)

// hand moves the mouse over the map, step by step.
func (p *page) hand(at func(step int) input.DispatchMouseEventParams) {
	for step := range steps {
		p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
			_, err := chromedp.Call(ctx, input.DispatchMouseEvent, at(step))
			return err
		}))
		time.Sleep(pace) // the pace of a hand is what is measured with
	}
}

// pan drags the map to and fro.
func (p *page) pan() {
	p.hand(func(step int) input.DispatchMouseEventParams {
		x := 700 + 300*float64(min(step, steps-step))/(steps/2)
		m := input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, X: x, Y: 400, Button: input.MouseButtonLeft, Buttons: 1, ClickCount: 1}
		switch step {
		case 0:
			m.Type = input.DispatchMouseEventTypeMousePressed
		case steps - 1:
			m.Type = input.DispatchMouseEventTypeMouseReleased
		}
		return m
	})
}

// wheel goes in and out again.
func (p *page) wheel() {
	p.hand(func(step int) input.DispatchMouseEventParams {
		m := input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseWheel, X: 800, Y: 400, DeltaX: 1e-3, DeltaY: -60} // a zero is not sent, and Chromium wants both
		if step >= steps/2 {
			m.DeltaY = 60
		}
		return m
	})
}

// rest lets the page alone, while events come in.
func (p *page) rest() { time.Sleep(5 * time.Second) } // which is the time that is looked at

// startDemo runs a demonstration. It returns its address and the operator's key.
func startDemo(t testing.TB, args ...string) (url, key string) {
	t.Helper()
	out := run(t, append([]string{"demo", "--addr", "127.0.0.1:0", "--rate-limit", "off"}, args...)...)
	for url == "" || key == "" {
		line, err := out.ReadString('\n')
		if err != nil {
			t.Fatalf("the demonstration ended: %v", err)
		}
		if found := regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(line); found != "" && url == "" {
			url = found
		}
		if found := regexp.MustCompile(`bcn_\w+`).FindString(line); found != "" {
			key = found
		}
	}
	go func() { _, _ = out.WriteTo(new(strings.Builder)) }() // or it would wait for its reader
	return url, key
}

// cityVariable names a file with the streets of New York.
const cityVariable = "BEACON_BENCH_STREETS"

// startCity runs a demonstration with the streets of a real city.
func startCity(t testing.TB) (url, key string) {
	t.Helper()
	file := os.Getenv(cityVariable)
	if file == "" {
		t.Skipf("set %s to a PMTiles file with the streets of New York", cityVariable)
	}
	return startDemo(t, "--basemap", file)
}

// startWorld serves the million hotspots of package bench.
func startWorld(t testing.TB) (url, key string) {
	t.Helper()
	db := filepath.Join(os.Getenv(worldVariable), "world-1000000.db")
	if _, err := os.Stat(db); err != nil {
		t.Skipf("set %s to the folder in which the benchmarks of package bench keep their databases: %v", worldVariable, err)
	}
	n := &network{db: db}
	key = n.command(t, "keys", "create", "--user", "new", "--scopes", "admin")
	n.serve(t, "--rate-limit", "off")
	return n.url, key
}

// run starts a command that lives as long as the test.
func run(t testing.TB, args ...string) *bufio.Reader {
	t.Helper()
	cmd := exec.Command(harness.Binary, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(fmt.Errorf("start beacon %s: %w", args[0], err))
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	return bufio.NewReader(out)
}
