import { createApiClient } from '../../src/client/client.ts'
import { ENTRY_HEADER } from '../inside/entries.ts'
import { measureRate } from '../load/closed-loop.ts'
import type { Target } from '../load/target.ts'
import { changeRow, type Row, rateRow } from '../report.ts'
import { startBenchPlane } from '../setup.ts'

const ROUNDS = 5
const SECONDS = 2
const TEMPLATES = 20

/** Cost of key check, body cap and rate limit for a REST read with one D1 query. */
export async function measureReads(): Promise<Row[]> {
  await using plane = await startBenchPlane()
  const client = createApiClient(plane.url, plane.apiKey)
  let id = ''
  for (let n = 0; n < TEMPLATES; n += 1) {
    id = ((await client.request('POST', '/v2/templates', { name: `template ${n}`, image: 'acme/bench:1' })) as { id: string }).id
  }
  const one = await measureBothWays(`${plane.url}/v2/templates/${id}`, plane.apiKey)
  const list = await measureBothWays(`${plane.url}/v2/templates`, plane.apiKey)
  return [...describe('one template', one), ...describe(`a list of ${TEMPLATES}`, list)]
}

interface BothWays {
  open: number[]
  whole: number[]
}

// The two alternate, and each is first equally often, because the machine's speed drifts.
async function measureBothWays(url: string, apiKey: string): Promise<BothWays> {
  const headers = { authorization: `Bearer ${apiKey}` }
  const whole: Target = { url, method: 'GET', headers }
  const open: Target = { ...whole, headers: { ...headers, [ENTRY_HEADER]: 'rest' } }
  const rates: BothWays = { open: [], whole: [] }
  for (let round = 0; round < ROUNDS; round += 1) {
    const early = { open: await measureRate(open, SECONDS / 2), whole: await measureRate(whole, SECONDS / 2) }
    const late = { whole: await measureRate(whole, SECONDS / 2), open: await measureRate(open, SECONDS / 2) }
    rates.open.push((early.open + late.open) / 2)
    rates.whole.push((early.whole + late.whole) / 2)
  }
  return rates
}

function describe(what: string, { open, whole }: BothWays): Row[] {
  return [
    rateRow(`${what}`, whole),
    rateRow(`${what}, without key check and limits`, open),
    changeRow(`key check and limits add to ${what}`, open, whole, { atMost: 0.15 }),
  ]
}
