package edge

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/beacon-wifi/beacon/internal/httpserver/coding"
)

// form is a media type of a response.
type form struct {
	kind, subkind string
	parameters    map[string]string
}

var (
	asJSON = form{"application", "json", map[string]string{"charset": "utf-8"}}
	AsCSV  = form{"text", "csv", map[string]string{"charset": "utf-8", "header": "present"}}

	AsGeoJSON = form{"application", "geo+json", nil}
)

// Wants reports whether a client prefers other to JSON, according to its Accept headers:
// the higher weight wins, then the more precise range, then JSON. A client that accepts
// neither gets JSON too: a readable response is better than none.
func Wants(r *http.Request, other form) bool {
	header := r.Header["Accept"]
	if len(header) == 0 || len(header) == 1 && (header[0] == "*/*" || header[0] == "application/json") {
		return false // the usual headers
	}
	accepted := splitRanges(strings.Join(header, ","))
	weight, precision := other.weight(accepted)
	json, jsonPrecision := asJSON.weight(accepted)
	return weight > json || weight == json && weight > 0 && precision > jsonPrecision
}

// weight returns the weight of a form and the precision of the range that sets it. The
// most precise matching range counts.
func (f form) weight(accepted []string) (weight float64, precision int) {
	for _, text := range accepted {
		media, parameters, err := mime.ParseMediaType(text)
		if err != nil {
			continue // ignore a range that cannot be parsed
		}
		w, ok := weightOf(parameters)
		if p := f.match(media, parameters); ok && (p > precision || p == precision && p > 0 && w > weight) {
			weight, precision = w, p
		}
	}
	return weight, precision
}

// match returns how precisely a media range names the form; 0 means not at all.
func (f form) match(media string, parameters map[string]string) int {
	precision := 0
	switch media {
	case "*", "*/*": // some old clients send "*"
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

// weightOf reads the parameter q, which is from 0 to 1, and 1 if absent.
func weightOf(parameters map[string]string) (weight float64, ok bool) {
	text, given := parameters["q"]
	if !given {
		return 1, true
	}
	weight, err := strconv.ParseFloat(text, 64)
	return weight, err == nil && isDecimal(text) && weight >= 0 && weight <= 1
}

// splitRanges splits at the commas outside quotes.
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

// compressed returns a writer that compresses what is worth it, if the client accepts it.
// The caller calls its Finish.
//
// Only responses to GET are compressed (decision D106). A secret is only ever in the
// response to a POST: the length of such a response must not depend on how much of the
// secret occurs elsewhere in it, or a page that can repeat the request could guess it.
func compressed(w http.ResponseWriter, accepted []string) *coding.ResponseWriter {
	return &coding.ResponseWriter{ResponseWriter: w, Coding: coding.Accepted(accepted)}
}

var GeoJSONType = []string{"application/geo+json"} // RFC 7946
