import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { join } from 'node:path'
// Not in package.json, on purpose: it has to be the very Miniflare of the pinned wrangler, which brings the same workerd.
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare, Response } from 'miniflare'
import { parseAllowList } from '../../domain/webhook/url.ts'
import { PROJECT_ROOT } from '../paths.ts'
import { LOOPBACK } from '../port.ts'
import { serveAsset } from './assets.ts'
import { loadBundle, type WorkerBundle } from './bundle.ts'
import { applyMigrations } from './migrations.ts'
import { createOutbound } from './outbound.ts'
import { type OwnPorts, watchOwnPorts } from './own-ports.ts'

export interface PlaneOptions {
  /** Directory of D1 and Durable Object storage. */
  storage: string
  port: number
  /** Secrets and variables; they override those of wrangler.toml. */
  vars: Record<string, string>
  /** One line the plane logged. */
  onLog(line: string): void
  /** The runtime crashed and runs again. */
  onRestart?(): void
  /** A runtime process was started; it has to be ended by hand if this process is killed. */
  onProcess?(pid: number): void
  bundle?: WorkerBundle
}

export interface Plane {
  url: string
  stop(): Promise<void>
}

/**
 * Every object of a request that wraps one of the runtime's own outlives the young generation, and a full collection stops all requests until
 * it has taken each of them apart: 0.2 s in a flood. With a small young generation fewer of them wait for it (adr/0023).
 */
const V8_FLAGS = '--max-semi-space-size=1 --heap-growing-percent=5'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Serves the Worker bundle on local workerd with durable storage, its database migrated. */
export async function startPlane(options: PlaneOptions): Promise<Plane> {
  // Miniflare has no option for them.
  process.env.MINIFLARE_WORKERD_V8_FLAGS ??= V8_FLAGS
  const bundle = options.bundle ?? (await loadBundle())
  const stopWatching = watchProcesses((pid) => options.onProcess?.(pid))
  const ownPorts = watchOwnPorts()
  ownPorts.add(options.port)
  const miniflare = keepSignalHandlers(() => new Miniflare(miniflareOptions(options, bundle, ownPorts)))
  const stop = async () => {
    await miniflare.dispose()
    stopWatching()
    ownPorts.stop()
  }
  try {
    ownPorts.add(Number((await miniflare.ready).port))
    if (bundle.settings.d1Databases.includes('DB')) {
      await applyMigrations(await miniflare.getD1Database('DB'), join(PROJECT_ROOT, 'migrations'))
    }
  } catch (error) {
    await stop()
    throw error
  }
  return { url: `http://${LOOPBACK}:${options.port}`, stop }
}

function miniflareOptions(options: PlaneOptions, bundle: WorkerBundle, ownPorts: OwnPorts) {
  const { settings } = bundle
  const bindings: Record<string, string> = { ...settings.vars, ...options.vars }
  return convertV4MiniflareOptions({
    host: LOOPBACK,
    port: 0,
    // Without this Miniflare asks a public service where this machine is.
    cf: false,
    telemetry: { enabled: false },
    log: new Log(LogLevel.NONE),
    resourcePersistencePath: options.storage,
    handleStructuredLogs: ({ message }) => options.onLog(message),
    handleUncaughtError: (error) => options.onLog(JSON.stringify({ level: 'error', msg: 'uncaught', error: error.message })),
    unsafeHandleRuntimeRestart: () => options.onRestart?.(),
    workers: [
      {
        name: 'podplane',
        rootPath: PROJECT_ROOT,
        compatibilityDate: settings.compatibilityDate,
        compatibilityFlags: settings.compatibilityFlags,
        modules: [{ type: 'ESModule', path: 'worker.js', contents: bundle.script }],
        bindings,
        d1Databases: Object.fromEntries(settings.d1Databases.map((name) => [name, name])),
        durableObjects: settings.durableObjects,
        // JL-13: older lines of logs are in the data directory; a deployed plane has a bucket where its operator binds one.
        r2Buckets: { LOGS: 'podplane-logs' },
        serviceBindings: { ASSETS: respondWithAsset },
        outboundService: createOutbound(parseAllowList(bindings.WEBHOOK_ALLOW ?? ''), (port) => ownPorts.has(port)),
        // Miniflare's own entry worker would cost three quarters of the throughput; this socket leads straight to the Worker.
        unsafeDirectSockets: [{ host: LOOPBACK, port: options.port }],
      },
    ],
  })
}

async function respondWithAsset(request: {
  method: string
  url: string
  headers: { get(name: string): string | null }
}): Promise<Response> {
  const { status, headers, body } = await serveAsset(join(PROJECT_ROOT, 'dist/assets'), request)
  return new Response(body, { status, headers })
}

// Miniflare ends this process on the first signal, before agent and containers could be stopped in order. Its `exit` handler stays.
function keepSignalHandlers<T>(create: () => T): T {
  const before = new Map(SIGNALS.map((signal) => [signal, process.listeners(signal)]))
  const created = create()
  for (const [signal, known] of before) {
    for (const listener of process.listeners(signal)) if (!known.includes(listener)) process.removeListener(signal, listener)
  }
  return created
}

// Miniflare does not tell the pid of the runtime, and starts another one after a crash. Node announces every child process here.
function watchProcesses(onProcess: (pid: number) => void): () => void {
  const listener = (message: unknown) => {
    const child = (message as { process: import('node:child_process').ChildProcess }).process
    child.once('spawn', () => {
      if (child.spawnfile.includes('workerd') && child.pid !== undefined) onProcess(child.pid)
    })
  }
  subscribe('child_process', listener)
  return () => unsubscribe('child_process', listener)
}
