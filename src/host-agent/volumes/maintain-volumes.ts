import type { VolumesRequest, VolumesResponse } from '../../host-protocol/volumes.ts'
import type { Log } from '../log.ts'
import { BucketRoot } from './bucket-root.ts'
import { VolumeExchange } from './exchange.ts'
import { VolumeMeter } from './measure.ts'
import type { SharedStorage } from './volume-flags.ts'
import type { VolumeHome } from './volume-home.ts'
import { VolumeRoot } from './volume-root.ts'
import type { VolumeSizes } from './volume-sizes.ts'

export interface MaintainVolumesDeps {
  options: SharedStorage & { stateDir: string }
  send(request: VolumesRequest): Promise<VolumesResponse | undefined>
  inUse(): ReadonlySet<string> | undefined
  sizes: VolumeSizes | undefined
  log: Log
}

/** Measures the shared volumes that this host can access and wipes deleted ones; undefined: it has none. */
export function maintainVolumes({ options, send, inUse, sizes, log }: MaintainVolumesDeps): { close(): void } | undefined {
  const { networkVolumes, globalVolumes, stateDir } = options
  const roots: VolumeHome[] = []
  // The agent cannot access volumes that the container engine mounts itself.
  if (typeof networkVolumes === 'string') roots.push(new VolumeRoot({ kind: 'network', path: networkVolumes, stateDir, log }))
  if (typeof globalVolumes === 'string') roots.push(new VolumeRoot({ kind: 'global', path: globalVolumes, stateDir, log }))
  else if (globalVolumes !== undefined) roots.push(new BucketRoot(globalVolumes, log))
  if (roots.length === 0) return undefined
  const meter = new VolumeMeter(roots, (root, id) => sizes?.counted(root.kind, id) ?? Promise.resolve(undefined))
  const exchange = new VolumeExchange({
    roots,
    meter,
    send,
    inUse,
    log,
    async held() {
      if (sizes?.enforced().includes('network') !== true) return []
      return (await roots.find(({ kind }) => kind === 'network')?.list()) ?? []
    },
    async onSizes(received) {
      for (const { id, sizeGb } of received) await sizes?.resize('network', id, sizeGb)
    },
  })
  meter.start()
  exchange.start()
  return {
    close() {
      meter.close()
      exchange.close()
    },
  }
}
