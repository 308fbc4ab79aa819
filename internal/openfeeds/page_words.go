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
	Poster, PrintThis, BackToPage, HereIs                 string
	ChooseNetwork, ScanThis                               string
	Opening, TodayMark, TimesIn                           string // of the week
	OpenData, OpenIntro, Hotspots, Feeds                  string // of the landing page
	Licence, LicenceText, ForPrograms, ForProgramsText    string
	Guide, Reference, PrivacyGuide                        string
	feeds                                                 map[string]string // what each is, by its path
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
	Poster: "A poster to print", PrintThis: "Print this sheet and put it up beside the access point.", BackToPage: "Back to the page",
	HereIs: "There is Wi-Fi here", ChooseNetwork: "Choose this network on your device:", ScanThis: "Does it work? Scan the code, or open this address:",
	Opening: "Opening hours", TodayMark: "today", TimesIn: "Times of",
	open: "Open now", closed: "Closed now", always: "Always open", allDay: "all day", closedDay: "closed", notInService: "not in service",
	until: "%s, until %s", atClock: "%s", onDay: "%s, %s",
	months: [12]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"},
	days:   [7]string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"},
	of:     " ", point: ".", percentSign: "%",
	OpenData: "Open data", Hotspots: "Hotspots", Feeds: "What there is",
	OpenIntro: "Where the network's hotspots are and whether they work, for anyone and without a key. Hotspots in homes are never among them. They are made once a minute.",
	Licence:   "Who may use it",
	LicenceText: "Anyone may read it, from any program and any page. It is made by the network itself, and nothing in it comes from other maps. " +
		"To publish copies, ask the network under which licence, and name it as the source.",
	ForPrograms:     "For programs",
	ForProgramsText: "An address may send 50 requests a second. Programs that ask this address for JSON get the links to everything, as OGC API Features has it.",
	Guide:           "The guide, with examples for web maps, QGIS and Freifunk", Reference: "The reference of each path", PrivacyGuide: "Who sees what",
	feeds: map[string]string{
		"/hotspots.geojson":           "All hotspots in one file, for scripts, spreadsheets and maps: name, place, network name, opening hours, and whether each is online.",
		"/nearest":                    "The hotspots that are nearest to a place, with their distances; with q=, those with some words in their name or address.",
		"/network.json":               "How many hotspots there are, how many are online, and what they carried this month.",
		"/estimate":                   "What a new hotspot at a place might earn in 30 days, beside the public ones.",
		"/tiles.json":                 "The map as vector tiles, for MapLibre, OpenLayers and others.",
		"/collections/hotspots/items": "Page by page, and by box, for QGIS, GDAL and ArcGIS.",
		"/meshviewer.json":            "For the map Meshviewer.",
		"/nodelist.json":              "For maps of many communities.",
		"/openstreetmap.geojson":      "Tags for mappers of OpenStreetMap, for review by people: it is no import.",
	},
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
	Poster: "Un cartel para imprimir", PrintThis: "Imprima esta hoja y póngala junto al router.", BackToPage: "Volver a la página",
	HereIs: "Aquí hay wifi", ChooseNetwork: "Elija esta red en su equipo:", ScanThis: "¿Funciona? Escanee el código o abra esta dirección:",
	Opening: "Horario de apertura", TodayMark: "hoy", TimesIn: "Hora de",
	open: "Abierto ahora", closed: "Cerrado ahora", always: "Siempre abierto", allDay: "todo el día", closedDay: "cerrado", notInService: "fuera de servicio",
	until: "%s, hasta %s", atClock: "las %s", onDay: "el %s a las %s",
	months: [12]string{"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"},
	days:   [7]string{"domingo", "lunes", "martes", "miércoles", "jueves", "viernes", "sábado"},
	of:     " de ", point: ",", percentSign: " %",
	OpenData: "Datos abiertos", Hotspots: "Puntos de acceso", Feeds: "Qué hay",
	OpenIntro: "Dónde están los puntos de acceso de la red y si funcionan, para cualquiera y sin clave. Los de las viviendas nunca figuran. Todo se renueva una vez por minuto.",
	Licence:   "Quién puede usarlos",
	LicenceText: "Cualquiera puede leerlos, desde cualquier programa y cualquier página. Los hace la propia red, y nada en ellos procede de otros mapas. " +
		"Quien quiera publicar copias debe preguntar a la red con qué licencia, y citarla como fuente.",
	ForPrograms:     "Para programas",
	ForProgramsText: "Una dirección puede enviar 50 peticiones por segundo. Los programas que piden JSON a esta dirección reciben los enlaces a todo, como en OGC API Features.",
	Guide:           "La guía, con ejemplos para mapas web, QGIS y Freifunk (en inglés)", Reference: "La referencia de cada ruta (en inglés)", PrivacyGuide: "Quién ve qué (en inglés)",
	feeds: map[string]string{
		"/hotspots.geojson":           "Todos los puntos en un archivo, para programas, hojas de cálculo y mapas: nombre, lugar, nombre de la red, horario, y si cada uno está en línea.",
		"/nearest":                    "Los puntos más cercanos a un lugar, con sus distancias; con q=, los que tienen algunas palabras en su nombre o dirección.",
		"/network.json":               "Cuántos puntos hay, cuántos están en línea, y cuánto tráfico llevaron este mes.",
		"/estimate":                   "Cuánto podría ganar en 30 días un punto nuevo en un lugar, junto a los públicos.",
		"/tiles.json":                 "El mapa como teselas vectoriales, para MapLibre, OpenLayers y otros.",
		"/collections/hotspots/items": "Página por página, y por zona, para QGIS, GDAL y ArcGIS.",
		"/meshviewer.json":            "Para el mapa Meshviewer.",
		"/nodelist.json":              "Para mapas de muchas comunidades.",
		"/openstreetmap.geojson":      "Etiquetas para quienes cartografían OpenStreetMap, para que personas las revisen: no es una importación.",
	},
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
