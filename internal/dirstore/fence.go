package dirstore

import (
	"path/filepath"
	"strconv"

	"legible.sh/mutex/internal/lease"
)

// raiseFence makes the counter say fence, unless it says that or more. The number is a file's name: raising it is one
// rename, which happens or does not, and cannot leave half a number behind.
func (t *turn) raiseFence(fence lease.Fence) error {
	if fence <= t.found.counted {
		return nil
	}
	name := fencePrefix + strconv.FormatUint(uint64(fence), 10)
	to := filepath.Join(t.dir, name)
	var err error
	if old := t.found.fenceName; old != "" {
		err = t.store.disk.rename("fence", filepath.Join(t.dir, old), to)
	} else {
		err = t.store.disk.stage("fence", to, nil, false)
	}
	if err != nil {
		return unchangeable(t.dir, err)
	}
	t.found.counted, t.found.fenceName = fence, name
	return nil
}
