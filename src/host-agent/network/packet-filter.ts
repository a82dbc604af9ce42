import { errorText } from '../../node/fail.ts'
import type { Log } from '../log.ts'
import { boundsOf } from './connection-bounds.ts'
import { MaintainedTables } from './maintained-tables.ts'
import { tableName } from './names.ts'
import type { Nft } from './nft.ts'
import { removeTable } from './nft-text.ts'
import { buildRules, filterTable, type Reach } from './rules.ts'

/** Maintains one agent's rules in the machine's packet filter. */
export class PacketFilter {
  private readonly key: string
  private readonly nft: Nft
  private readonly log: Log
  private readonly tables: MaintainedTables
  private counts = true
  private names = true
  private checking: Promise<void> = Promise.resolve()

  constructor(key: string, nft: Nft, log: Log) {
    this.key = key
    this.nft = nft
    this.log = log
    this.tables = new MaintainedTables(nft, log)
  }

  /** Whether the kernel accepts the rules that redirect containers to a name server of the agent. */
  get leadsToNames(): boolean {
    return this.names
  }

  /**
   * Tests the rules and changes nothing. Throws when the machine does not accept them. A machine that cannot count connections (NET-60) or
   * redirect to the name server gets the other rules.
   */
  async tryOut(): Promise<void> {
    const failed = (part: Partial<Reach>) => this.applyProbe(part).then(() => undefined, errorText)
    if ((await failed({ connections: boundsOf(''), names: NAMES_PROBE })) === undefined) return
    await this.applyProbe({})
    const [uncounted, unled] = [await failed({ connections: boundsOf('') }), await failed({ names: NAMES_PROBE })]
    this.counts = uncounted === undefined
    this.names = unled === undefined
    if (uncounted !== undefined)
      this.log.warn('the kernel cannot count connections: containers of one account may use all connections of the others', {
        error: uncounted,
      })
    if (unled !== undefined) this.log.warn('containers find names of private networks in /etc/hosts only', { error: unled })
  }

  private async applyProbe(part: Partial<Reach>): Promise<void> {
    const probe = `${this.key}-try`
    const rules = buildRules(probe, {
      relay: undefined,
      nameServers: ['192.0.2.1'],
      allowed: [],
      published: PROBE,
      connections: undefined,
      ...part,
    })
    await this.nft.apply(`${rules}${removeTable(filterTable(probe))}`)
  }

  /** Sets the rules unless they are in place unchanged. One check at a time: each caller waits for a check that began after its call. */
  async keep(reach: Reach): Promise<void> {
    const { connections, names } = reach
    const possible = { ...reach, connections: this.counts ? connections : undefined, names: this.names ? names : undefined }
    const keep = () => this.tables.keep('inet', tableName(this.key), buildRules(this.key, possible))
    const check = this.checking.catch(() => {}).then(keep)
    this.checking = check
    return await check
  }

  async remove(): Promise<void> {
    await this.checking.catch(() => {})
    this.tables.discard('inet', tableName(this.key))
    await this.nft
      .apply(removeTable(filterTable(this.key)))
      .catch((error: unknown) => this.log.warn('the isolation rules for containers could not be removed', { error: errorText(error) }))
  }
}

/** Values that make the trial include every kind of rule. */
const PROBE = { address: '192.0.2.1', from: 1, to: 2 }
const NAMES_PROBE = { address: '192.0.2.1', port: 1 }
