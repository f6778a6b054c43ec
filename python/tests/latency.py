"""The time of predictions of the demo's size beside what the process reports of the prediction itself: python latency.py [CALLS [RUN]]

Without RUN the demo is trained for two steps: its time of prediction does not depend on how well it is trained.
"""

import sys
import tempfile
import time
import warnings

import numpy as np

import pihc

warnings.simplefilter("ignore", pihc.Warning)
calls = int(sys.argv[1]) if len(sys.argv) > 1 else 50
with tempfile.TemporaryDirectory() as folder:
    if len(sys.argv) > 2:
        run = pihc.open(sys.argv[2])
    else:
        few = {"data.train.count": 4, "data.validation.count": 2, "data.test.count": 2}
        data = pihc.generate("diffusion-sorption-demo", folder + "/data", set=few)
        run = pihc.train("diffusion-sorption-demo", folder + "/moe", data=data, method="moe", set={**few, "training.steps": 2, "training.validate_count": 2})
    u0 = np.full((1, 128), 0.1)
    run.predict(u0)
    times = []
    for _ in range(calls):
        began = time.perf_counter()
        answer, arrays = run._server.ask("predict", [], {"u0": u0})
        pipe = time.perf_counter() - began
        began = time.perf_counter()
        run.predict(u0)
        times.append((pipe - answer["seconds"], time.perf_counter() - began))
    run.close()
over, whole = (sorted(t) for t in zip(*times))
print(f"{calls} predictions (101 x 128): over the prediction itself best {1e3 * over[0]:.2f} ms, median {1e3 * over[calls // 2]:.2f} ms;", end=" ")
print(f"predict() best {1e3 * whole[0]:.1f} ms, median {1e3 * whole[calls // 2]:.1f} ms")
