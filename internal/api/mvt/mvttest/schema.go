package mvttest

// schema is the descriptor of vector_tile.proto of the specification, version 2.1.
const schema = `
name: "vector_tile.proto" package: "vector_tile"
message_type {
  name: "Tile"
  field { name: "layers" number: 3 label: LABEL_REPEATED type: TYPE_MESSAGE type_name: ".vector_tile.Tile.Layer" }
  nested_type {
    name: "Value"
    field { name: "string_value" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING }
    field { name: "float_value" number: 2 label: LABEL_OPTIONAL type: TYPE_FLOAT }
    field { name: "double_value" number: 3 label: LABEL_OPTIONAL type: TYPE_DOUBLE }
    field { name: "int_value" number: 4 label: LABEL_OPTIONAL type: TYPE_INT64 }
    field { name: "uint_value" number: 5 label: LABEL_OPTIONAL type: TYPE_UINT64 }
    field { name: "sint_value" number: 6 label: LABEL_OPTIONAL type: TYPE_SINT64 }
    field { name: "bool_value" number: 7 label: LABEL_OPTIONAL type: TYPE_BOOL }
  }
  nested_type {
    name: "Feature"
    field { name: "id" number: 1 label: LABEL_OPTIONAL type: TYPE_UINT64 }
    field { name: "tags" number: 2 label: LABEL_REPEATED type: TYPE_UINT32 options { packed: true } }
    field { name: "type" number: 3 label: LABEL_OPTIONAL type: TYPE_ENUM type_name: ".vector_tile.Tile.GeomType" }
    field { name: "geometry" number: 4 label: LABEL_REPEATED type: TYPE_UINT32 options { packed: true } }
  }
  nested_type {
    name: "Layer"
    field { name: "version" number: 15 label: LABEL_REQUIRED type: TYPE_UINT32 }
    field { name: "name" number: 1 label: LABEL_REQUIRED type: TYPE_STRING }
    field { name: "features" number: 2 label: LABEL_REPEATED type: TYPE_MESSAGE type_name: ".vector_tile.Tile.Feature" }
    field { name: "keys" number: 3 label: LABEL_REPEATED type: TYPE_STRING }
    field { name: "values" number: 4 label: LABEL_REPEATED type: TYPE_MESSAGE type_name: ".vector_tile.Tile.Value" }
    field { name: "extent" number: 5 label: LABEL_OPTIONAL type: TYPE_UINT32 }
  }
  enum_type {
    name: "GeomType"
    value { name: "UNKNOWN" number: 0 } value { name: "POINT" number: 1 }
    value { name: "LINESTRING" number: 2 } value { name: "POLYGON" number: 3 }
  }
}
`
