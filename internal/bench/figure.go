package bench

import (
	"slices"
)

// reading is one number that one measurement gave.
type reading struct {
	name, unit string
	value      float64
}

type readings []reading

// Figure is what the rounds gave for one thing that was measured.
type Figure struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
	// Value is the median of the server's Rounds.
	Value  float64   `json:"value"`
	Rounds []float64 `json:"rounds"`
	// Floor is the median of the floor's FloorRounds, and Ratio the median of each round's server by its floor.
	// All three are left out where there is no floor.
	Floor       *float64  `json:"floor,omitempty"`
	FloorRounds []float64 `json:"floor_rounds,omitempty"`
	Ratio       *float64  `json:"ratio,omitempty"`
}

// Report is the outcome of one scenario at one number of connections.
type Report struct {
	Scenario    string   `json:"scenario"`
	Connections int      `json:"connections,omitempty"`
	Seconds     float64  `json:"seconds"`
	Figures     []Figure `json:"figures"`
}

// round is what one round gave; floor is empty where there is none.
type round struct{ floor, ours readings }

// figures puts the rounds together. Every round has the same readings in the same order.
func figures(rounds []round) []Figure {
	var all []Figure
	for i, r := range rounds[0].ours {
		f := Figure{Name: r.name, Unit: r.unit}
		var ratios []float64
		for _, round := range rounds {
			ours := round.ours[i].value
			f.Rounds = append(f.Rounds, ours)
			if floor, ok := round.floor.value(r.name); ok {
				f.FloorRounds = append(f.FloorRounds, floor)
				if floor != 0 {
					ratios = append(ratios, ours/floor)
				}
			}
		}
		f.Value = median(f.Rounds)
		if len(f.FloorRounds) > 0 {
			f.Floor = new(median(f.FloorRounds))
		}
		if len(ratios) > 0 {
			f.Ratio = new(median(ratios))
		}
		all = append(all, f)
	}
	return all
}

func (all readings) value(name string) (float64, bool) {
	i := slices.IndexFunc(all, func(r reading) bool { return r.name == name })
	if i < 0 {
		return 0, false
	}
	return all[i].value, true
}

// median of one value or more.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return (sorted[middle-1] + sorted[middle]) / 2
	}
	return sorted[middle]
}
