import { createLog } from '../../../src/host-agent/log.ts'
import { AccessTokens } from '../../../src/host-agent/plane/access-tokens.ts'
import { PlaneClock } from '../../../src/host-agent/plane/clock-offset.ts'
import { enrol } from '../../../src/host-agent/plane/enrolment.ts'
import { HostKey } from '../../../src/host-agent/plane/host-key.ts'
import { Link } from '../../../src/host-agent/plane/link.ts'
import { createReportSender } from '../../../src/host-agent/plane/senders.ts'
import {
  type Inventory,
  PROTOCOL_VERSION,
  RELAY_URL_PLACEHOLDER,
  type Workload,
  type WorkloadState,
} from '../../../src/host-protocol/messages.ts'
import { realTime } from '../../support/time.ts'

export interface IdleHostOptions {
  planeUrl: string
  joinToken: string
  /** Directory for the key of the host. */
  stateDir: string
  name: string
  /** Maximum number of containers of the smallest size at a time. */
  capacity: number
  /** Called when a container that the plane wants here was reported as running. */
  onStart(workload: Workload): void
  /** Called when the plane orders the container to stop; it is reported as gone once this has resolved. */
  onStop?(workload: Workload): Promise<void>
  /** Whether every container passes its health check, as the workers of a load-balancing endpoint must (LB-7). */
  isHealthy?: boolean
}

export interface IdleHost {
  id: string
  /** Returns a token with which the host may open its tunnel. */
  accessToken(): Promise<string>
  close(): void
}

const VCPUS_EACH = 2
const MEMORY_MB_EACH = 16 * 1024
const DISK_GB_EACH = 10
const REPORT_RETRY_MS = 250

/**
 * A machine that joins as a real one does and reports every container as running, but runs nothing: its test plays the workers. Its
 * containers would be processes of the agent, so their images must be `builtin/…` ones.
 */
export async function startIdleHost(options: IdleHostOptions): Promise<IdleHost> {
  const { planeUrl } = options
  const clock = new PlaneClock()
  const log = createLog('error')
  const key = await HostKey.load(options.stateDir)
  const inventory = inventoryOf(options.capacity)
  const enrolled = await enrol({ ...options, key, inventory, clock })
  if ('retry' in enrolled) throw new Error(enrolled.retry)
  const tokens = new AccessTokens({ planeUrl, key, identity: enrolled.identity, clock })
  tokens.accept(enrolled.answer)
  const containers = new Containers(options, createReportSender({ planeUrl, tokens, clock, log }))
  const link = new Link({
    planeUrl,
    tokens,
    log,
    hello: () => ({ type: 'hello', inventory, workloads: [] }),
    beat: () => ({ workloads: containers.states() }),
    onDesired: (workloads) => containers.apply(workloads),
    onLease: () => undefined,
    onRevoked: () => link.close(),
  })
  void link.run()
  return {
    id: enrolled.identity.hostId,
    accessToken: () => tokens.get(),
    close() {
      containers.close()
      link.close()
    },
  }
}

/** Address of the worker protocol in a variable of the workload, with the id of the worker filled in as its SDK does on start. */
export function workerUrl(workload: Workload, planeUrl: string, variable: string): string {
  const template = workload.platformEnv[variable] ?? ''
  return template.replace(RELAY_URL_PLACEHOLDER, planeUrl).replaceAll('$RUNPOD_POD_ID', workload.id)
}

function inventoryOf(capacity: number): Inventory {
  return {
    agentVersion: 'idle',
    protocolVersion: PROTOCOL_VERSION,
    os: 'idle',
    vcpus: capacity * VCPUS_EACH,
    memoryMb: capacity * MEMORY_MB_EACH,
    diskGb: capacity * DISK_GB_EACH,
    gpus: [],
    runtimes: ['process'],
    simulated: true,
  }
}

/**
 * The state that was reported to the plane about each container. Reports go out one after the other, each repeated until the plane accepts
 * it.
 */
class Containers {
  private readonly options: IdleHostOptions
  private readonly send: ReturnType<typeof createReportSender>
  private readonly known = new Map<string, { state: WorkloadState; stopping: boolean; reports: Promise<void> }>()
  private sequence = 0
  private closed = false

  constructor(options: IdleHostOptions, send: ReturnType<typeof createReportSender>) {
    this.options = options
    this.send = send
  }

  states(): { id: string; state: WorkloadState }[] {
    return [...this.known].map(([id, { state }]) => ({ id, state }))
  }

  apply(workloads: readonly Workload[]): void {
    for (const workload of workloads) {
      const container = this.known.get(workload.id)
      if (workload.desired === 'running' && container === undefined) this.start(workload)
      if (workload.desired === 'stopped' && container?.stopping !== true) this.stop(workload)
    }
  }

  close(): void {
    this.closed = true
  }

  private start(workload: Workload): void {
    const reports = this.report(workload.id, 'running').then(() => this.options.onStart(workload))
    this.known.set(workload.id, { state: 'running', stopping: false, reports })
  }

  private stop(workload: Workload): void {
    const container = this.known.get(workload.id) ?? { state: 'gone', stopping: true, reports: Promise.resolve() }
    container.stopping = true
    container.reports = container.reports
      .then(() => this.options.onStop?.(workload))
      .then(() => {
        container.state = 'gone'
        return this.report(workload.id, 'gone')
      })
    this.known.set(workload.id, container)
  }

  private async report(workloadId: string, state: WorkloadState): Promise<void> {
    this.sequence += 1
    const health = this.options.isHealthy && state === 'running' ? ({ health: 'healthy' } as const) : {}
    const report = { workloadId, state, exitCode: null, reason: null, at: Date.now(), sequence: this.sequence, ...health }
    while (!this.closed && (await this.send([report])) === 'later') await realTime(REPORT_RETRY_MS, 'as an agent tries again')
  }
}
