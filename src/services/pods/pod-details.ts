import { openDatabase } from '../../db/client.ts'
import { findPodDetails } from '../../db/pods/pod-details.ts'
import { hasScope } from '../../domain/access.ts'
import { opaqueHostId } from '../../effects/explain-placement.ts'
import type { VerbContext } from '../context.ts'

/** Details of a pod that only older APIs show (GQL-14). */
export interface PodDetail {
  /** User name at the SSH proxy (NET-2). */
  sshUser: string
  /** An opaque name of its host, different for every account. */
  machineId: string
  isInterruptible: boolean
}

/**
 * Returns the details of the account's pods with these ids, by id, in one statement. A pod that the key may neither read nor write is left
 * out.
 */
export async function readPodDetails({ env, principal }: VerbContext, ids: readonly string[]): Promise<Map<string, PodDetail>> {
  const { teamId, scopes } = principal
  const mayKnow = (id: string) => hasScope(scopes, 'pods:read', id) || hasScope(scopes, 'pods:write', id)
  const rows = await findPodDetails(openDatabase(env.DB), teamId, ids.filter(mayKnow))
  const hosts = [...new Set(rows.map(({ hostId }) => hostId))]
  // Bounded: hashes of names, without calls.
  const names = new Map(await Promise.all(hosts.map(async (id) => [id, await opaqueHostId(env, teamId, id)] as const)))
  return new Map(
    rows.map(({ id, hostId, sshSuffix, isInterruptible }) => {
      return [id, { sshUser: `${id}-${sshSuffix}`, machineId: names.get(hostId) ?? '', isInterruptible: isInterruptible === 1 }]
    }),
  )
}
