// Package docs holds the guides and their pictures, for package docsite to serve.
package docs

import "embed"

// Files are the guides, as Markdown.
//
//go:embed *.md
var Files embed.FS

// Pictures are the pictures in the guides.
//
//go:embed images/*.webp
var Pictures embed.FS
