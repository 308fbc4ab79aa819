// Package agent is what access points run: the shell program beacon-agent, its packages
// for OpenWrt, Gluon and Debian, and a role for Ansible (docs/agent.md). The tests run the
// real program, under BusyBox ash and under dash, in a sandbox: a folder stands for the
// root of a device, and stubs for the programs of OpenWrt and for the time that passes
// while it sleeps. Programs for HTTP are real where Debian has them. Its one invariant:
// the agent never sends more than it has saved.
package agent
