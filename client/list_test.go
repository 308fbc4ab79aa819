package client_test

import (
	"slices"
	"testing"

	"github.com/beacon-wifi/beacon/client"
)

// One hotspot is verified, and another waits.
func TestListHotspots(t *testing.T) {
	t.Parallel()
	s := start(t, "", "--rate-limit", "off")
	c := newClient(t, s.url, s.key(t, "admin"))
	verified, waiting := must(c.RegisterHotspot(t.Context(), library(1)))(t), must(c.RegisterHotspot(t.Context(), library(2)))(t)
	place := verified.Location
	must(c.VerifyHotspot(t.Context(), verified.ID, client.Verification{Lat: place.Lat, Lng: place.Lng, AccuracyM: 5, Method: "gps"}))(t)
	for _, tc := range []struct {
		query client.ListQuery
		want  []string
	}{
		{client.ListQuery{}, []string{verified.ID, waiting.ID}},
		{client.ListQuery{Newest: true}, []string{waiting.ID, verified.ID}},
		{client.ListQuery{Status: client.Online}, nil},
		{client.ListQuery{Status: client.Pending, Text: "LIBRARY"}, []string{verified.ID, waiting.ID}},
		{client.ListQuery{Verified: new(false)}, []string{waiting.ID}},
		{client.ListQuery{Verified: new(true)}, []string{verified.ID}},
		{client.ListQuery{Rejected: new(true)}, nil},
		{client.ListQuery{Rejected: new(false), Type: verified.Type}, []string{verified.ID, waiting.ID}},
		{client.ListQuery{Type: client.Home}, nil},
		{client.ListQuery{Text: "no such"}, nil},
		{client.ListQuery{Operator: verified.OperatorID, Verified: new(true)}, []string{verified.ID}},
		{client.ListQuery{Operator: "usr_01kb3gzk00e9x8q6s5t4v3w2y1"}, nil},
	} {
		var got []string
		for h, err := range c.ListHotspots(t.Context(), tc.query) {
			got = append(got, must(h, err)(t).ID)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%+v gives %v; want %v", tc.query, got, tc.want)
		}
	}
	second := must(c.ListHotspotsPage(t.Context(), client.ListQuery{}, client.PageQuery{Page: 2, PerPage: 1}))(t)
	if second.TotalPages != 2 || len(second.Items) != 1 {
		t.Fatalf("the second page is %+v", second)
	}
	if h := second.Items[0]; h.ID != waiting.ID || h.Location.Verified || h.Device.Linked || !h.CreatedAt.Equal(waiting.CreatedAt) || waiting.Location.Address == nil || h.Location.Address != *waiting.Location.Address {
		t.Errorf("listed %+v; registered %+v", h, waiting)
	}
}
