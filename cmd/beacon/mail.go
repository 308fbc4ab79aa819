package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/beacon-wifi/beacon/internal/mail"
)

// mailFlags say how mails are sent.
type mailFlags struct {
	SMTP     string `name:"smtp" placeholder:"URL" help:"The mail server through which people get links to sign in, such as smtp://user:password@mail.example.org:587 (smtps:// where TLS starts at once). Others on this machine see flags: with a password, use the variable or --smtp-file. Default: none; no mail is sent."`
	SMTPFile string `name:"smtp-file" placeholder:"FILE" help:"A file with that URL. Default: none."`
	MailFrom string `placeholder:"ADDRESS" help:"The sender of mails, such as 'Riverside Wi-Fi <wifi@example.org>'. Default: none."`
}

// mailer returns what sends mails, or nil.
func (c mailFlags) mailer() (*mail.Mailer, error) {
	url, err := secret("smtp", c.SMTP, c.SMTPFile)
	if err != nil {
		return nil, err
	}
	switch {
	case url == "" && c.MailFrom == "":
		return nil, nil //nolint:nilnil // no mail is sent
	case url == "":
		return nil, usageError("--mail-from needs --smtp or --smtp-file")
	case c.MailFrom == "":
		return nil, usageError("--smtp needs --mail-from, such as 'Riverside Wi-Fi <wifi@example.org>'")
	}
	m, err := mail.New(mail.Config{URL: url, From: c.MailFrom})
	if err != nil {
		return nil, usageError(err.Error())
	}
	return m, nil
}

// secret returns the value of a flag, or what is in the file of another.
func secret(flag, value, file string) (string, error) {
	switch {
	case file == "":
		return value, nil
	case value != "":
		return "", usageError(fmt.Sprintf("--%s and --%s-file: use one of them", flag, flag))
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("--%s-file: %w", flag, err)
	}
	if value = strings.TrimSpace(string(text)); value == "" {
		return "", usageError(fmt.Sprintf("--%s-file: %s is empty", flag, file))
	}
	return value, nil
}
