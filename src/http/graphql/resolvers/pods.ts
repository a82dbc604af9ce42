import { Problem } from '../../../contract/problems.ts'
import { type FlatPod, flatPod } from '../../../domain/graphql/pods.ts'
import { loadCatalog } from '../../../effects/catalog.ts'
import { type PodDetail, readPodDetails } from '../../../services/pods/pod-details.ts'
import { getPod, listPods } from '../../../services/pods/pods.ts'
import { readPages } from '../../pages.ts'
import type { Call, Resolvers } from '../call.ts'

/** Pods as they are read (GQL-13 to GQL-15). */
export const POD_RESOLVERS: Resolvers = {
  Query: { pod: (_, { input }, call) => orNull(async () => showPod(call, (await getPod(call.ctx, input?.podId ?? '')).pod)) },
  Pod: {
    machineId: async ({ id }: FlatPod, _, call) => (await detailOf(call, id))?.machineId ?? null,
    podType: async ({ id }: FlatPod, _, call) => ((await detailOf(call, id))?.isInterruptible ? 'INTERRUPTABLE' : 'RESERVED'),
  },
  PodMachineInfo: {
    podHostId: async ({ podId }: FlatPod['machine'], _, call) => (await detailOf(call, podId))?.sshUser ?? null,
  },
}

/** All pods of the account. */
export async function listAllPods(call: Call): Promise<FlatPod[]> {
  const [catalog, pods] = await Promise.all([
    loadCatalog(call.ctx.env),
    readPages(async (cursor) => {
      const page = await listPods(call.ctx, { limit: 1000, includeClusterPods: false, ...(cursor !== undefined && { cursor }) })
      return { items: page.pods, next: page.pagination.nextCursor }
    }),
  ])
  return pods.map((pod) => flatPod(pod, catalog))
}

/** One pod. */
export async function showPod({ ctx }: Call, pod: Parameters<typeof flatPod>[0]): Promise<FlatPod> {
  return flatPod(pod, await loadCatalog(ctx.env))
}

/** What is not there is null in a query (GQL-8). */
export async function orNull<Found>(read: () => Promise<Found>): Promise<Found | null> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof Problem && error.key === 'notFound') return null
    throw error
  }
}

/** Details of a pod, read together with those of every other pod that is asked for in the same breath (GQL-30). */
async function detailOf(call: Call, id: string): Promise<PodDetail | undefined> {
  const batch = await gather(call, id)
  return batch.get(id)
}

const gathering = new WeakMap<Call, { ids: Set<string>; read: Promise<Map<string, PodDetail>> }>()

function gather(call: Call, id: string): Promise<Map<string, PodDetail>> {
  const open = gathering.get(call)
  if (open) {
    open.ids.add(id)
    return open.read
  }
  const ids = new Set([id])
  const read = (async () => {
    // The resolvers of a list run one after another before anything that they wait for.
    await Promise.resolve()
    gathering.delete(call)
    return readPodDetails(call.ctx, [...ids])
  })()
  gathering.set(call, { ids, read })
  return read
}
