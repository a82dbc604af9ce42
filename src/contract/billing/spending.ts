import { z } from 'zod'
import { Timestamp } from '../fields.ts'
import { queryInteger } from '../query-values.ts'

const MAX_ITEMS = 1_000
const DEFAULT_ITEMS = 100
const usd = (description: string) => z.number().meta({ description, format: 'double' })
const moment = (description: string) => Timestamp.nullable().meta({ format: 'date-time', description })

export const SpendQuery = z.object({
  limit: queryInteger(1, MAX_ITEMS, DEFAULT_ITEMS).meta({ description: 'The most things to list, the dearest first.', example: 20 }),
})
export type SpendQuery = z.infer<typeof SpendQuery>

/** One item of the current spend; times in UTC, amounts in USD (SPD-1, SPD-2). */
export const SpendItem = z
  .object({
    kind: z.enum(['POD', 'ENDPOINT', 'CLUSTER', 'NETWORK_VOLUME']).meta({ description: 'An endpoint stands for its workers.' }),
    id: z.string(),
    name: z.string(),
    perHour: usd('USD per hour as it is.'),
    stoppedPerHour: usd('Of that, what goes on when it is stopped: disks that are kept, and volumes.'),
    runningCount: z.number().int().min(0).meta({ description: 'Pods or workers of it that run, or are about to; 1 for a volume.' }),
    runningSince: moment('When the first of what runs has started, of a volume when it was made; null where nothing runs yet.'),
    costSoFar: usd('USD charged for what runs since it started; 0 where nothing runs.'),
    costToday: usd('USD charged since midnight, UTC.'),
    costThisMonth: usd('USD charged since the beginning of the month, UTC.'),
    idleCount: z.number().int().min(0).meta({ description: 'Pods or workers of it that do nothing, as far as that is known.' }),
    idlePerHour: usd('USD per hour of these.'),
    idleSince: moment('Since when the longest of these does nothing; null: all work, or it is unknown.'),
    idleWaste: usd('USD charged for these since each does nothing.').nullable(),
  })
  .meta({
    id: 'SpendItem',
    description: 'A thing that costs something.',
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
    perHour: usd('USD per hour of all that runs, or is about to, and of all that is kept.'),
    stoppedPerHour: usd('Of that, what would go on if everything were stopped.'),
    today: z.object({ from: Timestamp, spent: usd('USD charged since then.') }).meta({ description: 'The day in UTC.' }),
    month: z.object({ from: Timestamp, spent: usd('USD charged since then.') }).meta({ description: 'The calendar month in UTC.' }),
    itemCount: z.number().int().min(0).meta({ description: 'How many things there are, listed or not.' }),
    items: z.array(SpendItem).meta({ description: 'The dearest first.' }),
  })
  .meta({
    id: 'Spend',
    description: 'What the account spends now, and on what.',
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
