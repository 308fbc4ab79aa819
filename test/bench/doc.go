// Package bench measures what a request costs the server, in CPU time of its
// process, beside a limit that no server of this kind can beat: a bare net/http
// handler that writes the same bytes. Both run as processes of their own and
// take turns under the same load, so that a noisy machine disturbs both alike;
// the figure that counts is their ratio. Run it with "make bench".
package bench
