package beacon

import "time"

// Agent is what the program on a device says about itself and its device (decision
// D122). The zero value is none.
type Agent struct {
	Version  string // of the program; never empty
	Model    string
	Firmware string
	Kernel   string
	BSSID    MAC
	Channel  int
	Radios   int
	At       time.Time // when it was reported
}

// AgentKind is the part of an Agent that many devices share.
type AgentKind struct {
	Version, Model, Firmware string
}

// Kind returns the kind of the agent.
func (a Agent) Kind() AgentKind { return AgentKind{a.Version, a.Model, a.Firmware} }

// AgentEvery is how often a changed report of a device is stored.
const AgentEvery = time.Hour

// Limits of a report.
const (
	maxAgentText = 64 // characters
	maxChannel   = 255
	maxRadios    = 16
)

// AgentForm is an Agent as sent by a device.
type AgentForm struct {
	Version, Model, Firmware, Kernel, BSSID Opt[string]
	Channel, Radios                         Opt[float64]
}

// ReportOf returns the agent of a valid form, or none.
func ReportOf(form Opt[AgentForm]) Agent {
	if !form.Set {
		return Agent{}
	}
	return form.V.check(new(Faults))
}

// checkAgent adds the faults of a form, if there is one.
func checkAgent(form Opt[AgentForm], f *Faults) {
	if agent, ok := Optional(form, "agent", f); ok {
		agent.check(f)
	}
}

// check returns the agent and adds the faults of the form.
func (form AgentForm) check(f *Faults) (a Agent) {
	const path = "agent."
	if !form.Version.Set {
		f.Missing(path + "version")
	}
	a.Version = agentText(form.Version, path+"version", f)
	a.Model = agentText(form.Model, path+"model", f)
	a.Firmware = agentText(form.Firmware, path+"firmware", f)
	a.Kernel = agentText(form.Kernel, path+"kernel", f)
	if text, ok := Optional(form.BSSID, path+"bssid", f); ok {
		a.BSSID = MAC(MAC(text).Canonical())
		if a.BSSID == "" {
			f.Add(path+"bssid", "must be a MAC address")
		}
	}
	a.Channel = agentNumber(form.Channel, path+"channel", maxChannel, f)
	a.Radios = agentNumber(form.Radios, path+"radios", maxRadios, f)
	return a
}

func agentText(o Opt[string], field string, f *Faults) string {
	raw, ok := Optional(o, field, f)
	if !ok {
		return ""
	}
	text, err := cleanText(raw, 1, maxAgentText)
	f.Check(field, err)
	return text
}

func agentNumber(o Opt[float64], field string, most float64, f *Faults) int {
	if _, ok := Optional(o, field, f); !ok {
		return 0
	}
	return int(counter(o, field, most, f))
}
