package client

import (
	"context"
	"net/http"
	"time"
)

// OfferForm says to whom a hotspot is offered.
type OfferForm struct {
	ToUserID string `json:"to_user_id,omitempty"` // empty: to whoever has the code
}

// ClaimForm is how staff offer a hotspot whose operator is gone.
type ClaimForm struct {
	ToUserID string `json:"to_user_id"`
	Reason   string `json:"reason"`
}

// AcceptanceForm has the code of an offer that names nobody.
type AcceptanceForm struct {
	Code string `json:"code,omitempty"`
}

// Offer is a hotspot on offer.
type Offer struct {
	HotspotID string    `json:"hotspot_id"`
	ToUserID  string    `json:"to_user_id,omitempty"` // empty: to whoever has the code
	ByStaff   bool      `json:"by_staff"`             // in place of its operator
	OfferedAt time.Time `json:"offered_at"`
	ExpiresAt time.Time `json:"expires_at"`
	Code      string    `json:"code,omitempty"` // of a new offer; never shown again
}

// ListedOffer is an offer to a user, or of a hotspot of theirs, which everyone sees so.
type ListedOffer struct {
	HotspotID string    `json:"hotspot_id"`
	ToUserID  string    `json:"to_user_id,omitempty"` // empty: to whoever has the code
	Name      string    `json:"name"`
	Type      Type      `json:"type"`
	ByStaff   bool      `json:"by_staff"`
	OfferedAt time.Time `json:"offered_at"`
	ExpiresAt time.Time `json:"expires_at"`
}

// OfferHotspot offers one of the caller's hotspots to another user, or to whoever has the code
// of the response. It replaces an earlier offer. It needs the scope keys:manage.
func (c *Client) OfferHotspot(ctx context.Context, id string, form OfferForm) (Offer, error) {
	return call[Offer](ctx, c, post(path("hotspots", id, "offer"), form).once(""))
}

// ClaimHotspot offers a hotspot whose operator is gone to another user. It needs the scope
// hotspots:verify.
func (c *Client) ClaimHotspot(ctx context.Context, id string, form ClaimForm) (Offer, error) {
	return call[Offer](ctx, c, post(path("hotspots", id, "claim"), form).once(""))
}

// Offer returns the offer of a hotspot, to its operator, to whom it names, and to staff.
func (c *Client) Offer(ctx context.Context, id string) (Offer, error) {
	return call[Offer](ctx, c, request{path: path("hotspots", id, "offer")})
}

// EndOffer withdraws the offer of one of the caller's hotspots, or declines one to them. It
// needs the scope hotspots:write.
func (c *Client) EndOffer(ctx context.Context, id string) error {
	return c.silent(ctx, request{method: http.MethodDelete, path: path("hotspots", id, "offer")})
}

// AcceptOffer takes over a hotspot that is on offer to the caller, with the code of the offer if
// it names nobody. It needs the scope hotspots:write.
func (c *Client) AcceptOffer(ctx context.Context, id, code string) (Changed, error) {
	answer, err := enveloped[Changed](ctx, c, post(path("hotspots", id, "offer", "acceptance"), AcceptanceForm{code}).once(""))
	answer.Data.ETag = answer.header.Get("ETag")
	return *answer.Data, err
}

// Offers returns the offers that name a user, and those of the user's hotspots; at most 100.
// Those of others need the scope admin; "me" is the key's user.
func (c *Client) Offers(ctx context.Context, user string) ([]ListedOffer, error) {
	return call[[]ListedOffer](ctx, c, request{path: path("users", user, "offers")})
}
