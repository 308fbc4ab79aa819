package api

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// form is a way to write an answer down.
type form struct {
	kind, subkind string
	parameters    map[string]string
}

var (
	asJSON = form{"application", "json", map[string]string{"charset": "utf-8"}}
	asCSV  = form{"text", "csv", map[string]string{"charset": "utf-8", "header": "present"}}

	asGeoJSON = form{"application", "geo+json", nil}
)

// wants reports whether a client would rather have a form than JSON, by its
// Accept headers: the higher weight wins, then the one that is named more
// precisely, then JSON. Who accepts neither gets JSON too: an answer that can be
// read is better than none.
func wants(r *http.Request, other form) bool {
	header := r.Header["Accept"]
	if len(header) == 0 || len(header) == 1 && (header[0] == "*/*" || header[0] == "application/json") {
		return false // as nearly everyone asks
	}
	accepted := splitRanges(strings.Join(header, ","))
	weight, precision := other.weight(accepted)
	json, jsonPrecision := asJSON.weight(accepted)
	return weight > json || weight == json && weight > 0 && precision > jsonPrecision
}

// weight tells how welcome a form is, and how precisely the range that says so
// names it: that range counts which is the most precise.
func (f form) weight(accepted []string) (weight float64, precision int) {
	for _, text := range accepted {
		media, parameters, err := mime.ParseMediaType(text)
		if err != nil {
			continue // a range that nobody can read asks for nothing
		}
		w, ok := weightOf(parameters)
		if p := f.match(media, parameters); ok && (p > precision || p == precision && p > 0 && w > weight) {
			weight, precision = w, p
		}
	}
	return weight, precision
}

// match tells how precisely a media range names the form; 0: not at all.
func (f form) match(media string, parameters map[string]string) int {
	precision := 0
	switch media {
	case "*", "*/*": // the first is what some old clients send
		precision = 1
	case f.kind + "/*":
		precision = 2
	case f.kind + "/" + f.subkind:
		precision = 3
	default:
		return 0
	}
	for name, value := range parameters {
		if name == "q" {
			continue
		}
		if !strings.EqualFold(f.parameters[name], value) {
			return 0
		}
		precision++
	}
	return precision
}

// weightOf reads the parameter q, which is from 0 to 1, and 1 where it is absent.
func weightOf(parameters map[string]string) (weight float64, ok bool) {
	text, given := parameters["q"]
	if !given {
		return 1, true
	}
	weight, err := strconv.ParseFloat(text, 64)
	return weight, err == nil && isDecimal(text) && weight >= 0 && weight <= 1
}

// splitRanges cuts at the commas that do not stand in quotes.
func splitRanges(header string) (ranges []string) {
	quoted, from := false, 0
	for i := 0; i < len(header); i++ {
		switch c := header[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			ranges = append(ranges, header[from:i])
			from = i + 1
		}
	}
	return append(ranges, header[from:])
}
