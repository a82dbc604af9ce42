/** Handling of a worker route while the plane cannot be reached. */
export type RelayTreatment = 'poll' | 'post' | 'ping'

const TREATMENTS: Record<string, { method: 'GET' | 'POST'; treatment: RelayTreatment }> = {
  'job-take': { method: 'GET', treatment: 'poll' },
  'job-take-batch': { method: 'GET', treatment: 'poll' },
  'job-stop': { method: 'GET', treatment: 'poll' },
  'job-done': { method: 'POST', treatment: 'post' },
  'job-stream': { method: 'POST', treatment: 'post' },
  ping: { method: 'GET', treatment: 'ping' },
}

/** A request of a worker, as its path names it. */
export interface RelayRoute {
  treatment: RelayTreatment
  method: 'GET' | 'POST'
  endpoint: string
  verb: string
  worker: string
  /** As in the path; empty on routes without a job. */
  job: string
  /** Normalised path and query, to be appended to the plane's URL. */
  target: string
}

/**
 * Parses a request line; undefined for everything that is not a worker route. The path is normalised before it is checked, so that neither
 * `/v2/x/ping/../../y` reaches another route of the plane nor `/v2/..//other.host/ping/w` another host.
 */
export function parseRelayRoute(method: string | undefined, rawUrl: string | undefined): RelayRoute | undefined {
  if (rawUrl === undefined || !rawUrl.startsWith('/v2/') || !URL.canParse(rawUrl, 'http://relay')) return undefined
  const url = new URL(rawUrl, 'http://relay')
  const [, version, endpoint = '', verb = '', worker = '', job = ''] = url.pathname.split('/')
  const route = Object.hasOwn(TREATMENTS, verb) ? TREATMENTS[verb] : undefined
  if (version !== 'v2' || route === undefined || route.method !== method || endpoint === '' || worker === '') return undefined
  return { ...route, endpoint, verb, worker: cutGlued(worker), job: cutGlued(job), target: url.pathname + url.search }
}

// WRK-3: with a template without a `?` the worker appends its parameters to the last path segment.
function cutGlued(segment: string): string {
  return segment.replace(/&.*/, '')
}

/** Whether a poll is answered with jobs. */
export function isTake({ verb }: RelayRoute): boolean {
  return verb === 'job-take' || verb === 'job-take-batch'
}

/** Whether a ping contains a status and not only the running jobs (WRK-3): it must arrive, however late. */
export function isReport({ treatment, target }: RelayRoute): boolean {
  return treatment === 'ping' && /[?&]status=/.test(target)
}

/**
 * Returns the target of a poll or ping with the jobs added whose results the relay still has. The worker is done with them, but the plane
 * must not consider their results lost (LSE-3, LSE-5), or it would run them again.
 */
export function withRetainedJobs({ treatment, target }: RelayRoute, keptJobs: readonly string[]): string {
  if (keptJobs.length === 0) return target
  if (treatment === 'poll') return target.replace(/([?&]job_in_progress=)0(?=&|$)/, (_, name: string) => `${name}1`)
  const listed = /[?&]job_id=([^&]*)/.exec(target)?.[1]
  if (listed === undefined) return `${target}&job_id=${keptJobs.join(',')}`
  const jobs = [...new Set([...listed.split(/,|%2C/i), ...keptJobs])].filter((job) => job !== '')
  return target.replace(/([?&]job_id=)[^&]*/, (_, name: string) => name + jobs.join(','))
}
