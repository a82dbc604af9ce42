import { EXIT } from '../core/exit-codes.ts'
import { CliError, usage } from '../core/failure.ts'
import { type Answer, readPages } from '../session/pages.ts'
import type { Session } from '../session/session.ts'

type Release = Pick<Answer<'listEndpointReleases'>['releases'][number], 'version' | 'diff'>

/** Request fields for the field names of a release. Fields that are missing here are not part of a release, except variables. */
const MEMBERS: Readonly<Record<string, readonly [string] | readonly [string, string]>> = {
  'template.imageName': ['image'],
  'template.dockerArgs': ['args'],
  'template.containerDiskInGb': ['disk'],
  'template.ports': ['ports'],
  'template.containerRegistryAuthId': ['registry'],
  gpuPools: ['gpu', 'pools'],
  excludedTypes: ['gpu', 'excludedTypes'],
  gpuCount: ['gpu', 'count'],
  allowedCudaVersions: ['gpu', 'allowedCudaVersions'],
  minCudaVersion: ['gpu', 'minCudaVersion'],
  cpu: ['cpu'],
  locations: ['dataCenterIds'],
  cloud: ['cloud'],
  networkVolumes: ['networkVolumes'],
}
/** The API never returns their values, so a rollback cannot restore them. */
const VARIABLES = 'template.env'

/** Update request that restores an endpoint to a version, by undoing the later releases from the newest on. */
export function undoSince(releases: readonly Release[], version: number): { body: Record<string, unknown>; lostVariables: boolean } {
  const since = releases.filter((release) => release.version > version).toSorted((a, b) => b.version - a.version)
  const body: Record<string, unknown> = {}
  for (const { field, old } of since.flatMap(({ diff }) => diff)) {
    const [member, inner] = MEMBERS[field] ?? []
    if (member === undefined) continue
    body[member] = inner === undefined ? old : { ...(body[member] as object | undefined), [inner]: old ?? '' }
  }
  return { body, lostVariables: since.some(({ diff }) => diff.some(({ field }) => field === VARIABLES)) }
}

/** Restores the configuration of an earlier release as a new release. Throws `CliError` if there is no such release. */
export async function rollBack(session: Session, id: string, text: string, { plan }: { plan?: boolean }): Promise<number> {
  if (!/^\d+$/.test(text)) throw usage(`${text}: it must be the number of a release; podplane endpoints releases ${id} lists them`)
  const version = Number(text)
  const { api } = session
  const answer = await readPages(session, (query) => api.listEndpointReleases({ path: { id }, query }), true)
  if (!answer.releases.some((release) => release.version === version)) {
    throw new CliError(EXIT.NOT_FOUND, 'no_release', `endpoint ${id} has no release ${version}; its newest is ${answer.endpointVersion}`)
  }
  const { body, lostVariables } = undoSince(answer.releases, version)
  if (lostVariables)
    session.out.talk('variables have changed since that release, and releases do not show their values: env stays unchanged')
  if (plan || Object.keys(body).length === 0) {
    session.out.record({ endpoint: id, from: answer.endpointVersion, to: version, changes: body }, id)
    return EXIT.OK
  }
  await session.confirm(`Change ${Object.keys(body).join(', ')} of ${id} back to release ${version}?`)
  // The field names are those of the API; the old values come from its releases.
  const endpoint = await api.updateEndpoint({ path: { id }, body: body as never })
  session.out.done(endpoint, id, `endpoint ${id} has the configuration of release ${version} again`)
  return EXIT.OK
}
