package model

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"pihc/internal/config"
	"pihc/internal/kernel"
	"pihc/pde"
)

// LoadSpec decodes a spec over the defaults, lays what it has for its method alone
// (`methods`) over the rest, applies overrides ("a.b=c") and validates it. name is used
// in messages.
func LoadSpec(name string, src []byte, overrides ...string) (*Spec, error) {
	d, others, err := parseSpec(name, src, overrides)
	if err != nil {
		return nil, err
	}
	s, err := decodeSpec(name, d)
	if err != nil {
		return nil, err
	}
	for _, method := range others { // what is wrong for another method is wrong now
		d, _, err := parseSpec(name, src, append(slices.Clone(overrides), "method="+method))
		if err == nil {
			_, err = decodeSpec(name, d)
		}
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

// parseSpec returns the document of a spec for its method, and the other methods that
// the file has values for.
func parseSpec(name string, src []byte, overrides []string) (d *config.Document, others []string, err error) {
	if d, err = config.Parse(name, src); err != nil {
		return nil, nil, err
	}
	blocks, ok := d.Take("methods")
	for _, o := range overrides {
		if err := d.Override(o); err != nil {
			return nil, nil, err
		}
	}
	if ok {
		if others, err = mergeMethod(d, blocks); err != nil {
			return nil, nil, err
		}
		for _, o := range overrides { // over what the method has, too
			if err := d.Override(o); err != nil {
				return nil, nil, err
			}
		}
	}
	return d, others, nil
}

// ofDataset are the keys that a dataset is made by, or compared with.
var ofDataset = []string{"problem", "constants", "defaults", "version", "grid", "data", "loss.data", "methods"}

// mergeMethod lays the block of the document's method over the rest.
func mergeMethod(d *config.Document, blocks config.Node) (others []string, err error) {
	method := MoE
	if at, ok := d.Root().Lookup("method"); ok {
		if err := at.Decode(&method); err != nil {
			return nil, err
		}
	}
	if !blocks.IsMapping() {
		return nil, config.Join(blocks.Errorf("methods: want %s, each with keys of the spec that are its own", strings.Join(Methods, ", ")))
	}
	if err := blocks.Unique(); err != nil {
		return nil, err
	}
	for _, key := range blocks.Keys() {
		block, _ := blocks.Lookup(key)
		if !slices.Contains(Methods, key) || !block.IsMapping() {
			return nil, config.Join(block.Errorf("methods.%s: want %s, each with keys of the spec that are its own", key, strings.Join(Methods, ", ")))
		}
		if at, ok := block.Lookup("method"); ok {
			return nil, config.Join(at.Errorf("methods.%s.method: a method has no other", key))
		}
		for _, shared := range ofDataset {
			if at, ok := block.Find(shared); ok {
				return nil, config.Join(at.Errorf("methods.%s.%s: all methods share one dataset, and with it %s", key, shared, shared))
			}
		}
		if err := block.Unique(); err != nil {
			return nil, err
		}
		if key == method {
			d.Merge(block)
		} else {
			others = append(others, key)
		}
	}
	return others, nil
}

// A StatesProblemError is that of a PDE file, which states a problem, in the place of a spec, which names one.
type StatesProblemError struct{ err error }

// Error implements error.
func (e *StatesProblemError) Error() string { return e.err.Error() }

// Unwrap is the mistake in the file.
func (e *StatesProblemError) Unwrap() error { return e.err }

// decodeSpec decodes and validates a spec.
func decodeSpec(name string, d *config.Document) (*Spec, error) {
	if _, spec := d.Root().Lookup("problem"); !spec {
		_, axes := d.Root().Lookup("axes")
		if at, pde := d.Root().Lookup("residual"); axes && pde {
			return nil, &StatesProblemError{config.Join(at.Errorf("this is a PDE file, which states a problem; want a spec, which names one").
				WithHint("`pihc init %[1]s --out DIR` writes one; `pihc check %[1]s` and `pihc solve %[1]s` want none", name))}
		}
	}
	if err := takeConstants(d); err != nil {
		return nil, err
	}
	defaults, err := takeVersion(d)
	if err != nil {
		return nil, err
	}
	if at, ok := d.Root().Lookup("defaults"); ok {
		if err := at.Decode(&defaults); err != nil {
			return nil, err
		}
	}
	s := defaultSpec(defaults)
	if err := d.Decode(&s); err != nil {
		return nil, err
	}
	if s.Rollout == 1 {
		s.Rollout = 0 // as if it were left out
	}
	if s.Network.Matmul == "float32" {
		s.Network.Matmul = ""
	}
	if defaults != paperDefaults {
		s.unset = absent(d.Root())
	}
	if err := s.validate(d); err != nil {
		return nil, err
	}
	return &s, nil
}

// constants are the values of what were keys of specs once. Run folders of then have them written out.
var constants = map[string]any{
	"constraint.initial_damping": initialDamping, "constraint.restart": false, "training.beta1": kernel.Beta1, "training.beta2": kernel.Beta2, "training.epsilon": kernel.Epsilon,
}

// takeConstants takes from a document the keys that have become constants, with an error for another value than that.
func takeConstants(d *config.Document) error {
	for key, want := range constants {
		at, ok := d.Take(key)
		if !ok {
			continue
		}
		got := reflect.New(reflect.TypeOf(want))
		if err := at.Decode(got.Interface()); err != nil {
			return err
		}
		if value := got.Elem().Interface(); value != want {
			return config.Join(at.Errorf("%s: %v: it is %v in all specs, and a key no more", key, value, want))
		}
	}
	return nil
}

// takeVersion takes from a document the key version, 1 or 2, by which specs of old say what the defaults are.
func takeVersion(d *config.Document) (defaults string, err error) {
	at, ok := d.Take("version")
	if !ok {
		return fittedDefaults, nil
	}
	if _, both := d.Root().Lookup("defaults"); both {
		return "", config.Join(at.Errorf("version: `defaults` has taken its place: %s for 1, %s for 2", paperDefaults, fittedDefaults))
	}
	version := 0
	if err := at.Decode(&version); err != nil {
		return "", err
	}
	if version < 1 || version > 2 {
		return "", config.Join(at.Errorf("version %d: this pihc reads versions 1 to 2", version))
	}
	return []string{paperDefaults, fittedDefaults}[version-1], nil
}

// SpecError is err, with a hint, at the place where the spec called name, as OpenSpec reads it, has a dotted key such as
// constants.nu. An unknown constant is a mistake of the key.
func SpecError(name, key string, overrides []string, err error, hint string) error {
	_, src, failed := readSpec(name)
	d, _, bad := parseSpec(name, src, overrides)
	var at config.Position
	if failed == nil && bad == nil {
		at = d.At(key)
	}
	mistake := at.Errorf("%v", err).WithHint("%s", hint)
	if unknown := (*pde.UnknownConstantError)(nil); errors.As(err, &unknown) {
		mistake.OfKey()
	}
	return config.Join(mistake)
}

// ReadStoredSpec reads the spec of a run folder, which has had its Fit. Without a block
// `evaluation`, or `network.centers`, it is older than these have defaults, or has nothing to say there: the run is used
// as it was trained.
func ReadStoredSpec(path string, overrides ...string) (*Spec, error) {
	s, err := OpenSpec(path, overrides...)
	if err != nil {
		return nil, err
	}
	s.unset = slices.DeleteFunc(s.unset, func(key string) bool { return strings.HasPrefix(key, "evaluation.") || key == "network.centers" })
	return s, nil
}
