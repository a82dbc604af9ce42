import { cpus } from 'node:os'
import { join } from 'node:path'
import { MAX_TRANSPORTS } from '../host-protocol/messages.ts'
import { buildRuntimes, type RuntimesContext } from './build-runtimes.ts'
import { GpuHealthWatch } from './gpus/health-watch.ts'
import { readGpuUse, vendorsOf } from './gpus/vendors.ts'
import type { Log } from './log.ts'
import { LogShipper } from './logs/shipper.ts'
import { createMachineReader } from './machine/utilisation.ts'
import { PersistentVolumes } from './mounts/persistent-volumes.ts'
import { createProbe, ReachChecks } from './network/overlay/reach/reach-checks.ts'
import { IdentityRefused } from './plane/access-tokens.ts'
import { PlaneClock } from './plane/clock-offset.ts'
import { establishIdentity, type Host, refusedIdentity } from './plane/establish-identity.ts'
import { HostKey } from './plane/host-key.ts'
import { LeaseWatch } from './plane/lease.ts'
import { Link } from './plane/link.ts'
import { ReportQueue } from './plane/report-queue.ts'
import { sendBehindPosts } from './plane/send-behind-posts.ts'
import { byPlaneClock, createLogSender, createOverlaysSender, createReportSender, createVolumesSender } from './plane/senders.ts'
import { TakeTimes } from './plane/take-times.ts'
import type { Relay } from './relay/relay.ts'
import type { Runtime } from './runtime.ts'
import { type Survey, surveyHost } from './survey.ts'
import { HealthChecks } from './tunnel/health-checks.ts'
import { Tunnel } from './tunnel/tunnel.ts'
import { maintainVolumes } from './volumes/maintain-volumes.ts'
import { WorkloadLedger } from './workloads/ledger.ts'
import { WorkloadRecords } from './workloads/records.ts'
import { STATS_INTERVAL_MS, StatsCollector } from './workloads/stats.ts'
import { Supervisor } from './workloads/supervisor.ts'

const RECONCILE_MS = 10_000
/** Upper bound of the grace period of a workload when the agent itself ends. */
const EXIT_GRACE_MS = 5_000
const LEASE_LOSS_GRACE_MS = 4_000
/** Time limit for sending the last reports; the next agent process sends the rest. */
const FLUSH_MS = { keep: 500, stop: 3_000 } as const

/** Context of a running agent. */
export interface AgentContext extends Pick<RuntimesContext, 'options' | 'log' | 'command'> {
  /** Fires when the operator ends the agent. */
  shutdown: AbortSignal
}

/** Runs the agent until it is shut down or its host is revoked. */
export async function runAgent(context: AgentContext): Promise<void> {
  const { options, log, shutdown } = context
  const clock = new PlaneClock()
  const key = await HostKey.load(options.stateDir)
  const survey = await surveyHost(context)
  const host = await establishIdentity({ options, log, key, clock, inventory: survey.inventory(), shutdown })
  if (host === undefined) return
  const { hostId, dataCenterId } = host.identity
  log.info('this host', { hostId, dataCenter: dataCenterId, stateDir: options.stateDir, runtimes: survey.inventory().runtimes })

  const volumes = new PersistentVolumes(options.volumeDir, log, survey.held)
  volumes.sweep()
  const takes = new TakeTimes()
  const onTaken = (workerId: string) => takes.note(workerId, performance.now())
  const sender = { planeUrl: options.planeUrl, tokens: host.tokens, clock, log }
  const checks =
    survey.overlays &&
    new ReachChecks({ overlays: survey.overlays, probe: createProbe(context.command), send: createOverlaysSender(sender), log })
  const { runtimes, relays } = await openRuntimes(context, survey, host, { volumes, onTaken, checks })
  const send = sendBehindPosts(createReportSender(sender), relays)
  const queue = new ReportQueue({ path: join(options.stateDir, 'reports.json'), send, log })
  const records = new WorkloadRecords(join(options.stateDir, 'workloads'), Date.now())
  for (const file of records.damaged) {
    log.error('the record of a workload is damaged and discarded: the agent adopts running workloads and may restart ended ones', {
      file,
    })
  }
  const ledger = new WorkloadLedger({ records, report: (report) => queue.push(report), log, now: Date.now })
  const logs = new LogShipper({ dir: join(options.stateDir, 'logs'), send: createLogSender(sender), log, now: Date.now })
  const supervisor = new Supervisor({
    runtimes,
    ledger,
    volumes,
    isReporting: (id) => queue.holdsReportOf(id),
    logs,
    log,
    now: Date.now,
  })
  const parts = { supervisor, ledger, clock, takes, queue, logs, runtimes, relays }
  survey.held.bucket?.start()
  await supervisor.adopt()
  takes.adopt(supervisor.workerIds(), performance.now())
  queue.start()
  logs.start()
  checks?.start()
  const volumesKept = maintainVolumes({
    options,
    send: createVolumesSender(sender),
    inUse: () => supervisor.sharedVolumesInUse(),
    sizes: survey.held.sizes,
    log,
  })
  let outcome: Outcome = 'shutdown'
  try {
    outcome = await stayLinked(context, survey, host, parts)
  } finally {
    if (outcome === 'shutdown' && options.onExit === 'keep') noteKept(ledger, log)
    survey.disk.close()
    volumesKept?.close()
    checks?.close()
    await end(context, outcome, parts)
    await survey.held.bucket?.close(outcome === 'shutdown' && options.onExit === 'keep')
    await survey.overlays?.close()
    await survey.network?.close()
  }
}

