package letters

import (
	"fmt"
	"html/template"
	"strings"
	"time"
)

// kind is what a mail is about.
type kind string

const (
	invitation kind = "invitation"
	signIn     kind = "link"
	proof      kind = "proof"
)

// words are a mail in a language.
type words struct {
	code                                        string
	subject, before, button, until, copy, after string
	day                                         func(time.Time) string
}

var english = map[kind]words{
	invitation: {
		subject: "Invitation to {network}", before: "You are invited to {network}.", button: "Accept the invitation",
		until: "The link works once, until {until}.", after: "If you do not know what this is about, leave it: nothing happens.",
	},
	signIn: {
		subject: "Sign in to {network}", before: "Somebody, probably you, asked to sign in to {network}.", button: "Sign in",
		until: "The link works once, until {until}.", after: "If it was not you, leave it: nobody is signed in without this link. Give it to nobody.",
	},
	proof: {
		subject: "Your mail address at {network}", before: "Somebody, probably you, gave this address at {network}. Open the link where you are signed in.", button: "Confirm the address",
		until: "The link works once, until {until}.", after: "If it was not you, leave it: nothing is sent to this address then.",
	},
}

var spanish = map[kind]words{
	invitation: {
		subject: "Invitación a {network}", before: "Le invitan a {network}.", button: "Aceptar la invitación",
		until: "El enlace sirve una sola vez, hasta el {until}.", after: "Si no sabe de qué se trata, no haga nada: no pasará nada.",
	},
	signIn: {
		subject: "Entrar en {network}", before: "Alguien, probablemente usted, pidió entrar en {network}.", button: "Entrar",
		until: "El enlace sirve una sola vez, hasta el {until}.", after: "Si no fue usted, no haga nada: sin este enlace no entra nadie. No se lo dé a nadie.",
	},
	proof: {
		subject: "Su dirección de correo en {network}", before: "Alguien, probablemente usted, indicó esta dirección en {network}. Abra el enlace donde tenga la sesión iniciada.", button: "Confirmar la dirección",
		until: "El enlace sirve una sola vez, hasta el {until}.", after: "Si no fue usted, no haga nada: no se enviará nada a esta dirección.",
	},
}

// wordsIn returns a mail in Spanish, or for all other languages in English.
func wordsIn(language string, of kind) words {
	if language == "es" || strings.HasPrefix(language, "es-") {
		w := spanish[of]
		w.code, w.day, w.copy = "es", spanishDay, "O copie esta dirección en su navegador:"
		return w
	}
	w := english[of]
	w.code, w.day, w.copy = "en", englishDay, "Or copy this address into your browser:"
	return w
}

func englishDay(t time.Time) string { return t.Format("2 January 2006, 15:04 MST") }

var months = [...]string{"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"}

func spanishDay(t time.Time) string {
	return fmt.Sprintf("%d de %s de %d, %s", t.Day(), months[t.Month()-1], t.Year(), t.Format("15:04 MST"))
}

// shown is what stands in a mail.
type shown struct {
	Language, Network, Color, Link, Subject, Before, Button, Until, Copy, After string
}

func (s shown) plain() string {
	return s.Before + "\n\n" + s.Button + ":\n" + s.Link + "\n\n" + s.Until + "\n" + s.After + "\n\n-- \n" + s.Network + "\n"
}

// page is plain: programs that show mails know little of HTML, and load nothing.
var page = template.Must(template.New("").Parse(`<!doctype html>
<html lang="{{.Language}}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>{{.Subject}}</title></head>
<body style="margin:0;padding:24px 16px;font-family:system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif;font-size:16px;line-height:1.5">
<div style="max-width:480px;margin:0 auto">
<p style="margin:0 0 16px;font-size:20px;font-weight:600">{{.Network}}</p>
<p style="margin:0 0 24px">{{.Before}}</p>
<p style="margin:0 0 24px"><a href="{{.Link}}" style="display:inline-block;padding:12px 20px;border-radius:8px;background:{{.Color}};color:#ffffff;font-weight:600;text-decoration:none">{{.Button}}</a></p>
<p style="margin:0 0 8px">{{.Until}} {{.After}}</p>
<p style="margin:0;font-size:14px">{{.Copy}}<br><a href="{{.Link}}" style="word-break:break-all">{{.Link}}</a></p>
</div></body></html>
`))

func (s shown) html() string {
	var b strings.Builder
	if err := page.Execute(&b, s); err != nil {
		return "" // a mail without it is still one
	}
	return b.String()
}
