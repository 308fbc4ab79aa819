package demo

import (
	"fmt"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// identity is how the network presents itself: a network that people look at has a name, so
// that they see where one shows. Its description says what of it is made up.
func (n *Network) identity() beacon.IdentityPatch {
	description := "A demonstration of a community network: real places, made-up history."
	if n.in.radius > 0 {
		description = "A demonstration of a community network. Everything is made up, its places too."
	}
	return beacon.IdentityPatch{
		Name:        beacon.Some(fmt.Sprintf("Free Wi-Fi %s", n.in.Name)),
		Description: beacon.Some(description),
		Color:       beacon.Some(beacon.Color("#5b3cc4")),
	}
}
