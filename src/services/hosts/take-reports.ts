import type { Env } from '../../env.ts'
import type { WorkloadReport } from '../../host-protocol/messages.ts'
import type { Owned } from '../../objects/owned.ts'
import { hostStub } from '../../objects/stubs.ts'

/** Forwards an agent's reports about its workloads; a repeated report changes nothing (HOST-11). */
export async function takeReports(env: Env, host: Owned<'host'>, reports: WorkloadReport[]): Promise<void> {
  await hostStub(env, host).report(host.id, reports)
}
