import type { ApiClient } from '../../client/client.ts'
import { failureOf } from '../core/failure.ts'
import type { Session } from '../core/session.ts'
import { referencesIn } from './manifest.ts'
import type { Step } from './plan.ts'

/** What a step costs once it is done, where it can be told. */
export interface Price {
  /** USD per hour: of a pod while it runs, of an endpoint with all the workers that it may have. */
  usdPerHour: number | null
  /** What else there is to say, such as that no host has room now. */
  note?: string
}

const DEFAULT_MAX_WORKERS = 3

/** The price of a step, by a dry run or by the catalog (CL-22). */
export async function priceOf(session: Session, step: Step): Promise<Price> {
  if (step.action === 'refuse' || step.kind === 'volumes' || step.kind === 'templates') return { usdPerHour: null }
  try {
    if (step.kind === 'pods') return await priceOfPod(session, step)
    // What it names may only be made by this very deployment.
    const isKnown = step.action === 'create' && referencesIn(step.declared.members).length === 0
    return isKnown ? await priceOfNewEndpoint(session, step) : await priceOfEndpoint(session.api, step.declared.members)
  } catch (error) {
    return { usdPerHour: null, note: `no price: ${failureOf(error).detail}` }
  }
}

async function priceOfPod(session: Session, step: Step): Promise<Price> {
  if (step.action !== 'create' && step.id !== null) {
    const pod = await session.api.getPod({ path: { id: step.id } })
    return { usdPerHour: pod.cost }
  }
  // The members are those of the API, as the schema of the file says; their values are for the plane to judge.
  const body = { ...step.declared.members, name: step.name } as never
  // One operation has two answers; the document names the one that a create is for.
  const answer = (await session.api.createPod({ body, query: { dryRun: true } })) as unknown as {
    fits: boolean
    cost: number
    hosts: { failed: string[] }[]
  }
  if (answer.fits) return { usdPerHour: answer.cost }
  const [nearest] = answer.hosts.toSorted((a, b) => a.failed.length - b.failed.length)
  return { usdPerHour: answer.cost, note: `no host has room now${nearest === undefined ? '' : `: ${nearest.failed.join('; ')}`}` }
}

/** With all its workers, and what keeps the first from starting now (DRY-18). */
async function priceOfNewEndpoint(session: Session, step: Step): Promise<Price> {
  // The members are those of the API, as the schema of the file says; their values are for the plane to judge.
  const body = { ...step.declared.members, name: step.name } as never
  // As that of a pod, it has an answer of its own for a dry run.
  const answer = (await session.api.createEndpoint({ body, query: { dryRun: true } })) as unknown as {
    fits: boolean
    costAtMost: number
    missing: string[]
    options: { summary: string }[]
  }
  if (answer.fits) return { usdPerHour: answer.costAtMost }
  const [option] = answer.options
  const wayOut = option === undefined ? '' : `; what would fit: ${option.summary}`
  return { usdPerHour: answer.costAtMost, note: `no worker would start now: ${answer.missing.join('; ')}${wayOut}` }
}

interface Compute {
  gpu?: { pools?: string[]; count?: number }
  cpu?: { id: string; vcpuCount: number }[]
  workers?: { max?: number }
}

async function priceOfEndpoint(api: ApiClient, members: Compute): Promise<Price> {
  const workers = members.workers?.max ?? DEFAULT_MAX_WORKERS
  const each = members.gpu === undefined ? await priceOfCpu(api, members.cpu ?? []) : await priceOfGpu(api, members.gpu)
  return { usdPerHour: each === null ? null : each * workers }
}

/** Of the dearest type that a worker may get. */
async function priceOfGpu(api: ApiClient, { pools = [], count = 1 }: NonNullable<Compute['gpu']>): Promise<number | null> {
  const { gpus } = await api.listGpuTypes()
  const prices = gpus.flatMap(({ pool, price }) =>
    pool !== null && pools.includes(pool) && price.serverless !== undefined ? [price.serverless] : [],
  )
  return prices.length === 0 ? null : Math.max(...prices) * count
}

async function priceOfCpu(api: ApiClient, options: NonNullable<Compute['cpu']>): Promise<number | null> {
  const { cpus } = await api.listCpuTypes()
  const prices = options.flatMap(({ id, vcpuCount }) =>
    cpus.filter((cpu) => cpu.id === id).map((cpu) => cpu.price.serverlessPerVcpu * vcpuCount),
  )
  return prices.length === 0 ? null : Math.max(...prices)
}
