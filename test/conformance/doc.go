// Package conformance proves the drivers, and Berth as a whole, against the
// real agents at their pinned versions, with the model server in the place of
// the model. It holds tests only; "make conformance" runs them.
//
// There is one list of cases (cases_test.go) and one declaration per agent
// (agents_test.go). A case names the capability it needs; an agent that lacks
// it must declare so, and its driver must declare the same, so that nothing is
// left out in silence. A missing agent, or one of another version, is a
// failure. So is a number of cases below the one in minimum.json.
//
// Cases assert what the model server received and what is on disk, not only
// what Berth says.
package conformance
