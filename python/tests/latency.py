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
    ask, seconds, times = run._server.ask, [], []

    def noting(*args):
        answer, arrays = ask(*args)
        seconds.append(answer["seconds"])
        return answer, arrays

    run._server.ask = noting
    for _ in range(calls):
        began = time.perf_counter()
        u = run(u0)
        times.append(time.perf_counter() - began)
    run.close()
over = sorted(whole - own for whole, own in zip(times, seconds))
print(f"{calls} predictions (101 x 128) as {type(u).__module__.split('.')[0]}: over the prediction itself best {1e3 * over[0]:.2f} ms, median {1e3 * over[calls // 2]:.2f} ms,", end=" ")
print(f"worst {1e3 * over[-1]:.2f} ms; a call best {1e3 * min(times):.1f} ms, median {1e3 * sorted(times)[calls // 2]:.1f} ms")
