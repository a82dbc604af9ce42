import type { Command } from 'commander'
import { resealAll, rotateMaster } from '../../reseal.ts'
import { type Call, newOperatorKey } from './call.ts'

/** Adds `secrets …`: sealed data of the plane. */
export function addSealed(program: Command, call: Call, print: (text: string) => void): void {
  const secrets = program.command('secrets').description('sealed data of the plane')
  secrets
    .command('rotate-master')
    .description('reseal all data with the current TOKEN_SECRET until no data is sealed with a previous one; safe to repeat')
    .action(() =>
      call(
        async (api) => await rotateMaster(api),
        ({ done }) => !done,
      ),
    )
  secrets
    .command('reseal')
    .description('reseal all data once; rotate-master repeats this until it is complete')
    .action(() =>
      call(
        async (api) => {
          const { isComplete: _isComplete, ...report } = await resealAll(api)
          return report
        },
        ({ parts }) => parts.some(({ failed }) => failed.length > 0),
      ),
    )

  program
    .command('operator-key')
    .description('print a new operator key, for the secret OPERATOR_KEY of a plane; sends no request')
    .action(() => print(newOperatorKey()))
}
