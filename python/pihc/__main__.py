"""python -m pihc is the program pihc."""

import os
import subprocess
import sys

from ._binary import find

if __name__ == "__main__":
    command = [find(), *sys.argv[1:]]
    if os.name == "nt":
        sys.exit(subprocess.call(command))
    os.execv(command[0], command)
