import { RETENTION_DEFAULTS } from '../../src/contract/defaults.ts'
import { LEASE_INTERVALS } from '../../src/domain/job/lease.ts'
import { removalAtMs } from '../../src/domain/job/retention.ts'
import { DUE_BATCH } from '../../src/queue/deadlines.ts'
import { PRICES } from './prices.ts'

/** Numbers of everything that the network bills by number. */
export interface Counts {
  rowsRead: number
  rowsWritten: number
  alarmsSet: number
  requests: number
  /** Calls of objects, fired alarms included. */
  objectCalls: number
  /** Messages to objects over WebSockets. */
  messages: number
}

/**
 * Operations whose counts are measured (`counts.json`). `first ping` is the first one that names a job. `empty take` and `stop poll` are
 * polls that end without a job. `alarm moved`, `first take of a minute` and `first end of a minute` are what a ping, a poll and an end of a
 * job cost more when they set an alarm, or are noted for the minute. `channel take` and `channel done` are those steps over a worker
 * channel; `channel busy hour` is an hour of one worker with jobs of ten minutes, everything included, and `channel idle hour` one without
 * jobs. `retention` is the removal of one job, and `removal alarm` the alarm that removes many. `log minute` is a minute of ten lines a
 * second, a batch each second, in a log of full length.
 */
export type Operation =
  | 'submit'
  | 'status'
  | 'take'
  | 'first ping'
  | 'ping'
  | 'done'
  | 'retention'
  | 'removal alarm'
  | 'empty take'
  | 'first take of a minute'
  | 'stop poll'
  | 'alarm moved'
  | 'first end of a minute'
  | 'host hour'
  | 'log minute'
  | 'channel take'
  | 'channel done'
  | 'channel busy hour'
  | 'channel idle hour'

/** How often operations happen, and the seconds in which an object cannot hibernate because it holds a poll. */
export interface Usage {
  operations: Partial<Record<Operation, number>>
  heldSeconds: number
}

/** Dollars by kind of charge. */
export interface Bill {
  rows: number
  requests: number
  objectCalls: number
  objectTime: number
  total: number
}

export const INTERVALS = { pingSeconds: 10, holdSeconds: 25 } as const
/** Workers of an endpoint that share its object in the bills of jobs. */
export const WORKERS = 10
export const MONTH_SECONDS = 30 * 24 * 3_600
/** Time for which one call keeps an object active, seconds. An assumption, above the measured times, because it is not a count. */
const CALL_SECONDS = 0.01
/** Pings until the alarm of an endpoint with running jobs is moved (LSE-24). */
const PINGS_PER_ALARM = LEASE_INTERVALS - 1
/** Jobs that end within this time are removed by one alarm, as far as one commit has room for them (JOB-49). */
const REMOVAL_SECONDS = removalAtMs(1, RETENTION_DEFAULTS.run) / 1_000

/** Hours of a busy worker for one job of ten minutes. */
const LONG_JOB_HOURS = 1 / 6

/**
 * One short job of `seconds` on a busy worker with a worker channel, of an endpoint with `workers` workers, with its share of the
 * endpoint's history. The client reads the status once, and the job is deleted after its retention by an alarm that it shares with the jobs
 * that ended at about the same time.
 */
export function jobUsage(seconds: number, workers = WORKERS): Usage {
  return {
    operations: { submit: 1, status: 1, 'channel take': 1, 'channel done': 1, ...sharesOf(seconds, workers) },
    heldSeconds: 0,
  }
}

/** The shares of a job of `seconds` in what it causes with the other jobs of an endpoint with `workers` busy workers. */
function sharesOf(seconds: number, workers: number): Usage['operations'] {
  const jobsPerRemoval = Math.min(DUE_BATCH, (REMOVAL_SECONDS * workers) / seconds)
  return {
    retention: 1,
    'removal alarm': Math.min(1, 1 / jobsPerRemoval),
    'first end of a minute': Math.min(1, seconds / workers / 60),
  }
}

/** One job of ten minutes of a worker with a worker channel, the only one of its endpoint: a sixth of a counted hour. */
export function longJobUsage(): Usage {
  return { operations: { 'channel busy hour': LONG_JOB_HOURS }, heldSeconds: 0 }
}

/**
 * One job of `seconds` on a busy worker of an endpoint with `workers` workers that use HTTP: its own calls, the pings and stop polls of its
 * worker meanwhile, and its share of the endpoint's alarm, history and time.
 */
export function httpJobUsage(seconds: number, workers = WORKERS): Usage {
  const pings = seconds / INTERVALS.pingSeconds
  const firstPings = Math.min(1, pings)
  return {
    operations: {
      ...{ submit: 1, status: 1, take: 1, done: 1, ...sharesOf(seconds, workers) },
      ...{ 'first ping': firstPings, ping: pings - firstPings, 'stop poll': seconds / INTERVALS.holdSeconds },
      'alarm moved': pings / PINGS_PER_ALARM / workers,
    },
    heldSeconds: seconds / workers,
  }
}

/** A worker with a worker channel for `seconds`, without jobs, with the alarms of its endpoint: between two jobs and within one it sends nothing. */
export function workerUsage(seconds: number): Usage {
  return { operations: { 'channel idle hour': seconds / 3_600 }, heldSeconds: 0 }
}

/**
 * An endpoint without jobs, with one ready worker that uses HTTP, for `seconds`: its object holds the worker's polls all the time, and each
 * take moves the alarm.
 */
export function httpEndpointUsage(seconds: number): Usage {
  const pings = seconds / INTERVALS.pingSeconds
  const polls = seconds / INTERVALS.holdSeconds
  return {
    operations: {
      ping: pings,
      'empty take': polls,
      'stop poll': polls,
      'alarm moved': polls,
      'first take of a minute': seconds / 60,
    },
    heldSeconds: seconds,
  }
}

/** A linked host for `seconds`, without the workloads on it. */
export function hostUsage(seconds: number): Usage {
  return { operations: { 'host hour': seconds / 3_600 }, heldSeconds: 0 }
}

/** A pod that prints ten lines a second for `seconds`. */
export function chattyPodUsage(seconds: number): Usage {
  return { operations: { 'log minute': seconds / 60 }, heldSeconds: 0 }
}

/** Counts of a usage, given those of one operation of each kind. */
export function countsOf({ operations }: Usage, counts: Readonly<Record<Operation, Counts>>): Counts {
  const sum: Counts = { rowsRead: 0, rowsWritten: 0, alarmsSet: 0, requests: 0, objectCalls: 0, messages: 0 }
  for (const [name, times] of Object.entries(operations) as [Operation, number][])
    for (const kind of Object.keys(sum) as (keyof Counts)[]) sum[kind] += times * counts[name][kind]
  return sum
}

/** The bill of a usage at the published prices, USD. */
export function billOf(usage: Usage, counts: Readonly<Record<Operation, Counts>>): Bill {
  const { rowsRead, rowsWritten, alarmsSet, requests, objectCalls, messages } = countsOf(usage, counts)
  // While it holds a poll, the object is billed for that time already.
  const activeSeconds = Math.max(usage.heldSeconds, (objectCalls + messages) * CALL_SECONDS)
  const bill = {
    rows: rowsRead * PRICES.rowRead + (rowsWritten + alarmsSet) * PRICES.rowWritten,
    requests: requests * PRICES.request,
    objectCalls: (objectCalls + messages / PRICES.messagesPerCall) * PRICES.objectCall,
    objectTime: activeSeconds * PRICES.objectGb * PRICES.gbSecond,
  }
  return { ...bill, total: bill.rows + bill.requests + bill.objectCalls + bill.objectTime }
}
