import type { Overlay } from '../../../host-protocol/overlays.ts'
import { errorText } from '../../../node/fail.ts'
import { readTextFile } from '../../../node/text-file.ts'
import type { Log } from '../../log.ts'
import type { HostOverlays } from '../overlay/host-overlays.ts'
import { NameServer } from './name-server.ts'
import { type ContainerResolvers, containerResolvers, ENGINE_FILE, readResolverFiles } from './resolvers.ts'
import { type Zone, zoneOf } from './zone.ts'

export interface ContainerNamesDeps {
  overlays: Pick<HostOverlays, 'networksOf'>
  /** Address at which containers reach this machine. */
  address: string
  log: Log
}

/** The name server for containers of this machine, and the container settings that refer to it (adr/0059). */
export interface ContainerNames {
  address: string
  port: number
  /** Settings of a container in networks with this domain; undefined: it uses the default name servers. */
  resolversFor(domain: string): ContainerResolvers | undefined
  close(): void
}

/** Opens the name server; undefined when it cannot listen: names are then in `/etc/hosts` only, and the log says so. */
export async function openContainerNames({ overlays, address, log }: ContainerNamesDeps): Promise<ContainerNames | undefined> {
  // An overlay object is the same until the plane's next message, so its zone is built once.
  const zones = new WeakMap<Overlay, Zone | undefined>()
  const zoneOfKnown = (overlay: Overlay) => {
    if (!zones.has(overlay)) zones.set(overlay, zoneOf(overlay))
    return zones.get(overlay)
  }
  const zonesOf = (client: string) => overlays.networksOf(client)?.flatMap((overlay) => zoneOfKnown(overlay) ?? [])
  try {
    const server = await NameServer.open({ address, zonesOf, log })
    log.info('names of private networks are answered to containers', { address, port: server.port })
    return { address, port: server.port, resolversFor, close: () => server.close() }
  } catch (error) {
    log.warn('containers cannot query names of private networks; the names are in /etc/hosts only', { error: errorText(error) })
    return undefined
  }
}

function resolversFor(domain: string): ContainerResolvers | undefined {
  return containerResolvers(domain, readResolverFiles(), readTextFile(ENGINE_FILE))
}
