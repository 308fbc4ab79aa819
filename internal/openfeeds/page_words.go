package openfeeds

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/text/language"
)

// words are the texts of a page in one language.
type words struct {
	Lang                                                  string
	NoSuch, NoPage, GoToMap                               string
	Online, Offline, OnlineNow, OfflineNow, OfflineSince  string
	Works, Silent                                         string
	Network, Address, Hours, Place, ShowOnMap             string
	Last30, UptimeOf, Up, UpOf, NotUp                     string
	MeOrIt, PutCode, QRCode, OwnSite, CopyThis            string
	Opening, TodayMark, TimesIn                           string // of the week
	open, closed, always, allDay, closedDay, notInService string
	until, atClock, onDay                                 string // patterns, for a time, a time of a day
	months                                                [12]string
	days                                                  [7]string // Sunday first
	of                                                    string    // between a day, its month and the year
	point, percentSign                                    string    // of a number
}

var english = words{
	Lang: "en", NoSuch: "No such hotspot", NoPage: "There is no public page at this address.", GoToMap: "Go to the map",
	Online: "online", Offline: "offline", OnlineNow: "Online now", OfflineNow: "Offline", OfflineSince: "Offline since",
	Works:   "The hotspot works. If you cannot connect, the cause is your device or the distance: join the network again, or come closer.",
	Silent:  "It is not you: nothing is heard from the hotspot.",
	Network: "Network", Address: "Address", Hours: "Hours", Place: "Place", ShowOnMap: "Show on the map",
	Last30: "The last 30 days", UptimeOf: "Uptime of the last 30 days", Up: "Up", UpOf: "of the time that it should have been.", NotUp: "It was not in service.",
	MeOrIt: "Is it me or the hotspot?", PutCode: "Put this code beside the access point: it leads to this page.", QRCode: "QR code of",
	OwnSite: "On your own site", CopyThis: "Copy this to where it should appear:",
	Opening: "Opening hours", TodayMark: "today", TimesIn: "Times of",
	open: "Open now", closed: "Closed now", always: "Always open", allDay: "all day", closedDay: "closed", notInService: "not in service",
	until: "%s, until %s", atClock: "%s", onDay: "%s, %s",
	months: [12]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"},
	days:   [7]string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"},
	of:     " ", point: ".", percentSign: "%",
}

var spanish = words{
	Lang: "es", NoSuch: "No existe este punto de acceso", NoPage: "No hay ninguna página pública en esta dirección.", GoToMap: "Ir al mapa",
	Online: "en línea", Offline: "sin conexión", OnlineNow: "En línea ahora", OfflineNow: "Sin conexión", OfflineSince: "Sin conexión desde el",
	Works:   "El punto de acceso funciona. Si no puede conectarse, es por su equipo o por la distancia: vuelva a unirse a la red, o acérquese.",
	Silent:  "No es usted: no hay señales de vida del punto de acceso.",
	Network: "Red", Address: "Dirección", Hours: "Horario", Place: "Lugar", ShowOnMap: "Ver en el mapa",
	Last30: "Los últimos 30 días", UptimeOf: "Disponibilidad de los últimos 30 días", Up: "Disponible el", UpOf: "del tiempo previsto.", NotUp: "No estuvo en servicio.",
	MeOrIt: "¿Soy yo o el punto de acceso?", PutCode: "Ponga este código junto al router: lleva a esta página.", QRCode: "Código QR de",
	OwnSite: "En su propio sitio", CopyThis: "Copie esto donde deba mostrarse:",
	Opening: "Horario de apertura", TodayMark: "hoy", TimesIn: "Hora de",
	open: "Abierto ahora", closed: "Cerrado ahora", always: "Siempre abierto", allDay: "todo el día", closedDay: "cerrado", notInService: "fuera de servicio",
	until: "%s, hasta %s", atClock: "las %s", onDay: "el %s a las %s",
	months: [12]string{"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"},
	days:   [7]string{"domingo", "lunes", "martes", "miércoles", "jueves", "viernes", "sábado"},
	of:     " de ", point: ",", percentSign: " %",
}

var spoken = []*words{&english, &spanish}

// matcher has the languages in the order of spoken. The first is for clients that ask for
// none of them.
var matcher = language.NewMatcher([]language.Tag{language.English, language.Spanish})

// wordsFor returns the texts in the language that a client asks for.
func wordsFor(h http.Header) *words {
	asked, _, err := language.ParseAcceptLanguage(h.Get("Accept-Language"))
	if err != nil {
		return &english
	}
	_, i, _ := matcher.Match(asked...)
	return spoken[i]
}

// day returns a date without its year.
func (w *words) day(t time.Time) string { return strconv.Itoa(t.Day()) + w.of + w.months[t.Month()-1] }

// date returns a date with its year.
func (w *words) date(t time.Time) string { return w.day(t) + w.of + strconv.Itoa(t.Year()) }

// percent returns a share, and never rounds up to all.
func (w *words) percent(part float64) string {
	tenths := int(math.Floor(part * 1000))
	return fmt.Sprintf("%d%s%d%s", tenths/10, w.point, tenths%10, w.percentSign)
}

func (w *words) moment(t time.Time) string {
	t = t.UTC()
	return w.date(t) + t.Format(", 15:04 UTC")
}
