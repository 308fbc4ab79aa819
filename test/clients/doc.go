// Package clients uses the APIs with clients that other people's tools generate from
// the documents that a server serves: oapi-codegen for Go, openapi-typescript and
// @hey-api/openapi-ts for TypeScript. It also lints the documents with redocly. The
// tools are pinned in the folders golang and typescript, apart from the modules of
// the product; what they generate is not committed.
package clients
