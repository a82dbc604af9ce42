import { type Delivery, formatDelivery, parseDelivery } from '../../host-protocol/delivery.ts'
import type { Job, RunningJob } from './job.ts'

/**
 * HOST-22: whether this post has changed the running attempt before. One number is enough: a host sends the posts of a job one after
 * another, each until it is answered, and a new agent process finishes those of the previous one before it begins a session of its own.
 */
export function isRepeat(job: Job, delivery: Delivery | null): boolean {
  const last = parseDelivery(job.delivery)
  return last !== null && delivery !== null && last.session === delivery.session && delivery.number <= last.number
}

/** The job with this post as the newest accepted one; a post without a number changes nothing. */
export function noteDelivery(job: RunningJob, delivery: Delivery | null): RunningJob {
  return delivery === null ? job : { ...job, delivery: formatDelivery(delivery) }
}
