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
	Format       string          `json:"bomFormat"`
	SpecVersion  string          `json:"specVersion"`
	Version      int             `json:"version"`
	Metadata     bomMetadata     `json:"metadata"`
	Components   []bomComponent  `json:"components"`
	Dependencies []bomDependency `json:"dependencies"`
}

type bomMetadata struct {
	Component bomComponent `json:"component"`
}

type bomComponent struct {
	Type       string        `json:"type"`
	Ref        string        `json:"bom-ref"`
	Name       string        `json:"name"`
	Version    string        `json:"version"`
	PURL       string        `json:"purl"`
	Licences   []bomLicence  `json:"licenses,omitempty"`
	Properties []bomProperty `json:"properties,omitempty"`
}

// bomLicence has one of the two.
type bomLicence struct {
	Licence    *bomLicenceID `json:"license,omitempty"`
	Expression string        `json:"expression,omitempty"`
}

type bomLicenceID struct {
	ID string `json:"id"`
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
	b := bom{Format: "CycloneDX", SpecVersion: "1.6", Version: 1, Metadata: bomMetadata{main}}
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
	needs := bomDependency{Ref: main.Ref, DependsOn: []string{}}
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

func licence(spdx string) []bomLicence {
	if strings.Contains(spdx, " ") {
		return []bomLicence{{Expression: spdx}}
	}
	return []bomLicence{{Licence: &bomLicenceID{spdx}}}
}
