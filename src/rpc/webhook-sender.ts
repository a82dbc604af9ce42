import type { AuditRow } from '../db/audit.ts'
import type { DeliveryState, SigningSecrets } from '../domain/webhook/delivery.ts'

/** RPC interface of the object that delivers one team's webhooks. `fetch` accepts a delivery (see `hand-over.ts`). */
export interface WebhookSenderRpc extends Rpc.DurableObjectBranded {
  fetch(request: Request): Promise<Response>
  signingSecrets(): Promise<SigningSecrets>
  /** Rotates the secret; `note` becomes an audit row, as in `redeliver`. */
  rotateSigningSecret(note: AuditRow): Promise<SigningSecrets>
  /** Reseals values that are stored under a previous secret or in plain text (SEAL-3). */
  reseal(): Promise<void>
  /** Deliveries of the filter, newest first. */
  deliveries(filter: DeliveryFilter): Promise<LoggedDelivery[]>
  /** Sends an ended delivery again: the same id and body, with three fresh attempts. */
  redeliver(id: string, note: AuditRow): Promise<RedeliverResult>
}

/** Filter and page of the delivery log. */
export interface DeliveryFilter {
  endpointId?: string | undefined
  jobId?: string | undefined
  after: { createdAt: number; id: string } | null
  limit: number
}

/** A delivery in the form of its log. */
export interface LoggedDelivery {
  /** `webhook-id`: the same for all attempts and repeats. */
  id: string
  /** Null for a delivery that belongs to no job. */
  endpointId: string | null
  jobId: string | null
  url: string
  createdAtMs: number
  state: DeliveryState
}

/** Result of requesting a delivery again. */
export type RedeliverResult = 'unknown' | 'pending' | LoggedDelivery
