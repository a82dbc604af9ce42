"""One life of a pod and of an endpoint over a client that was generated from the plane's document.

Arguments: the directory of the package `podplane_client`, the plane's URL, a key, the image of the pod, a GPU type.
Prints what it saw as one line of JSON; a model of another name than the document's is told by its name.
"""

import json
import sys

directory, url, key, image, gpu_type = sys.argv[1:]
sys.path.insert(0, directory)

import httpx
from podplane_client import AuthenticatedClient
from podplane_client.api.pods import create_pod, delete_pod, get_pod, list_pods, update_pod
from podplane_client.api.serverless import create_endpoint, delete_endpoint, get_endpoint
from podplane_client.models import (
    CreateEndpointGpuConfig,
    CreateEndpointRequest,
    CreatePodRequest,
    CreatePodRequestEnv,
    PodGpuRequest,
    PodStatus,
    UpdatePodRequest,
)


def kind(value):
    return type(value).__name__


client = AuthenticatedClient(base_url=url, token=key, timeout=httpx.Timeout(60))
body = CreatePodRequest(
    name="generated",
    image=image,
    cmd=["/bin/busybox", "sleep", "600"],
    disk=1,
    env=CreatePodRequestEnv.from_dict({"GREETING": "hello"}),
    gpu=PodGpuRequest(id=gpu_type),
)
preview = create_pod.sync(client=client, body=body, dry_run=True)
refused = create_pod.sync(client=client, body=CreatePodRequest(name="x", image=image, gpu=PodGpuRequest(id="No Such GPU")))
pod = create_pod.sync(client=client, body=body, idempotency_key="generated-1")
running = get_pod.sync(pod.id, client=client, wait_for=PodStatus.RUNNING)
listed = list_pods.sync(client=client, include_cluster_pods=True)
renamed = update_pod.sync(pod.id, client=client, body=UpdatePodRequest(name="renamed"))
deleted = delete_pod.sync_detailed(pod.id, client=client)
gone = get_pod.sync(pod.id, client=client)

endpoint = create_endpoint.sync(
    client=client,
    body=CreateEndpointRequest(name="generated", image="builtin/echo", gpu=CreateEndpointGpuConfig(pools=["ADA_24"])),
)
same = get_endpoint.sync(endpoint.id, client=client)
delete_endpoint.sync_detailed(endpoint.id, client=client)

print(
    json.dumps(
        {
            "preview": [kind(preview), preview.fits],
            "refused": [kind(refused), refused.status, refused.detail],
            "created": [kind(pod), kind(pod.status), pod.name],
            "running": [kind(running), running.status.value, kind(running.gpu), running.gpu.id, running.env.to_dict()],
            "listed": [kind(listed), [one.id for one in listed.pods] == [pod.id]],
            "renamed": [kind(renamed), renamed.name],
            "deleted": deleted.status_code.value,
            "gone": [kind(gone), gone.status],
            "endpoint": [kind(same), same.name, same.request_urls.status.endswith("/status/{job_id}"), kind(same.workers)],
        }
    )
)
