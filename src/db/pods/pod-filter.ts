import { isNull, type SQL } from 'drizzle-orm'
import type { ListSort } from '../../contract/list-sorts.ts'
import { nameContains } from '../list-order.ts'
import { isOneOf } from '../one-of.ts'
import { pods } from '../schema.ts'

/** Filter and order of a list of pods. */
export interface PodFilter {
  /** Labels that pods must have (LBL-4). */
  labels: readonly string[]
  /** Statuses of which a pod has one; empty: any. */
  statuses: readonly string[]
  /** Text that the name contains; empty: any. */
  name: string
  sort: ListSort
  /** Whether members of clusters are left out while the page is read, so that it is full. */
  withoutMembers: boolean
}

/** All pods, newest first. */
export const ALL_PODS: PodFilter = { labels: [], statuses: [], name: '', sort: 'newest', withoutMembers: false }

/** Columns that determine the order of pods. */
export const POD_ORDER = { createdAt: pods.createdAtMs, id: pods.id, name: pods.name }

/** Conditions of a filter besides labels. The index of the list holds all columns that they read. */
export function conditionsOf({ statuses, name, withoutMembers }: PodFilter): SQL[] {
  return [
    ...(statuses.length === 0 ? [] : [isOneOf(pods.status, statuses)]),
    ...(name === '' ? [] : [nameContains(pods.name, name)]),
    ...(withoutMembers ? [isNull(pods.clusterId)] : []),
  ]
}
