import type { Pod } from '../../../contract/pods/pods.ts'
import { type FlatPod, flatPod } from '../../../domain/graphql/pods.ts'
import { loadCatalog } from '../../../effects/catalog.ts'
import { type PodDetail, readPodDetails } from '../../../services/pods/pod-details.ts'
import { getPod, listPods } from '../../../services/pods/pods.ts'
import { readPages } from '../../pages.ts'
import { batched } from '../batch.ts'
import type { Call, Resolvers } from '../call.ts'
import { orNull } from '../or-null.ts'

/** Pods as they are read (GQL-13 to GQL-15). */
export const POD_RESOLVERS: Resolvers = {
  Query: { pod: (_, { input }, call) => orNull(async () => showPod(call, (await getPod(call.ctx, input?.podId ?? '')).pod)) },
  Pod: {
    machineId: async ({ id }: FlatPod, _, call) => (await detailOf(call, id))?.machineId ?? null,
    podType: async ({ id }: FlatPod, _, call) => {
      const detail = await detailOf(call, id)
      return detail ? (detail.isInterruptible ? 'INTERRUPTABLE' : 'RESERVED') : null
    },
  },
  PodMachineInfo: {
    podHostId: async ({ podId }: FlatPod['machine'], _, call) => (await detailOf(call, podId))?.sshUser ?? null,
  },
}

/** All pods of the account. */
export async function listAllPods({ ctx }: Call): Promise<FlatPod[]> {
  const pods = await readPages(async (cursor) => {
    const page = await listPods(ctx, { limit: 1000, includeClusterPods: false, ...(cursor !== undefined && { cursor }) })
    return { items: page.pods, next: page.pagination.nextCursor }
  })
  const catalog = await loadCatalog(ctx.env)
  return pods.map((pod) => flatPod(pod, catalog))
}

/** One pod. */
export async function showPod({ ctx }: Call, pod: Pod): Promise<FlatPod> {
  return flatPod(pod, await loadCatalog(ctx.env))
}

function detailOf(call: Call, id: string): Promise<PodDetail | undefined> {
  return batched(call, 'pod details', id, (ids) => readPodDetails(call.ctx, ids))
}
