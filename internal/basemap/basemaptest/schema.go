package basemaptest

// drawing puts what a city has into the layers of a schema.
type drawing struct {
	openMapTiles, plain bool
	layers              []*layer
}

// add adds a feature to a layer, from a zoom on. The properties are names and values in
// turn; empty values are left out.
func (d *drawing) add(name string, fromZoom int, s shape, properties ...string) {
	var into *layer
	for _, l := range d.layers {
		if l.name == name {
			into = l
		}
	}
	if into == nil {
		into = &layer{name: name}
		d.layers = append(d.layers, into)
	}
	f := feature{shape: s, fromZoom: fromZoom}
	for i := 0; i < len(properties); i += 2 {
		if properties[i+1] != "" {
			f.properties = append(f.properties, [2]string{properties[i], properties[i+1]})
		}
	}
	into.features = append(into.features, f)
}

func (d *drawing) land(s shape) {
	if !d.openMapTiles && !d.plain { // which have no land: it is where there is no water
		d.add("earth", 0, s, "kind", "earth")
	}
}

func (d *drawing) water(s shape) {
	if d.openMapTiles {
		d.add("water", 6, s, "class", "river")
		return
	}
	d.add("water", 6, s, "kind", "river")
}

func (d *drawing) waterName(s shape, name string) {
	if d.plain {
		return // a plain file has no names of water
	}
	if d.openMapTiles {
		d.add("water_name", 10, s, "class", "river", "name", name)
		return
	}
	d.add("water", 10, s, "kind", "river", "name", name)
}

func (d *drawing) park(s shape, name string) {
	if d.plain {
		d.add("parks", 10, s, "class", "park")
		if name != "" {
			d.add("places", 12, s.middle(), "class", "park", "name", name)
		}
		return
	}
	if d.openMapTiles {
		d.add("landcover", 10, s, "class", "grass", "subclass", "park")
		d.add("park", 10, s, "class", "park")
		if name != "" {
			d.add("park", 12, s.middle(), "class", "park", "name", name)
		}
		return
	}
	d.add("landuse", 10, s, "kind", "park")
	if name != "" {
		d.add("pois", 12, s.middle(), "kind", "park", "name", name)
	}
}

func (d *drawing) building(s shape) {
	if d.plain {
		return // and no buildings
	}
	if d.openMapTiles {
		d.add("building", 13, s)
		return
	}
	d.add("buildings", 13, s, "kind", "building")
}

func (d *drawing) road(s shape, name street, major bool) {
	zoom, kind, class := 13, "minor_road", "minor"
	if major {
		zoom, kind, class = 10, "major_road", "primary"
	}
	d.way(s, zoom, kind, class, name)
}

func (d *drawing) way(s shape, zoom int, kind, class string, name street) {
	if d.plain {
		d.add("roads", zoom, s, "class", class, "name", name.name, "name:de", name.german)
		return
	}
	if d.openMapTiles {
		d.add("transportation", zoom, s, "class", class)
		d.add("transportation_name", 13, s, "class", class, "name", name.name, "name:de", name.german)
		return
	}
	d.add("roads", zoom, s, "kind", kind, "name", name.name, "name:de", name.german)
}

func (d *drawing) place(s shape, zoom int, kind, detail, class string, name street) {
	if d.plain {
		d.add("places", zoom, s, "class", class, "name", name.name, "name:de", name.german)
		return
	}
	if d.openMapTiles {
		d.add("place", zoom, s, "class", class, "name", name.name, "name:de", name.german)
		return
	}
	d.add("places", zoom, s, "kind", kind, "kind_detail", detail, "name", name.name, "name:de", name.german)
}
