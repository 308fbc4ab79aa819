// Package docs holds the guides, for package docsite to serve.
package docs

import "embed"

// Files are the guides, as Markdown.
//
//go:embed *.md
var Files embed.FS
