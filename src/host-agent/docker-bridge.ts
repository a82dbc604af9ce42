import { networkInterfaces } from 'node:os'
import type { DockerEngine } from './docker-engine.ts'

/** Where the relay listens for containers, and by which name they reach it. */
export interface BridgeAddress {
  listen: string
  advertise: string
}

/**
 * The bridge's gateway address, when it is an address of this machine. Otherwise the engine runs in a virtual machine
 * (Docker Desktop), which forwards `host.docker.internal` to this machine's loopback.
 */
export async function findBridgeAddress(
  engine: DockerEngine,
  ownAddresses: readonly string[] = listOwnAddresses(),
): Promise<BridgeAddress> {
  const { gateway, subnet } = await engine.bridge()
  const address = [gateway, firstAddress(subnet)].find((candidate) => candidate !== undefined && ownAddresses.includes(candidate))
  return address === undefined ? { listen: '127.0.0.1', advertise: 'host.docker.internal' } : { listen: address, advertise: address }
}

/** By default the gateway is the first address of the subnet, and older engines state only that one. */
export function firstAddress(subnet: string | undefined): string | undefined {
  const [, network, last] = /^(\d+\.\d+\.\d+)\.(\d+)\//.exec(subnet ?? '') ?? []
  return network === undefined ? undefined : `${network}.${Number(last) + 1}`
}

function listOwnAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address))
}
