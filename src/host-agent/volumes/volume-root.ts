import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { readIrreplaceableFile, writeJsonFile } from '../../node/json-file.ts'
import type { Log } from '../log.ts'
import { boundedRun } from './bounded-run.ts'
import { SAFE_ID, type VolumeHome, type WipeOutcome } from './volume-home.ts'

/** A file with the directory's id, so that an empty directory below a missing mount is not mistaken for it. */
const MARKER = '.podplane-volumes'
/** Prefix of directories that are being removed; no volume id can begin with it. */
const TRASH_PREFIX = '.wiped-'
const ANSWER_WITHIN_MS = 20_000
const REMOVED_WITHIN_MS = 600_000
const CHECK_WITHIN_MS = 300_000

const Markers = z.record(z.string(), z.string())

export interface VolumeRootOptions {
  kind: 'network' | 'global'
  path: string
  /** Directory in which this agent stores the id of the directory that it has seen at that path. */
  stateDir: string
  log: Log
}

/** A directory of shared volumes, one sub-directory each, for listing, measuring and wiping (HOST-113). */
export class VolumeRoot implements VolumeHome {
  readonly kind: 'network' | 'global'
  readonly path: string
  private readonly stateDir: string
  private readonly log: Log

  constructor({ kind, path, stateDir, log }: VolumeRootOptions) {
    this.kind = kind
    this.path = path
    this.stateDir = stateDir
    this.log = log
  }

  /** Returns the ids of the volumes that have a directory; undefined when it does not answer, or is another directory than before. */
  async list(): Promise<string[] | undefined> {
    if (!(await this.isSame())) return undefined
    const found = await this.entries()
    return found?.filter((name) => SAFE_ID.test(name))
  }

  /**
   * Removes a volume with all of its contents. It is first renamed, so that it is out of reach at once (a rename moves a link and not its
   * target), and then removed by a program that follows no links and stays on the file system. Also removes the rest of interrupted
   * removals.
   */
  async wipe(id: string): Promise<WipeOutcome> {
    if (!SAFE_ID.test(id) || !(await this.isSame())) return 'later'
    const trash = join(this.path, `${TRASH_PREFIX}${id}.${randomUUID()}`)
    const names = await this.entries()
    if (names === undefined) return 'later'
    if (names.includes(id)) {
      const moved = await boundedRun('mv', ['-T', '--', join(this.path, id), trash], { withinMs: ANSWER_WITHIN_MS })
      if (moved?.code !== 0) return this.later('a deleted volume could not be moved away', id, moved?.stderr)
      this.log.info('wipes a deleted volume', { volume: id, kind: this.kind })
    }
    const left = (await this.entries())?.filter((name) => name.startsWith(`${TRASH_PREFIX}${id}.`))
    for (const name of left ?? []) {
      const removed = await boundedRun('rm', ['-rf', '--one-file-system', '--', join(this.path, name)], { withinMs: REMOVED_WITHIN_MS })
      if (removed?.code !== 0) return this.later('a deleted volume could not be removed completely; the agent retries', id, removed?.stderr)
    }
    const after = await this.entries()
    const isGone = after?.every((name) => name !== id && !name.startsWith(`${TRASH_PREFIX}${id}.`))
    return isGone === true ? 'gone' : 'later'
  }

  /** Returns the bytes of a volume's tree, without following links or leaving its file system. */
  async measure(id: string): Promise<{ bytes: number; enforced: boolean } | undefined> {
    const args = ['-n', '19', 'du', '-s', '-x', '-B', '1', '--', join(this.path, id)]
    const ended = await boundedRun('nice', args, { withinMs: CHECK_WITHIN_MS })
    const bytes = Number(/^\d+/.exec(ended?.stdout ?? '')?.[0] ?? Number.NaN)
    return Number.isSafeInteger(bytes) ? { bytes, enforced: false } : undefined
  }

  private later(text: string, volume: string, error: string | undefined): 'later' {
    this.log.warn(text, { volume, kind: this.kind, error: error ?? 'it does not answer' })
    return 'later'
  }

  private async entries(): Promise<string[] | undefined> {
    const args = [this.path, '-mindepth', '1', '-maxdepth', '1', '-printf', '%f\\0']
    const found = await boundedRun('find', args, { withinMs: ANSWER_WITHIN_MS })
    return found?.code === 0 ? found.stdout.split('\0').filter((name) => name !== '') : undefined
  }

  /** Whether this is the directory that the agent has seen at this path before; the first one seen is marked. */
  private async isSame(): Promise<boolean> {
    const marker = join(this.path, MARKER)
    const read = await boundedRun('cat', ['--', marker], { withinMs: ANSWER_WITHIN_MS })
    const found = read?.code === 0 ? read.stdout.trim() : undefined
    const expected = this.readMarks()[this.path]
    if (expected !== undefined) {
      if (found !== expected) this.log.warn('the directory of volumes is not mounted, or another one is mounted there', { path: this.path })
      return found === expected
    }
    const mark = found ?? (await this.mark(marker))
    // Read again, so that marks of other directories written meanwhile stay.
    if (mark !== undefined) writeJsonFile(this.marksPath, { ...this.readMarks(), [this.path]: mark })
    return mark !== undefined
  }

  private async mark(marker: string): Promise<string | undefined> {
    const id = randomUUID()
    // Written beside it and renamed: hosts that share the directory may read it at the same time, and must not see an empty marker.
    const script = 'umask 022; printf %s "$1" >"$0.$1" && mv -n -T -- "$0.$1" "$0" && [ ! -e "$0.$1" ] || { rm -f -- "$0.$1"; exit 1; }'
    const args = ['-c', script, marker, id]
    const written = await boundedRun('sh', args, { withinMs: ANSWER_WITHIN_MS })
    return written?.code === 0 ? id : undefined
  }

  /** Returns the stored mark of each directory, by path. */
  private readMarks(): z.infer<typeof Markers> {
    return readIrreplaceableFile(this.marksPath, Markers, 'remove it; the directories of volumes are then marked again') ?? {}
  }

  private get marksPath(): string {
    return join(this.stateDir, 'volume-roots.json')
  }
}
