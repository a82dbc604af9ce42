import type { Pod } from '../../../contract/pods/pods.ts'
import { hasScope } from '../../../domain/access.ts'
import { type FlatPod, flatPod, flatWorker } from '../../../domain/graphql/pods.ts'
import { loadCatalog } from '../../../effects/catalog.ts'
import { mapInPieces } from '../../../platform/yield-thread.ts'
import { findWorker } from '../../../services/endpoints/endpoint-workers.ts'
import { type PodDetail, readPodDetails } from '../../../services/pods/pod-details.ts'
import { getPod, listPods } from '../../../services/pods/pods.ts'
import { readPages } from '../../pages.ts'
import { batched } from '../batch.ts'
import type { Call, Resolvers } from '../call.ts'
import { orNull } from '../or-null.ts'

/** Pods that are converted in one step; a step takes a few milliseconds. */
const AT_ONCE = 100

/** Queries of pods (GQL-13 to GQL-15). */
export const POD_RESOLVERS: Resolvers = {
  Query: {
    pod: async (_, { input }, call) => {
      const id = input?.podId ?? ''
      return (await orNull(async () => showPod(call, (await getPod(call.ctx, id)).pod))) ?? showWorker(call, id)
    },
  },
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
  return mapInPieces(pods, AT_ONCE, (pod) => flatPod(pod, catalog))
}

/** Converts one pod. */
export async function showPod({ ctx }: Call, pod: Pod): Promise<FlatPod> {
  return flatPod(pod, await loadCatalog(ctx.env))
}

/**
 * Returns a worker of an endpoint as a pod, because status pages look it up by its pod id (GQL-76); null for a caller without
 * `serverless:read`.
 */
async function showWorker({ ctx }: Call, id: string): Promise<FlatPod | null> {
  if (!hasScope(ctx.principal.scopes, 'serverless:read')) return null
  const found = await orNull(() => findWorker(ctx, id))
  return found && flatWorker(found.worker, found.endpoint, await loadCatalog(ctx.env))
}

function detailOf(call: Call, id: string): Promise<PodDetail | undefined> {
  return batched(call, 'pod details', id, (ids) => readPodDetails(call.ctx, ids))
}
