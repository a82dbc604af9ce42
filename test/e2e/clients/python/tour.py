"""One round of every operation of a plane over a client that was generated from its document.

Stands beside the package `podplane_client`. Arguments: the plane, a key, the key of somebody else, a data center.
Prints what it saw, and which operations it called, as one line of JSON.
"""

import json
import sys
from datetime import datetime, timedelta, timezone
from uuid import uuid4

url, key, guest_key, data_center = sys.argv[1:]

from client import Plane, holds, make, refused
from podplane_client.models import BillingBucketSize, CatalogInclude, DataCenterInclude, GetRequestSeriesInterval, ListBillingInclude, PodStatus, Product
from podplane_client.types import Unset

GPU = "NVIDIA L4"
POOL = "AMPERE_24"
# Members of clusters are containers; these have no program to run.
IMAGE = "registry.invalid/none:1"
REPOSITORY = "arn:aws:ecr:us-east-1:123456789012:repository/team/models"
SSH_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMvS0Zt9Pi9h8xJzO0Vt4V8mTTVYoTxKxTnCbu2jFQxM ada"


def template(plane):
    made = plane.create_template(body=make("CreateTemplateRequest", name="one", image="builtin/idle", env={"GREETING": "hello"}))
    read = plane.get_template(made.id)
    listed = plane.list_templates().templates
    changed = plane.update_template(made.id, body=make("UpdateTemplateRequest", name="two"))
    plane.delete_template(made.id)
    return [made.name, read.env.to_dict(), holds(listed, made), changed.name, refused(plane.get_template, made.id)]


def network_volume(plane):
    made = plane.create_network_volume(body=make("CreateNetworkVolumeRequest", name="one", size=10, dataCenter=data_center))
    read = plane.get_network_volume(made.id)
    listed = plane.list_network_volumes().network_volumes
    changed = plane.update_network_volume(made.id, body=make("UpdateNetworkVolumeRequest", name="two", size=20))
    plane.delete_network_volume(made.id)
    return [made.name, read.size, holds(listed, made), changed.size, refused(plane.get_network_volume, made.id)]


def global_volume(plane):
    made = plane.create_global_volume(body=make("CreateGlobalVolumeRequest", name="one"))
    read = plane.get_global_volume(made.id)
    listed = plane.list_global_volumes().global_volumes
    changed = plane.update_global_volume(made.id, body=make("UpdateGlobalVolumeRequest", name="two"))
    plane.delete_global_volume(made.id)
    return [made.name, read.name, holds(listed, made), changed.name, refused(plane.get_global_volume, made.id)]


def registry(plane):
    body = make("CreateRegistryRequest", name="one", host="ghcr.io", username="ada", password="secret")
    made = plane.create_registry(body=body)
    read = plane.get_registry(made.id)
    listed = plane.list_registries().registries
    plane.delete_registry(made.id)
    return [made.name, read.host, holds(listed, made), refused(plane.get_registry, made.id)]


def delegation(plane):
    made = plane.create_delegation(body=make("CreateDelegationRequest", resource=REPOSITORY, name="one"))
    before = plane.list_delegations().delegations
    plane.revoke_delegation(made.id)
    after = plane.list_delegations().delegations
    return [made.name, made.repository, holds(before, made), holds(after, made)]


def secret(plane):
    made = plane.create_secret(body=make("CreateSecretRequest", name="ONE", value="secret", description="one"))
    read = plane.get_secret(made.id)
    listed = plane.list_secrets().secrets
    changed = plane.update_secret(made.id, body=make("UpdateSecretRequest", description="two"))
    plane.delete_secret(made.id)
    return [made.name, read.description, holds(listed, made), changed.description, refused(plane.get_secret, made.id)]


def ssh_keys(plane):
    put = plane.put_ssh_keys(body=make("UpdateSshKeysRequest", keys=[SSH_KEY]))
    read = plane.get_ssh_keys()
    emptied = plane.put_ssh_keys(body=make("UpdateSshKeysRequest", keys=[]))
    return [len(put.keys), len(read.keys), len(emptied.keys)]


