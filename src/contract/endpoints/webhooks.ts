import { z } from 'zod'
import { Timestamp } from '../fields.ts'
import { PageQuery, Pagination } from '../pagination.ts'

const DELIVERY_ID = 'msg_0b6f9f0f3a534d5b8a4f0d5a3c2e1f00'

export const SigningSecret = z
  .object({
    secret: z.string().meta({ description: 'Signs every webhook of the account; verify with any Standard Webhooks library.' }),
    previousSecretExpiresAt: z
      .string()
      .nullable()
      .meta({ format: 'date-time', description: 'Until then the previous secret signs as well; null: there is no previous secret.' }),
  })
  .meta({ id: 'WebhookSigningSecret', example: { secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD', previousSecretExpiresAt: null } })
export type SigningSecret = z.infer<typeof SigningSecret>

export const DeliveryAttempt = z
  .object({
    at: Timestamp,
    durationMs: z.number().int(),
    status: z.number().int().optional().meta({ description: "The receiver's HTTP status." }),
    error: z.string().optional().meta({ description: 'Why there is no status: the error of the attempt.' }),
  })
  .meta({ id: 'WebhookAttempt', example: { at: '2026-01-01T00:00:00Z', durationMs: 41, status: 200 } })

const DELIVERY = {
  id: DELIVERY_ID,
  endpointId: '4k8h2m9x7q1w3e',
  jobId: 'eaebd6e7-6a92-4bb8-a911-f996ac5ea99d-u1',
  url: 'https://example.com/hook',
  status: 'DELIVERED',
  attempts: [{ at: '2026-01-01T00:00:00Z', durationMs: 41, status: 200 }],
  createdAt: '2026-01-01T00:00:00Z',
}

export const WebhookDelivery = z
  .object({
    id: z.string().meta({ description: 'The `webhook-id` of every attempt.' }),
    endpointId: z.string().nullable().meta({ description: 'Null for notifications about the spend limits.' }),
    jobId: z.string().nullable().meta({ description: 'Null for notifications about the spend limits.' }),
    url: z.string(),
    status: z.enum(['PENDING', 'DELIVERED', 'FAILED']),
    attempts: z.array(DeliveryAttempt).meta({ description: 'Oldest first.' }),
    createdAt: Timestamp,
  })
  .meta({ id: 'WebhookDelivery', description: 'One notification about the end of a job or about the spend limits.', example: DELIVERY })
export type WebhookDelivery = z.infer<typeof WebhookDelivery>

export const ListDeliveriesQuery = PageQuery.extend({
  endpointId: z.string().min(1).optional().meta({ description: 'Only deliveries of this endpoint.' }),
  jobId: z.string().min(1).optional().meta({ description: 'Only deliveries of this job.' }),
})
export type ListDeliveriesQuery = z.infer<typeof ListDeliveriesQuery>

export const ListDeliveriesResponse = z.object({ deliveries: z.array(WebhookDelivery), pagination: Pagination }).meta({
  id: 'ListWebhookDeliveriesResponse',
  example: {
    deliveries: [DELIVERY],
    pagination: { nextCursor: null, hasNextPage: false },
  },
})
