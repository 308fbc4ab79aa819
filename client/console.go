package client

import (
	"encoding/json"
	"time"
)

// What the console's own endpoints return. They are no part of the API.
type (
	// SignedIn is the answer of every door.
	SignedIn struct {
		Person Person `json:"person"`
	}

	// OpenDoors says how people can sign in here.
	OpenDoors struct {
		Passkeys       bool      `json:"passkeys"`
		PasskeysReason string    `json:"passkeys_reason,omitempty"` // why not: "http", or "address" where it has no name
		OIDC           *OIDCDoor `json:"oidc,omitempty"`
		Mail           bool      `json:"mail"`
		SignUp         string    `json:"signup"` // open, invite or off
		People         bool      `json:"people"` // there are people
	}

	// OIDCDoor is the network's provider of OpenID Connect.
	OIDCDoor struct {
		Name string `json:"name"`
	}

	// InvitationShown is an invitation to whoever has its token.
	InvitationShown struct {
		Network     string    `json:"network"`
		Account     string    `json:"account,omitempty"`
		AccountName string    `json:"account_name,omitempty"`
		Role        string    `json:"role,omitempty"`
		Posts       []string  `json:"posts"`
		InvitedBy   string    `json:"invited_by,omitempty"`
		ExpiresAt   time.Time `json:"expires_at"`
	}

	// Ceremony is one with a passkey that was begun.
	Ceremony struct {
		Ceremony string          `json:"ceremony"` // to finish it
		Options  json.RawMessage `json:"options"`  // for navigator.credentials
	}

	// Departure is where the provider of OpenID Connect is to be visited.
	Departure struct {
		URL string `json:"url"`
	}

	// QRCode is a drawing of a text.
	QRCode struct {
		Rows []string `json:"qr"`      // paths of an SVG image
		Size int      `json:"qr_size"` // of its square
	}

	// Freshness is until when a session is fresh.
	Freshness struct {
		FreshUntil time.Time `json:"fresh_until"`
	}
)
