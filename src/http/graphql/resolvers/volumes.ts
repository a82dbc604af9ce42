import { v1Volume } from '../../../domain/v1/resources.ts'
import { listVolumes } from '../../../services/resources/network-volumes.ts'
import { type Call, once } from '../call.ts'

/** The network volumes of the account, read once a request. */
export function listVolumesOnce(call: Call) {
  return once(call, 'network volumes', async () => (await listVolumes(call.ctx)).map(v1Volume))
}
