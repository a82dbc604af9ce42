import { execFile } from 'node:child_process'
import { constants, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { removeMounted } from './tmpfs.ts'

const run = promisify(execFile)
const OUTER_BYTES = 16 * 2 ** 30
const DISK_BYTES = 2 ** 30
/** Data that is not synced stays off the disk for ten minutes, and a rename does not write its file. */
const LAZY = 'commit=600,noauto_da_alloc'
const REFRESH_EVERY_MS = 1
/** The field of `/sys/block/<device>/stat` that counts the writes completed by the device. */
const WRITES_FIELD = 4

/** The disk as it was at the power cut: unsynced data is not on it. */
export interface Cut {
  image: string
  atMs: number
}

/**
 * A disk whose power can be cut: ext4 on an image on an XFS, which copies a file at one instant. A copy is the disk at that moment without
 * the data that the kernel still held back. Mounting needs root.
 */
export class PowerDisk {
  private readonly dir: string
  private readonly device: string
  readonly path: string
  private count = 0
  private timer: NodeJS.Timeout | undefined

  private constructor(dir: string, device: string) {
    this.dir = dir
    this.device = device
    this.path = join(dir, 'disk')
  }

  static async make(): Promise<PowerDisk> {
    const dir = mkdtempSync(join(tmpdir(), 'podplane-power-'))
    const outer = join(dir, 'outer.img')
    writeFileSync(outer, '')
    truncateSync(outer, OUTER_BYTES)
    for (const name of ['images', 'disk']) mkdirSync(join(dir, name))
    await run('mkfs.xfs', ['-q', outer])
    await run('mount', ['-o', 'loop', outer, join(dir, 'images')])
    const image = join(dir, 'images/disk.img')
    writeFileSync(image, '')
    truncateSync(image, DISK_BYTES)
    await run('mkfs.ext4', ['-q', '-E', 'lazy_itable_init=1,lazy_journal_init=1', image])
    await run('mount', ['-o', `loop,${LAZY},noinit_itable`, image, join(dir, 'disk')])
    const { stdout } = await run('findmnt', ['-n', '-o', 'SOURCE', join(dir, 'disk')])
    return new PowerDisk(dir, basename(stdout.trim()))
  }

  /** Cuts the power: the copy is the disk that a restarted machine finds. */
  cut(): Cut {
    const image = join(this.dir, 'images', `cut-${this.count++}.img`)
    copyFileSync(join(this.dir, 'images/disk.img'), image, constants.COPYFILE_FICLONE_FORCE)
    return { image, atMs: Date.now() }
  }

  /** Cuts the power, in copies, after each write that reaches the disk, until the returned function is called. */
  cutAtEachWrite(): () => Cut[] {
    const cuts = [this.cut()]
    let written = this.writes()
    clearInterval(this.timer)
    this.timer = setInterval(() => {
      const now = this.writes()
      if (now === written) return
      written = now
      cuts.push(this.cut())
    }, REFRESH_EVERY_MS)
    return () => {
      clearInterval(this.timer)
      return [...cuts, this.cut()]
    }
  }

  /** Restarts the machine after a cut: `work` gets the directory that was `path`. */
  async behind<T>({ image }: Cut, work: (path: string) => Promise<T>): Promise<T> {
    const point = mkdtempSync(join(this.dir, 'behind-'))
    await run('mount', ['-o', 'loop', image, point])
    try {
      return await work(point)
    } finally {
      await removeMounted(point)
    }
  }

  async remove(): Promise<void> {
    clearInterval(this.timer)
    await removeMounted(this.path)
    await removeMounted(this.dir)
    rmSync(this.dir, { recursive: true, force: true })
  }

  private writes(): number {
    return Number(readFileSync(`/sys/block/${this.device}/stat`, 'utf8').trim().split(/\s+/)[WRITES_FIELD])
  }
}
