import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { accessSync, constants, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { backoffMs, sleep } from '../../node/backoff.ts'
import { errorText } from '../../node/fail.ts'
import type { Log } from '../log.ts'
import { readMounts } from '../machine/mount-list.ts'
import { boundedRun, missingTool } from './bounded-run.ts'
import { type Bucket, rcloneEnv, remoteOf } from './bucket.ts'
import { readBucketLogin } from './bucket-login.ts'

const MOUNTS = '/run/podplane'
const RCLONE = 'rclone'
const GROUND = 'ro,nosuid,nodev,size=4k,mode=0555'
const TOOLS = [RCLONE, 'fusermount3']
const ASK_WITHIN_MS = 20_000
const MOUNT_WITHIN_MS = 20_000
const CHECK_MS = 10_000
const CHECK_WITHIN_MS = 10_000
const RETRY_BASE_MS = 2_000
const RETRY_MAX_MS = 60_000
const POLL_MS = 100
const REASON_MAX_CHARS = 200
/** Fixed texts by error of rclone: a tenant reads the reason, so it must not contain the store's own text. */
const REASONS: readonly [RegExp, string][] = [
  [/AccessDenied|InvalidAccessKeyId|SignatureDoesNotMatch|Forbidden|\b40[13]\b|NoCredentialProviders/i, 'it refuses the credentials'],
  [/NoSuchBucket|directory not found|bucket does not exist|\b404\b/i, 'it has no such bucket'],
  [/connection refused|no such host|timeout|deadline|dial tcp|TLS|x509/i, 'it cannot be reached'],
]

/** Returns the reason why this machine cannot mount a bucket; null: it can. */
export async function findMountProblem(): Promise<string | null> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'the agent is not root on Linux'
  const missing = await missingTool(TOOLS, 'rclone and fuse3')
  if (missing !== null) return missing
  try {
    accessSync('/dev/fuse', constants.R_OK | constants.W_OK)
    return null
  } catch {
    return 'there is no /dev/fuse'
  }
}

/**
 * The bucket of global volumes, mounted by the agent with rclone, `nosuid,nodev` (HOST-115). It is checked every `CHECK_MS`; a mount that
 * does not answer is removed and mounted again. Every wait of the agent for it has a timeout.
 */
export class BucketMount {
  readonly path: string
  private readonly bucket: Bucket
  /** Directory for written data that is not uploaded yet; the next process continues the upload. */
  private readonly cacheDir: string
  private readonly log: Log
  private readonly closing = new AbortController()
  private child: ChildProcess | undefined
  /** Aborted when the rclone of this process ends, so that the next check follows at once. */
  private ended = new AbortController()
  private why: string | null = 'it is not mounted yet'

  /** Throws an `OperatorError` when its credentials cannot be read. */
  constructor(bucket: Bucket, stateDir: string, log: Log) {
    readBucketLogin()
    this.bucket = bucket
    this.log = log
    this.cacheDir = join(stateDir, 'bucket-cache')
    this.path = join(MOUNTS, `bucket-${createHash('sha256').update(stateDir).digest('hex').slice(0, 16)}`)
  }

  /** The reason why the bucket cannot be used at present; null: it can. */
  get problem(): string | null {
    return this.why
  }

  start(): void {
    void this.run()
  }

  /** Removes the mount; with `keep` it stays, for containers that continue without an agent. */
  async close(keep: boolean): Promise<void> {
    this.closing.abort()
    if (keep) return
    await this.unmount()
    await this.takeAway(isMounted)
  }

  private async run(): Promise<void> {
    const { signal } = this.closing
    for (let failures = 0; !signal.aborted; ) {
      const isThere = await this.answers()
      // While it is mounted again, no container may start with it.
      if (!isThere && this.why === null) this.note('it disappeared, and is mounted again')
      const problem = isThere ? null : await this.mount()
      if (problem !== this.why) this.note(problem)
      failures = problem === null ? 0 : failures + 1
      await sleep(
        problem === null ? CHECK_MS : backoffMs(failures, RETRY_BASE_MS, RETRY_MAX_MS),
        AbortSignal.any([signal, this.ended.signal]),
      )
    }
  }

  private note(problem: string | null): void {
    if (this.closing.signal.aborted) return
    this.why = problem
    if (problem === null) this.log.info('mounted the bucket of global volumes', { bucket: this.bucket.bucket, path: this.path })
    else this.log.warn('the bucket of global volumes cannot be used', { bucket: this.bucket.bucket, reason: problem })
  }

