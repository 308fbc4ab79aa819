//go:build race

package level

const race = true
