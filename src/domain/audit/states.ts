import { timeOrNull } from '../../contract/timestamps.ts'
import type { EndpointConfig } from '../endpoint/record.ts'
import type { Deadlines } from '../pod/deadlines.ts'
import type { Labels } from '../pod/labels.ts'
import { isToRun, type PodState } from '../pod/pod.ts'
import type { PodSpec } from '../pod/record.ts'
import type { ContainerSpec } from '../resources/container.ts'
import type { TemplateConfig } from '../resources/record.ts'
import { type AuditState, hiddenVariables } from './change.ts'

// The states that the audit log stores: the settings that a resource's owner can change, flat and without secrets.

/** Replaces a variable's value by a digest that shows only which values are equal (AUD-3). */
type Digest = (name: string, value: string) => string

/** The columns of a pod's row that belong to its audited state. */
export type AuditedPod = Pick<PodState, 'status' | 'hostLost' | 'locked'> &
  Deadlines & {
    name: string
    spec: PodSpec
    templateId: string | null
    dataCenterId: string
    labels: Labels
  }

/** A pod's audited state: its configuration and desired state, without the progress of its container. */
export function podState(pod: AuditedPod, digest: Digest): AuditState {
  const { container, compute, cloud, dataCenterIds, mounts, globalNetworking, onHostLoss, idleStop } = pod.spec
  return {
    name: pod.name,
    wanted: isToRun(pod) ? 'RUNNING' : pod.status === 'TERMINATED' ? 'TERMINATED' : 'STOPPED',
    hostLost: pod.hostLost,
    locked: pod.locked,
    ...containerState(container, digest),
    compute,
    cloud,
    dataCenterIds,
    dataCenter: pod.dataCenterId,
    mounts,
    globalNetworking,
    onHostLoss,
    template: pod.templateId,
    stopAfter: timeOrNull(pod.stopAfterMs),
    terminateAfter: timeOrNull(pod.terminateAfterMs),
    idleStopSeconds: idleStop?.afterSeconds ?? null,
    labels: pod.labels,
  }
}

/** A Serverless endpoint's audited state, with its release number. */
export function endpointState(config: EndpointConfig, digest: Digest): AuditState {
  const { id: _id, teamId: _teamId, revision: _revision, createdAt: _createdAt, container, ...settings } = config
  return { ...settings, ...containerState(container, digest) }
}

/** A template's audited state. */
export function templateState(template: TemplateConfig, digest: Digest): AuditState {
  const { id: _id, teamId: _teamId, container, ...settings } = template
  return { ...settings, ...containerState(container, digest) }
}

function containerState({ env, secretGrants: _grants, ...container }: ContainerSpec, digest: Digest): AuditState {
  return { ...container, ...hiddenVariables(env, digest) }
}
