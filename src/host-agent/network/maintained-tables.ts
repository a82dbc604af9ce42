import type { Log } from '../log.ts'
import type { Nft, TableFamily } from './nft.ts'

/** Packet filter tables that must stay as the agent has set them. */
export class MaintainedTables {
  private readonly nft: Nft
  private readonly log: Log
  /** The last rules set and how the machine shows them, by family and table. */
  private readonly set = new Map<string, { wanted: string; shown: string | undefined }>()

  constructor(nft: Nft, log: Log) {
    this.nft = nft
    this.log = log
  }

  /** Sets a table unless the machine shows it unchanged. `rules` replace it as a whole. */
  async keep(family: TableFamily, table: string, rules: string): Promise<void> {
    const previous = this.set.get(`${family} ${table}`)
    if (previous?.wanted === rules && previous.shown !== undefined) {
      const shown = await this.nft.show(table, family)
      if (shown === previous.shown) return
      const found = shown === undefined ? 'no table' : 'other rules'
      this.log.warn('the isolation rules for containers were changed externally; the agent sets them again', { table, found })
    }
    this.discard(family, table)
    await this.nft.apply(rules)
    this.set.set(`${family} ${table}`, { wanted: rules, shown: await this.nft.show(table, family) })
  }

  /** Drops the record of a table that was removed or may have changed. */
  discard(family: TableFamily, table: string): void {
    this.set.delete(`${family} ${table}`)
  }
}
