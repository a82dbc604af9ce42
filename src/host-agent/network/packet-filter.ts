import { errorText } from '../../node/fail.ts'
import type { Log } from '../log.ts'
import { boundsOf, type ConnectionBounds } from './connection-bounds.ts'
import { KeptTables } from './kept-tables.ts'
import { tableName } from './names.ts'
import type { Nft } from './nft.ts'
import { buildRemoval, buildRules, type Reach } from './rules.ts'

/** Keeps one agent's rules in the machine's packet filter as they are wanted. */
export class PacketFilter {
  private readonly key: string
  private readonly nft: Nft
  private readonly log: Log
  private readonly tables: KeptTables
  private counts = true
  private checking: Promise<void> = Promise.resolve()

  constructor(key: string, nft: Nft, log: Log) {
    this.key = key
    this.nft = nft
    this.log = log
    this.tables = new KeptTables(nft, log)
  }

  /** Throws when the machine does not take such rules. One that cannot count connections takes the others (NET-60). Changes nothing. */
  async tryOut(): Promise<void> {
    try {
      await this.applyTrial(boundsOf(''))
    } catch (error) {
      await this.applyTrial(undefined)
      this.counts = false
      this.log.warn('the kernel cannot count connections: containers of one account may leave others none', { error: errorText(error) })
    }
  }

  private async applyTrial(connections: ConnectionBounds | undefined): Promise<void> {
    const trial = `${this.key}-try`
    const rules = buildRules(trial, { relay: undefined, nameServers: ['192.0.2.1'], allowed: [], published: TRIAL, connections })
    await this.nft.apply(`${rules}${buildRemoval(trial)}`)
  }

  /** Sees to it that the rules are there, and just these. One look at a time: callers get what the machine has after they asked. */
  async keep(reach: Reach): Promise<void> {
    const keep = () =>
      this.tables.keep('inet', tableName(this.key), buildRules(this.key, this.counts ? reach : { ...reach, connections: undefined }))
    const look = this.checking.catch(() => {}).then(keep)
    this.checking = look
    return await look
  }

  async remove(): Promise<void> {
    await this.checking.catch(() => {})
    this.tables.forget('inet', tableName(this.key))
    await this.nft
      .apply(buildRemoval(this.key))
      .catch((error: unknown) => this.log.warn('the rules that keep containers apart could not be removed', { error: errorText(error) }))
  }
}

/** So that every kind of rule is tried. */
const TRIAL = { address: '192.0.2.1', from: 1, to: 2 }
