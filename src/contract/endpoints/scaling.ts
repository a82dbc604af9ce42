import { z } from 'zod'
import { EndpointScaling } from './endpoint-parts.ts'
import { DECISION_EXAMPLE, ScalingDecisionView } from './scaling-decision.ts'

const Count = z.number().int().min(0)

const EVENT = { ...DECISION_EXAMPLE, started: 1, stopped: 0 }

/** A scaling decision that changed something, with the numbers of workers that it started and stopped. */
export const ScalingEvent = ScalingDecisionView.extend({ started: Count, stopped: Count }).meta({ id: 'ScalingEvent', example: EVENT })
export type ScalingEvent = z.infer<typeof ScalingEvent>

export const ListScalingResponse = z
  .object({
    scaling: EndpointScaling,
    decisions: z.array(ScalingEvent).meta({ description: 'Newest first; the last 200 decisions with a change.' }),
  })
  .meta({ id: 'ListScalingResponse', example: { scaling: { type: 'QUEUE_DELAY', queueDelay: 4 }, decisions: [EVENT] } })
export type ListScalingResponse = z.infer<typeof ListScalingResponse>
