import { z } from 'zod'
import { parseJson } from '../../node/json-file.ts'
import type { Log } from '../log.ts'
import { boundedRun } from './bounded-run.ts'
import { type Bucket, rcloneEnv, remoteOf } from './bucket.ts'
import { SAFE_ID, type VolumeHome, type WipeOutcome } from './volume-home.ts'

const LIST_WITHIN_MS = 60_000
const REMOVED_WITHIN_MS = 600_000
const ONCE = ['--retries', '1', '--low-level-retries', '3']
const Size = z.object({ bytes: z.number().int().min(0) })

/** The global volumes of a bucket for listing, measuring and wiping; queries the store itself, not a mount (GLV-6). */
export class BucketRoot implements VolumeHome {
  readonly kind = 'global'
  private readonly bucket: Bucket
  private readonly log: Log

  constructor(bucket: Bucket, log: Log) {
    this.bucket = bucket
    this.log = log
  }

  async list(): Promise<string[] | undefined> {
    const found = await this.rclone(['lsf', '--dirs-only', '--max-depth', '1', remoteOf(this.bucket)], LIST_WITHIN_MS)
    if (found?.code !== 0) return undefined
    return found.stdout
      .split('\n')
      .map((name) => name.replace(/\/$/, ''))
      .filter((name) => SAFE_ID.test(name))
  }

  /** Removes every object below the volume's prefix. */
  async wipe(id: string): Promise<WipeOutcome> {
    if (!SAFE_ID.test(id)) return 'later'
    const found = await this.list()
    if (found === undefined) return 'later'
    if (!found.includes(id)) return 'gone'
    this.log.info('wipes a deleted volume', { volume: id, kind: this.kind })
    const purged = await this.rclone(['purge', remoteOf(this.bucket, id)], REMOVED_WITHIN_MS)
    if (purged?.code !== 0) this.log.warn('a deleted volume could not be removed completely; the agent retries', { volume: id })
    return (await this.list())?.includes(id) === false ? 'gone' : 'later'
  }

  async measure(id: string): Promise<{ bytes: number; enforced: boolean } | undefined> {
    const ended = await this.rclone(['size', '--json', remoteOf(this.bucket, id)], REMOVED_WITHIN_MS)
    if (ended?.code !== 0) return undefined
    const size = Size.safeParse(parseJson(ended.stdout)).data
    return size && { bytes: size.bytes, enforced: false }
  }

  private rclone(args: readonly string[], withinMs: number) {
    return boundedRun('rclone', [...args, ...ONCE], { withinMs, env: rcloneEnv(this.bucket) })
  }
}
