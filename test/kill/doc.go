// Package kill proves what survives the sudden death of Berth. It holds tests
// only; "make kill" runs them.
//
// A real berth serve is killed as by SIGKILL at each named commit point of a
// turn (backend/fault), started again, and then held to the rules of the
// design: what was accepted is kept (2), nothing is sent twice (3), each turn
// has one terminal event (5), no process is left (7), and the stream goes on
// without gap, repetition or reused number (8).
//
// What an agent received is known from outside Berth: the demo agent runs
// behind a recorder of its input, the real agents against the model server.
// Every point is struck with the demo agent; a rotating tenth is struck again
// with the real agents.
package kill
