package paper

import (
	"fmt"

	"pihc/model"
)

// An Arm is one training of a reproduction: overrides of its spec.
type Arm struct {
	Name, Title string // of its folder, and in words
	Overrides   []string
}

// onePass is the network of the paper, which does not correct its own field.
var onePass = []string{"network.passes=1", "network.features={}"}

// Arms are the trainings of a reproduction with a spec: those of the methods (nil: all), with fair one of hard with as many
// points as all experts have, and with once those of one pass.
func Arms(spec *model.Spec, methods []string, fair, once bool) []Arm {
	if len(methods) == 0 {
		methods = model.Methods
	}
	var out []Arm
	for _, m := range methods {
		out = append(out, Arm{m, model.MethodLabel(m), []string{"method=" + m}})
	}
	if fair {
		out = append(out, Arm{"hard-fair", model.MethodLabel(model.Hard) + " fair", []string{
			"method=" + model.Hard, fmt.Sprintf("constraint.points=%d", spec.Constraint.Points*spec.Constraint.ExpertCount()),
		}})
	}
	if once {
		for _, m := range methods {
			out = append(out, Arm{m + "-one-pass", model.MethodLabel(m) + ", one pass", append([]string{"method=" + m}, onePass...)})
		}
	}
	return out
}

// Trainings are those of a study with a spec.
func (s *Study) Trainings(spec *model.Spec) []Arm {
	if s.Arms {
		return expertArms(spec)
	}
	return Arms(spec, s.Methods, false, false)
}
