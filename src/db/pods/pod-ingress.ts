import { eq, sql } from 'drizzle-orm'
import { JUDGED_KEYS, judgeSshKeys } from '../accounts/ssh-keys.ts'
import { suspendedSince } from '../accounts/suspension.ts'
import type { Database } from '../client.ts'
import { pods, sshKeys, teams } from '../schema.ts'

const INGRESS = {
  id: pods.id,
  teamId: pods.teamId,
  status: pods.status,
  generation: pods.generation,
  hostId: pods.hostId,
  sshSuffix: pods.sshSuffix,
  ports: sql<string>`json_extract(${pods.spec}, '$.container.ports')`,
  startSsh: sql<number | null>`json_extract(${pods.spec}, '$.startSsh')`,
  blocked: sql<number>`${suspendedSince(teams.id)} IS NOT NULL OR ${teams.deletedAt} IS NOT NULL`,
}

/** Columns of a pod's row that its ingress needs. */
export interface PodIngress {
  id: string
  teamId: string
  status: (typeof pods.$inferSelect)['status']
  generation: number
  hostId: string
  sshSuffix: string
  /** Declared ports, each `<port>/<type>`. */
  ports: string[]
  startSsh: boolean
  /** Whether its account is suspended or deleted. */
  isBlocked: boolean
}

/** Any pod by its id; the owner is not checked, and no sealed value is opened. */
export async function findPodIngress(db: Database, id: string): Promise<PodIngress | null> {
  const row = await db.select(INGRESS).from(pods).innerJoin(teams, eq(teams.id, pods.teamId)).where(eq(pods.id, id)).get()
  return row === undefined ? null : ingressOf(row)
}

/** The same with the valid SSH keys of its account (DER-33), in one query. */
export async function findSshIngress(db: Database, id: string): Promise<{ ingress: PodIngress; keys: string[] } | null> {
  const row = await db
    .select({ ...INGRESS, ...JUDGED_KEYS })
    .from(pods)
    .innerJoin(teams, eq(teams.id, pods.teamId))
    .leftJoin(sshKeys, eq(sshKeys.teamId, pods.teamId))
    .where(eq(pods.id, id))
    .get()
  if (row === undefined) return null
  return { ingress: ingressOf(row), keys: judgeSshKeys(row).flatMap(({ line, endedBecause }) => (endedBecause === null ? [line] : [])) }
}

type IngressRow = Omit<PodIngress, 'ports' | 'startSsh' | 'isBlocked'> & { ports: string | null; startSsh: number | null; blocked: number }

function ingressOf({ id, teamId, status, generation, hostId, sshSuffix, ports, startSsh, blocked }: IngressRow): PodIngress {
  return {
    id,
    teamId,
    status,
    generation,
    hostId,
    sshSuffix,
    ports: JSON.parse(ports ?? '[]') as string[],
    startSsh: startSsh === 1,
    isBlocked: blocked === 1,
  }
}
