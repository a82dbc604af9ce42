import type { Mutant } from './table.ts'

// Bugs of bills: what is charged, and what it sums to.

const MONEY = 'src/domain/money.ts'
const BILL = 'src/domain/billing/bill.ts'
const BUCKETS = 'src/domain/billing/buckets.ts'
const DISKS = 'src/domain/pod/disk-charge.ts'
const CSV = 'src/domain/text/csv.ts'
const CHARGES = 'src/db/billing/charges.ts'
const SUMS = 'src/db/billing/day-sums.ts'
const VOLUMES = 'src/db/resources/network-volumes.ts'

/** Killed by the unit tests of the pure rules. */
export const BILLING_DOMAIN_MUTANTS: readonly Mutant[] = [
  {
    id: 'a part is rounded by itself',
    file: MONEY,
    find: 'toMs - startedAtMs) - amountMicros(nanosPerHour, fromMs - startedAtMs)',
    replace: 'toMs - fromMs)',
  },
  { id: 'what lasts costs nothing yet', file: BILL, find: 'interval.endedAtMs ?? nowMs', replace: 'interval.endedAtMs ?? 0' },
  { id: 'a HIGH_PERFORMANCE volume counts twice', file: BILL, find: 'diskMicros: isFast ? 0 : diskMicros', replace: 'diskMicros' },
  { id: 'weeks begin on Thursday', file: BUCKETS, find: 'FIRST_MONDAY_MS = 4 * DAY_MS', replace: 'FIRST_MONDAY_MS = 0 * DAY_MS' },
  {
    id: 'a resize keeps the former rate of disks that rest',
    file: DISKS,
    find: 'if (isSame || before',
    replace: 'if (isSame || before.chargedFromMs === null || before',
  },
  {
    id: 'what stands on a silent host costs its rate',
    file: 'src/domain/billing/spending.ts',
    find: 'silentSinceMs.has(one.workloadId) ?',
    replace: 'silentSinceMs.has("") ?',
  },
  { id: 'a cell is a formula', file: CSV, find: "? `'${cell}` : cell", replace: '? cell : cell' },
]

/** Killed by the tests of bills in a Worker. */
export const BILLING_WORKER_MUTANTS: readonly Mutant[] = [
  {
    id: 'a worker is charged a second time',
    file: CHARGES,
    find: '${allocations.chargedFromMs} IS NULL`, isNew)',
    replace: '${allocations.chargedFromMs} IS NULL`)',
  },
  { id: 'a worker is charged for a silence', file: CHARGES, find: 'fromMs)), fromMs)', replace: 'fromMs)), toMs)' },
  {
    id: 'bills show usage of others',
    file: SUMS,
    find: 'const own = and(eq(usageDays.teamId, teamId), behind, until)',
    replace: 'const own = and(behind, until)',
  },
  {
    id: 'intervals of what lives go with the others',
    file: 'src/db/billing/usage-removal.ts',
    find: 'AND NOT ${IS_OF_THE_LIVING}',
    replace: '',
  },
  {
    id: 'what ended while a bill was read counts twice',
    file: SUMS,
    find: 'const charges = [...rows.map(toCharge), ...partsOfDays(later, isHere)]',
    replace: 'const charges = rows.map(toCharge)',
  },
  {
    id: 'a resized volume is charged at its former rate',
    file: VOLUMES,
    find: 'chargedFromMs: nowMs, nanosPerHour,',
    replace: 'chargedFromMs: nowMs,',
  },
  {
    id: 'the statement counts a crossing interval from its beginning',
    file: 'src/db/billing/month-limit.ts',
    find: 'MAX(${from}, ${start}) - ${from}',
    replace: '${from} - ${from}',
  },
]
