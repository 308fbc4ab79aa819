package mvt

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Extent is the width and height of a tile in units.
const Extent = 4096

// Layer collects points. After Reset it can be filled again and reuses its memory.
type Layer struct {
	name     string
	keys     []string
	features []byte // encoded, except for the open feature
	values   []byte // encoded
	count    uint64 // number of values
	texts    map[string]uint64
	numbers  map[number]uint64

	open bool // a feature is open: its place and tags follow
	x, y int
	tags []byte
}

// number is a numeric value that features share.
type number struct {
	field protowire.Number
	bits  uint64
}

// NewLayer returns an empty layer whose features may have properties with the given
// keys. A property names its key by index.
func NewLayer(name string, keys ...string) *Layer {
	return &Layer{name: name, keys: keys, texts: map[string]uint64{}, numbers: map[number]uint64{}}
}

// Reset removes all points.
func (l *Layer) Reset() {
	l.features, l.values, l.count, l.open = l.features[:0], l.values[:0], 0, false
	clear(l.texts)
	clear(l.numbers)
}

// Field numbers of the specification's schema.
const (
	tileLayers protowire.Number = 3

	layerName     protowire.Number = 1
	layerFeatures protowire.Number = 2
	layerKeys     protowire.Number = 3
	layerValues   protowire.Number = 4
	layerExtent   protowire.Number = 5
	layerVersion  protowire.Number = 15

	featureTags     protowire.Number = 2
	featureType     protowire.Number = 3
	featureGeometry protowire.Number = 4

	valueText   protowire.Number = 1
	valueDouble protowire.Number = 3
	valueWhole  protowire.Number = 5
)

const (
	version   = 2
	pointType = 1
	moveOnce  = 1 | 1<<3 // the command MoveTo, once
)

// Point adds a point, in units from the north-west corner of the tile. Properties added
// next belong to it.
func (l *Layer) Point(x, y int) {
	l.close()
	l.open, l.x, l.y, l.tags = true, x, y, l.tags[:0]
}

// Unique adds a property with a value that no other point has, such as an id.
func (l *Layer) Unique(key int, text string) { l.tag(key, l.addText(text)) }

// Text adds a property with a value that other points may share: it is stored once.
func (l *Layer) Text(key int, text string) {
	at, known := l.texts[text]
	if !known {
		at = l.addText(text)
		l.texts[text] = at
	}
	l.tag(key, at)
}

// Number adds a property that is any number.
func (l *Layer) Number(key int, n float64) {
	l.number(key, number{valueDouble, math.Float64bits(n)})
}

// Whole adds a property that is a count.
func (l *Layer) Whole(key int, n uint64) { l.number(key, number{valueWhole, n}) }

func (l *Layer) number(key int, n number) {
	at, known := l.numbers[n]
	if !known {
		at = l.addNumber(n)
		l.numbers[n] = at
	}
	l.tag(key, at)
}

func (l *Layer) tag(key int, value uint64) {
	l.tags = protowire.AppendVarint(l.tags, uint64(key))
	l.tags = protowire.AppendVarint(l.tags, value)
}

func (l *Layer) addText(text string) (at uint64) {
	l.values = protowire.AppendTag(l.values, layerValues, protowire.BytesType)
	l.values = protowire.AppendVarint(l.values, uint64(protowire.SizeTag(valueText)+protowire.SizeBytes(len(text))))
	l.values = appendText(l.values, valueText, text)
	return l.counted()
}

func (l *Layer) addNumber(n number) (at uint64) {
	l.values = protowire.AppendTag(l.values, layerValues, protowire.BytesType)
	if n.field == valueDouble {
		l.values = protowire.AppendVarint(l.values, uint64(protowire.SizeTag(n.field)+protowire.SizeFixed64()))
		l.values = protowire.AppendTag(l.values, n.field, protowire.Fixed64Type)
		l.values = protowire.AppendFixed64(l.values, n.bits)
	} else {
		l.values = protowire.AppendVarint(l.values, uint64(protowire.SizeTag(n.field)+protowire.SizeVarint(n.bits)))
		l.values = appendWhole(l.values, n.field, n.bits)
	}
	return l.counted()
}

// counted returns the index of the value that was just added.
func (l *Layer) counted() uint64 {
	l.count++
	return l.count - 1
}