def pod(plane):
    body = make("CreatePodRequest", name="one", image="builtin/idle", env={"GREETING": "hello"}, gpu={"id": GPU, "count": 1})
    preview = plane.create_pod(body=body, dry_run=True)
    once = str(uuid4())
    made = plane.create_pod(body=body, idempotency_key=once)
    again = plane.create_pod(body=body, idempotency_key=once)
    running = plane.get_pod(made.id, wait_for=PodStatus.RUNNING)
    listed = plane.list_pods(include_cluster_pods=True).pods
    lines = plane.list_pod_log_lines(made.id, q="nowhere")
    changed = plane.update_pod(made.id, body=make("UpdatePodRequest", name="two"))
    why = plane.explain_pod(made.id)
    stopped = plane.act_on_pod(made.id, body=make("PodActionRequest", action="stop"))
    plane.delete_pod(made.id)
    measured = plane.get_pod_metrics(made.id, step=60)
    return {
        "made": [preview.fits, made.name, again.id == made.id],
        "running": [running.status.value, running.gpu.id, running.env.to_dict(), holds(listed, made)],
        "changed": [changed.name, stopped is not None],
        "measured": measured.step,
        "explained": [why.code.value, why.is_stale],
        "lines": [lines.at_end, isinstance(lines.lines, list)],
        "gone": [refused(plane.get_pod, made.id), refused(plane.get_pod_logs, made.id)],
    }


def cluster(plane):
    compute = {"gpuTypeId": GPU, "gpuCountPerPod": 1, "podCount": 2}
    body = make("CreateClusterRequest", name="one", type="TRAINING", image=IMAGE, compute=compute)
    preview = plane.create_cluster(body=body, dry_run=True)
    made = plane.create_cluster(body=body)
    read = plane.get_cluster(made.id)
    listed = plane.list_clusters().clusters
    members = plane.list_cluster_pods(made.id).pods
    plane.explain_cluster(made.id)
    changed = plane.update_cluster(made.id, body=make("UpdateClusterRequest", name="two"))
    plane.delete_cluster(made.id)
    return {
        "made": [preview.fits, made.name, read.type_.value, holds(listed, made)],
        "members": [read.pods.total, [member.name for member in members], [member.cluster.rank for member in members]],
        "changed": changed.name,
        "gone": refused(plane.get_cluster, made.id),
    }


def endpoint(plane):
    body = make("CreateEndpointRequest", name="one", image="builtin/probe", gpu={"pools": [POOL]}, workers={"max": 0})
    made = plane.create_endpoint(body=body)
    read = plane.get_endpoint(made.id)
    listed = plane.list_endpoints(limit=1000).endpoints
    changed = plane.update_endpoint(made.id, body=make("UpdateEndpointRequest", name="two"))
    parts = [
        len(plane.list_endpoint_workers(made.id).workers),
        len(plane.list_endpoint_releases(made.id).releases),
        len(plane.list_endpoint_builds(made.id).builds),
        len(plane.list_scaling_decisions(made.id).to_dict()) > 0,
    ]
    plane.explain_endpoint(made.id)
    before = plane.get_webhook_signing_secret().secret
    rotated = plane.rotate_webhook_signing_secret().secret
    deliveries = plane.list_webhook_deliveries(endpoint_id=made.id).deliveries
    redelivered = refused(plane.redeliver_webhook, "none")
    plane.list_endpoint_log_lines(made.id)
    logs = [refused(plane.get_worker_logs, made.id, "none"), refused(plane.list_worker_log_lines, made.id, "none")]
    timeline = [len(plane.get_endpoint_timeline(made.id, step=60).series), refused(plane.get_worker_metrics, made.id, "none")]
    plane.delete_endpoint(made.id)
    return {
        "timeline": timeline,
        "made": [made.name, read.name, holds(listed, made), changed.name],
        "parts": parts,
        "webhooks": [before == rotated, len(deliveries), redelivered],
        "gone": [refused(plane.get_endpoint, made.id), *logs],
    }