async function openRuntimes(
  context: AgentContext,
  { inventory: _inventory, ...found }: Survey,
  host: Host,
  parts: Pick<RuntimesContext, 'volumes' | 'onTaken' | 'checks'>,
) {
  const { options } = context
  const gpus = { devices: found.devices, simulatedTypes: new Set(options.simulatedGpus.map((gpu) => gpu.typeId)) }
  const common = { ...context, ...found, ...parts, gpus, tokens: host.tokens }
  if (host.previousHostId !== undefined) await stopPrevious(common, host.previousHostId)
  return await buildRuntimes({ ...common, hostId: host.identity.hostId })
}

/** Stops the workloads of an identity that the plane has given up; they must not occupy GPUs that the new identity offers. */
async function stopPrevious(common: Omit<Parameters<typeof buildRuntimes>[0], 'hostId'>, hostId: string): Promise<void> {
  const { runtimes, relays } = await buildRuntimes({ ...common, hostId })
  for (const runtime of runtimes) {
    for (const { id } of await runtime.list()) {
      await runtime.stop(id, EXIT_GRACE_MS)
      await runtime.remove(id)
    }
    runtime.close()
  }
  await Promise.all(relays.map((relay) => relay.close()))
}

type Outcome = 'shutdown' | 'revoked'

interface Parts {
  supervisor: Supervisor
  ledger: WorkloadLedger
  clock: PlaneClock
  takes: TakeTimes
  queue: ReportQueue
  logs: LogShipper
  runtimes: readonly Runtime[]
  relays: readonly Relay[]
}

async function stayLinked(
  { options, log, shutdown }: AgentContext,
  { inventory, network, overlays, held, devices, disk }: Pick<Survey, 'inventory' | 'network' | 'overlays' | 'held' | 'devices' | 'disk'>,
  host: Host,
  { supervisor, ledger, clock, takes, relays }: Parts,
): Promise<Outcome> {
  let silenceMaxMs = 0
  const lease = new LeaseWatch((sinceMs, nowMs) => {
    if (options.onLeaseLoss === 'finish') return null
    const { due, nextMs } = takes.planStops(supervisor.workerIds(), { sinceMs, nowMs, maxMs: silenceMaxMs })
    void supervisor.pauseWorkers(due, LEASE_LOSS_GRACE_MS, 'stopped by its host, which lost the connection to the plane')
    return nextMs
  })
  const stats = createStats(options.stateDir, supervisor, devices.length > 0, log)
  const timers = [setInterval(() => supervisor.reconcile(), RECONCILE_MS), setInterval(() => void stats.collect(), STATS_INTERVAL_MS)]
  const gpuHealth = new GpuHealthWatch({ vendors: vendorsOf(devices), log })
  if (devices.length > 0) gpuHealth.start()
  const tunnel = createTunnel(options.planeUrl, host, supervisor, log)
  const revoked = Promise.withResolvers<Outcome>()
  const link = new Link({
    planeUrl: options.planeUrl,
    tokens: host.tokens,
    log,
    hello: () => ({
      type: 'hello',
      takesParts: true,
      inventory: inventory(),
      workloads: ledger.helloReports().map((report) => byPlaneClock(report, clock)),
    }),
    beat: (first) => ({
      workloads: ledger.beatStates(),
      ...stats.forBeat(),
      ...gpuHealth.forBeat(first),
      transports: relays.flatMap((relay) => relay.transports()).slice(0, MAX_TRANSPORTS),
    }),
    onDesired: (workloads, maxMs, networks) => {
      silenceMaxMs = maxMs
      overlays?.update(networks)
      for (const relay of relays) relay.update(workloads)
      held.sizes?.update(workloads)
      supervisor.apply(workloads)
      if (workloads.some(({ health, kind }) => health !== undefined || kind === 'pod')) tunnel.open()
    },
    onLease: (sentAt) => {
      lease.renew(sentAt)
      takes.keep(supervisor.workerIds())
      supervisor.resumeWorkers()
    },
    onRevoked: (reason) => {
      log.warn('the plane revoked this host; all workloads are stopped', { reason })
      revoked.resolve('revoked')
    },
  })
  // The plane places containers by the reported isolation, so the agent reports a change at once.
  if (network !== undefined) network.onIsolationChange = () => link.sayHello()
  disk.onChange = () => {
    link.sayHello()
    supervisor.reconcile()
  }
  try {
    return await Promise.race([revoked.promise, aborted(shutdown), link.run().then(() => 'shutdown' as const)])
  } catch (error) {
    throw error instanceof IdentityRefused ? refusedIdentity(host.identity, error) : error
  } finally {
    for (const timer of timers) clearInterval(timer)
    gpuHealth.close()
    tunnel.close()
    lease.close()
    link.close()
  }
}

