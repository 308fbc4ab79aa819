package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/beacon-wifi/beacon/client"
)

// serve starts a real server for an example, with a key that permits everything.
func serve() (url, key string, stop func()) {
	folder, err := os.MkdirTemp("", "beacon-example")
	if err != nil {
		log.Fatal(err)
	}
	db := filepath.Join(folder, "beacon.db")
	s, err := launch(db)
	if err != nil {
		log.Fatal(err)
	}
	key, err = command("keys", "create", "--db", db, "--user", "new", "--scopes", "admin")
	if err != nil {
		log.Fatal(err)
	}
	return s.url, key, func() {
		if err := errors.Join(s.end(), os.RemoveAll(folder)); err != nil {
			log.Fatal(err)
		}
	}
}

func readingRoom() client.Registration {
	return client.Registration{
		Name:     "Bryant Park Reading Room",
		Type:     client.Public,
		Location: client.Place{Lat: 40.7542, Lng: -73.9841, Address: "42nd Street and 6th Avenue, New York"},
		Device:   client.AccessPoint{SSID: "Bryant Park", MACAddress: "02:00:5e:10:00:01"},
	}
}

// Register a hotspot, and find it.
func Example() {
	url, key, stop := serve()
	defer stop()
	ctx := context.Background()

	c, err := client.New(url, key)
	if err != nil {
		log.Fatal(err)
	}
	_, err = c.RegisterHotspot(ctx, client.Registration{
		Name:     "Bryant Park Reading Room",
		Type:     client.Public,
		Location: client.Place{Lat: 40.7542, Lng: -73.9841},
		Device:   client.AccessPoint{SSID: "Bryant Park", MACAddress: "02:00:5e:10:00:01"},
		Settings: &client.SettingsForm{MaxConnections: new(80)},
	})
	if err != nil {
		log.Fatal(err)
	}
	found, err := c.Nearby(ctx, client.NearbyQuery{Lat: 40.7536, Lng: -73.9832, Radius: 500, Status: client.AnyStatus})
	if err != nil {
		log.Fatal(err)
	}
	for _, h := range found {
		fmt.Printf("%s, %.0f m away, %s\n", h.Name, h.DistanceM, h.Status)
	}
	// Output: Bryant Park Reading Room, 101 m away, pending
}

// Everything that is wrong with a request is told at once.
func ExampleError() {
	url, key, stop := serve()
	defer stop()
	c, err := client.New(url, key)
	if err != nil {
		log.Fatal(err)
	}
	bad := readingRoom()
	bad.Name, bad.Location.Lat = "", 91
	_, err = c.RegisterHotspot(context.Background(), bad)
	if e, ok := errors.AsType[*client.Error](err); ok {
		fmt.Println(e.Status, e.Code)
		for _, d := range e.Details {
			fmt.Println(d.Field, d.Message)
		}
	}
	// Output:
	// 400 invalid_request
	// name must be 3 to 50 characters
	// location.lat must be -90 to 90
}

// A device gets its key for a code, and says that it is there.
func ExampleClient_SendHeartbeat() {
	url, key, stop := serve()
	defer stop()
	ctx := context.Background()
	c, err := client.New(url, key)
	if err != nil {
		log.Fatal(err)
	}
	h, err := c.RegisterHotspot(ctx, readingRoom())
	if err != nil {
		log.Fatal(err)
	}
	if _, err := c.VerifyHotspot(ctx, h.ID, client.Verification{Lat: 40.7542, Lng: -73.9841, AccuracyM: 8, Method: "gps"}); err != nil {
		log.Fatal(err)
	}
	code, err := c.CreateLinkCode(ctx, h.ID)
	if err != nil {
		log.Fatal(err)
	}

	// On the device, which knows the code and its own address.
	linked, err := c.LinkDevice(ctx, code.Code, "02:00:5e:10:00:01")
	if err != nil {
		log.Fatal(err)
	}
	device := c.WithKey(linked.DeviceKey)
	taken, err := device.SendHeartbeat(ctx, linked.HotspotID, client.Heartbeat{BootID: "1", Seq: 1, Clients: 3, RxBytes: 1200, TxBytes: 800})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s; the next one in %d s\n", taken.Status, taken.NextInS)
	// Output: online; the next one in 60 s
}

// Listen to what happens, from the oldest event that is kept.
func ExampleClient_Events() {
	url, key, stop := serve()
	defer stop()
	ctx := context.Background()
	c, err := client.New(url, key)
	if err != nil {
		log.Fatal(err)
	}
	h, err := c.RegisterHotspot(ctx, readingRoom())
	if err != nil {
		log.Fatal(err)
	}
	for event, err := range c.Events(ctx, client.FromOldest) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(event.Type, event.HotspotID == h.ID)
		break
	}
	// Output: hotspot.registered true
}

// A list in pages is a sequence.
func ExampleClient_Hotspots() {
	url, key, stop := serve()
	defer stop()
	ctx := context.Background()
	c, err := client.New(url, key)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := c.RegisterHotspot(ctx, readingRoom()); err != nil {
		log.Fatal(err)
	}
	for h, err := range c.Hotspots(ctx, "me") {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(h.Name, h.Settings.MaxConnections)
	}
	// Output: Bryant Park Reading Room 128
}

// Add up a statement row by row, however long it is.
func ExampleClient_Statement() {
	c, err := client.New("https://wifi.example.org", os.Getenv("BEACON_KEY"))
	if err != nil {
		log.Fatal(err)
	}
	var sum client.Amount
	statement, err := c.Statement(context.Background(), "me", "2026-10", func(row client.StatementRow) error {
		sum += row.Availability + row.Performance + row.Utilization
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sum == statement.Totals.TotalEarned)
}
