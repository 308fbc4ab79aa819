package main

import "github.com/beacon-wifi/beacon/preview"

type openapiCmd struct {
	Interface string `arg:"" enum:"preview" help:"Which interface: preview."`
}

// Examples are shown by --help.
func (openapiCmd) Examples() string {
	return "  beacon openapi preview > preview.yaml\n"
}

// Run prints the document as YAML.
func (openapiCmd) Run(out *console) error {
	_, err := out.stdout.Write(preview.OpenAPI())
	return err
}
