// Package app wires the server together and ends it in stages. It is the only package that knows everybody.
//
//	                +---------+     +----------+     +------------+
//	requests -----> |  http   | --> | registry | --> | topicactor | x topics
//	                |  server |     +----------+     +------------+
//	                +---------+          |                 | events
//	                  |   |              v                 v
//	               policy pages       journal <--------- append, one sync for many
//	                                     ^                 |
//	                                  mutex.jsonl       history, metrics (never waited for)
//
// [New] binds everything that can be refused, ports, files and locks, before anything runs, so that a bad setting fails
// at once. [Server.Run] runs the parts as one group until the context ends or a part fails, and then ends them in order:
// the base context (who waits is answered SHUTDOWN, streams get their last event), HTTP within its budget, the sessions
// over MCP, the registry,
// the history, the journal with its last sync and the directory's lock.
package app
