// Package mvttest decodes vector tiles in tests, with the protobuf library and the
// schema of the specification, and none of the code of package mvt. It fails the test
// when a tile violates the specification.
package mvttest

import (
	"testing"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// Layer is a layer of a tile.
type Layer struct {
	Name            string
	Version, Extent int
	Points          []Point
}

// Point is a feature. Texts are string, integers uint64, other numbers float64.
type Point struct {
	X, Y       int
	Properties map[string]any
}

// Decode decodes a tile.
func Decode(t testing.TB, body []byte) []Layer {
	t.Helper()
	tile := dynamicpb.NewMessage(tileType(t))
	if err := proto.Unmarshal(body, tile); err != nil {
		t.Fatalf("not a tile: %v", err)
	}
	var layers []Layer
	names := map[string]bool{}
	for _, m := range list(t, tile, "layers") {
		layer := decodeLayer(t, m)
		if names[layer.Name] {
			t.Errorf("two layers are called %q", layer.Name)
		}
		names[layer.Name] = true
		layers = append(layers, layer)
	}
	noneUnknown(t, tile)
	return layers
}

func decodeLayer(t testing.TB, m protoreflect.Message) Layer {
	t.Helper()
	noneUnknown(t, m)
	layer := Layer{
		Name: get(m, "name").String(), Version: int(get(m, "version").Uint()), Extent: int(get(m, "extent").Uint()),
	}
	var keys []string
	seen := map[string]bool{}
	for i, all := 0, get(m, "keys").List(); i < all.Len(); i++ {
		key := all.Get(i).String()
		if seen[key] {
			t.Errorf("the key %q is there twice", key)
		}
		seen[key] = true
		keys = append(keys, key)
	}
	var values []any
	for _, v := range list(t, m, "values") {
		values = append(values, decodeValue(t, v))
	}
	for _, f := range list(t, m, "features") {
		layer.Points = append(layer.Points, decodePoint(t, f, keys, values))
	}
	if len(layer.Points) == 0 || layer.Name == "" {
		t.Errorf("the layer %q has %d features", layer.Name, len(layer.Points))
	}
	return layer
}

func decodeValue(t testing.TB, m protoreflect.Message) (value any) {
	t.Helper()
	noneUnknown(t, m)
	n := 0
	m.Range(func(_ protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		value = v.Interface()
		n++
		return true
	})
	if n != 1 {
		t.Errorf("a value is of %d kinds", n)
	}
	return value
}

func decodePoint(t testing.TB, m protoreflect.Message, keys []string, values []any) Point {
	t.Helper()
	noneUnknown(t, m)
	p := Point{Properties: map[string]any{}}
	tags := numbers(m, "tags")
	if len(tags)%2 != 0 {
		t.Fatalf("%d tags", len(tags))
	}
	for i := 0; i < len(tags); i += 2 {
		if tags[i] >= len(keys) || tags[i+1] >= len(values) {
			t.Fatalf("the tags %v point beyond %d keys and %d values", tags, len(keys), len(values))
		}
		p.Properties[keys[tags[i]]] = values[tags[i+1]]
	}
	if len(p.Properties) != len(tags)/2 {
		t.Errorf("a key is there twice: %v", tags)
	}
	const isPoint, moveToOne = 1, 9
	geometry := numbers(m, "geometry")
	if get(m, "type").Enum() != isPoint || len(geometry) != 3 || geometry[0] != moveToOne {
		t.Fatalf("not a point: type %v, geometry %v", get(m, "type"), geometry)
	}
	unfold := func(n int) int { return n/2 ^ -(n % 2) }
	p.X, p.Y = unfold(geometry[1]), unfold(geometry[2])
	return p
}

func get(m protoreflect.Message, name protoreflect.Name) protoreflect.Value {
	return m.Get(m.Descriptor().Fields().ByName(name))
}

func list(t testing.TB, m protoreflect.Message, name protoreflect.Name) (all []protoreflect.Message) {
	t.Helper()
	for i, l := 0, get(m, name).List(); i < l.Len(); i++ {
		all = append(all, l.Get(i).Message())
	}
	return all
}

func numbers(m protoreflect.Message, name protoreflect.Name) (all []int) {
	for i, l := 0, get(m, name).List(); i < l.Len(); i++ {
		all = append(all, int(l.Get(i).Uint()))
	}
	return all
}

func noneUnknown(t testing.TB, m protoreflect.Message) {
	t.Helper()
	if unknown := m.GetUnknown(); len(unknown) > 0 {
		t.Errorf("%s has fields that the specification does not know: %x", m.Descriptor().Name(), unknown)
	}
}

// tileType returns the Tile message of the specification's schema, vector_tile.proto.
func tileType(t testing.TB) protoreflect.MessageDescriptor {
	t.Helper()
	descriptor := &descriptorpb.FileDescriptorProto{}
	if err := prototext.Unmarshal([]byte(schema), descriptor); err != nil {
		t.Fatal(err)
	}
	file, err := protodesc.NewFile(descriptor, nil)
	if err != nil {
		t.Fatal(err)
	}
	return file.Messages().ByName("Tile")
}
