package bench

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"
)

// grantRecord is about as long as what the journal of a server writes for a grant.
var grantRecord [256]byte

// onDisk: the disk's own rate of append and sync, and cycles beside it. A server started here keeps its journal on
// the same disk, and another one in memory says what the disk costs. A cycle needs two syncs, which many connections
// share. The floor appends and syncs a record of its own before each answer, which says what HTTP costs.
func onDisk(ctx context.Context, m *measurement) (_ readings, failed error) {
	dir, err := os.MkdirTemp(m.Dir, "mutex-bench-")
	if err != nil {
		return nil, fmt.Errorf("disk: %w", err)
	}
	defer func() { failed = errors.Join(failed, os.RemoveAll(dir)) }()
	if m.isFloor {
		defer m.stop() // its file goes with the directory
		if err := m.startSyncing(ctx, dir); err != nil {
			return nil, err
		}
	}
	if m.isFloor || !m.Self {
		result, rate, err := m.betweenSyncs(ctx, dir)
		if err != nil {
			return nil, err
		}
		return besideDisk(result, m.process, rate), nil
	}
	memory, err := m.cycleLoad(m.connections).run(ctx)
	if err != nil {
		return nil, err
	}
	m.stop() // both share the processors
	journaled, err := m.startServer(ctx, "--data-dir", dir+"/data")
	if err != nil {
		return nil, err
	}
	defer journaled.stop()
	kept := *m
	kept.server = journaled
	result, rate, err := kept.betweenSyncs(ctx, dir)
	if err != nil {
		return nil, err
	}
	return append(besideDisk(result, journaled.process, rate),
		reading{"in memory", "cycles/s", float64(memory.steps) / memory.took.Seconds()},
		reading{"by memory", "", float64(result.steps) / float64(max(memory.steps, 1))}), nil
}

// startSyncing makes the floor store a record before each answer.
func (m *measurement) startSyncing(ctx context.Context, dir string) error {
	c, err := m.target.dial(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	_, err = c.want(m.target.request("POST", syncPath+"?dir="+url.QueryEscape(dir)))
	return err
}

// betweenSyncs measures cycles, and the disk's rate half before and half behind them: a disk that others use as well is
// twice as fast in one minute as in the next.
func (m *measurement) betweenSyncs(ctx context.Context, dir string) (*loaded, float64, error) {
	before, err := syncRate(ctx, dir, m.Duration/2)
	if err != nil {
		return nil, 0, err
	}
	result, err := m.cycleLoad(m.connections).run(ctx)
	if err != nil {
		return nil, 0, err
	}
	behind, err := syncRate(ctx, dir, m.Duration/2)
	return result, (before + behind) / 2, err
}

func besideDisk(l *loaded, p process, rate float64) readings {
	cycles := l.readings("cycles", p)
	all := append(readings{{"disk", "syncs/s", rate}}, cycles...)
	return append(all, reading{"by half the disk's", "", cycles[0].value / (rate / 2)})
}

// syncRate appends a record and syncs it, again and again, and gives how often a second.
func syncRate(ctx context.Context, dir string, d time.Duration) (_ float64, failed error) {
	f, err := os.CreateTemp(dir, "append-")
	if err != nil {
		return 0, fmt.Errorf("disk: %w", err)
	}
	defer func() { failed = errors.Join(failed, f.Close()) }()
	n := 0
	start := time.Now()
	for ; time.Since(start) < d; n++ {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		if err := appendSynced(f); err != nil {
			return 0, fmt.Errorf("disk: %w", err)
		}
	}
	return float64(n) / time.Since(start).Seconds(), nil
}

func appendSynced(f *os.File) error {
	if _, err := f.Write(grantRecord[:]); err != nil {
		return err
	}
	return datasync(f)
}
