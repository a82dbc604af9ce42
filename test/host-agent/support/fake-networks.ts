import type { DockerEngine, ListedContainer } from '../../../src/host-agent/engine/engine.ts'
import type { EngineNetwork, NetworkCalls, NewNetwork } from '../../../src/host-agent/engine/networks.ts'

/** The networks of an engine. */
export class FakeNetworks implements NetworkCalls {
  readonly networks = new Map<string, NewNetwork>()
  /** Containers of this host, by name, with the networks that they are in. */
  readonly containers = new Map<string, { status: string; networks: string[] }>()
  /** The error of listing the networks. */
  unlisted: Error | undefined
  /** Names of those in which containers run. */
  readonly used = new Set<string>()
  refuse: (network: NewNetwork) => Error | undefined = () => undefined

  get engine(): DockerEngine {
    return this as unknown as DockerEngine
  }

  async list(label: string): Promise<ListedContainer[]> {
    if (this.unlisted) throw this.unlisted
    return label === 'podplane.host=h1' ? [...this.containers].map(([name, container]) => ({ name, labels: {}, ...container })) : []
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
