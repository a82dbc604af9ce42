import { z } from 'zod'
import { orChangePlan } from '../change-plan.ts'

const MIB = 2 ** 20
const GIB = 2 ** 30

/**
 * Weight of a large body that was refused because of its contents (BUDGET-4): it counts this many times its bytes. No client sends many of
 * those by mistake, and each one of ten megabytes stops all requests for a garbage collection.
 */
export const MALFORMED_WEIGHT = 32

/**
 * Budgets of an account at one time (BUDGET-1): more than the owner of one machine needs, and less than would harm others. The operator can
 * set other bounds for an account. `free` is the advice on how to free some of a budget.
 */
export const BUDGETS = {
  organizations: { bound: 10, unit: 'count', counts: 'organizations that the user owns', free: 'delete one or hand one over' },
  pods: { bound: 1_000, unit: 'count', counts: 'pods that are not terminated', free: 'terminate one' },
  clusters: { bound: 50, unit: 'count', counts: 'clusters that are not deleted', free: 'delete one' },
  stoppedPods: { bound: 500, unit: 'count', counts: 'pods that are EXITED or ERROR', free: 'terminate one' },
  formerPods: { bound: 1_000, unit: 'count', counts: 'records of terminated pods; the oldest are deleted', free: '' },
  endpoints: { bound: 500, unit: 'count', counts: 'endpoints', free: 'delete one' },
  releasesPerEndpoint: { bound: 50, unit: 'count', counts: 'stored releases of an endpoint; the oldest are deleted', free: '' },
  apiKeys: { bound: 200, unit: 'count', counts: 'API keys that are neither revoked nor expired', free: 'revoke one' },
  gpus: { bound: 256, unit: 'count', counts: 'GPUs of pods and workers', free: 'stop pods or workers that use GPUs' },
  specBytesPerHost: {
    bound: 64 * MIB,
    unit: 'bytes',
    counts: 'bytes that specify the pods on one machine',
    free: 'terminate one or shorten its env',
  },
  storedBytes: {
    bound: 64 * MIB,
    unit: 'bytes',
    counts: 'bytes of the configurations of endpoints, releases and templates',
    free: 'delete one or shorten its env',
  },
  keptAnswers: {
    bound: 5_000,
    unit: 'count',
    counts: 'stored responses for an Idempotency-Key, each for 24 hours',
    free: 'retry when the oldest have expired, or send no Idempotency-Key',
  },
  keptAnswerBytes: {
    bound: 64 * MIB,
    unit: 'bytes',
    counts: 'bytes of those answers',
    free: 'retry when the oldest have expired, or send no Idempotency-Key',
  },
  secrets: { bound: 1_000, unit: 'count', counts: 'secrets', free: 'delete one' },
  secretBytes: { bound: 256 * MIB, unit: 'bytes', counts: 'bytes of the values of secrets', free: 'delete one or shorten its value' },
  queuedBytes: {
    bound: 32 * GIB,
    unit: 'bytes',
    counts: 'bytes reserved for inputs and results of jobs',
    free: 'retry when results have passed their retention, or purge a queue',
  },
  logBytes: {
    bound: 10 * GIB,
    unit: 'bytes',
    counts: 'bytes of archived log lines; the logs with the oldest writes are deleted first',
    free: '',
  },
  inFlightBytes: {
    bound: 256 * MIB,
    unit: 'bytes',
    counts: `bytes of job bodies within 10 seconds, malformed ones ${MALFORMED_WEIGHT} times`,
    free: 'send them more slowly',
  },
  readBytes: {
    bound: 256 * MIB,
    unit: 'bytes',
    counts: 'bytes of large results that are read within 10 seconds, longer for slow readers',
    free: 'read them more slowly',
  },
  readRows: {
    bound: 300_000,
    unit: 'count',
    counts: 'database rows that bills, spend, lists and the audit log read within 10 seconds',
    free: 'request a shorter time range or smaller pages',
  },
} as const satisfies Record<string, { bound: number; unit: 'count' | 'bytes'; counts: string; free: string }>

export type BudgetName = keyof typeof BUDGETS
export const BUDGET_NAMES = Object.keys(BUDGETS) as BudgetName[]

/**
 * Budgets that an account shares with the organizations that its user has created, while these have no plan of their own (PLAN-5). So more
 * organizations do not raise these bounds.
 */
export const SHARED_BUDGETS: ReadonlySet<BudgetName> = new Set([
  'pods',
  'clusters',
  'stoppedPods',
  'endpoints',
  'gpus',
  'storedBytes',
  'secrets',
  'secretBytes',
  'queuedBytes',
  'logBytes',
  'inFlightBytes',
  'readBytes',
  'readRows',
])

/** Returns the text of a refusal: the use, the requested amount, the bound and the next step. */
export function describeExcess(name: BudgetName, used: number, more: number, bound: number): string {
  const { counts, free } = BUDGETS[name]
  return `the account's budget ${name} (${counts}) is ${bound}: ${used} are in use and the request needs ${more} more; ${free}, or ask the operator to raise the budget`
}

const forEach = <Value extends z.ZodType>(value: (name: BudgetName) => Value) =>
  Object.fromEntries(BUDGET_NAMES.map((name) => [name, value(name)])) as Record<BudgetName, Value>

/** Byte counts exceed 32 bits; this is the largest integer that JSON numbers hold exactly. */
const Bound = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)

export const BudgetUse = z
  .object({
    used: z.number().int(),
    bound: z.number().int(),
    unit: z.enum(['count', 'bytes']),
    shared: z.boolean().meta({
      description:
        'Counted together with the personal account of the creator of this organization, or with the organizations that this user has created.',
    }),
  })
  .meta({ id: 'BudgetUse', example: { used: 3, bound: 500, unit: 'count', shared: true } })

export const AccountLimits = z
  .object({
    plan: z
      .string()
      .nullable()
      .meta({ description: 'The plan that the operator assigned to the account, or to the account whose budgets it shares; null: none.' }),
    ...forEach((name) => BudgetUse.meta({ description: BUDGETS[name].counts })),
  })
  .meta({
    id: 'AccountLimits',
    description: 'Use and bound of each budget of the account.',
    example: {
      plan: 'research',
      ...Object.fromEntries(
        BUDGET_NAMES.map((name) => [
          name,
          { used: 0, bound: BUDGETS[name].bound, unit: BUDGETS[name].unit, shared: SHARED_BUDGETS.has(name) },
        ]),
      ),
    },
  })
export type AccountLimits = z.infer<typeof AccountLimits>

export const BudgetOverrides = z
  .strictObject(forEach(() => Bound.optional()))
  .meta({ id: 'BudgetOverrides', description: 'Bounds of an account in place of the defaults (BUDGET-2).', example: { gpus: 1024 } })
export type BudgetOverrides = z.infer<typeof BudgetOverrides>

/** Answer of a change: the overrides, or with `dryRun` the plan (DRY-11). */
export const BudgetOverridesOrChangePlan = orChangePlan('BudgetOverridesOrChangePlan', BudgetOverrides)
