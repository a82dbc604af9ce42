import type { ApiBody } from '../../client/client.ts'
import { PROPOSED } from '../../contract/defaults.ts'
import { given, readBody, readPairs } from '../core/body.ts'
import { usage } from '../core/failure.ts'
import type { Session } from '../session/session.ts'
import { untilDone } from '../session/wait.ts'

/** Flags of `endpoints create`. */
export interface NewEndpointFlags {
  name?: string
  image?: string
  gpu?: string[]
  gpus?: number
  cpu?: string
  vcpus?: number
  min?: number
  max?: number
  env?: string[]
  template?: string
  body?: string
  wait?: boolean
}

/** Creates an endpoint; with `--wait`, waits until it is ready if its minimum number of workers is above 0. */
export async function createEndpoint(session: Session, flags: NewEndpointFlags): Promise<void> {
  const body = bodyOf(flags, await readBody(session.io, flags.body))
  const endpoint = await session.api.createEndpoint({ body })
  if (flags.wait && endpoint.workers.min > 0) await waitReady(session, endpoint.id)
  session.out.done(endpoint, endpoint.id, `endpoint ${endpoint.name} is created; podplane run ${endpoint.id} '{…}' sends it a job`)
}

function bodyOf(flags: NewEndpointFlags, body: Record<string, unknown>): ApiBody<'createEndpoint'> {
  if (flags.gpu !== undefined && flags.cpu !== undefined) throw usage('--gpu and --cpu: an endpoint has only one of them')
  const image = flags.image?.split('@')[0]?.split('/').at(-1)?.split(':')[0]
  const members = given({
    name: flags.name ?? (body.name === undefined ? image : undefined),
    image: flags.image,
    gpu: flags.gpu === undefined ? undefined : given({ pools: flags.gpu, count: flags.gpus }),
    cpu: flags.cpu === undefined ? undefined : [{ id: flags.cpu, vcpuCount: flags.vcpus ?? PROPOSED.vcpuCount }],
    workers: flags.min === undefined && flags.max === undefined ? undefined : given({ min: flags.min, max: flags.max }),
    env: flags.env === undefined ? undefined : readPairs(flags.env, '--env'),
    templateId: flags.template,
  })
  return { ...body, ...members } as ApiBody<'createEndpoint'>
}

/** Waits until an endpoint has a worker that can take jobs (CMD-4). */
export async function waitReady(session: Session, id: string): Promise<void> {
  await untilDone(session, `endpoint ${id}`, async () => {
    const { workers } = await session.api.listEndpointWorkers({ path: { id } })
    const ready = workers.find(({ status }) => status === 'IDLE' || status === 'RUNNING')
    if (ready !== undefined) return { done: ready }
    const [first] = workers
    if (first === undefined) return { why: 'no worker yet' }
    return { why: `worker ${first.id} is ${first.status}${first.reason === null ? '' : `: ${first.reason}`}` }
  })
}
