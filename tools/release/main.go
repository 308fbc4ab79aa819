package main

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	out := flag.String("out", "dist", "the `folder` to write into, which must be empty or absent")
	source := flag.String("source", ".", "the `folder` of the project")
	platforms := flag.String("platforms", strings.Join(names(), ","), "the platforms, with commas between them")
	flag.Parse()
	if err := write(ctx, *source, *out, strings.Split(*platforms, ",")); err != nil {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(1)
	}
}

// write writes a release for some platforms.
func write(ctx context.Context, source, out string, names []string) error {
	if found, err := os.ReadDir(out); err == nil && len(found) > 0 {
		return fmt.Errorf("%s is not empty: name another folder, or delete it", out)
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "beacon-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	var programs []program
	for i, name := range names {
		p, err := platformOf(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "%d of %d: %s\n", i+1, len(names), name)
		built, err := build(ctx, source, work, p)
		if err != nil {
			return err
		}
		for _, publish := range []func(program, string) error{archive, materials, debian} {
			if err := publish(built, out); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		programs = append(programs, built)
	}
	if err := image(programs, work, out); err != nil {
		return err
	}
	return checksums(out)
}

// checksums writes SHA256SUMS, which "sha256sum --check" reads.
func checksums(folder string) error {
	files, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var lines []string
	for _, f := range files {
		body, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			return err
		}
		lines = append(lines, fmt.Sprintf("%x  %s\n", sha256.Sum256(body), f.Name()))
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[sha256.Size*2:], b[sha256.Size*2:]) })
	return os.WriteFile(filepath.Join(folder, "SHA256SUMS"), []byte(strings.Join(lines, "")), 0o644)
}