def jobs(plane):
    body = make("CreateEndpointRequest", name="jobs", image="builtin/probe", gpu={"pools": [POOL]}, workers={"max": 1, "idleTimeout": 300})
    at = plane.create_endpoint(body=body).id

    def run(**job_input):
        return plane.run_job(at, body=make("SubmitJobRequest", input=job_input)).id

    def ended(job):
        answers = (plane.await_job(at, job, wait=20_000) for _ in range(10))
        return next(answer for answer in answers if answer.status.value not in ("IN_QUEUE", "IN_PROGRESS"))

    synchronous = plane.run_job_sync(at, body=make("SubmitJobRequest", input={"n": 1}), wait=60_000)
    failing = run(fail="as it should")
    failed = ended(failing)
    retried = plane.retry_job(at, failing)
    failed_again = ended(failing)
    streaming = run(chunks=2)
    ended(streaming)
    streams = [plane.stream_job(at, streaming), plane.stream_job_by_post(at, streaming)]
    statuses = [plane.get_job_status(at, streaming), plane.get_job_status_by_post(at, streaming), plane.await_job_by_post(at, streaming)]
    explained = plane.explain_job(at, streaming)
    plane.get_job_timeline(at, streaming)

    sleeping = run(sleepMs=600_000)
    waiting = plane.run_job(at, body=make("SubmitJobRequest", input={}))
    purged = plane.purge_queue(at)
    cancelled = plane.cancel_job(at, sleeping)
    health = plane.get_queue_health(at)
    requests = plane.list_requests(at).requests
    plane.cancel_jobs(at, body=make("JobBulkRequest", status=["IN_QUEUE"]), dry_run=True)
    again = plane.retry_jobs(at, body=make("JobBulkRequest", ids=["none"]))
    plane.get_job_bulk(at, again.id)
    measured = [plane.get_queue_metrics(at), plane.get_request_series(at, interval=GetRequestSeriesInterval.M)]
    openai = [
        plane.post_openai(at, "v1/chat/completions", body=make("OpenaiBody", model="one", messages=[])),
        plane.call_openai(at, "v1/models"),
        plane.put_openai(at, "v1/models/one", body=make("OpenaiBody")),
        plane.patch_openai(at, "v1/models/one", body=make("OpenaiBody")),
        plane.delete_openai(at, "v1/models/one"),
    ]
    plane.delete_endpoint(at)
    return {
        "ended": [synchronous.status.value, synchronous.output, failed.status.value, failed.error, retried.status.value, failed_again.status.value],
        "streamed": [[len(part.stream) for part in streams], [one.status.value for one in statuses], explained is not None],
        "stopped": [waiting.status.value, purged.removed, cancelled.status.value, health.jobs.failed, len(requests) > 0],
        "measured": all(one is not None for one in measured),
        "openai": [one["input"]["openai_route"] for one in openai],
    }


def user(plane):
    return ["@" in plane.get_user().email, len(plane.get_account_limits().to_dict()) > 0]


def keys(plane):
    made = plane.create_account_key(body=make("CreateKeyRequest", name="one", permission="READ_ONLY"))
    following = plane.rotate_account_key(made.id, body=make("RotateKeyRequest", overlapSeconds=0))

    def find():
        return next(one for one in plane.list_account_keys().keys if one.id == following.id)

    before = find().revoked_at
    plane.revoke_account_key(following.id)
    return [made.name, isinstance(following.key, str), before, isinstance(find().revoked_at, datetime)]


