import type { Latencies } from './latency.ts'

/** Medians of all rounds. Rates drift from one minute to the next, so only the ratios of one run mean something. */
export interface Rates {
  bare: number
  hono: number
  insert: number
  rpc: number
  run: number
  status: number
  cycles: number
  cyclesBatch: number
}

export interface Findings {
  rates: Rates
  parked: Latencies & { count: number }
  steady: Latencies & { perSecond: number }
  restartMs: number
}

interface Row {
  what: string
  measured: string
  target: string
}

export function formatReport(findings: Findings): string {
  const { rates, parked, steady, restartMs } = findings
  const rate = (name: string, value: number): Row => ({ what: name, measured: `${Math.round(value)}/s`, target: '' })
  const ratio = (name: string, value: number, of: number, target: string): Row => ({
    what: name,
    measured: `${(value / of).toFixed(2)} x`,
    target,
  })
  const latency = (name: string, { p50, p99 }: Latencies, target: string): Row => ({
    what: name,
    measured: `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`,
    target,
  })
  const rows: Row[] = [
    rate('bare handler', rates.bare),
    rate('Hono route', rates.hono),
    rate('route to a Durable Object, no storage', rates.rpc),
    rate('naive insert, one row a request', rates.insert),
    rate('/run', rates.run),
    rate('/status', rates.status),
    rate('take and done', rates.cycles),
    rate('take and done, batches of 10', rates.cyclesBatch),
    ratio('/run to naive insert', rates.run, rates.insert, '>= 2.0 x'),
    ratio('/status to bare object call', rates.status, rates.rpc, '>= 0.65 x'),
    ratio('take and done to naive insert', rates.cycles, rates.insert, ''),
    ratio('batches of 10 to naive insert', rates.cyclesBatch, rates.insert, ''),
    ratio('Hono route to bare handler', rates.hono, rates.bare, '>= 0.85 x'),
    latency(`result to waiting /runsync, ${parked.count} waiting`, parked, 'p50 <= 1 ms, p99 <= 3 ms'),
    latency(`/run at a steady ${steady.perSecond}/s`, steady, ''),
    { what: 'plane ready again, data present', measured: `${Math.round(restartMs)} ms`, target: '<= 2000 ms' },
  ]
  const widths = [Math.max(...rows.map(({ what }) => what.length)), Math.max(...rows.map(({ measured }) => measured.length))]
  return rows
    .map(({ what, measured, target }) =>
      `  ${what.padEnd(widths[0] ?? 0)}  ${measured.padStart(widths[1] ?? 0)}  ${target && `target ${target}`}`.trimEnd(),
    )
    .join('\n')
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}
