import { VICTIMS } from '../access/victims.ts'
import { admin, api, createAccount, createKey, env } from '../harness.ts'
import { FakeHost } from '../hosts/fake-host.ts'
import { gpus } from '../hosts/gpus.ts'
import { podScene } from '../pods/pod-scene.ts'
import { run, setUpQueue } from '../queue/queue.ts'
import type { Known } from './answers.ts'

/** The caller, and the ids in the path. */
export interface Caller {
  key: string
  params: Readonly<Record<string, string>>
}

const EVERYWHERE = ''

/** Callers for each kind of resource, each with one resource; created on demand and again when used up. */
export class World {
  readonly #callers = new Map<string, Promise<Caller>>()

  /** A caller who may call an operation, with ids for its path. */
  callerOf(operation: Known): Promise<Caller> {
    const kind = kindOf(operation)
    const known = this.#callers.get(kind)
    if (known) return known
    const made = makeCaller(kind)
    this.#callers.set(kind, made)
    return made
  }

  /** Drops the caller of an operation whose resource or key has ended: the next call gets new ones. */
  renew(operation: Known): void {
    this.#callers.delete(kindOf(operation))
  }
}

function kindOf({ path }: Known): string {
  const surface = path.startsWith('/admin/') ? '/admin/' : EVERYWHERE
  return path.includes('{') ? path.slice(0, path.indexOf('{')) : surface
}

async function makeCaller(kind: string): Promise<Caller> {
  if (kind === EVERYWHERE) return makeOwner()
  if (kind === '/v2/') return makeQueueCaller()
  const victim = VICTIMS[kind]
  if (victim) {
    const { owner, params } = await victim()
    return { key: owner.key, params }
  }
  return kind.startsWith('/admin/') ? { key: env.OPERATOR_KEY, params: await adminParams(kind) } : makeOwner()
}

/** An account that has one of everything that a body can name, and a machine with capacity. */
async function makeOwner(): Promise<Caller> {
  const { account } = await podScene(gpus(64))
  const make = async (path: string, body: object) => (await api(account.key).post(path, body)).body.id
  const params = {
    template: await make('/v2/templates', { name: 'seed', image: 'acme/idle:1' }),
    registry: await make('/v2/registries', { name: 'ghcr', username: 'ada', password: 'secret' }),
    networkVolume: await make('/v2/network-volumes', { name: 'data', size: 10, dataCenter: 'EU-RO-1' }),
    globalVolume: await make('/v2/global-volumes', { name: 'models' }),
  }
  return { key: account.key, params }
}

/** The clock runs, because held calls end by it. */
async function makeQueueCaller(): Promise<Caller> {
  const queue = await setUpQueue()
  const jobId = await run(queue)
  return { key: queue.account.key, params: { endpointId: queue.endpointId, jobId, route: 'v1/models' } }
}

async function adminParams(kind: string): Promise<Record<string, string>> {
  if (kind === '/admin/v1/users/') return { id: (await createAccount()).userId }
  if (kind === '/admin/v1/keys/') return { id: (await createKey((await createAccount()).userId)).id }
  if (kind === '/admin/v1/hosts/') return { id: (await FakeHost.enrol()).id }
  if (kind === '/admin/v1/join-tokens/') return { id: (await admin().post('/admin/v1/join-tokens', {})).body.id }
  return {}
}
