import type { EndpointExplanation, Why } from '../../contract/explain/explain.ts'
import { type EndpointFacts, explainEndpoint, type QueueFacts } from '../../domain/explain/endpoint.ts'
import { answerExplain } from '../../effects/explain/answer.ts'
import {
  adviseEndpoint,
  type EndpointKnown,
  meansBlock,
  missingFacts,
  needsHosts,
  readWorkerInputs,
} from '../../effects/explain/endpoint.ts'
import type { OwnEndpoint } from '../../objects/ownership/own.ts'
import { endpointStub } from '../../objects/stubs.ts'
import type { VerbContext } from '../context.ts'
import { readEndpoint } from './endpoints.ts'

const NOTHING: QueueFacts = {
  counts: { idle: 0, initializing: 0, ready: 0, running: 0, throttled: 0, unhealthy: 0 },
  queued: { normal: 0, low: 0 },
  trouble: null,
  decision: null,
  retryAtMs: null,
}

/** Returns the explanation of an endpoint's workers, with options that would start another one (WHY-10). Throws 403 and 404. */
export async function explainOwnEndpoint(ctx: VerbContext, id: string): Promise<EndpointExplanation> {
  const endpoint = await readEndpoint(ctx, id)
  return { id, ...(await explain(ctx, endpoint)) }
}

async function explain({ env, nowMs }: VerbContext, endpoint: OwnEndpoint): Promise<Why> {
  const queue = (await endpointStub(env, endpoint).queueFacts()) ?? NOTHING
  const facts: EndpointFacts = { ...queue, workers: endpoint.row.workers, means: null, nowMs }
  const first = explainEndpoint(facts)
  if (!needsHosts(first.code)) return answerExplain(env, first, [], { nowMs })
  const known = await readWorkerInputs(env, endpoint.row, nowMs)
  const verdict = first.code === 'NO_CAPACITY' ? withHosts(facts, known) : first
  return answerExplain(env, verdict, adviseEndpoint(known, verdict.code), { nowMs, asOfMs: known.asOfMs })
}

function withHosts(facts: EndpointFacts, known: EndpointKnown) {
  const means = meansBlock(known)
  const verdict = explainEndpoint({ ...facts, means })
  return { ...verdict, facts: [...verdict.facts, ...(means ? [] : missingFacts(known))] }
}