/** Creates the tunnel through which the plane reaches the workloads here that serve requests, and the health checks of those workloads. */
function createTunnel(url: string, { tokens }: Host, supervisor: Supervisor, log: Log): Pick<Tunnel, 'open' | 'close'> {
  const place = (id: string, port: number) => supervisor.place(id, port)
  const exec: Supervisor['exec'] = (id, request) => supervisor.exec(id, request)
  const tunnel = new Tunnel({ planeUrl: url, tokens, log, place, exec, accountOf: (id) => supervisor.payerOf(id) })
  const checks = new HealthChecks({
    served: () => supervisor.served(),
    place,
    streamsOf: (id) => tunnel.streamsOf(id),
    notify: (id, verdict) => supervisor.noteHealth(id, verdict),
  })
  const close = () => {
    checks.close()
    tunnel.close()
  }
  return { open: () => tunnel.open(), close }
}

function createStats(stateDir: string, supervisor: Supervisor, machineHasGpus: boolean, log: Log): StatsCollector {
  const machineVcpus = cpus().length
  const running = () =>
    supervisor.running().map(({ id, vcpus, runtime }) => {
      return { id, vcpus: vcpus > 0 ? Math.min(vcpus, machineVcpus) : machineVcpus, read: () => runtime.usage(id) }
    })
  const now = () => performance.now()
  return new StatsCollector({
    running,
    readGpus: () => readGpuUse(),
    readMachine: createMachineReader(stateDir, now),
    machineHasGpus,
    log,
    now,
  })
}

function aborted(signal: AbortSignal): Promise<'shutdown'> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve('shutdown')
    signal.addEventListener('abort', () => resolve('shutdown'), { once: true })
  })
}

function noteKept(ledger: WorkloadLedger, log: Log): void {
  const workloads = ledger.held().filter(({ state }) => state === 'starting' || state === 'running').length
  if (workloads > 0) log.info('workloads keep running without the agent; --on-exit stop would end them with it', { workloads })
}

async function end({ options }: AgentContext, outcome: Outcome, { supervisor, queue, logs, runtimes, relays }: Parts): Promise<void> {
  const revoked = outcome === 'revoked'
  const stop = revoked || options.onExit === 'stop'
  if (stop)
    await supervisor.shutDown(
      EXIT_GRACE_MS,
      revoked ? 'stopped: the host was revoked' : 'stopped: the host agent ended',
      revoked ? 'remove' : 'keep',
    )
  else supervisor.leave()
  // A revoked host cannot report: the plane refuses it.
  const flushMs = revoked ? 0 : FLUSH_MS[stop ? 'stop' : 'keep']
  await Promise.all([queue.close(flushMs), logs.close(flushMs)])
  for (const runtime of runtimes) runtime.close()
  await Promise.all(relays.map((relay) => relay.close()))
}
