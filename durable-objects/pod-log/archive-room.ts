import { openDatabase } from '../../src/db/client.ts'
import { type ArchivedLog, deleteLogBytes, findOldestLog, takeLogBytes } from '../../src/db/logs/log-archives.ts'
import type { Env } from '../../src/env.ts'
import { asPlane } from '../../src/objects/ownership/as-plane.ts'
import { podLogStub } from '../../src/objects/stubs.ts'

/** Space of a log in the bucket, within its account's limit (LOG-35). */
export class ArchiveRoom {
  private readonly env: Env

  constructor(env: Env) {
    this.env = env
  }

  /** Reserves `bytes` as the total of a log in the bucket; false when the account has no space left. */
  take(log: ArchivedLog, bytes: number): Promise<boolean> {
    return takeLogBytes(openDatabase(this.env.DB), log, bytes, Date.now())
  }

  /** Makes the account's log that was written to longest ago delete its archived lines; false when that is this log, or it is busy. */
  async makeRoom(log: ArchivedLog): Promise<boolean> {
    const oldest = await findOldestLog(openDatabase(this.env.DB), log)
    if (oldest === null || (oldest.kind === log.kind && oldest.id === log.id)) return false
    return podLogStub(this.env, asPlane(oldest.kind, oldest.id, 'frees space in an archive')).shedArchive()
  }

  async giveBack(log: ArchivedLog): Promise<void> {
    await deleteLogBytes(openDatabase(this.env.DB), log)
  }
}
