import type { Nft } from '../../../src/host-agent/network/nft.ts'

/** A packet filter that understands tables as a whole: they are made and deleted in the order of the script. */
export class FakeNft implements Nft {
  readonly tables = new Map<string, string>()
  /** Scripts that were accepted. */
  applied = 0
  failure: Error | undefined

  async apply(script: string): Promise<void> {
    if (this.failure) throw this.failure
    this.applied += 1
    for (const [, verb, name = ''] of script.matchAll(/^(table|delete table) inet (\S+)/gm)) {
      if (verb === 'table') this.tables.set(name, script)
      else this.tables.delete(name)
    }
  }

  async show(table: string): Promise<string | undefined> {
    if (this.failure) throw this.failure
    return this.tables.get(table)
  }
}
