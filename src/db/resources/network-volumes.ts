import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { SearchQuery } from '../../contract/list-query.ts'
import type { NetworkVolumeRecord } from '../../domain/resources/network-volume.ts'
import { runNamed } from '../batch.ts'
import { closeVolumeCharges } from '../billing/charges.ts'
import { type SpendDemand, withinSpend } from '../billing/spend.ts'
import { hasRoom } from '../bounds.ts'
import type { Database, Statement } from '../client.ts'
import { orderOf, searched } from '../list-order.ts'
import { isOneOf } from '../one-of.ts'
import { outcomeOf, required } from '../refusals.ts'
import { networkVolumes } from '../schema.ts'
import { selectOf } from '../select-of.ts'
import { type DeleteOutcome, deleteUnused } from './delete-unused.ts'
import { usersOfNetworkVolume } from './resource-users.ts'

const RECORD = {
  id: networkVolumes.id,
  teamId: networkVolumes.teamId,
  name: networkVolumes.name,
  sizeGb: networkVolumes.sizeGb,
  dataCenterId: networkVolumes.dataCenterId,
  type: networkVolumes.type,
  usedBytes: networkVolumes.usedBytes,
  usedAtMs: networkVolumes.usedAtMs,
  sizeEnforced: networkVolumes.sizeEnforced,
}

/** A host's report about a volume (VOL-9). */
export interface VolumeUse {
  usedBytes: number | null
  usedAtMs: number | null
  sizeEnforced: boolean
}

const UNUSED: VolumeUse = { usedBytes: null, usedAtMs: null, sizeEnforced: false }

/** A volume with the workloads that mount it. */
export type UsedNetworkVolume = NetworkVolumeRecord & VolumeUse

/** Hourly cost of a volume from a time on, and the limits that apply (BIL-11, BIL-22). */
export type VolumeCharge = SpendDemand & { nowMs: number }

/**
 * Stores a volume, or says why not: 'full' when the account has reached the bound, 'spend' when its spend limit is exceeded. `together`:
 * further statements of the batch.
 */
export async function insertNetworkVolume(
  db: Database,
  volume: NetworkVolumeRecord,
  { nowMs, ...spend }: VolumeCharge,
  together: readonly Statement[],
): Promise<'done' | 'full' | 'spend'> {
  const { teamId } = volume
  const charge = { createdAt: nowMs, chargedFromMs: nowMs, nanosPerHour: spend.nanosPerHour, chargeSequence: 1 }
  const may = required({ full: hasRoom(networkVolumes, teamId), spend: withinSpend(teamId, spend) })
  const batch = db.batch([
    db.insert(networkVolumes).select(selectOf(networkVolumes, { ...volume, ...charge, ...UNUSED }, sql`WHERE ${may}`)),
    ...together,
  ])
  return outcomeOf(batch, ['full', 'spend'])
}

/** A team's volume, or undefined when it is unknown, deleted or another team's. */
export function findNetworkVolume(db: Database, teamId: string, id: string): Promise<UsedNetworkVolume | undefined> {
  return db.select(RECORD).from(networkVolumes).where(ownedBy(teamId, id)).get()
}

/** Hourly cost of a team's volume, in billionths of a USD (BIL-11). */
export async function readVolumeNanos(db: Database, teamId: string, id: string): Promise<number> {
  const row = await db.select({ nanos: networkVolumes.nanosPerHour }).from(networkVolumes).where(ownedBy(teamId, id)).get()
  return row?.nanos ?? 0
}

/** The volumes with these ids that belong to a team. */
export function findNetworkVolumes(db: Database, teamId: string, ids: readonly string[]): Promise<NetworkVolumeRecord[]> {
  return db
    .select(RECORD)
    .from(networkVolumes)
    .where(and(eq(networkVolumes.teamId, teamId), isOneOf(networkVolumes.id, ids)))
    .all()
}

/** A team's volumes that match a search, in its order. */
export function listNetworkVolumes(db: Database, teamId: string, search: SearchQuery = {}): Promise<UsedNetworkVolume[]> {
  return db
    .select(RECORD)
    .from(networkVolumes)
    .where(and(eq(networkVolumes.teamId, teamId), searched(networkVolumes.name, search)))
    .orderBy(...orderOf(networkVolumes, search.sort ?? 'newest'))
    .all()
}

/**
 * Writes name and size if the volume is still as in `before`: 'lost' when another request was faster, 'spend' when the spend limit is
 * exceeded. `resized`: the cost of the new size; the charge of the old one ends (BIL-11).
 */
export async function updateNetworkVolume(
  db: Database,
  before: NetworkVolumeRecord,
  after: NetworkVolumeRecord,
  resized: VolumeCharge | null,
  note: Statement,
): Promise<'done' | 'lost' | 'spend'> {
  const isIt = and(ownedBy(before.teamId, before.id), isStill(before))
  const may = resized ? required({ spend: withinSpend(before.teamId, resized, sql`${networkVolumes.nanosPerHour}`) }) : sql`TRUE`
  const write = db
    .update(networkVolumes)
    .set({ name: sql`CASE WHEN ${may} THEN ${after.name} END`, sizeGb: after.sizeGb, ...(resized && chargedAnew(resized)) })
    .where(isIt)
  const batch = runNamed(db, { closed: resized && closeVolumeCharges(db, isIt, resized.nowMs), written: write, note })
  const outcome = await outcomeOf(batch, ['spend'])
  return outcome === 'done' && (await batch).written === 0 ? 'lost' : outcome
}

function chargedAnew({ nowMs, nanosPerHour }: { nowMs: number; nanosPerHour: number }) {
  return { chargedFromMs: nowMs, nanosPerHour, chargeSequence: sql`${networkVolumes.chargeSequence} + 1` }
}

/** Deletes an unused volume (VOL-3), if it is still as in `before`, and ends its charge (BIL-11). */
export function deleteNetworkVolume(
  db: Database,
  before: NetworkVolumeRecord,
  nowMs: number,
  together: readonly Statement[],
): Promise<DeleteOutcome> {
  const { teamId, id } = before
  const close = (isUnused: SQL | undefined) => closeVolumeCharges(db, isUnused, nowMs)
  return deleteUnused(db, networkVolumes, teamId, id, isStill(before), usersOfNetworkVolume(teamId, id), together, close)
}

function isStill({ name, sizeGb }: NetworkVolumeRecord) {
  return and(eq(networkVolumes.name, name), eq(networkVolumes.sizeGb, sizeGb))
}

function ownedBy(teamId: string, id: string) {
  return and(eq(networkVolumes.teamId, teamId), eq(networkVolumes.id, id))
}
