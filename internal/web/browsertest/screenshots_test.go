package browsertest_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

var into = flag.String("screenshots", "", "keep the screenshots in this directory")

// TestScreenshots takes the pictures of the docs, of a server with a day of work behind it.
func TestScreenshots(t *testing.T) {
	dir := *into
	if dir == "" {
		dir = t.TempDir()
	}
	url := busy(t)
	p := browse(t)
	p.signIn(url)
	for _, shot := range []struct {
		name, path, scheme string
		phone              bool
		height             int64
	}{
		{"home", "/", "light", false, 1560},
		{"topic", "/deploy:staging", "light", false, 1180},
		{"topic-dark", "/deploy:staging", "dark", false, 1180},
		{"topic-phone", "/deploy:staging", "dark", true, 740},
		{"semaphore-phone", "/gpu", "light", true, 740},
		{"dashboard", "/-/dashboard", "light", false, 1900},
		{"dashboard-dark", "/-/dashboard", "dark", false, 1900},
		{"dashboard-phone", "/-/dashboard", "dark", true, 740},
		{"reference", "/-/docs#acquire", "light", false, 1180},
	} {
		p.scheme(shot.scheme)
		if shot.phone {
			p.phone()
		} else {
			run(p, chromedp.EmulateViewport(1280, shot.height))
		}
		p.open(url + shot.path)
		if shot.name == "home" {
			p.click(`[data-name=alice] [data-do=acquire]`)
			p.shows(`[data-name=alice]`, "holds it")
			p.click(`[data-name=bob] [data-do=acquire]`)
			p.shows(`[data-name=bob]`, "waits in line")
		}
		p.keep(dir, shot.name)
	}
}

// keep takes a picture of what a window shows at first.
func (p *page) keep(dir, name string) {
	p.t.Helper()
	picture := run(p, chromedp.CaptureScreenshot())
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644); err != nil {
		p.t.Fatal(err)
	}
}
