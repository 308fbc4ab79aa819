package passkey_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/people/passkey"
)

// Each of these is wrong both where a passkey is added and where it is used.
func TestRefused_WrongPageOrDevice(t *testing.T) {
	for _, c := range []struct {
		name  string
		wrong func(*device)
		words string
	}{
		{"origin", func(d *device) { d.page.Origin = "https://wifi.example.org.evil.example" }, "open that address"},
		{"port", func(d *device) { d.page.Origin = "https://wifi.example.org:8443" }, "at https://wifi.example.org only"},
		{"plain http", func(d *device) { d.page.Origin = "http://wifi.example.org" }, "open that address"},
		{"site", func(d *device) { d.page.ID = "example.org" }, "not valid"},
		{"nobody verified", func(d *device) { d.authenticator.Options.UserNotVerified = true }, "set up its PIN"},
		{"nobody present", func(d *device) { d.authenticator.Options.UserNotPresent = true }, "not valid"},
		{"backed up, but cannot be", func(d *device) { d.authenticator.Options.BackupState = true }, "not valid"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDevice()
			s := added(t, d)
			c.wrong(d)
			_, err := s.signIn(t, d)
			want(t, err, beacon.Unauthorized, c.words)
			options, state, err := s.Begin(ada, "Wi-Fi", nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Finish(ada, state, d.add(t, options))
			want(t, err, beacon.InvalidRequest, c.words)
		})
	}
}

func TestRefused_Response(t *testing.T) {
	d := newDevice()
	s := added(t, d)
	options, state, err := s.BeginSignIn()
	if err != nil {
		t.Fatal(err)
	}
	response := d.sign(t, options)
	if _, err := s.FinishSignIn(state, response, s.find); err != nil {
		t.Fatal(err)
	}
	t.Run("replayed for another challenge", func(t *testing.T) {
		_, other, err := s.BeginSignIn()
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.FinishSignIn(other, response, s.find)
		want(t, err, beacon.Unauthorized, "not valid")
	})
	t.Run("signed by another key", func(t *testing.T) {
		thief := *d
		thief.key = newKey()
		thief.key.ID = d.key.ID
		_, err := s.FinishSignIn(state, thief.sign(t, options), s.find)
		want(t, err, beacon.Unauthorized, "not valid")
	})
	t.Run("for another person", func(t *testing.T) {
		liar := *d
		liar.authenticator.Options.UserHandle = []byte("per_01jbob")
		_, err := s.FinishSignIn(state, liar.sign(t, options), s.find)
		want(t, err, beacon.Unauthorized, "not valid")
	})
	t.Run("for nobody", func(t *testing.T) {
		liar := *d
		liar.authenticator.Options.UserHandle = nil
		_, err := s.FinishSignIn(state, liar.sign(t, options), s.find)
		want(t, err, beacon.Unauthorized, "not valid")
	})
	t.Run("unknown", func(t *testing.T) {
		_, err := s.FinishSignIn(state, newDevice().sign(t, options), s.find)
		want(t, err, beacon.Unauthorized, "not known here")
	})
	t.Run("where a passkey is added", func(t *testing.T) {
		_, adding, err := s.Begin(ada, "Wi-Fi", nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Finish(ada, adding, response)
		want(t, err, beacon.InvalidRequest, "not valid")
	})
	t.Run("too long", func(t *testing.T) {
		_, err := s.FinishSignIn(state, append(bytes.Repeat([]byte(" "), passkey.MaxResponse), response...), s.find)
		want(t, err, beacon.TooLarge, "too long")
	})
	t.Run("something else", func(t *testing.T) {
		_, err := s.FinishSignIn(state, []byte(`{"id":1}`), s.find)
		want(t, err, beacon.Unauthorized, "not valid")
	})
	t.Run("the database is away", func(t *testing.T) {
		away := beacon.Unavailable(errors.New("no route to host"))
		if _, err := s.FinishSignIn(state, response, func([]byte) (passkey.Credential, error) { return passkey.Credential{}, away }); err != away {
			t.Error(err)
		}
	})
}

func TestRefused_State(t *testing.T) {
	d := newDevice()
	s := added(t, d)
	c, err := s.find(d.key.ID)
	if err != nil {
		t.Fatal(err)
	}
	adding, addingState, err1 := s.Begin(ada, "Wi-Fi", nil)
	signing, signingState, err2 := s.BeginSignIn()
	again, againState, err3 := s.BeginAgain(ada, []passkey.Credential{c})
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	_, err = s.FinishSignIn(againState, d.sign(t, again), s.find)
	want(t, err, beacon.Unauthorized, "start again")
	_, err = s.FinishAgain(ada, signingState, d.sign(t, signing), s.find)
	want(t, err, beacon.Unauthorized, "start again")
	_, err = s.Finish(ada, signingState, d.add(t, adding))
	want(t, err, beacon.Unauthorized, "start again")
	_, err = s.Finish(ada, []byte("?"), d.add(t, adding))
	want(t, err, beacon.Unauthorized, "start again")
	bob := passkey.Person{ID: "per_01jbob", Name: "Bob"}
	_, err = s.Finish(bob, addingState, d.add(t, adding))
	want(t, err, beacon.InvalidRequest, "not valid")
	_, err = s.FinishAgain(bob, againState, d.sign(t, again), s.find)
	want(t, err, beacon.Unauthorized, "not known here")
	_, _, err = s.BeginAgain(bob, nil)
	want(t, err, beacon.Conflict, "add one")

	weaker := bytes.Replace(signingState, []byte(`"required"`), []byte(`"discouraged"`), 1)
	careless := *d
	careless.authenticator.Options.UserNotVerified = true
	_, err = s.FinishSignIn(weaker, careless.sign(t, signing), s.find)
	want(t, err, beacon.Unauthorized, "set up its PIN")

	s.now = s.now.Add(passkey.StateLasts)
	_, err = s.FinishSignIn(signingState, d.sign(t, signing), s.find)
	want(t, err, beacon.Unauthorized, "took too long")
}
