import type { Mutant } from './table.ts'

// Bugs of the command line.

/** Killed by its tests. */
export const CLI_MUTANTS: readonly Mutant[] = [
  {
    id: 'a key of a context goes wherever --url says',
    file: 'src/cli/config/target.ts',
    find: '(sameOrigin(context.url, url) ? [name] : [])',
    replace: '(context.url === "" || url === "" ? [] : [name])',
  },
  {
    id: 'what destroys is done without a question where nobody can be asked',
    file: 'src/cli/session/session.ts',
    find: 'if (!this.canAsk) throw usage(',
    replace: 'if (!this.canAsk) return; throw usage(',
  },
  {
    id: 'a demo file of another machine is believed',
    file: 'src/cli/config/local-plane.ts',
    find: 'isOnThisMachine(plane.url)',
    replace: "plane.url !== ''",
  },
  {
    id: 'a plan shows the values of variables',
    file: 'src/cli/deploy/show-plan.ts',
    find: "member === 'env' ?",
    replace: "member === 'ENV' ?",
  },
  {
    id: 'an error of the plane counts as a refusal',
    file: 'src/cli/core/failure.ts',
    find: 'if (status >= 500) return EXIT.UNREACHABLE',
    replace: '',
  },
  {
    id: 'a name that several have means the first of them',
    file: 'src/cli/session/names.ts',
    find: 'named[0] !== undefined && named.length === 1',
    replace: 'named[0] !== undefined',
  },
  {
    id: 'a bundle for whoever helps has known keys in it',
    file: 'src/cli/tools/redact.ts',
    find: 'left.replaceAll(secret, HIDDEN)',
    replace: 'left',
  },
  {
    id: 'a call that is printed is sent as well',
    file: 'src/cli/core/printed.ts',
    find: 'if (isRead && !isStream) return',
    replace: 'return',
  },
  {
    id: 'more jobs than were shown are changed',
    file: 'src/cli/jobs/bulk.ts',
    find: ', expected: plan.matched',
    replace: '',
  },
  {
    id: 'dev runs what is built here on another machine',
    file: 'src/cli/dev/dev.ts',
    find: '!isOnThisMachine(session.target.url)',
    replace: "session.target.url === ''",
  },
]
