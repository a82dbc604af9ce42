import type { ApiClient } from '../../client/client.ts'
import { failureOf } from '../core/failure.ts'
import type { Session } from '../session/session.ts'
import { referencesIn } from './manifest.ts'
import type { Step } from './plan.ts'

/** Cost of a step's result, where it is known. */
export interface Price {
  /** USD per hour: of a pod while it runs, of an endpoint with its maximum number of workers. */
  usdPerHour: number | null
  /** Further information, such as that no host has capacity now. */
  note?: string
}

const DEFAULT_MAX_WORKERS = 3

/** Price of a step, from a dry run or from the catalog (CMD-22). */
export async function priceOf(session: Session, step: Step): Promise<Price> {
  if (step.action === 'refuse' || step.kind === 'volumes' || step.kind === 'templates') return { usdPerHour: null }
  try {
    if (step.kind === 'pods') return await priceOfPod(session, step)
    // A dry run needs the ids of the referenced resources, which this deploy may still have to create.
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
  // The manifest reader checks the names of the fields; the plane checks their values.
  const body = { ...step.declared.members, name: step.name } as never
  const answer = await session.api.previewPod({ body })
  if (answer.fits) return { usdPerHour: answer.cost }
  const [nearest] = answer.hosts.toSorted((a, b) => a.failed.length - b.failed.length)
  return { usdPerHour: answer.cost, note: `no host has room now${nearest === undefined ? '' : `: ${nearest.failed.join('; ')}`}` }
}

/** Price with the maximum number of workers, and the obstacles that keep the first one from starting now (DRY-18). */
async function priceOfNewEndpoint(session: Session, step: Step): Promise<Price> {
  // The manifest reader checks the names of the fields; the plane checks their values.
  const body = { ...step.declared.members, name: step.name } as never
  const answer = await session.api.previewEndpoint({ body })
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

/** Price of the most expensive GPU type that a worker may get. */
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
