package mvt

import "google.golang.org/protobuf/encoding/protowire"

// AppendTile encodes a tile with the layer. A layer without points is left out, as the
// specification requires: an empty tile has no bytes.
func (l *Layer) AppendTile(out []byte) []byte {
	l.close()
	if len(l.features) == 0 {
		return out
	}
	body := appendText(l.message[:0], layerName, l.name)
	body = append(body, l.features...)
	for _, key := range l.keys {
		body = appendText(body, layerKeys, key)
	}
	body = append(body, l.values...)
	body = appendWhole(body, layerExtent, Extent)
	body = appendWhole(body, layerVersion, version)
	l.message = body
	return appendBytes(out, tileLayers, body)
}

// close encodes the open feature, if there is one, with the properties that it got.
func (l *Layer) close() {
	if !l.open {
		return
	}
	l.open = false
	l.geometry = protowire.AppendVarint(l.geometry[:0], moveOnce)
	l.geometry = protowire.AppendVarint(l.geometry, protowire.EncodeZigZag(int64(l.x)))
	l.geometry = protowire.AppendVarint(l.geometry, protowire.EncodeZigZag(int64(l.y)))

	feature := appendBytes(l.message[:0], featureTags, l.tags)
	feature = appendWhole(feature, featureType, pointType)
	feature = appendBytes(feature, featureGeometry, l.geometry)
	l.message = feature
	l.features = appendBytes(l.features, layerFeatures, feature)
}

func appendBytes(out []byte, field protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(out, field, protowire.BytesType), value)
}

func appendText(out []byte, field protowire.Number, text string) []byte {
	return protowire.AppendString(protowire.AppendTag(out, field, protowire.BytesType), text)
}

func appendWhole(out []byte, field protowire.Number, n uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(out, field, protowire.VarintType), n)
}
