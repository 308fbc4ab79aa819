//go:build linux

package torture_test

// modelMutants break rules of the documents, one each, as a slip of the hand
// would. The model must notice every one.
var modelMutants = []mutant{
	{
		name: "a change of settings replaces those that it does not name", fault: "TestF22_Model", file: "internal/beacon/patch.go",
		old: "		form.apply(&settings, &f)\n", new: "		settings = DefaultSettings(h.Type)\n		form.apply(&settings, &f)\n",
	},
	{
		name: "what changes nothing counts as a change", fault: "TestF22_Model", file: "internal/beacon/patch.go",
		old: "changed = name != h.Name || !settings.Equal(h.Settings)", new: "changed = true",
	},
	{
		name: "a change of the type alone is no change", fault: "TestF22_Model", file: "internal/beacon/patch.go",
		old: "kind != h.Type || ", new: "",
	},
	{
		name: "what staff deleted comes back", fault: "TestF22_Model", file: "internal/store/deletions.go",
		old: "case by == is.Operator:", new: "case true:",
	},
	{
		name: "If-Match is ignored", fault: "TestF22_Model", file: "internal/registry/change.go",
		old: "if len(seen) > 0 && !slices.Contains(seen, h.Version) {", new: "if len(seen) > 9 && !slices.Contains(seen, h.Version) {",
	},
	{
		name: "a stranger is told that the hotspot is not there", fault: "TestF22_Model", file: "internal/registry/change.go",
		old: "return false, errNotOperator", new: "return false, errNoHotspot",
	},
	{
		name: "anyone may change a hotspot", fault: "TestF22_Model", file: "internal/registry/change.go",
		old: "if !p.At(hotspot).MayActFor(h.Operator) {", new: "if p.User == \"\" {",
	},
	{
		name: "of hotspots on one spot the younger comes first", fault: "TestF22_Model", file: "internal/fleet/spatial/search.go",
		old: "	return a.Item.ID() < b.Item.ID()\n", new: "	return a.Item.ID() > b.Item.ID()\n",
	},
	{
		name: "nearby gives one more than was asked for", fault: "TestF22_Model", file: "internal/fleet/fleet.go",
		old: "Radius: q.RadiusM, Limit: q.Limit}", new: "Radius: q.RadiusM, Limit: q.Limit + 1}",
	},
	{
		name: "an Idempotency-Key answers for another body", fault: "TestF22_Model", file: "internal/api/edge/once.go",
		old: "case first.Fingerprint != o.Fingerprint:", new: "case first.Fingerprint != o.Fingerprint && false:",
	},
	{
		name: "a response is not kept for those who repeat the request", fault: "TestF22_Model", file: "internal/store/idempotency.go",
		old: "if err == nil && len(once.Result) > 0 {", new: "if err == nil && len(once.Result) > 1<<30 {",
	},
	{
		name: "the key of a device that was unlinked still opens", fault: "TestF22_Model", file: "internal/beacon/hotspot.go",
		old: "*d = Device{SSID: d.SSID, MAC: d.MAC}", new: "*d = Device{SSID: d.SSID, MAC: d.MAC, KeyHash: d.KeyHash}",
	},
	{
		name: "the address of a deleted hotspot stays taken", fault: "TestF22_Model", file: "internal/store/hotspot_columns.go",
		old: "case h.Deleted():", new: "case h.ID == \"\":",
	},
	{
		name: "a device that is silent counts as online for ten minutes", fault: "TestF22_Model", file: "internal/beacon/status.go",
		old: "const OfflineAfter = 240 * time.Second", new: "const OfflineAfter = 600 * time.Second",
	},
	{
		name: "a key grants what it lacks", fault: "TestF22_Model", file: "internal/access/manage.go",
		old: "len(lacking) > 0 {", new: "len(lacking) > 9 {",
	},
	{
		name: "a key that was revoked still opens", fault: "TestF22_Model", file: "internal/access/manage.go",
		old: "	err = k.store.RevokeKey(ctx, key, k.now(), p.Actor())\n	k.Forget(key) // even on an error: a failed commit may have been one\n", new: "",
	},
	{
		name: "rewards need no scope", fault: "TestF22_Model", file: "internal/api/payments/routes.go",
		old: "edge.On(\"GET /v1/users/{id}/rewards\", beacon.ReadRewards,", new: "edge.On(\"GET /v1/users/{id}/rewards\", beacon.Read,",
	},
	{
		name: "pages are counted rounding down", fault: "TestF22_Model", file: "internal/beacon/page.go",
		old: "(l.Total + l.Page.Size - 1) / l.Page.Size", new: "l.Total / l.Page.Size",
	},
	{
		name: "a beat that comes again counts again", fault: "TestF22_Model", file: "internal/telemetry/telemetry.go",
		old: "why != beacon.Counted {", new: "why != beacon.Counted && beat.Boot == 0 {",
	},
	{
		name: "what follows a body is not looked at", fault: "TestF20_JSON", file: "internal/httpserver/json.go",
		old: "if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {", new: "if _, err := dec.ReadToken(); errors.Is(err, io.ErrNoProgress) {",
	},
	{
		name: "names are cut to what is allowed", fault: "TestF20_Strings", file: "internal/beacon/text.go",
		old: "if n := utf8.RuneCountInString(text); n < least || n > most {", new: "if text = text[:min(len(text), most)]; utf8.RuneCountInString(text) < least {",
	},
	{
		name: "bytes that are no text are read as a mark", fault: "TestF20_Bytes", file: "internal/httpserver/json.go",
		old: "dec := jsontext.NewDecoder(bytes.NewReader(body))", new: "dec := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowInvalidUTF8(true))",
	},
}
