package journal

import "time"

// alarm is a timer that is set or not.
type alarm struct {
	timer *time.Timer
	set   bool
}

func newAlarm() alarm {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return alarm{timer: t}
}

// in sets the alarm, unless it is set already.
func (a *alarm) in(d time.Duration) {
	if !a.set {
		a.timer.Reset(d)
		a.set = true
	}
}

func (a *alarm) off() {
	a.timer.Stop()
	a.set = false
}
