import { problemOf } from '../../contract/problems.ts'
import { openDatabase } from '../../db/client.ts'
import { findNetworkVolumes } from '../../db/resources/network-volumes.ts'
import type { EndpointConfig } from '../../domain/endpoint/record.ts'
import { placeVolumes } from '../../domain/endpoint/volumes.ts'
import type { VerbContext } from '../context.ts'

/**
 * Returns a configuration with its network volumes resolved (END-20, END-21). A volume of another account counts as missing. Throws 400.
 */
export async function withVolumes(ctx: VerbContext, config: EndpointConfig): Promise<EndpointConfig> {
  const ids = config.networkVolumes
  const found = ids.length === 0 ? [] : await findNetworkVolumes(openDatabase(ctx.env.DB), ctx.principal.teamId, ids)
  const result = placeVolumes(config, found)
  if (!result.ok) throw problemOf(result.problem)
  return result.config
}
