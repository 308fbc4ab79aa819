package browser_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// TestProvider follows someone who has an account at a provider of OpenID Connect, one that
// others wrote: they join, add it on their page, accept another invitation with it, and show
// there once more who they are.
func TestProvider(t *testing.T) {
	level.Needs(t, level.Check)
	n := &network{db: filepath.Join(t.TempDir(), "beacon.db"), whole: t, address: harness.FreeAddress()}
	url := "http://localhost" + n.address[strings.LastIndex(n.address, ":"):]
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("s3cret/+\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	n.serve(t, "--public-url", url, "--oidc-issuer", startProvider(t, url+"/oidc"), "--oidc-name", "Kite", "--oidc-client-id", "basic",
		"--oidc-client-secret-file", secret, "--smtp", "smtp://127.0.0.1:1", "--mail-from", "wifi@example.org", "--clock-start", time.Now().UTC().Format(time.RFC3339Nano)) // a token ends by the provider's clock
	invitation := func(args ...string) string {
		return n.command(t, append([]string{"people", "invite", "--public-url", url}, args...)...)
	}
	p := launch(t).open(t, invitation("--account", "new", "--name", "Corner Books"), desk)
	p.sees("Welcome to Corner Books!")
	p.fill(`input[name="name"]`, "Ada")
	p.press("Accept")
	p.until(`location.hash.startsWith("#/welcome")`)

	p.do(chromedp.Navigate(url + "/#/me"))
	p.sees("If you have an account at Kite, you can sign in with it here.")
	p.press("Sign in with Kite, too")
	p.sees("You can sign in with your account at Kite.")
	p.at("/me", "Ada") // where they were

	p.do(chromedp.Navigate(url + "/#/account")) // a mail server is set, so an invitation can be mailed
	p.fill(`#invitations input[name="mail"]`, "ben")
	p.expects("400")
	p.press("Create the invitation")
	p.sees("must be a mail address such as ada@example.org")
	p.fill(`#invitations input[name="mail"]`, "ben@example.org")
	p.press("Create the invitation")
	p.link()
	p.press("Sign out")
	p.sees("You are signed out.")

	p.do(chromedp.Navigate(invitation("--post", "verifier")))
	p.press("Accept, and sign in with Kite")
	p.until(`location.hash === "#/staff"`)

	// Nobody knows how long ago they signed in there.
	p.do(chromedp.Navigate(url + "/#/me"))
	p.at("/me", "Ada")
	p.expects("403")
	p.fill(`input[name="mail"]`, "ada@example.org")
	p.press("Save")
	p.sees("Is it you?")
	p.accessible("asked at the provider")
	p.press("Show it at Kite")
	p.until(`location.hash === "#/me" && !document.querySelector("dialog")`)
	p.at("/me", "Ada")
	p.fill(`input[name="mail"]`, "ada@example.org")
	p.press("Save")
	p.sees("Saved")
	p.quiet()
}

// startProvider starts the provider with which package oidc is tested, and returns its address.
func startProvider(t *testing.T, redirect string) string {
	t.Helper()
	level.Tool(t, "npm", "npm")
	folder := filepath.Join(t.TempDir(), "provider")
	if err := os.CopyFS(folder, os.DirFS("../../internal/people/oidc/testdata/provider")); err != nil {
		t.Fatal(err)
	}
	harness.RunTool(t, folder, nil, "npm", "ci", "--prefer-offline", "--no-audit", "--no-fund")
	cmd := exec.Command("node", "issuer.js", redirect)
	cmd.Dir, cmd.Stderr = folder, t.Output()
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close() // it ends then
		_ = cmd.Wait() // with a connection open, it may say so
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}
