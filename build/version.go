package build

// Version of Berth.
const Version = "0.1.0"

// Commit it was built from; set by the linker.
var Commit = "unknown"
