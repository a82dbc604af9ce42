import { Problem } from '../../contract/problems.ts'
import { openDatabase, openRecords, type Records } from '../../db/client.ts'
import { type ClusterRow, findCluster, listMembers, listMembersOf } from '../../db/clusters/clusters.ts'
import { findEndpoint, findEndpoints, hasOrHadEndpoint } from '../../db/endpoints/endpoints.ts'
import { findPod, findPodHosts, listPods, type PodHosts } from '../../db/pods/find-pods.ts'
import type { PodRow } from '../../db/pods/pods.ts'
import type { EndpointConfig } from '../../domain/endpoint/record.ts'
import type { Env } from '../../env.ts'
import { Owned } from '../owned.ts'

/** The user and team of a request's key. */
export interface RequestOwner {
  userId: string
  teamId: string
}

/** An endpoint that the caller may use, with its configuration. */
export type OwnEndpoint = Owned<'endpoint', EndpointConfig>
/** A cluster that the caller may use, with its row. */
export type OwnCluster = Owned<'cluster', ClusterRow>
/** A pod that the caller may use, with its row. */
export type OwnPod = Owned<'pod', PodRow>

interface Rows {
  cluster: ClusterRow
  endpoint: EndpointConfig
  pod: PodRow
}

const FINDERS: { readonly [Kind in keyof Rows]: (db: Records, teamId: string, id: string) => Promise<Rows[Kind] | null> } = {
  cluster: findCluster,
  endpoint: findEndpoint,
  pod: findPod,
}
const ABSENT = { cluster: { detail: 'cluster not found' }, endpoint: {}, pod: { detail: 'pod not found' } } as const

/**
 * A row of the caller's team, by an id from a request: the only way from such an id to an object (AUT-21). The query filters by team, so a
 * row of another team looks like one that never existed. Throws 404 (AUT-5).
 */
export async function own<Kind extends keyof Rows>(
  env: Env,
  owner: RequestOwner,
  kind: Kind,
  id: string,
): Promise<Owned<Kind, Rows[Kind]>> {
  const row = await FINDERS[kind](openRecords(env), owner.teamId, id)
  if (row === null) throw new Problem('notFound', ABSENT[kind])
  return Owned.prove(kind, id, row)
}

/** An endpoint of the caller's team, or one that the team has deleted, so that an interrupted deletion can be repeated. Throws 404. */
export async function ownPastEndpoint(env: Env, owner: RequestOwner, id: string): Promise<Owned<'endpoint', null>> {
  if (!(await hasOrHadEndpoint(openDatabase(env.DB), owner.teamId, id))) throw new Problem('notFound')
  return Owned.prove('endpoint', id, null)
}

/** The endpoint whose row this request has just written, under an id that the plane chose. */
export function ownNewEndpoint(config: EndpointConfig): OwnEndpoint {
  return Owned.prove('endpoint', config.id, config)
}

/** A page of the caller's pods, limited as by `listPods` of the database. */
export async function ownPods(
  env: Parameters<typeof openRecords>[0],
  { teamId }: RequestOwner,
  ...page: Parameters<typeof listPods> extends [unknown, unknown, ...infer Rest] ? Rest : never
): Promise<{ pods: OwnPod[] } & Omit<Awaited<ReturnType<typeof listPods>>, 'rows'>> {
  const { rows, ...rest } = await listPods(openRecords(env), teamId, ...page)
  return { pods: rows.map((row) => Owned.prove('pod', row.id, row)), ...rest }
}

/** The members of the caller's cluster. */
export async function ownMembers(env: Env, { row }: OwnCluster): Promise<OwnPod[]> {
  const members = await listMembers(openRecords(env), row.teamId, row.id)
  return members.map((member) => Owned.prove('pod', member.id, member))
}

/** The members of the named clusters of the caller, in one query. */
export async function ownMembersOf(env: Env, { teamId }: RequestOwner, clusterIds: readonly string[]): Promise<OwnPod[]> {
  return (await listMembersOf(openRecords(env), teamId, clusterIds)).map((member) => Owned.prove('pod', member.id, member))
}

/** The named endpoints of the caller, in one query. */
export async function ownEndpoints(env: Env, { teamId }: RequestOwner, ids: readonly string[]): Promise<OwnEndpoint[]> {
  return (await findEndpoints(openRecords(env), teamId, ids)).map((config) => Owned.prove('endpoint', config.id, config))
}

/** The current and previous hosts of a pod of the caller's team, terminated or not. Throws 404. */
export async function ownPastPod(env: Env, { teamId }: RequestOwner, id: string): Promise<Owned<'pod', PodHosts>> {
  const places = await findPodHosts(openDatabase(env.DB), teamId, id)
  if (places === null) throw new Problem('notFound', ABSENT.pod)
  return Owned.prove('pod', id, places)
}

/** The hosts that a pod was on: they belong to no tenant and are shown to none, but are queried about the pod. */
export function hostsOf({ row }: Owned<'pod', PodHosts>): Owned<'host', null>[] {
  return [...new Set([row.hostId, ...row.formerHosts])].map((id) => Owned.prove('host', id, null))
}

/** The host that a pod is on: it belongs to no tenant and is shown to none, but is queried about the pod. */
export function hostOf({ row }: OwnPod): Owned<'host', null> {
  return Owned.prove('host', row.hostId, null)
}

/** The caller's user, whose requests are counted. */
export function ownUser({ userId }: RequestOwner): Owned<'user', null> {
  return Owned.prove('user', userId, null)
}

/** The caller's team, which has one webhook sender. */
export function ownTeam({ teamId }: RequestOwner): Owned<'team', null> {
  return Owned.prove('team', teamId, null)
}
