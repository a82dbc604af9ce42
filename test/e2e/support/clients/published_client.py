"""Calls a published client, unmodified: one JSON request a line in, one JSON reply a line out.

The argument names the client. PLANE and RUNPOD_API_KEY are the address of the plane and the key of the calls."""

import json
import os
import sys
from operator import attrgetter

PLANE = os.environ["PLANE"]


def runpod_sdk():
    """The Python SDK, which finds its plane in RUNPOD_API_BASE_URL."""
    import runpod

    runpod.api_key = os.environ["RUNPOD_API_KEY"]
    return runpod


def dstack():
    """dstack's client of pods. Its addresses are constants, which alone are replaced here."""
    from dstack._internal.core.backends.runpod import api_client

    api_client.API_GRAPHQL_URL = f"{PLANE}/graphql"
    api_client.API_V2_URL = f"{PLANE}/v2"
    return api_client.RunpodApiClient(os.environ["RUNPOD_API_KEY"])


class Catalog:
    """dstack's catalog, restricted to one data center."""

    def offers(self, data_center, gpus):
        from gpuhunt.providers import runpod as catalog

        catalog.API_URL = f"{PLANE}/graphql"
        provider = catalog.RunpodProvider()
        asked = [
            one
            for one in provider._build_query_variables()
            if one["lowestPriceInput"].get("dataCenterId") == data_center and one["lowestPriceInput"]["gpuCount"] == gpus
        ]
        found = [offer for one in asked for pod in provider._get_pods(one) for offer in provider._make_offers(one, pod)]
        cpus = provider._make_cpu_offers(data_center, provider._get_cpu_flavors(data_center))
        return [[offer.instance_name, offer.location, offer.price, offer.gpu_count, offer.cpu, offer.memory] for offer in found + cpus]


CLIENTS = {"runpod": runpod_sdk, "dstack": dstack, "gpuhunt": Catalog}

replies = sys.stdout
sys.stdout = sys.stderr
client = CLIENTS[sys.argv[1]]()
for line in sys.stdin:
    request = json.loads(line)
    try:
        reply = {"result": attrgetter(request["call"])(client)(*request["args"], **request["named"])}
    except Exception as error:
        reply = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(reply), file=replies, flush=True)
