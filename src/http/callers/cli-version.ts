import { Problem } from '../../contract/problems.ts'
import { compareVersions } from '../../domain/text/versions.ts'
import { VERSION } from '../../platform/version.ts'
import { problemResponse } from '../answers/problem-response.ts'

/** The oldest `podplane` CLI that this plane serves. Raise it when the plane would misread a request of an older one. */
export const OLDEST_CLI = '0.1.0'

const PLANE_HEADER = 'podplane-version'
const OLDEST_HEADER = 'podplane-oldest-cli'
const AGENT = /^podplane-cli\/(\d+\.\d+\.\d+)/

type Answer = Response | Promise<Response>

/**
 * CMD-9: answers to the CLI carry the version of the plane, and a CLI that is too old is refused before anything else is checked. Other
 * clients are not affected.
 */
export function withCliVersion(request: Request, serve: () => Answer): Answer {
  const version = AGENT.exec(request.headers.get('user-agent') ?? '')?.[1]
  return version === undefined ? serve() : withPlaneVersion(version, serve)
}

async function withPlaneVersion(version: string, serve: () => Answer): Promise<Response> {
  const response = compareVersions(version, OLDEST_CLI) < 0 ? refusalOf(version) : await serve()
  // Headers of a 101 response cannot be extended.
  if (response.status === 101) return response
  const answer = new Response(response.body, response)
  answer.headers.set(PLANE_HEADER, VERSION)
  answer.headers.set(OLDEST_HEADER, OLDEST_CLI)
  return answer
}

function refusalOf(version: string): Response {
  const detail = `podplane ${version} is too old for this plane (version ${VERSION}), which supports ${OLDEST_CLI} and later`
  return problemResponse(new Problem('upgradeRequired', { detail, code: 'CLI_TOO_OLD' }))
}
