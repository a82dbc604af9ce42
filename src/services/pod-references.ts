import type { CreatePodRequest, UpdatePodRequest } from '../contract/pod.ts'
import { openDatabase } from '../db/client.ts'
import { listHostDataCenters } from '../db/data-centers.ts'
import { findGlobalVolume } from '../db/global-volumes.ts'
import { findNetworkVolume } from '../db/network-volumes.ts'
import { findSeededDataCenter } from '../domain/data-centers.ts'
import type { PodReferences } from '../domain/pod-request.ts'
import type { Env } from '../env.ts'
import { hasRegistry } from './registries.ts'
import { sshKeysOf } from './ssh-keys.ts'
import { findTemplate } from './templates.ts'

/** Looks up everything that the ids of a create stand for, at once. What belongs to another account is not there (AUT-5). */
export async function loadReferences(env: Env, teamId: string, body: CreatePodRequest): Promise<PodReferences> {
  const [shared, networkVolume, hasGlobalVolume, unknownDataCenter, sshKeys] = await Promise.all([
    loadPatchReferences(env, teamId, body),
    findVolume(env, teamId, body.mounts?.network?.[0]?.volumeId),
    isGlobalVolume(env, teamId, body.mounts?.global?.[0]?.volumeId),
    findUnknownDataCenter(env, body.dataCenterIds ?? []),
    // A template may want them too.
    (body.startSsh ?? body.templateId !== undefined) ? sshKeysOf(env, teamId) : [],
  ])
  return { ...shared, networkVolume, hasGlobalVolume, unknownDataCenter, sshKeys }
}

/** The same for a PATCH, whose volumes are those that the pod has. */
export async function loadPatchReferences(
  env: Env,
  teamId: string,
  { templateId, registry }: Pick<UpdatePodRequest, 'templateId' | 'registry'>,
): Promise<PodReferences> {
  const [template, isRegistry] = await Promise.all([
    templateId ? findTemplate(env, teamId, templateId) : null,
    registry ? hasRegistry(env, teamId, registry) : false,
  ])
  return { template, networkVolume: null, hasGlobalVolume: false, hasRegistry: isRegistry, unknownDataCenter: null, sshKeys: [] }
}

async function findVolume(env: Env, teamId: string, id: string | undefined): Promise<PodReferences['networkVolume']> {
  return id === undefined ? null : ((await findNetworkVolume(openDatabase(env.DB), teamId, id)) ?? null)
}

async function isGlobalVolume(env: Env, teamId: string, id: string | undefined): Promise<boolean> {
  return id !== undefined && (await findGlobalVolume(openDatabase(env.DB), teamId, id)) !== undefined
}

async function findUnknownDataCenter(env: Env, ids: readonly string[]): Promise<string | null> {
  const others = ids.filter((id) => findSeededDataCenter(id) === undefined)
  if (others.length === 0) return null
  const joined = new Set(await listHostDataCenters(openDatabase(env.DB)))
  return others.find((id) => !joined.has(id)) ?? null
}
