import { HOST_STATUSES } from '../contract/enums.ts'
import type { HostVerdict } from '../contract/jobs/explain.ts'
import { openDatabase } from '../db/client.ts'
import { listPlacementHosts } from '../db/hosts/placement-hosts.ts'
import type { EndpointConfig } from '../domain/endpoint/record.ts'
import { describeConstraint } from '../domain/host/constraint-text.ts'
import { judgeHosts } from '../domain/host/placement.ts'
import { placementRequestOf } from '../domain/worker/shape.ts'
import type { Env } from '../env.ts'
import { keyedDigest } from '../platform/crypto.ts'
import { masterSecrets } from '../platform/seal.ts'
import { loadCatalog } from './catalog.ts'

/** Maximum number of hosts in one explanation, nearest miss first. */
const MAX_HOSTS = 50
const OPAQUE_ID_LENGTH = 16

/**
 * Returns which hosts could take a worker of an endpoint at present, and what the others lack (HLT-6, WHY-21). Offline hosts are listed as
 * such.
 */
export async function explainPlacement(env: Env, config: EndpointConfig): Promise<HostVerdict[]> {
  const [hosts, catalog] = await Promise.all([listPlacementHosts(openDatabase(env.DB), HOST_STATUSES), loadCatalog(env)])
  const decisions = judgeHosts(placementRequestOf(catalog, config), hosts, MAX_HOSTS)
  // Bounded: hashes of `MAX_HOSTS` names, without calls.
  return Promise.all(
    decisions.map(async ({ hostId, failed }) => ({
      hostId: await opaqueHostId(env, config.teamId, hostId),
      fits: failed.length === 0,
      failed: failed.map(describeConstraint),
    })),
  )
}

/** Returns an opaque name of a host: constant for one team, different for every other team. */
export async function opaqueHostId(env: Env, teamId: string, hostId: string): Promise<string> {
  return `host_${(await keyedDigest(masterSecrets(env)[0], `host\n${teamId}\n${hostId}`)).slice(0, OPAQUE_ID_LENGTH)}`
}
