package preview

// Hotspot is a record as the API shows it.
type Hotspot struct {
	ID            int     `json:"id"`
	Name          string  `json:"name"`
	Lat           float64 `json:"lat"`
	Lng           float64 `json:"lng"`
	Mbps          float64 `json:"mbps"`
	Risk          string  `json:"risk"`
	Owner         string  `json:"owner"`
	Note          string  `json:"note"`
	Signal        string  `json:"signal"`
	Network       string  `json:"network"`
	Security      string  `json:"security"`
	Uptime        string  `json:"uptime"`
	Rating        string  `json:"rating"`
	Avatar        string  `json:"avatar,omitempty"`
	LastUsed      string  `json:"lastUsed,omitempty"`
	LocationImage string  `json:"locationImage,omitempty"`
}

// The values that a list can be filtered by, spelled as in the records.
var (
	risks    = []string{"Low", "Medium", "High"}
	networks = []string{"WiFi 5", "WiFi 6", "WiFi 6E"}
)
