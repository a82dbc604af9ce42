import { createRequire } from 'node:module'
import { join } from 'node:path'
// Deliberately not in package.json: it must be the Miniflare of the pinned wrangler, which brings the same workerd.
import { Log, LogLevel, Miniflare, type MiniflareOptions } from 'miniflare'
import { errorText, OperatorError } from '../../node/fail.ts'
import { withoutParameters } from '../../platform/error-text.ts'
import { PROJECT_ROOT } from '../paths.ts'
import { LOOPBACK } from '../port.ts'

/**
 * Objects that wrap the runtime's own outlive the young generation, and a full collection stops all requests while it frees them one by
 * one: 0.2 s under a flood. A small young generation keeps their number low (adr/0023).
 */
const V8_FLAGS = '--max-semi-space-size=1 --heap-growing-percent=5'
const WRAPPER = join(PROJECT_ROOT, 'src/local/plane/workerd.sh')
const OUTPUT_BUFFER = join(PROJECT_ROOT, 'src/local/plane/output-buffer.ts')
/** Timeout of a start, milliseconds; a start takes less than a second on an idle machine. */
const START_TIMEOUT_MS = 30_000
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * The workerd executable: the one that the environment names, or that of the pinned package. A process that has started a runtime passes
 * the wrapper to its children in the same variable, so the wrapper's path is ignored.
 */
const { MINIFLARE_WORKERD_PATH: named } = process.env
const EXECUTABLE =
  named !== undefined && named !== WRAPPER ? named : createRequire(createRequire(import.meta.url).resolve('miniflare'))('workerd').default

/**
 * Options of every runtime of this program: it never waits for a reader of its output (PLANE-11), and it locks its storage (PLANE-13).
 * `onLog` receives each line that its Worker logs.
 */
export function runtimeOptions(storage: string, onLog: (line: string) => void) {
  return {
    host: LOOPBACK,
    port: 0,
    // Otherwise Miniflare asks a public service for the location of this machine.
    cf: false,
    telemetry: { enabled: false },
    log: new Log(LogLevel.NONE),
    resourcePersistencePath: storage,
    // The runtime logs an error that leaves the Worker by itself.
    handleStructuredLogs: ({ message }: { message: string }) => onLog(withoutParameters(message)),
    unsafeRuntimeEnv: {
      PODPLANE_WORKERD: EXECUTABLE,
      PODPLANE_NODE: process.execPath,
      PODPLANE_OUTPUT_BUFFER: OUTPUT_BUFFER,
      PODPLANE_RUNTIME_LOCK: join(storage, 'runtime.lock'),
    },
  } as const
}

/** Starts a runtime. Throws an OperatorError if it does not listen within 30 s, after disposing of it. */
export async function startRuntime(options: MiniflareOptions): Promise<{ miniflare: Miniflare; port: number }> {
  // Miniflare has no options for these.
  process.env.MINIFLARE_WORKERD_V8_FLAGS ??= V8_FLAGS
  process.env.MINIFLARE_WORKERD_PATH = WRAPPER
  const miniflare = keepSignalHandlers(() => new Miniflare(options))
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(new OperatorError(`the runtime did not listen within ${START_TIMEOUT_MS / 1000} s`)),
    START_TIMEOUT_MS,
  )
  try {
    return { miniflare, port: Number((await Promise.race([miniflare.ready, late.promise])).port) }
  } catch (error) {
    await miniflare.dispose().catch(() => {})
    throw error instanceof OperatorError ? error : new OperatorError(`the runtime did not start: ${errorText(error)}`)
  } finally {
    clearTimeout(timer)
  }
}

// Miniflare's signal handlers end this process before agent and containers could be stopped in order, so they are removed. Its `exit`
// handler stays.
function keepSignalHandlers<T>(create: () => T): T {
  const before = new Map(SIGNALS.map((signal) => [signal, process.listeners(signal)]))
  const created = create()
  for (const [signal, known] of before) {
    for (const listener of process.listeners(signal)) if (!known.includes(listener)) process.removeListener(signal, listener)
  }
  return created
}
