import { Command } from 'commander'
import type { Globals } from '../core/io.ts'
import { columns } from '../output/columns.ts'
import type { Output } from '../output/output.ts'
import { examples, runOf } from '../session/act.ts'
import type { Call } from './operator/call.ts'
import { addHosts } from './operator/hosts.ts'
import { addOperatorCommands } from './operator/operator.ts'
import { addPlane } from './operator/plane.ts'
import { addUsers } from './operator/users.ts'

/** Operator nouns that are also top-level commands. */
const AT_THE_TOP = ['hosts', 'users', 'join-tokens', 'plane']

/** Adds `podplane admin …` and the operator nouns that are top-level commands; help shows them only to operators (CMD-50). */
export function addOperator(program: Command, isOperator: boolean): void {
  const call = callOf(program)
  const print = (text: string) => void runOf(program).io.stdout.write(`${text}\n`)
  const admin = new Command('admin').description('operate a plane: users, keys, quotas, machines; takes PODPLANE_OPERATOR_KEY')
  addOperatorCommands(admin, call, print)
  examples(admin, 'admin users create ada@example.com', 'admin hosts list', 'admin join-tokens create --name gpu-1')
  program.addCommand(admin, { hidden: !isOperator })
  const nouns = new Command()
  addHosts(nouns, call)
  addUsers(nouns, call)
  addPlane(nouns, call)
  for (const name of AT_THE_TOP) {
    const command = nouns.commands.find((one) => one.name() === name)
    if (command !== undefined) program.addCommand(command, { hidden: !isOperator })
  }
}

function callOf(program: Command): Call {
  return async (send, isBad = () => false) => {
    const run = runOf(program)
    const { Session } = await import('../session/session.ts')
    const session = new Session(run.io, program.opts<Globals>(), run)
    const answer = await send(session.operatorApi, session.target.url)
    session.printer?.finish()
    const plans = await import('../session/change-plan.ts')
    if (plans.isPlan(answer)) run.exitCode = plans.printPlans(session.out, [answer])
    else print(session.out, answer)
    if (isBad(answer)) run.exitCode = 1
  }
}

/** A list has one field, an array; its columns are the fields of the first row that are not nested. */
function print(out: Output, answer: unknown): void {
  const values = typeof answer === 'object' && answer !== null ? Object.values(answer) : []
  const rows: unknown = values.find(Array.isArray)
  if (answer === undefined) out.talk('done')
  else if (!Array.isArray(rows) || values.some((value) => typeof value !== 'object')) out.record(answer)
  else {
    const records = rows as Record<string, unknown>[]
    const names = Object.entries(records[0] ?? {}).flatMap(([name, value]) => (typeof value === 'object' && value !== null ? [] : [name]))
    out.list(answer, records, { columns: columns<Record<string, unknown>>(...names), idOf: ({ id }) => String(id), empty: 'none' })
  }
}
