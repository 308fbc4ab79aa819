package importer

import (
	"cmp"
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
)

// node is an access point in the lists of Freifunk communities: nodes.json, in which what
// the node says of itself is in nodeinfo, meshviewer.json, and nodelist.json.
type node struct {
	NodeID   string `json:"node_id"`
	Hostname string
	MAC      string
	Location *nodePlace
	Network  struct{ MAC string }
	Info     *node `json:"nodeinfo"`

	ID       string     // in nodelist.json
	Name     string     // in nodelist.json
	Position *nodePlace // in nodelist.json
}

type nodePlace struct {
	Latitude, Longitude json.RawMessage
	Lat, Long           json.RawMessage // in nodelist.json
}

// errNodesLack is about all nodes of a list, whatever they say.
var errNodesLack = errors.New("a list of nodes says of no node which type it is and which SSID it has: add --set type=public --set ssid=NAME")

// nodeID matches the id of a node if it is the address of its device, as Gluon makes it.
var nodeID = regexp.MustCompile(`^[0-9a-fA-F]{12}$`)

// node reads a node into the same cells as a table has. Key is its name in a list that is an
// object, or empty.
func (r *row) node(text []byte, key string, _ Mapping) error {
	var n node
	err := json.Unmarshal(text, &n)
	if _, wrong := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !wrong || text[0] != '{' {
		return errors.New(`must be a node: an object with its hostname, node_id and location`)
	}
	if n.Info != nil {
		n = *n.Info
	}
	r.cells = map[string]string{"name": cmp.Or(n.Hostname, n.Name), "mac_address": cmp.Or(n.MAC, n.Network.MAC)}
	if name := r.cells["name"]; name != "" {
		r.item = "node " + strconv.Quote(shortened(name))
	}
	if id := cmp.Or(n.NodeID, n.ID, key); r.cells["mac_address"] == "" && nodeID.MatchString(id) {
		r.cells["mac_address"] = id
	}
	if at := cmp.Or(n.Location, n.Position); at != nil {
		r.cells["lat"], r.cells["lng"] = cellOf(at.Latitude, at.Lat), cellOf(at.Longitude, at.Long)
	}
	return checkEncoding(string(text))
}

// shortened returns the beginning of a name of which nobody has checked the length.
func shortened(name string) string {
	const most = 50
	if runes := []rune(name); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return name
}
