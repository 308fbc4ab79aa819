package basemap

import (
	"iter"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// feature is what a tile has of something with a name.
type feature struct {
	layer      string
	kind       string            // what the layer has names of
	properties map[string]string // those that are text
	x, y       float64           // of its middle, in parts of the tile
}

// fields iterates over the fields of a message, and ends where it is damaged. A number is
// in n, and anything else in body.
func fields(message []byte) iter.Seq2[protowire.Number, value] {
	return func(yield func(protowire.Number, value) bool) {
		for len(message) > 0 {
			number, kind, n := protowire.ConsumeTag(message)
			if n < 0 {
				return
			}
			message = message[n:]
			var v value
			switch kind {
			case protowire.VarintType:
				v.n, n = protowire.ConsumeVarint(message)
			case protowire.BytesType:
				v.body, n = protowire.ConsumeBytes(message)
			default:
				n = protowire.ConsumeFieldValue(number, kind, message)
			}
			if n < 0 || !yield(number, v) {
				return
			}
			message = message[n:]
		}
	}
}

type value struct {
	n    uint64
	body []byte
}

// eachNamed calls visit with each feature of a vector tile that has a name, in the layers
// that have a kind.
func eachNamed(tile []byte, kinds map[string]string, visit func(feature)) {
	for number, layer := range fields(tile) {
		if number == 3 {
			eachNamedOf(layer.body, kinds, visit)
		}
	}
}

func eachNamedOf(layer []byte, kinds map[string]string, visit func(feature)) {
	name, extent := "", uint64(4096)
	var features [][]byte
	var keys, values []string
	for number, v := range fields(layer) {
		switch number {
		case 1:
			name = string(v.body)
		case 2:
			features = append(features, v.body)
		case 3:
			keys = append(keys, string(v.body))
		case 4:
			text := ""
			for number, v := range fields(v.body) {
				if number == 1 {
					text = string(v.body)
				}
			}
			values = append(values, text)
		case 5:
			extent = max(v.n, 1)
		}
	}
	if kinds[name] == "" {
		return
	}
	for _, body := range features {
		if f, ok := decodeFeature(body, keys, values, float64(extent)); ok {
			f.layer, f.kind = name, kinds[name]
			visit(f)
		}
	}
}

func decodeFeature(body []byte, keys, values []string, extent float64) (f feature, named bool) {
	f.properties = map[string]string{}
	var geometry []uint64
	for number, v := range fields(body) {
		switch number {
		case 2:
			tags := numbers(v.body)
			for i := 0; i+1 < len(tags); i += 2 {
				if tags[i] < uint64(len(keys)) && tags[i+1] < uint64(len(values)) {
					f.properties[keys[tags[i]]] = values[tags[i+1]]
				}
			}
		case 4:
			geometry = numbers(v.body)
		}
	}
	f.properties["name"] = strings.TrimSpace(f.properties["name"])
	x, y, ok := middle(geometry)
	f.x, f.y = x/extent, y/extent
	return f, ok && f.properties["name"] != ""
}

func numbers(packed []byte) (all []uint64) {
	for len(packed) > 0 {
		v, n := protowire.ConsumeVarint(packed)
		if n < 0 {
			return all
		}
		all = append(all, v)
		packed = packed[n:]
	}
	return all
}

// middle returns a point halfway along a geometry.
func middle(geometry []uint64) (x, y float64, ok bool) {
	var points [][2]float64
	var cx, cy int64
	for i := 0; i < len(geometry); {
		command, count := geometry[i]&7, geometry[i]>>3
		i++
		if command == 7 { // ClosePath has no points
			continue
		}
		for ; count > 0 && i+1 < len(geometry); count-- {
			cx += protowire.DecodeZigZag(geometry[i])
			cy += protowire.DecodeZigZag(geometry[i+1])
			points = append(points, [2]float64{float64(cx), float64(cy)})
			i += 2
		}
		if count > 0 {
			break
		}
	}
	n := len(points)
	if n == 0 {
		return 0, 0, false
	}
	a, b := points[(n-1)/2], points[n/2]
	return (a[0] + b[0]) / 2, (a[1] + b[1]) / 2, true
}
