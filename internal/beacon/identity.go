package beacon

import (
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"
)

// Identity is how the network presents itself to people, with a key or without. What is empty
// is not set. It can be compared.
type Identity struct {
	Name        string
	Description string // a sentence
	Contact     string // a mail address, or the URL of a page
	Color       Color
	Logo        Logo

	License     string // of open data: the URL of its text
	Attribution string // whom those who show open data must name
	ShowClients bool   // open data have how many clients hotspots have, in fives (decision D178)
	TimeZone    string // an IANA zone, in which people there read times
}

// DefaultNetworkName is what a network without a name is called.
const DefaultNetworkName = "Beacon"

// Lengths, in characters.
const (
	MaxNetworkName = 60
	MaxDescription = 200
	MaxContact     = 200
	MaxLicense     = 200
	MaxAttribution = 200
)

// IdentityForm is a change of the identity as it was sent. Null takes a part back; the logo is a
// data URL.
type IdentityForm struct {
	Name, Description, Contact, Color, Logo, License, Attribution, TimeZone Opt[string]

	ShowClients Opt[bool]
}

// IdentityPatch is a change of the identity. All of it is valid.
type IdentityPatch struct {
	Name, Description, Contact Opt[string]
	License, Attribution       Opt[string]
	TimeZone                   Opt[string]
	ShowClients                Opt[bool]
	Color                      Opt[Color]
	Logo                       Opt[Logo]
}

// Validate checks the form.
func (form IdentityForm) Validate(f *Faults) IdentityPatch {
	Optional(form.ShowClients, "show_clients", f)
	return IdentityPatch{
		Name:        part(form.Name, "name", cleanNetworkName, f),
		Description: part(form.Description, "description", cleanDescription, f),
		Contact:     part(form.Contact, "contact", cleanContact, f),
		Color:       part(form.Color, "color", CleanColor, f),
		Logo:        part(form.Logo, "logo", ParseLogo, f),
		License:     part(form.License, "license", cleanLicense, f),
		Attribution: part(form.Attribution, "attribution", cleanAttribution, f),
		ShowClients: form.ShowClients,
		TimeZone:    part(form.TimeZone, "timezone", cleanZone, f),
	}
}

func cleanZone(raw string) (string, error) {
	_, err := loadZone(raw)
	return raw, err
}

// Zone returns the zone in which people read times; UTC where none is set.
func (i Identity) Zone() *time.Location {
	if zone, err := loadZone(i.TimeZone); err == nil {
		return zone
	}
	return time.UTC
}

func part[T any](raw Opt[string], field string, clean func(string) (T, error), f *Faults) (p Opt[T]) {
	if p.Set, p.Null = raw.Set, raw.Null; p.Set && !p.Null {
		var err error
		p.V, err = clean(raw.V)
		f.Check(field, err)
	}
	return p
}

func cleanNetworkName(raw string) (string, error) { return cleanShown(raw, MaxNetworkName) }
func cleanDescription(raw string) (string, error) { return cleanShown(raw, MaxDescription) }
func cleanAttribution(raw string) (string, error) { return cleanShown(raw, MaxAttribution) }

// cleanShown is cleanText for what everyone is shown.
func cleanShown(raw string, most int) (string, error) {
	text, err := cleanText(raw, 1, most)
	switch {
	case err != nil:
		return "", err
	case !strings.ContainsFunc(text, visible):
		return "", errInvisible
	}
	return text, checkHidden(text)
}

var errContact = errors.New("must be a mail address, such as hello@example.org, or the address of a page, such as https://example.org/contact")

// cleanContact accepts a mail address or the URL of a page, and nothing else that a link could
// do.
func cleanContact(raw string) (string, error) {
	text, err := cleanLine(raw)
	if err != nil {
		return "", err
	}
	if utf8.RuneCountInString(text) > MaxContact {
		return "", fmt.Errorf("must be at most %d characters", MaxContact)
	}
	if !isMail(text) && !isPage(text) {
		return "", errContact
	}
	return text, nil
}

var errLicense = errors.New("must be the address of the license's text, such as https://creativecommons.org/licenses/by/4.0/, in ASCII")

// cleanLicense accepts the URL of a page that can be sent in a header.
func cleanLicense(raw string) (string, error) {
	text, err := cleanLine(raw)
	switch {
	case err != nil:
		return "", err
	case len(text) > MaxLicense:
		return "", fmt.Errorf("must be at most %d characters", MaxLicense)
	case !isPage(text) || strings.ContainsFunc(text, func(r rune) bool { return r > '~' }):
		return "", errLicense
	}
	return text, nil
}

func isMail(text string) bool {
	at, err := mail.ParseAddress(text)
	return err == nil && at.Address == text && !strings.ContainsAny(text, " \"<>?&/\\")
}

func isPage(text string) bool {
	at, err := url.Parse(text)
	return err == nil && (at.Scheme == "https" || at.Scheme == "http") && at.Hostname() != "" && at.User == nil && !strings.ContainsAny(text, " \"<>\\")
}

// ContactLink returns where a link to the contact leads; empty if there is none.
func (i Identity) ContactLink() string {
	if isMail(i.Contact) {
		return "mailto:" + i.Contact
	}
	return i.Contact
}
