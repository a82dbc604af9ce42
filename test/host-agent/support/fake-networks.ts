import type { DockerEngine } from '../../../src/host-agent/docker/engine.ts'
import type { EngineNetwork, NetworkCalls, NewNetwork } from '../../../src/host-agent/network/engine-networks.ts'

/** The networks of an engine. */
export class FakeNetworks implements NetworkCalls {
  readonly networks = new Map<string, NewNetwork>()
  /** Names of those in which containers run. */
  readonly used = new Set<string>()
  refuse: (network: NewNetwork) => Error | undefined = () => undefined

  get engine(): DockerEngine {
    return this as unknown as DockerEngine
  }

  async listNetworks(label: string): Promise<EngineNetwork[]> {
    const all = [...this.networks.values()].filter(({ labels }) =>
      Object.entries(labels).some(([name, value]) => `${name}=${value}` === label),
    )
    return all.map(({ name, labels, subnet }) => ({ name, labels, subnets: [subnet] }))
  }

  async createNetwork(network: NewNetwork): Promise<void> {
    const refusal = this.refuse(network)
    if (refusal) throw refusal
    if (this.networks.has(network.name)) throw new Error(`network with name ${network.name} already exists`)
    this.networks.set(network.name, network)
  }

  async removeNetwork(name: string): Promise<boolean> {
    return !this.used.has(name) && (this.networks.delete(name) || true)
  }
}
