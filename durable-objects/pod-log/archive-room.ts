import { openDatabase } from '../../src/db/client.ts'
import { type ArchivedLog, findOldestLog, forgetLogBytes, takeLogBytes } from '../../src/db/logs/log-archives.ts'
import type { Env } from '../../src/env.ts'
import { asPlane } from '../../src/objects/ownership/as-plane.ts'
import { podLogStub } from '../../src/objects/stubs.ts'

/** What a log has of its account's room in the bucket (JL-50). */
export class ArchiveRoom {
  private readonly env: Env

  constructor(env: Env) {
    this.env = env
  }

  /** Takes room for all that a log is to have in the bucket; false when the account has none left. */
  take(log: ArchivedLog, bytes: number): Promise<boolean> {
    return takeLogBytes(openDatabase(this.env.DB), log, bytes, Date.now())
  }

  /** Has another log of the account give up its older lines, the one written to longest ago; false when that is this one, or busy. */
  async makeRoom(log: ArchivedLog): Promise<boolean> {
    const oldest = await findOldestLog(openDatabase(this.env.DB), log)
    if (oldest === null || (oldest.kind === log.kind && oldest.id === log.id)) return false
    return podLogStub(this.env, asPlane(oldest.kind, oldest.id, 'makes room')).shedArchive()
  }

  async giveBack(log: ArchivedLog): Promise<void> {
    await forgetLogBytes(openDatabase(this.env.DB), log)
  }
}
