import type { Command } from 'commander'
import { resealAll, rotateMaster } from '../../reseal.ts'
import { type Call, newOperatorKey } from './call.ts'

/** Adds `secrets …`: sealed data of the plane. */
export function addSealed(program: Command, call: Call, print: (text: string) => void): void {
  const secrets = program.command('secrets').description('what the plane keeps sealed')
  secrets
    .command('rotate-master')
    .description('seal everything under the present TOKEN_SECRET until nothing is left of a former one; to be begun again at any time')
    .action(() =>
      call(
        async (api) => await rotateMaster(api),
        ({ done }) => !done,
      ),
    )
  secrets
    .command('reseal')
    .description('one walk of that')
    .action(() =>
      call(
        async (api) => {
          const { isComplete: _told, ...report } = await resealAll(api)
          return report
        },
        ({ parts }) => parts.some(({ failed }) => failed.length > 0),
      ),
    )

  program
    .command('operator-key')
    .description('print a new operator key, for the secret OPERATOR_KEY of a plane; asks no plane')
    .action(() => print(newOperatorKey()))
}
