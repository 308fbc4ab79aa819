//go:build linux

package torture_test

var loadMutants = []mutant{
	{
		name: "devices are turned away like anyone", fault: "TestF17_Overload/shed", file: "internal/node/router.go",
		old: "!edge.IsHeartbeat(r) && rt.pressure.Sheds(r):", new: "rt.pressure.Sheds(r):",
	},
	{
		name: "nobody is turned away", fault: "TestF17_Overload/shed", file: "internal/node/router.go",
		old: "!edge.IsHeartbeat(r) && rt.pressure.Sheds(r):", new: "!edge.IsHeartbeat(r) && rt.pressure.Sheds(r) && false:",
	},
	{
		name: "headers may take their time", fault: "TestF18_SlowClients/crowds/headers", file: "internal/httpserver/server.go",
		old: "readHeaderTimeout = 5 * time.Second", new: "readHeaderTimeout = 5 * time.Minute",
	},
	{
		name: "bodies may take their time", fault: "TestF18_SlowClients/crowds/body", file: "internal/httpserver/server.go",
		old: "srv.ReadTimeout = cmp.Or(front.Times.Read, readTimeout)", new: "srv.ReadTimeout = 0",
	},
	{
		name: "bodies of any size are read", fault: "TestF19_Oversize", file: "internal/api/edge/object.go",
		old: "maxBodyBytes = 64 << 10", new: "maxBodyBytes = 1 << 30",
	},
	{
		name: "headers of any size are read", fault: "TestF19_Oversize", file: "internal/httpserver/handler.go",
		old: "MaxHeaderBytes = 16 << 10", new: "MaxHeaderBytes = 16 << 20",
	},
	{
		name: "a drain cuts requests off", fault: "TestF24_Drain/sqlite", file: "internal/httpserver/server.go",
		old: "err = fast.Drain(ending)", new: "fast.CloseAll(); err = srv.Close()",
	},
	{
		name: "a drain waits for streams that never end", fault: "TestF24_DevicesDrain/sqlite", file: "internal/node/server.go",
		old: "s.node.Hub.Close() // streams of events would never end by themselves", new: "",
	},
	{
		name: "streams outlive their clients", fault: "TestF25_Leaks", file: "internal/api/network/events.go",
		old: "ctx, cancel := context.WithTimeout(r.Context(), wait)", new: "ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), wait)",
	},
}
