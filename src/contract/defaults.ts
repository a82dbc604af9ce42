/**
 * What holds where a create says nothing, whatever else it says: the document names these as `default` (PP-122) and decisions use them.
 * What a template may fill has none here.
 */
export const POD_DEFAULTS = { cloud: 'SECURE', onHostLoss: 'WAIT', gpuCount: 1 } as const

/** Of clusters (CLU-11). */
export const CLUSTER_DEFAULTS = { onHostLoss: 'WAIT' } as const

/** Of Serverless endpoints (END-2, END-6, END-7). */
export const ENDPOINT_DEFAULTS = {
  type: 'QUEUE',
  cloud: 'SECURE',
  gpuCount: 1,
  workers: { min: 0, max: 3, idleTimeout: 5 },
  scaling: { type: 'QUEUE_DELAY', queueDelay: 4 },
  timeout: 600_000,
  flashboot: 'OFF',
} as const

/** LIM-4: results are kept at least this long, milliseconds. */
export const RETENTION_DEFAULTS = { run: 1_800_000, runSync: 60_000 } as const

/** TPL-2. */
export const TEMPLATE_DEFAULTS = {
  disk: 10,
  serverless: false,
  public: false,
  category: 'NVIDIA',
  startSsh: true,
  startJupyter: true,
} as const

/** Of jobs: their policy (TMO-1) and how long a held call waits (RUN-4), milliseconds; how many `/requests` lists (PP-47). */
export const JOB_DEFAULTS = { ttl: 86_400_000, lowPriority: false, wait: 90_000, streamWait: 10_000, requests: 100, interval: 'h' } as const

/** How long a rotated key is still good, seconds (TEAM-22). */
export const KEY_OVERLAP_SECONDS = 86_400
