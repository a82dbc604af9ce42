import { readBearer } from '../../domain/session/bearer.ts'
import { holdRefusal } from '../../services/credentials/refusals.ts'
import { clientSource } from '../callers/client-address.ts'

const UNAUTHENTICATED = 401
const TOO_MANY = 429

/** Passes an answer on. A refused key or limit is delayed if its client has had many refusals (RATE-30). */
export async function slowRefusal(request: Request, response: Response): Promise<Response> {
  const source = sourceOf(request, response.status)
  if (source !== null) await holdRefusal(source, Date.now())
  return response
}

/**
 * Returns the source of a refusal: the client's address, or its key for a 429. Returns null if the answer is no such refusal or has no
 * known source. Unknown keys are distinguished by address only.
 */
function sourceOf(request: Request, status: number): string | null {
  if (status !== UNAUTHENTICATED && status !== TOO_MANY) return null
  const address = clientSource(request)
  if (address !== null) return `address ${address}`
  const bearer = status === TOO_MANY ? readBearer(request.headers.get('authorization')) : null
  return bearer?.kind === 'KEY' ? `key ${bearer.text}` : null
}
