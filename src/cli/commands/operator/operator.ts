import type { Command } from 'commander'
import type { Call } from './call.ts'
import { addCatalogCommands } from './catalog.ts'
import { addHosts } from './hosts.ts'
import { addLimits } from './limits.ts'
import { addAudit, addPlane } from './plane.ts'
import { addPlans } from './plans.ts'
import { addSealed } from './secrets.ts'
import { addOrganizations, addUserKeys, addUsers } from './users.ts'

/** Adds all operator commands; `npm run admin` and `podplane admin` share them. */
export function addOperatorCommands(program: Command, call: Call, print: (text: string) => void): void {
  addUsers(program, call)
  addOrganizations(program, call)
  addUserKeys(program, call)
  addLimits(program, call)
  addPlans(program, call)
  addCatalogCommands(program, call)
  addHosts(program, call)
  addPlane(program, call)
  addAudit(program, call)
  addSealed(program, call, print)
}