  /** Whether it is mounted, perhaps by a previous agent process, and its file system answers. */
  private async answers(): Promise<boolean> {
    if (!isServed(this.path)) return false
    const checked = await boundedRun('stat', ['-f', '--', this.path], { withinMs: CHECK_WITHIN_MS })
    return checked?.code === 0
  }

  /**
   * Mounts the bucket and returns the problem; null: mounted. The store is queried first: rclone mounts one that refuses access, and then
   * blocks in every call.
   */
  private async mount(): Promise<string | null> {
    try {
      await this.unmount()
      const refusal = await this.ask()
      if (refusal !== null) return refusal
      await this.layGround()
      this.spawnMount()
      for (let waitedMs = 0; waitedMs < MOUNT_WITHIN_MS && !this.closing.signal.aborted; waitedMs += POLL_MS) {
        if (isServed(this.path)) return (await this.answers()) ? null : 'it does not answer'
        await sleep(POLL_MS, this.closing.signal)
      }
      return 'rclone does not mount it'
    } catch (error) {
      this.log.warn('the bucket of global volumes could not be mounted', { error: errorText(error).slice(0, REASON_MAX_CHARS) })
      return 'this host cannot mount it'
    }
  }

  private async ask(): Promise<string | null> {
    const args = ['lsf', '--max-depth', '1', '--retries', '1', '--low-level-retries', '1', '--contimeout', '5s', '--timeout', '10s']
    const asked = await boundedRun(RCLONE, [...args, remoteOf(this.bucket)], { withinMs: ASK_WITHIN_MS, env: rcloneEnv(this.bucket) })
    if (asked === undefined) return 'it cannot be reached'
    // A prefix without objects is no directory yet.
    if (asked.code === 0 || (this.bucket.prefix !== '' && /directory not found/.test(asked.stderr))) return null
    this.log.debug('the object store refuses', { error: asked.stderr })
    return REASONS.find(([pattern]) => pattern.test(asked.stderr))?.[1] ?? 'it answers with an error'
  }

  /**
   * Mounts an empty, read-only file system below the bucket's mount. In a plain directory, a container that starts while no bucket is
   * mounted would write its files to this machine, and the bucket would then cover them.
   */
  private async layGround(): Promise<void> {
    mkdirSync(this.path, { recursive: true, mode: 0o700 })
    if (isMounted(this.path)) return
    const laid = await boundedRun('mount', ['-t', 'tmpfs', '-o', GROUND, 'podplane', this.path], { withinMs: CHECK_WITHIN_MS })
    if (laid?.code !== 0) throw new Error('no empty mount point can be created for it')
  }

  private spawnMount(): void {
    const view = ['--allow-other', '--option=nosuid', '--option=nodev', '--umask=0', '--dir-cache-time=5s', '--poll-interval=0']
    const cache = ['--vfs-cache-mode=writes', '--vfs-write-back=1s', `--cache-dir=${this.cacheDir}`, '--timeout=30s', '--contimeout=10s']
    // It is mounted over the file system of `layGround`.
    const options = [...view, ...cache, '--allow-non-empty']
    const child = spawn(RCLONE, ['mount', ...options, remoteOf(this.bucket), this.path], {
      stdio: 'ignore',
      detached: true,
      env: { ...process.env, ...rcloneEnv(this.bucket) },
    })
    const ended = new AbortController()
    this.ended = ended
    child.on('error', () => ended.abort())
    child.on('exit', () => ended.abort())
    // It must not delay the end of the agent's process.
    child.unref()
    this.child = child
  }

  private async unmount(): Promise<void> {
    this.child?.kill('SIGTERM')
    await this.takeAway(isServed)
    this.child = undefined
  }

  private async takeAway(isThere: (path: string) => boolean): Promise<void> {
    while (isThere(this.path)) {
      const gone = await boundedRun('umount', ['--lazy', this.path], { withinMs: CHECK_WITHIN_MS })
      if (gone?.code !== 0) break
    }
  }
}

/** Returns the types of the file systems that are mounted at a path, the topmost last. */
function mountedAt(path: string): string[] {
  return readMounts().flatMap(({ point, type }) => (point === path ? [type] : []))
}

function isMounted(path: string): boolean {
  return mountedAt(path).length > 0
}

/** Whether a FUSE file system is mounted on top, even if rclone has died. */
function isServed(path: string): boolean {
  return mountedAt(path).at(-1)?.startsWith('fuse') ?? false
}
