import type { AuditRow } from '../db/audit.ts'
import type { DeliveryState, SigningSecrets } from '../domain/webhook/delivery.ts'

/** The object that delivers one team's webhooks, as everybody else knows it. `fetch` takes a delivery over (see `hand-over.ts`). */
export interface WebhookSenderRpc extends Rpc.DurableObjectBranded {
  fetch(request: Request): Promise<Response>
  signingSecrets(): Promise<SigningSecrets>
  /** `note` is handed on to the audit log, as that of `redeliver`. */
  rotateSigningSecret(note: AuditRow): Promise<SigningSecrets>
  /** Newest first. */
  /** Seals anew what the object keeps under a former secret, or under none (PP-213). */
  reseal(): Promise<void>
  deliveries(filter: DeliveryFilter): Promise<LoggedDelivery[]>
  /** Sends a delivery that is over once more: the same id and body, three fresh attempts. */
  redeliver(id: string, note: AuditRow): Promise<RedeliverResult>
}

/** Which part of the delivery log is wanted. */
export interface DeliveryFilter {
  endpointId?: string | undefined
  jobId?: string | undefined
  after: { createdAt: number; id: string } | null
  limit: number
}

/** A delivery as its log shows it. */
export interface LoggedDelivery {
  /** `webhook-id`: the same over all attempts and repeats. */
  id: string
  /** Null of a delivery that is about no job. */
  endpointId: string | null
  jobId: string | null
  url: string
  createdAtMs: number
  state: DeliveryState
}

/** What came of asking for a delivery again. */
export type RedeliverResult = 'unknown' | 'pending' | LoggedDelivery
