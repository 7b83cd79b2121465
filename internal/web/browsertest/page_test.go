package browsertest_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// page is the one tab of a browser.
type page struct {
	t   *testing.T
	ctx context.Context

	expected []string // parts of what the console says because the test makes it
}

// browse opens a browser with an empty profile. When the test ends, its console must have been quiet.
func browse(t *testing.T) *page {
	t.Helper()
	profile, err := os.MkdirTemp("", "mutex-browser-")
	if err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(tool(t, "chromium", "chromium-browser", "google-chrome")),
		chromedp.UserDataDir(profile), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("hide-scrollbars", true),
	)
	alloc, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, leave := chromedp.NewContext(alloc)
	p := &page{t: t, ctx: ctx}
	if err := chromedp.Do(ctx); err != nil { // the browser lives as long as this context, so it has no deadline
		t.Fatal(err)
	}
	console := p.listen()
	t.Cleanup(func() {
		leave()
		p.quiet(<-console)
		stop()
		chromedp.FromContext(ctx).Allocator.Wait()
		if err := os.RemoveAll(profile); err != nil {
			t.Error(err)
		}
	})
	p.desk()
	return p
}

// listen gathers what the console says until the browser ends, and gives it then.
func (p *page) listen() <-chan []string {
	messages := chromedp.Console(p.ctx)
	out := make(chan []string, 1)
	go func() { // ends with the context
		var all []string
		for m, err := range messages {
			if err != nil {
				break
			}
			if m.Type == chromedp.ConsoleError || m.Type == chromedp.ConsoleWarning || m.IsException() {
				all = append(all, fmt.Sprintf("%s (%s)", m, m.URL))
			}
		}
		out <- all
	}()
	return out
}

// expect lets the console say what the test makes it say.
func (p *page) expect(part string) { p.expected = append(p.expected, part) }

func (p *page) quiet(console []string) {
	for _, said := range console {
		known := false
		for _, part := range p.expected {
			known = known || strings.Contains(said, part)
		}
		if !known {
			p.t.Errorf("the console said: %s", said)
		}
	}
}

func run[T any](p *page, action chromedp.Action[T]) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, time.Minute) // the machine may be busy
	defer cancel()
	v, err := chromedp.Run(ctx, action)
	if err != nil {
		p.t.Fatal(err)
	}
	return v
}

// open goes to a page and waits until it is there.
func (p *page) open(url string) {
	p.t.Helper()
	run(p, chromedp.Navigate(url))
	run(p, chromedp.WaitReady(chromedp.CSS("main")))
}

// eval evaluates an expression in the page; once more if the page was just being replaced by the next.
func eval[T any](p *page, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, time.Minute)
	defer cancel()
	ask := chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise)
	v, err := chromedp.Run(ctx, ask)
	for err != nil && strings.Contains(err.Error(), "navigated") && ctx.Err() == nil {
		v, err = chromedp.Run(ctx, ask)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return v
}

// text is what a person reads in an element.
func (p *page) text(selector string) string {
	p.t.Helper()
	text := eval[string](p, `document.querySelector(`+quoted(selector)+`)?.innerText ?? ""`)
	return strings.ReplaceAll(text, "\u00a0", " ")
}

// shows waits until a text stands in an element.
func (p *page) shows(selector, text string) {
	p.t.Helper()
	eventually(p.t, selector+" shows "+text, func() bool { return strings.Contains(p.text(selector), text) })
}

// click presses what a pointer would.
func (p *page) click(selector string) {
	p.t.Helper()
	run(p, chromedp.Click(chromedp.CSS(selector)))
}

// keys presses keys, wherever the focus is.
func (p *page) keys(keys string) {
	p.t.Helper()
	run(p, chromedp.KeyEvent(keys))
}

// scheme asks for dark or light pages.
func (p *page) scheme(name string) {
	p.t.Helper()
	params := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}}
	if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, params); err != nil {
		p.t.Fatal(err)
	}
}

// phone makes the window as small as that of a phone.
func (p *page) phone() {
	p.t.Helper()
	run(p, chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile, chromedp.EmulateScale(2)))
}

// desk makes the window as large as that of a laptop.
func (p *page) desk() {
	p.t.Helper()
	run(p, chromedp.EmulateViewport(1280, 900))
}
