"""A generator handler; AGGREGATE=1 returns the chunks as the job's output, `fail_after` raises in the middle."""

import os
import time

import runpod


def handler(job):
    wish = job["input"]
    for number in range(wish["chunks"]):
        if number == wish.get("fail_after"):
            raise RuntimeError("the generator broke")
        yield {"chunk": number}
        time.sleep(wish.get("pause", 0))


runpod.serverless.start({"handler": handler, "return_aggregate_stream": os.environ.get("AGGREGATE") == "1"})
