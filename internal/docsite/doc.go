// Package docsite serves the documentation at /docs: the guides, which are
// Markdown, and a page for each OpenAPI document. It is handed both.
// Everything is made on the server and needs no script and no outside address.
// It is no interface, and it knows nothing of what it documents: what a page
// about an interface says is in the document. Its one invariant: a page shows
// text as text, and all that a document holds; what it cannot show, it refuses.
package docsite
