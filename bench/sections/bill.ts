import counts from '../bill/counts.json' with { type: 'json' }
import {
  type Bill,
  billOf,
  chattyPodUsage,
  hostUsage,
  httpEndpointUsage,
  httpJobUsage,
  jobUsage,
  longJobUsage,
  MONTH_SECONDS,
  type Usage,
  WORKERS,
  workerUsage,
} from '../bill/model.ts'
import { PRICES } from '../bill/prices.ts'
import { amountRow, type Goal, type Row } from '../report.ts'

const MILLION = 1_000_000
const KINDS = { rows: 'rows', requests: 'requests', objectCalls: 'calls of objects', objectTime: 'time of objects' } as const

/** The plane's bill on the network: counts of its operations (bench/bill/counts.json) times the published prices. Measures no time. */
export async function measureBill(): Promise<Row[]> {
  return [
    { what: 'prices of', measured: PRICES.date },
    ...bill(`a million jobs of 1 s, ${WORKERS} workers an endpoint`, jobUsage(1), MILLION, { atMost: 12 }),
    ...bill('a million jobs of 600 s, one worker an endpoint', longJobUsage(), MILLION, { atMost: 12 }),
    ...bill('a worker beside its jobs, a month', workerUsage(MONTH_SECONDS), 1, { atMost: 0.02 }),
    ...bill('an idle endpoint with a ready worker, a month', workerUsage(MONTH_SECONDS), 1, { atMost: 0.05 }),
    ...bill(`over HTTP: a million jobs of 600 s, ${WORKERS} workers an endpoint`, httpJobUsage(600), MILLION),
    ...bill('over HTTP: an idle endpoint with a ready worker, a month', httpEndpointUsage(MONTH_SECONDS), 1),
    ...bill('a host, a month', hostUsage(MONTH_SECONDS), 1, { atMost: 0.05 }),
    ...bill('a pod that prints ten lines a second, a month', chattyPodUsage(MONTH_SECONDS), 1, { atMost: 1 }),
  ]
}

function bill(what: string, usage: Usage, times: number, goal?: Goal): Row[] {
  const bill = billOf(usage, counts)
  const part = (kind: keyof Omit<Bill, 'total'>) => amountRow(`  ${KINDS[kind]}`, bill[kind] * times, 'USD')
  return [amountRow(what, bill.total * times, 'USD', goal), part('rows'), part('requests'), part('objectCalls'), part('objectTime')]
}
