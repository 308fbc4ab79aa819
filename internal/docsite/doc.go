// Package docsite serves the documentation at /docs: the guides, which are Markdown, and
// a reference page for each OpenAPI document. The caller passes both. Pages are rendered
// on the server and need no script and no external URL. The package is not an API and
// knows nothing of what it documents: a reference page shows only what is in the
// document. Its one invariant: a page shows text as text, and everything that a document
// contains; a document that it cannot show is refused.
package docsite
