package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/rewards/statement"
)

type rewardsVerifyCmd struct {
	Files  []string `arg:"" name:"file" help:"Statements as sent by the server; - is standard input."`
	Policy string   `placeholder:"FILE" help:"The reward policies of the network, if they are not those built into this program."`
}

func (rewardsVerifyCmd) Examples() string {
	return `  curl -sH "Authorization: Bearer $KEY" http://127.0.0.1:8080/v1/users/me/rewards/statements/2026-10 > 2026-10.json
  beacon rewards verify 2026-10.json
  beacon rewards verify 2026-*.json                        and that each follows the one before it
  curl … | beacon rewards verify -
`
}

// verified is a statement that was verified.
type verified struct {
	file string
	statement.Report
}

// Run recomputes everything in the statements (decision C5).
func (c rewardsVerifyCmd) Run(out *console) error {
	var set policy.Set
	if c.Policy != "" {
		var err error
		if set, err = policy.Load(c.Policy); err != nil {
			return err
		}
	}
	var all []verified
	for _, file := range c.Files {
		report, err := verifyFile(file, set)
		if err != nil {
			return err
		}
		all = append(all, verified{file, report})
		if _, err := fmt.Fprintln(out.stdout, holdsLine(file, report)); err != nil {
			return err
		}
	}
	return checkChain(all)
}

func verifyFile(file string, set policy.Set) (statement.Report, error) {
	var in io.Reader = os.Stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return statement.Report{}, err
		}
		defer f.Close()
		in = f
	}
	buffered := bufio.NewReader(in)
	if start, _ := buffered.Peek(len(ledger.Columns)); string(start) == ledger.Columns {
		return statement.Report{}, fmt.Errorf("%s is a CSV file, which has no policies and no totals: save the statement as JSON", file)
	}
	report, err := statement.Verify(buffered, set)
	if err != nil {
		return report, fmt.Errorf("%s does not hold: %w", file, err)
	}
	return report, nil
}

func holdsLine(file string, r statement.Report) string {
	rows := count(r.Rows, "row")
	if r.Corrects > 0 {
		rows += fmt.Sprintf(" (with %s)", count(r.Corrects, "correction"))
	}
	credits := r.Earned.Total().String() + " credits"
	if r.Held != 0 || r.Released != 0 || r.Voided != 0 {
		credits += fmt.Sprintf(" (%s held, %s released, %s void, %s paid)", r.Held, r.Released, r.Voided, r.Paid())
	}
	return fmt.Sprintf("%s holds: %s, %s, %s of %s, %s, hash %s",
		file, r.User, r.Month, rows, count(r.Hotspots, "hotspot"), credits, r.Hash)
}

// checkChain checks that the statements of one user follow each other. They may be
// named in any order.
func checkChain(all []verified) error {
	slices.SortStableFunc(all, func(a, b verified) int {
		return cmp.Or(cmp.Compare(a.User, b.User), cmp.Compare(a.Month, b.Month))
	})
	for i := 1; i < len(all); i++ {
		if all[i].User != all[i-1].User {
			continue
		}
		if err := statement.Follows(all[i-1].Report, all[i].Report); err != nil {
			return fmt.Errorf("%s does not follow %s: %w", all[i].file, all[i-1].file, err)
		}
	}
	return nil
}
