package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// file is one of an archive.
type file struct {
	name string
	mode fs.FileMode
	body []byte
}

// files are what an archive holds.
func (p program) files() ([]file, error) {
	var all []file
	add := func(name string, mode fs.FileMode, path string) error {
		body, err := os.ReadFile(path)
		all = append(all, file{name, mode, body})
		return err
	}
	if err := add(filepath.Base(p.path), 0o755, p.path); err != nil {
		return nil, err
	}
	documents := []string{"LICENSE", "README.md", "CHANGELOG.md"}
	if p.os == "linux" {
		documents = append(documents, "deploy/beacon.service")
	}
	for _, name := range documents {
		if err := add(filepath.Base(name), 0o644, filepath.Join(p.source, name)); err != nil {
			return nil, err
		}
	}
	licenses, err := p.licenses()
	return append(all, file{"LICENSES.txt", 0o644, licenses}), err
}

// archive writes the archive of a program: .zip for Windows, .tar.gz for all others.
func archive(p program, out string) error {
	files, err := p.files()
	if err != nil {
		return err
	}
	pack, suffix := tarred, ".tar.gz"
	if p.os == "windows" {
		pack, suffix = zipped, ".zip"
	}
	body, err := pack(p.name(), files, p.at)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, p.name()+suffix), body, 0o644)
}

func zipped(folder string, files []file, at time.Time) ([]byte, error) {
	var all bytes.Buffer
	archive := zip.NewWriter(&all)
	for _, f := range files {
		header := &zip.FileHeader{Name: folder + "/" + f.name, Method: zip.Deflate, Modified: at}
		header.SetMode(f.mode)
		w, err := archive.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.body); err != nil {
			return nil, err
		}
	}
	err := archive.Close()
	return all.Bytes(), err
}

func tarred(folder string, files []file, at time.Time) ([]byte, error) {
	var all bytes.Buffer
	packed := gzip.NewWriter(&all)
	archive := tar.NewWriter(packed)
	for _, f := range files {
		if err := addTo(archive, &tar.Header{Name: folder + "/" + f.name, Mode: int64(f.mode), ModTime: at}, f.body); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	err := packed.Close()
	return all.Bytes(), err
}

// addTo adds a file of root's to an archive, or a folder, which has no body.
func addTo(archive *tar.Writer, header *tar.Header, body []byte) error {
	header.Size, header.Format = int64(len(body)), tar.FormatPAX
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	_, err := archive.Write(body)
	return err
}

// materials writes the software bill of materials of a program, as CycloneDX.
func materials(p program, out string) error {
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{
		Timestamp: p.at.UTC().Format(time.RFC3339),
		Component: &cdx.Component{Type: cdx.ComponentTypeApplication, BOMRef: "beacon", Name: p.info.Main.Path, Version: p.version, Licenses: &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}}},
	}
	components := []cdx.Component{{Type: cdx.ComponentTypeLibrary, BOMRef: "std", Name: "std", Version: p.info.GoVersion, PackageURL: "pkg:golang/std@" + p.info.GoVersion[len("go"):]}}
	for _, dep := range p.info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		url := "pkg:golang/" + dep.Path + "@" + dep.Version
		components = append(components, cdx.Component{Type: cdx.ComponentTypeLibrary, BOMRef: url, Name: dep.Path, Version: dep.Version, PackageURL: url})
	}
	bom.Components = &components
	f, err := os.Create(filepath.Join(out, p.name()+".cdx.json"))
	if err != nil {
		return err
	}
	return closing(f, cdx.NewBOMEncoder(f, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom))
}

// closing closes what was written, and returns the first error.
func closing(f io.Closer, err error) error {
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
