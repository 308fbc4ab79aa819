package node

import (
	"cmp"
	"embed"
	"io/fs"
	"path"

	"github.com/beacon-wifi/beacon/console"
	"github.com/beacon-wifi/beacon/deploy"
	"github.com/beacon-wifi/beacon/docs"
	"github.com/beacon-wifi/beacon/internal/agentsite"
	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/internal/basemap"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/docsite"
	"github.com/beacon-wifi/beacon/internal/identity"
	"github.com/beacon-wifi/beacon/internal/openfeeds"
	"github.com/beacon-wifi/beacon/internal/preview"
)

// pages are the interfaces that need no database.
type pages struct {
	preview *preview.API
	console *console.Console
	docs    *docsite.Docs
	agent   *agentsite.Site
	basemap *basemap.Map // nil: none
	self    *identity.Pages
}

// Basemap is what the console's map shows below the hotspots. At most one of the two is
// set.
type Basemap struct {
	File  *basemap.Map // a file that the server serves; the caller closes it
	Style string       // the URL of a style, which browsers load from there
}

// known is what pages ask of the network; its functions may be nil.
type known struct {
	start    func() console.Start
	identity func() beacon.Identity
	rewards  func() bool // whether they are on
	dots     identity.Dots
}

// newPages makes them.
func newPages(cfg ServerConfig, network known) (p pages, err error) {
	publicURL, keyPrefix := cfg.PublicURL, cfg.PreviewKeyPrefix
	p.basemap = cfg.Basemap.File
	if p.preview, err = preview.New(preview.Config{KeyPrefix: keyPrefix, PublicURL: publicURL}); err != nil {
		return p, err
	}
	if p.console, err = console.New(console.Config{DemoKey: demoKey(keyPrefix, "console"), Basemap: drawn(cfg.Basemap), Public: cfg.Public, Demo: cfg.Demo, PublicURL: publicURL, Start: network.start, Identity: present(network)}); err != nil {
		return p, err
	}
	var name func() string // of the network, where one is known
	if network.identity != nil {
		name = func() string { return identity.NameOf(network.identity()) }
	}
	if p.agent, err = agentsite.New(agentsite.Config{PublicURL: publicURL, Tokens: console.Tokens, Name: name}); err != nil {
		return p, err
	}
	p.self = identity.New(identity.Config{Identity: network.identity, Public: cfg.Public, Icon: console.Icon, Dots: network.dots})
	p.docs, err = newDocs(publicURL, demoKey(keyPrefix, "demo01"))
	return p, err
}

// present says how the console's page tells of the network.
func present(network known) func() console.Identity {
	if network.identity == nil {
		return nil
	}
	return func() console.Identity {
		i := network.identity()
		return console.Identity{
			Name: identity.NameOf(i), Description: i.Description, Contact: i.Contact, ContactLink: i.ContactLink(),
			Color: string(cmp.Or(i.Color, beacon.DefaultColor)), Logo: i.Logo.Data != "",
			NoRewards: !network.rewards(), TimeZone: i.TimeZone,
		}
	}
}

// drawn says how the console draws a basemap.
func drawn(base Basemap) *console.Basemap {
	switch file := base.File; {
	case file != nil:
		return &console.Basemap{
			File: basemap.Path, Schema: string(file.Schema), MinZoom: file.MinZoom, MaxZoom: file.MaxZoom, Attribution: file.Credit(),
			Bounds: [4]float64{file.Bounds.West, file.Bounds.South, file.Bounds.East, file.Bounds.North},
		}
	case base.Style != "":
		return &console.Basemap{Style: base.Style}
	}
	return nil
}

// demoKey returns a key for the preview that names its user.
func demoKey(prefix, user string) string { return prefix + "_test_" + user }

// newDocs returns the guides, and the documents of the interfaces.
func newDocs(publicURL, previewKey string) (*docsite.Docs, error) {
	files, err := downloads()
	if err != nil {
		return nil, err
	}
	return docsite.New(docsite.Config{
		PublicURL: publicURL,
		Guides:    docs.Files,
		Files:     files,
		Tokens:    console.Tokens,
		Icon:      console.Icon,
		APIs: []docsite.API{
			{Name: "network", Folder: "internal/api", Document: api.OpenAPIJSON()},
			{Name: "preview", Folder: "internal/preview", Document: preview.OpenAPIJSON(), Key: previewKey},
			{Name: "open", Folder: "internal/openfeeds", Document: openfeeds.OpenAPI()},
		},
	})
}

// downloads returns what the guides show and offer beside their text: pictures, and the
// packaging files.
func downloads() (all []docsite.File, err error) {
	for _, from := range []struct {
		files           embed.FS
		source, offered string
	}{{docs.Pictures, "docs/", ""}, {deploy.Files, "deploy/", "packaging/"}} {
		err := fs.WalkDir(from.files, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			body, err := from.files.ReadFile(name)
			kind := map[string]string{".json": "application/json", ".webp": "image/webp"}[path.Ext(name)]
			all = append(all, docsite.File{Path: from.offered + name, Source: from.source + name, Type: cmp.Or(kind, "text/plain; charset=utf-8"), Body: body})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}
