import type { ChildProcess } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { join } from 'node:path'
import { convertV4MiniflareOptions, type Miniflare, Response } from 'miniflare'
import { WRITE_FAILED_URL } from '../../domain/plane/storage-room.ts'
import { parseAllowList } from '../../domain/webhook/url.ts'
import { OperatorError } from '../../node/fail.ts'
import { withoutParameters } from '../../platform/error-text.ts'
import { PROJECT_ROOT } from '../paths.ts'
import { LOOPBACK } from '../port.ts'
import { serveAsset } from './assets.ts'
import { loadBundle, type WorkerBundle } from './bundle.ts'
import { migrateStorage } from './migrate.ts'
import { createOutbound } from './outbound.ts'
import { type OwnPorts, watchOwnPorts } from './own-ports.ts'
import { runtimeOptions, startRuntime } from './runtime.ts'
import { type StorageWatch, watchStorage } from './storage-watch.ts'

export interface PlaneOptions {
  /** Directory of D1 and Durable Object storage. */
  storage: string
  port: number
  /** Secrets and variables; they override those of wrangler.toml. */
  vars: Record<string, string>
  /** Receives each line that the plane logs. */
  onLog(line: string): void
  /** Called when the runtime has crashed and runs again. */
  onRestart?(): void
  /** Called when the runtime has ended and does not run again within 30 s. */
  onLost?(): void
  /** Called for each runtime process that was started. The caller must kill it if this process is killed. */
  onProcess?(pid: number): void
  bundle?: WorkerBundle
  /** Port on which the runtime's inspector listens, for profiles; none by default. */
  inspectorPort?: number
}

/** A running local plane. */
export interface Plane {
  url: string
  stop(): Promise<void>
}

/** A crashed runtime runs again within a second or two; after this time it will not. */
const RESTART_LIMIT_MS = 30_000
/** Lines of the runtime's log in the error of a failed start. */
const TAIL_LINES = 5

/**
 * Serves the Worker bundle on local workerd with durable storage and a migrated database. Throws an OperatorError that ends with the
 * runtime's last lines if it does not start (PLANE-10).
 */
export async function startPlane(options: PlaneOptions): Promise<Plane> {
  const bundle = options.bundle ?? (await loadBundle())
  const recent: string[] = []
  const onLog = (line: string) => {
    if (recent.push(line) > TAIL_LINES) recent.shift()
    options.onLog(line)
  }
  let lost: NodeJS.Timeout | undefined
  const onRestart = () => {
    clearTimeout(lost)
    options.onRestart?.()
  }
  let miniflare: Miniflare | undefined
  const stopWatching = watchProcesses((child) => {
    if (child.pid !== undefined) options.onProcess?.(child.pid)
    child.once('exit', () => {
      if (miniflare === undefined) return
      clearTimeout(lost)
      lost = setTimeout(() => options.onLost?.(), RESTART_LIMIT_MS)
    })
  })
  const ownPorts = watchOwnPorts()
  ownPorts.add(options.port)
  const watch = await watchStorage(options.storage, (line) => options.onLog(JSON.stringify({ level: 'warn', message: line })))
  const stop = async () => {
    stopWatching()
    await miniflare?.dispose()
    clearTimeout(lost)
    ownPorts.stop()
    watch.stop()
  }
  try {
    await migrateStorage(options.storage, bundle.settings, onLog)
    const started = await startRuntime(miniflareOptions({ ...options, onLog, onRestart }, bundle, ownPorts, watch))
    miniflare = started.miniflare
    ownPorts.add(started.port)
  } catch (error) {
    await stop()
    throw error instanceof OperatorError && recent.length > 0 ? new OperatorError([error.message, ...recent].join('\n  ')) : error
  }
  return { url: `http://${LOOPBACK}:${options.port}`, stop }
}

function miniflareOptions(options: PlaneOptions, bundle: WorkerBundle, ownPorts: OwnPorts, watch: StorageWatch) {
  const { settings } = bundle
  const bindings: Record<string, string> = { ...settings.vars, ...options.vars }
  return convertV4MiniflareOptions({
    ...runtimeOptions(options.storage, options.onLog),
    handleUncaughtError: (error) =>
      options.onLog(JSON.stringify({ level: 'error', msg: 'uncaught', error: withoutParameters(error.message) })),
    unsafeHandleRuntimeRestart: () => options.onRestart?.(),
    ...(options.inspectorPort !== undefined && { inspectorPort: options.inspectorPort }),
    workers: [
      {
        name: 'podplane',
        unsafeInspectorProxy: options.inspectorPort !== undefined,
        rootPath: PROJECT_ROOT,
        compatibilityDate: settings.compatibilityDate,
        compatibilityFlags: settings.compatibilityFlags,
        modules: [{ type: 'ESModule', path: 'worker.js', contents: bundle.script }],
        bindings,
        d1Databases: Object.fromEntries(settings.d1Databases.map((name) => [name, name])),
        durableObjects: settings.durableObjects,
        // LOG-33: older log lines are stored in the data directory; a deployed plane stores them in a bucket if its operator binds one.
        // BIL-43: so are the intervals of closed months.
        r2Buckets: { LOGS: 'podplane-logs', USAGE: 'podplane-usage' },
        serviceBindings: {
          ASSETS: respondWithAsset,
          MACHINE: async ({ url }) => Response.json(await watch.facts(url === WRITE_FAILED_URL)),
        },
        outboundService: createOutbound(parseAllowList(bindings.WEBHOOK_ALLOW ?? ''), (port) => ownPorts.has(port)),
        // Miniflare's entry worker would cost three quarters of the throughput; this socket leads directly to the Worker.
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

// Miniflare does not expose the pid of the runtime, and starts another one after a crash. Node publishes every child process on this
// channel.
function watchProcesses(onStart: (child: ChildProcess) => void): () => void {
  const listener = (message: unknown) => {
    const { process: child } = message as { process: ChildProcess }
    child.once('spawn', () => {
      if (child.spawnfile.includes('workerd')) onStart(child)
    })
  }
  subscribe('child_process', listener)
  return () => unsubscribe('child_process', listener)
}
