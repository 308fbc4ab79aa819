package mvttest

import (
	"google.golang.org/protobuf/types/descriptorpb"
)

type (
	message = descriptorpb.DescriptorProto
	field   = descriptorpb.FieldDescriptorProto
	kind    = descriptorpb.FieldDescriptorProto_Type
	label   = descriptorpb.FieldDescriptorProto_Label
)

const (
	optional = descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL
	required = descriptorpb.FieldDescriptorProto_LABEL_REQUIRED
	repeated = descriptorpb.FieldDescriptorProto_LABEL_REPEATED

	textKind    = descriptorpb.FieldDescriptorProto_TYPE_STRING
	floatKind   = descriptorpb.FieldDescriptorProto_TYPE_FLOAT
	doubleKind  = descriptorpb.FieldDescriptorProto_TYPE_DOUBLE
	int64Kind   = descriptorpb.FieldDescriptorProto_TYPE_INT64
	uint64Kind  = descriptorpb.FieldDescriptorProto_TYPE_UINT64
	sint64Kind  = descriptorpb.FieldDescriptorProto_TYPE_SINT64
	uint32Kind  = descriptorpb.FieldDescriptorProto_TYPE_UINT32
	boolKind    = descriptorpb.FieldDescriptorProto_TYPE_BOOL
	enumKind    = descriptorpb.FieldDescriptorProto_TYPE_ENUM
	messageKind = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE
)

// schema is vector_tile.proto of the specification, version 2.1.
func schema() *descriptorpb.FileDescriptorProto {
	value := &message{Name: new("Value"), Field: []*field{
		simple("string_value", 1, optional, textKind), simple("float_value", 2, optional, floatKind),
		simple("double_value", 3, optional, doubleKind), simple("int_value", 4, optional, int64Kind),
		simple("uint_value", 5, optional, uint64Kind), simple("sint_value", 6, optional, sint64Kind),
		simple("bool_value", 7, optional, boolKind),
	}}
	feature := &message{Name: new("Feature"), Field: []*field{
		simple("id", 1, optional, uint64Kind), packed("tags", 2),
		named("type", 3, optional, enumKind, ".vector_tile.Tile.GeomType"), packed("geometry", 4),
	}}
	layer := &message{Name: new("Layer"), Field: []*field{
		simple("version", 15, required, uint32Kind), simple("name", 1, required, textKind),
		named("features", 2, repeated, messageKind, ".vector_tile.Tile.Feature"), simple("keys", 3, repeated, textKind),
		named("values", 4, repeated, messageKind, ".vector_tile.Tile.Value"), simple("extent", 5, optional, uint32Kind),
	}}
	geomType := &descriptorpb.EnumDescriptorProto{Name: new("GeomType")}
	for i, name := range []string{"UNKNOWN", "POINT", "LINESTRING", "POLYGON"} {
		geomType.Value = append(geomType.Value, &descriptorpb.EnumValueDescriptorProto{Name: new(name), Number: new(int32(i))})
	}
	tile := &message{
		Name: new("Tile"), NestedType: []*message{value, feature, layer}, EnumType: []*descriptorpb.EnumDescriptorProto{geomType},
		Field: []*field{named("layers", 3, repeated, messageKind, ".vector_tile.Tile.Layer")},
	}
	return &descriptorpb.FileDescriptorProto{
		Name: new("vector_tile.proto"), Package: new("vector_tile"), MessageType: []*message{tile},
	}
}

func simple(name string, number int32, l label, k kind) *field {
	return &field{Name: &name, Number: &number, Label: &l, Type: &k}
}

func named(name string, number int32, l label, k kind, of string) *field {
	f := simple(name, number, l, k)
	f.TypeName = &of
	return f
}

func packed(name string, number int32) *field {
	f := simple(name, number, repeated, uint32Kind)
	f.Options = &descriptorpb.FieldOptions{Packed: new(true)}
	return f
}
