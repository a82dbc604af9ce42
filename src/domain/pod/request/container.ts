import { MAX_REST_BODY_BYTES } from '../../../contract/limits.ts'
import type { CreatePodRequest } from '../../../contract/pods/pods.ts'
import { badRequest, type Refusal } from '../../../contract/problems.ts'
import type { ContainerSpec } from '../../resources/container.ts'
import { decodeArgs, mergeArgs } from '../../resources/container.ts'
import type { PodSpec } from '../record.ts'

/** Default size of a container disk, GB (POD-6). */
export const DEFAULT_POD_DISK_GB = 10
/** Maximum number of ports of one pod: each takes one port of its host. */
const MAX_PORTS = 64
const MAX_PORT = 65_535
/** Lowest of the numbers that request the same port inside and outside (NET-4). */
const MIN_SYMMETRIC_PORT = 70_000
const MAX_SYMMETRIC_PORT = 99_999

/** Fields of a request that describe its container. */
export type ContainerRequest = Pick<CreatePodRequest, 'args' | 'cmd' | 'entrypoint' | 'disk' | 'env' | 'image' | 'ports' | 'registry'>
/** A valid container, or its refusal. */
export type ContainerResult = { ok: true; container: ContainerSpec } | { ok: false; problem: Refusal }

const NOTHING: ContainerSpec = { image: '', args: '', diskGb: DEFAULT_POD_DISK_GB, env: {}, ports: [], registry: null }

/** Container of a create (POD-6, POD-11): the template's, if any, overridden by the body's fields; `env` is merged name by name. */
export function createContainer(body: ContainerRequest, template: ContainerSpec | null): ContainerResult {
  const base = template ?? NOTHING
  return merge({ ...base, env: { ...base.env, ...body.env } }, { ...body, image: body.image || undefined, env: undefined })
}

/**
 * Container after a PATCH (POD-13, STRICT-3). A template's fields are applied before the body's; its `env`, merged with the body's,
 * replaces the pod's.
 */
export function patchContainer(current: ContainerSpec, body: ContainerRequest, template: ContainerSpec | null): ContainerResult {
  if (body.image === '') return { ok: false, problem: badRequest('image cannot be empty') }
  return template ? createContainer(body, template) : merge(current, body)
}

/**
 * Whether the containers of two pods run alike, regardless of the form of their command and of the order of variables and ports (POD-13).
 */
export function runsAlike(a: PodSpec, b: PodSpec): boolean {
  return JSON.stringify(normalized(a)) === JSON.stringify(normalized(b))
}

/** Variables of a pod: its access variables, overridden by the user's own (POD-20, ENV-4). */
export function envOf({ container, accessEnv }: Pick<PodSpec, 'container' | 'accessEnv'>): Record<string, string> {
  return { ...accessEnv, ...container.env }
}

/** 413 when filling a request from a template has made it too large (RATE-6); null otherwise. */
export function refuseSize(body: ContainerRequest, { args, env, ports }: ContainerSpec): Refusal | null {
  const bytes = new TextEncoder().encode(JSON.stringify({ ...body, args, env, ports })).byteLength
  return bytes > MAX_REST_BODY_BYTES ? { key: 'payloadTooLarge' } : null
}

function merge(base: ContainerSpec, body: { [Name in keyof ContainerRequest]: ContainerRequest[Name] | undefined }): ContainerResult {
  const args = mergeArgs(base.args, body)
  if (args === null) return { ok: false, problem: badRequest('args and cmd or entrypoint describe different commands; send one form') }
  const container: ContainerSpec = {
    ...base,
    image: body.image ?? base.image,
    args,
    diskGb: body.disk ?? base.diskGb,
    env: body.env ?? base.env,
    ports: body.ports ?? base.ports,
    registry: body.registry === undefined ? base.registry : body.registry || null,
  }
  const problem = refusePorts(container.ports)
  return problem ? { ok: false, problem } : { ok: true, container }
}

function refusePorts(ports: readonly string[]): Refusal | null {
  if (ports.length > MAX_PORTS) return badRequest(`ports has ${ports.length} items, the most is ${MAX_PORTS}`)
  const index = ports.findIndex((port) => !isPort(Number.parseInt(port, 10)))
  return index < 0 ? null : badRequest(`ports[${index}]: ${ports[index]} is not a port of a container`)
}

function isPort(number: number): boolean {
  return (number >= 1 && number <= MAX_PORT) || (number >= MIN_SYMMETRIC_PORT && number <= MAX_SYMMETRIC_PORT)
}

function normalized(spec: PodSpec) {
  const { args, env: _env, ports, secretGrants: _grants, ...rest } = spec.container
  return { ...rest, command: decodeArgs(args), env: Object.entries(envOf(spec)).toSorted(), ports: ports.toSorted() }
}
