package node

import (
	"io/fs"
	"strings"

	"github.com/beacon-wifi/beacon/console"
	"github.com/beacon-wifi/beacon/deploy"
	"github.com/beacon-wifi/beacon/docs"
	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/internal/docsite"
	"github.com/beacon-wifi/beacon/internal/preview"
)

// pages are the interfaces that need no database.
type pages struct {
	preview *preview.API
	console *console.Console
	docs    *docsite.Docs
}

func newPages(publicURL, keyPrefix string) (p pages, err error) {
	if p.preview, err = preview.New(preview.Config{KeyPrefix: keyPrefix, PublicURL: publicURL}); err != nil {
		return p, err
	}
	if p.console, err = console.New(console.Config{DemoKey: demoKey(keyPrefix, "console")}); err != nil {
		return p, err
	}
	p.docs, err = newDocs(publicURL, demoKey(keyPrefix, "demo01"))
	return p, err
}

// demoKey returns a key for the preview that names its user.
func demoKey(prefix, user string) string { return prefix + "_test_" + user }

// newDocs returns the guides, and the documents of both interfaces.
func newDocs(publicURL, previewKey string) (*docsite.Docs, error) {
	files, err := downloads()
	if err != nil {
		return nil, err
	}
	return docsite.New(docsite.Config{
		PublicURL: publicURL,
		Guides:    docs.Files,
		Files:     files,
		APIs: []docsite.API{
			{Name: "network", Folder: "internal/api", Document: api.OpenAPIJSON()},
			{Name: "preview", Folder: "internal/preview", Document: preview.OpenAPIJSON(), Key: previewKey},
		},
	})
}

// downloads returns the packaging files, which the documentation offers.
func downloads() (all []docsite.File, err error) {
	err = fs.WalkDir(deploy.Files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := deploy.Files.ReadFile(path)
		kind := "text/plain; charset=utf-8"
		if strings.HasSuffix(path, ".json") {
			kind = "application/json"
		}
		all = append(all, docsite.File{Path: "packaging/" + path, Source: "deploy/" + path, Type: kind, Body: body})
		return err
	})
	return all, err
}
