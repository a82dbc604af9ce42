import {
  type OutputChunk,
  type Runtime,
  type RuntimeWorkload,
  StartError,
  type Started,
  type StartHooks,
  type WorkloadExit,
} from '../../../src/host-agent/runtime.ts'
import type { Workload } from '../../../src/host-protocol/messages.ts'

interface Fake {
  disk: string[]
  end(exit: WorkloadExit): void
  ended: Promise<WorkloadExit>
  isOver: boolean
}

/** A runtime in memory. A disk is the list of the ids that wrote to it. */
export class FakeRuntime implements Runtime {
  readonly name = 'docker'
  readonly keepsDisk = true
  readonly workloads = new Map<string, Fake>()
  readonly calls: string[] = []
  /** Ids whose start fails. */
  readonly broken = new Set<string>()
  /** Ids whose removal fails. */
  readonly stuck = new Set<string>()
  /** Ids whose container is made and not started. */
  readonly unstarted = new Set<string>()
  /** A start waits for this after `pulling`. */
  pulled: Promise<void> = Promise.resolve()

  canRun(image: string): boolean {
    return image !== 'none'
  }

  async start(workload: Workload, { onState, signal, diskOf }: StartHooks): Promise<Started> {
    this.calls.push(`start ${workload.id}${diskOf == null ? '' : ` on ${diskOf}`}`)
    onState('pulling')
    await Promise.race([this.pulled, new Promise((resolve) => signal.addEventListener('abort', resolve))])
    signal.throwIfAborted()
    onState('starting')
    if (this.broken.has(workload.id)) throw new StartError('broken')
    this.add(workload.id, diskOf == null ? [] : (this.workloads.get(diskOf)?.disk ?? []))
    return { ports: [], startedAtMs: 5 }
  }

  add(id: string, disk: readonly string[] = []): void {
    const { promise: ended, resolve } = Promise.withResolvers<WorkloadExit>()
    const fake: Fake = { disk: [...disk, id], ended, isOver: false, end: resolve }
    fake.end = (exit) => {
      fake.isOver = true
      resolve(exit)
    }
    this.workloads.set(id, fake)
  }

  watch(id: string): Promise<WorkloadExit> {
    return this.workloads.get(id)?.ended ?? Promise.resolve({ exitCode: null, reason: 'vanished', endedAtMs: null, vanished: true })
  }

  async followOutput(_id: string, _position: unknown, _take: (chunk: OutputChunk) => void): Promise<void> {}

  async usage(): Promise<undefined> {
    return undefined
  }

  async exec(): Promise<never> {
    throw new Error('a fake runs no commands')
  }

  async place(): Promise<undefined> {
    return undefined
  }

  async stop(id: string, graceMs: number): Promise<void> {
    this.calls.push(`stop ${id} ${graceMs}`)
    this.workloads.get(id)?.end({ exitCode: 143, reason: 'stopped', endedAtMs: 7 })
  }

  async remove(id: string): Promise<void> {
    this.calls.push(`remove ${id}`)
    if (this.stuck.has(id)) throw new Error('stuck')
    this.workloads.delete(id)
  }

  async list(): Promise<RuntimeWorkload[]> {
    return [...this.workloads].map(([id, { isOver }]) => {
      const phase = this.unstarted.has(id) ? 'created' : isOver ? 'ended' : 'running'
      return { id, phase, ports: [], startedAtMs: phase === 'created' ? null : 3 }
    })
  }

  async sweep(): Promise<void> {
    this.calls.push('sweep')
  }

  close(): void {}
}
