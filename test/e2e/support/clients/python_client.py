"""Drives the public Python client. One JSON request a line in, one JSON reply a line out.

RUNPOD_ENDPOINT_BASE_URL and RUNPOD_API_BASE_URL are the addresses of the plane."""

import json
import sys

import runpod


def perform(request):
    if request["call"] == "terminate_pod":
        runpod.api_key = request["key"]
        return runpod.terminate_pod(request["pod"])
    endpoint = runpod.Endpoint(request["endpoint"], api_key=request["key"])
    call, job_input = request["call"], request.get("input")
    if call == "run_sync":
        return endpoint.run_sync({"input": job_input}, timeout=60)
    if call == "health":
        return endpoint.health()
    if call == "purge_queue":
        return endpoint.purge_queue()
    if call == "run":
        job = endpoint.run({"input": job_input})
        return {"id": job.job_id, "status": job.status()}
    job = runpod.endpoint.runner.Job(request["endpoint"], request["job"], endpoint.rp_client)
    if call == "status":
        return job.status()
    if call == "output":
        return job.output(timeout=60)
    if call == "stream":
        return list(job.stream())
    if call == "cancel":
        return job.cancel()
    raise ValueError(f"unknown call {call!r}")


replies = sys.stdout
sys.stdout = sys.stderr
for line in sys.stdin:
    try:
        reply = {"result": perform(json.loads(line))}
    except Exception as error:
        reply = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(reply), file=replies, flush=True)
