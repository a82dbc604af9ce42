import fc from 'fast-check'
import { env, expect, it, send } from '../../../support/harness.ts'
import { OPERATIONS } from '../../../support/openapi/answers.ts'
import { type GeneratedRequest, REAL, requestsOf, UNKNOWN } from '../../../support/openapi/requests.ts'
import { OWN_ID } from '../../../support/openapi/values.ts'
import { type Caller, World } from '../../../support/openapi/world.ts'

// Requests generated from the documents, valid and invalid, from callers with access. Every reply is checked against its document (DOC-13).

const { GENERATED_REQUESTS, GENERATED_SEED } = env as unknown as { GENERATED_REQUESTS: string; GENERATED_SEED: string }
const COUNT = Number(GENERATED_REQUESTS)
const SEED = GENERATED_SEED === '' ? Date.now() % 2 ** 31 : Number(GENERATED_SEED)
const AT_A_TIME = 24
/** The test stops to collect faults after this number of kinds. */
const MOST_FAULTS = 20
const TIME_MS = 1_200_000
const UNKNOWN_ID = 'zzzzzzzzzzzzzz'

/** Shortens `wait` of calls that are held, and skips calls that wait for a worker. */
function unheld(request: GeneratedRequest): GeneratedRequest {
  const names = request.operation.parameters.map(({ name }) => name)
  const isReal = Object.values(request.params).includes(REAL)
  if (names.includes('wait') && isReal) return { ...request, query: 'wait=1000' }
  if (names.includes('waitFor') && isReal) return { ...request, query: '' }
  if (names.includes('route')) return { ...request, params: { ...request.params, endpointId: UNKNOWN } }
  return request
}

function pathOf({ operation, params, query }: GeneratedRequest, caller: Caller): string {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name] ?? UNKNOWN
    if (value === REAL) return caller.params[name] ?? UNKNOWN_ID
    return value === UNKNOWN ? UNKNOWN_ID : value
  })
  return query === '' ? path : `${path}?${query}`
}

/** Replaces the names of ids in the body by ids of the caller. */
function bodyOf({ body }: GeneratedRequest, caller: Caller): string | null {
  return (
    body?.replaceAll(/"(@\w+)"/g, (text, token: string) => {
      const name = OWN_ID.exec(token)?.[1]
      return name === undefined ? text : JSON.stringify(caller.params[name] ?? UNKNOWN_ID)
    }) ?? null
  )
}

class Campaign {
  readonly faults = new Map<string, string>()
  readonly statuses: Record<string, number> = {}
  readonly #world = new World()

  async send(generated: GeneratedRequest): Promise<void> {
    const request = unheld(generated)
    const { operation } = request
    const caller = await this.#world.callerOf(operation)
    const body = bodyOf(request, caller)
    const path = pathOf(request, caller)
    const type = body === null ? {} : { 'Content-Type': 'application/json' }
    const headers = { Authorization: `Bearer ${caller.key}`, ...type, ...request.headers }
    try {
      const init = operation.method === 'get' || body === null ? { headers } : { headers, body }
      const response = await send(path, { method: operation.method.toUpperCase(), ...init })
      await response.body?.cancel()
      this.#count(response.status)
      if (response.status >= 500) throw new Error(`${operation.name} ${response.status}: the plane is at fault`)
      // The operation has ended its object or the key of its caller.
      if (response.status === 401 || (operation.method === 'delete' && response.ok)) this.#world.renew(operation)
    } catch (error) {
      this.#note(error, `${operation.method.toUpperCase()} ${path} ${JSON.stringify(request.headers)} ${body?.slice(0, 2000)}`)
    }
  }

  #count(status: number): void {
    this.statuses[status] = (this.statuses[status] ?? 0) + 1
  }

  /** Notes one fault of each kind: faults of a kind differ in ids and values, not in operation and place. */
  #note(error: unknown, request: string): void {
    const text = error instanceof Error ? error.message : String(error)
    const kind = text.replaceAll(/"[^"]*"|\d{4,}/g, '')
    if (this.faults.size < MOST_FAULTS && !this.faults.has(kind)) this.faults.set(kind, `${text}\n  ${request}`)
  }
}

it(
  '[DOC-14] generated requests find no reply that the documents do not describe, and none of 500 or more',
  async () => {
    const each = Math.ceil(COUNT / OPERATIONS.length)
    const samples = OPERATIONS.map((operation, index) => fc.sample(requestsOf(operation), { numRuns: each, seed: SEED + index }))
    // The operations take turns, so that later ones find objects of earlier ones.
    const requests = Array.from({ length: each }, (_, turn) => samples.map((sample) => sample[turn])).flat()
    const campaign = new Campaign()
    const waiting = requests.values()
    const lane = async () => {
      for (const request of waiting) if (request) await campaign.send(request)
    }
    await Promise.all(Array.from({ length: AT_A_TIME }, lane))
    console.log(
      `${requests.length} generated requests of ${OPERATIONS.length} operations, seed ${SEED}:`,
      JSON.stringify(campaign.statuses),
    )
    expect([...campaign.faults.values()], `GENERATED_SEED=${SEED}`).toEqual([])
  },
  TIME_MS,
)
