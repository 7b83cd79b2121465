package web

import (
	"io"
	"strings"
)

// Home writes the front page; base is this server's URL as its clients know it, without a slash at the end.
func (p *Pages) Home(w io.Writer, base string) error {
	return p.home.Execute(w, struct{ Root, Base string }{atRoot, base})
}

// instructions tell an agent how to hold a lease.
func instructions(base string) string {
	return strings.ReplaceAll(agentText, "{{url}}", base)
}

const agentText = `Before you touch TOPIC, take its lease:
  curl -X POST '{{url}}/TOPIC?ttl=60&wait=300&name=YOUR-NAME'
200 is the grant; keep its lease and fence. With any other answer you hold nothing: do not start, read the hint.
Every 20 s while you work:
  curl -X POST '{{url}}/TOPIC/LEASE/renew'
404 with code NOT_FOUND: the lease is gone, stop at once.
Write the fence along with what you change, and refuse to write over a higher one.
When you are done:
  curl -X DELETE '{{url}}/TOPIC/LEASE'
Who holds it, who waits:
  curl '{{url}}/TOPIC'`
