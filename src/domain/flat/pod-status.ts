import type { PodStatus } from '../../contract/enums.ts'

/** The status of a pod in the older APIs, whose clients know only three (LEG-7, GQL-15). */
export const DESIRED: Readonly<Record<PodStatus, 'RUNNING' | 'EXITED' | 'TERMINATED'>> = {
  PROVISIONING: 'RUNNING',
  STARTING: 'RUNNING',
  RUNNING: 'RUNNING',
  EXITED: 'EXITED',
  ERROR: 'EXITED',
  TERMINATED: 'TERMINATED',
}
