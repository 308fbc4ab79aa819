// Package browser tests the console in a real browser, against a real server
// with a small network: every page, every action, and that nothing is said on
// the browser's console and nothing is kept from loading by the page's policy.
package browser
