import type { DockerEngine } from '../engine/engine.ts'
import { engineText } from '../engine/engine-errors.ts'
import { ACCOUNT_LABEL, NETWORK_LABEL } from '../engine/labels.ts'
import type { Log } from '../log.ts'
import { SingleFlight } from '../single-flight.ts'
import { bridgeName, networkName } from './names.ts'
import { formatSubnet, freeSubnets, parseSubnet, type Subnet } from './subnets.ts'

/** Address ranges to try for one account; the engine knows ranges that the routes of this machine do not show. */
const TRIES = 16

export interface AccountNetworksDeps {
  key: string
  engine: DockerEngine
  log: Log
  /** Destinations of this machine's routes. */
  routes(): readonly Subnet[]
  random?(): number
}

/** One network of the engine per account with containers here (HOST-81). Containers in a network are isolated from one another too. */
export class AccountNetworks {
  private readonly deps: AccountNetworksDeps
  /** Number of starts that are about to use an account's network, by its name. */
  private readonly held = new Map<string, number>()
  private readonly making = new SingleFlight<string>()
  private readonly removing = new Map<string, Promise<boolean>>()

  constructor(deps: AccountNetworksDeps) {
    this.deps = deps
  }

  /** Runs `act`; the network of the account is not removed meanwhile. */
  async hold<T>(account: string, act: () => Promise<T>): Promise<T> {
    const name = networkName(this.deps.key, account)
    this.held.set(name, (this.held.get(name) ?? 0) + 1)
    try {
      return await act()
    } finally {
      const left = (this.held.get(name) ?? 1) - 1
      if (left > 0) this.held.set(name, left)
      else this.held.delete(name)
    }
  }

  /** Returns the name of an account's network, and creates the network when there is none. Concurrent starts create it once. */
  provide(account: string): Promise<string> {
    return this.making.run(account, () => this.make(account))
  }

  private async make(account: string): Promise<string> {
    const { engine, key, log, routes, random = Math.random } = this.deps
    const name = networkName(key, account)
    // The engine still lists a network that is being removed.
    await this.removing.get(name)?.catch(() => {})
    const known = await engine.listNetworks(`${NETWORK_LABEL}=${key}`)
    if (known.some((network) => network.name === name)) return name
    const taken = [...routes(), ...known.flatMap(({ subnets }) => subnets.flatMap((text) => parseSubnet(text) ?? []))]
    for (const subnet of freeSubnets(taken, random(), TRIES)) {
      const range = formatSubnet(subnet)
      try {
        await engine.createNetwork({
          name,
          bridge: bridgeName(key, account),
          subnet: range,
          labels: { [NETWORK_LABEL]: key, [ACCOUNT_LABEL]: account },
        })
        log.info('made a network for an account', { account, network: name, subnet: range })
        return name
      } catch (error) {
        if (!/overlap/i.test(engineText(error))) throw error
      }
    }
    throw new Error('no address range is free for another network')
  }

  /** Removes the networks that no container and no start needs. Returns the number of networks left. */
  async tidy(): Promise<number> {
    const { engine, key } = this.deps
    const networks = await engine.listNetworks(`${NETWORK_LABEL}=${key}`)
    const kept = await Promise.all(networks.map(async ({ name }) => this.held.has(name) || !(await this.remove(name))))
    return kept.filter(Boolean).length
  }

  private async remove(name: string): Promise<boolean> {
    const removal = this.deps.engine.removeNetwork(name)
    this.removing.set(name, removal)
    return await removal.finally(() => this.removing.delete(name))
  }
}
