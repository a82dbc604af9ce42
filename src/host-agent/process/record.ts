import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { readJsonFile, writeLosableJsonFile } from '../../node/json-file.ts'
import type { ProcessIdentity } from '../../node/process-identity.ts'
import { readPart } from './output.ts'

const Identity = z.object({ pid: z.number().int().min(2), startTime: z.string() })
const RelayKey = z.object({ hash: z.string() })
const Exit = z.object({ exitCode: z.number().int() })
const TAIL_BYTES = 8_192
const SHARED_MODE = 0o1770

/** The files of one built-in workload: its process, its output and its exit. They outlive the agent process. */
export class ProcessRecord {
  readonly dir: string
  readonly id: string

  constructor(root: string, id: string) {
    this.id = id
    this.dir = join(root, id)
  }

  get homeDir(): string {
    return join(this.dir, 'home')
  }
  get tmpDir(): string {
    return join(this.dir, 'tmp')
  }
  get outputPath(): string {
    return join(this.dir, 'output.log')
  }
  /** The built-in program writes this file itself as it exits: the kernel reports an exit code only to the parent process. */
  get exitPath(): string {
    return join(this.dir, 'exit.json')
  }

  /** `user`: the uid that the program runs as; undefined: the agent's own. */
  create(user?: number): void {
    mkdirSync(this.homeDir, { recursive: true, mode: 0o700 })
    mkdirSync(this.tmpDir, { recursive: true, mode: 0o700 })
    if (user === undefined) return
    for (const dir of [this.homeDir, this.tmpDir]) chownSync(dir, user, user)
    // The program can add files, but can neither remove nor replace those of the agent (sticky bit).
    chownSync(this.dir, 0, user)
    chmodSync(this.dir, SHARED_MODE)
  }

  exists(): boolean {
    return existsSync(this.dir)
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true })
  }

  writeIdentity(identity: ProcessIdentity): void {
    writeLosableJsonFile(join(this.dir, 'process.json'), identity)
  }

  readIdentity(): ProcessIdentity | undefined {
    return Identity.safeParse(readJsonFile(join(this.dir, 'process.json'))).data
  }

  /** Stores the hash of the worker's relay key, so that the next agent process can admit the worker before it has heard from the plane. */
  writeRelayKey(hash: string): void {
    writeLosableJsonFile(join(this.dir, 'relay-key.json'), { hash })
  }

  readRelayKey(): string | undefined {
    return RelayKey.safeParse(readJsonFile(join(this.dir, 'relay-key.json'))).data?.hash
  }

  readExitCode(): number | null {
    return Exit.safeParse(readJsonFile(this.exitPath)).data?.exitCode ?? null
  }

  /** Returns the time at which the program wrote its exit file, by this machine's clock. */
  readExitTime(): number | null {
    return statSync(this.exitPath, { throwIfNoEntry: false })?.mtimeMs ?? null
  }

  async readOutputTail(): Promise<string[]> {
    const size = statSync(this.outputPath, { throwIfNoEntry: false })?.size ?? 0
    const tail = await readPart(this.outputPath, Math.max(0, size - TAIL_BYTES), TAIL_BYTES).catch(() => Buffer.alloc(0))
    return tail.toString('utf8').split('\n')
  }
}

/** Records of all built-in workloads on this machine, in no order. */
export function listProcessRecords(root: string): ProcessRecord[] {
  if (!existsSync(root)) return []
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => new ProcessRecord(root, entry.name))
}
