import type { Rule } from './judge.ts'
import type { Group } from './readings.ts'

/** The load that a run has sent, from which bounds are calculated. */
export interface Done {
  minutes: number
  /** Acknowledged jobs, and those of them with an Idempotency-Key. */
  jobs: number
  keyed: number
  /** Pods that were created. */
  pods: number
  /** Most jobs that were in progress at the same time. */
  openJobs: number
}

interface Bound {
  limit: number
  reason: string
}

const KIB = 2 ** 10
const MIB = 2 ** 20

/** Retention of a result after `/run`, minutes (LIM-4). */
export const RESULT_MINUTES = 30

/**
 * Growth that is noise, and the measured minutes that a verdict needs. Memory and latency need the time in which the runtime compiles its code
 * and grows its heap; the others are counts.
 */
const GROUPS: Readonly<Record<Group, Rule>> = {
  memory: { allowed: { absolute: 16 * MIB, relative: 0.08 }, minMinutes: 15 },
  'open files': { allowed: { absolute: 6, relative: 0.05 }, minMinutes: 5 },
  sockets: { allowed: { absolute: 10, relative: 0.1 }, minMinutes: 5 },
  threads: { allowed: { absolute: 2, relative: 0 }, minMinutes: 5 },
  p50: { allowed: { absolute: 10, relative: 0.5 }, minMinutes: 15 },
  p99: { allowed: { absolute: 100, relative: 1 }, minMinutes: 15 },
  bytes: { allowed: { absolute: 128 * KIB, relative: 0.02 }, minMinutes: 1 },
  files: { allowed: { absolute: 4, relative: 0 }, minMinutes: 1 },
  rows: { allowed: { absolute: 3, relative: 0 }, minMinutes: 1 },
}

/** Rows and files that exist before the load, and those of jobs and pods that are in progress. */
const BASE = 50
const RESULTS = `results of the last ${RESULT_MINUTES} min (LIM-4)`
const KEYS = 'Idempotency-Keys of the last 24 h (RUN-13)'
const LOG_FILES = 'each log rotates at 10 MiB and retains three files (HOST-170)'
const POD_LOGS = 'logs of pods, 24 h after their last line (LOG-19), and of two workers (LOG-10)'
const RECORDS = 'a record of each start, for three days, so that no id starts twice'
const SEGMENTS = 'older log lines in the bucket, as long as their log (LOG-33)'
const HISTORY = 'a ring of measurements (HIS-1)'
const DELIVERIES = 'the latest 1000 deliveries (HOOK-13)'
const PODS = 'terminated pods, for 30 days (POD-76)'
const USAGE = 'intervals of usage, for 365 days (BIL-42)'
const AUDIT = 'the audit log, for 365 days (AUD-10)'

