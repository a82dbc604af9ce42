import { readBearer } from '../../domain/session/bearer.ts'
import { holdRefusal } from '../../services/credentials/refusals.ts'
import { clientSource } from '../callers/client-address.ts'

const UNAUTHENTICATED = 401
const TOO_MANY = 429

/** Passes an answer on, a little later where it is a refusal of a limit or of a key and its receiver has had many (SEC-11). */
export async function slowRefusal(request: Request, response: Response): Promise<Response> {
  const source = sourceOf(request, response.status)
  if (source !== null) await holdRefusal(source, Date.now())
  return response
}

/** Who is refused; null: this is no such refusal, or nothing says whose it is. Keys that are nobody's are told apart by nothing but addresses. */
function sourceOf(request: Request, status: number): string | null {
  if (status !== UNAUTHENTICATED && status !== TOO_MANY) return null
  const address = clientSource(request)
  if (address !== null) return `address ${address}`
  const bearer = status === TOO_MANY ? readBearer(request.headers.get('authorization')) : null
  return bearer?.kind === 'KEY' ? `key ${bearer.text}` : null
}
