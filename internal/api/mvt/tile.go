package mvt

import "google.golang.org/protobuf/encoding/protowire"

// AppendTile encodes a tile with the layer. A layer without points is left out, as the
// specification requires: an empty tile has no bytes.
func (l *Layer) AppendTile(out []byte) []byte {
	l.close()
	if len(l.features) == 0 {
		return out
	}
	size := sizeText(layerName, l.name) + len(l.features) + len(l.values) +
		sizeWhole(layerExtent, Extent) + sizeWhole(layerVersion, version)
	for _, key := range l.keys {
		size += sizeText(layerKeys, key)
	}
	out = protowire.AppendTag(out, tileLayers, protowire.BytesType)
	out = protowire.AppendVarint(out, uint64(size))
	out = appendText(out, layerName, l.name)
	out = append(out, l.features...)
	for _, key := range l.keys {
		out = appendText(out, layerKeys, key)
	}
	out = append(out, l.values...)
	out = appendWhole(out, layerExtent, Extent)
	return appendWhole(out, layerVersion, version)
}

// close encodes the open feature, if there is one. It is deferred until here because
// the length comes first and depends on the properties.
func (l *Layer) close() {
	if !l.open {
		return
	}
	l.open = false
	x, y := protowire.EncodeZigZag(int64(l.x)), protowire.EncodeZigZag(int64(l.y))
	geometry := protowire.SizeVarint(moveOnce) + protowire.SizeVarint(x) + protowire.SizeVarint(y)
	size := protowire.SizeTag(featureTags) + protowire.SizeBytes(len(l.tags)) +
		sizeWhole(featureType, pointType) + protowire.SizeTag(featureGeometry) + protowire.SizeBytes(geometry)

	out := protowire.AppendTag(l.features, layerFeatures, protowire.BytesType)
	out = protowire.AppendVarint(out, uint64(size))
	out = protowire.AppendTag(out, featureTags, protowire.BytesType)
	out = protowire.AppendBytes(out, l.tags)
	out = appendWhole(out, featureType, pointType)
	out = protowire.AppendTag(out, featureGeometry, protowire.BytesType)
	out = protowire.AppendVarint(out, uint64(geometry))
	out = protowire.AppendVarint(out, moveOnce)
	out = protowire.AppendVarint(out, x)
	l.features = protowire.AppendVarint(out, y)
}

func appendText(out []byte, field protowire.Number, text string) []byte {
	return protowire.AppendString(protowire.AppendTag(out, field, protowire.BytesType), text)
}

func sizeText(field protowire.Number, text string) int {
	return protowire.SizeTag(field) + protowire.SizeBytes(len(text))
}

func appendWhole(out []byte, field protowire.Number, n uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(out, field, protowire.VarintType), n)
}

func sizeWhole(field protowire.Number, n uint64) int {
	return protowire.SizeTag(field) + protowire.SizeVarint(n)
}
