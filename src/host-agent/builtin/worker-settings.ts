/** Settings of a worker from its environment, under the names that stock worker SDKs use. */
export interface WorkerSettings {
  workerId: string
  apiKey: string
  takeUrl: string
  outputUrl: string
  streamUrl: string
  pingUrl: string | undefined
  pingIntervalMs: number
  concurrency: number
}

const PING_INTERVAL_DEFAULT_MS = 10_000
/** A shorter interval would only load the plane. */
const PING_INTERVAL_MIN_MS = 100
const CONCURRENCY_MAX = 32

/** Reads the settings of a serverless worker from its environment. Throws when the URL of an operation is not set. */
export function readWorkerSettings(env: Record<string, string | undefined>): WorkerSettings {
  const workerId = env.RUNPOD_POD_ID ?? `local-${process.pid}`
  const url = (name: string, missing?: string) => {
    const template = env[name] ?? missing
    if (template === undefined) throw new Error(`${name} is not set; this built-in image runs as a serverless worker only`)
    return template.replaceAll('$RUNPOD_POD_ID', workerId)
  }
  return {
    workerId,
    apiKey: env.RUNPOD_AI_API_KEY ?? '',
    // In the take URL `$ID` is the worker; in the two other URLs it is the job and is replaced in each call.
    takeUrl: url('RUNPOD_WEBHOOK_GET_JOB').replaceAll('$ID', workerId),
    outputUrl: url('RUNPOD_WEBHOOK_POST_OUTPUT'),
    streamUrl: url('RUNPOD_WEBHOOK_POST_STREAM', env.RUNPOD_WEBHOOK_JOB_STREAM ?? ''),
    // Without a key the worker sends no pings, as stock SDKs do.
    pingUrl: env.RUNPOD_AI_API_KEY ? env.RUNPOD_WEBHOOK_PING?.replaceAll('$RUNPOD_POD_ID', workerId) : undefined,
    pingIntervalMs: Math.max(PING_INTERVAL_MIN_MS, Number(env.RUNPOD_PING_INTERVAL) || PING_INTERVAL_DEFAULT_MS),
    concurrency: Math.min(CONCURRENCY_MAX, Math.max(1, Math.trunc(Number(env.PROBE_CONCURRENCY)) || 1)),
  }
}
