package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// nobody is the user in the container; the data belong to it.
const nobody = 65532

// image writes an image of the programs for Linux, which has nothing in it but the server,
// as an archive that needs no daemon: "podman load -i FILE", or "skopeo copy oci-archive:FILE …".
func image(programs []program, work, out string) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	var version string
	var at time.Time
	for _, p := range programs {
		if p.os != "linux" {
			continue
		}
		one, err := imageOf(p)
		if err != nil {
			return err
		}
		version, at = p.version, p.at
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: one, Descriptor: v1.Descriptor{Platform: platformIn(p)}})
	}
	if version == "" {
		return nil
	}
	index = mutate.Annotations(index, map[string]string{"org.opencontainers.image.version": version}).(v1.ImageIndex)
	folder := filepath.Join(work, "image")
	all := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	all = mutate.AppendManifests(all, mutate.IndexAddendum{Add: index, Descriptor: v1.Descriptor{Annotations: map[string]string{"org.opencontainers.image.ref.name": "beacon:" + version}}})
	if _, err := layout.Write(folder, all); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(out, "beacon_"+version+"_oci.tar"))
	if err != nil {
		return err
	}
	return closing(f, packFolder(f, folder, at))
}

func platformIn(p program) *v1.Platform {
	one := &v1.Platform{OS: p.os, Architecture: p.arch}
	if p.variant != "" {
		one.Variant = "v" + p.variant
	}
	return one
}

// imageOf is the image for one platform.
func imageOf(p program) (v1.Image, error) {
	body, err := layer(p)
	if err != nil {
		return nil, err
	}
	files, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	made := v1.Time{Time: p.at}
	one, err := mutate.Append(base, mutate.Addendum{Layer: files, History: v1.History{Created: made, CreatedBy: "tools/release"}})
	if err != nil {
		return nil, err
	}
	is := platformIn(p)
	config, err := one.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Variant, config.Created = is.OS, is.Architecture, is.Variant, made
	config.Config = v1.Config{
		User:         fmt.Sprintf("%d:%d", nobody, nobody),
		Env:          []string{"BEACON_ADDR=0.0.0.0:8080", "BEACON_DB=/data/beacon.db"},
		Entrypoint:   []string{"/beacon"},
		Cmd:          []string{"serve"},
		WorkingDir:   "/data",
		Volumes:      map[string]struct{}{"/data": {}},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}},
		StopSignal:   "SIGTERM",
		Healthcheck:  &v1.HealthConfig{Test: []string{"CMD", "/beacon", "health"}, Interval: 30 * time.Second, Timeout: 10 * time.Second, StartPeriod: time.Minute},
		Labels: map[string]string{
			"org.opencontainers.image.title":    "Beacon",
			"org.opencontainers.image.source":   "https://github.com/beacon-wifi/beacon",
			"org.opencontainers.image.licenses": "Apache-2.0",
			"org.opencontainers.image.version":  p.version,
		},
	}
	return mutate.ConfigFile(one, config)
}

// layer is the files of an image: the program, the certificates by which it knows a
// PostgreSQL server, and folders to write into. Time zones are in the program.
func layer(p program) ([]byte, error) {
	program, err := os.ReadFile(p.path)
	if err != nil {
		return nil, err
	}
	licenses, err := p.licenses()
	if err != nil {
		return nil, err
	}
	var roots bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil { // a file cannot say what else must hold for one
			_ = pem.Encode(&roots, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // into memory
		}
	}
	var all bytes.Buffer
	archive := tar.NewWriter(&all)
	for _, f := range []struct {
		header tar.Header
		body   []byte
	}{
		{tar.Header{Name: "beacon", Mode: 0o755}, program},
		{tar.Header{Name: "LICENSES.txt", Mode: 0o644}, licenses},
		{tar.Header{Name: "data/", Mode: 0o700, Uid: nobody, Gid: nobody, Typeflag: tar.TypeDir}, nil},
		{tar.Header{Name: "tmp/", Mode: 0o1777, Typeflag: tar.TypeDir}, nil},
		{tar.Header{Name: "etc/", Mode: 0o755, Typeflag: tar.TypeDir}, nil},
		{tar.Header{Name: "etc/ssl/", Mode: 0o755, Typeflag: tar.TypeDir}, nil},
		{tar.Header{Name: "etc/ssl/certs/", Mode: 0o755, Typeflag: tar.TypeDir}, nil},
		{tar.Header{Name: "etc/ssl/certs/ca-certificates.crt", Mode: 0o644}, roots.Bytes()},
	} {
		f.header.ModTime = p.at
		if err := addTo(archive, &f.header, f.body); err != nil {
			return nil, err
		}
	}
	err = archive.Close()
	return all.Bytes(), err
}

// packFolder writes the files of a folder as an archive, in their order.
func packFolder(w io.Writer, folder string, at time.Time) error {
	archive := tar.NewWriter(w)
	err := fs.WalkDir(os.DirFS(folder), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := os.ReadFile(filepath.Join(folder, path))
		if err != nil {
			return err
		}
		return addTo(archive, &tar.Header{Name: path, Mode: 0o644, ModTime: at}, body)
	})
	if err != nil {
		return err
	}
	return archive.Close()
}
