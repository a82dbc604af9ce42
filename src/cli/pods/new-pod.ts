import type { ApiBody } from '../../client/client.ts'
import { PROPOSED } from '../../contract/defaults.ts'
import { given, readBody, readPairs } from '../core/body.ts'
import { EXIT } from '../core/exit-codes.ts'
import { CliError, usage } from '../core/failure.ts'
import type { Session } from '../session/session.ts'
import { waitUsable } from './usable.ts'

/** Flags of `pods create`: sizes of disks in GB, durations in milliseconds. */
export interface NewPodFlags {
  name?: string
  image?: string
  gpu?: string
  gpus?: number
  cpu?: string
  vcpus?: number
  disk?: number
  persistent?: number
  volume?: string
  port?: string[]
  env?: string[]
  label?: string[]
  dataCenter?: string[]
  template?: string
  ssh?: boolean
  stopAfter?: number
  terminateAfter?: number
  idleStop?: number
  body?: string
  dryRun?: boolean
  wait?: boolean
}

/** Creates a pod, or with `--dry-run` prints its placement. */
export async function createPod(session: Session, command: readonly string[], flags: NewPodFlags): Promise<number> {
  const body = bodyOf(flags, command, await readBody(session.io, flags.body), session.io.nowMs())
  if (flags.dryRun) return await preview(session, body)
  const pod = await session.api.createPod({ body })
  if (!flags.wait) {
    session.out.done(pod, pod.id, `pod ${pod.name} is ${pod.status}; podplane pods wait ${pod.id} waits until it is usable`)
    return EXIT.OK
  }
  return await waitUsable(session, pod.id)
}

/** Request body of the flags; flags take precedence over `--body`. Throws a usage error if flags exclude each other. */
export function bodyOf(flags: NewPodFlags, command: readonly string[], body: Record<string, unknown>, nowMs: number): ApiBody<'createPod'> {
  if (flags.gpu !== undefined && flags.cpu !== undefined) throw usage('--gpu and --cpu: a pod has only one of them')
  const members = given({
    name: flags.name ?? (body.name === undefined ? nameOf(flags.image) : undefined),
    image: flags.image,
    gpu: flags.gpu === undefined ? undefined : given({ id: flags.gpu, count: flags.gpus }),
    cpu: flags.cpu === undefined ? undefined : { id: flags.cpu, vcpuCount: flags.vcpus ?? PROPOSED.vcpuCount },
    disk: flags.disk,
    ports: flags.port,
    env: flags.env === undefined ? undefined : readPairs(flags.env, '--env'),
    labels: flags.label === undefined ? undefined : readPairs(flags.label, '--label'),
    dataCenterIds: flags.dataCenter,
    templateId: flags.template,
    startSsh: flags.ssh,
    cmd: command.length === 0 ? undefined : [...command],
    mounts: mountsOf(flags),
    stopAfter: timeAfter(flags.stopAfter, nowMs),
    terminateAfter: timeAfter(flags.terminateAfter, nowMs),
    idleStop: flags.idleStop === undefined ? undefined : { afterSeconds: Math.round(flags.idleStop / 1000) },
  })
  return whole({ ...body, ...members })
}

/** Checks what every pod needs, so that the error names flags rather than API fields. */
function whole(body: Record<string, unknown>): ApiBody<'createPod'> {
  if (body.image === undefined && body.templateId === undefined)
    throw usage('a pod needs --image or --template', 'podplane templates list shows your templates')
  if (body.gpu === undefined && body.cpu === undefined)
    throw usage('a pod needs --gpu or --cpu', 'podplane gpus list and podplane cpus list show the types')
  return body as ApiBody<'createPod'>
}

/** `registry.example.com/team/image:1` becomes `image`. */
function nameOf(image: string | undefined): string {
  const last = image?.split('@')[0]?.split('/').at(-1)?.split(':')[0]
  return last || 'pod'
}

function mountsOf({ persistent, volume }: NewPodFlags): object | undefined {
  if (persistent === undefined && volume === undefined) return undefined
  const [volumeId, path] = volume?.split(/:(.*)/s) ?? []
  if (volume !== undefined && !path) throw usage(`--volume ${volume}: it must be <volume id>:<path>`)
  return given({
    persistent: persistent === undefined ? undefined : { size: persistent, path: PROPOSED.mountPath },
    network: volume === undefined ? undefined : [{ volumeId, path }],
  })
}

function timeAfter(ms: number | undefined, nowMs: number): string | undefined {
  return ms === undefined ? undefined : new Date(nowMs + ms).toISOString()
}

async function preview(session: Session, body: ApiBody<'createPod'>): Promise<number> {
  const answer = await session.api.previewPod({ body })
  session.out.record(answer)
  if (answer.fits) return EXIT.OK
  throw new CliError(EXIT.NO_CAPACITY, 'NO_CAPACITY', `no host has room: ${nearestMiss(answer.hosts)}`)
}

/** Missing requirements of the host that lacks the fewest. */
export function nearestMiss(hosts: readonly { failed: readonly string[] }[]): string {
  const [nearest] = hosts.filter(({ failed }) => failed.length > 0).toSorted((a, b) => a.failed.length - b.failed.length)
  return nearest === undefined ? 'there are no hosts' : nearest.failed.join('; ')
}
