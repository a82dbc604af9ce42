import { readJsonArgument } from '../core/body.ts'
import { usage } from '../core/failure.ts'
import type { Session } from '../session/session.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** Sends any request and prints the JSON answer. Throws a usage error if the method, path or body is invalid. */
export async function callApi(
  session: Session,
  word: string,
  path: string,
  { body, operator }: { body?: string; operator?: boolean },
): Promise<void> {
  const method = METHODS.find((one) => one === word.toUpperCase())
  if (method === undefined) throw usage(`${word}: it must be one of ${METHODS.join(', ')}`)
  if (!path.startsWith('/') || path.startsWith('//')) throw usage(`${path}: a path begins with one slash, such as /v2/pods`)
  const sent = body === undefined ? undefined : await readJsonArgument(session.io, body, '--body')
  const api = operator ? session.operatorApi : session.api
  const answer = await api.request(method, path, sent)
  if (answer !== undefined) session.out.lines([JSON.stringify(answer, null, 2)])
}
