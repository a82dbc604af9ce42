import { join } from 'node:path'
import { z } from 'zod'
import { type EnrolRequest, EnrolResponse } from '../../host-protocol/enrolment.ts'
import type { Inventory } from '../../host-protocol/messages.ts'
import { OperatorError } from '../../node/fail.ts'
import { readIrreplaceableFile, writeJsonFile } from '../../node/json-file.ts'
import type { PlaneClock } from './clock-offset.ts'
import type { HostKey } from './host-key.ts'
import { isTransient, type PlaneAnswer, planeUrl, postToPlane } from './http.ts'

/** The identity under which the plane knows this host, as stored in `host.json`. */
const HostIdentity = z.object({ hostId: z.string(), epoch: z.number().int(), dataCenterId: z.string(), planeUrl: z.string() })
export type HostIdentity = z.infer<typeof HostIdentity>

const IDENTITY_ADVICE = `the key of this host is in another file, so its pods and volumes are not lost, but no agent manages them until you write \
this file again: '{"hostId":"<id>","epoch":1,"dataCenterId":"<data center>","planeUrl":"<address>"}', with the id and the data center that \
podplane admin hosts list shows`

/** Reads the stored identity of this host; undefined before it has joined. Throws an `OperatorError` for a damaged file (DUR-5). */
export function readHostIdentity(stateDir: string): HostIdentity | undefined {
  return readIrreplaceableFile(join(stateDir, 'host.json'), HostIdentity, IDENTITY_ADVICE)
}

export interface EnrolOptions {
  planeUrl: string
  stateDir: string
  joinToken: string
  name: string
  key: HostKey
  inventory: Inventory
  clock: PlaneClock
}

/**
 * Uses up the join token and writes the new identity to disk before it returns (DUR-4). Returns `retry` when the plane could not answer;
 * throws an `OperatorError` when it refused.
 */
export async function enrol(options: EnrolOptions): Promise<{ identity: HostIdentity; answer: EnrolResponse } | { retry: string }> {
  let answer = await requestEnrolment(options)
  // A wrong clock may be the cause of the refusal; the same answer has just corrected it.
  if (answer.status >= 400 && answer.status < 500 && answer.clockCorrected) answer = await requestEnrolment(options)
  if (isTransient(answer.status)) return { retry: `the plane answered ${answer.status}: ${answer.detail}` }
  const parsed = EnrolResponse.safeParse(answer.body)
  if (answer.status === 404 || answer.status === 405 || (answer.status >= 300 && answer.status < 400)) {
    throw new OperatorError(`--url ${options.planeUrl} does not respond like a plane (${answer.status}); check the address`)
  }
  if (answer.status >= 400) {
    throw new OperatorError(
      `--token was refused by the plane (${answer.status}): ${withoutAdvice(answer.detail)}; create a new join token and pass it with --token`,
    )
  }
  if (!parsed.success) throw new OperatorError(`--url ${options.planeUrl} does not respond like a plane; check the address`)
  const { hostId, epoch, dataCenterId } = parsed.data
  const identity = { hostId, epoch, dataCenterId, planeUrl: options.planeUrl }
  writeJsonFile(join(options.stateDir, 'host.json'), identity)
  return { identity, answer: parsed.data }
}

/** Removes the plane's advice ("; create a new one") from a refusal: the agent's own message repeats it and also names the flag. */
export function withoutAdvice(detail: string): string {
  return detail.replace(/;.*/s, '')
}

async function requestEnrolment({ planeUrl: base, joinToken, name, key, inventory, clock }: EnrolOptions): Promise<PlaneAnswer> {
  const proof = await key.signEnrolmentProof(joinToken, clock.now())
  const request: EnrolRequest = { joinToken, name, publicKey: key.publicJwk, proof, inventory }
  return await postToPlane(planeUrl(base, '/host/v1/enrol'), request, clock)
}
