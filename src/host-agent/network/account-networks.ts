import type { DockerEngine } from '../docker/engine/engine.ts'
import { engineText } from '../docker/engine/engine-errors.ts'
import type { Log } from '../log.ts'
import { SingleFlight } from '../single-flight.ts'
import { ACCOUNT_LABEL, bridgeName, NETWORK_LABEL, networkName } from './names.ts'
import { formatSubnet, freeSubnets, parseSubnet, type Subnet } from './subnets.ts'

/** Networks that are tried for one account; the engine knows of ranges that the routes of this machine do not show. */
const TRIES = 16

export interface AccountNetworksDeps {
  key: string
  engine: DockerEngine
  log: Log
  /** Where this machine's routes lead. */
  routes(): readonly Subnet[]
  random?(): number
}

/** A network of the engine for each account that has containers here (HOST-81). Containers in it do not see one another either. */
export class AccountNetworks {
  private readonly deps: AccountNetworksDeps
  /** How many starts are about to use the network of an account. */
  private readonly held = new Map<string, number>()
  private readonly making = new SingleFlight<string>()
  private readonly removing = new Map<string, Promise<boolean>>()

  constructor(deps: AccountNetworksDeps) {
    this.deps = deps
  }

  /** Does something during which the network of an account stays. */
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

  /** The name of an account's network, which is made when there is none. Two starts at a time make one. */
  provide(account: string): Promise<string> {
    return this.making.run(account, () => this.make(account))
  }

  private async make(account: string): Promise<string> {
    const { engine, key, log, routes, random = Math.random } = this.deps
    const name = networkName(key, account)
    // The engine still lists one that is about to go.
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
    throw new Error('no range of addresses is free for another network')
  }

  /** Removes the networks in which nothing runs or is about to. How many are left. */
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
