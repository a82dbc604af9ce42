import { z } from 'zod'
import { Timestamp } from '../fields.ts'
import { queryInteger } from '../query-values.ts'

const MAX_ITEMS = 1_000
const DEFAULT_ITEMS = 100
const usd = (description: string) => z.number().meta({ description, format: 'double' })
const moment = (description: string) => Timestamp.nullable().meta({ format: 'date-time', description })

export const SpendQuery = z.object({
  limit: queryInteger(1, MAX_ITEMS, DEFAULT_ITEMS).meta({ description: 'Maximum number of items, the most expensive first.', example: 20 }),
})
export type SpendQuery = z.infer<typeof SpendQuery>

/** One item of the current spend; times in UTC, amounts in USD (SPD-1, SPD-2). */
export const SpendItem = z
  .object({
    kind: z.enum(['POD', 'ENDPOINT', 'CLUSTER', 'NETWORK_VOLUME']).meta({ description: 'An endpoint includes its workers.' }),
    id: z.string(),
    name: z.string(),
    perHour: usd('Current rate in USD per hour.'),
    stoppedPerHour: usd('Part of the rate that remains when it is stopped: disks and volumes.'),
    runningCount: z.number().int().min(0).meta({ description: 'Number of its running and starting pods or workers; 1 for a volume.' }),
    runningSince: moment('Start time of the first running pod or worker, or creation time of a volume; null if nothing runs yet.'),
    costSoFar: usd('USD charged for running pods or workers since they started; 0 if nothing runs.'),
    costToday: usd('USD charged since midnight, UTC.'),
    costThisMonth: usd('USD charged since the beginning of the month, UTC.'),
    idleCount: z.number().int().min(0).meta({ description: 'Number of its idle pods or workers, as far as known.' }),
    idlePerHour: usd('USD per hour of the idle ones.'),
    idleSince: moment('Since when the longest idle one is idle; null: none is idle, or it is unknown.'),
    idleWaste: usd('USD charged for the idle ones since each became idle.').nullable(),
  })
  .meta({
    id: 'SpendItem',
    description: 'A resource with a cost.',
    example: {
      kind: 'POD',
      id: '7h9k2m4n6p',
      name: 'notebook',
      perHour: 0.446849,
      stoppedPerHour: 0.0014,
      runningCount: 1,
      runningSince: '2026-06-02T06:00:00Z',
      costSoFar: 2.681094,
      costToday: 2.681094,
      costThisMonth: 4.1,
      idleCount: 0,
      idlePerHour: 0,
      idleSince: null,
      idleWaste: null,
    },
  })
export type SpendItem = z.infer<typeof SpendItem>

export const Spend = z
  .object({
    perHour: usd('USD per hour of all running and starting workloads and of all storage.'),
    stoppedPerHour: usd('Part of the rate that would remain if everything were stopped.'),
    today: z.object({ from: Timestamp, spent: usd('USD charged since then.') }).meta({ description: 'The day in UTC.' }),
    month: z.object({ from: Timestamp, spent: usd('USD charged since then.') }).meta({ description: 'The calendar month in UTC.' }),
    itemCount: z.number().int().min(0).meta({ description: 'Total number of items, listed or not.' }),
    items: z.array(SpendItem).meta({ description: 'The most expensive first.' }),
  })
  .meta({
    id: 'Spend',
    description: 'The current spend of the account by resource.',
    example: {
      perHour: 0.446849,
      stoppedPerHour: 0.0014,
      today: { from: '2026-06-02T00:00:00Z', spent: 2.681094 },
      month: { from: '2026-06-01T00:00:00Z', spent: 7.5 },
      itemCount: 1,
      items: [SpendItem.meta()?.example],
    },
  })
export type Spend = z.infer<typeof Spend>
