// Package docs serves the documentation at /docs: the guides of this folder,
// which are Markdown, and a page for each OpenAPI document that it is handed.
// Everything is made on the server and needs no script and no outside address.
// It is no interface, and it knows nothing of what it documents: what a page
// about an interface says is in the document. Its one invariant: a page shows
// text as text, and all that a document holds; what it cannot show, it refuses.
package docs
