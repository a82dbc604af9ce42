import { execFileSync } from 'node:child_process'
import { constants, copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statfsSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Lab, within } from './lab.ts'

/** Commit interval of the file system: data and metadata that were not synced are lost in a cut. */
const LONG_COMMIT_SECONDS = 600
const CHUNK_BYTES = 2 ** 16
const UNMOUNT_LIMIT_MS = 10_000

/** An ext4 file system in an image file of the lab, mounted in a directory of the lab. */
export class Disk {
  readonly mountPoint: string
  private readonly image: string

  constructor(lab: Lab, name: string, megabytes: number) {
    this.image = lab.path(`${name}.img`)
    this.mountPoint = lab.path(name)
    mkdirSync(this.mountPoint)
    writeFileSync(this.image, '')
    truncateSync(this.image, megabytes * 2 ** 20)
    // Blocks as on a real disk: SQLite's shared memory has one byte written to each page of 4 KiB, which must allocate the whole page.
    run('mkfs.ext4', '-q', '-b', '4096', '-m', '0', '-E', 'lazy_itable_init=0,lazy_journal_init=0', this.image)
    this.mount()
  }

  /**
   * Simulates a power cut: the disk's contents of this moment replace the state in memory. The processes that use it must be stopped
   * before; `kill` kills them once the copy is made.
   */
  async cutPower(kill: () => Promise<void>): Promise<void> {
    const copy = `${this.image}.cut`
    copyFileSync(this.image, copy, constants.COPYFILE_FICLONE)
    await kill()
    // The files of a killed process close a moment later.
    if ((await within(UNMOUNT_LIMIT_MS, () => tryRun('umount', this.mountPoint))) === undefined) run('umount', this.mountPoint)
    copyFileSync(copy, this.image, constants.COPYFILE_FICLONE)
    this.mount()
  }

  /** Flushes all written data to the disk. */
  sync(): void {
    run('sync', '--file-system', this.mountPoint)
  }

  get freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.mountPoint)
    return bavail * bsize
  }

  private mount(): void {
    run('mount', '-o', `loop,commit=${LONG_COMMIT_SECONDS}`, this.image, this.mountPoint)
  }
}

/** Fills a file system completely. */
export function fillDisk(disk: Disk, path: string): void {
  let filled = ''
  try {
    for (let file = 0; ; file += 1) {
      filled = `${path}.${file}`
      writeFileSync(filled, Buffer.alloc(Math.max(CHUNK_BYTES, Math.min(disk.freeBytes, 2 ** 26))))
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}

/** Removes what `fillDisk` has written. */
export function removeFill(path: string): void {
  const folder = dirname(path)
  if (!existsSync(folder)) return
  for (const name of readdirSync(folder)) if (join(folder, name).startsWith(path)) rmSync(join(folder, name))
}

function run(command: string, ...args: string[]): void {
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'] })
}

function tryRun(command: string, ...args: string[]): boolean {
  try {
    run(command, ...args)
    return true
  } catch {
    return false
  }
}
