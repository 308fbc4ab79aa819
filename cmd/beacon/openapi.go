package main

import (
	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/internal/preview"
)

type openapiCmd struct {
	Interface string `arg:"" enum:"preview,network" help:"The API: preview or network."`
}

func (openapiCmd) Examples() string {
	return "  beacon openapi network > network.yaml\n"
}

// Run prints the document as YAML.
func (c openapiCmd) Run(out *console) error {
	document := preview.OpenAPI()
	if c.Interface == "network" {
		document = api.OpenAPI()
	}
	_, err := out.stdout.Write(document)
	return err
}
