package client

import "time"

// UseClock has c judge leases by now, the time since some fixed point.
func (c *Client) UseClock(now func() time.Duration) { c.now = func() instant { return instant(now()) } }
