import { errorText } from '../../node/fail.ts'
import type { Log } from '../log.ts'
import { tableName } from './names.ts'
import type { Nft } from './nft.ts'
import { buildRemoval, buildRules, type Reach } from './rules.ts'

/** Keeps one agent's rules in the machine's packet filter as they are wanted. */
export class PacketFilter {
  private readonly key: string
  private readonly nft: Nft
  private readonly log: Log
  /** What was set last, and how the machine shows it. */
  private wanted: string | undefined
  private shown: string | undefined
  private checking: Promise<void> = Promise.resolve()

  constructor(key: string, nft: Nft, log: Log) {
    this.key = key
    this.nft = nft
    this.log = log
  }

  /** Throws when the machine does not take such rules. Changes nothing. */
  async tryOut(): Promise<void> {
    const trial = `${this.key}-try`
    const rules = buildRules(trial, { relay: undefined, nameServers: ['192.0.2.1'], allowed: [], published: TRIAL })
    await this.nft.apply(`${rules}${buildRemoval(trial)}`)
  }

  /** Sees to it that the rules are there, and just these. One look at a time: callers get what the machine has after they asked. */
  async keep(reach: Reach): Promise<void> {
    const look = this.checking.catch(() => {}).then(() => this.check(buildRules(this.key, reach)))
    this.checking = look
    return await look
  }

  private async check(wanted: string): Promise<void> {
    if (wanted === this.wanted && this.shown !== undefined) {
      const shown = await this.nft.show(tableName(this.key))
      if (shown === this.shown) return
      this.log.warn('somebody changed the rules that keep containers apart; they are set anew', {
        table: tableName(this.key),
        found: shown === undefined ? 'no table' : 'other rules',
      })
    }
    this.shown = undefined
    await this.nft.apply(wanted)
    this.wanted = wanted
    this.shown = await this.nft.show(tableName(this.key))
  }

  async remove(): Promise<void> {
    await this.checking.catch(() => {})
    this.shown = undefined
    await this.nft
      .apply(buildRemoval(this.key))
      .catch((error: unknown) => this.log.warn('the rules that keep containers apart could not be removed', { error: errorText(error) }))
  }
}

/** So that every kind of rule is tried. */
const TRIAL = { address: '192.0.2.1', from: 1, to: 2 }
