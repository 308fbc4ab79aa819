package main

import (
	"encoding/json"
	"io"
	"net/url"
	"runtime/debug"
	"strings"

	webconsole "github.com/beacon-wifi/beacon/console"
)

// bom lists what a binary is made of, as CycloneDX 1.6. It has no date and no serial
// number, so that the same binary gives the same output. These few types are all that
// is used of the format, so its library would cost more than it saves.
type bom struct {
	Format      string `json:"bomFormat"`
	SpecVersion string `json:"specVersion"`
	Version     int    `json:"version"`
	Metadata    struct {
		Component bomComponent `json:"component"`
	} `json:"metadata"`
	Components   []bomComponent  `json:"components"`
	Dependencies []bomDependency `json:"dependencies"`
}

type bomComponent struct {
	Type       string        `json:"type"`
	Ref        string        `json:"bom-ref"`
	Name       string        `json:"name"`
	Version    string        `json:"version"`
	PURL       string        `json:"purl"`
	Licences   []any         `json:"licenses,omitempty"`
	Properties []bomProperty `json:"properties,omitempty"`
}

type bomProperty struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type bomDependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

// writeBOM writes the modules that the toolchain recorded in the binary, and the
// packages that the console's pages were built from.
func writeBOM(out io.Writer, info *debug.BuildInfo, pages []webconsole.Package) error {
	main := goComponent("application", &info.Main)
	main.Licences = licence("Apache-2.0")
	for _, s := range info.Settings {
		main.Properties = append(main.Properties, bomProperty{"go:build:" + s.Key, s.Value})
	}
	b := bom{Format: "CycloneDX", SpecVersion: "1.6", Version: 1}
	b.Metadata.Component = main
	b.Components = append(b.Components, goComponent("library", &debug.Module{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")}))
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		b.Components = append(b.Components, goComponent("library", module))
	}
	for _, p := range pages {
		purl := "pkg:npm/" + strings.Replace(p.Name, "@", "%40", 1) + "@" + p.Version
		b.Components = append(b.Components, bomComponent{Type: "library", Ref: purl, Name: p.Name, Version: p.Version, PURL: purl, Licences: licence(p.Licence)})
	}
	// Dependencies between modules are not recorded: the binary depends on all of
	// them.
	needs := bomDependency{Ref: main.Ref}
	for _, c := range b.Components {
		needs.DependsOn = append(needs.DependsOn, c.Ref)
	}
	b.Dependencies = []bomDependency{needs}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(b)
}

func goComponent(kind string, m *debug.Module) bomComponent {
	purl := "pkg:golang/" + m.Path + "@" + strings.ReplaceAll(url.PathEscape(m.Version), "+", "%2B")
	c := bomComponent{Type: kind, Ref: purl, Name: m.Path, Version: m.Version, PURL: purl}
	if m.Sum != "" {
		c.Properties = []bomProperty{{"go:sum", m.Sum}} // over all files of the module, as in go.sum
	}
	return c
}

// licence returns an identifier of SPDX, or an expression of several.
func licence(spdx string) []any {
	if strings.Contains(spdx, " ") {
		return []any{map[string]string{"expression": spdx}}
	}
	return []any{map[string]any{"license": map[string]string{"id": spdx}}}
}
