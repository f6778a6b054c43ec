package dist

import (
	"fmt"
	"strconv"
)

// A Launch is what the launcher of this process says about it.
type Launch struct {
	Launcher   string // "mpirun (Open MPI)", "srun", ...
	Rank, Size int
	// Of the MPI library that was joined: its absolute path, or the name that the system's loader found it by; the SHA-256
	// of the file, hexadecimal, "" if it could not be read; the version in the library's words, one line.
	Library, SHA256, Version string

	libraries []string
}

// launchers are recognised by variables that they set for each process of a
// step, not by those that a batch script has already: sbatch sets SLURM_NTASKS and
// SLURM_PROCID, srun alone SLURM_STEP_NUM_TASKS.
//
// libraries are tried in this order, by the names that the system's loader knows:
// the ABI of MPI 5, Open MPI, the MPICH family (MPICH, Intel MPI, Cray).
var launchers = []struct {
	name, rank, size string
	libraries        []string
}{
	{"mpirun (Open MPI)", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", []string{"libmpi.so.40", "libmpi_abi.so.1", "libmpi.40.dylib"}},
	{"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", []string{"libmpi_abi.so.1", "libmpi.so.40", "libmpi.so.12", "libmpich.so.12"}},
	{"mpiexec (PMI)", "PMI_RANK", "PMI_SIZE", []string{"libmpi_abi.so.1", "libmpi.so.12", "libmpich.so.12", "libmpi.12.dylib"}},
}

// Detect tells how this process was started, from its environment; nil without
// a launcher. It is an error if a launcher's variables are no numbers.
func Detect(getenv func(string) string) (*Launch, error) {
	for _, l := range launchers {
		if getenv(l.rank) == "" || getenv(l.size) == "" {
			continue
		}
		launch := &Launch{Launcher: l.name, libraries: l.libraries}
		for _, v := range []struct {
			name string
			to   *int
		}{{l.rank, &launch.Rank}, {l.size, &launch.Size}} {
			var err error
			if *v.to, err = strconv.Atoi(getenv(v.name)); err != nil {
				return nil, fmt.Errorf("%s=%s, set by %s, is not a number", v.name, getenv(v.name), l.name)
			}
		}
		if launch.Size < 1 || launch.Rank < 0 || launch.Rank >= launch.Size {
			return nil, fmt.Errorf("%s=%d and %s=%d, set by %s, name no rank", l.rank, launch.Rank, l.size, launch.Size, l.name)
		}
		return launch, nil
	}
	return nil, nil
}

// off, given to Join in the place of a path, keeps a process alone.
const off = "off"

// Join joins the ranks that a launcher started, by the MPI library at path ("":
// the usual names, in the system's search path). Without a launcher, with one of
// a single rank, or with Off, the process is alone; the Launch is nil without a
// launcher. A launcher without a library, and a library that counts other ranks
// than the launcher does, are errors: each process would do the whole work.
func Join(path string, getenv func(string) string) (Comm, *Launch, error) {
	if path == off {
		return Alone{}, nil, nil
	}
	launch, err := Detect(getenv)
	if err != nil || launch == nil || launch.Size == 1 {
		return Alone{}, launch, err
	}
	if path != "" {
		launch.libraries = []string{path}
	}
	comm, err := openMPI(launch)
	if err != nil {
		return nil, launch, fmt.Errorf("%s started %d ranks, but they cannot be joined: %w", launch.Launcher, launch.Size, err)
	}
	if comm.Size() != launch.Size || comm.Rank() != launch.Rank {
		err := fmt.Errorf("%s says rank %d of %d, the library %s says rank %d of %d: it belongs to another launcher; name the right one with --mpi PATH",
			launch.Launcher, launch.Rank, launch.Size, launch.Library, comm.Rank(), comm.Size())
		return nil, launch, err
	}
	return comm, launch, nil
}