def organization(plane, guest):
    made = plane.create_organization(body=make("CreateOrganizationRequest", name="One"))
    invited = guest.get_user()
    owner = plane.get_user().id

    def invite():
        return plane.create_invitation(made.id, body=make("CreateInvitationRequest", email=invited.email, role="BASIC"))

    guest.decline_invitation(body=make("AnswerInvitationRequest", token=invite().token))
    plane.revoke_invitation(made.id, invite().id)
    token = invite().token
    invitations = plane.list_invitations(made.id).invitations
    joined = guest.accept_invitation(body=make("AnswerInvitationRequest", token=token))
    member = plane.update_organization_member(made.id, invited.id, body=make("UpdateMemberRequest", role="ADMIN"))
    plane.hand_over_organization(made.id, body=make("HandOverRequest", userId=invited.id))
    guest.hand_over_organization(made.id, body=make("HandOverRequest", userId=owner))
    members = plane.get_organization(made.id).members
    plane.remove_organization_member(made.id, invited.id)
    renamed = plane.update_organization(made.id, body=make("UpdateOrganizationRequest", name="Two"))
    listed = plane.list_organizations().organizations
    plane.delete_organization(made.id)
    return {
        "made": [made.name, made.role.value],
        "invited": [len(invitations), joined.role.value, member.role.value, len(members)],
        "renamed": [renamed.name, holds(listed, made)],
        "gone": refused(plane.get_organization, made.id),
    }


def audit(plane):
    entries = plane.list_audit(limit=1).entries
    made = plane.create_template(body=make("CreateTemplateRequest", name="audited", image="builtin/idle"))
    plane.list_events(limit=1)
    state = plane.get_audit_state(resource=made.id, at=datetime.now(timezone.utc) + timedelta(seconds=1))
    plane.delete_template(made.id)
    return [len(entries), state.resource.kind.value]


def catalog(plane):
    gpus = plane.list_gpu_types(include=[CatalogInclude.AVAILABILITY], product=[Product.POD]).gpus
    gpu = plane.get_gpu_type(GPU)
    cpus = plane.list_cpu_types().cpus
    cpu = plane.get_cpu_type("cpu3c")
    places = plane.list_data_centers(include=[DataCenterInclude.GPU_AVAILABILITY]).data_centers
    place = plane.get_data_center(data_center)
    templates = plane.list_public_templates().templates
    return {
        "gpus": [any(one.id == GPU and not isinstance(one.availability, Unset) for one in gpus), gpu.id],
        "cpus": [holds(cpus, cpu), cpu.id],
        "dataCenters": [holds(places, place), place.id],
        "templates": isinstance(templates, list),
    }


def bills(plane):
    asked = {"bucket_size": BillingBucketSize.HOUR, "last_n": 2}
    whole = plane.list_billing(**asked, include=ListBillingInclude.INTERVALS)
    parts = [
        plane.list_pod_billing(**asked),
        plane.list_serverless_billing(**asked),
        plane.list_endpoint_billing(**asked),
        plane.list_network_volume_billing(**asked),
        plane.list_cluster_billing(**asked),
    ]
    return [whole.metadata.query.bucket_size.value, all(len(part.records) == part.metadata.record_count for part in parts)]


def spend(plane):
    before = plane.get_spend_limits()
    changed = plane.update_spend_limits(body=make("UpdateSpendLimitsRequest", perMonth=100))
    limits = plane.get_billing_summary().limits
    now = plane.get_spend()
    after = plane.update_spend_limits(body=make("UpdateSpendLimitsRequest", perMonth=None))
    return [changed.per_month, limits.per_month, after.per_month == before.per_month, now.item_count == len(now.items)]



def stops(plane):
    stop = plane.stop_spend(body=make("StopSpendRequest", ids=["nothing"]))
    listed = plane.list_spend_stops().stops
    undone = plane.undo_spend_stop(stop.id)
    return [len(stop.items), any(one.id == stop.id for one in listed), undone.undone_at is not None]


called = set()
plane = Plane(url, key, called)
guest = Plane(url, guest_key, called)
seen = {
    "template": template(plane),
    "networkVolume": network_volume(plane),
    "globalVolume": global_volume(plane),
    "registry": registry(plane),
    "delegation": delegation(plane),
    "secret": secret(plane),
    "sshKeys": ssh_keys(plane),
    "pod": pod(plane),
    "cluster": cluster(plane),
    "endpoint": endpoint(plane),
    "jobs": jobs(plane),
    "user": user(plane),
    "keys": keys(plane),
    "organization": organization(plane, guest),
    "audit": audit(plane),
    "catalog": catalog(plane),
    "bills": bills(plane),
    "spend": spend(plane),
    "stops": stops(plane),
}
print(json.dumps({"called": sorted(called), "seen": seen}))