/** Series that may grow: by the work that was done, within its retention. */
const BOUNDS: Readonly<Record<string, (done: Done) => Bound>> = {
  'sockets runtime': ({ openJobs }) => ({ limit: 60 + 3 * openJobs, reason: 'calls of the load and webhooks of the jobs in progress' }),
  'sockets launcher': ({ openJobs }) => ({ limit: 60 + openJobs, reason: 'calls of the load' }),
  'bytes write-ahead logs': ({ openJobs }) => ({
    limit: (10 + Math.ceil(openJobs / 50)) * 5 * MIB,
    reason: 'SQLite writes a log back at 1000 pages of 4 KiB; ten databases are written',
  }),
  'files write-ahead logs': () => ({ limit: 2 * BASE, reason: 'two for each object in memory' }),
  'bytes logs of the plane': () => ({ limit: 3 * 40 * MIB, reason: LOG_FILES }),
  'files logs of the plane': () => ({ limit: 3 * 4, reason: LOG_FILES }),
  'bytes D1': ({ pods }) => ({ limit: 2 * MIB + pods * 16 * KIB, reason: `${PODS}, with their usage and audit log` }),
  'rows D1.pods': ({ pods }) => ({ limit: pods + BASE, reason: PODS }),
  'rows D1.usage': ({ pods, minutes }) => ({ limit: 3 * pods + minutes + BASE, reason: USAGE }),
  'rows D1.usage_days': ({ pods, minutes }) => ({
    limit: 2 * pods + minutes + BASE,
    reason: 'sums of a resource and a day, for ever (BIL-42)',
  }),
  'rows D1.audit': ({ pods }) => ({ limit: 6 * pods + BASE, reason: AUDIT }),
  'bytes EndpointObject': (done) => ({ limit: MIB + retained(done) * 600 + done.keyed * 300, reason: `${RESULTS}, ${KEYS}` }),
  'rows EndpointObject.jobs': (done) => ({ limit: retained(done), reason: RESULTS }),
  'rows EndpointObject.idempotency_keys': ({ keyed }) => ({ limit: keyed + BASE, reason: KEYS }),
  'rows EndpointObject.request_samples': ({ minutes }) => ({ limit: minutes + 5, reason: 'a row a minute, for 7 days (HLT-12)' }),
  'rows EndpointObject.timeline_hours': ({ minutes }) => ({ limit: minutes / 60 + 2, reason: 'a row an hour, for 30 days (HIS-20)' }),
  'bytes HostObject': () => ({ limit: 229 * 16 * KIB, reason: HISTORY }),
  'rows HostObject.history': () => ({ limit: 229, reason: HISTORY }),
  'bytes PodLogObject': ({ pods }) => ({ limit: 12 * MIB + pods * 48 * KIB, reason: POD_LOGS }),
  'files PodLogObject': ({ pods }) => ({ limit: pods + BASE, reason: POD_LOGS }),
  'rows PodLogObject.packs': () => ({ limit: 700, reason: 'the newest 5000 lines and 4 MiB, in packs (LOG-10)' }),
  'rows PodLogObject.segments': ({ jobs }) => ({ limit: jobs / 100 + 5, reason: SEGMENTS }),
  'bytes bucket of logs': ({ jobs }) => ({ limit: MIB + jobs * 512, reason: SEGMENTS }),
  'files bucket of logs': ({ jobs }) => ({ limit: jobs / 100 + BASE, reason: SEGMENTS }),
  'bytes WebhookSenderObject': () => ({ limit: 4 * MIB, reason: DELIVERIES }),
  'rows WebhookSenderObject.deliveries': ({ openJobs }) => ({ limit: 1_000 + openJobs + BASE, reason: DELIVERIES }),
  'rows WebhookSenderObject.pieces': ({ openJobs }) => ({ limit: 1_000 + openJobs + BASE, reason: DELIVERIES }),
  'bytes workloads of the agent': ({ pods }) => ({ limit: (2 * pods + BASE) * KIB, reason: RECORDS }),
  'files workloads of the agent': ({ pods }) => ({ limit: 2 * pods + BASE, reason: RECORDS }),
  'bytes logs of the agent': () => ({ limit: 4 * MIB, reason: 'lines that the plane may not have, in segments of 256 KiB' }),
  'files logs of the agent': () => ({ limit: BASE, reason: 'a state and two segments for each workload that runs' }),
  'bytes processes of the agent': () => ({ limit: 10 * MIB, reason: 'the output of a program rotates at 1 MiB, one older file stays' }),
  'files processes of the agent': () => ({ limit: BASE, reason: 'four for each workload that runs' }),
}

/** Series with a bound, each as its kind and its name. */
export const BOUNDED: readonly string[] = Object.keys(BOUNDS)

/** Returns the rule of a series. A table or a family without a bound must not grow at all. */
export function ruleOf(group: Group, of: string, done: Done): Rule {
  const bound = BOUNDS[`${group} ${of}`]
  return bound === undefined ? GROUPS[group] : { ...GROUPS[group], bound: bound(done) }
}

/** Jobs whose results are retained at the end, with a tenth for an uneven rate and for the steps of their deletion. */
function retained({ jobs, minutes, openJobs }: Done): number {
  return Math.ceil(Math.min(jobs, (jobs / minutes) * RESULT_MINUTES * 1.1)) + openJobs + BASE
}
