import { createServer } from 'node:net'
import { fairRoom } from '../../../host-protocol/fair-room.ts'
import type { PortRange } from '../../../host-protocol/messages.ts'
import { type PublishedPort, StartError } from '../../runtime.ts'
import { type AssignedPort, choosePorts } from './port-choice.ts'

const OVER_SHARE = 'this account has reached its share of host ports on this host'

export interface HostPortsOptions {
  range: PortRange
  /** Whether accounts that do not trust one another share the range (HOST-148). */
  isShared?(): boolean
  /** Whether no program on this machine listens on a port. */
  isFree?(port: number): Promise<boolean>
  random?(): number
}

interface Holder {
  account: string
  ports: readonly number[]
}

/** A workload that requests ports, and its account. */
export interface PortClaim {
  id: string
  account: string
  wanted: readonly string[]
  /** Previous ports of the workload. */
  previous: readonly PublishedPort[]
}

/** Reserves the host ports on which this machine publishes workloads. */
export class HostPorts {
  private readonly options: HostPortsOptions
  private readonly inUse = new Map<string, Holder>()

  constructor(options: HostPortsOptions) {
    this.options = options
  }

  /**
   * Chooses and reserves host ports for a workload. `refused` contains ports that the engine could not publish; ports found in use are
   * added to it. Throws a `StartError` when too few are left, or when the account exceeds its share.
   */
  async reserve({ id, account, wanted, previous }: PortClaim, refused: Set<number>): Promise<AssignedPort[]> {
    const before = this.inUse.get(id)?.ports.length ?? 0
    this.inUse.delete(id)
    for (;;) {
      const avoid = new Set([...refused, ...[...this.inUse.values()].flatMap(({ ports }) => ports)])
      const offset = (this.options.random ?? Math.random)()
      const chosen = choosePorts({ wanted, range: this.options.range, avoid, previous, offset })
      if (chosen === undefined) throw new StartError(this.explain(refused))
      const numbers = [...new Set(chosen.map((port) => port.public))]
      // A workload that reserves no more ports than before takes nothing from others, so its account's share is not checked again.
      if (numbers.length > before) this.requireShare(account, numbers.length)
      // Reserved before the first await, so that two concurrent starts cannot choose the same ports.
      this.inUse.set(id, { account, ports: numbers })
      const isFree = this.options.isFree ?? canListen
      const taken = (await Promise.all(numbers.map(async (port) => ((await isFree(port)) ? [] : port)))).flat()
      if (taken.length === 0) return chosen
      for (const port of taken) refused.add(port)
      this.inUse.delete(id)
    }
  }

  private requireShare(account: string, wanted: number): void {
    if (this.options.isShared?.() !== true) return
    const { from, to } = this.options.range
    const taken = (isOwn: boolean) =>
      [...this.inUse.values()].reduce((sum, holder) => ((holder.account === account) === isOwn ? sum + holder.ports.length : sum), 0)
    const [own, room] = [taken(true) + wanted, fairRoom(to - from + 1, taken(false))]
    if (own > room) throw new StartError(`${OVER_SHARE}: with it they are ${own}, and ${room} are for this account`)
  }

  private explain(refused: ReadonlySet<number>): string {
    const range = `${this.options.range.from}-${this.options.range.to}`
    const [port] = refused
    if (port === undefined) return `no host port of ${range} is free on this host`
    return `port ${port} is already taken on this host, and no other of ${range} is free`
  }

  /** Reserves the ports that a previous agent process assigned. */
  adopt(id: string, account: string, ports: readonly PublishedPort[]): void {
    this.inUse.set(id, { account, ports: [...new Set(ports.map((port) => port.public))] })
  }

  release(id: string): void {
    this.inUse.delete(id)
  }
}

// Tries both address families at once, as the engine publishes; a machine without IPv6 has IPv4 only.
async function canListen(port: number): Promise<boolean> {
  const outcome = await listenOnce(port, '::')
  return outcome === 'EAFNOSUPPORT' || outcome === 'EADDRNOTAVAIL' ? (await listenOnce(port, '0.0.0.0')) === 'ok' : outcome === 'ok'
}

function listenOnce(port: number, host: string): Promise<string> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error) => resolve('code' in error ? String(error.code) : 'error'))
    server.listen(port, host, () => server.close(() => resolve('ok')))
  })
}
