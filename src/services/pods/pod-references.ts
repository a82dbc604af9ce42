import type { CreatePodRequest, UpdatePodRequest } from '../../contract/pods/pods.ts'
import { openDatabase } from '../../db/client.ts'
import type { ReferenceRefusal } from '../../db/pods/pod-references.ts'
import { findGlobalVolume } from '../../db/resources/global-volumes.ts'
import { findNetworkVolume } from '../../db/resources/network-volumes.ts'
import { findRegistry } from '../../db/resources/registries.ts'
import type { PodReferences } from '../../domain/pod/request/request.ts'
import type { Env } from '../../env.ts'
import { sshKeysOf } from '../accounts/ssh-keys.ts'
import type { Principal } from '../context.ts'
import { findUnknownDataCenter } from '../resources/data-centers.ts'
import { useTemplate } from '../resources/templates.ts'

/** A reference of a pod in messages, by the name of its refusal. */
export const REFERENCE_NAMES: Readonly<Record<ReferenceRefusal, string>> = {
  networkVolume: 'network volume',
  globalVolume: 'global volume',
  registry: 'registry credential',
}

/**
 * Resolves all ids in a create concurrently. A resource of another account counts as missing (AUT-5). Throws 403 for a private template
 * that the key may not read, 404 for a missing one, and 422 for a template of endpoints (POD-9).
 */
export async function loadReferences(env: Env, principal: Principal, body: CreatePodRequest): Promise<PodReferences> {
  const { teamId } = principal
  const [shared, networkVolume, hasGlobalVolume, unknownDataCenter, sshKeys] = await Promise.all([
    loadPatchReferences(env, principal, body),
    findVolume(env, teamId, body.mounts?.network?.[0]?.volumeId),
    isGlobalVolume(env, teamId, body.mounts?.global?.[0]?.volumeId),
    findUnknownDataCenter(env, body.dataCenterIds ?? []),
    // A template may also ask for SSH keys.
    (body.startSsh ?? body.templateId !== undefined) ? sshKeysOf(env, teamId) : [],
  ])
  return { ...shared, networkVolume, hasGlobalVolume, unknownDataCenter, sshKeys }
}

/** Resolves the ids in a PATCH, whose volumes are those that the pod has. Throws the errors of `loadReferences`. */
export async function loadPatchReferences(
  env: Env,
  principal: Principal,
  { templateId, registry }: Pick<UpdatePodRequest, 'templateId' | 'registry'>,
): Promise<PodReferences> {
  const [template, credential] = await Promise.all([
    templateId ? useTemplate(env, principal, templateId, { serverless: false }) : null,
    registry ? findRegistry(openDatabase(env.DB), principal.teamId, registry) : null,
  ])
  return { template, networkVolume: null, hasGlobalVolume: false, hasRegistry: Boolean(credential), unknownDataCenter: null, sshKeys: [] }
}

async function findVolume(env: Env, teamId: string, id: string | undefined): Promise<PodReferences['networkVolume']> {
  return id === undefined ? null : ((await findNetworkVolume(openDatabase(env.DB), teamId, id)) ?? null)
}

async function isGlobalVolume(env: Env, teamId: string, id: string | undefined): Promise<boolean> {
  return id !== undefined && (await findGlobalVolume(openDatabase(env.DB), teamId, id)) !== undefined
}
