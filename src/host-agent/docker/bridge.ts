import { createServer } from 'node:net'
import type { DockerEngine } from '../engine/engine.ts'

/** Address on which the relay listens for containers, and the name under which they reach it. */
export interface BridgeAddress {
  listen: string
  advertise: string
}

/**
 * Returns the gateway address of the bridge when it is an address of this machine. Otherwise the engine runs in a virtual machine (Docker
 * Desktop), which forwards `host.docker.internal` to this machine's loopback.
 */
export async function findBridgeAddress(
  engine: DockerEngine,
  isOwn: (address: string) => Promise<boolean> = canListenOn,
): Promise<BridgeAddress> {
  const { gateway, subnet } = await engine.bridge()
  for (const address of [gateway, firstAddress(subnet)]) {
    if (address !== undefined && address !== '' && (await isOwn(address))) return { listen: address, advertise: address }
  }
  return { listen: '127.0.0.1', advertise: 'host.docker.internal' }
}

/** First host address of a subnet, the default gateway; older engines state only the subnet. */
export function firstAddress(subnet: string | undefined): string | undefined {
  const [, network, last] = /^(\d+\.\d+\.\d+)\.(\d+)\//.exec(subnet ?? '') ?? []
  return network === undefined ? undefined : `${network}.${Number(last) + 1}`
}

/** Tries to listen: the list of interfaces lacks the bridge for as long as no container is connected to it. */
function canListenOn(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(0, address, () => server.close(() => resolve(true)))
  })
}
