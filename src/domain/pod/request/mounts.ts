import type { PodMountsRequest, PodMountsView } from '../../../contract/pods/mounts.ts'
import { badRequest, type Refusal } from '../../../contract/problems.ts'
import type { PodMounts } from '../record.ts'

/** Default mount path of a global volume (MNT-3). */
const DEFAULT_GLOBAL_PATH = '/workspace-global'

/** Valid mounts, or their refusal. */
export type MountsResult = { ok: true; mounts: PodMounts } | { ok: false; problem: Refusal }

/** Mounts that a create requests (MNT-1, MNT-3, MNT-5), or why they are refused. An empty list requests none. */
export function createMounts(asked: PodMountsRequest, isCpuPod: boolean): MountsResult {
  const problem = refuseCombination(asked) ?? (isCpuPod && asked.persistent ? CPU_REFUSAL : null)
  if (problem) return { ok: false, problem }
  const [network] = asked.network ?? []
  const [global] = asked.global ?? []
  return withPathsChecked({
    ...(asked.persistent && { persistent: { sizeGb: asked.persistent.size, path: asked.persistent.path } }),
    ...(network && { network }),
    ...(global && { global: { volumeId: global.volumeId, path: global.path ?? DEFAULT_GLOBAL_PATH } }),
  })
}

/** Mounts after a PATCH (MNT-4, MNT-5): absent kinds stay; kinds and volumes are fixed. */
export function patchMounts(current: PodMounts, asked: PodMountsRequest): MountsResult {
  const problem = refuseCombination(asked) ?? refuseClearing(asked) ?? refuseNewKind(current, asked) ?? refuseOther(current, asked)
  if (problem) return { ok: false, problem }
  const { persistent, network: [network] = [], global: [global] = [] } = asked
  return withPathsChecked({
    ...current,
    ...(persistent && { persistent: { sizeGb: persistent.size, path: persistent.path } }),
    ...(network && { network }),
    ...(global && { global: { volumeId: global.volumeId, path: global.path ?? current.global?.path ?? DEFAULT_GLOBAL_PATH } }),
  })
}

/** Whether two sets of mounts have the same paths. Other paths require a new container; a grown volume does not. */
export function sameMountPaths(a: PodMounts, b: PodMounts): boolean {
  return KINDS.every((kind) => a[kind]?.path === b[kind]?.path)
}

/** Mounts as REST shows them. */
export function mountsView({ persistent, network, global }: PodMounts): PodMountsView {
  return {
    ...(persistent && { persistent: { size: persistent.sizeGb, path: persistent.path } }),
    ...(network && { network: [network] }),
    ...(global && { global: [global] }),
  }
}

const KINDS = ['persistent', 'network', 'global'] as const
const CPU_REFUSAL = badRequest('mounts.persistent is invalid when cpu is set')

function refuseCombination({ persistent, network = [], global = [] }: PodMountsRequest): Refusal | null {
  if (!persistent) return null
  if (network.length > 0) return badRequest('mounts.persistent and mounts.network exclude each other')
  return global.length > 0 ? badRequest('mounts.persistent and mounts.global exclude each other') : null
}

function refuseClearing({ network, global }: PodMountsRequest): Refusal | null {
  if (network?.length === 0) return badRequest('mounts.network cannot be empty: mounts cannot be cleared')
  return global?.length === 0 ? badRequest('mounts.global cannot be empty: mounts cannot be cleared') : null
}

function refuseNewKind(current: PodMounts, asked: PodMountsRequest): Refusal | null {
  const added = KINDS.find((kind) => asked[kind] !== undefined && current[kind] === undefined)
  return added ? badRequest(`mounts.${added} cannot be added: the kinds of mounts are fixed at create`) : null
}

function refuseOther(current: PodMounts, { persistent, network, global }: PodMountsRequest): Refusal | null {
  for (const [kind, entry] of [['network', network?.[0]] as const, ['global', global?.[0]] as const]) {
    if (entry && entry.volumeId !== current[kind]?.volumeId) {
      return badRequest(`mounts.${kind}[0].volumeId cannot change: volumes are fixed at create`)
    }
  }
  const sizeGb = current.persistent?.sizeGb ?? 0
  return persistent && persistent.size < sizeGb
    ? badRequest(`mounts.persistent.size ${persistent.size} is below ${sizeGb}: it can only grow`)
    : null
}

function withPathsChecked(mounts: PodMounts): MountsResult {
  const seen = new Map<string, string>()
  for (const kind of KINDS) {
    const path = mounts[kind]?.path
    if (path === undefined) continue
    const place = resolvePath(path)
    const other = seen.get(place)
    if (place === '/') return { ok: false, problem: badRequest(`mounts.${kind}: nothing can be mounted at ${path}`) }
    if (other) return { ok: false, problem: badRequest(`mounts.${other} and mounts.${kind} share the path ${path}`) }
    seen.set(place, kind)
  }
  return { ok: true, mounts }
}

/** Normalizes a path: `/a`, `/a/` and `/b/../a` are the same. */
function resolvePath(path: string): string {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return `/${parts.join('/')}`
}
